//! Inlines the references of a schema, so that it can be read without following any.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value, json};
use trueform_schema::pointer::decode_fragment;

use super::{
    dialect::is_default_dialect,
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

/// Returns `schema` without references, except for recursive ones, and with booleans as objects and the root's combinators merged. `None`
/// if moving subschemas is not safe, or if the result would be too large.
pub(super) fn inlined(schema: &Value) -> Option<Value> {
    if !is_default_dialect(schema) {
        return None;
    }
    let targets = targets(schema)?;
    let recursive = targets
        .keys()
        .copied()
        .filter(|reference| leads_back(reference, &targets))
        .collect();
    let mut rewrite = Rewrite {
        document: schema,
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
    document: &'v Value,
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
    /// Inlines the root, in which clients expect `type` and `properties`: its own reference is inlined even if it recurses.
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
            let skipped = is_dropped(keyword) || is_empty_beside_parts(members, keyword);
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

    /// Returns the place of a recursive target in the result.
    fn keep(&mut self, reference: &'v str, target: &'v Value) -> String {
        if std::ptr::eq(target, self.document) {
            return "#".to_owned();
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

/// Returns whether a rewritten schema omits the keyword: definitions move, and the dialect is the default.
fn is_dropped(keyword: &str) -> bool {
    matches!(
        keyword,
        "$schema" | "$id" | "$anchor" | "$comment" | "$defs" | "definitions"
    )
}

/// Returns every reference of the document and its target; `None` if a target is outside of the document or there are too many.
fn targets(root: &Value) -> Option<HashMap<&str, &Value>> {
    let mut targets = HashMap::new();
    let mut todo = vec![root];
    while let Some(schema) = todo.pop() {
        for reference in references(schema)? {
            if !targets.contains_key(reference) {
                let pointer = decode_fragment(own_fragment(root, reference)?)?;
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

/// Returns the fragment of a `reference` into the document `root`, which its own `$id` may name. `None` if it leads to another document.
pub(super) fn own_fragment<'r>(root: &Value, reference: &'r str) -> Option<&'r str> {
    let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let id = root.get("$id").and_then(Value::as_str);
    let id = id.map(|id| id.split_once('#').map_or(id, |(id, _)| id));
    (document.is_empty() || id == Some(document)).then_some(fragment)
}

/// Returns the references in a schema and its subschemas; `None` if one is not a string.
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
