//! Where a schema document holds schemas, as opposed to data that only looks like them.

use serde_json::Value;

/// What the value of a keyword is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// One schema.
    One,
    /// An array of schemas.
    List,
    /// An object of schemas; names that hold an array hold property names.
    Map,
    /// No schema: an assertion, an annotation, an unknown keyword.
    Data,
}

pub(crate) fn holds(keyword: &str, value: &Value) -> Holds {
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

/// Whether a keyword says something about a schema without restricting values.
pub(super) fn is_annotation(keyword: &str) -> bool {
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

/// The numeric formats that schemars writes; JSON Schema knows none of them.
pub(super) fn is_numeric_format(format: &str) -> bool {
    matches!(
        format,
        "int"
            | "int8"
            | "int16"
            | "int32"
            | "int64"
            | "int128"
            | "uint"
            | "uint8"
            | "uint16"
            | "uint32"
            | "uint64"
            | "uint128"
            | "float"
            | "double"
    )
}
