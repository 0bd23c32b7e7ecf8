//! The protocol engine: bytes in, an answer or a running call out. State and functions, no sockets and no async runtime.
//!
//! Transports hand it frames ([`Engine::receive_line`], [`Engine::post_modern`], …) and write what it returns. It decides
//! everything about MCP: era, phase, method, capabilities, which of the two kinds of error an answer is.

mod legacy;
mod line;
mod listen;
mod look;
mod modern;
mod running;
mod shared;
mod tools;

use trueform_schema::{ErrorObject, Method, RequestId, Revision, View};

pub use self::listen::MAX_SUBSCRIPTIONS;
pub(crate) use self::{
    line::Link,
    look::{Look, Read},
    running::{End, Pending, Running, Work},
    shared::{Engine, Settings, Shared},
};
use crate::jsonrpc::{self, NoId, code};

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
    pub(crate) status: u16,
    /// The message, without a line end.
    pub(crate) body: Vec<u8>,
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
        Self { status: 200, body }
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
        Self { status, body }
    }
}

impl Reply {
    fn error(id: &RequestId, revision: Revision, error: &ErrorObject) -> Self {
        tracing::debug!(%id, %revision, code = error.code, message = %error.message, "request refused");
        Self::Ready(Answer::error(Some(id), Some(revision), error))
    }
}

/// Decodes the params of a method; `{}` stands for absent ones, as for those that are null, which lenient peers send.
fn decode_params<'a, T: serde::Deserialize<'a>>(
    method: Method,
    params: Option<&'a serde_json::value::RawValue>,
) -> Result<T, ErrorObject> {
    let text = match params.map(serde_json::value::RawValue::get) {
        None | Some("null") => "{}",
        Some(text) => text,
    };
    trueform_schema::decode::from_str(text)
        .map_err(|error| jsonrpc::params_error(method.as_str(), &error))
}
