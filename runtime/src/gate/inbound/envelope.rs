//! Members that an envelope may not have beside those of its kind of message.

use serde_json::value::RawValue;
use trueform_schema::{RawMembers, Revision};

use super::Inbound;
use crate::{
    gate::Leniency,
    jsonrpc::{self, ErrorDetail, Malformed, Message},
};

impl Inbound {
    /// Checks the envelopes of a batch; `bytes` is the whole batch.
    pub(crate) fn batch<'a>(
        self,
        messages: Vec<Result<Message<'a>, Malformed>>,
        bytes: &[u8],
    ) -> Vec<Result<Message<'a>, Malformed>> {
        if !self.needs_text() {
            return messages;
        }
        let texts: Vec<&RawValue> = serde_json::from_slice(bytes).unwrap_or_default();
        let texts = texts.into_iter().map(|text| text.get().as_bytes());
        let checked = messages.into_iter().zip(texts).map(|(message, text)| {
            let message = message?;
            self.envelope(&message, text)?;
            Ok(message)
        });
        checked.collect()
    }

    /// Checks the parts of an envelope that `message` no longer contains; `text` is its bytes.
    ///
    /// # Errors
    /// -32600.
    pub(crate) fn envelope(self, message: &Message<'_>, text: &[u8]) -> Result<(), Malformed> {
        if !self.needs_text() {
            return Ok(());
        }
        let fault = match message {
            Message::Response { id: None, .. } if self.forbids(Leniency::MissingErrorId) => {
                let name = Leniency::MissingErrorId.name();
                Some(ErrorDetail::new(
                    "/id",
                    name,
                    "the id of the request",
                    jsonrpc::NOTHING,
                ))
            }
            _ => None,
        };
        let null = || match self.forbids(Leniency::NullMembers) {
            true => null_outcome(message, text),
            false => None,
        };
        let unknown = || match self.forbids(Leniency::UnknownMembers) {
            true => unknown_in_envelope(message, text),
            false => None,
        };
        let fault = fault.or_else(null).or_else(unknown);
        self.judge(fault, "envelope", Revision::LATEST)
            .map_err(|fault| {
                let pointer = jsonrpc::shortened(&fault.pointer);
                let problem = match fault.rule {
                    "missing-error-id" => "an error needs the `id` of its request".to_owned(),
                    "null-members" => format!("`{pointer}` is null"),
                    _ => format!("`{pointer}` is not a member of a message"),
                };
                message.refused(jsonrpc::invalid_request(problem, &fault))
            })
    }
}

/// Finds a member that a message of this kind does not have.
fn unknown_in_envelope(message: &Message<'_>, text: &[u8]) -> Option<ErrorDetail> {
    let known: &[&str] = match message {
        Message::Request { .. } => &["jsonrpc", "id", "method", "params"],
        Message::Notification { .. } => &["jsonrpc", "method", "params"],
        Message::Response { outcome: Ok(_), .. } => &["jsonrpc", "id", "result"],
        Message::Response {
            outcome: Err(_), ..
        } => &["jsonrpc", "id", "error"],
    };
    let RawMembers(mut members) = serde_json::from_slice(text).ok()?;
    // Checked before.
    members.retain(|(name, value)| !is_null_outcome(name, value));
    unknown_of(&members, known, "").or_else(|| {
        let (_, error) = members.iter().find(|(name, _)| name == "error")?;
        let RawMembers(members) = serde_json::from_str(error.get()).ok()?;
        unknown_of(&members, &["code", "message", "data"], "/error")
    })
}

/// Finds a `result` or an `error` that is null in a message of another kind.
fn null_outcome(message: &Message<'_>, text: &[u8]) -> Option<ErrorDetail> {
    let RawMembers(members) = serde_json::from_slice(text).ok()?;
    let (name, _) = members
        .iter()
        .find(|(name, value)| is_null_outcome(name, value))?;
    let expected = match message {
        Message::Response { .. } => "either `result` or `error`",
        _ => "neither `result` nor `error`",
    };
    let pointer = format!("/{name}");
    let rule = Leniency::NullMembers.name();
    Some(ErrorDetail::new(pointer, rule, expected, "null"))
}

fn is_null_outcome(name: &str, value: &RawValue) -> bool {
    matches!(name, "result" | "error") && value.get() == "null"
}

/// Returns the first of `members`, of the object at `pointer`, that is not `known`.
fn unknown_of(
    members: &[(String, &RawValue)],
    known: &[&str],
    pointer: &str,
) -> Option<ErrorDetail> {
    let (name, value) = members
        .iter()
        .find(|(name, _)| !known.contains(&name.as_str()))?;
    Some(ErrorDetail::new(
        format!("{pointer}/{}", jsonrpc::escaped(name)),
        Leniency::UnknownMembers.name(),
        "only members of a JSON-RPC message of this kind",
        jsonrpc::described(value.get()),
    ))
}
