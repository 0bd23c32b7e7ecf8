//! Why a schema cannot be compiled.

use std::fmt;

/// One reason why a schema cannot be compiled, and where.
///
/// `Display` is one line, such as ``/pattern: patterns with lookahead need the feature `json-schema` ``.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// JSON pointer into the schema; empty for its root.
    pub pointer: String,
    /// Description of the fault, and what is allowed.
    pub reason: String,
    /// Kind of the fault.
    pub kind: SchemaErrorKind,
}

/// The kinds of faults in a schema.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaErrorKind {
    /// Not a schema: a keyword has an invalid value.
    Malformed,
    /// `$schema` names an unknown dialect.
    Dialect,
    /// A `$ref` to another document. It is never fetched.
    Remote,
    /// A `$ref` to a place that this schema does not have, or that leads back to itself.
    Unresolved,
    /// Legal JSON Schema, or an older dialect of it, but outside the compiled vocabulary. The feature `json-schema` supports it.
    Unsupported,
    /// Beyond [`MAX_SCHEMA_DEPTH`](super::MAX_SCHEMA_DEPTH), [`MAX_SUBSCHEMAS`](super::MAX_SUBSCHEMAS) or
    /// [`CompileOptions::max_pattern_size`](super::CompileOptions::max_pattern_size).
    TooLarge,
    /// Bounds that no value meets; only [`contradictions`](super::contradictions) reports it.
    Contradictory,
}

impl SchemaError {
    pub(super) fn new(
        pointer: impl Into<String>,
        kind: SchemaErrorKind,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            pointer: pointer.into(),
            reason: reason.into(),
            kind,
        }
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() {
            "(root)"
        } else {
            &self.pointer
        };
        write!(f, "{place}: {}", self.reason)
    }
}

impl std::error::Error for SchemaError {}
