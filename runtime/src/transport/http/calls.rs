//! The calls of one POST, and the resources that they hold while they run. Their owner drives them until each is answered.
//!
//! The eras differ in what happens when the owner is dropped (TRAP-04): a modern call is cancelled (F-14), a legacy call is moved to its
//! own task and finishes (F-13).

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll},
    time::Duration,
};

use trueform_schema::{Era, RequestId};

use super::{
    limit::Permit,
    sessions::{Active, SessionEntry},
};
use crate::{
    drive::{self, CallEvent},
    exchange::Occupied,
    gate::{OutKind, Outgoing},
    peer::{Phase, Settled},
};

/// Running calls.
pub(super) struct HttpCalls {
    calls: drive::Calls,
    era: Era,
    /// Whether these calls have their own task, which only the end of the process ends.
    on_their_own: bool,
    /// Held until the calls are done: the session is in use, and the server has less room.
    occupancy: Arc<Occupancy>,
}

/// The resources that a request holds while it runs.
#[derive(Debug, Default)]
pub(super) struct RequestGuards {
    pub(super) permit: Option<Permit>,
    pub(super) active: Option<Active>,
}

/// The guards of a request. Its calls release them while they wait for their client.
struct Occupancy {
    held: Mutex<Held>,
    /// The number of calls.
    calls: usize,
    /// `None` for stateless requests.
    session: Option<Arc<SessionEntry>>,
}

struct Held {
    guards: RequestGuards,
    /// The number of calls that wait for their client.
    waiting: usize,
}

impl Occupancy {
    fn new(guards: RequestGuards, calls: usize) -> Self {
        Self {
            session: guards.active.as_ref().map(|active| active.entry().clone()),
            held: Mutex::new(Held { guards, waiting: 0 }),
            calls,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Occupied for Occupancy {
    fn release(&self) {
        let mut held = self.lock();
        held.waiting += 1;
        if let Some(permit) = &mut held.guards.permit {
            permit.pause();
        }
        if held.waiting == self.calls {
            held.guards.active = None;
        }
    }

    fn regain(&self) {
        let mut held = self.lock();
        held.waiting -= 1;
        if let Some(permit) = &mut held.guards.permit {
            permit.resume();
        }
        if held.guards.active.is_none() {
            held.guards.active = self.session.as_ref().map(SessionEntry::activate);
        }
    }

    fn silent_for(&self) -> Duration {
        let session = self.session.as_ref();
        session.map_or(Duration::MAX, |session| session.silent_for())
    }
}

impl HttpCalls {
    /// Creates the calls of one POST, all of one era.
    pub(super) fn new(calls: drive::Calls, guards: RequestGuards) -> Self {
        let era = match calls.exchanges().next() {
            Some(exchange) => exchange.revision().era(),
            None => Era::Modern,
        };
        let occupancy = Arc::new(Occupancy::new(guards, calls.exchanges().count()));
        for exchange in calls.exchanges() {
            let occupied: Weak<Occupancy> = Arc::downgrade(&occupancy);
            exchange.set_occupied(occupied);
        }
        Self {
            calls,
            era,
            on_their_own: false,
            occupancy,
        }
    }

    pub(super) fn era(&self) -> Era {
        self.era
    }

    /// Returns whether all calls are subscriptions, which cannot be answered with one JSON object.
    pub(super) fn only_listen(&self) -> bool {
        self.calls.only_listen()
    }

    /// Returns the id of the first call.
    pub(super) fn id(&self) -> Option<&RequestId> {
        self.calls.exchanges().next().map(|exchange| &exchange.id)
    }

    /// Returns whether these calls were cancelled by the end of their session.
    pub(super) fn ended_with_session(&self) -> bool {
        self.calls.exchanges().any(|exchange| {
            let session = exchange.session.as_ref();
            session.is_some_and(|session| matches!(session.phase(), Phase::Closed))
        })
    }

    /// Returns what is sent next; `None` when every call has ended and everything was taken. If there is no room, returns only responses
    /// that have no messages before them.
    pub(super) fn poll_next(
        &mut self,
        has_room: bool,
        cx: &mut Context<'_>,
    ) -> Poll<Option<CallEvent>> {
        self.calls.poll_next(has_room, cx)
    }

    /// Ends every call that is not answered yet (DEC-11).
    pub(super) fn cut_off(&mut self) {
        self.calls.cut_off();
    }

    /// Is ready when the author of a call asked for its stream to be ended early.
    pub(super) fn poll_stream_closed(&self, cx: &mut Context<'_>) -> Poll<()> {
        let closed = self
            .calls
            .exchanges()
            .any(|exchange| exchange.stream_closed().poll_fired(cx).is_ready());
        if closed {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// Notes that the client reads no more messages: none is queued from now on, and those that wait are dropped. Answers are still sent.
    pub(super) fn mute(&self) {
        for exchange in self.calls.exchanges() {
            let outbox = exchange.outbox();
            outbox.close();
            exchange.later().unread.fire();
            while let Some(message) = outbox.try_next() {
                self.unheard(&message);
            }
        }
    }

    /// Notes that `message` was dropped. If it is a request, it will not be answered.
    pub(super) fn unheard(&self, message: &Outgoing) {
        let session = self
            .calls
            .exchanges()
            .find_map(|exchange| exchange.session.as_ref());
        if let (Some(session), OutKind::Request(id)) = (session, message.kind()) {
            session.asked.settle(id, Settled::Closed);
        }
    }

    /// Notes that these calls have their own task.
    pub(super) fn set_on_their_own(&mut self) {
        self.on_their_own = true;
    }

    /// Drives the calls to completion and drops what they send.
    async fn finish(mut self) {
        self.mute();
        while std::future::poll_fn(|cx| self.poll_next(true, cx))
            .await
            .is_some()
        {}
    }
}

impl Drop for HttpCalls {
    fn drop(&mut self) {
        if self.calls.have_ended() {
            return;
        }
        let runtime = tokio::runtime::Handle::try_current();
        match (self.era, runtime) {
            (Era::Legacy, Ok(runtime)) if !self.on_their_own => {
                tracing::debug!(
                    "a connection closed before its calls were answered; in the legacy era they run on, and what they send is dropped"
                );
                let rest = Self {
                    calls: std::mem::take(&mut self.calls),
                    era: self.era,
                    on_their_own: true,
                    occupancy: self.occupancy.clone(),
                };
                runtime.spawn(rest.finish());
            }
            _ => {
                for exchange in self.calls.exchanges() {
                    exchange.cancelled.fire();
                }
            }
        }
    }
}
