//! The protocol engine: bytes in, an answer or a running call out. State and functions, no sockets and no async runtime.
//!
//! Transports hand it frames ([`Engine::receive_line`], [`Engine::post_modern`], …) and write what it returns. It decides
//! everything about MCP: era, phase, method, capabilities, which of the two kinds of error an answer is.

mod legacy;
mod line;
mod listen;
mod look;
mod modern;
#[cfg(feature = "http")]
mod post;
mod running;
mod shared;
mod tools;

use trueform_schema::{ErrorObject, RequestId, Revision, View};

pub use self::listen::MAX_SUBSCRIPTIONS;
pub(crate) use self::{
    line::Link,
    look::{Look, Read},
    running::{End, Pending, Running, Work},
    shared::{Engine, Settings, Shared, States},
};
use crate::{
    gate,
    jsonrpc::{self, NoId, code},
};

/// What became of a message.
#[derive(Debug)]
pub(crate) enum Reply {
    /// Nothing is answered. HTTP: 202.
    Silent,
    Ready(Answer),
    Running(Box<Running>),
    /// One reply each for the messages of a batch.
    Batch(Vec<Reply>),
}

/// One complete JSON-RPC message that answers a request.
#[derive(Debug)]
pub(crate) struct Answer {
    /// HTTP status, where nothing was sent before.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "what HTTP adds"))]
    pub(crate) status: u16,
    /// The message, without a line end.
    pub(crate) body: Vec<u8>,
    /// Whether it refuses the request, so that the log shows what was asked.
    pub(crate) is_refusal: bool,
}

impl Answer {
    /// The result that `write` appends.
    pub(crate) fn result(
        id: &RequestId,
        view: View<'_>,
        write: impl FnOnce(View<'_>, &mut Vec<u8>),
    ) -> Self {
        let mut body = Vec::with_capacity(256);
        jsonrpc::write_result(id, view, &mut body, write);
        Self {
            status: 200,
            body,
            is_refusal: false,
        }
    }

    /// An error at `revision`, with the status that goes with its code there (A-16, GAP-6).
    pub(crate) fn error(
        id: Option<&RequestId>,
        revision: Option<Revision>,
        error: &ErrorObject,
    ) -> Self {
        let modern =
            revision.is_some_and(|revision| revision.era() == trueform_schema::Era::Modern);
        let status = match error.code {
            code::PARSE_ERROR | code::INVALID_REQUEST => 400,
            code::METHOD_NOT_FOUND if modern => 404,
            code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY | code::UNSUPPORTED_VERSION => {
                400
            }
            _ => 200,
        };
        Self::error_with_status(status, id, revision, error)
    }

    /// An error with a status of its own.
    pub(crate) fn error_with_status(
        status: u16,
        id: Option<&RequestId>,
        revision: Option<Revision>,
        error: &ErrorObject,
    ) -> Self {
        let mut body = Vec::with_capacity(192);
        jsonrpc::write_error(id, NoId::at(revision), error, &mut body);
        Self {
            status,
            body,
            is_refusal: true,
        }
    }
}

/// Logs `message`, what it says left out, if `reply` is an error at once.
pub(crate) fn log_refused(reply: &Reply, message: &[u8]) {
    if let Reply::Ready(Answer {
        is_refusal: true, ..
    }) = reply
    {
        gate::log_raw(message);
    }
}

impl Reply {
    fn error(id: &RequestId, revision: Revision, error: &ErrorObject) -> Self {
        tracing::debug!(%id, %revision, code = error.code, problem = %error.message, "request refused");
        Self::Ready(Answer::error(Some(id), Some(revision), error))
    }
}
