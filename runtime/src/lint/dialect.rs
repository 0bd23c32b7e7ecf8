//! Writes schemas of draft-07 in 2020-12, if the meaning is the same.

use serde_json::{Map, Value};

use super::inline::own_fragment;
use crate::check::{
    MAX_SCHEMA_DEPTH,
    positions::{Holds, holds, is_annotation},
};

/// Returns whether the schema is one of 2020-12, which is also the dialect of schemas that name no dialect.
pub(super) fn is_default_dialect(schema: &Value) -> bool {
    match schema.get("$schema").and_then(Value::as_str) {
        Some(name) => name.contains("json-schema.org/draft/2020-12/"),
        None => true,
    }
}

/// Returns whether `name` is that of draft-07.
pub(super) fn is_draft_07(name: &str) -> bool {
    name.contains("json-schema.org/draft-07/")
}

/// Keywords of later dialects, which draft-07 ignores and 2020-12 does not.
const LATER: [&str; 12] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "dependentRequired",
    "dependentSchemas",
    "maxContains",
    "minContains",
    "prefixItems",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Returns a schema that names draft-07 as a schema of 2020-12, without `$schema`. `None` if it names another dialect or none, or if its
/// meaning would change.
pub(super) fn in_2020_12(schema: &Value) -> Option<Value> {
    if !schema.get("$schema")?.as_str().is_some_and(is_draft_07) {
        return None;
    }
    rewritten(schema, schema, 0)
}

fn rewritten(root: &Value, schema: &Value, depth: usize) -> Option<Value> {
    let Value::Object(members) = schema else {
        return schema.is_boolean().then(|| schema.clone());
    };
    let id = members.get("$id").and_then(Value::as_str);
    let anchor = id.and_then(|id| id.strip_prefix('#'));
    let is_inner_document = 0 < depth
        && (members.contains_key("$schema") || (members.contains_key("$id") && anchor.is_none()));
    if MAX_SCHEMA_DEPTH < depth
        || is_inner_document
        || LATER.iter().any(|later| members.contains_key(*later))
    {
        return None;
    }
    if let Some(reference) = members.get("$ref") {
        let fragment = own_fragment(root, reference.as_str()?)?;
        // Pointers through renamed keywords would not lead to any schema.
        if ["/items/", "/additionalItems", "/dependencies/"]
            .iter()
            .any(|renamed| fragment.contains(renamed))
        {
            return None;
        }
    }
    let mut out = Map::new();
    for (keyword, value) in members {
        // In draft-07 other keywords beside a reference have no effect.
        let is_ignored = members.contains_key("$ref")
            && !matches!(keyword.as_str(), "$ref" | "definitions" | "$defs")
            && !is_annotation(keyword);
        if is_ignored || keyword == "$schema" {
            continue;
        }
        let below = |schema: &Value| rewritten(root, schema, depth + 1);
        let value = match (holds(keyword, value), value) {
            (Holds::One, schema) => below(schema)?,
            (Holds::List, Value::Array(list)) => {
                list.iter().map(below).collect::<Option<Vec<_>>>()?.into()
            }
            (Holds::Map, Value::Object(map)) => {
                let member = |(name, value): (&String, &Value)| {
                    let value = match value.is_array() {
                        true => value.clone(),
                        false => below(value)?,
                    };
                    Some((name.clone(), value))
                };
                map.iter()
                    .map(member)
                    .collect::<Option<Map<_, _>>>()?
                    .into()
            }
            _ => value.clone(),
        };
        let is_tuple = members.get("items").is_some_and(Value::is_array);
        match (keyword.as_str(), value) {
            // In draft-07, an `$id` of this form is an anchor.
            ("$id", value) => {
                let (keyword, value) = match anchor {
                    Some(name) => ("$anchor", name.into()),
                    None => ("$id", value),
                };
                out.insert(keyword.to_owned(), value);
            }
            ("items", value) if is_tuple => {
                out.insert("prefixItems".to_owned(), value);
            }
            ("additionalItems", value) if is_tuple => {
                out.insert("items".to_owned(), value);
            }
            // It has no effect without a tuple.
            ("additionalItems", _) => {}
            ("dependencies", Value::Object(map)) => {
                let (names, schemas): (Map<_, _>, Map<_, _>) =
                    map.into_iter().partition(|(_, value)| value.is_array());
                for (keyword, map) in [("dependentRequired", names), ("dependentSchemas", schemas)]
                {
                    if !map.is_empty() {
                        out.insert(keyword.to_owned(), map.into());
                    }
                }
            }
            (_, value) => {
                out.insert(keyword.clone(), value);
            }
        }
    }
    Some(out.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";

    fn draft_07(mut schema: Value) -> Value {
        schema["$schema"] = DRAFT_07.into();
        schema
    }

    #[test]
    fn renamed_keywords() {
        for (given, expected) in [
            (json!({"type": "string"}), json!({"type": "string"})),
            (
                json!({"items": [{}, {"type": "null"}], "additionalItems": false}),
                json!({"prefixItems": [{}, {"type": "null"}], "items": false}),
            ),
            (
                json!({"items": {"items": [true]}, "additionalItems": {"type": "null"}}),
                json!({"items": {"prefixItems": [true]}}),
            ),
            (
                json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
                json!({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}}),
            ),
            (
                json!({"items": {"$ref": "#n"}, "definitions": {"N": {"$id": "#n"}}}),
                json!({"items": {"$ref": "#n"}, "definitions": {"N": {"$anchor": "n"}}}),
            ),
            (
                json!({"properties": {"a": {"$ref": "#/definitions/A", "description": "d", "type": "null"}},
                    "definitions": {"A": {}}}),
                json!({"properties": {"a": {"$ref": "#/definitions/A", "description": "d"}}, "definitions": {"A": {}}}),
            ),
        ] {
            assert_eq!(in_2020_12(&draft_07(given)), Some(expected));
        }
    }

    #[test]
    fn what_would_change_stays() {
        for schema in [
            json!({"unevaluatedProperties": false}),
            json!({"properties": {"a": {"minContains": 2}}}),
            json!({"properties": {"a": {"$id": "https://example.com/a"}}}),
            json!({"properties": {"a": {"$ref": "https://example.com/a"}}}),
            json!({"items": [{}], "not": {"$ref": "#/items/0"}}),
        ] {
            assert_eq!(in_2020_12(&draft_07(schema.clone())), None, "{schema}");
            assert_eq!(in_2020_12(&schema), None, "names no dialect: {schema}");
        }
    }
}
