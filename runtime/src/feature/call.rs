//! Runs a [`Callable`]: as far as it goes in place, and the rest as a [`Job`].
//!
//! A call that is ready at its first poll costs no task, no timer and no boxed job.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{self, Poll, Waker},
    time::Instant,
};

use trueform_schema::ErrorObject;

pub(crate) use super::job::{Called, Capacity};
mod around;
mod instead;
mod logged;
mod thread;

use self::{
    around::Around,
    instead::{instead, set_aside},
    logged::{log_drop, log_error, log_failure},
    thread::{FromThread, on_thread},
};
use super::{
    callable::{Callable, Failure, Prepared, Step, Timeout},
    failure::ToolError,
    job::{Completion, Handover, Job, Pool, RunApart},
    layer::{CallInfo, Layers},
    slow,
    visibility::Sight,
};
use crate::{
    contained::guarded,
    exchange::{Context, Exchange, MessageSink, Ticket, polling},
    gate::{Outgoing, Unread},
    trace::{self, Unanswered},
};

/// What a call needs besides its request.
pub(crate) struct Conditions<'a> {
    /// Around the call, outermost first.
    pub(crate) layers: &'a Arc<Layers>,
    /// What the caller sees; `None` for everything.
    pub(crate) sight: Option<Sight<'a>>,
    /// What the transport has room for; `None` where the table of ids bounds the calls.
    pub(crate) capacity: Option<&'a dyn Capacity>,
    /// What waits for its readers.
    pub(crate) unread: &'a Unread,
    /// The message that the request was read from.
    pub(crate) message: &'a [u8],
    /// What drives a call that becomes a task.
    pub(crate) run_apart: RunApart,
}

/// What a call is given: the params of `C`, or what they can be made of.
pub(crate) trait Given<C: Callable> {
    /// Calls `callable`.
    fn call(self, callable: &Arc<C>, cx: &Context) -> Step<Outcomes<C>>;

    /// The params, for a call that begins later.
    fn kept(self) -> C::Params;
}

impl<C: Callable> Given<C> for C::Params {
    #[inline(always)]
    fn call(self, callable: &Arc<C>, cx: &Context) -> Step<Outcomes<C>> {
        callable.call(cx, self)
    }

    fn kept(self) -> C::Params {
        self
    }
}

/// Calls `callable` for the request `cx`.
pub(crate) fn run<C: Callable>(
    callable: &Arc<C>,
    cx: Context,
    given: impl Given<C>,
    conditions: &Conditions<'_>,
) -> Called {
    let layers = conditions.layers;
    // Entered by the engine, which looked at the request first.
    let span = tracing::Span::current();
    span.record("name", callable.name());
    let ticket = match enter(&cx.0, &span, conditions) {
        Ok(ticket) => ticket,
        Err(refused) => return refused,
    };
    let mut call = RunningCall {
        callable: callable.clone(),
        cx,
        span,
        around: None,
        ticket,
    };
    let mut pending = match layers.is_empty() {
        true => begin(&call.callable, || given.call(&call.callable, &call.cx)),
        false => call.enter_layers(layers, given.kept()),
    };
    pending.first_poll(&call.cx.0);
    match pending {
        Pending::Done(end) if !call.cx.0.has_handover() => call.ready(end, conditions.message),
        pending => {
            if call.cx.0.enters_late() {
                match call.cx.0.enter() {
                    Ok(ticket) => call.ticket = ticket,
                    Err(error) => {
                        drop_contained(&call.span, pending);
                        return not_entered(&call.span, error);
                    }
                }
            }
            call.cx.0.keep_message(conditions.message);
            Called::Running(Box::new(PendingCall {
                unanswered: Unanswered::new(call.span.clone()),
                call,
                pending,
                polled: false,
            }))
        }
    }
}

/// Takes the id of a call, unless that is done when the call waits, and looks for room for it.
///
/// # Errors
/// What becomes of the call instead.
fn enter(
    exchange: &Arc<Exchange>,
    span: &tracing::Span,
    conditions: &Conditions<'_>,
) -> Result<Option<Ticket>, Called> {
    let ticket = match exchange.enters_late() {
        true => exchange.check_room().map(|()| None).map_err(Some),
        false => exchange.enter(),
    };
    let ticket = ticket.map_err(|error| not_entered(span, error))?;
    let room = conditions.unread.check();
    let room = room.and_then(|()| match conditions.capacity {
        Some(capacity) => capacity.call(),
        None => Ok(()),
    });
    room.map(|()| ticket).map_err(Called::TurnedAway)
}

/// One call, apart from what is left to do of it.
struct RunningCall<C: Callable> {
    callable: Arc<C>,
    cx: Context,
    span: tracing::Span,
    /// What the layers keep of the call; `None` without layers.
    around: Option<Box<Around>>,
    /// Keeps the id taken while the call runs.
    ticket: Option<Ticket>,
}

/// What becomes of a call whose id could not be taken.
#[cold]
fn not_entered(span: &tracing::Span, error: Option<ErrorObject>) -> Called {
    match error {
        Some(error) => Called::Refused(error),
        None => {
            trace::record_dropped(span);
            Called::Silent
        }
    }
}

/// How an author's code ended.
type Ended<C> = Result<Result<<C as Callable>::Output, ToolError>, Failure>;
type Outcomes<C> = Result<<C as Callable>::Output, ToolError>;

/// What is left to do of a call.
enum Pending<C: Callable> {
    /// A layer has not admitted it yet.
    Admission(C::Params),
    Future(Pin<Box<dyn Future<Output = Outcomes<C>> + Send>>),
    Blocking(Box<dyn FnOnce() -> Outcomes<C> + Send>),
    Preparing(Box<dyn FnOnce() -> Prepared<Outcomes<C>> + Send>),
    /// The pool prepares it.
    Prepared(FromThread<Prepared<Outcomes<C>>>),
    /// The pool runs it.
    Thread(FromThread<Outcomes<C>>),
    Done(Ended<C>),
    /// The end was taken.
    Over,
}

/// Runs the author's code as far as it goes without waiting.
#[inline]
fn start<C: Callable>(callable: &Arc<C>, cx: &Context, params: C::Params) -> Pending<C> {
    begin(callable, || callable.call(cx, params))
}

#[inline(always)]
fn begin<C: Callable>(callable: &Arc<C>, call: impl FnOnce() -> Step<Outcomes<C>>) -> Pending<C> {
    let begun = Instant::now();
    let called = guarded(call);
    slow::report(callable.name(), callable.place(), begun.elapsed());
    match called {
        Ok(Step::Ready(outcome)) => Pending::Done(Ok(outcome)),
        Ok(Step::Later(future)) => Pending::Future(future),
        Ok(Step::Blocking(pending)) => Pending::Blocking(pending),
        Ok(Step::Preparing(preparation)) => Pending::Preparing(preparation),
        Err(panic) => Pending::Done(Err(Failure::Panicked(panic))),
    }
}

impl<C: Callable> Pending<C> {
    /// Polls a future once. Most are done by then and cost no entry in a table, no timer and no task. A job that is not is
    /// polled again at once, with a waker of its own.
    fn first_poll(&mut self, exchange: &Arc<Exchange>) {
        if !matches!(self, Self::Future(_)) {
            return;
        }
        let Self::Future(mut future) = std::mem::replace(self, Self::Over) else {
            return;
        };
        let mut cx = task::Context::from_waker(Waker::noop());
        // A future that is done is dropped in here, so that a panic of its drop is caught too.
        let poll = move || match future.as_mut().poll(&mut cx) {
            Poll::Ready(outcome) => Self::Done(Ok(outcome)),
            Poll::Pending => Self::Future(future),
        };
        let polled = polling(exchange, || guarded(poll));
        *self = polled.unwrap_or_else(|panic| Self::Done(Err(Failure::Panicked(panic))));
        if let (Self::Future(_), Some(error)) = (&self, set_aside(exchange)) {
            let waiting = std::mem::replace(self, Self::Done(Ok(Err(error))));
            drop_contained(&tracing::Span::current(), waiting);
        }
    }
}

impl<C: Callable> RunningCall<C> {
    /// Lets each layer look at the call, then runs it if all of them admit it at once.
    #[cold]
    fn enter_layers(&mut self, layers: &Layers, params: C::Params) -> Pending<C> {
        let info = CallInfo {
            context: &self.cx,
            name: self.callable.name(),
            annotations: self.callable.annotations(),
        };
        let (around, begun) = Around::begin(layers, &info);
        self.around = Some(Box::new(around));
        match begun {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Pending::Done(Ok(Err(error))),
            Err(failure) => return Pending::Done(Err(failure)),
        }
        let mut cx = task::Context::from_waker(Waker::noop());
        match self.poll_admitted(&mut cx) {
            Poll::Ready(Ok(())) => start(&self.callable, &self.cx, params),
            Poll::Ready(Err(failure)) => Pending::Done(Err(failure)),
            Poll::Pending => Pending::Admission(params),
        }
    }

    /// Ready when every layer has admitted the call, in order.
    fn poll_admitted(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<(), Failure>> {
        match &mut self.around {
            Some(around) => around.poll_admitted(cx),
            None => Poll::Ready(Ok(())),
        }
    }

    /// What becomes of a call that needed no waiting. What it sent meanwhile goes before the response.
    #[inline]
    fn ready(mut self, end: Ended<C>, message: &[u8]) -> Called {
        if self.cx.0.cancelled.is_fired() {
            // O-2: cancelled while it ran.
            trace::record_cancelled(&self.span);
            return Called::Silent;
        }
        let response = self.conclude(end, Some(message));
        match self.cx.0.sink() {
            MessageSink::Own(outbox) if !outbox.is_empty() => {
                Called::Running(Box::new(AnsweredCall {
                    exchange: self.cx.0,
                    unanswered: Unanswered::new(self.span),
                    response,
                }))
            }
            MessageSink::Own(_) | MessageSink::Link(_) => Called::Ready(response),
        }
    }

    /// The response to a call that ended. Nothing is sent for it afterwards (T-13). `message` is what the request was read from, as long
    /// as it is there.
    #[inline]
    fn conclude(&mut self, end: Ended<C>, message: Option<&[u8]>) -> Outgoing {
        let callable = &*self.callable;
        let exchange = &self.cx.0;
        exchange.finish();
        let response = match end {
            Ok(Err(mut error)) if error.has_instead() => {
                match instead(
                    exchange,
                    callable.name(),
                    callable.place(),
                    &mut error,
                    message,
                ) {
                    Some(response) => response,
                    None => callable.respond(&self.cx, Err(error)),
                }
            }
            Ok(outcome) => callable.respond(&self.cx, outcome),
            Err(failure) => {
                log_failure(callable.name(), callable.place(), &failure);
                let output = callable.failed(&failure);
                output.and_then(|output| callable.respond(&self.cx, Ok(output)))
            }
        };
        let response = response.unwrap_or_else(|error| {
            log_error(callable.name(), callable.place(), &error);
            Outgoing::failure(&exchange.id, exchange.revision(), error)
        });
        match self.around.take() {
            None => response,
            Some(mut around) => self.leave_layers(&mut around, response),
        }
    }

    /// Lets each layer see the end of the call. The response is another one if it is larger than a layer allows.
    #[cold]
    fn leave_layers(&self, around: &mut Around, mut response: Outgoing) -> Outgoing {
        let bytes = response.bytes().len();
        if let Some(limit) = around.max_response_bytes().filter(|limit| *limit < bytes) {
            let (callable, exchange) = (&*self.callable, &self.cx.0);
            let failure = Failure::TooLarge { bytes, limit };
            log_failure(callable.name(), callable.place(), &failure);
            // It belongs to the response that is not sent, and may be what is large.
            drop(exchange.take_result_meta());
            let output = callable.failed(&failure);
            response = output
                .and_then(|output| callable.respond(&self.cx, Ok(output)))
                .unwrap_or_else(|error| {
                    Outgoing::failure(&exchange.id, exchange.revision(), error)
                });
        }
        around.end(&response);
        response
    }
}

/// A call that waits.
struct PendingCall<C: Callable> {
    call: RunningCall<C>,
    pending: Pending<C>,
    polled: bool,
    unanswered: Unanswered,
}

impl<C: Callable> Job for PendingCall<C> {
    fn exchange(&self) -> &Arc<Exchange> {
        &self.call.cx.0
    }

    fn timeout(&self) -> Option<Timeout> {
        let own = self.call.callable.timeout();
        match &self.call.around {
            Some(around) => around.timeout(own),
            None => own,
        }
    }

    fn poll(&mut self, cx: &mut task::Context<'_>, pool: Pool) -> Poll<Completion> {
        loop {
            self.pending = match std::mem::replace(&mut self.pending, Pending::Over) {
                Pending::Admission(params) => match self.call.poll_admitted(cx) {
                    Poll::Pending => {
                        self.pending = Pending::Admission(params);
                        return Poll::Pending;
                    }
                    Poll::Ready(Err(failure)) => Pending::Done(Err(failure)),
                    Poll::Ready(Ok(())) => {
                        let _entered = self.call.span.enter();
                        start(&self.call.callable, &self.call.cx, params)
                    }
                },
                Pending::Future(mut future) => {
                    // The first poll may run on a transport's own task, which others wait for.
                    let begun = (!self.polled).then(Instant::now);
                    self.polled = true;
                    let entered = self.call.span.enter();
                    let exchange = &self.call.cx.0;
                    // What a panic leaves behind is the author's future, which is never polled again.
                    let polled = polling(exchange, || guarded(|| future.as_mut().poll(cx)));
                    drop(entered);
                    if let Some(begun) = begun {
                        let callable = &self.call.callable;
                        slow::report(callable.name(), callable.place(), begun.elapsed());
                    }
                    match polled {
                        Ok(Poll::Pending) => match set_aside(&self.call.cx.0) {
                            None => {
                                self.pending = Pending::Future(future);
                                return match self.call.cx.0.has_handover() {
                                    true => Poll::Ready(Completion::HandedOver),
                                    false => Poll::Pending,
                                };
                            }
                            Some(error) => {
                                drop_contained(&self.call.span, future);
                                Pending::Done(Ok(Err(error)))
                            }
                        },
                        Ok(Poll::Ready(outcome)) => {
                            drop_contained(&self.call.span, future);
                            Pending::Done(Ok(outcome))
                        }
                        Err(panic) => {
                            drop_contained(&self.call.span, future);
                            Pending::Done(Err(Failure::Panicked(panic)))
                        }
                    }
                }
                Pending::Blocking(work) => {
                    let (exchange, span) = (&self.call.cx.0, &self.call.span);
                    Pending::Thread(on_thread(pool, exchange, span, work))
                }
                Pending::Preparing(work) => {
                    let (exchange, span) = (&self.call.cx.0, &self.call.span);
                    Pending::Prepared(on_thread(pool, exchange, span, work))
                }
                Pending::Prepared(mut receiver) => match receiver.poll(cx) {
                    Poll::Pending => {
                        self.pending = Pending::Prepared(receiver);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok(call)) => {
                        let _entered = self.call.span.enter();
                        begin(&self.call.callable, call)
                    }
                    Poll::Ready(Err(failure)) => Pending::Done(Err(failure)),
                },
                Pending::Thread(mut receiver) => match receiver.poll(cx) {
                    Poll::Pending => {
                        self.pending = Pending::Thread(receiver);
                        return Poll::Pending;
                    }
                    Poll::Ready(outcome) => Pending::Done(outcome),
                },
                done @ (Pending::Done(_) | Pending::Over) => {
                    self.pending = done;
                    // It may have ended in the poll in which it asked for that.
                    return Poll::Ready(match self.call.cx.0.has_handover() {
                        true => Completion::HandedOver,
                        false => Completion::Returned,
                    });
                }
            };
        }
    }

    fn conclude(self: Box<Self>, done: Completion) -> Option<Outgoing> {
        if let Completion::HandedOver = done {
            return self.hand_over();
        }
        let Self {
            mut call,
            pending,
            unanswered,
            ..
        } = *self;
        let span = call.span.clone();
        let exchange = call.cx.0.clone();
        let (end, rest) = match (done, pending) {
            (Completion::Cancelled | Completion::HandedOver, pending) => (None, pending),
            (Completion::Returned, Pending::Done(end)) => (Some(end), Pending::Over),
            (Completion::Returned, pending) => (None, pending),
            (Completion::Failed(failure), pending) => (Some(Err(failure)), pending),
        };
        let given_up = matches!(end, Some(Err(Failure::TimedOut(_) | Failure::Stopped)));
        let response = match end {
            Some(end) => {
                let _entered = span.enter();
                let response = call.conclude(end, None);
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

impl<C: Callable> PendingCall<C> {
    /// Answers the request with what takes the work over, which goes on apart from it.
    #[cold]
    fn hand_over(mut self: Box<Self>) -> Option<Outgoing> {
        let exchange = self.call.cx.0.clone();
        let taker = exchange.take_over()?;
        let Ok(handover) = taker.downcast::<Handover>() else {
            debug_assert!(false, "something else takes calls over");
            return None;
        };
        // Nothing more leaves with the request, and its id is free.
        exchange.finish();
        drop(self.call.ticket.take());
        let unanswered = Unanswered::new(self.call.span.clone());
        std::mem::replace(&mut self.unanswered, unanswered).answered(&handover.response);
        let Handover { response, go_on } = *handover;
        go_on(self);
        Some(response)
    }
}

/// Drops what is left of an author's code. A panic in there is caught too.
fn drop_contained<T>(span: &tracing::Span, rest: T) {
    let _entered = span.enter();
    if guarded(move || drop(rest)).is_err() {
        log_drop();
    }
}

/// A call that is answered, and whose messages go before the response.
struct AnsweredCall {
    exchange: Arc<Exchange>,
    unanswered: Unanswered,
    response: Outgoing,
}

impl Job for AnsweredCall {
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
