//! Writes out what a schema implies, with the keywords that all clients know: `properties`, `items`, inclusive bounds. It accepts the same
//! values.

use serde_json::{Map, Number, Value, json};

use super::{add_properties, formats::foreign_format};
use crate::check::{
    MAX_SCHEMA_DEPTH,
    positions::{Holds, holds},
};

/// Completes `schema` and all schemas in it.
pub(super) fn complete(schema: &mut Value) {
    // `items` marks all items as evaluated.
    let adds_items = !mentions(schema, "unevaluatedItems", 0);
    each(schema, 0, &mut |members| {
        if foreign_format(members).is_some() {
            members.shift_remove("format");
        }
        if members.get("default").is_some_and(Value::is_null) {
            members.shift_remove("default");
        }
        if allows(members, "object") {
            add_properties(members);
        }
        if adds_items && allows(members, "array") && !members.contains_key("items") {
            insert_after(members, "type", "items", json!({}));
        }
        if allows(members, "integer") && !allows(members, "number") {
            make_inclusive(members, "exclusiveMinimum", "minimum", 1);
            make_inclusive(members, "exclusiveMaximum", "maximum", -1);
        }
    });
}

/// Returns whether `type` lists `name`.
pub(super) fn allows(members: &Map<String, Value>, name: &str) -> bool {
    match members.get("type") {
        Some(Value::Array(types)) => types.iter().any(|listed| listed == name),
        Some(only) => only == name,
        None => false,
    }
}

/// Applies `change` to a schema and those in it, the outer ones first. Schemas that are nested deeper than the compiler accepts are left
/// out.
pub(super) fn each(
    schema: &mut Value,
    depth: usize,
    change: &mut impl FnMut(&mut Map<String, Value>),
) {
    let Some(members) = schema.as_object_mut().filter(|_| depth < MAX_SCHEMA_DEPTH) else {
        return;
    };
    change(members);
    for (keyword, value) in members.iter_mut() {
        match (holds(keyword, value), value) {
            (Holds::One, schema) => each(schema, depth + 1, change),
            (Holds::List, Value::Array(list)) => {
                for schema in list {
                    each(schema, depth + 1, change);
                }
            }
            (Holds::Map, Value::Object(map)) => {
                for schema in map.values_mut() {
                    each(schema, depth + 1, change);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a schema in `schema` has the `keyword`.
fn mentions(schema: &Value, keyword: &str, depth: usize) -> bool {
    let Some(members) = schema.as_object().filter(|_| depth < MAX_SCHEMA_DEPTH) else {
        return false;
    };
    let below = |schema: &Value| mentions(schema, keyword, depth + 1);
    members.contains_key(keyword)
        || members
            .iter()
            .any(|(keyword, value)| match (holds(keyword, value), value) {
                (Holds::One, schema) => below(schema),
                (Holds::List, Value::Array(list)) => list.iter().any(below),
                (Holds::Map, Value::Object(map)) => map.values().any(below),
                _ => false,
            })
}

fn insert_after(members: &mut Map<String, Value>, place: &str, keyword: &str, value: Value) {
    let place = members.keys().position(|other| other == place);
    let after = place.map_or(0, |place| place + 1);
    members.shift_insert(after, keyword.to_owned(), value);
}

/// The largest float that is exactly a whole number and whose neighbours are too.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Writes the bound `exclusive` of integers as `inclusive`, one `step` away. A bound whose neighbour does not fit into 64 bits is not
/// changed.
fn make_inclusive(members: &mut Map<String, Value>, exclusive: &str, inclusive: &str, step: i128) {
    let bound = |keyword: &str| members.get(keyword).and_then(Value::as_number);
    let Some(nearest) = bound(exclusive).and_then(|bound| neighbour(bound, step)) else {
        return;
    };
    let strictest = match bound(inclusive).map(|own| at_or_beyond(own, step)) {
        None if members.contains_key(inclusive) => return,
        None => nearest,
        Some(None) => return,
        Some(Some(own)) if 0 < step => own.max(nearest),
        Some(Some(own)) => own.min(nearest),
    };
    let number = i64::try_from(strictest).map(Number::from);
    let Ok(number) = number.or_else(|_| u64::try_from(strictest).map(Number::from)) else {
        return;
    };
    members.shift_remove(inclusive);
    insert_after(members, exclusive, inclusive, Value::Number(number));
    members.shift_remove(exclusive);
}

/// Returns the first integer beyond `bound` in the direction of `step`.
fn neighbour(bound: &Number, step: i128) -> Option<i128> {
    match bound.as_i128() {
        Some(bound) => bound.checked_add(step),
        None => at_or_beyond(bound, step).map(|beyond| {
            let is_whole = bound.as_f64().is_some_and(|float| float.fract() == 0.0);
            if is_whole { beyond + step } else { beyond }
        }),
    }
}

/// Returns `bound`, or the first integer beyond it if it is not whole.
fn at_or_beyond(bound: &Number, step: i128) -> Option<i128> {
    if let Some(bound) = bound.as_i128() {
        return Some(bound);
    }
    let float = bound.as_f64().filter(|float| float.abs() < EXACT)?;
    let whole = if 0 < step {
        float.ceil()
    } else {
        float.floor()
    };
    #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
    Some(whole as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mut schema: Value, expected: &str) {
        complete(&mut schema);
        assert_eq!(schema.to_string(), expected);
    }

    #[test]
    fn what_all_clients_expect() {
        check(
            json!({"type": "array", "maxItems": 3}),
            r#"{"type":"array","items":{},"maxItems":3}"#,
        );
        check(
            json!({"type": ["array", "null"], "prefixItems": [{"type": "object"}]}),
            r#"{"type":["array","null"],"items":{},"prefixItems":[{"type":"object","properties":{}}]}"#,
        );
        check(
            json!({"anyOf": [{"type": "array"}], "unevaluatedItems": false}),
            r#"{"anyOf":[{"type":"array"}],"unevaluatedItems":false}"#,
        );
        check(
            json!({"type": "object", "properties": {"default": {"default": null}, "type": {"const": "array"}}}),
            r#"{"type":"object","properties":{"default":{},"type":{"const":"array"}}}"#,
        );
        check(
            json!({"type": "string", "format": "ip", "default": {"default": null}}),
            r#"{"type":"string","default":{"default":null}}"#,
        );
    }

    #[test]
    fn bounds_of_integers_are_inclusive() {
        let integer = |rest: Value| {
            let mut schema = json!({"type": "integer"});
            for (keyword, value) in rest.as_object().unwrap() {
                schema[keyword] = value.clone();
            }
            schema
        };
        for (given, expected) in [
            (json!({"exclusiveMinimum": 0}), r#","minimum":1"#),
            (json!({"exclusiveMaximum": 0}), r#","maximum":-1"#),
            (json!({"exclusiveMinimum": 0.0}), r#","minimum":1"#),
            (json!({"exclusiveMinimum": 0.5}), r#","minimum":1"#),
            (json!({"exclusiveMinimum": -0.5}), r#","minimum":0"#),
            (json!({"exclusiveMaximum": 0.5}), r#","maximum":0"#),
            (json!({"exclusiveMaximum": -1.5}), r#","maximum":-2"#),
            (
                json!({"exclusiveMinimum": 0, "minimum": 5}),
                r#","minimum":5"#,
            ),
            (
                json!({"minimum": 0.5, "exclusiveMinimum": 3}),
                r#","minimum":4"#,
            ),
            (
                json!({"maximum": 2.5, "exclusiveMaximum": 9}),
                r#","maximum":2"#,
            ),
            (
                json!({"exclusiveMaximum": u64::MAX}),
                r#","maximum":18446744073709551614"#,
            ),
            // The neighbours of these do not fit into 64 bits.
            (
                json!({"exclusiveMinimum": u64::MAX}),
                r#","exclusiveMinimum":18446744073709551615"#,
            ),
            (
                json!({"exclusiveMinimum": 1e300}),
                r#","exclusiveMinimum":1e+300"#,
            ),
        ] {
            check(
                integer(given),
                &format!(r#"{{"type":"integer"{expected}}}"#),
            );
        }
        check(
            json!({"type": "number", "exclusiveMinimum": 0}),
            r#"{"type":"number","exclusiveMinimum":0}"#,
        );
        check(
            json!({"type": ["integer", "string"], "exclusiveMinimum": 0}),
            r#"{"type":["integer","string"],"minimum":1}"#,
        );
    }
}
