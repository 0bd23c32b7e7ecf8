//! Waiting for a client's answer. The wait is limited in time and in number, and ends when the client is gone.

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

/// What a call occupies in its transport while it works, such as a permit. A call that waits for its client releases it during the wait.
pub(crate) trait Occupied: Send + Sync {
    /// Called when a call only waits for its client.
    fn release(&self);

    /// Called when a call continues.
    fn regain(&self);

    /// Returns how long ago the last message of the client of the call arrived.
    fn silent_for(&self) -> Duration;
}

/// The answer to a request that was sent to the client.
pub(super) struct Answer<'c> {
    exchange: &'c Arc<Exchange>,
    waiting: Waiting<'c>,
    limit: Duration,
    asked: Instant,
    /// Created at the first poll by the driver of calls: a runtime exists then.
    deadline: Option<Pin<Box<Sleep>>>,
    /// When to check whether a client that does not read still sends messages.
    silence: Option<Pin<Box<Sleep>>>,
    given_up: Fired<Exchange>,
    unread: Fired<Exchange>,
    stopping: Fired<dyn HostOwner>,
    /// Whether what the call occupies was released.
    has_released: bool,
    is_settled: bool,
}

impl<'c> Answer<'c> {
    /// Counts one more request to the client of `session`.
    ///
    /// # Errors
    /// The maximum number of requests is open already, or nothing more is read from the client.
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

    /// Records that the request was not sent, so that nothing is cancelled.
    pub(super) fn was_not_sent(&mut self) {
        self.is_settled = true;
    }

    /// Returns a timer of the runtime that drives the call; `None` before the call is driven.
    fn timer(&self, time: Duration) -> Option<Pin<Box<Sleep>>> {
        let _runtime = self.exchange.later().runtime.get()?.enter();
        Some(Box::pin(tokio::time::sleep(time)))
    }

    /// Is ready when the time is over.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.deadline.is_none() {
            self.deadline = self.timer(self.limit.saturating_sub(self.asked.elapsed()));
        }
        match &mut self.deadline {
            Some(deadline) => deadline.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }

    /// Is ready when the client no longer reads the stream of the call and its session has sent nothing for too long.
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
        // Over HTTP an answer needs its own connection, and a server that stops accepts none.
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

/// Cancels a request for whose answer nothing waits any more (O-1).
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
            // A client that does not read need not be notified.
            let _ = self.exchange.outbox().push(cancelled);
        }
    }
}
