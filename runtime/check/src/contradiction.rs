//! Finds bounds of one schema that contradict each other. They are legal JSON Schema, and usually a mistake.

use std::cmp::Ordering;

use serde_json::{Map, Value};
use trueform_schema::pointer;

use super::{
    MAX_SCHEMA_DEPTH, SchemaError, SchemaErrorKind,
    number::Num,
    positions::{Holds, holds},
};

/// Most contradictions that are reported of one document.
pub const MAX_CONTRADICTIONS: usize = 20;

/// A lower and an upper bound, and what they bound.
struct Pair {
    lower: &'static str,
    upper: &'static str,
    /// The types whose values they bound.
    types: &'static [&'static str],
    /// What no value of these types can do.
    bounded: &'static str,
    /// Whether equal bounds leave nothing between them.
    is_open: bool,
}

const NUMBER: &[&str] = &["number", "integer"];

const PAIRS: [Pair; 8] = [
    pair("minimum", "maximum", NUMBER, "number", false),
    pair("exclusiveMinimum", "maximum", NUMBER, "number", true),
    pair("minimum", "exclusiveMaximum", NUMBER, "number", true),
    pair(
        "exclusiveMinimum",
        "exclusiveMaximum",
        NUMBER,
        "number",
        true,
    ),
    pair("minLength", "maxLength", &["string"], "string", false),
    pair("minItems", "maxItems", &["array"], "array", false),
    pair("minContains", "maxContains", &["array"], "array", false),
    pair(
        "minProperties",
        "maxProperties",
        &["object"],
        "object",
        false,
    ),
];

const fn pair(
    lower: &'static str,
    upper: &'static str,
    types: &'static [&'static str],
    bounded: &'static str,
    is_open: bool,
) -> Pair {
    Pair {
        lower,
        upper,
        types,
        bounded,
        is_open,
    }
}

/// The places of `schema` whose bounds no value of their type can meet, such as `"minimum": 10` beside `"maximum": 1`; at most
/// [`MAX_CONTRADICTIONS`]. What is under `not` and `if` is not looked at, because it need not be met, nor is what is deeper than
/// [`MAX_SCHEMA_DEPTH`].
///
/// [`Schema::compile`](super::Schema::compile) accepts such schemas: they are legal.
///
/// ```
/// use serde_json::json;
///
/// let schema = json!({"properties": {"a": {"type": "string", "minLength": 5, "maxLength": 2}}});
/// let found = trueform_check::contradictions(&schema);
/// assert_eq!(
///     found[0].to_string(),
///     "/properties/a: `\"minLength\": 5` and `\"maxLength\": 2` contradict each other: no string meets both",
/// );
/// ```
#[must_use]
pub fn contradictions(schema: &Value) -> Vec<SchemaError> {
    let mut found = Vec::new();
    walk(schema, "", 0, &mut found);
    found
}

fn walk(schema: &Value, pointer: &str, depth: usize, found: &mut Vec<SchemaError>) {
    let (Value::Object(object), true) = (schema, depth < MAX_SCHEMA_DEPTH) else {
        return;
    };
    for reason in PAIRS.iter().filter_map(|pair| pair.contradicted(object)) {
        if found.len() == MAX_CONTRADICTIONS {
            return;
        }
        found.push(SchemaError::new(
            pointer,
            SchemaErrorKind::Contradictory,
            reason,
        ));
    }
    for (keyword, value) in object {
        if matches!(&**keyword, "not" | "if") {
            continue;
        }
        let at = format!("{pointer}/{keyword}");
        match (holds(keyword, value), value) {
            (Holds::One, _) => walk(value, &at, depth + 1, found),
            (Holds::List, Value::Array(list)) => {
                for (index, value) in list.iter().enumerate() {
                    walk(value, &format!("{at}/{index}"), depth + 1, found);
                }
            }
            (Holds::Map, Value::Object(map)) => {
                for (name, value) in map {
                    let at = format!("{at}/{}", pointer::escape(name));
                    walk(value, &at, depth + 1, found);
                }
            }
            _ => {}
        }
    }
}

impl Pair {
    /// The reason why no value meets these bounds of `schema`, if there is one.
    fn contradicted(&self, schema: &Map<String, Value>) -> Option<String> {
        let (Some(Value::Number(lower)), Some(Value::Number(upper))) =
            (schema.get(self.lower), schema.get(self.upper))
        else {
            return None;
        };
        let is_met = match Num::of(lower).order(Num::of(upper)) {
            Ordering::Less => true,
            Ordering::Equal => !self.is_open,
            Ordering::Greater => false,
        };
        // `minContains` and `maxContains` say nothing without `contains`.
        let is_idle = self.lower == "minContains" && !schema.contains_key("contains");
        (!is_met && !is_idle && self.applies(schema.get("type"))).then(|| {
            format!(
                "`\"{}\": {lower}` and `\"{}\": {upper}` contradict each other: no {} meets both",
                self.lower, self.upper, self.bounded
            )
        })
    }

    /// Whether values that they bound are of the types `types`.
    fn applies(&self, types: Option<&Value>) -> bool {
        let is_bounded = |ty: &Value| ty.as_str().is_some_and(|ty| self.types.contains(&ty));
        match types {
            Some(Value::Array(types)) => types.iter().any(is_bounded),
            Some(ty) => is_bounded(ty),
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn found(schema: &Value) -> String {
        let found = contradictions(schema);
        let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
        lines.join("\n")
    }

    #[test]
    fn every_pair_of_bounds_is_compared() {
        for (lower, upper, is_open) in [
            ("minimum", "maximum", false),
            ("exclusiveMinimum", "maximum", true),
            ("minimum", "exclusiveMaximum", true),
            ("exclusiveMinimum", "exclusiveMaximum", true),
            ("minLength", "maxLength", false),
            ("minItems", "maxItems", false),
            ("minContains", "maxContains", false),
            ("minProperties", "maxProperties", false),
        ] {
            let of =
                |low: u64, high: u64| found(&json!({ "contains": {}, lower: low, upper: high }));
            let words = of(3, 2);
            assert!(
                words.contains(&format!("`\"{lower}\": 3` and `\"{upper}\": 2` contradict")),
                "{words}"
            );
            assert_eq!(of(2, 2).is_empty(), !is_open, "{lower} {upper}");
            assert_eq!(of(2, 3), "");
        }
    }

    #[test]
    fn numbers_are_compared_exactly() {
        let (low, high) = ((1_u64 << 53) + 1, 1_u64 << 53);
        assert!(!found(&json!({ "minimum": low, "maximum": high })).is_empty());
        assert_eq!(found(&json!({ "minimum": high, "maximum": low })), "");
        assert!(!found(&json!({ "minimum": 1.5, "maximum": 1 })).is_empty());
    }

    #[test]
    fn bounds_without_effect_contradict_nothing() {
        for schema in [
            json!({ "type": "string", "minimum": 2, "maximum": 1 }),
            json!({ "type": ["integer", "null"], "minLength": 2, "maxLength": 1 }),
            json!({ "minContains": 2, "maxContains": 1 }),
            json!({ "not": { "minimum": 2, "maximum": 1 } }),
            json!({ "if": { "minimum": 2, "maximum": 1 } }),
            json!({ "const": { "minimum": 2, "maximum": 1 } }),
            json!({ "default": { "minimum": 2, "maximum": 1 } }),
        ] {
            assert_eq!(found(&schema), "", "{schema}");
        }
    }

    #[test]
    fn every_place_of_a_schema_is_looked_at() {
        let wrong = json!({ "type": ["integer", "null"], "minimum": 2, "maximum": 1 });
        for (schema, pointer) in [
            (json!({ "items": wrong }), "/items"),
            (json!({ "anyOf": [{}, wrong] }), "/anyOf/1"),
            (json!({ "$defs": { "a/b": wrong } }), "/$defs/a~1b"),
            (json!({ "then": wrong }), "/then"),
            (wrong.clone(), "(root)"),
        ] {
            let words = found(&schema);
            assert!(words.starts_with(&format!("{pointer}: ")), "{words}");
        }
    }

    #[test]
    fn few_are_reported_and_depth_is_bounded() {
        let wrong = json!({ "minimum": 2, "maximum": 1 });
        let many = json!({ "anyOf": vec![wrong.clone(); 2 * MAX_CONTRADICTIONS] });
        assert_eq!(contradictions(&many).len(), MAX_CONTRADICTIONS);
        let deep =
            |depth: usize| (0..depth).fold(wrong.clone(), |inner, _| json!({ "items": inner }));
        assert_eq!(contradictions(&deep(MAX_SCHEMA_DEPTH - 1)).len(), 1);
        assert_eq!(contradictions(&deep(MAX_SCHEMA_DEPTH)).len(), 0);
    }
}
