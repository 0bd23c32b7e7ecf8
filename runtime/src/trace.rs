//! The span of a request: made once, and told once how the request ended.

use trueform_schema::{RequestId, Revision};

use crate::gate::{Outcome, Outgoing};

/// The span in which everything happens that is done for a request. `revision`, `tool` and `outcome` are recorded once known:
/// `outcome` is `ok`, `tool error`, `cancelled`, or the code of an error.
pub(crate) fn request_span(id: &RequestId, method: &str) -> tracing::Span {
    tracing::info_span!(
        "mcp_request",
        method,
        %id,
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
