//! Runs what the engine began to its end: the author's future or blocking function, under panic containment, a timeout and
//! cancellation.
//!
//! The only place where the author's code meets tokio. Decides when a call ends; what is answered then is the engine's
//! business ([`Running::conclude`]).

mod blocking;

use std::{
    any::Any,
    fmt,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use tokio::{sync::oneshot, time::Sleep};

use crate::{
    engine::{Answer, End, Pending, Reply, Running, Shared, Work},
    signal::{Fired, Signal},
    slow,
    tool::{Outcome, Timeout, ToolRoute},
};

type Panic = Box<dyn Any + Send>;

/// A request being driven; completes with its answer, or with `None` if nothing may be sent.
///
/// Needs a tokio runtime from the first poll on. Dropping it drops the author's future; a blocking function goes on, and
/// what it returns is thrown away.
#[must_use = "nothing runs until it is polled"]
pub(crate) struct Drive {
    running: Box<Running>,
    step: Step,
    clock: Option<Clock>,
    /// Ends a subscription from the transport's side, besides the server's shutdown.
    ending: Option<Fired<Signal>>,
    shutdown: Option<Fired<Shared>>,
}

enum Step {
    /// Not polled yet.
    Begun(Work),
    Future(
        Arc<ToolRoute>,
        Pin<Box<dyn Future<Output = Outcome> + Send>>,
    ),
    Blocking(Arc<ToolRoute>, oneshot::Receiver<Result<Outcome, Panic>>),
    Listen,
    Over,
}

impl Running {
    /// What completes with the answer.
    pub(crate) fn drive(mut self: Box<Self>) -> Drive {
        let step = self.take_work().map_or(Step::Over, Step::Begun);
        Drive {
            running: self,
            step,
            clock: None,
            ending: None,
            shutdown: None,
        }
    }
}

impl Drive {
    /// Ends a subscription gracefully when `signal` is fired, as the server's shutdown does.
    pub(crate) fn ending_with(mut self, signal: &Arc<Signal>) -> Self {
        self.ending = Some(Fired::new(signal.clone(), |signal| signal));
        self
    }

    fn begin(&mut self, work: Work) {
        let Work::Call { tool, pending } = work else {
            let engine = self.running.exchange().engine.shared();
            self.shutdown = Some(Fired::new(engine, |shared| &shared.shutdown));
            self.step = Step::Listen;
            return;
        };
        self.clock = tool.timeout().map(Clock::start);
        self.step = match pending {
            Pending::Future(future) => Step::Future(tool, future),
            Pending::Blocking(work) => {
                let span = self.running.span().clone();
                let contained = move || span.in_scope(|| catch_unwind(AssertUnwindSafe(work)));
                Step::Blocking(tool, blocking::run(contained))
            }
        };
    }

    /// How the author's code ended, if it did.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<(Arc<ToolRoute>, End)> {
        match &mut self.step {
            Step::Future(tool, future) => {
                let entered = self.running.span().enter();
                // What a panic leaves behind is the author's future, which is never polled again.
                let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
                drop(entered);
                match polled {
                    Ok(Poll::Ready(outcome)) => Poll::Ready((tool.clone(), End::Returned(outcome))),
                    Err(panic) => Poll::Ready((tool.clone(), End::Panicked(panic))),
                    Ok(Poll::Pending) => self.poll_clock(cx),
                }
            }
            Step::Blocking(tool, receiver) => match Pin::new(receiver).poll(cx) {
                Poll::Ready(Ok(Ok(outcome))) => Poll::Ready((tool.clone(), End::Returned(outcome))),
                Poll::Ready(Ok(Err(panic))) => Poll::Ready((tool.clone(), End::Panicked(panic))),
                // The pool is out of threads.
                Poll::Ready(Err(_)) => Poll::Ready((
                    tool.clone(),
                    End::Panicked(Box::new("no thread for a blocking tool")),
                )),
                Poll::Pending => self.poll_clock(cx),
            },
            Step::Begun(_) | Step::Listen | Step::Over => Poll::Pending,
        }
    }

    fn poll_clock(&mut self, cx: &mut Context<'_>) -> Poll<(Arc<ToolRoute>, End)> {
        let (Some(clock), Step::Future(tool, _) | Step::Blocking(tool, _)) =
            (&mut self.clock, &self.step)
        else {
            return Poll::Pending;
        };
        let progressed = || {
            self.running
                .exchange()
                .progressed
                .swap(false, Ordering::Relaxed)
        };
        clock
            .poll_expired(cx, progressed)
            .map(|limit| (tool.clone(), End::TimedOut(limit)))
    }

    fn poll_listen(&mut self, cx: &mut Context<'_>) -> Poll<Option<Answer>> {
        let server_ends = self
            .shutdown
            .as_mut()
            .is_some_and(|fired| Pin::new(fired).poll(cx).is_ready());
        let transport_ends = self
            .ending
            .as_mut()
            .is_some_and(|fired| Pin::new(fired).poll(cx).is_ready());
        match server_ends || transport_ends {
            true => Poll::Ready(self.running.conclude_listen()),
            false => Poll::Pending,
        }
    }

    /// Drops what is left of the author's code. A panic in there is contained too.
    fn discard(&mut self) {
        let step = std::mem::replace(&mut self.step, Step::Over);
        let entered = self.running.span().enter();
        if catch_unwind(AssertUnwindSafe(|| drop(step))).is_err() {
            tracing::error!("a tool panicked while it was dropped");
        }
        drop(entered);
    }
}

impl Future for Drive {
    type Output = Option<Answer>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Answer>> {
        let this = self.get_mut();
        if this.running.exchange().cancelled.poll_fired(cx).is_ready() {
            this.discard();
            return Poll::Ready(None);
        }
        let ended = match std::mem::replace(&mut this.step, Step::Over) {
            Step::Over => return Poll::Ready(None),
            Step::Begun(Work::Answered(answer)) => return Poll::Ready(Some(answer)),
            Step::Begun(work) => {
                this.begin(work);
                // The first poll may run on a transport's own task, which others wait for.
                let begun = Instant::now();
                let ended = this.poll_end(cx);
                if let Step::Future(tool, _) = &this.step {
                    slow::report(tool, begun.elapsed());
                }
                ended
            }
            step => {
                this.step = step;
                this.poll_end(cx)
            }
        };
        if let Step::Listen = this.step {
            return this.poll_listen(cx);
        }
        let Poll::Ready((tool, end)) = ended else {
            return Poll::Pending;
        };
        let given_up = matches!(end, End::TimedOut(_));
        let answer = this.running.conclude(&tool, end);
        if given_up {
            // So that a blocking function, and what an async one spawned, can see that nobody waits.
            this.running.exchange().cancelled.fire();
        }
        this.discard();
        Poll::Ready(answer)
    }
}

impl fmt::Debug for Drive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drive")
            .field("running", &self.running)
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

    /// Ready with the limit that was overrun. `progressed` tells, once, whether progress was reported.
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
            // Looked at on every poll, so that a future's own reports count from when they are made; those of a blocking
            // function are seen when the time seems to be up.
            if reset_by_progress && progressed() {
                let next = tokio::time::Instant::now() + limit;
                let end = hard_limit.map(|hard| self.started + hard);
                self.sleep
                    .as_mut()
                    .reset(end.map_or(next, |end| end.min(next)));
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

    /// Sets the clock anew if progress was reported at the last moment.
    fn running_again(&mut self, progressed: impl Fn() -> bool) -> bool {
        if !progressed() {
            return false;
        }
        let next = tokio::time::Instant::now() + self.timeout.limit;
        let end = self.timeout.hard_limit.map(|hard| self.started + hard);
        self.sleep
            .as_mut()
            .reset(end.map_or(next, |end| end.min(next)));
        true
    }
}

/// Whatever has to be driven for one message.
#[must_use = "nothing runs until it is polled"]
pub(crate) enum Driving {
    One(Drive),
    Many(Batch),
}

/// The messages of one batch; completes with one array.
pub(crate) struct Batch(Vec<Part>);

enum Part {
    Done(Option<Answer>),
    Driven(Drive),
}

impl Batch {
    /// Drives `replies`. Batches do not nest.
    pub(crate) fn new(replies: Vec<Reply>) -> Self {
        let parts = replies.into_iter().map(|reply| match reply {
            Reply::Silent | Reply::Batch(_) => Part::Done(None),
            Reply::Ready(answer) => Part::Done(Some(answer)),
            Reply::Running(running) => Part::Driven(running.drive()),
        });
        Self(parts.collect())
    }
}

impl Future for Batch {
    type Output = Option<Answer>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Answer>> {
        let parts = &mut self.get_mut().0;
        let mut waiting = false;
        for part in parts.iter_mut() {
            let Part::Driven(drive) = part else { continue };
            match Pin::new(drive).poll(cx) {
                Poll::Ready(answer) => *part = Part::Done(answer),
                Poll::Pending => waiting = true,
            }
        }
        if waiting {
            return Poll::Pending;
        }
        let mut body = Vec::new();
        for part in parts.drain(..) {
            let Part::Done(Some(answer)) = part else {
                continue;
            };
            body.push(if body.is_empty() { b'[' } else { b',' });
            body.extend_from_slice(&answer.body);
        }
        if body.is_empty() {
            return Poll::Ready(None);
        }
        body.push(b']');
        Poll::Ready(Some(Answer {
            status: 200,
            body,
            is_refusal: false,
        }))
    }
}

impl Future for Driving {
    type Output = Option<Answer>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Answer>> {
        match self.get_mut() {
            Self::One(drive) => Pin::new(drive).poll(cx),
            Self::Many(batch) => Pin::new(batch).poll(cx),
        }
    }
}
