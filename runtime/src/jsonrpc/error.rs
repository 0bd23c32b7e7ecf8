//! Error codes and the sentences that go with them. Codes are written only here.

use trueform_schema::{ErrorObject, Json, Revision};

use super::{
    ErrorDetail,
    shown::{sentence, shortened},
};

/// The codes that the specification defines.
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
    /// A header of a 2026-07-28 request is missing or contradicts the body.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request did not declare a client capability that it needs (2026-07-28).
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The resource does not exist (until 2025-11-25).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// The user must visit URLs first; `data.elicitations` lists them (2025-11-25).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// The protocol version of the request is not served (2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}

pub(crate) fn parse(problem: impl Into<String>) -> ErrorObject {
    ErrorObject::new(
        code::PARSE_ERROR,
        format!("parse error: {}", sentence(&problem.into())),
    )
}

pub(crate) fn invalid_request(problem: impl Into<String>, fault: &ErrorDetail) -> ErrorObject {
    let message = format!("invalid request: {}", sentence(&problem.into()));
    ErrorObject::new(code::INVALID_REQUEST, message).with_data(fault.data())
}

pub(crate) fn method_not_found(method: &str, why: &str) -> ErrorObject {
    ErrorObject::new(
        code::METHOD_NOT_FOUND,
        format!("method `{}` {why}", shortened(method)),
    )
}

pub(crate) fn invalid_params(problem: impl Into<String>, fault: &ErrorDetail) -> ErrorObject {
    let message = sentence(&problem.into()).into_owned();
    ErrorObject::new(code::INVALID_PARAMS, message).with_data(fault.data())
}

/// Returns the error for a message with an id whose method is a notification, or a method that only servers send.
pub(crate) fn not_a_request_of_client(method: &str) -> ErrorObject {
    method_not_found(method, "is not a request that a client sends")
}

/// Returns the error for params that do not have the form of `method`.
pub(crate) fn params_error(method: &str, fault: &ErrorDetail) -> ErrorObject {
    let ErrorDetail {
        pointer,
        rule,
        expected,
        found,
    } = fault;
    // The data has the full pointer.
    let pointer = shortened(pointer);
    let problem = match *rule {
        "missing" => format!("`{pointer}` is missing"),
        "duplicate" => format!("`{pointer}` occurs twice"),
        // The sentence contains everything.
        "form" => format!("{pointer}: {expected}"),
        _ => format!("{pointer}: expected {expected}, found {found}"),
    };
    invalid_params(format!("invalid params of `{method}`: {problem}"), fault)
}

/// Returns the error for a failure on the author's side. The details are only logged.
pub(crate) fn internal(problem: impl Into<String>) -> ErrorObject {
    ErrorObject::new(code::INTERNAL_ERROR, problem.into())
}

pub(crate) fn header_mismatch(problem: impl Into<String>) -> ErrorObject {
    ErrorObject::new(
        code::HEADER_MISMATCH,
        format!("header mismatch: {}", sentence(&problem.into())),
    )
}

pub(crate) fn unsupported_version(requested: &str, supported: &[Revision]) -> ErrorObject {
    let supported: Vec<&str> = supported.iter().map(|revision| revision.as_str()).collect();
    let requested = shortened(requested);
    let message = format!("protocol version `{requested}` is not served here");
    let data = serde_json::json!({ "supported": supported, "requested": requested });
    ErrorObject::new(code::UNSUPPORTED_VERSION, message).with_data(Json::from(data))
}

/// Returns the error for missing client capabilities. `required` is the `ClientCapabilities` that are missing.
pub(crate) fn capability_missing(what: &str, required: &serde_json::Value) -> ErrorObject {
    let message =
        format!("this request needs the client capability {what}, which it did not declare");
    let data = serde_json::json!({ "requiredCapabilities": required });
    ErrorObject::new(code::MISSING_CLIENT_CAPABILITY, message).with_data(Json::from(data))
}
