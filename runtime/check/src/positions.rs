//! The positions of a schema document that hold schemas, as opposed to data that only looks like schemas.

use serde_json::Value;

/// Kind of a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// One schema.
    One,
    /// An array of schemas.
    List,
    /// An object of schemas; names that hold an array hold property names.
    Map,
    /// No schema: an assertion, an annotation, an unknown keyword.
    Data,
}

/// Returns the kind of the `value` of `keyword`.
///
/// ```
/// use serde_json::json;
/// use trueform_check::positions::{Holds, holds};
///
/// let schema = json!({"not": {"type": "null"}, "const": {"type": "null"}});
/// assert_eq!(holds("not", &schema["not"]), Holds::One);
/// assert_eq!(holds("const", &schema["const"]), Holds::Data);
/// ```
#[must_use]
pub fn holds(keyword: &str, value: &Value) -> Holds {
    match (keyword, value) {
        ("items", Value::Array(_)) => Holds::List,
        (
            "items"
            | "additionalItems"
            | "additionalProperties"
            | "propertyNames"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else"
            | "unevaluatedItems"
            | "unevaluatedProperties",
            _,
        ) => Holds::One,
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(_)) => Holds::List,
        (
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
            | "dependencies",
            Value::Object(_),
        ) => Holds::Map,
        _ => Holds::Data,
    }
}

/// Returns whether a keyword annotates a schema without restricting values.
#[must_use]
pub fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "examples"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$comment"
    ) || keyword.starts_with("x-")
}
