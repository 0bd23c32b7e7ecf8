//! Checks that no value fits two of several schemas.

use serde_json::{Map, Value};

/// Returns whether it is evident that no value fits two of `schemas`.
pub(super) fn are_disjoint(schemas: &[Value]) -> bool {
    schemas.iter().enumerate().all(|(i, one)| {
        let rest = &schemas[i + 1..];
        rest.iter().all(|other| exclude_each_other(one, other))
    })
}

fn exclude_each_other(one: &Value, other: &Value) -> bool {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else {
        return false;
    };
    have_no_common_type(one, other)
        || have_no_common_literal(one, other)
        || differ_in_a_property(one, other)
        || refuses_what_is_required(one, other)
        || refuses_what_is_required(other, one)
}

fn have_no_common_type(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let (Some(one), Some(other)) = (types(one), types(other)) else {
        return false;
    };
    // Every integer is a number.
    let overlap = |a: &str, b: &str| a == b || (is_numeric(a) && is_numeric(b));
    !one.iter().any(|a| other.iter().any(|b| overlap(a, b)))
}

fn is_numeric(name: &str) -> bool {
    matches!(name, "integer" | "number")
}

fn types(schema: &Map<String, Value>) -> Option<Vec<&str>> {
    match schema.get("type")? {
        Value::String(name) => Some(vec![name]),
        Value::Array(names) => names.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

fn have_no_common_literal(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let (Some(one), Some(other)) = (literals(one), literals(other)) else {
        return false;
    };
    !one.iter().any(|a| other.contains(a))
}

/// Returns the only values that fit, if they are strings, booleans or null. Numbers and containers may be equal even if they are written
/// differently.
fn literals(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    let values = match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => vec![only],
        (None, Some(Value::Array(values))) => values.iter().collect(),
        _ => return None,
    };
    let simple = |value: &&Value| value.is_string() || value.is_boolean() || value.is_null();
    values.iter().all(simple).then_some(values)
}

/// Returns whether there is a property that both require, with other values.
fn differ_in_a_property(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    if !is_of_objects(one) || !is_of_objects(other) {
        return false;
    }
    let of = |schema: &Map<String, Value>, name: &str| -> Option<Map<String, Value>> {
        schema.get("properties")?.get(name)?.as_object().cloned()
    };
    required(one).any(|name| {
        required(other).any(|theirs| theirs == name)
            && match (of(one, name), of(other, name)) {
                (Some(a), Some(b)) => have_no_common_literal(&a, &b) || have_no_common_type(&a, &b),
                _ => false,
            }
    })
}

/// Returns whether `closed` allows no property that `other` requires.
fn refuses_what_is_required(closed: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let properties = closed.get("properties").and_then(Value::as_object);
    let is_closed = closed.get("additionalProperties") == Some(&Value::Bool(false))
        && !closed.contains_key("patternProperties");
    is_closed
        && is_of_objects(closed)
        && is_of_objects(other)
        && required(other).any(|name| !properties.is_some_and(|own| own.contains_key(name)))
}

/// Returns whether only objects fit. `properties` and `required` do not apply to other values.
fn is_of_objects(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|name| name == "object")
}

fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_excludes_each_other() {
        let tagged = |kind: &str| json!({"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]});
        let only = |name: &str| json!({"type": "object", "properties": {name: {}}, "required": [name], "additionalProperties": false});
        for (schemas, expected) in [
            (
                json!([{"type": "string"}, {"type": ["null", "integer"]}, {"type": "object"}]),
                true,
            ),
            (json!([{"type": "integer"}, {"type": "number"}]), false),
            (
                json!([{"const": "a"}, {"enum": ["b", "c"]}, {"const": true}]),
                true,
            ),
            (json!([{"const": "a"}, {"enum": ["b", "a"]}]), false),
            (json!([{"const": 1}, {"const": 1.0}]), false),
            (json!([tagged("a"), tagged("b")]), true),
            (json!([tagged("a"), tagged("b"), tagged("a")]), false),
            (json!([only("a"), only("b")]), true),
            (
                json!([only("a"), {"type": "object", "required": ["b"]}]),
                true,
            ),
            (
                json!([only("a"), {"type": "object", "required": ["a"]}]),
                false,
            ),
            // Values other than objects have no properties.
            (json!([only("a"), {"required": ["b"]}]), false),
            (json!([{"$ref": "#"}, {"type": "null"}]), false),
            (json!([true]), true),
        ] {
            let list = schemas.as_array().unwrap();
            assert_eq!(are_disjoint(list), expected, "{schemas}");
        }
    }
}
