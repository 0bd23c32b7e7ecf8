//! The span of a request. It is created once, and the outcome of the request is recorded once.

mod context;

use trueform_schema::{Extras, RequestId, Revision};

use crate::{
    gate::{Outcome, Outgoing},
    jsonrpc,
};

pub use self::context::TraceContext;

/// The name of the span of a request.
pub(crate) const REQUEST_SPAN: &str = "mcp_request";

/// The target of the span of a request.
#[cfg(feature = "tracing-log")]
pub(crate) const REQUEST_TARGET: &str = module_path!();

/// Creates the span for all work of a request. `revision`, `name` and `outcome` are recorded when they are known: `name` is the name of the
/// tool, prompt, resource or method of an extension, and `outcome` is `ok`, `tool error`, `cancelled`, `dropped`, or the code of an error.
/// `trace_id` and `parent_id` are recorded if the request names a trace. Text of the client is truncated and escaped.
pub(crate) fn request_span(id: &RequestId, method: &str) -> tracing::Span {
    tracing::info_span!(
        REQUEST_SPAN,
        method = &*jsonrpc::shortened(method),
        id = %jsonrpc::ShortRequestId(id),
        revision = tracing::field::Empty,
        name = tracing::field::Empty,
        trace_id = tracing::field::Empty,
        parent_id = tracing::field::Empty,
        outcome = tracing::field::Empty,
    )
}

/// Records the revision of the request that `span` belongs to.
pub(crate) fn record_revision(span: &tracing::Span, revision: Revision) {
    span.record("revision", revision.as_str());
}

/// Records the trace that the current request belongs to, if its `_meta` names one.
#[cold]
pub(crate) fn record_trace(meta: &Extras) {
    let span = tracing::Span::current();
    if span.is_disabled() {
        return;
    }
    if let Some(trace) = TraceContext::of(meta) {
        span.record("trace_id", trace.trace_id());
        span.record("parent_id", trace.parent_id());
    }
}

/// Records the outcome of the request that `response` answers.
pub(crate) fn record_response(span: &tracing::Span, response: &Outgoing) {
    match response.outcome() {
        Some(Outcome::Result) => span.record("outcome", "ok"),
        Some(Outcome::ToolError) => span.record("outcome", "tool error"),
        Some(Outcome::Failed(code) | Outcome::Refused(code)) => span.record("outcome", code),
        None => span,
    };
}

/// Records that the request will not be answered because its peer no longer wants it.
pub(crate) fn record_cancelled(span: &tracing::Span) {
    span.record("outcome", "cancelled");
}

/// Records that the request is not answered because its id is that of a running call (GAP-17).
pub(crate) fn record_dropped(span: &tracing::Span) {
    span.record("outcome", "dropped");
}

/// The span of a request that is answered later. If it is dropped before, it records that the request was cancelled: its peer disconnected,
/// or the server was stopped.
#[derive(Debug)]
pub(crate) struct Unanswered(Option<tracing::Span>);

impl Unanswered {
    pub(crate) fn new(span: tracing::Span) -> Self {
        Self(Some(span))
    }

    /// Records the outcome of the request that `response` answers.
    pub(crate) fn answered(mut self, response: &Outgoing) {
        if let Some(span) = self.0.take() {
            record_response(&span, response);
        }
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        if let Some(span) = self.0.take() {
            record_cancelled(&span);
        }
    }
}
