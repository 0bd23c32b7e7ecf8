//! What is wrong with one place of a message, for the peer that sent it: the `data` of the error that it gets.
//!
//! A value is described by its type and size, never by its content, because the same text goes into logs.

use std::borrow::Cow;

use trueform_schema::{DecodeError, Json, JsonKind, Violation, conform::Rule, pointer};

/// One thing that is wrong with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ErrorDetail {
    /// JSON pointer into the message.
    pub(crate) pointer: Cow<'static, str>,
    /// The rule that was violated, by a stable name.
    pub(crate) rule: &'static str,
    pub(crate) expected: Cow<'static, str>,
    pub(crate) found: Cow<'static, str>,
}

impl ErrorDetail {
    pub(crate) fn new(
        pointer: impl Into<Cow<'static, str>>,
        rule: &'static str,
        expected: impl Into<Cow<'static, str>>,
        found: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            pointer: pointer.into(),
            rule,
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// Creates the detail for a required member that is missing.
    pub(crate) fn missing(
        pointer: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(pointer, "missing", expected, NOTHING)
    }

    /// Returns the same detail for a message that contains this value at `prefix`.
    pub(crate) fn within(mut self, prefix: &str) -> Self {
        if let Some(inner) = self.pointer.strip_prefix(prefix) {
            self.pointer = Cow::Owned(inner.to_owned());
        }
        self
    }

    /// Creates the detail of `error` in a message that contains the value at `prefix`.
    pub(crate) fn of_decoding(error: &DecodeError, prefix: &str) -> Self {
        let pointer = format!("{prefix}{}", error.pointer());
        if let Some(name) = error.missing() {
            let name = pointer::escape(name);
            return Self::missing(format!("{pointer}/{name}"), "a value");
        }
        if error.rule() == "duplicate" {
            let within = error.repeated_in_object();
            let member = within.map(pointer::escape);
            let pointer = match member {
                Some(member) => format!("{pointer}/{member}"),
                None => pointer,
            };
            return Self::new(pointer, "duplicate", "one such member", "two");
        }
        let found = error.found().map_or(Cow::Borrowed("something else"), sized);
        Self::new(pointer, error.rule(), error.expected().to_owned(), found)
    }

    /// Creates the detail of `violation` in a message that contains the value at `prefix`.
    pub(crate) fn of_violation(violation: &Violation, prefix: &str) -> Self {
        let revision = violation.revision();
        let expected = match violation.rule() {
            Rule::Unknown | Rule::Unavailable => format!("what {revision} has"),
            rule => format!("at {revision}: {rule}"),
        };
        Self::new(
            format!("{prefix}{}", violation.pointer()),
            violation.rule().name(),
            expected,
            violation.found().map_or(Cow::Borrowed(NOTHING), sized),
        )
    }

    /// Returns the detail as `data` of an error.
    pub(crate) fn data(&self) -> Json {
        Json::from(serde_json::json!({
            "pointer": self.pointer, "rule": self.rule, "expected": self.expected, "found": self.found,
        }))
    }
}

/// Stands for a value that is missing.
pub(crate) const NOTHING: &str = "nothing";

/// Returns the type and size of a value, as a detail reports them.
pub(crate) fn described(json: &str) -> Cow<'static, str> {
    sized((JsonKind::of(json), json.len()))
}

/// Returns the same for a value whose type and size are known.
pub(crate) fn sized((kind, bytes): (JsonKind, usize)) -> Cow<'static, str> {
    match kind {
        JsonKind::Null | JsonKind::Bool => Cow::Borrowed(kind.as_str()),
        kind if bytes == 1 => Cow::Owned(format!("{kind} of 1 byte")),
        kind => Cow::Owned(format!("{kind} of {bytes} bytes")),
    }
}
