//! The wait for a client's answer: bounded in time, in number, and by whether the client is still there.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, Sleep};
use trueform_schema::{CancelledNotificationParams, Method};

use super::{AskError, Exchange};
use crate::{
    gate::Outgoing,
    host::HostOwner,
    peer::{Session, Settled, Waiting},
    signal::Fired,
};

/// How long a session of which nothing is heard is waited for when the client no longer reads the stream of the call.
pub const MAX_SILENCE: Duration = Duration::from_secs(30);

/// What a call occupies in its transport while it is at work, such as a permit. A call that waits for its client gives it back for
/// the time.
pub(crate) trait Occupied: Send + Sync {
    /// A call waits for its client only.
    fn release(&self);

    /// A call goes on.
    fn regain(&self);

    /// How long ago the client of the call was heard last.
    fn silent_for(&self) -> Duration;
}

/// The answer to a request that was sent to the client.
pub(super) struct Answer<'c> {
    exchange: &'c Arc<Exchange>,
    waiting: Waiting<'c>,
    limit: Duration,
    asked: Instant,
    /// Made at the first poll that the driver of calls makes: then there is a runtime.
    deadline: Option<Pin<Box<Sleep>>>,
    /// When it is looked at whether a client that does not read is heard of.
    silence: Option<Pin<Box<Sleep>>>,
    given_up: Fired<Exchange>,
    unread: Fired<Exchange>,
    stopping: Fired<dyn HostOwner>,
    /// Whether what the call occupies was given back.
    has_released: bool,
    is_settled: bool,
}

impl<'c> Answer<'c> {
    /// Counts one more request to the client of `session`.
    ///
    /// # Errors
    /// As many as may be open already; nothing more is read from the client.
    pub(super) fn begin(
        exchange: &'c Arc<Exchange>,
        session: &'c Session,
        limit: Duration,
    ) -> Result<Self, AskError> {
        let host = &exchange.host;
        if host.shutdown.is_fired() || session.ending.is_fired() {
            return Err(AskError::Gone);
        }
        let settings = &host.settings;
        if host.asks.fetch_add(1, Ordering::Relaxed) >= settings.ask.max {
            host.asks.fetch_sub(1, Ordering::Relaxed);
            return Err(AskError::TooMany(settings.ask.max));
        }
        let Some(waiting) = session.asked.register(settings.ask.max_in_session) else {
            host.asks.fetch_sub(1, Ordering::Relaxed);
            return Err(AskError::TooMany(settings.ask.max_in_session));
        };
        Ok(Self {
            exchange,
            waiting,
            limit,
            asked: Instant::now(),
            deadline: None,
            silence: None,
            given_up: Fired::new(exchange.clone(), |exchange| &exchange.cancelled),
            unread: Fired::new(exchange.clone(), |exchange| &exchange.later().unread),
            stopping: Fired::new(host.owner(), |owner| &owner.host().shutdown),
            has_released: false,
            is_settled: false,
        })
    }

    pub(super) fn id(&self) -> &trueform_schema::RequestId {
        self.waiting.id()
    }

    /// Notes that the request did not leave: there is nothing to cancel.
    pub(super) fn was_not_sent(&mut self) {
        self.is_settled = true;
    }

    /// A timer of the runtime that drives the call; `None` before the call is driven.
    fn timer(&self, time: Duration) -> Option<Pin<Box<Sleep>>> {
        let _runtime = self.exchange.later().runtime.get()?.enter();
        Some(Box::pin(tokio::time::sleep(time)))
    }

    /// Ready when the time is up.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.deadline.is_none() {
            self.deadline = self.timer(self.limit.saturating_sub(self.asked.elapsed()));
        }
        match &mut self.deadline {
            Some(deadline) => deadline.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }

    /// Ready when the client does not read the stream of the call any more, and its session has been silent for long.
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        ready!(Pin::new(&mut self.unread).poll(cx));
        loop {
            let occupied = self.exchange.occupied();
            let silent_for = occupied.map_or(MAX_SILENCE, |occupied| occupied.silent_for());
            let left = MAX_SILENCE.saturating_sub(silent_for.min(self.asked.elapsed()));
            if left.is_zero() {
                return Poll::Ready(());
            }
            if self.silence.is_none() {
                self.silence = self.timer(left);
            }
            match &mut self.silence {
                Some(silence) => ready!(silence.as_mut().poll(cx)),
                None => return Poll::Pending,
            }
            self.silence = None;
        }
    }

    fn release(&mut self) {
        if !self.has_released
            && let Some(occupied) = self.exchange.occupied()
        {
            self.has_released = true;
            if self.exchange.later().asks.fetch_add(1, Ordering::Relaxed) == 0 {
                occupied.release();
            }
        }
    }
}

impl Future for Answer<'_> {
    type Output = Result<Settled, AskError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let Poll::Ready(settled) = Pin::new(&mut this.waiting).poll(cx) {
            this.is_settled = true;
            return Poll::Ready(Ok(settled));
        }
        // Over HTTP an answer needs a connection of its own, and a server that stops takes none.
        let is_over = Pin::new(&mut this.given_up).poll(cx).is_ready()
            || Pin::new(&mut this.stopping).poll(cx).is_ready()
            || this.poll_gone(cx).is_ready();
        if is_over {
            return Poll::Ready(Err(AskError::Gone));
        }
        if this.poll_deadline(cx).is_ready() {
            return Poll::Ready(Err(AskError::TimedOut(this.limit)));
        }
        this.release();
        Poll::Pending
    }
}

/// A request that is no longer waited for is cancelled (O-1).
impl Drop for Answer<'_> {
    fn drop(&mut self) {
        self.exchange.host.asks.fetch_sub(1, Ordering::Relaxed);
        if self.has_released
            && self.exchange.later().asks.fetch_sub(1, Ordering::Relaxed) == 1
            && let Some(occupied) = self.exchange.occupied()
        {
            occupied.regain();
        }
        if self.is_settled || !self.exchange.is_open() {
            return;
        }
        let mut params = CancelledNotificationParams::default();
        params.request_id = Some(self.waiting.id().clone());
        let kind = self.exchange.kind_of(Method::Cancelled);
        let policy = self.exchange.host.settings.outgoing;
        if let Some(cancelled) = Outgoing::notification(&kind, Some(&params), policy) {
            // A client that does not read need not know.
            let _ = self.exchange.outbox().push(cancelled);
        }
    }
}
