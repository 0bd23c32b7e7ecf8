//! Drives started calls to completion, under panic containment, a time limit and cancellation.
//!
//! The only place where the author's code runs on tokio. This module decides when a call ends; the job decides what is sent then
//! ([`Job::conclude`]).

mod apart;
#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "HTTP takes responses apart, streams do not")
)]
mod batch;
mod blocking;
#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "HTTP takes messages from calls, streams do not")
)]
mod calls;
mod reply;

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::Sleep;

pub use self::blocking::{MAX_BLOCKING_QUEUE, MAX_BLOCKING_THREADS};
pub(crate) use self::{
    apart::run_apart,
    batch::{Batch, Sorted},
    reply::Reply,
};
#[cfg(feature = "http")]
pub(crate) use self::{
    batch::Responses,
    calls::{CallEvent, Calls},
};
use crate::{
    contained::guarded,
    exchange::Exchange,
    feature::{
        callable::{Failure, Timeout},
        job::{Completion, Job},
    },
    gate::Outgoing,
};

/// A request being driven; completes with its response, or with `None` if nothing may be sent.
///
/// Needs a tokio runtime from the first poll on. Dropping it drops the author's future; a blocking function continues, and its return value
/// is dropped.
#[must_use = "nothing runs until it is polled"]
pub(crate) struct CallFuture {
    /// `None` after it has ended.
    job: Option<Box<dyn Job>>,
    /// Set at the first poll.
    clock: Option<Clock>,
    begun: bool,
}

impl CallFuture {
    pub(crate) fn new(job: Box<dyn Job>) -> Self {
        Self {
            job: Some(job),
            clock: None,
            begun: false,
        }
    }

    /// Returns the request; `None` once it has ended.
    pub(crate) fn exchange(&self) -> Option<&Arc<Exchange>> {
        self.job.as_ref().map(|job| job.exchange())
    }

    /// Ends a call that has no response yet. Returns an error, or nothing if the call was cancelled or never gets a response (DEC-11).
    pub(crate) fn cut_off(&mut self) -> Option<Outgoing> {
        let job = self.job.take()?;
        let done = match job.exchange().cancelled.is_fired() {
            true => Completion::Cancelled,
            false => Completion::Failed(Failure::Stopped),
        };
        concluded(job, done)
    }

    /// Returns how the job ended, if it did.
    fn poll_job(&mut self, cx: &mut Context<'_>) -> Poll<Completion> {
        let Some(job) = &mut self.job else {
            return Poll::Pending;
        };
        if job.exchange().cancelled.poll_fired(cx).is_ready() {
            return Poll::Ready(Completion::Cancelled);
        }
        if !self.begun {
            self.begun = true;
            // The timers of the call belong to this runtime, even if another runtime polls them.
            let _ = job
                .exchange()
                .later()
                .runtime
                .set(tokio::runtime::Handle::current());
            self.clock = job.timeout().map(Clock::start);
        }
        match guarded(|| job.poll(cx, blocking::run)) {
            Ok(Poll::Pending) => {}
            Ok(ready) => return ready,
            Err(panic) => return Poll::Ready(Completion::Failed(Failure::Panicked(panic))),
        }
        let Some(clock) = &mut self.clock else {
            return Poll::Pending;
        };
        let progressed = || job.exchange().progressed.swap(false, Ordering::Relaxed);
        clock
            .poll_expired(cx, progressed)
            .map(|limit| Completion::Failed(Failure::TimedOut(limit)))
    }
}

impl Future for CallFuture {
    type Output = Option<Outgoing>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Outgoing>> {
        let this = self.get_mut();
        let done = std::task::ready!(this.poll_job(cx));
        Poll::Ready(this.job.take().and_then(|job| {
            // O-2: cancelled at the moment at which it ended.
            let done = match job.exchange().cancelled.is_fired() {
                true => Completion::Cancelled,
                false => done,
            };
            concluded(job, done)
        }))
    }
}

/// Returns what is sent at the end of `job`, after it was counted as unread.
fn concluded(job: Box<dyn Job>, done: Completion) -> Option<Outgoing> {
    let exchange = job.exchange().clone();
    let response = job.conclude(done)?;
    Some(response.counted(&exchange.host.unread))
}

impl fmt::Debug for CallFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallFuture")
            .field("id", &self.exchange().map(|exchange| &exchange.id))
            .finish_non_exhaustive()
    }
}

/// The time that is left to a call.
struct Clock {
    timeout: Timeout,
    started: tokio::time::Instant,
    sleep: Pin<Box<Sleep>>,
}

impl Clock {
    fn start(timeout: Timeout) -> Self {
        let sleep = Box::pin(tokio::time::sleep(timeout.limit));
        Self {
            timeout,
            started: tokio::time::Instant::now(),
            sleep,
        }
    }

    /// Is ready with the limit that was exceeded. `progressed` returns, once, whether progress was reported.
    fn poll_expired(
        &mut self,
        cx: &mut Context<'_>,
        progressed: impl Fn() -> bool,
    ) -> Poll<Duration> {
        let Timeout {
            limit,
            hard_limit,
            reset_by_progress,
        } = self.timeout;
        loop {
            // Checked on every poll, so that reports of a future count from the time of the report. Reports of a blocking function are seen
            // when the time seems to be over.
            if reset_by_progress && progressed() {
                self.restart();
            }
            if self.sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let hard_end = hard_limit.is_some_and(|hard| self.started.elapsed() >= hard);
            if hard_end || !reset_by_progress || !self.running_again(&progressed) {
                let overrun = if hard_end {
                    hard_limit.unwrap_or(limit)
                } else {
                    limit
                };
                return Poll::Ready(overrun);
            }
        }
    }

    /// Restarts the limit, up to the hard limit. There is no limit if its end is later than any instant.
    fn restart(&mut self) {
        let next = tokio::time::Instant::now().checked_add(self.timeout.limit);
        let hard = self.timeout.hard_limit;
        let end = hard.and_then(|hard| self.started.checked_add(hard));
        match next.into_iter().chain(end).min() {
            Some(end) => self.sleep.as_mut().reset(end),
            None => self.sleep = Box::pin(tokio::time::sleep(Duration::MAX)),
        }
    }

    /// Restarts the clock if progress was reported at the last moment.
    fn running_again(&mut self, progressed: impl Fn() -> bool) -> bool {
        if !progressed() {
            return false;
        }
        self.restart();
        true
    }
}

/// What has to be driven for one message.
#[must_use = "nothing runs until it is polled"]
pub(crate) enum Driving {
    One(CallFuture),
    Many(Batch),
}

impl Driving {
    /// Ends calls that have no response yet. Existing responses are returned (DEC-11).
    pub(crate) fn cut_off(&mut self, cx: &mut Context<'_>) -> Option<Outgoing> {
        match self {
            Self::One(call) => call.cut_off(),
            Self::Many(batch) => batch.cut_off(cx),
        }
    }
}

impl Future for Driving {
    type Output = Option<Outgoing>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Outgoing>> {
        match self.get_mut() {
            Self::One(call) => Pin::new(call).poll(cx),
            Self::Many(batch) => Pin::new(batch).poll(cx),
        }
    }
}
