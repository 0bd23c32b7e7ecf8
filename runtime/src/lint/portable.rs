//! Rewrites a schema for clients with little support: it accepts the same values and uses fewer features.
//!
//! References are inlined unless they recurse, boolean subschemas become objects, schemars' numeric formats are removed,
//! `anyOf` with `null` becomes a list of types, combinators at the root are merged where that changes nothing, and every object
//! schema gets `properties`.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value, json};
use trueform_schema::pointer::decode_fragment;

use super::{
    add_properties, is_numeric_format,
    merge::{merge_branches, merged, with_null_as_type},
};
use crate::check::{
    MAX_SCHEMA_DEPTH,
    positions::{Holds, holds, is_annotation},
};

/// Inlining limit: a schema that would become larger keeps its references.
const MAX_NODES: usize = 5_000;

/// Schemas with more different references than this keep them.
const MAX_REFERENCES: usize = 500;

/// Deeper schemas keep their references.
const MAX_DEPTH: usize = MAX_SCHEMA_DEPTH;

/// Rewrites the schema to the simplest form that accepts the same values.
///
/// If moving subschemas is not safe (other dialects, anchors, references to other documents) or the result would have more than
/// some thousand subschemas, only the numeric formats are removed and `properties` added.
///
/// ```
/// use trueform::lint::portable;
/// use serde_json::json;
/// let schema = json!({
///     "type": "object",
///     "properties": {"unit": {"anyOf": [{"$ref": "#/$defs/Unit"}, {"type": "null"}]}},
///     "$defs": {"Unit": {"type": "string", "enum": ["m", "km"]}},
/// });
/// assert_eq!(
///     portable(&schema),
///     json!({"type": "object", "properties": {"unit": {"type": ["string", "null"], "enum": ["m", "km", null]}}})
/// );
/// ```
#[must_use]
pub fn portable(schema: &Value) -> Value {
    let mut plain = inlined(schema).unwrap_or_else(|| without_numeric_formats(schema, 0));
    complete_objects(&mut plain, 0);
    plain
}

/// Gives `properties` to every schema that is of type `object`, or of several types with `object` among them.
fn complete_objects(schema: &mut Value, depth: usize) {
    let Some(members) = schema.as_object_mut().filter(|_| depth < MAX_DEPTH) else {
        return;
    };
    let is_of_objects = match members.get("type") {
        Some(Value::Array(types)) => types.iter().any(|name| name == "object"),
        Some(name) => name == "object",
        None => false,
    };
    if is_of_objects {
        add_properties(members);
    }
    for (keyword, value) in members.iter_mut() {
        match (holds(keyword, value), value) {
            (Holds::One, schema) => complete_objects(schema, depth + 1),
            (Holds::List, Value::Array(list)) => {
                for schema in list {
                    complete_objects(schema, depth + 1);
                }
            }
            (Holds::Map, Value::Object(map)) => {
                for schema in map.values_mut() {
                    complete_objects(schema, depth + 1);
                }
            }
            _ => {}
        }
    }
}

/// Removes `"properties": {}` beside combinators. It has no meaning, and would prevent the branches from being merged.
fn is_empty_beside_parts(members: &Map<String, Value>, keyword: &str) -> bool {
    keyword == "properties"
        && members
            .get(keyword)
            .and_then(Value::as_object)
            .is_some_and(Map::is_empty)
        && ["$ref", "allOf", "anyOf", "oneOf"]
            .iter()
            .any(|part| members.contains_key(*part))
}

fn inlined(schema: &Value) -> Option<Value> {
    let dialect = schema.get("$schema").and_then(Value::as_str);
    if dialect.is_some_and(|name| !name.contains("json-schema.org/draft/2020-12/")) {
        return None;
    }
    let targets = targets(schema)?;
    let recursive = targets
        .keys()
        .copied()
        .filter(|reference| leads_back(reference, &targets))
        .collect();
    let mut rewrite = Rewrite {
        targets,
        recursive,
        names: HashMap::new(),
        todo: Vec::new(),
        nodes: 0,
    };
    let mut root = rewrite.root(schema)?;
    let mut kept = BTreeMap::new();
    while let Some((name, target)) = rewrite.todo.pop() {
        kept.insert(name, rewrite.schema(target, 0)?);
    }
    match &mut root {
        Value::Object(root) if !kept.is_empty() => {
            root.insert("$defs".to_owned(), json!(kept));
        }
        _ => {}
    }
    Some(root)
}

struct Rewrite<'v> {
    /// Targets of the references in the document.
    targets: HashMap<&'v str, &'v Value>,
    /// Recursive references, which cannot be inlined.
    recursive: HashSet<&'v str>,
    /// Names below `$defs` for recursive references.
    names: HashMap<&'v str, String>,
    /// Definitions that are still to be written.
    todo: Vec<(String, &'v Value)>,
    nodes: usize,
}

impl<'v> Rewrite<'v> {
    /// The root, of which clients expect `type` and `properties`: its own reference is inlined even if it recurses.
    fn root(&mut self, schema: &'v Value) -> Option<Value> {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let mut root = match reference.filter(|reference| self.recursive.contains(reference)) {
            Some(reference) => {
                let Value::Object(target) = self.schema(self.targets.get(reference)?, 0)? else {
                    return None;
                };
                let members = schema.as_object()?;
                let own = members.iter().filter(|(keyword, _)| {
                    !is_dropped(keyword)
                        && *keyword != "$ref"
                        && !is_empty_beside_parts(members, keyword)
                });
                let own: Map<String, Value> = own
                    .map(|(keyword, value)| (keyword.clone(), value.clone()))
                    .collect();
                if !own.keys().all(|keyword| is_annotation(keyword)) {
                    return None;
                }
                merged(target, own)
            }
            None => match self.schema(schema, 0)? {
                Value::Object(root) => root,
                _ => return None,
            },
        };
        merge_branches(&mut root);
        Some(root.into())
    }

    /// Returns `None` if the schema is too large, too deep, or not understood.
    fn schema(&mut self, schema: &'v Value, depth: usize) -> Option<Value> {
        self.nodes += 1;
        if MAX_NODES < self.nodes || MAX_DEPTH < depth {
            return None;
        }
        let members = match schema {
            Value::Bool(true) => return Some(json!({})),
            Value::Bool(false) => return Some(json!({"not": {}})),
            Value::Object(members) => members,
            _ => return None,
        };
        // The meaning of these depends on their position.
        let immovable = [
            "$dynamicRef",
            "$dynamicAnchor",
            "$recursiveRef",
            "$recursiveAnchor",
        ];
        if immovable
            .iter()
            .any(|keyword| members.contains_key(*keyword))
            || (0 < depth && (members.contains_key("$id") || members.contains_key("$schema")))
        {
            return None;
        }
        let mut out = Map::new();
        for (keyword, value) in members {
            let numeric = keyword == "format" && value.as_str().is_some_and(is_numeric_format);
            let skipped = numeric || is_dropped(keyword) || is_empty_beside_parts(members, keyword);
            if !skipped && keyword != "$ref" {
                out.insert(keyword.clone(), self.keyword(keyword, value, depth + 1)?);
            }
        }
        if let Some(reference) = members.get("$ref") {
            out = self.reference(reference.as_str()?, out, depth + 1)?;
        }
        Some(with_null_as_type(out).into())
    }

    fn keyword(&mut self, keyword: &str, value: &'v Value, depth: usize) -> Option<Value> {
        Some(match (holds(keyword, value), value) {
            // Booleans are common here, and all clients read them.
            (Holds::One, Value::Bool(_))
                if keyword.starts_with("additional") || keyword.starts_with("unevaluated") =>
            {
                value.clone()
            }
            (Holds::One, _) => self.schema(value, depth)?,
            (Holds::List, Value::Array(list)) => list
                .iter()
                .map(|schema| self.schema(schema, depth))
                .collect::<Option<Vec<Value>>>()?
                .into(),
            (Holds::Map, Value::Object(map)) => {
                let mut out = Map::new();
                for (name, schema) in map {
                    let names = keyword == "dependencies" && schema.is_array();
                    out.insert(
                        name.clone(),
                        if names {
                            schema.clone()
                        } else {
                            self.schema(schema, depth)?
                        },
                    );
                }
                out.into()
            }
            _ => value.clone(),
        })
    }

    fn reference(
        &mut self,
        reference: &str,
        own: Map<String, Value>,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let (&reference, &target) = self.targets.get_key_value(reference)?;
        let target = if self.recursive.contains(reference) {
            Map::from_iter([("$ref".to_owned(), self.keep(reference, target).into())])
        } else {
            match self.schema(target, depth)? {
                Value::Object(target) => target,
                _ => return None,
            }
        };
        if own.keys().all(|keyword| is_annotation(keyword)) {
            return Some(merged(target, own));
        }
        // `additionalProperties` beside a reference must not apply to properties of its target, and vice versa.
        let mut out = own;
        match out.get_mut("allOf") {
            Some(Value::Array(list)) => list.push(target.into()),
            _ => {
                out.insert("allOf".to_owned(), json!([target]));
            }
        }
        Some(out)
    }

    /// The place of a recursive target in the result.
    fn keep(&mut self, reference: &'v str, target: &'v Value) -> String {
        if reference == "#" {
            return reference.to_owned();
        }
        if let Some(name) = self.names.get(reference) {
            return format!("#/$defs/{name}");
        }
        let last = reference.rsplit('/').next().unwrap_or_default();
        let mut name: String = last
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
            .collect();
        while name.is_empty() || self.names.values().any(|other| *other == name) {
            name.push('_');
        }
        self.names.insert(reference, name.clone());
        self.todo.push((name.clone(), target));
        format!("#/$defs/{name}")
    }
}

/// Keywords that a rewritten schema omits: definitions move, and the dialect is the default.
fn is_dropped(keyword: &str) -> bool {
    matches!(
        keyword,
        "$schema" | "$id" | "$anchor" | "$comment" | "$defs" | "definitions"
    )
}

/// Every reference of the document and its target; `None` if a target is outside of the document or there are too many.
fn targets(root: &Value) -> Option<HashMap<&str, &Value>> {
    let mut targets = HashMap::new();
    let mut todo = vec![root];
    while let Some(schema) = todo.pop() {
        for reference in references(schema)? {
            if !targets.contains_key(reference) {
                let pointer = decode_fragment(reference.strip_prefix('#')?)?;
                let target = root.pointer(&pointer)?;
                targets.insert(reference, target);
                todo.push(target);
            }
        }
        if MAX_REFERENCES < targets.len() {
            return None;
        }
    }
    Some(targets)
}

/// The references in a schema and its subschemas; `None` if one is not a string.
fn references(schema: &Value) -> Option<HashSet<&str>> {
    let mut found = HashSet::new();
    let mut todo = vec![schema];
    while let Some(schema) = todo.pop() {
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            if keyword == "$ref" {
                found.insert(value.as_str()?);
            }
            match (holds(keyword, value), value) {
                (Holds::One, _) => todo.push(value),
                (Holds::List, Value::Array(list)) => todo.extend(list),
                (Holds::Map, Value::Object(map)) => todo.extend(map.values()),
                _ => {}
            }
        }
    }
    Some(found)
}

fn leads_back(start: &str, targets: &HashMap<&str, &Value>) -> bool {
    let mut seen = HashSet::new();
    let mut todo = vec![start];
    while let Some(reference) = todo.pop() {
        let Some(target) = targets.get(reference) else {
            continue;
        };
        for next in references(target).unwrap_or_default() {
            if next == start {
                return true;
            }
            if seen.insert(next) {
                todo.push(next);
            }
        }
    }
    false
}

fn without_numeric_formats(schema: &Value, depth: usize) -> Value {
    let Some(members) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
        return schema.clone();
    };
    let numeric = |keyword: &str, value: &Value| {
        keyword == "format" && value.as_str().is_some_and(is_numeric_format)
    };
    let below = |schema: &Value| without_numeric_formats(schema, depth + 1);
    let kept = members
        .iter()
        .filter(|(keyword, value)| !numeric(keyword, value));
    let rewritten = kept.map(|(keyword, value)| {
        let value = match (holds(keyword, value), value) {
            (Holds::One, _) => below(value),
            (Holds::List, Value::Array(list)) => list.iter().map(below).collect::<Vec<_>>().into(),
            (Holds::Map, Value::Object(map)) => map
                .iter()
                .map(|(name, schema)| (name.clone(), below(schema)))
                .collect::<Map<_, _>>()
                .into(),
            _ => value.clone(),
        };
        (keyword.clone(), value)
    });
    rewritten.collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: &Value, expected: &Value) {
        assert_eq!(portable(schema), *expected, "{schema}");
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
            &json!({"properties": {"a": {"type": ["object", "null"], "properties": {"x": {"type": "number"}}, "default": null}}}),
        );
        // Not the same without the branches.
        let fixed = json!({"anyOf": [{"type": "string", "const": "a"}, {"type": "null"}]});
        check(
            &json!({"properties": {"a": fixed}}),
            &json!({"properties": {"a": fixed}}),
        );
    }

    // Clients that refuse an object schema without `properties` do so at any depth.
    #[test]
    fn objects_have_properties() {
        check(
            &json!({"title": "T", "type": "object", "additionalProperties": false}),
            &json!({"title": "T", "type": "object", "properties": {}, "additionalProperties": false}),
        );
        assert_eq!(
            portable(&json!({"title": "T", "type": "object", "minProperties": 1})).to_string(),
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
            &json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": {"$ref": "#/definitions/A"}},
                "definitions": {"A": {"type": "object"}}}),
            &json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"a": {"$ref": "#/definitions/A"}},
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
        let rewritten = portable(&bomb);
        assert_eq!(rewritten["$ref"], "#/$defs/a30");
        assert_eq!(rewritten["$defs"]["a0"], json!({"type": "integer"}));
    }
}
