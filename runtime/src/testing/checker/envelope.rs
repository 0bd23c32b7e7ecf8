//! JSON-RPC itself: what a text is that is no message, and which error it deserves.

use serde_json::{Map, Value, value::RawValue};
use trueform_schema::RequestId;

use crate::jsonrpc::{self, code};

/// A text that is no message.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) requirements: &'static [&'static str],
    pub(super) message: String,
    /// The error it deserves.
    pub(super) code: i64,
    /// Whether it is a notification or a response, which are never answered.
    pub(super) unanswerable: bool,
    /// The id, if whoever reads the text must be able to find it.
    pub(super) id: Option<RequestId>,
    /// An id that can be found by luck.
    pub(super) perhaps_id: Option<RequestId>,
    /// The exchange in which it was sent.
    pub(super) stream: Option<String>,
}

/// What is wrong with `text`, which `jsonrpc::parse` refused.
pub(super) fn fault(text: &str) -> Fault {
    let refused = |requirements, message: &str| Fault {
        requirements,
        message: message.to_owned(),
        code: code::INVALID_REQUEST,
        unanswerable: false,
        id: None,
        perhaps_id: jsonrpc::readable_id(text.as_bytes()),
        stream: None,
    };
    let value = match serde_json::from_str(text) {
        Ok(Value::Object(value)) => value,
        Ok(_) => return refused(&["A-1"], "a message is a JSON object"),
        // No tree is made of what nests too deep, but it is JSON.
        Err(_) if serde_json::from_str::<&RawValue>(text).is_ok() => {
            return refused(&["A-1"], "it nests too deep");
        }
        Err(error) => {
            let message = format!("not JSON: {error}");
            return Fault {
                message,
                code: code::PARSE_ERROR,
                ..refused(&["A-1"], "")
            };
        }
    };
    let has_id = value.contains_key("id");
    let id = jsonrpc::readable_id(text.as_bytes());
    let (requirements, message) = what(&value, has_id, id.is_some());
    let is_response = value.contains_key("result") || value.contains_key("error");
    let is_notification = value.contains_key("method") && !has_id;
    Fault {
        unanswerable: is_response || is_notification,
        id,
        ..refused(requirements, message)
    }
}

fn what(
    value: &Map<String, Value>,
    has_id: bool,
    id_is_fine: bool,
) -> (&'static [&'static str], &'static str) {
    let (method, result, error) = (value.get("method"), value.get("result"), value.get("error"));
    match value.get("jsonrpc") {
        Some(Value::String(version)) if version == "2.0" => {}
        _ => return (&["A-1"], "`jsonrpc` must be \"2.0\""),
    }
    match (method, result, error) {
        (None, Some(_), Some(_)) => (&["A-5"], "has both `result` and `error`"),
        (Some(_), _, Some(_)) | (Some(_), Some(_), _) => {
            (&["A-5"], "is both a request and a response")
        }
        (Some(method), None, None) if !method.is_string() => (&["A-1"], "`method` is a string"),
        (Some(_), None, None) if has_id && !id_is_fine => {
            (&["A-2"], "an id is a string or an integer")
        }
        (None, None, None) if has_id => (&["A-5"], "has neither `method` nor `result` nor `error`"),
        (None, None, None) => (&["A-1"], "has neither `method` nor `result` nor `error`"),
        (None, Some(result), None) if !result.is_object() => (&["A-5"], "`result` is an object"),
        (None, Some(_), None) if !id_is_fine => {
            (&["A-5"], "a result repeats the id of its request")
        }
        (None, None, Some(error)) if !is_error(error) => (
            &["A-6"],
            "`error` has an integer `code` and a string `message`",
        ),
        _ => (&["A-1"], "a member occurs twice, or it nests too deep"),
    }
}

fn is_error(error: &Value) -> bool {
    error.get("code").is_some_and(Value::is_i64)
        && error.get("message").is_some_and(Value::is_string)
}
