//! Error codes and the sentences that go with them. The only place that spells a code.

use std::{borrow::Cow, fmt};

use trueform_schema::{ErrorObject, Json, RequestId, Revision};

use super::ErrorDetail;

/// The codes the specification gives a meaning.
pub mod code {
    /// The bytes are not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a JSON-RPC message, or the message may not be sent now.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method is unknown, or not offered at this revision or by these capabilities.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The params do not have the method's form, or name something that does not exist.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The server failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// A header of a 2026-07-28 request is missing or says something else than the body.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request did not declare a client capability that it needs (2026-07-28).
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The resource does not exist (until 2025-11-25).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// URLs are to be visited first; `data.elicitations` says which (2025-11-25).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// The protocol version of the request is not served (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}

pub(crate) fn parse(problem: impl Into<String>) -> ErrorObject {
    ErrorObject::new(
        code::PARSE_ERROR,
        format!("parse error: {}", problem.into()),
    )
}

pub(crate) fn invalid_request(problem: impl Into<String>, fault: &ErrorDetail) -> ErrorObject {
    let message = format!("invalid request: {}", problem.into());
    ErrorObject::new(code::INVALID_REQUEST, message).with_data(fault.data())
}

pub(crate) fn method_not_found(method: &str, why: &str) -> ErrorObject {
    ErrorObject::new(
        code::METHOD_NOT_FOUND,
        format!("method `{}` {why}", shortened(method)),
    )
}

pub(crate) fn invalid_params(problem: impl Into<String>, fault: &ErrorDetail) -> ErrorObject {
    ErrorObject::new(code::INVALID_PARAMS, problem.into()).with_data(fault.data())
}

/// Params of `method` that do not have its form.
pub(crate) fn params_error(method: &str, fault: &ErrorDetail) -> ErrorObject {
    let ErrorDetail {
        pointer,
        rule,
        expected,
        found,
    } = fault;
    // The data has the whole of it.
    let pointer = shortened(pointer);
    let problem = match *rule {
        "missing" => format!("`{pointer}` is missing"),
        "duplicate" => format!("`{pointer}` occurs twice"),
        // The sentence says it all.
        "form" => format!("{pointer}: {expected}"),
        _ => format!("{pointer}: expected {expected}, found {found}"),
    };
    invalid_params(format!("invalid params of `{method}`: {problem}"), fault)
}

/// The author's side failed; what exactly is for the log only.
pub(crate) fn internal(problem: impl Into<String>) -> ErrorObject {
    ErrorObject::new(code::INTERNAL_ERROR, problem.into())
}

pub(crate) fn header_mismatch(problem: impl Into<String>) -> ErrorObject {
    ErrorObject::new(
        code::HEADER_MISMATCH,
        format!("header mismatch: {}", problem.into()),
    )
}

pub(crate) fn unsupported_version(requested: &str, supported: &[Revision]) -> ErrorObject {
    let supported: Vec<&str> = supported.iter().map(|revision| revision.as_str()).collect();
    let message = format!(
        "protocol version `{}` is not served here",
        shortened(requested)
    );
    let data = serde_json::json!({ "supported": supported, "requested": requested });
    ErrorObject::new(code::UNSUPPORTED_VERSION, message).with_data(Json::from(data))
}

/// `required` is the `ClientCapabilities` that are missing.
pub(crate) fn capability_missing(what: &str, required: &serde_json::Value) -> ErrorObject {
    let message =
        format!("this request needs the client capability {what}, which it did not declare");
    let data = serde_json::json!({ "requiredCapabilities": required });
    ErrorObject::new(code::MISSING_CLIENT_CAPABILITY, message).with_data(Json::from(data))
}

/// Longest part of a peer's text that goes into a message or a log, in bytes.
const LONGEST: usize = 128;

/// `text`, or its beginning if it is longer than [`LONGEST`].
fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().find(|(at, _)| *at >= LONGEST) {
        Some((at, _)) => Cow::Owned(format!("{}…", &text[..at])),
        None => Cow::Borrowed(text),
    }
}

/// A peer's text as one short line, for a message or the log: cut after [`LONGEST`] bytes, with control characters escaped.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    let short = cut(text);
    match short.chars().any(char::is_control) {
        true => Cow::Owned(short.escape_debug().to_string()),
        false => short,
    }
}

/// A peer's id as its JSON text on one short line, for a message or the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortRequestId<'a>(pub(crate) &'a RequestId);

impl fmt::Display for ShortRequestId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            RequestId::Integer(integer) => write!(f, "{integer}"),
            RequestId::Text(text) => write!(f, "{:?}", cut(text)),
            id @ RequestId::Number(_) => f.write_str(&shortened(&id.to_string())),
        }
    }
}
