//! Requests that this side sent to a peer and that are not answered yet.

use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use trueform_schema::{ErrorObject, Json, RequestId};

use crate::jsonrpc::ShortRequestId;

/// Unanswered requests to one peer.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    next: AtomicI64,
    pending: Mutex<HashMap<RequestId, Arc<Slot>>>,
}

/// The outcome of a request.
#[derive(Clone, Debug)]
pub(crate) enum Settled {
    Result(Json),
    Error(ErrorObject),
    /// The answer was malformed; contains the problem.
    Malformed(String),
    /// The peer disconnected.
    Closed,
}

#[derive(Debug, Default)]
struct Slot(Mutex<(Option<Settled>, Option<Waker>)>);

/// Completes with the answer. Dropping it forgets the request.
#[derive(Debug)]
pub(crate) struct Waiting<'a> {
    table: &'a Asked,
    id: RequestId,
    slot: Arc<Slot>,
}

impl Asked {
    /// Creates a new id and the future of its answer. `None` if `limit` requests are not answered yet.
    pub(crate) fn register(&self, limit: usize) -> Option<Waiting<'_>> {
        let mut pending = self.lock();
        if pending.len() >= limit {
            return None;
        }
        let id = RequestId::Integer(self.next.fetch_add(1, Ordering::Relaxed) + 1);
        let slot = Arc::<Slot>::default();
        pending.insert(id.clone(), slot.clone());
        drop(pending);
        Some(Waiting {
            table: self,
            id,
            slot,
        })
    }

    /// Returns whether a request has used `id`: ids count up from 1 (DEC-8).
    pub(crate) fn has_had(&self, id: &RequestId) -> bool {
        let last = self.next.load(Ordering::Relaxed);
        id.as_i64().is_some_and(|id| (1..=last).contains(&id))
    }

    /// Passes a response to the request that waits for it. Returns `false` if no request does.
    pub(crate) fn settle(&self, id: &RequestId, settled: Settled) -> bool {
        let Some(slot) = self.lock().remove(id) else {
            return false;
        };
        slot.settle(settled);
        true
    }

    /// Ends the wait for the response to `id`, which was malformed, with `problem`.
    pub(crate) fn fail(&self, id: &RequestId, problem: String) {
        if !self.settle(id, Settled::Malformed(problem)) {
            tracing::debug!(id = %ShortRequestId(id), "a malformed response to no request of this server was dropped");
        }
    }

    pub(crate) fn fail_all(&self) {
        let all: Vec<_> = self.lock().drain().map(|(_, slot)| slot).collect();
        for slot in all {
            slot.settle(Settled::Closed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Arc<Slot>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    fn settle(&self, settled: Settled) {
        let waker = {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            state.0 = Some(settled);
            state.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Waiting<'_> {
    pub(crate) fn id(&self) -> &RequestId {
        &self.id
    }
}

impl Future for Waiting<'_> {
    type Output = Settled;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Settled> {
        let mut state = self.slot.0.lock().unwrap_or_else(PoisonError::into_inner);
        match state.0.take() {
            Some(settled) => Poll::Ready(settled),
            None => {
                state.1 = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.table.lock().remove(&self.id);
    }
}
