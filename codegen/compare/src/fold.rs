//! Converts a schema to its shape.
//!
//! Follows references, folds `allOf` together, and reads a union of constants as an enum and a union of plain types as a
//! type list. Knows one schema and its document; compares nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::{
    document::{Document, is_idle},
    json,
    limits::{is_word, restrict},
    schema::{Place, Schema, is_nothing, place},
    shape::{Shape, Union},
};

/// The rules of one schema object for members.
struct Object<'a> {
    members: BTreeMap<&'a str, Schema<'a>>,
    patterns: BTreeMap<&'a str, Schema<'a>>,
    rest: Schema<'a>,
}

/// Keywords that interact within one schema. They can be compared one by one only if a single part has them.
const ENTANGLING: [&[&str]; 2] = [
    &["if", "then", "else"],
    &["contains", "minContains", "maxContains"],
];

impl<'a> Document<'a> {
    /// Returns the shape of `schema`, with references resolved.
    #[must_use]
    pub fn shape(&self, schema: impl Into<Schema<'a>>) -> Shape<'a> {
        let mut shape = Shape::default();
        let schema = schema.into();
        let mut seen = BTreeSet::new();
        let is_whole = schema.parts().len() == 1;
        for part in schema.parts() {
            self.fold(part, &mut shape, is_whole, &mut seen);
        }
        self.tidy(&mut shape);
        shape
    }

    /// Adds the rules of `schema`; `is_whole` if it is the only schema at this position.
    fn fold(
        &self,
        schema: &'a Value,
        into: &mut Shape<'a>,
        is_whole: bool,
        seen: &mut BTreeSet<Place>,
    ) {
        let members = match schema {
            _ if is_nothing(schema) => return into.allow_values(Vec::new()),
            Value::Object(members) => members,
            _ => return,
        };
        // The schema's own keywords come last, because its own annotations take priority.
        if let Some(value @ Value::String(reference)) = members.get("$ref") {
            match self.target(reference) {
                _ if self.is_free(schema) => {}
                Some(target) => {
                    if seen.insert(place(target)) {
                        self.fold(target, into, false, seen);
                    }
                }
                None => restrict(&mut into.limits, "$ref", value),
            }
        }
        for part in list(members, "allOf") {
            self.fold(part, into, false, seen);
        }
        for keyword in ["anyOf", "oneOf"] {
            match list(members, keyword) {
                [] => {}
                [one] => self.fold(one, into, false, seen),
                several => into.unions.push(Union {
                    alternatives: several.iter().map(|one| self.schema(one)).collect(),
                    is_exclusive: keyword == "oneOf",
                }),
            }
        }
        for group in ENTANGLING {
            let is_known = |keyword: &&&str| into.limits.contains_key(**keyword);
            if group.iter().any(|keyword| members.contains_key(*keyword))
                && let Some(keyword) = group.iter().find(is_known)
            {
                into.entangled = Some(keyword);
            }
        }
        self.object(members, into);
        self.array(members, into);
        for (keyword, value) in members {
            keyword_of(keyword, value, into);
        }
        self.unevaluated(members, into, is_whole);
    }

    /// Unevaluated members are those without a name here, unless a keyword that is not analysed names them.
    fn unevaluated(&self, schema: &'a Map<String, Value>, into: &mut Shape<'a>, is_whole: bool) {
        let rest = schema
            .get("unevaluatedProperties")
            .map(|rest| self.schema(rest));
        if let Some(rest) = rest.filter(|rest| !into.has_rest && !rest.is_anything()) {
            let is_simple = ["if", "dependentSchemas"]
                .iter()
                .all(|keyword| !into.limits.contains_key(*keyword));
            if is_whole
                && is_simple
                && into.unions.is_empty()
                && into.patterns.is_empty()
                && into.rest.is_anything()
            {
                into.rest = rest;
            } else {
                into.entangled = Some("unevaluatedProperties");
            }
        }
        let items = schema
            .get("unevaluatedItems")
            .map(|items| self.schema(items));
        if items.is_some_and(|items| !items.is_anything()) {
            into.entangled = Some("unevaluatedItems");
        }
    }

    fn object(&self, schema: &'a Map<String, Value>, into: &mut Shape<'a>) {
        let named = |keyword| -> BTreeMap<&'a str, Schema<'a>> {
            let members = schema.get(keyword).and_then(Value::as_object);
            let members = members.into_iter().flatten();
            members
                .map(|(name, member)| (name.as_str(), self.schema(member)))
                .collect()
        };
        let rest = schema.get("additionalProperties");
        into.has_rest |= rest.is_some();
        let object = Object {
            members: named("properties"),
            patterns: named("patternProperties"),
            rest: rest.map_or(Schema::anything(), |rest| self.schema(rest)),
        };
        let is_silent = |members: &BTreeMap<_, _>, patterns: &BTreeMap<_, _>, rest: &Schema<'_>| {
            members.is_empty() && patterns.is_empty() && rest.is_anything()
        };
        if is_silent(&object.members, &object.patterns, &object.rest) {
            return;
        }
        let is_first = is_silent(&into.members, &into.patterns, &into.rest);
        // The unnamed members of one part may match a pattern of another.
        let has_patterns = !object.patterns.is_empty() || !into.patterns.is_empty();
        if !is_first && has_patterns {
            into.entangled = Some("patternProperties");
        }
        into.named.extend(object.members.keys());
        for (name, member) in &mut into.members {
            member.and(object.members.get(name).unwrap_or(&object.rest));
        }
        for (name, mut member) in object.members {
            if !into.members.contains_key(name) {
                member.and(&into.rest);
                into.members.insert(name, member);
            }
        }
        into.patterns.extend(object.patterns);
        into.rest.and(&object.rest);
    }

    fn array(&self, schema: &'a Map<String, Value>, into: &mut Shape<'a>) {
        let one = |keyword| {
            let schema = schema.get(keyword);
            schema.map_or(Schema::anything(), |schema| self.schema(schema))
        };
        // Before 2020-12, a list in `items` meant `prefixItems`.
        let (prefix, items) = match (schema.get("prefixItems"), schema.get("items")) {
            (None, Some(Value::Array(prefix))) => (prefix.as_slice(), one("additionalItems")),
            (Some(Value::Array(prefix)), _) => (prefix.as_slice(), one("items")),
            _ => (&[][..], one("items")),
        };
        for i in into.prefix.len()..prefix.len() {
            into.prefix.insert(i, into.items.clone());
        }
        for (i, known) in into.prefix.iter_mut().enumerate() {
            match prefix.get(i) {
                Some(schema) => known.and(&self.schema(schema)),
                None => known.and(&items),
            }
        }
        into.items.and(&items);
    }

    fn tidy(&self, shape: &mut Shape<'a>) {
        let unions = std::mem::take(&mut shape.unions);
        for union in unions {
            if !self.flatten(&union, shape) {
                shape.unions.push(union);
            }
        }
        if let Some(values) = &mut shape.values {
            if let Some(types) = &shape.types {
                let is_legal =
                    |value: &&Value| types.iter().any(|ty| json::includes(ty, json::kind(value)));
                values.retain(is_legal);
            }
            shape.types = Some(values.iter().map(|value| json::kind(value)).collect());
        }
        if let Some(types) = &shape.types {
            if types.is_empty() {
                shape.values = Some(Vec::new());
            }
            let all = ["null", "boolean", "number", "string", "array", "object"];
            if all.iter().all(|ty| types.contains(ty)) {
                shape.types = None;
            }
        }
        // A required member that no `properties` names is still a member.
        for name in &shape.required {
            let members = &mut shape.members;
            members.entry(name).or_insert_with(|| shape.rest.clone());
        }
    }

    /// Reads a union of constants or of plain types as constants or types. Returns whether it was such a union.
    fn flatten(&self, union: &Union<'a>, shape: &mut Shape<'a>) -> bool {
        let Some(shapes) = (union.alternatives.iter())
            .map(|schema| self.leaf(schema))
            .collect::<Option<Vec<_>>>()
        else {
            return false;
        };
        if union.is_exclusive && !self.exclude_each_other(&shapes) {
            return false;
        }
        let finite = shapes.iter().map(Shape::finite).collect::<Option<Vec<_>>>();
        if let Some(values) = finite
            && shapes.iter().any(|shape| shape.values.is_some())
        {
            shape.allow_values(values.concat());
        } else if shapes
            .iter()
            .all(|shape| shape.types.is_some() && shape.values.is_none())
        {
            let types = shapes.iter().filter_map(|shape| shape.types.clone());
            shape.allow_types(types.flatten().collect());
        } else {
            return false;
        }
        for one in shapes.into_iter().filter(|one| !one.words.is_empty()) {
            shape.labels.insert(self.describe_kinds(&one), one.words);
        }
        true
    }

    /// Returns the shape of an alternative that consists of types or constants only.
    fn leaf(&self, schema: &Schema<'a>) -> Option<Shape<'a>> {
        let [part] = schema.parts() else {
            return None;
        };
        let members = part.as_object()?;
        let nested = ["$ref", "allOf", "anyOf", "oneOf"];
        if nested.iter().any(|keyword| members.contains_key(*keyword)) {
            return None;
        }
        Some(self.shape(*part)).filter(Shape::is_plain)
    }
}

fn keyword_of<'a>(keyword: &'a str, value: &'a Value, into: &mut Shape<'a>) {
    match (keyword, value) {
        ("type", Value::String(name)) => into.allow_types(BTreeSet::from([name.as_str()])),
        ("type", Value::Array(names)) => {
            into.allow_types(names.iter().filter_map(Value::as_str).collect());
        }
        ("const", value) => into.allow_values(vec![value]),
        ("enum", Value::Array(values)) => into.allow_values(values.iter().collect()),
        ("required", Value::Array(names)) => {
            into.required.extend(names.iter().filter_map(Value::as_str));
        }
        (word, value) if is_word(word) => _ = into.words.insert(word, value),
        (idle, _) if is_idle(idle) => {}
        (
            "$ref"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "properties"
            | "patternProperties"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "items"
            | "prefixItems"
            | "additionalItems",
            _,
        ) => {}
        (keyword, value) => restrict(&mut into.limits, keyword, value),
    }
}

fn list<'a>(schema: &'a Map<String, Value>, keyword: &str) -> &'a [Value] {
    let list = schema.get(keyword).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}
