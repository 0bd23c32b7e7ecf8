//! The span of a request: made once. How the request ended is recorded once.

use trueform_schema::{RequestId, Revision};

use crate::{
    gate::{Outcome, Outgoing},
    jsonrpc,
};

/// The span in which everything happens that is done for a request. `revision`, `tool` and `outcome` are recorded once known:
/// `outcome` is `ok`, `tool error`, `cancelled`, `dropped`, or the code of an error. The client's text is cut and escaped.
pub(crate) fn request_span(id: &RequestId, method: &str) -> tracing::Span {
    tracing::info_span!(
        "mcp_request",
        method = &*jsonrpc::shortened(method),
        id = %jsonrpc::ShortRequestId(id),
        revision = tracing::field::Empty,
        tool = tracing::field::Empty,
        outcome = tracing::field::Empty,
    )
}

/// Records the revision of the request that `span` belongs to.
pub(crate) fn record_revision(span: &tracing::Span, revision: Revision) {
    span.record("revision", revision.as_str());
}

/// Records how the request ended that `response` answers.
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

/// The span of a request that is answered later. Dropped before that, it records that the request was cancelled: its peer
/// went away, or the server was stopped.
#[derive(Debug)]
pub(crate) struct Unanswered(Option<tracing::Span>);

impl Unanswered {
    pub(crate) fn new(span: tracing::Span) -> Self {
        Self(Some(span))
    }

    /// Records how the request ended that `response` answers.
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
