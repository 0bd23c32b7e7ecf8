//! Rewrites a schema for clients with little support: it accepts the same values and uses fewer features.
//!
//! One file does one thing: `dialect` writes draft-07 in 2020-12 if the meaning is the same, `inline` inlines references, `complete` writes
//! out what clients expect, and `nulls` removes `null` from optional properties.

use serde_json::Value;

use super::{Position, complete::complete, dialect::in_2020_12, inline::inlined, nulls};

/// Rewrites the schema to the simplest form that accepts the same values, except for `null` in input schemas.
///
/// * References are inlined, unless they recurse.
/// * A draft-07 schema is written in 2020-12, if it means the same there.
/// * Boolean schemas become objects, combinators at the root are merged if that does not change the meaning, and `anyOf` with `null`
///   becomes a list of types.
/// * Every object schema gets `properties`, and every array schema `items`. Exclusive bounds of integers become inclusive ones.
/// * Formats that only schemars writes, such as `uint8` and `ip`, and `"default": null` are removed.
/// * At [`Position::Input`], an optional property does not allow `null`, if that is only another way to leave it out: a value that `schema`
///   accepts is accepted without some of its `null` members. [`Profile::Portable`](super::Profile::Portable) still accepts them.
///
/// If moving subschemas is not safe (other dialects, anchors, references to other documents) or the result would have more than
/// some thousand subschemas, references and `null` stay.
///
/// ```
/// use trueform::lint::{Position, portable};
/// use serde_json::json;
/// let schema = json!({
///     "type": "object",
///     "properties": {"unit": {"anyOf": [{"$ref": "#/$defs/Unit"}, {"type": "null"}]}},
///     "$defs": {"Unit": {"type": "string", "enum": ["m", "km"]}},
/// });
/// assert_eq!(
///     portable(&schema, Position::Input),
///     json!({"type": "object", "properties": {"unit": {"type": "string", "enum": ["m", "km"]}}})
/// );
/// assert_eq!(
///     portable(&schema, Position::Output),
///     json!({"type": "object", "properties": {"unit": {"type": ["string", "null"], "enum": ["m", "km", null]}}})
/// );
/// ```
#[must_use]
pub fn portable(schema: &Value, position: Position) -> Value {
    let mut rewritten = with_nulls(schema);
    if position == Position::Input {
        nulls::remove_optional(&mut rewritten);
    }
    rewritten
}

/// Returns the form of an output schema, which accepts exactly the same values as `schema`.
fn with_nulls(schema: &Value) -> Value {
    let newest = in_2020_12(schema);
    let schema = newest.as_ref().unwrap_or(schema);
    let mut plain = inlined(schema).unwrap_or_else(|| schema.clone());
    complete(&mut plain);
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[track_caller]
    fn check(schema: &Value, expected: &Value) {
        assert_eq!(portable(schema, Position::Output), *expected, "{schema}");
    }

    #[test]
    fn references_are_inlined_unless_they_recurse() {
        check(
            &json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A", "description": "own"}},
                "$defs": {"A": {"description": "theirs", "type": "integer", "format": "uint8", "minimum": 0}}}),
            &json!({"type": "object", "properties": {"a": {"description": "own", "type": "integer", "minimum": 0}}}),
        );
        check(
            &json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Tree", "$ref": "#/$defs/Node",
                "$defs": {"Node": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Node"}, "leaf": {"$ref": "#/$defs/Leaf"}}},
                    "Leaf": {"type": "string"}}}),
            &json!({"title": "Tree", "type": "object", "properties": {"left": {"$ref": "#/$defs/Node"}, "leaf": {"type": "string"}},
                "$defs": {"Node": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Node"}, "leaf": {"type": "string"}}}}}),
        );
        check(
            &json!({"type": "object", "properties": {"more": {"$ref": "#"}}}),
            &json!({"type": "object", "properties": {"more": {"$ref": "#"}}}),
        );
        check(
            &json!({"properties": {"a": {"$ref": "#/$defs/A", "properties": {"y": {}}}}, "$defs": {"A": {"additionalProperties": false}}}),
            &json!({"properties": {"a": {"properties": {"y": {}}, "allOf": [{"additionalProperties": false}]}}}),
        );
    }

    #[test]
    fn what_depends_on_its_place_stays() {
        for schema in [
            json!({"$dynamicAnchor": "n", "properties": {"a": {"items": {"$dynamicRef": "#n"}}, "b": true}}),
            json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "properties": {"a": {"$recursiveRef": "#"}, "b": true}}),
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": {}}}),
            json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$id": "https://example.com/a"}}}),
        ] {
            check(&schema, &schema);
        }
    }

    #[test]
    fn booleans_formats_and_null() {
        check(
            &json!({"type": "object", "properties": {"any": true, "none": false}, "additionalProperties": false}),
            &json!({"type": "object", "properties": {"any": {}, "none": {"not": {}}}, "additionalProperties": false}),
        );
        check(
            &json!({"properties": {"a": {"anyOf": [{"type": "object", "properties": {"x": {"type": "number", "format": "double"}}}, {"type": "null"}], "default": null}}}),
            &json!({"properties": {"a": {"type": ["object", "null"], "properties": {"x": {"type": "number"}}}}}),
        );
        // Not the same without the branches.
        let fixed = json!({"anyOf": [{"type": "string", "const": "a"}, {"type": "null"}]});
        check(
            &json!({"properties": {"a": fixed}}),
            &json!({"properties": {"a": fixed}}),
        );
    }

    #[test]
    fn draft_07_becomes_2020_12() {
        check(
            &json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "$id": "https://example.com/s",
                "properties": {"a": {"$ref": "https://example.com/s#/definitions/A", "type": "null"}},
                "definitions": {"A": {"items": [true], "additionalItems": false}}}),
            &json!({"type": "object", "properties": {"a": {"prefixItems": [{}], "items": {"not": {}}}}}),
        );
        // A keyword of later dialects: its meaning would change.
        let later = json!({"$schema": "http://json-schema.org/draft-07/schema#", "unevaluatedProperties": false});
        check(&later, &later);
    }

    #[test]
    fn the_document_refers_to_itself() {
        check(
            &json!({"$id": "https://example.com/s", "properties": {"a": {"$ref": "https://example.com/s#/$defs/A"}, "b": {"$ref": "https://example.com/s"}},
                "$defs": {"A": {"const": 1}}}),
            &json!({"properties": {"a": {"const": 1}, "b": {"$ref": "#"}}}),
        );
    }

    #[test]
    fn an_optional_enum_with_described_values() {
        let order = json!({"oneOf": [{"type": "string", "const": "new", "description": "d"}, {"type": "string", "enum": ["old"]}]});
        let schema = json!({"type": "object", "properties": {"o": {"description": "own", "anyOf": [{"$ref": "#/$defs/O"}, {"type": "null"}], "default": null}},
            "$defs": {"O": order}});
        let mut expected = json!({"type": "object", "properties": {"o": {"description": "own"}}});
        expected["properties"]["o"]["oneOf"] = order["oneOf"].clone();
        assert_eq!(portable(&schema, Position::Input), expected);
    }

    // Clients that refuse an object schema without `properties` do so at any depth.
    #[test]
    fn objects_have_properties() {
        check(
            &json!({"title": "T", "type": "object", "additionalProperties": false}),
            &json!({"title": "T", "type": "object", "properties": {}, "additionalProperties": false}),
        );
        assert_eq!(
            portable(
                &json!({"title": "T", "type": "object", "minProperties": 1}),
                Position::Output
            )
            .to_string(),
            r#"{"title":"T","type":"object","properties":{},"minProperties":1}"#,
            "right after `type`"
        );
        check(
            &json!({"type": "object", "properties": {
                "type": {"type": "array", "items": {"type": "object"}},
                "maybe": {"anyOf": [{"type": "object", "additionalProperties": {"type": "object"}}, {"type": "null"}]},
                "word": {"type": "string"}, "object": {"const": {"type": "object"}}}}),
            &json!({"type": "object", "properties": {
                "type": {"type": "array", "items": {"type": "object", "properties": {}}},
                "maybe": {"type": ["object", "null"], "properties": {},
                    "additionalProperties": {"type": "object", "properties": {}}},
                "word": {"type": "string"}, "object": {"const": {"type": "object"}}}}),
        );
        // Schemas that cannot be moved too.
        check(
            &json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": {"a": {"$ref": "#/definitions/A"}},
                "definitions": {"A": {"type": "object"}}}),
            &json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": {"a": {"$ref": "#/definitions/A"}},
                "definitions": {"A": {"type": "object", "properties": {}}}}),
        );
        // Empty `properties` do not prevent a merge.
        let closed =
            json!({"type": "object", "properties": {"b": {}}, "additionalProperties": false});
        for root in [
            json!({"type": "object", "properties": {}, "$ref": "#/$defs/B", "$defs": {"B": closed}}),
            json!({"type": "object", "properties": {}, "anyOf": [closed]}),
        ] {
            check(&root, &closed);
        }
    }

    #[test]
    fn roots_are_merged_where_nothing_changes() {
        check(
            &json!({"type": "object", "properties": {"a": {}}, "required": ["a"],
                "allOf": [{"$ref": "#/$defs/B"}], "$defs": {"B": {"type": "object", "title": "B", "properties": {"b": {}}, "required": ["b"]}}}),
            &json!({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]}),
        );
        check(
            &json!({"title": "T", "oneOf": [{"type": "object", "properties": {"b": {}}, "additionalProperties": false}]}),
            &json!({"title": "T", "type": "object", "properties": {"b": {}}, "additionalProperties": false}),
        );
        // Merging would let `b` pass.
        let closed = json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false, "allOf": [{"properties": {"b": {}}}]});
        check(&closed, &closed);
    }

    #[test]
    fn what_cannot_be_moved_keeps_its_references() {
        let remote = json!({"properties": {"a": {"$ref": "https://example.com"}, "b": true}});
        check(&remote, &remote);
        // 2^30 copies.
        let mut defs = Map::new();
        defs.insert(
            "a0".to_owned(),
            json!({"type": "integer", "format": "int8"}),
        );
        for i in 1..=30 {
            let below = format!("#/$defs/a{}", i - 1);
            defs.insert(
                format!("a{i}"),
                json!({"allOf": [{"$ref": below}, {"$ref": below}]}),
            );
        }
        let bomb = json!({"$ref": "#/$defs/a30", "$defs": defs});
        let rewritten = portable(&bomb, Position::Output);
        assert_eq!(rewritten["$ref"], "#/$defs/a30");
        assert_eq!(rewritten["$defs"]["a0"], json!({"type": "integer"}));
    }
}
