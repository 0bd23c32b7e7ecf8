//! How long a client may take for the head of its next request.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, Sleep};

/// Measures how long the connection waits for the head of a request. Each connection has one timer. It is moved when it fires, not for each
/// request: that saves an entry in the timer wheel for each.
#[derive(Debug)]
pub(super) struct HeadTimer {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl HeadTimer {
    pub(super) const fn new(limit: Duration) -> Self {
        Self { limit, timer: None }
    }

    /// Is ready with an error when the connection has waited for a head since `since` for longer than the limit. Otherwise the task of `cx`
    /// is woken when that may be so. Called while the connection waits for a head.
    pub(super) fn poll_over(&mut self, since: Instant, cx: &mut Context<'_>) -> Poll<io::Error> {
        let limit = self.limit;
        // A limit beyond what the clock can count is never reached.
        let Some(deadline) = since.checked_add(limit) else {
            return Poll::Pending;
        };
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        loop {
            ready!(timer.as_mut().poll(cx));
            if deadline <= timer.deadline() {
                return Poll::Ready(io::Error::new(
                    io::ErrorKind::TimedOut,
                    format!(
                        "no whole head of a request within {limit:?}, the `head_timeout` setting"
                    ),
                ));
            }
            timer.as_mut().reset(deadline);
        }
    }
}
