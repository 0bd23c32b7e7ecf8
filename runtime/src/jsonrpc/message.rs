//! The kinds of message, and which of them the members of an envelope make. Absent and null are distinguished, and nothing is guessed.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::de::{DeserializeSeed, Deserializer, Visitor};
use serde_json::value::RawValue;
use trueform_schema::{ErrorObject, JsonKind, RequestId, decode};

use super::{ErrorDetail, error, error_detail::described};

/// The contents of one line or one POST body.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    Single(Message<'a>),
    /// An array of messages, which only 2025-03-26 has. Never empty.
    Batch(Vec<Result<Message<'a>, Malformed>>),
}

/// One well-formed message.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request {
        id: RequestId,
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    Response {
        id: Option<RequestId>,
        outcome: Result<&'a RawValue, ErrorObject>,
    },
}

/// The intended kind of a malformed message. It decides whether the message may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Request,
    Notification,
    Response,
    Unknown,
}

impl Message<'_> {
    /// Returns the message as one that is refused with `error`.
    pub(crate) fn refused(&self, error: ErrorObject) -> Malformed {
        let (kind, id) = match self {
            Self::Request { id, .. } => (Kind::Request, Some(id)),
            Self::Notification { .. } => (Kind::Notification, None),
            Self::Response { id, .. } => (Kind::Response, id.as_ref()),
        };
        Malformed {
            kind,
            id: id.cloned(),
            error,
        }
    }
}

impl Kind {
    /// Returns whether it must be answered.
    pub(crate) fn is_answered(self) -> bool {
        matches!(self, Self::Request | Self::Unknown)
    }
}

/// Input that is not a valid JSON-RPC message, and the error to report.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) kind: Kind,
    /// The id, if one could be read.
    pub(crate) id: Option<RequestId>,
    pub(crate) error: ErrorObject,
}

/// Params that are decoded while the envelope is read, so that they are not read twice.
pub(crate) trait EarlyParams<'a>: Sized {
    /// Decodes the params of one method.
    type Seed: DeserializeSeed<'a, Value = Self>;

    /// Returns the seed that decodes the params of `method`; `None` if they stay raw.
    fn seed(method: &str) -> Option<Self::Seed>;
}

/// All params stay raw.
impl EarlyParams<'_> for () {
    type Seed = PhantomData<()>;

    fn seed(_: &str) -> Option<PhantomData<()>> {
        None
    }
}

/// The members of an envelope, as far as they were read.
pub(super) struct Members<'a, E> {
    pub(super) jsonrpc: Option<&'a RawValue>,
    pub(super) id: Option<&'a RawValue>,
    pub(super) method: Option<&'a RawValue>,
    pub(super) params: Option<&'a RawValue>,
    pub(super) result: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
    pub(super) repeated: Option<&'static str>,
    /// The member whose value was read last, or could not be read.
    pub(super) reached: Option<&'static str>,
    /// Whether params are decoded together with the envelope.
    pub(super) early: bool,
    pub(super) tried_early: bool,
    pub(super) early_params: Option<E>,
}

impl<'a, E: EarlyParams<'a>> Members<'a, E> {
    pub(super) fn new(early: bool) -> Self {
        Self {
            jsonrpc: None,
            id: None,
            method: None,
            params: None,
            result: None,
            error: None,
            repeated: None,
            reached: None,
            early,
            tried_early: false,
            early_params: None,
        }
    }

    /// Returns the seed that decodes the params at the reader; `None` if they stay raw.
    pub(super) fn early_seed(&self) -> Option<E::Seed> {
        if !self.early || self.tried_early || self.params.is_some() {
            return None;
        }
        let quoted = self.method?.get();
        let method = quoted.strip_prefix('"')?.strip_suffix('"')?;
        E::seed(method)
    }

    pub(super) fn classify(mut self) -> Result<Message<'a>, Malformed> {
        if let Some(name) = self.repeated {
            let fault = ErrorDetail::new(format!("/{name}"), "duplicate", "one such member", "two");
            return Err(self.invalid(format!("`{name}` occurs twice"), &fault));
        }
        self.check_version()?;
        if self.method.or(self.result).is_some() && self.result.or(self.error).is_some() {
            self.drop_nulls();
        }
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => self.call(method),
            (None, Some(result), None) => self.success(result),
            (None, None, Some(error)) => self.failure(error),
            (None, None, None) => Err(self.invalid(
                "`method` is missing",
                &ErrorDetail::missing("/method", "a string, or a `result` or an `error`"),
            )),
            (None, Some(_), Some(_)) => Err(self.invalid(
                "a response has either `result` or `error`, not both",
                &ErrorDetail::new("", "kind", "either `result` or `error`", "both"),
            )),
            (Some(_), _, _) => Err(self.invalid(
                "a message has either `method` or `result` or `error`",
                &ErrorDetail::new("", "kind", "`method`, `result` or `error`", "two of them"),
            )),
        }
    }

    /// Treats a `result` or an `error` that is null beside another outcome or a method as absent. The gate decides whether such a message
    /// is accepted (DEC-6).
    fn drop_nulls(&mut self) {
        let is_value = |outcome: &&RawValue| outcome.get() != "null";
        let (result, error) = (self.result.filter(is_value), self.error.filter(is_value));
        if self.method.or(result).or(error).is_some() {
            (self.result, self.error) = (result, error);
        }
    }

    fn check_version(&self) -> Result<(), Malformed> {
        const EXPECTED: &str = "\"2.0\"";
        match self.jsonrpc.map(RawValue::get) {
            Some(EXPECTED) => Ok(()),
            // The name may be written with escapes.
            Some(other)
                if serde_json::from_str::<Text<'_>>(other)
                    .is_ok_and(|Text(version)| version == "2.0") =>
            {
                Ok(())
            }
            Some(other) => Err(self.invalid(
                "`jsonrpc` must be \"2.0\"",
                &ErrorDetail::new("/jsonrpc", "value", EXPECTED, described(other)),
            )),
            None => Err(self.invalid(
                "`jsonrpc` is missing; it must be \"2.0\"",
                &ErrorDetail::missing("/jsonrpc", EXPECTED),
            )),
        }
    }

    fn call(self, method: &'a RawValue) -> Result<Message<'a>, Malformed> {
        let Ok(Text(method)) = serde_json::from_str(method.get()) else {
            let expected = wanted(method, "a string");
            let fault = ErrorDetail::new("/method", "type", expected, described(method.get()));
            return Err(self.invalid("`method` must be a string", &fault));
        };
        let params = self.params;
        let Some(id) = self.id else {
            return match params.map(RawValue::get) {
                Some(other) if !other.starts_with('{') && other != "null" => Err(self.invalid(
                    "`params` must be an object",
                    &ErrorDetail::new("/params", "type", "an object", described(other)),
                )),
                _ => Ok(Message::Notification { method, params }),
            };
        };
        match RequestId::from_json(id.get()) {
            Ok(id) => Ok(Message::Request { id, method, params }),
            Err(problem) => Err(self.invalid(format!("`id`: {problem}"), &unusable_id(id))),
        }
    }

    fn success(self, result: &'a RawValue) -> Result<Message<'a>, Malformed> {
        const PROBLEM: &str = "a result needs the `id` of its request";
        let id = match self.id.map(|id| (id, RequestId::from_json(id.get()))) {
            Some((_, Ok(id))) => id,
            Some((id, Err(_))) => return Err(self.invalid(PROBLEM, &unusable_id(id))),
            None => return Err(self.invalid(PROBLEM, &ErrorDetail::missing("/id", AN_ID))),
        };
        if !result.get().starts_with('{') {
            let fault = ErrorDetail::new("/result", "type", "an object", described(result.get()));
            return Err(self.invalid("`result` must be an object", &fault));
        }
        Ok(Message::Response {
            id: Some(id),
            outcome: Ok(result),
        })
    }

    fn failure(self, error: &RawValue) -> Result<Message<'a>, Malformed> {
        let id = match self.id.filter(|id| id.get() != "null") {
            // The gate decides whether this is accepted (A-7, GAP-7).
            None => None,
            Some(id) => match RequestId::from_json(id.get()) {
                Ok(id) => Some(id),
                Err(problem) => {
                    return Err(self.invalid(format!("`id`: {problem}"), &unusable_id(id)));
                }
            },
        };
        match decode::from_str(error.get()) {
            Ok(error) => Ok(Message::Response {
                id,
                outcome: Err(error),
            }),
            Err(problem) => {
                let fault = ErrorDetail::of_decoding(&problem, "/error");
                Err(self.invalid("`error` does not have the form of an error", &fault))
            }
        }
    }

    fn invalid(&self, problem: impl Into<String>, fault: &ErrorDetail) -> Malformed {
        self.malformed(error::invalid_request(problem, fault))
    }

    pub(super) fn malformed(&self, error: ErrorObject) -> Malformed {
        let kind = match (self.method, self.id, self.result.or(self.error)) {
            (_, _, Some(_)) => Kind::Response,
            _ if matches!(self.reached, Some("result" | "error")) => Kind::Response,
            (Some(_), None, None) => Kind::Notification,
            (Some(_), Some(_), None) => Kind::Request,
            (None, Some(_), None) if self.reached == Some("method") => Kind::Request,
            // A message with only an id may have been an answer.
            (None, _, None) => Kind::Unknown,
        };
        Malformed {
            kind,
            id: self.request_id(),
            error,
        }
    }

    pub(super) fn request_id(&self) -> Option<RequestId> {
        RequestId::from_json(self.id?.get()).ok()
    }
}

const AN_ID: &str = "a string or an integer";

fn unusable_id(id: &RawValue) -> ErrorDetail {
    // Read again, because this case is rare.
    let is_text = serde_json::from_str::<Text<'_>>(id.get()).is_ok();
    let (rule, expected) = match is_text {
        true => {
            let most = RequestId::MAX_BYTES;
            (
                "length",
                Cow::Owned(format!("a string of at most {most} bytes")),
            )
        }
        false => ("type", Cow::Borrowed(wanted(id, AN_ID))),
    };
    ErrorDetail::new("/id", rule, expected, described(id.get()))
}

/// Returns what is expected in place of `value`. A value that is already a string has an escape that is half a character.
fn wanted(value: &RawValue, expected: &'static str) -> &'static str {
    match JsonKind::of(value.get()) {
        JsonKind::String => "a string of whole characters",
        _ => expected,
    }
}

/// A string, borrowed if it has no escapes.
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(V)
    }
}
