//! The one place every message passes on its way in: what its revision does not allow is refused, unless it is one of the
//! things that real peers are known to do.
//!
//! Decoding refuses what has not the form of its type, whatever the settings. What decoding lets through is looked at here:
//! by `conform`, and, where unknown members or integers with a fraction are not to pass, by comparing the text with what the
//! value says at its revision.

use std::{fmt, ops::ControlFlow};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use trueform_schema::{
    Conform, DecodeError, Encode, ErrorObject, JsonKind, Method, RequestMetaObject, Revision, View,
    Violation,
    conform::{Path, Rule, Walk},
    decode,
};

use super::{Leniencies, Leniency, Policy};
use crate::jsonrpc::{self, ErrorDetail, Malformed, Message};

/// What is done about incoming messages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inbound {
    pub(crate) policy: Policy,
    pub(crate) leniencies: Leniencies,
}

impl Inbound {
    /// Whether the text of params must be kept although they were decoded.
    pub(crate) fn needs_text(self) -> bool {
        self.policy != Policy::Off && self.leniencies != Leniencies::ALL
    }

    /// Checks `decoded`, which are `params` of `method`, at `revision`. There may be no raw params although there were some,
    /// if [`needs_text`](Self::needs_text) says that they are not needed.
    ///
    /// # Errors
    /// -32602, with pointer, rule, what was expected and what was found.
    pub(crate) fn check_params<T: Conform>(
        self,
        decoded: &T,
        method: Method,
        revision: Revision,
        params: Option<&RawValue>,
    ) -> Result<(), ErrorObject> {
        let text = params.map(RawValue::get);
        let fault = match text {
            Some("null") if self.forbids(Leniency::NullParams) => {
                let name = Leniency::NullParams.name();
                Some(ErrorDetail::new(
                    "/params",
                    name,
                    "an object, or no `params`",
                    "null",
                ))
            }
            None if self.forbids(Leniency::AbsentParams)
                && method
                    .rules(revision)
                    .is_some_and(|rules| rules.params_required) =>
            {
                let expected = format!("an object, which `{method}` requires at {revision}");
                Some(ErrorDetail::new(
                    "/params",
                    Leniency::AbsentParams.name(),
                    expected,
                    jsonrpc::NOTHING,
                ))
            }
            _ => self.look(decoded, revision, text.unwrap_or("{}"), "/params"),
        };
        self.judge(fault, method.as_str(), revision)
            .map_err(|fault| jsonrpc::params_error(method.as_str(), &fault))
    }

    /// Checks `decoded`, which `text` is the params of, a method of an extension, at `revision`.
    ///
    /// # Errors
    /// As [`check_params`](Self::check_params).
    pub(crate) fn check_decoded(
        self,
        decoded: &dyn Conform,
        method: &str,
        revision: Revision,
        text: Option<&str>,
    ) -> Result<(), ErrorObject> {
        let fault = self.look(decoded, revision, text.unwrap_or("{}"), "/params");
        self.judge(fault, method, revision)
            .map_err(|fault| jsonrpc::params_error(method, &fault))
    }

    /// Checks `meta`, which `text` is, the `_meta` of a request of an extension, at `revision`.
    ///
    /// # Errors
    /// As [`check_params`](Self::check_params).
    pub(crate) fn check_meta(
        self,
        meta: &RequestMetaObject,
        method: &str,
        revision: Revision,
        text: &str,
    ) -> Result<(), ErrorObject> {
        let fault = self.look(meta, revision, text, "/params/_meta");
        self.judge(fault, method, revision)
            .map_err(|fault| jsonrpc::params_error(method, &fault))
    }

    /// A message of one of the kinds that `decode` knows, as `revision` allows it.
    ///
    /// # Errors
    /// As [`check_params`](Self::check_params); `decode` does not know `method`.
    pub(crate) fn message<T: Conform>(
        self,
        method: Method,
        revision: Revision,
        params: Option<&RawValue>,
        decode: fn(Revision, Method, Option<&str>) -> Result<T, DecodeError>,
    ) -> Result<T, ErrorObject> {
        let text = Some(object_for(params));
        let decoded = decode(revision, method, text).map_err(|error| unfit(method, &error))?;
        self.check_params(&decoded, method, revision, params)?;
        Ok(decoded)
    }

    /// The answer `text` to a request of ours, as `revision` allows it.
    ///
    /// # Errors
    /// What is wrong with it; the pointer is relative to the result.
    pub(crate) fn result<T: Conform + for<'de> serde::Deserialize<'de>>(
        self,
        method: &str,
        revision: Revision,
        text: &str,
    ) -> Result<T, DecodeError> {
        let result: T = decode::from_str(text)?;
        let fault = self.look(&result, revision, text, "");
        match self.judge(fault, method, revision) {
            Ok(()) => Ok(result),
            Err(fault) => {
                let message = format!("expected {}, found {}", fault.expected, fault.found);
                Err(DecodeError::new(fault.pointer, message))
            }
        }
    }

    /// Checks the envelopes of a batch; `bytes` are the whole of it.
    pub(crate) fn batch<'a>(
        self,
        frames: Vec<Result<Message<'a>, Malformed>>,
        bytes: &[u8],
    ) -> Vec<Result<Message<'a>, Malformed>> {
        if !self.needs_text() {
            return frames;
        }
        let texts: Vec<&RawValue> = serde_json::from_slice(bytes).unwrap_or_default();
        let texts = texts.into_iter().map(|text| text.get().as_bytes());
        let checked = frames.into_iter().zip(texts).map(|(frame, text)| {
            let frame = frame?;
            self.envelope(&frame, text)?;
            Ok(frame)
        });
        checked.collect()
    }

    /// Checks what of an envelope no frame holds any more; `text` is the message.
    ///
    /// # Errors
    /// -32600.
    pub(crate) fn envelope(self, frame: &Message<'_>, text: &[u8]) -> Result<(), Malformed> {
        if !self.needs_text() {
            return Ok(());
        }
        let fault = match frame {
            Message::Response { id: None, .. } if self.forbids(Leniency::MissingErrorId) => {
                let name = Leniency::MissingErrorId.name();
                Some(ErrorDetail::new(
                    "/id",
                    name,
                    "the id of the request",
                    jsonrpc::NOTHING,
                ))
            }
            _ if self.forbids(Leniency::UnknownMembers) => unknown_in_envelope(frame, text),
            _ => None,
        };
        self.judge(fault, "envelope", Revision::LATEST)
            .map_err(|fault| {
                let problem = match fault.rule {
                    "missing-error-id" => "an error needs the `id` of its request".to_owned(),
                    _ => format!("`{}` is no member of a message", fault.pointer),
                };
                frame.refused(jsonrpc::invalid_request(problem, &fault))
            })
    }

    /// Whether a request over HTTP may have the id of another one that is not answered yet.
    pub(crate) fn allows_repeated_ids(self) -> bool {
        !self.forbids(Leniency::RepeatedIds)
    }

    /// Whether `leniency` is to be looked for.
    fn forbids(self, leniency: Leniency) -> bool {
        self.policy != Policy::Off && !self.leniencies.contains(leniency)
    }

    /// The first thing that is wrong with `value`, which was decoded from `text`.
    fn look<T: Conform + ?Sized>(
        self,
        value: &T,
        revision: Revision,
        text: &str,
        prefix: &str,
    ) -> Option<ErrorDetail> {
        if self.policy == Policy::Off {
            return None;
        }
        let mut first = None;
        let mut sink = |violation: Violation| {
            if self.tolerates(&violation) && !is_other_result(&violation, prefix) {
                return ControlFlow::Continue(());
            }
            first = Some(violation);
            ControlFlow::Break(())
        };
        let _ = value.conform(&mut Walk::new(revision, &mut sink), &Path::ROOT);
        match first {
            Some(violation) => Some(ErrorDetail::of_violation(&violation, prefix)),
            None if self.forbids(Leniency::UnknownMembers)
                || self.forbids(Leniency::IntegralFloats) =>
            {
                self.compare(value, revision, text, prefix)
            }
            None => None,
        }
    }

    fn tolerates(self, violation: &Violation) -> bool {
        match violation.rule() {
            Rule::Format(_) => self.leniencies.contains(Leniency::Formats),
            Rule::Unknown | Rule::Unavailable | Rule::OneOf(_) => {
                self.leniencies.contains(Leniency::UnknownValues)
            }
            _ => false,
        }
    }

    /// Compares `text` with what `value`, decoded from it, says at `revision`.
    fn compare<T: Encode + ?Sized>(
        self,
        value: &T,
        revision: Revision,
        text: &str,
        prefix: &str,
    ) -> Option<ErrorDetail> {
        let mut known = Vec::with_capacity(text.len());
        value.encode(View::at(revision).closed(), &mut known);
        let known = std::str::from_utf8(&known).ok()?;
        self.difference(text, known, revision, prefix.to_owned())
    }

    /// The first place where `sent` says more than `known`. Compares texts, not trees: open JSON may hold a number beyond `f64`,
    /// which no tree can hold, and it is the same on both sides.
    fn difference(
        self,
        sent: &str,
        known: &str,
        revision: Revision,
        pointer: String,
    ) -> Option<ErrorDetail> {
        if sent == known || is_open(&pointer, revision) {
            return None;
        }
        match (JsonKind::of(sent), JsonKind::of(known)) {
            (JsonKind::Object, JsonKind::Object) => {
                let Members(sent) = serde_json::from_str(sent).ok()?;
                let Members(known) = serde_json::from_str(known).ok()?;
                sent.iter().find_map(|(name, value)| {
                    // `_meta` is open by design.
                    if name == "_meta" {
                        return None;
                    }
                    let pointer = format!("{pointer}/{}", jsonrpc::escaped(name));
                    match known.iter().find(|(known, _)| known == name) {
                        Some((_, known)) => {
                            self.difference(value.get(), known.get(), revision, pointer)
                        }
                        None if self.forbids(Leniency::UnknownMembers) => Some(ErrorDetail::new(
                            pointer,
                            Leniency::UnknownMembers.name(),
                            "only members that the revision defines",
                            jsonrpc::described(value.get()),
                        )),
                        None => None,
                    }
                })
            }
            (JsonKind::Array, JsonKind::Array) => {
                let sent: Vec<&RawValue> = serde_json::from_str(sent).ok()?;
                let known: Vec<&RawValue> = serde_json::from_str(known).ok()?;
                sent.iter()
                    .zip(known)
                    .enumerate()
                    .find_map(|(at, (sent, known))| {
                        self.difference(
                            sent.get(),
                            known.get(),
                            revision,
                            format!("{pointer}/{at}"),
                        )
                    })
            }
            (JsonKind::Number, JsonKind::Number)
                if has_fraction(sent)
                    && !has_fraction(known)
                    && self.forbids(Leniency::IntegralFloats) =>
            {
                let name = Leniency::IntegralFloats.name();
                Some(ErrorDetail::new(
                    pointer,
                    name,
                    "an integer without a fraction",
                    jsonrpc::described(sent),
                ))
            }
            _ => None,
        }
    }

    /// What becomes of `fault` under the policy.
    fn judge(
        self,
        fault: Option<ErrorDetail>,
        what: &str,
        revision: Revision,
    ) -> Result<(), ErrorDetail> {
        let Some(fault) = fault else {
            return Ok(());
        };
        if self.policy == Policy::Enforce {
            return Err(fault);
        }
        tracing::warn!(
            what,
            %revision,
            pointer = &*fault.pointer,
            rule = fault.rule,
            expected = &*fault.expected,
            found = &*fault.found,
            "a message that its revision does not allow was let in"
        );
        Ok(())
    }
}

/// The text of params; `{}` stands for absent ones, and for null.
pub(super) fn object_for(params: Option<&RawValue>) -> &str {
    match params.map(RawValue::get) {
        None | Some("null") => "{}",
        Some(text) => text,
    }
}

/// -32602 for params that do not have the form of `method`.
pub(crate) fn unfit(method: Method, error: &DecodeError) -> ErrorObject {
    jsonrpc::params_error(method.as_str(), &ErrorDetail::of_decoding(error, "/params"))
}

/// Whether a whole result is of a kind that the revision does not have, such as one that asks for input in the legacy era.
/// The kind of a result decides what the caller does next, so [`Leniency::UnknownValues`](super::Leniency) does not cover it.
fn is_other_result(violation: &Violation, prefix: &str) -> bool {
    prefix.is_empty()
        && violation.pointer().is_empty()
        && matches!(violation.rule(), Rule::Unavailable)
}

/// Whether the object at `pointer` may have any member at `revision`, although a later one gave some of them a meaning.
fn is_open(pointer: &str, revision: Revision) -> bool {
    revision < Revision::V2025_11_25
        && matches!(
            pointer,
            "/params/capabilities/sampling" | "/params/capabilities/elicitation"
        )
}

/// Whether a number is written with a fraction or an exponent.
fn has_fraction(number: &str) -> bool {
    number.contains(['.', 'e', 'E'])
}

/// A member that a message of this kind does not have.
fn unknown_in_envelope(frame: &Message<'_>, text: &[u8]) -> Option<ErrorDetail> {
    let known: &[&str] = match frame {
        Message::Request { .. } => &["jsonrpc", "id", "method", "params"],
        Message::Notification { .. } => &["jsonrpc", "method", "params"],
        Message::Response { outcome: Ok(_), .. } => &["jsonrpc", "id", "result"],
        Message::Response {
            outcome: Err(_), ..
        } => &["jsonrpc", "id", "error"],
    };
    let Members(members) = serde_json::from_slice(text).ok()?;
    unknown_of(&members, known, "").or_else(|| {
        let (_, error) = members.iter().find(|(name, _)| name == "error")?;
        let Members(members) = serde_json::from_str(error.get()).ok()?;
        unknown_of(&members, &["code", "message", "data"], "/error")
    })
}

/// The first of `members`, of the object at `pointer`, that is not `known`.
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

/// The members of an object as they were written, repeated ones included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(V)
    }
}
