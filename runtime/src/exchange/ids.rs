//! Whether requests that are not answered yet may have the same id, and what happens to the later one if they may not.

use trueform_schema::{ErrorObject, RequestId};

use crate::{
    gate::Inbound,
    jsonrpc::{self, ErrorDetail, ShortRequestId},
};

/// What distinguishes the responses to two requests, besides their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdScope {
    /// Nothing: they share a byte stream.
    Stream,
    /// Nothing: one array answers their batch.
    Batch,
    /// Over HTTP each is the response to a request of its own.
    Responses,
}

impl IdScope {
    /// Returns the scope of requests that share one channel for their responses, or that do not.
    pub(crate) fn of(is_stream: bool) -> Self {
        match is_stream {
            true => Self::Stream,
            false => Self::Responses,
        }
    }

    /// Returns whether an id may be that of an earlier request (DEC-1).
    pub(crate) fn may_repeat(self, incoming: Inbound) -> bool {
        self == Self::Responses && incoming.allows_repeated_ids()
    }

    /// Returns the error for a message with the id of an earlier request. `None` on a byte stream, where the client would take it as the
    /// response to the earlier message (GAP-17): the message is dropped, and the log reports it.
    #[cold]
    pub(crate) fn refusal(self, id: &RequestId, method: &str) -> Option<ErrorObject> {
        let id = ShortRequestId(id);
        let (problem, expected, found) = match self {
            Self::Stream => {
                let method = &*jsonrpc::shortened(method);
                tracing::warn!(%id, method, "a request with the id of a running call was dropped");
                return None;
            }
            Self::Batch => (
                format!("two requests of a batch have the id {id}"),
                "an id that no other request of the batch has",
                "a repeated one",
            ),
            Self::Responses => (
                format!("a request with the id {id} is running already"),
                "an id that no running request has",
                "one that is taken",
            ),
        };
        let detail = ErrorDetail::new("/id", "duplicate", expected, found);
        Some(jsonrpc::invalid_request(problem, &detail))
    }
}
