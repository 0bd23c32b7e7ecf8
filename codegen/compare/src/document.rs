//! A document with definitions, and the resolution of references in it.
//!
//! Resolves a `$ref` that is a JSON pointer into the same document. Other references, such as URIs and anchors, are unresolvable.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::{
    json,
    limits::{Words, is_word},
    schema::{Place, Schema, place},
};

/// A document in which references are resolved.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    root: &'a Value,
    free: &'static [&'static str],
}

/// A reference that cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unresolved {
    /// JSON pointer to the `$ref`.
    pub pointer: String,
    /// Value of the `$ref`.
    pub target: String,
}

/// Target of a schema that consists of a reference and annotations.
pub(crate) struct Resolved<'a> {
    /// The definition that it names, if it is a reference.
    pub(crate) name: Option<String>,
    /// The annotations beside the reference.
    pub(crate) words: Words<'a>,
    pub(crate) schema: Schema<'a>,
}

impl<'a> Document<'a> {
    /// Creates a document. `root` may be a single schema, with or without definitions, or only definitions.
    #[must_use]
    pub const fn new(root: &'a Value) -> Self {
        Self { root, free: &[] }
    }

    /// Treats the definitions with these names as "anything", whatever their content.
    #[must_use]
    pub const fn with_free(mut self, names: &'static [&'static str]) -> Self {
        self.free = names;
        self
    }

    /// Returns the definition of this name in `$defs` or `definitions`.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<&'a Value> {
        self.definitions()
            .find_map(|definitions| definitions.get(name))
    }

    /// Returns the names of all definitions, in their order.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.definitions().flat_map(Map::keys).map(String::as_str)
    }

    fn definitions(&self) -> impl Iterator<Item = &'a Map<String, Value>> {
        let root = self.root;
        ["$defs", "definitions"]
            .into_iter()
            .filter_map(|name| root.get(name)?.as_object())
    }

    /// Returns the first reference that cannot be resolved in this document.
    #[must_use]
    pub fn unresolved(&self) -> Option<Unresolved> {
        self.unresolved_below(self.root, "")
    }

    fn unresolved_below(&self, value: &Value, at: &str) -> Option<Unresolved> {
        let child = |token: &dyn std::fmt::Display| {
            let token = token.to_string().replace('~', "~0").replace('/', "~1");
            format!("{at}/{token}")
        };
        match value {
            Value::Object(members) => members.iter().find_map(|(name, value)| match value {
                // A property may be named `$ref`; then its value is a schema.
                Value::String(target) if name == "$ref" => {
                    self.target(target).is_none().then(|| Unresolved {
                        pointer: child(name),
                        target: target.clone(),
                    })
                }
                _ => self.unresolved_below(value, &child(name)),
            }),
            Value::Array(values) => values
                .iter()
                .enumerate()
                .find_map(|(i, value)| self.unresolved_below(value, &child(&i))),
            _ => None,
        }
    }

    /// Returns the target of a reference.
    pub(crate) fn target(&self, reference: &str) -> Option<&'a Value> {
        let pointer = reference.strip_prefix('#')?;
        self.root.pointer(pointer).or_else(|| {
            pointer
                .contains('%')
                .then(|| self.root.pointer(&percent_decoded(pointer)?))?
        })
    }

    pub(crate) fn is_free(&self, schema: &Value) -> bool {
        !self.free.is_empty()
            && definition_name(schema).is_some_and(|name| self.free.contains(&&*name))
    }

    /// Returns `schema` as a position; `anything` if it accepts everything.
    pub(crate) fn schema(&self, schema: &'a Value) -> Schema<'a> {
        match self.is_free(schema) {
            true => Schema::anything(),
            false => Schema::from(schema),
        }
    }

    /// Resolves `schema`.
    pub(crate) fn resolve(&self, mut schema: Schema<'a>) -> Resolved<'a> {
        schema.retain(|part| !self.is_free(part));
        let mut resolved = Resolved {
            name: None,
            words: BTreeMap::new(),
            schema,
        };
        let mut seen = BTreeSet::new();
        while let [part] = resolved.schema.parts()
            && let Some(members) = part.as_object()
            && let Some(reference) = members.get("$ref").and_then(Value::as_str)
            && let Some(target) = self.target(reference)
            && members
                .keys()
                .all(|name| name == "$ref" || is_word(name) || is_idle(name))
            && seen.insert(place(target))
        {
            for (name, value) in members.iter().filter(|(name, _)| is_word(name)) {
                resolved.words.entry(name).or_insert(value);
            }
            resolved.name.get_or_insert_with(|| name_of(reference));
            resolved.schema = self.schema(target);
        }
        resolved
    }

    /// Returns whether two values are equal in their documents, with references resolved.
    pub(crate) fn same(
        &self,
        value: &'a Value,
        other: &Document<'a>,
        others: &'a Value,
        following: bool,
    ) -> bool {
        let mut seen = BTreeSet::new();
        self.same_below(value, other, others, following, &mut seen)
    }

    fn same_below(
        &self,
        value: &'a Value,
        other: &Document<'a>,
        others: &'a Value,
        following: bool,
        seen: &mut BTreeSet<(Place, Place)>,
    ) -> bool {
        match (value, others) {
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len()
                    && (a.iter().zip(b)).all(|(a, b)| self.same_below(a, other, b, following, seen))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(name, a)| {
                        let Some(b) = b.get(name) else {
                            return false;
                        };
                        let (Some(to_a), Some(to_b)) = (a.as_str(), b.as_str()) else {
                            return self.same_below(a, other, b, following, seen);
                        };
                        if name != "$ref" {
                            return to_a == to_b;
                        }
                        self.same_target(to_a, other, to_b, following, seen)
                    })
            }
            (a, b) => json::equal(a, b),
        }
    }

    fn same_target(
        &self,
        to: &str,
        other: &Document<'a>,
        others: &str,
        following: bool,
        seen: &mut BTreeSet<(Place, Place)>,
    ) -> bool {
        match (self.target(to), other.target(others)) {
            _ if !following && to == others => true,
            (Some(a), Some(b)) => {
                !seen.insert((place(a), place(b))) || self.same_below(a, other, b, following, seen)
            }
            (None, None) => {
                // An anchor may be anywhere in the document, so the change may be anywhere too.
                to == others && (!to.starts_with('#') || self.root == other.root)
            }
            _ => false,
        }
    }
}

/// Returns the name of the definition that `schema` refers to; the whole reference if it is of another form.
pub(crate) fn definition_name(schema: &Value) -> Option<String> {
    schema.get("$ref").and_then(Value::as_str).map(name_of)
}

fn name_of(reference: &str) -> String {
    let name = ["#/$defs/", "#/definitions/"]
        .into_iter()
        .find_map(|start| reference.strip_prefix(start))
        .filter(|name| !name.contains('/'));
    match name {
        Some(name) => name.replace("~1", "/").replace("~0", "~"),
        None => reference.to_owned(),
    }
}

/// Keywords that are not compared at their own position.
pub(crate) fn is_idle(keyword: &str) -> bool {
    matches!(
        keyword,
        "$defs" | "definitions" | "$schema" | "$id" | "$anchor" | "$vocabulary"
    )
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |digit: &u8| char::from(*digit).to_digit(16);
                let byte = digit(high)? * 16 + digit(low)?;
                (u8::try_from(byte).ok()?, after)
            }
            (byte, after) => (*byte, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references() {
        let root = json!({
            "$defs": { "a/b": 1, "c d": 2, "deep": { "x": 3 } },
            "definitions": { "old": 4 },
            "properties": { "$ref": { "$ref": "#/$defs/a~1b" }, "a": [{ "$ref": "#x" }] },
        });
        let document = Document::new(&root);
        let at = |reference| document.target(reference).and_then(Value::as_i64);
        assert_eq!(at("#/$defs/a~1b"), Some(1));
        assert_eq!(at("#/$defs/c%20d"), Some(2));
        assert_eq!(at("#/$defs/deep/x"), Some(3));
        assert_eq!(at("#/$defs/no%"), None);
        assert_eq!(document.target("#"), Some(&root));
        assert_eq!(
            document.names().collect::<Vec<_>>(),
            ["a/b", "c d", "deep", "old"]
        );
        assert_eq!(
            document.unresolved(),
            Some(Unresolved {
                pointer: "/properties/a/0/$ref".into(),
                target: "#x".into()
            })
        );
        let name = |reference: &str| definition_name(&json!({ "$ref": reference }));
        assert_eq!(name("#/$defs/a~1b").as_deref(), Some("a/b"));
        assert_eq!(name("#/$defs/deep/x").as_deref(), Some("#/$defs/deep/x"));
        assert_eq!(definition_name(&root), None);
    }

    #[test]
    fn sameness_follows_references() {
        let tree = |leaf: &str, name: &str| {
            json!({ "not": { "$ref": format!("#/$defs/{name}") }, "$defs": { name:
                { "items": { "$ref": format!("#/$defs/{name}") }, "type": leaf } } })
        };
        let same = |a: &Value, b: &Value, following| {
            Document::new(a).same(&a["not"], &Document::new(b), &b["not"], following)
        };
        assert!(same(&tree("string", "A"), &tree("string", "B"), true));
        assert!(!same(&tree("string", "A"), &tree("array", "A"), true));
        assert!(same(&tree("string", "A"), &tree("array", "A"), false));
        let anchor = |other: u8| json!({ "not": { "$ref": "#x" }, "other": other });
        assert!(same(&anchor(1), &anchor(1), true));
        assert!(!same(&anchor(1), &anchor(2), true));
    }
}
