//! Runs what a feature looks up, whatever it is: as far as it goes in place, and the rest as a [`Job`].
//!
//! A call that is ready at its first poll costs no task, no timer and no boxed job.

use std::{
    fmt::{self, Display},
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{self, Poll, Waker},
    time::{Duration, Instant},
};

use tokio::sync::oneshot;
use trueform_schema::{ErrorObject, ToolAnnotations};

use super::{
    failure::{Chain, ToolError},
    layer::{CallEnd, CallInfo, CallOutcome, CallScope, Layers},
    slow,
};
use crate::{
    contained::{Panic, contained, guarded, panic_text},
    exchange::{Context, Exchange, Outlet, Ticket},
    gate::{Outcome, Outgoing},
    jsonrpc,
    trace::{self, Unanswered},
};

/// How far an author's code came when it was called.
pub enum Step<R> {
    /// It is done.
    Ready(R),
    /// It goes on as a future.
    Later(Pin<Box<dyn Future<Output = R> + Send>>),
    /// It is work that holds its thread.
    Blocking(Box<dyn FnOnce() -> R + Send>),
}

impl<R> fmt::Debug for Step<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready(_) => "Ready",
            Self::Later(_) => "Later",
            Self::Blocking(_) => "Blocking",
        })
    }
}

/// Something that a request can call.
pub(crate) trait Callable: Send + Sync + 'static {
    /// The decoded params.
    type Params: Send + 'static;
    /// What a call that succeeds returns.
    type Output: Send + 'static;

    fn name(&self) -> &str;

    /// Where it was written, for the log.
    fn place(&self) -> &dyn Display;

    /// The hints for clients, which layers may see.
    fn annotations(&self) -> Option<&ToolAnnotations> {
        None
    }

    fn timeout(&self) -> Option<Timeout> {
        None
    }

    /// Runs the author's code as far as it goes without waiting.
    fn call(&self, cx: &Context, params: Self::Params) -> Step<Result<Self::Output, ToolError>>;

    /// The error for the `error` that the author's code returned: the author's message with -32603 unless the author chose a
    /// code. For what has no results that say so.
    fn error(&self, error: ToolError) -> ErrorObject {
        if let Some(source) = error.source() {
            let (name, place) = (self.name(), self.place());
            tracing::warn!(name, %place, error = %Chain(source), "a call failed");
        }
        let (message, _, protocol) = error.into_parts();
        protocol.unwrap_or_else(|| jsonrpc::internal(message))
    }

    /// What the call returns if the author's code came to no end of its own: -32603. The log has the reason already.
    ///
    /// # Errors
    /// The error that the client gets.
    fn failed(&self, failure: &Failure) -> Result<Self::Output, ErrorObject> {
        Err(match failure {
            Failure::Panicked(_) | Failure::LayerPanicked(_) => jsonrpc::internal("internal error"),
            Failure::TimedOut(limit) => {
                jsonrpc::internal(format!("`{}` did not finish within {limit:?}", self.name()))
            }
        })
    }

    /// The response to a call that ended with `outcome`.
    ///
    /// # Errors
    /// The error that the client gets, also if its revision does not allow the output.
    fn respond(
        &self,
        cx: &Context,
        outcome: Result<Self::Output, ToolError>,
    ) -> Result<Outgoing, ErrorObject>;
}

/// How long a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeout {
    /// From the start, or from the last report of progress.
    pub(crate) limit: Duration,
    /// Whether a report of progress starts the time anew.
    pub(crate) reset_by_progress: bool,
    /// From the start, whatever is reported.
    pub(crate) hard_limit: Option<Duration>,
}

impl Timeout {
    /// `limit` from the start, whatever is reported.
    pub(crate) fn of(limit: Duration) -> Self {
        Self {
            limit,
            reset_by_progress: false,
            hard_limit: None,
        }
    }
}

/// Why an author's code came to no end of its own.
#[derive(Debug)]
pub(crate) enum Failure {
    Panicked(Panic),
    /// A call layer panicked before the call was admitted: the author's code never ran.
    LayerPanicked(Panic),
    TimedOut(Duration),
}

/// How a job ended.
#[derive(Debug)]
pub(crate) enum Completion {
    /// The output is in the job.
    Returned,
    Failed(Failure),
    /// The peer no longer wants the answer: nothing may be sent (E-9, O-2).
    Cancelled,
}

/// What runs work that holds its thread.
pub(crate) type Pool = fn(Box<dyn FnOnce() + Send>);

/// A request that was begun and is not answered yet.
pub(crate) trait Job: Send {
    fn exchange(&self) -> &Arc<Exchange>;

    fn timeout(&self) -> Option<Timeout> {
        None
    }

    /// Whether it only waits for messages that others send, so that it is never answered with a single JSON object.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "only HTTP answers with single objects")
    )]
    fn only_listens(&self) -> bool {
        false
    }

    /// Goes on with the work. Not called again after it was ready.
    fn poll(&mut self, cx: &mut task::Context<'_>, pool: Pool) -> Poll<Completion>;

    /// The response, if there is one. Drops what is left of the author's code.
    fn conclude(self: Box<Self>, done: Completion) -> Option<Outgoing>;
}

/// What became of a call so far.
pub(crate) enum Called {
    Ready(Outgoing),
    /// Nothing is answered.
    Silent,
    Refused(ErrorObject),
    Running(Box<dyn Job>),
}

/// Calls `callable` for the request `cx`, within `layers`.
pub(crate) fn run<C: Callable>(
    callable: &Arc<C>,
    cx: Context,
    params: C::Params,
    layers: &Layers,
) -> Called {
    // Entered by the engine, which looked at the request first.
    let span = tracing::Span::current();
    span.record("tool", callable.name());
    let ticket = match cx.0.enter() {
        Ok(ticket) => ticket,
        Err(Some(error)) => return Called::Refused(error),
        Err(None) => {
            trace::record_dropped(&span);
            return Called::Silent;
        }
    };
    let mut call = Call {
        callable: callable.clone(),
        cx,
        span,
        around: None,
        _ticket: ticket,
    };
    let mut work = match layers.is_empty() {
        true => start(&*call.callable, &call.cx, params),
        false => call.enter_layers(layers, params),
    };
    work.first_poll();
    match work {
        Work::Done(end) => call.ready(end),
        work => Called::Running(Box::new(Running {
            unanswered: Unanswered::new(call.span.clone()),
            call,
            work,
            polled: false,
        })),
    }
}

/// One call, apart from its work.
struct Call<C: Callable> {
    callable: Arc<C>,
    cx: Context,
    span: tracing::Span,
    /// What the layers keep of the call; `None` without layers.
    around: Option<Box<Around>>,
    /// Keeps the id taken while the call runs.
    _ticket: Option<Ticket>,
}

struct Around {
    scopes: Vec<Box<dyn CallScope>>,
    /// How many of them have admitted the call.
    admitted: usize,
    begun: Instant,
}

/// How an author's code ended.
type End<C> = Result<Result<<C as Callable>::Output, ToolError>, Failure>;
type Outcomes<C> = Result<<C as Callable>::Output, ToolError>;

/// What is left to do of a call.
enum Work<C: Callable> {
    /// A layer has not admitted it yet.
    Admission(C::Params),
    Future(Pin<Box<dyn Future<Output = Outcomes<C>> + Send>>),
    Blocking(Box<dyn FnOnce() -> Outcomes<C> + Send>),
    /// The pool runs it.
    Thread(oneshot::Receiver<Result<Outcomes<C>, Panic>>),
    Done(End<C>),
    /// The end was taken.
    Over,
}

/// Runs the author's code as far as it goes without waiting.
#[inline]
fn start<C: Callable>(callable: &C, cx: &Context, params: C::Params) -> Work<C> {
    let begun = Instant::now();
    let called = guarded(|| callable.call(cx, params));
    slow::report(callable.name(), callable.place(), begun.elapsed());
    match called {
        Ok(Step::Ready(outcome)) => Work::Done(Ok(outcome)),
        Ok(Step::Later(future)) => Work::Future(future),
        Ok(Step::Blocking(work)) => Work::Blocking(work),
        Err(panic) => Work::Done(Err(Failure::Panicked(panic))),
    }
}

impl<C: Callable> Work<C> {
    /// Polls a future once. Most are done by then and cost no entry in a table, no timer and no task. A job that is not is
    /// polled again at once, with a waker of its own.
    fn first_poll(&mut self) {
        if !matches!(self, Self::Future(_)) {
            return;
        }
        let Self::Future(mut future) = std::mem::replace(self, Self::Over) else {
            return;
        };
        let mut cx = task::Context::from_waker(Waker::noop());
        // A future that is done is dropped in here, so that a panic of its drop is caught too.
        let polled = guarded(move || match future.as_mut().poll(&mut cx) {
            Poll::Ready(outcome) => Self::Done(Ok(outcome)),
            Poll::Pending => Self::Future(future),
        });
        *self = polled.unwrap_or_else(|panic| Self::Done(Err(Failure::Panicked(panic))));
    }
}

impl<C: Callable> Call<C> {
    /// Lets each layer look at the call, then runs it if all of them admit it at once.
    #[cold]
    fn enter_layers(&mut self, layers: &Layers, params: C::Params) -> Work<C> {
        let mut around = Around {
            scopes: Vec::with_capacity(layers.len()),
            admitted: 0,
            begun: Instant::now(),
        };
        let info = CallInfo {
            context: &self.cx,
            name: self.callable.name(),
            annotations: self.callable.annotations(),
        };
        for layer in layers {
            match guarded(|| layer.begin(&info)) {
                Ok(Ok(scope)) => around.scopes.extend(scope),
                Ok(Err(error)) => {
                    self.around = Some(Box::new(around));
                    return Work::Done(Ok(Err(error)));
                }
                Err(panic) => {
                    self.around = Some(Box::new(around));
                    return Work::Done(Err(Failure::LayerPanicked(panic)));
                }
            }
        }
        self.around = Some(Box::new(around));
        let mut cx = task::Context::from_waker(Waker::noop());
        match self.poll_admitted(&mut cx) {
            Poll::Ready(Ok(())) => start(&*self.callable, &self.cx, params),
            Poll::Ready(Err(failure)) => Work::Done(Err(failure)),
            Poll::Pending => Work::Admission(params),
        }
    }

    /// Ready when every layer has admitted the call, in order.
    fn poll_admitted(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<(), Failure>> {
        let Some(around) = &mut self.around else {
            return Poll::Ready(Ok(()));
        };
        while let Some(scope) = around.scopes.get_mut(around.admitted) {
            match guarded(|| scope.poll_admitted(cx)) {
                Ok(Poll::Ready(())) => around.admitted += 1,
                Ok(Poll::Pending) => return Poll::Pending,
                Err(panic) => return Poll::Ready(Err(Failure::LayerPanicked(panic))),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// What becomes of a call that needed no waiting. What it sent meanwhile goes before the response.
    #[inline]
    fn ready(mut self, end: End<C>) -> Called {
        if self.cx.0.cancelled.is_fired() {
            // O-2: cancelled while it ran.
            trace::record_cancelled(&self.span);
            return Called::Silent;
        }
        let response = self.conclude(end);
        match &self.cx.0.outlet {
            Outlet::Own(outbox) if !outbox.is_empty() => Called::Running(Box::new(Answered {
                exchange: self.cx.0,
                unanswered: Unanswered::new(self.span),
                response,
            })),
            Outlet::Own(_) | Outlet::Link(_) => Called::Ready(response),
        }
    }

    /// The response to a call that ended. Nothing is sent for it afterwards.
    #[inline]
    fn conclude(&mut self, end: End<C>) -> Outgoing {
        let callable = &*self.callable;
        let exchange = &self.cx.0;
        exchange.finish();
        let response = match end {
            Ok(outcome) => callable.respond(&self.cx, outcome),
            Err(failure) => {
                log_failure(callable.name(), callable.place(), &failure);
                let output = callable.failed(&failure);
                output.and_then(|output| callable.respond(&self.cx, Ok(output)))
            }
        };
        let response = response.unwrap_or_else(|error| {
            tracing::debug!(problem = &*error.message, "answered with an error");
            Outgoing::failure(&exchange.id, exchange.revision(), error)
        });
        if let Some(around) = self.around.take() {
            around.end(&response);
        }
        response
    }
}

impl Around {
    #[cold]
    fn end(mut self, response: &Outgoing) {
        let end = CallEnd {
            outcome: match response.outcome() {
                Some(Outcome::ToolError) => CallOutcome::ToolError,
                Some(Outcome::Failed(code) | Outcome::Refused(code)) => CallOutcome::Error(code),
                Some(Outcome::Result) | None => CallOutcome::Result,
            },
            ran: self.begun.elapsed(),
            response_bytes: response.bytes().len(),
        };
        // Innermost first.
        while let Some(scope) = self.scopes.pop() {
            contained(LAYER, || scope.ended(&end));
        }
    }
}

/// A call that was given up. The authors' scopes may do anything when they are dropped.
impl Drop for Around {
    fn drop(&mut self) {
        while let Some(scope) = self.scopes.pop() {
            contained(LAYER, || drop(scope));
        }
    }
}

/// The name in the log of code that is around calls.
const LAYER: &str = "a call layer";

fn log_failure(name: &str, place: &dyn Display, failure: &Failure) {
    match failure {
        Failure::Panicked(panic) => {
            tracing::error!(name, %place, panic = panic_text(&**panic), "a call panicked");
        }
        Failure::LayerPanicked(panic) => {
            tracing::error!(name, panic = panic_text(&**panic), "{LAYER} panicked");
        }
        Failure::TimedOut(limit) => tracing::warn!(name, ?limit, "a call ran out of time"),
    }
}

/// A call that waits.
struct Running<C: Callable> {
    call: Call<C>,
    work: Work<C>,
    polled: bool,
    unanswered: Unanswered,
}

impl<C: Callable> Job for Running<C> {
    fn exchange(&self) -> &Arc<Exchange> {
        &self.call.cx.0
    }

    fn timeout(&self) -> Option<Timeout> {
        let own = self.call.callable.timeout();
        let scopes = self.call.around.iter().flat_map(|around| &around.scopes);
        let limits = scopes.filter_map(|scope| contained(LAYER, || scope.time_limit()).flatten());
        let Some(limit) = limits.min() else {
            return own;
        };
        Some(match own {
            None => Timeout::of(limit),
            Some(own) => Timeout {
                limit: own.limit.min(limit),
                hard_limit: Some(own.hard_limit.map_or(limit, |hard| hard.min(limit))),
                ..own
            },
        })
    }

    fn poll(&mut self, cx: &mut task::Context<'_>, pool: Pool) -> Poll<Completion> {
        loop {
            self.work = match std::mem::replace(&mut self.work, Work::Over) {
                Work::Admission(params) => match self.call.poll_admitted(cx) {
                    Poll::Pending => {
                        self.work = Work::Admission(params);
                        return Poll::Pending;
                    }
                    Poll::Ready(Err(failure)) => Work::Done(Err(failure)),
                    Poll::Ready(Ok(())) => {
                        let _entered = self.call.span.enter();
                        start(&*self.call.callable, &self.call.cx, params)
                    }
                },
                Work::Future(mut future) => {
                    // The first poll may run on a transport's own task, which others wait for.
                    let begun = (!self.polled).then(Instant::now);
                    self.polled = true;
                    let entered = self.call.span.enter();
                    // What a panic leaves behind is the author's future, which is never polled again.
                    let polled = guarded(|| future.as_mut().poll(cx));
                    drop(entered);
                    if let Some(begun) = begun {
                        let callable = &self.call.callable;
                        slow::report(callable.name(), callable.place(), begun.elapsed());
                    }
                    match polled {
                        Ok(Poll::Pending) => {
                            self.work = Work::Future(future);
                            return Poll::Pending;
                        }
                        Ok(Poll::Ready(outcome)) => {
                            drop_contained(&self.call.span, future);
                            Work::Done(Ok(outcome))
                        }
                        Err(panic) => {
                            drop_contained(&self.call.span, future);
                            Work::Done(Err(Failure::Panicked(panic)))
                        }
                    }
                }
                Work::Blocking(work) => {
                    let (sender, receiver) = oneshot::channel();
                    let span = self.call.span.clone();
                    pool(Box::new(move || {
                        // Nothing waits any more after a timeout or a cancellation.
                        let _ = sender.send(span.in_scope(|| guarded(work)));
                    }));
                    Work::Thread(receiver)
                }
                Work::Thread(mut receiver) => match Pin::new(&mut receiver).poll(cx) {
                    Poll::Pending => {
                        self.work = Work::Thread(receiver);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok(Ok(outcome))) => Work::Done(Ok(outcome)),
                    Poll::Ready(Ok(Err(panic))) => Work::Done(Err(Failure::Panicked(panic))),
                    // The pool could start no thread.
                    Poll::Ready(Err(_)) => Work::Done(Err(Failure::Panicked(Box::new(
                        "no thread for a blocking call",
                    )))),
                },
                done @ (Work::Done(_) | Work::Over) => {
                    self.work = done;
                    return Poll::Ready(Completion::Returned);
                }
            };
        }
    }

    fn conclude(self: Box<Self>, done: Completion) -> Option<Outgoing> {
        let Self {
            mut call,
            work,
            unanswered,
            ..
        } = *self;
        let span = call.span.clone();
        let exchange = call.cx.0.clone();
        let (end, rest) = match (done, work) {
            (Completion::Cancelled, work) => (None, work),
            (Completion::Returned, Work::Done(end)) => (Some(end), Work::Over),
            (Completion::Returned, work) => (None, work),
            (Completion::Failed(failure), work) => (Some(Err(failure)), work),
        };
        let given_up = matches!(end, Some(Err(Failure::TimedOut(_))));
        let response = match end {
            Some(end) => {
                let _entered = span.enter();
                let response = call.conclude(end);
                unanswered.answered(&response);
                Some(response)
            }
            None => {
                exchange.finish();
                None
            }
        };
        if given_up {
            // So that a blocking function, and what an async one spawned, can see that the client no longer waits.
            exchange.cancelled.fire();
        }
        drop_contained(&span, rest);
        response
    }
}

/// Drops what is left of an author's code. A panic in there is caught too.
fn drop_contained<T>(span: &tracing::Span, rest: T) {
    let _entered = span.enter();
    if guarded(move || drop(rest)).is_err() {
        tracing::error!("a call panicked while it was dropped");
    }
}

/// A call that is answered, and whose messages go before the response.
struct Answered {
    exchange: Arc<Exchange>,
    unanswered: Unanswered,
    response: Outgoing,
}

impl Job for Answered {
    fn exchange(&self) -> &Arc<Exchange> {
        &self.exchange
    }

    fn poll(&mut self, _: &mut task::Context<'_>, _: Pool) -> Poll<Completion> {
        Poll::Ready(Completion::Returned)
    }

    fn conclude(self: Box<Self>, done: Completion) -> Option<Outgoing> {
        if let Completion::Cancelled = done {
            return None;
        }
        self.unanswered.answered(&self.response);
        Some(self.response)
    }
}
