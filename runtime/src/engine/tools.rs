//! `tools/list` and `tools/call`, in both eras.

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{self, Poll, Waker},
    time::Instant,
};

use serde_json::value::RawValue;
use trueform_schema::{
    CallToolRequestParams, Conform, ErrorObject, JsonObject, Method, RequestId, Revision,
    rewrite::Wrapped,
};

use super::{
    Answer, Engine, Look, Reply, Running, Work,
    modern::Site,
    running::{End, Pending, record_outcome},
};
use crate::{
    context::Context,
    exchange::{Exchange, Outlet},
    gate,
    jsonrpc::{self, Fault},
    session::{Refused, Ticket},
    tool::{Called, Outcome, ToolRoute},
};

impl Engine {
    pub(super) fn list_tools(
        &self,
        id: &RequestId,
        revision: Revision,
        cursor: Option<&str>,
    ) -> Result<Reply, ErrorObject> {
        let catalog = self.catalog();
        let page = catalog.page(cursor, revision, self.view(revision))?;
        let page = page.as_ref();
        Ok(Reply::Ready(Answer::result(
            id,
            self.view(revision),
            |_, out| out.extend_from_slice(page),
        )))
    }

    pub(super) fn call_tool_modern(
        &self,
        id: &RequestId,
        params: Option<&RawValue>,
        look: Look<'_>,
        site: Site<'_>,
    ) -> Result<Reply, ErrorObject> {
        let undeclared = self.undeclared(&look);
        let mut params = self
            .call_params(look, params, Revision::V2026_07_28)
            .map_err(|error| undeclared.unwrap_or(error))?;
        let catalog = self.catalog();
        let tool = catalog.tool(&params.name)?;
        if let Site::Post { headers, .. } = &site {
            gate::check_param_headers(*headers, tool.header_params(), params.arguments.as_deref())?;
        }
        let exchange = self.modern_exchange(id, Method::CallTool, params.meta.as_mut(), site)?;
        let missing = tool.needs().missing_from(&exchange.peer().capabilities);
        if !missing.is_empty() {
            return Err(jsonrpc::capability_missing(
                &missing.to_string(),
                &missing.as_capabilities(),
            ));
        }
        self.call(tool, exchange, params.arguments.as_ref())
    }

    pub(super) fn call_tool_legacy(
        &self,
        exchange: impl FnOnce(Option<trueform_schema::ProgressToken>) -> Arc<Exchange>,
        params: Option<&RawValue>,
        look: Look<'_>,
        revision: Revision,
    ) -> Result<Reply, ErrorObject> {
        let mut params = self.call_params(look, params, revision)?;
        let catalog = self.catalog();
        let tool = catalog.tool(&params.name)?;
        let meta = params.meta.as_mut();
        let exchange = exchange(meta.and_then(|meta| meta.progress_token.take()));
        let missing = tool.needs().missing_from(&exchange.peer().capabilities);
        if !missing.is_empty() {
            // -32021 does not exist before 2026-07-28; what the client asks for is not there for it (B-8).
            let why = format!(
                "tool `{}` needs the client capability {missing}, which this client did not declare",
                tool.name()
            );
            let fault = Fault::new(
                "/params/name",
                "capability",
                format!("a client that declared {missing}"),
                "one that did not",
            );
            return Err(jsonrpc::invalid_params(why, &fault));
        }
        self.call(tool, exchange, params.arguments.as_ref())
    }

    /// What the client of a call with malformed params did not declare: told before the params are (GAP-2).
    fn undeclared(&self, look: &Look<'_>) -> Option<ErrorObject> {
        let Look::Peeked(_) = look else {
            return None;
        };
        let catalog = self.catalog();
        let tool = catalog.tool(&look.name()?).ok()?;
        let declared = serde_json::from_str(look.raw_capabilities()?.get()).ok()?;
        let missing = tool.needs().missing_from(&declared);
        (!missing.is_empty())
            .then(|| jsonrpc::capability_missing(&missing.to_string(), &missing.as_capabilities()))
    }

    fn call_params(
        &self,
        look: Look<'_>,
        params: Option<&RawValue>,
        revision: Revision,
    ) -> Result<Box<CallToolRequestParams>, ErrorObject> {
        let inbound = self.settings.incoming;
        match look.into_call() {
            Some(decoded) => {
                inbound.check_params(&*decoded, Method::CallTool, revision, params)?;
                Ok(decoded)
            }
            None => inbound
                .params(Method::CallTool, revision, params)
                .map(Box::new),
        }
    }

    /// Runs the author's function as far as it goes without waiting.
    fn call(
        &self,
        tool: &Arc<ToolRoute>,
        exchange: Arc<Exchange>,
        arguments: Option<&JsonObject>,
    ) -> Result<Reply, ErrorObject> {
        // Entered by whoever looked at the request first.
        let span = tracing::Span::current();
        span.record("tool", tool.name());
        let context = Context(exchange);
        let ticket = match self.enter(&context.0)? {
            Entered::Silently => return Ok(Reply::Silent),
            Entered::With(ticket) => ticket,
        };
        // The state a panic may leave behind is the author's; the engine's own is not touched while the function runs.
        let begun = Instant::now();
        let called = catch_unwind(AssertUnwindSafe(|| tool.call(&context, arguments)));
        crate::slow::report(tool, begun.elapsed());
        let pending = match called {
            Ok(Called::Ready(outcome)) => {
                return Ok(answered_at_once(
                    context,
                    tool,
                    End::Returned(outcome),
                    &span,
                ));
            }
            Err(panic) => return Ok(answered_at_once(context, tool, End::Panicked(panic), &span)),
            Ok(Called::Later(future)) => match first_poll(future) {
                Ok(First::Done(outcome)) => {
                    return Ok(answered_at_once(
                        context,
                        tool,
                        End::Returned(outcome),
                        &span,
                    ));
                }
                Err(panic) => {
                    return Ok(answered_at_once(context, tool, End::Panicked(panic), &span));
                }
                Ok(First::Waits(future)) => Pending::Future(future),
            },
            Ok(Called::Blocking(work)) => Pending::Blocking(work),
        };
        let work = Work::Call {
            tool: tool.clone(),
            pending,
        };
        Ok(Reply::Running(Box::new(Running::new(
            context, work, ticket, span,
        ))))
    }
}

/// What became of a request that wants its id.
pub(super) enum Entered {
    /// It may go on; where ids are shared, the ticket keeps its own taken.
    With(Option<Ticket>),
    /// It is dropped: on a shared link an answer would be taken for one to the first request of that id (GAP-17).
    Silently,
}

impl Engine {
    /// Takes the id of a request that may take a while.
    ///
    /// # Errors
    /// The id is taken, where that can be told; too many requests are at work.
    pub(super) fn enter(&self, exchange: &Arc<Exchange>) -> Result<Entered, ErrorObject> {
        // Over HTTP a modern request has a scope of its own.
        let Some(session) = &exchange.session else {
            return Ok(Entered::With(None));
        };
        let limit = self.settings.max_in_flight;
        match session.in_flight.enter(exchange, limit) {
            Ok(ticket) => Ok(Entered::With(Some(ticket))),
            Err(Refused::Full) => Err(jsonrpc::internal(format!(
                "too many calls are running: this server takes {limit} at once"
            ))),
            Err(Refused::Taken) if matches!(exchange.outlet, Outlet::Link(_)) => {
                tracing::warn!(id = %exchange.id, "a request with the id of a running call was dropped");
                Ok(Entered::Silently)
            }
            Err(Refused::Taken) => Err(super::legacy::id_taken(&exchange.id)),
        }
    }
}

/// What the first poll of an author's future gave.
enum First {
    Done(Outcome),
    Waits(Pin<Box<dyn Future<Output = Outcome> + Send>>),
}

/// Polls `future` once. Most are done by then and cost no entry in a table, no timer and no task. Whoever drives one that
/// is not polls it again at once, with a waker of its own.
fn first_poll(
    mut future: Pin<Box<dyn Future<Output = Outcome> + Send>>,
) -> Result<First, Box<dyn Any + Send>> {
    let mut cx = task::Context::from_waker(Waker::noop());
    // A future that is done is dropped in here, so that a panic of its drop is contained too.
    catch_unwind(AssertUnwindSafe(move || {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(outcome) => First::Done(outcome),
            Poll::Pending => First::Waits(future),
        }
    }))
}

/// The reply to a call that needed no waiting. What it said meanwhile goes before the answer.
fn answered_at_once(context: Context, tool: &ToolRoute, end: End, span: &tracing::Span) -> Reply {
    if context.0.cancelled.is_fired() {
        // O-2: cancelled while it ran; no answer is wanted.
        record_outcome(span, Ok("cancelled"));
        return Reply::Silent;
    }
    let answer = conclude(&context, tool, end, span);
    match &context.0.outlet {
        Outlet::Own(outbox) if !outbox.is_empty() => Reply::Running(Box::new(Running::new(
            context,
            Work::Answered(answer),
            None,
            span.clone(),
        ))),
        Outlet::Own(_) | Outlet::Link(_) => Reply::Ready(answer),
    }
}

/// The answer to a call that came to an end.
pub(super) fn conclude(
    context: &Context,
    tool: &ToolRoute,
    end: End,
    span: &tracing::Span,
) -> Answer {
    let exchange = &context.0;
    let outcome = match end {
        End::Returned(outcome) => tool.finish(outcome),
        End::Panicked(panic) => {
            tracing::error!(tool = tool.name(), place = %tool.place(), panic = panic_text(&*panic), "a tool panicked");
            Ok(crate::tool::failed(&format!(
                "tool `{}` failed: internal error",
                tool.name()
            )))
        }
        End::TimedOut(limit) => {
            tracing::warn!(tool = tool.name(), ?limit, "a tool ran out of time");
            Ok(crate::tool::failed(&format!(
                "tool `{}` did not finish within {limit:?}",
                tool.name()
            )))
        }
    };
    exchange.finish();
    let policy = exchange.engine.settings.outgoing;
    let revision = exchange.revision;
    // The result is not moved: it is large. Nor is it changed for older revisions.
    let error = match &outcome {
        Ok(result) => {
            let wrapped = Wrapped::new(result);
            let wraps = tool.wraps(result, revision);
            let seen: &dyn Conform = if wraps { &wrapped } else { result };
            match gate::check(policy, seen, revision, tool.name()) {
                Ok(()) => {
                    let is_error = result.is_error.unwrap_or(false);
                    tracing::debug!(tool = tool.name(), is_error, "answered");
                    tool.tell_losses(result, wraps, revision);
                    return Answer::result(&exchange.id, exchange.view(), |view, out| {
                        seen.encode(view, out)
                    });
                }
                Err(error) => error,
            }
        }
        Err(error) => error.clone(),
    };
    let error = gate::error_at(error, revision);
    record_outcome(span, Err(&error));
    tracing::debug!(problem = %error.message, "answered with an error");
    let mut answer = Answer::error(Some(&exchange.id), Some(revision), &error);
    // The request was fine; it is the tool that answers with an error.
    answer.is_refusal = false;
    answer
}

/// What a panic said, for the log.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "(no message)",
    }
}
