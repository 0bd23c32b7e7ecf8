//! A message that is sent besides the response, and the wait until the client reads it.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll},
};

use super::Exchange;
use crate::{
    gate::Outgoing,
    jsonrpc,
    peer::{NotQueued, Subject},
};

/// After this number of awaited messages of a call that needed no wait, the next one lets other tasks run.
///
/// The call never waits for a client that asked for no messages or has disconnected. Without this limit, a handler that only reports
/// would keep its thread, and could be neither cancelled nor timed out.
const YIELD_AFTER: u32 = 64;

/// A progress report or a log message that is being sent to the client.
///
/// Without an await, the message is queued at once. It is lost if [`OUTBOX_LIMIT`](crate::OUTBOX_LIMIT) messages or
/// [`OUTBOX_BYTES`](crate::OUTBOX_BYTES) bytes already wait for the client. A newer progress report replaces one that waits. With an await,
/// it waits until there is room and half of the queue is free, so that a handler is not faster than its client. The wait also ends when the
/// client no longer reads, at the latest with the transport's write timeout. Even if there is nothing to wait for, an await lets other
/// tasks run from time to time.
///
/// ```
/// use trueform::prelude::*;
///
/// /// Counts to a million and reports each step.
/// #[tool]
/// async fn count(context: Context) {
///     for i in 1..=1_000_000 {
///         context.progress(f64::from(i), None, None).await;
///     }
/// }
/// ```
pub struct Sent<'c> {
    exchange: &'c Arc<Exchange>,
    /// The message, while the queue is full.
    refused: Option<Outgoing>,
    subject: Option<Subject>,
    /// The progress that it reports.
    progress: Option<f64>,
    /// Whether there was anything to send.
    was_sent: bool,
}

impl<'c> Sent<'c> {
    /// Returns a message that the client did not ask for and that is not sent.
    pub(super) fn nothing(exchange: &'c Arc<Exchange>) -> Self {
        Self {
            exchange,
            refused: None,
            subject: None,
            progress: None,
            was_sent: false,
        }
    }

    /// Queues `message`, if there is room for it. `progress` is what it reports, if it reports progress.
    pub(super) fn new(
        exchange: &'c Arc<Exchange>,
        message: Outgoing,
        subject: Option<Subject>,
        progress: Option<f64>,
    ) -> Self {
        let mut message = Some(message.counted(&exchange.host.unread));
        let pushed = exchange.outbox().try_push(&mut message, subject);
        Self {
            exchange,
            refused: message.filter(|_| pushed == Err(NotQueued::Full)),
            subject,
            progress,
            was_sent: pushed != Err(NotQueued::Closed),
        }
    }

    /// Returns whether the message was queued or may still be.
    pub(super) fn was_sent(&self) -> bool {
        self.was_sent
    }

    /// Returns whether a newer report makes this one unnecessary (N-1).
    fn is_outdated(&self) -> bool {
        self.progress
            .is_some_and(|progress| progress < self.exchange.progress_sent())
    }

    /// Is ready, except for one of [`YIELD_AFTER`] messages, which lets other tasks run first.
    fn poll_turn(&self, cx: &Context<'_>) -> Poll<()> {
        let unwaited = &self.exchange.later().unwaited;
        if unwaited.fetch_add(1, Ordering::Relaxed) < YIELD_AFTER {
            return Poll::Ready(());
        }
        unwaited.store(0, Ordering::Relaxed);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Future for Sent<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if !this.was_sent {
            return this.poll_turn(cx);
        }
        let outbox = this.exchange.outbox();
        loop {
            if this.is_outdated() || !this.exchange.is_open() {
                this.refused = None;
            }
            std::task::ready!(outbox.poll_room(this.refused.as_ref(), cx));
            if this.refused.is_none() {
                return this.poll_turn(cx);
            }
            // Other senders may have used the room.
            if outbox.try_push(&mut this.refused, this.subject) == Err(NotQueued::Closed) {
                this.refused = None;
            }
        }
    }
}

/// A message that was refused and not awaited replaces a queued message about the same subject. If there is no such message, it is lost.
impl Drop for Sent<'_> {
    fn drop(&mut self) {
        let Some(message) = self.refused.take() else {
            return;
        };
        if self.is_outdated() {
            return;
        }
        let replaced = self
            .subject
            .is_some_and(|subject| self.exchange.outbox().replace(message, subject));
        if !replaced
            && !self
                .exchange
                .later()
                .lost_messages
                .swap(true, Ordering::Relaxed)
        {
            let id = jsonrpc::ShortRequestId(&self.exchange.id);
            tracing::warn!(
                method = self.exchange.method,
                %id,
                "messages of a call are lost: its client reads too slowly; await `progress` and `log` to wait for it"
            );
        }
    }
}

impl fmt::Debug for Sent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sent")
            .field("id", &self.exchange.id)
            .field("waits", &self.refused.is_some())
            .finish_non_exhaustive()
    }
}
