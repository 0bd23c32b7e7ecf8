//! Violations: place, keyword, expectation and value found, in two renderings.
//!
//! All of this is bounded, because it is derived from a peer's bytes and returned to a model or written to a log.

use std::fmt;

use serde::{Serialize, Serializer, ser::SerializeStruct};
use serde_json::Value;
use trueform_schema::DecodeError;

/// At most this many violations of one value are kept; the rest are counted.
pub const MAX_VIOLATIONS: usize = 32;

/// Longest pointer of a violation, in bytes; longer ones are cut and end in `…`.
pub const MAX_POINTER: usize = 512;

/// Strings of at most this many characters are shown to the caller; longer ones by their length.
pub const MAX_SHOWN: usize = 64;

/// One violation of a schema by a value.
///
/// `Display` is one line for the caller, such as `/a: expected integer, found string "x"`; [`Violation::for_log`] is the same line without
/// any value.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer (RFC 6901) of the offending place in the value; empty for the value itself. For a missing
    /// member, where it should be.
    pub pointer: String,
    /// The schema keyword that is violated, such as `type` or `required`.
    pub keyword: &'static str,
    /// Description of the allowed values.
    pub expected: String,
    /// Description of the value found.
    pub found: Found,
    /// The name or value that was probably meant.
    pub suggestion: Option<String>,
}

impl Violation {
    /// Returns the line for logs: like `Display`, but `found` is only type and size, and nothing is suggested.
    #[must_use]
    pub fn for_log(&self) -> impl fmt::Display + '_ {
        Line {
            violation: self,
            values: false,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Line {
            violation: self,
            values: true,
        }
        .fmt(f)
    }
}

/// Serialised as in the `data` of an error response: `pointer`, `rule`, `expected`, `found` and, if any, `suggestion`.
impl Serialize for Violation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = if self.suggestion.is_some() { 5 } else { 4 };
        let mut out = serializer.serialize_struct("Violation", members)?;
        out.serialize_field("pointer", &self.pointer)?;
        out.serialize_field("rule", self.keyword)?;
        out.serialize_field("expected", &self.expected)?;
        out.serialize_field("found", &self.found.to_string())?;
        match &self.suggestion {
            Some(suggestion) => out.serialize_field("suggestion", suggestion)?,
            None => out.skip_field("suggestion")?,
        }
        out.end()
    }
}

struct Line<'a> {
    violation: &'a Violation,
    values: bool,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation {
            pointer,
            expected,
            found,
            suggestion,
            ..
        } = self.violation;
        let place = if pointer.is_empty() {
            "(root)"
        } else {
            pointer
        };
        write!(f, "{place}: expected {expected}, found ")?;
        if !self.values {
            return found.for_log().fmt(f);
        }
        found.fmt(f)?;
        match suggestion {
            Some(suggestion) => write!(f, "; did you mean {suggestion}?"),
            None => Ok(()),
        }
    }
}

/// Description of the value that violates a schema: a JSON type, its size, and for short scalars the value.
///
/// `Display` is for the caller and shows short scalars; [`Found::for_log`] shows only type and size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    shape: Shape,
    /// The scalar as JSON text, if short.
    shown: Option<Box<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Nothing,
    UnknownProperty,
    Text { bytes: usize },
    Null,
    Boolean,
    Integer,
    Number,
    String { characters: usize },
    Array { items: usize },
    Object { properties: usize },
}

impl Found {
    /// No value: a missing member.
    pub(super) const NOTHING: Self = Self {
        shape: Shape::Nothing,
        shown: None,
    };

    pub(super) fn value(value: &Value) -> Self {
        let shown = match value {
            Value::Bool(_) | Value::Number(_) => Some(value.to_string().into()),
            Value::String(text) if text.chars().take(MAX_SHOWN + 1).count() <= MAX_SHOWN => {
                Some(value.to_string().into())
            }
            _ => None,
        };
        Self {
            shape: Shape::of(value),
            shown,
        }
    }

    /// Describes JSON text that was not read to its end.
    pub(super) fn text(text: &str) -> Self {
        Self {
            shape: Shape::Text { bytes: text.len() },
            shown: None,
        }
    }

    /// Describes a value only by its size, for rules about length.
    pub(super) fn size(value: &Value) -> Self {
        Self {
            shape: Shape::of(value),
            shown: None,
        }
    }

    pub(super) fn unknown_property(name: &str) -> Self {
        let shown = (name.chars().take(MAX_SHOWN + 1).count() <= MAX_SHOWN)
            .then(|| format!("`{name}`").into());
        Self {
            shape: Shape::UnknownProperty,
            shown,
        }
    }

    /// Returns type and size, never the value.
    #[must_use]
    pub fn for_log(&self) -> impl fmt::Display + '_ {
        self.shape
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.shown, self.shape) {
            (None, shape) => shape.fmt(f),
            (Some(shown), Shape::UnknownProperty) => write!(f, "unknown property {shown}"),
            (Some(shown), Shape::Boolean) => write!(f, "boolean {shown}"),
            (Some(shown), Shape::Integer) => write!(f, "integer {shown}"),
            (Some(shown), Shape::Number) => write!(f, "number {shown}"),
            (Some(shown), _) => write!(f, "string {shown}"),
        }
    }
}

impl Shape {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_f64() => Self::Number,
            Value::Number(_) => Self::Integer,
            Value::String(text) => Self::String {
                characters: text.chars().count(),
            },
            Value::Array(items) => Self::Array { items: items.len() },
            Value::Object(members) => Self::Object {
                properties: members.len(),
            },
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Nothing => f.write_str("nothing"),
            Self::UnknownProperty => f.write_str("unknown property"),
            Self::Text { bytes } => write!(f, "JSON of {}", counted(bytes, "byte")),
            Self::Null => f.write_str("null"),
            Self::Boolean => f.write_str("boolean"),
            Self::Integer => f.write_str("integer"),
            Self::Number => f.write_str("number"),
            Self::String { characters } => {
                write!(f, "string of {}", counted(characters, "character"))
            }
            Self::Array { items } => write!(f, "array of {}", counted(items, "item")),
            Self::Object { properties: 0 } => f.write_str("object without properties"),
            Self::Object { properties: 1 } => f.write_str("object with 1 property"),
            Self::Object { properties } => write!(f, "object with {properties} properties"),
        }
    }
}

/// Returns `1 item`, `2 items`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// All violations of a value: at least one, at most [`MAX_VIOLATIONS`] of them kept.
///
/// `Display` is a line per violation, in the order of the value.
#[derive(Clone, PartialEq, Eq)]
pub struct Violations(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kept: Vec<Violation>,
    more: usize,
}

impl Violations {
    pub(super) fn new(kept: Vec<Violation>, more: usize) -> Self {
        Self(Box::new(Inner { kept, more }))
    }

    pub(super) fn one(violation: Violation) -> Self {
        Self::new(vec![violation], 0)
    }

    /// Returns the violations that were kept.
    pub fn iter(&self) -> std::slice::Iter<'_, Violation> {
        self.0.kept.iter()
    }

    /// Number of violations, including those beyond [`MAX_VIOLATIONS`].
    #[must_use]
    pub fn total(&self) -> usize {
        self.0.kept.len() + self.0.more
    }

    /// Returns the lines for logs; see [`Violation::for_log`].
    #[must_use]
    pub fn for_log(&self) -> impl fmt::Display + '_ {
        Lines {
            violations: self,
            values: false,
        }
    }
}

impl<'a> IntoIterator for &'a Violations {
    type Item = &'a Violation;
    type IntoIter = std::slice::Iter<'a, Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Violations {
    type Item = Violation;
    type IntoIter = std::vec::IntoIter<Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.kept.into_iter()
    }
}

impl fmt::Debug for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Violations")
            .field("kept", &self.0.kept)
            .field("more", &self.0.more)
            .finish()
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Lines {
            violations: self,
            values: true,
        }
        .fmt(f)
    }
}

impl std::error::Error for Violations {}

struct Lines<'a> {
    violations: &'a Violations,
    values: bool,
}

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, violation) in self.violations.iter().enumerate() {
            if 0 < i {
                f.write_str("\n")?;
            }
            Line {
                violation,
                values: self.values,
            }
            .fmt(f)?;
        }
        match self.violations.0.more {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

/// Returns the violation of `text`, which is not JSON, or has a number beyond the range of doubles.
pub(super) fn not_json(text: &str, error: &serde_json::Error) -> Violation {
    let located = DecodeError::locate(text, error);
    if located.rule() == "value" {
        return Violation {
            pointer: located.pointer().to_owned(),
            keyword: "json",
            expected: located.expected().to_owned(),
            found: Found {
                shape: Shape::Number,
                shown: None,
            },
            suggestion: None,
        };
    }
    Violation {
        pointer: String::new(),
        keyword: "json",
        expected: format!("JSON ({error})"),
        found: Found {
            shape: Shape::Nothing,
            shown: None,
        },
        suggestion: None,
    }
}
