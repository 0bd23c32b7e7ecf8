//! The calls of one POST: one, or several for a batch. Their owner drives them until each is answered.
//!
//! What happens when their owner is dropped is the difference between the eras (TRAP-04): a modern call is cancelled
//! (F-14), a legacy one is moved to a task of its own and finishes (F-13).

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use trueform_schema::{Era, RequestId};

use super::{limit::Permit, sessions::Active};
use crate::{
    drive::CallFuture,
    exchange::Exchange,
    feature::job::Job,
    gate::{OutKind, Outgoing},
    peer::{Phase, Settled},
};

/// Calls at work.
pub(super) struct Calls {
    parts: Vec<Part>,
    era: Era,
    /// Whether these calls have a task of their own, which nothing but the end of the process takes from them.
    on_their_own: bool,
    /// Held until the calls are done: the session is in use, and the server has so much less room.
    _guards: RequestGuards,
}

/// What a request holds while it is at work.
#[derive(Debug, Default)]
pub(super) struct RequestGuards {
    pub(super) permit: Option<Permit>,
    pub(super) active: Option<Active>,
}

struct Part {
    exchange: Arc<Exchange>,
    /// `None` once the call has ended.
    call: Option<CallFuture>,
    only_listens: bool,
    /// The response, until everything that was sent before it has been taken.
    response: Option<Outgoing>,
}

/// What a call sends.
#[derive(Debug)]
pub(super) enum CallEvent {
    /// A message that belongs to a call which is not answered yet.
    Message(Outgoing),
    Response(Outgoing),
}

impl Calls {
    /// Calls that belong together, all of one era.
    pub(super) fn new(
        jobs: impl IntoIterator<Item = Box<dyn Job>>,
        mut guards: RequestGuards,
    ) -> Self {
        let parts: Vec<Part> = jobs.into_iter().map(Part::new).collect();
        let era = match parts.first() {
            Some(part) => part.exchange.revision().era(),
            None => Era::Modern,
        };
        if parts.iter().all(Part::listens_only) {
            guards.permit = None;
        }
        Self {
            parts,
            era,
            on_their_own: false,
            _guards: guards,
        }
    }

    pub(super) fn era(&self) -> Era {
        self.era
    }

    /// Whether there is nothing but subscriptions, which cannot be answered with one JSON object.
    pub(super) fn only_listen(&self) -> bool {
        self.parts.iter().all(Part::listens_only)
    }

    /// The id of the first call.
    pub(super) fn id(&self) -> Option<&RequestId> {
        self.parts.first().map(|part| &part.exchange.id)
    }

    /// Whether these calls were cancelled by the end of their session.
    pub(super) fn ended_with_session(&self) -> bool {
        self.parts.iter().any(|part| {
            let session = part.exchange.session.as_ref();
            session.is_some_and(|session| matches!(session.phase(), Phase::Closed))
        })
    }

    /// What is sent next; `None` when every call has ended and everything was taken.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<CallEvent>> {
        let mut open = false;
        for part in &mut self.parts {
            match part.poll_next(cx) {
                Poll::Ready(Some(event)) => return Poll::Ready(Some(event)),
                Poll::Ready(None) => {}
                Poll::Pending => open = true,
            }
        }
        if open {
            Poll::Pending
        } else {
            Poll::Ready(None)
        }
    }

    /// Ready when the author of a call asked for its stream to be ended early.
    pub(super) fn poll_stream_closed(&self, cx: &mut Context<'_>) -> Poll<()> {
        let closed = self
            .parts
            .iter()
            .any(|part| part.exchange.stream_closed().poll_fired(cx).is_ready());
        if closed {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// The client reads no more messages: none is queued from now on, and those that wait are dropped. Answers still come.
    pub(super) fn mute(&self) {
        for part in &self.parts {
            let outbox = part.exchange.outbox();
            outbox.close();
            while let Some(message) = outbox.try_next() {
                self.unheard(&message);
            }
        }
    }

    /// Notes that `message` was dropped: if it is a request, it will not be answered.
    pub(super) fn unheard(&self, message: &Outgoing) {
        let session = self
            .parts
            .iter()
            .find_map(|part| part.exchange.session.as_ref());
        if let (Some(session), OutKind::Request(id)) = (session, message.kind()) {
            session.asked.settle(id, Settled::Closed);
        }
    }

    /// Notes that these calls are driven by a task of their own.
    pub(super) fn set_on_their_own(&mut self) {
        self.on_their_own = true;
    }

    /// Drives the calls to completion and drops what they send.
    async fn finish(mut self) {
        self.mute();
        while std::future::poll_fn(|cx| self.poll_next(cx))
            .await
            .is_some()
        {}
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        if self.parts.iter().all(|part| part.call.is_none()) {
            return;
        }
        let runtime = tokio::runtime::Handle::try_current();
        match (self.era, runtime) {
            (Era::Legacy, Ok(runtime)) if !self.on_their_own => {
                tracing::debug!("the client has gone; its calls go on");
                let rest = Self {
                    parts: std::mem::take(&mut self.parts),
                    era: self.era,
                    on_their_own: true,
                    _guards: std::mem::take(&mut self._guards),
                };
                runtime.spawn(rest.finish());
            }
            _ => {
                for part in &self.parts {
                    part.exchange.cancelled.fire();
                }
            }
        }
    }
}

impl Part {
    fn new(job: Box<dyn Job>) -> Self {
        Self {
            exchange: job.exchange().clone(),
            only_listens: job.only_listens(),
            call: Some(CallFuture::new(job)),
            response: None,
        }
    }

    fn listens_only(&self) -> bool {
        self.only_listens
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<CallEvent>> {
        if let Some(call) = &mut self.call
            && let Poll::Ready(response) = Pin::new(call).poll(cx)
        {
            self.call = None;
            self.response = response;
        }
        // Messages that were sent before the response come before it.
        let message = match self.call {
            Some(_) => self.exchange.outbox().poll_next(cx),
            None => Poll::Ready(self.exchange.outbox().try_next()),
        };
        match (message, &self.call) {
            (Poll::Ready(Some(message)), _) => Poll::Ready(Some(CallEvent::Message(message))),
            (_, Some(_)) => Poll::Pending,
            (_, None) => Poll::Ready(self.response.take().map(CallEvent::Response)),
        }
    }
}
