//! The calls of one POST: one, or several for a batch. Driven by whoever owns them, until each is answered.
//!
//! What happens when their owner is dropped is the difference between the eras (TRAP-04): a modern call is cancelled
//! (F-14), a legacy one is moved to a task of its own and finishes (F-13).

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use trueform_schema::{Era, Method, RequestId};

use super::{limit::Permit, sessions::Active};
use crate::{
    drive::Drive,
    engine::{Answer, Running},
    exchange::Exchange,
    jsonrpc::{self, Frame, Incoming},
    session::{Phase, Settled},
};

/// Calls at work.
pub(super) struct Calls {
    parts: Vec<Part>,
    era: Era,
    /// Whether these calls have a task of their own, which nothing but the end of the process takes from them.
    on_their_own: bool,
    /// Held until the calls are done: the session is in use, and the server has so much less room.
    _held: Held,
}

/// What a request holds while it is at work.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) permit: Option<Permit>,
    pub(super) active: Option<Active>,
}

struct Part {
    exchange: Arc<Exchange>,
    /// `None` once the call has ended.
    call: Option<Drive>,
    /// The answer, until everything that was said before it has been taken.
    answer: Option<Answer>,
}

/// What a call says.
#[derive(Debug)]
pub(super) enum Said {
    /// A message that belongs to a call which is not answered yet.
    Message(Vec<u8>),
    Answer(Answer),
}

impl Calls {
    /// Calls that belong together, all of one era.
    pub(super) fn new(running: impl IntoIterator<Item = Box<Running>>, mut held: Held) -> Self {
        let parts: Vec<Part> = running.into_iter().map(Part::new).collect();
        let era = match parts.first() {
            Some(part) => part.exchange.revision.era(),
            None => Era::Modern,
        };
        if parts.iter().all(Part::only_listens) {
            held.permit = None;
        }
        Self {
            parts,
            era,
            on_their_own: false,
            _held: held,
        }
    }

    pub(super) fn era(&self) -> Era {
        self.era
    }

    /// Whether there is nothing but subscriptions, which cannot be answered with one JSON object.
    pub(super) fn only_listen(&self) -> bool {
        self.parts.iter().all(Part::only_listens)
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

    /// What is said next; `None` when every call has ended and has been heard.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Said>> {
        let mut open = false;
        for part in &mut self.parts {
            match part.poll_next(cx) {
                Poll::Ready(Some(said)) => return Poll::Ready(Some(said)),
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

    /// Nobody hears messages any more: none is queued from now on, and those that wait are dropped. Answers still come.
    pub(super) fn mute(&self) {
        for part in &self.parts {
            let outbox = part.exchange.outbox();
            outbox.close();
            while let Some(message) = outbox.try_next() {
                self.unheard(&message);
            }
        }
    }

    /// Notes that `message` was dropped: if it is a request, nobody will answer it.
    pub(super) fn unheard(&self, message: &[u8]) {
        let session = self
            .parts
            .iter()
            .find_map(|part| part.exchange.session.as_ref());
        if let (Some(session), Ok(Incoming::Single(Frame::Request { id, .. }))) =
            (session, jsonrpc::parse(message))
        {
            session.outgoing.settle(&id, Settled::Closed);
        }
    }

    /// Notes that these calls are driven by a task of their own.
    pub(super) fn set_on_their_own(&mut self) {
        self.on_their_own = true;
    }

    /// Drives the calls to their end, for nobody.
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
                    _held: std::mem::take(&mut self._held),
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
    fn new(running: Box<Running>) -> Self {
        let exchange = running.exchange().clone();
        Self {
            exchange,
            call: Some(running.drive()),
            answer: None,
        }
    }

    fn only_listens(&self) -> bool {
        self.exchange.method == Method::SubscriptionsListen
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Said>> {
        if let Some(call) = &mut self.call
            && let Poll::Ready(answer) = Pin::new(call).poll(cx)
        {
            self.call = None;
            self.answer = answer;
        }
        // Messages that were sent before the answer come before it.
        let message = match self.call {
            Some(_) => self.exchange.outbox().poll_next(cx),
            None => Poll::Ready(self.exchange.outbox().try_next()),
        };
        match (message, &self.call) {
            (Poll::Ready(Some(message)), _) => Poll::Ready(Some(Said::Message(message))),
            (_, Some(_)) => Poll::Pending,
            (_, None) => Poll::Ready(self.answer.take().map(Said::Answer)),
        }
    }
}
