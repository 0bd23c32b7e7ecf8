//! How long a peer may read nothing of what is written to it.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::Sleep;

/// How long a peer may read nothing of what is written to it, unless set otherwise: 60 s.
pub(crate) const DEFAULT_WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// Measures how long a peer has read nothing. There is a timer only while something waits to be written.
#[derive(Debug)]
pub(crate) struct Patience {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    /// Creates a timer with `limit`; zero means no limit.
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, timer: None }
    }

    /// Notes that the peer read something, or that nothing waits.
    #[inline]
    pub(crate) fn renew(&mut self) {
        if self.timer.is_some() {
            self.timer = None;
        }
    }

    /// Is ready with an error when the peer has read nothing for too long. Otherwise the task of `cx` is woken when that may be so. Called
    /// while something waits to be written.
    #[cold]
    pub(crate) fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let limit = self.limit;
        if limit.is_zero() {
            return Poll::Pending;
        }
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        timer.as_mut().poll(cx).map(|()| {
            io::Error::new(
                io::ErrorKind::TimedOut,
                format!("the peer read nothing for {limit:?}, the `write_timeout` setting"),
            )
        })
    }
}
