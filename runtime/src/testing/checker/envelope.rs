//! JSON-RPC itself: the classification of texts that are not messages, and the error for each.

use std::collections::HashMap;

use serde_json::{Map, Value, value::RawValue};
use trueform_schema::RequestId;

use super::{reading, requests};
use crate::jsonrpc::{self, Incoming, Message, code};

/// A text that is not a message.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) requirements: &'static [&'static str],
    pub(super) message: String,
    /// The matching errors, best first.
    pub(super) codes: &'static [i64],
    /// Whether it is a notification or a response, which are never answered.
    pub(super) unanswerable: bool,
    /// The id, if every reader of the text must be able to find it.
    pub(super) id: Option<RequestId>,
    /// An id that some readers may find.
    pub(super) perhaps_id: Option<RequestId>,
    /// The request that it would answer, apart from a part that not every peer can read.
    pub(super) answers: Option<RequestId>,
    /// The exchange in which it was sent.
    pub(super) stream: Option<String>,
}

impl Fault {
    /// Creates the fault of a text about which nothing more is known.
    pub(super) const fn refused() -> Self {
        Self {
            requirements: &["A-1"],
            message: String::new(),
            codes: &[code::INVALID_REQUEST],
            unanswerable: false,
            id: None,
            perhaps_id: None,
            answers: None,
            stream: None,
        }
    }
}

/// Returns whether `text`, a request, has members besides those of JSON-RPC.
pub(super) fn is_extended(text: &str) -> bool {
    const MEMBERS: [&str; 4] = ["jsonrpc", "id", "method", "params"];
    serde_json::from_str::<HashMap<String, &RawValue>>(text)
        .is_ok_and(|members| members.keys().any(|name| !MEMBERS.contains(&&**name)))
}

/// Returns whether `text`, a message, has an additional `result` or `error` that is null. Many readers, also `jsonrpc::parse`, treat it as
/// absent.
pub(super) fn has_null_outcome(text: &str) -> bool {
    serde_json::from_str::<HashMap<String, &RawValue>>(text).is_ok_and(|members| {
        let outcomes = ["result", "error"].into_iter();
        let mut outcomes = outcomes.filter_map(|name| members.get(name));
        outcomes.any(|outcome| outcome.get() == "null")
    })
}

/// Returns what is wrong with `text`, which `jsonrpc::parse` refused.
pub(super) fn fault(text: &str) -> Fault {
    let refused = |requirements, message: &str| Fault {
        requirements,
        message: message.to_owned(),
        perhaps_id: jsonrpc::readable_id(text.as_bytes()),
        ..Fault::refused()
    };
    let (value, unreadable) = match reading::tree(text) {
        Some((Value::Object(value), unreadable)) => (value, unreadable),
        Some(_) => return refused(&["A-1"], "a message must be a JSON object"),
        None => match serde_json::from_str::<&RawValue>(text) {
            // The text is JSON, but nested too deeply for a tree.
            Ok(_) => return refused(&["A-1"], "it nests too deep"),
            Err(error) => {
                return Fault {
                    message: format!("not JSON: {error}"),
                    // Either may be found first.
                    codes: match jsonrpc::is_too_deep(text.as_bytes()) {
                        true => &[code::PARSE_ERROR, code::INVALID_REQUEST],
                        false => &[code::PARSE_ERROR],
                    },
                    ..refused(&["A-1"], "")
                };
            }
        },
    };
    let has_id = value.contains_key("id");
    let id = jsonrpc::readable_id(text.as_bytes());
    let is_response = value.contains_key("result") || value.contains_key("error");
    let is_notification = value.contains_key("method") && !has_id;
    let unanswerable = is_response || is_notification;
    // Nothing after it can be read.
    if let Some(one) = unreadable.iter().find(|one| is_of_envelope(&one.pointer)) {
        let message = format!("the message{one}");
        return Fault {
            unanswerable,
            codes: &[code::PARSE_ERROR, code::INVALID_REQUEST],
            answers: value
                .get("id")
                .filter(|_| is_response)
                .and_then(requests::id_in),
            ..refused(one.requirements(), &message)
        };
    }
    let (requirements, message) = what(&value, has_id, id.is_some());
    Fault {
        unanswerable,
        id,
        ..refused(requirements, message)
    }
}

/// Returns whether the pointer points to a part that is read in every message.
fn is_of_envelope(pointer: &str) -> bool {
    matches!(
        pointer,
        "" | "/jsonrpc" | "/id" | "/method" | "/error" | "/error/code" | "/error/message"
    )
}

/// Returns the faults of `bytes`, which are not UTF-8.
pub(super) fn no_text(bytes: &[u8]) -> Fault {
    let place = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    let fault = Fault {
        message: format!("not UTF-8 at byte {place}"),
        codes: &[code::PARSE_ERROR],
        perhaps_id: jsonrpc::readable_id(bytes),
        ..Fault::refused()
    };
    // The intended message shows which side waits for a response.
    match jsonrpc::parse(String::from_utf8_lossy(bytes).as_bytes()) {
        Ok(Incoming::Single(Message::Response { id, .. })) => Fault {
            unanswerable: true,
            answers: id,
            ..fault
        },
        Ok(Incoming::Single(Message::Notification { .. })) => Fault {
            unanswerable: true,
            ..fault
        },
        Ok(Incoming::Single(Message::Request { id, .. })) => Fault {
            perhaps_id: Some(id),
            ..fault
        },
        Ok(Incoming::Batch(_)) | Err(_) => fault,
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
            (&["A-2"], "an id must be a string or an integer")
        }
        (None, None, None) if has_id => (&["A-5"], "has neither `method` nor `result` nor `error`"),
        (None, None, None) => (&["A-1"], "has neither `method` nor `result` nor `error`"),
        (None, Some(result), None) if !result.is_object() => (&["A-5"], "`result` is an object"),
        (None, Some(_), None) if !id_is_fine => {
            (&["A-5"], "a result must repeat the id of its request")
        }
        (None, None, Some(error)) if !is_error(error) => (
            &["A-6"],
            "`error` must have an integer `code` and a string `message`",
        ),
        _ => (
            &["A-1"],
            "a member occurs twice, or the nesting is too deep",
        ),
    }
}

fn is_error(error: &Value) -> bool {
    error.get("code").is_some_and(Value::is_i64)
        && error.get("message").is_some_and(Value::is_string)
}
