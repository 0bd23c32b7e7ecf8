//! A request that was begun and has no answer yet. Whoever drives it reports how the work ended.

use std::{any::Any, fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use trueform_schema::{ErrorObject, RequestId, Revision};

use super::{Answer, tools};
use crate::{
    context::Context,
    exchange::Exchange,
    session::Ticket,
    tool::{Outcome, ToolRoute},
};

/// A request in progress.
pub(crate) struct Running {
    context: Context,
    work: Option<Work>,
    /// Keeps the id taken while the call runs.
    _ticket: Option<Ticket>,
    span: tracing::Span,
}

/// What is left to do.
pub(crate) enum Work {
    Call {
        tool: Arc<ToolRoute>,
        pending: Pending,
    },
    /// Nothing but to send what the call said before it was answered, and the answer.
    Answered(Answer),
    /// A subscription: stays open until the server shuts down or the client cancels.
    Listen,
}

/// The author's code, begun or not.
pub(crate) enum Pending {
    Future(Pin<Box<dyn Future<Output = Outcome> + Send>>),
    Blocking(Box<dyn FnOnce() -> Outcome + Send>),
}

/// How the author's code came to an end.
pub(crate) enum End {
    Returned(Outcome),
    Panicked(Box<dyn Any + Send>),
    TimedOut(Duration),
}

impl Running {
    pub(super) fn new(
        context: Context,
        work: Work,
        ticket: Option<Ticket>,
        span: tracing::Span,
    ) -> Self {
        Self {
            context,
            work: Some(work),
            _ticket: ticket,
            span,
        }
    }

    pub(crate) fn exchange(&self) -> &Arc<Exchange> {
        &self.context.0
    }

    /// The span that everything done for this request belongs to.
    pub(crate) fn span(&self) -> &tracing::Span {
        &self.span
    }

    /// Takes what is left to do, once.
    pub(crate) fn take_work(&mut self) -> Option<Work> {
        self.work.take()
    }

    /// The answer to a tool call that ended. `None` if the client cancelled it: nothing may be sent then (E-9, O-2).
    pub(crate) fn conclude(&self, tool: &ToolRoute, end: End) -> Option<Answer> {
        if self.context.0.cancelled.is_fired() {
            record_outcome(&self.span, Ok("cancelled"));
            return None;
        }
        let _entered = self.span.enter();
        Some(tools::conclude(&self.context, tool, end, &self.span))
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

/// The span of a request, in which everything happens that is done for it. `tool` and `outcome` are recorded once known:
/// `ok`, `tool error`, `cancelled`, or the code of the error.
pub(super) fn span_of(id: &RequestId, method: &str, revision: Option<Revision>) -> tracing::Span {
    tracing::info_span!(
        "mcp_request",
        method,
        %id,
        revision = revision.map(Revision::as_str),
        tool = tracing::field::Empty,
        outcome = tracing::field::Empty,
    )
}

/// Records how the request of the current span ended.
pub(super) fn record_outcome(span: &tracing::Span, outcome: Result<&str, &ErrorObject>) {
    match outcome {
        Ok(outcome) => span.record("outcome", outcome),
        Err(error) => span.record("outcome", error.code),
    };
}
