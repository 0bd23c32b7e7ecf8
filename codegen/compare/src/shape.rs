//! A schema as the facts that a comparison is about, whatever way it was spelled.
//!
//! Follows references, folds `allOf` together, and reads a union of constants as an enum and a union of plain types as a
//! type list. Knows one schema and its document; compares nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use serde_json::{Map, Value, json};

use crate::{
    document::{Document, is_idle},
    json,
    limits::{Limits, Words, is_word, restrict},
    schema::{Place, Schema, is_nothing, place},
};

/// What one schema says.
#[derive(Clone, Debug, Default)]
pub struct Shape<'a> {
    /// Legal JSON types; `None` if all are.
    pub(crate) types: Option<BTreeSet<&'a str>>,
    /// Legal constants; `None` if not limited to some, empty if nothing is legal.
    pub(crate) values: Option<Vec<&'a Value>>,
    /// Words about single constants or types, by how these are written.
    pub(crate) labels: BTreeMap<String, Words<'a>>,
    pub(crate) members: BTreeMap<&'a str, Schema<'a>>,
    pub(crate) required: BTreeSet<&'a str>,
    /// What members of certain names must be as well, by pattern.
    pub(crate) patterns: BTreeMap<&'a str, Schema<'a>>,
    /// What members must be that nothing names.
    pub(crate) rest: Schema<'a>,
    /// What the first elements must be.
    pub(crate) prefix: Vec<Schema<'a>>,
    /// What all other elements must be.
    pub(crate) items: Schema<'a>,
    /// Each must be met.
    pub(crate) unions: Vec<Union<'a>>,
    /// Every other restriction.
    pub(crate) limits: Limits<'a>,
    pub(crate) words: Words<'a>,
    /// Whether something is said of members that nothing names, be it that they may be anything.
    has_rest: bool,
    /// A keyword that binds the parts of the schema together, so that they cannot be looked at one by one.
    pub(crate) entangled: Option<&'static str>,
}

/// Alternatives, of which one must hold.
#[derive(Clone, Debug)]
pub(crate) struct Union<'a> {
    pub(crate) alternatives: Vec<Schema<'a>>,
    /// Whether no second one may hold: `oneOf`.
    pub(crate) is_exclusive: bool,
}

impl<'a> Shape<'a> {
    /// What the member of this name must be; `None` if no schema names it.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Schema<'a>> {
        self.members.get(name)
    }

    /// Whether the member of this name must be present.
    #[must_use]
    pub fn requires(&self, name: &str) -> bool {
        self.required.contains(name)
    }

    /// The legal constants; `None` if not limited to some.
    #[must_use]
    pub fn values(&self) -> Option<&[&'a Value]> {
        self.values.as_deref()
    }

    /// The alternatives of a union; none if it is no union.
    pub fn alternatives(&self) -> impl Iterator<Item = &Schema<'a>> {
        self.unions.iter().flat_map(|union| &union.alternatives)
    }

    /// Whether any value of a JSON type may be legal.
    pub(crate) fn may_be(&self, kind: &str) -> bool {
        self.types.as_ref().is_none_or(|types| {
            types
                .iter()
                .any(|ty| json::includes(kind, ty) || json::includes(ty, kind))
        })
    }

    /// Whether no value is legal.
    pub(crate) fn is_nothing(&self) -> bool {
        self.values.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether members that nothing names are refused.
    pub(crate) fn is_closed(&self) -> bool {
        self.rest.parts().iter().any(|part| is_nothing(part))
    }

    /// Whether it is alternatives and, words aside, nothing else.
    pub(crate) fn is_union_only(&self) -> bool {
        self.unions.len() == 1 && self.types.is_none() && self.values.is_none() && self.is_bare()
    }

    /// Whether it has no restrictions but types, constants and alternatives.
    fn is_bare(&self) -> bool {
        self.members.is_empty()
            && self.required.is_empty()
            && self.patterns.is_empty()
            && self.rest.is_anything()
            && self.prefix.is_empty()
            && self.items.is_anything()
            && self.limits.is_empty()
            && self.entangled.is_none()
    }

    fn is_plain(&self) -> bool {
        self.unions.is_empty() && self.labels.is_empty() && self.is_bare()
    }

    /// The constants that are legal, if it says nothing else.
    pub(crate) fn finite(&self) -> Option<Vec<&'a Value>> {
        const NULL: &Value = &Value::Null;
        const FALSE: &Value = &Value::Bool(false);
        const TRUE: &Value = &Value::Bool(true);
        if let Some(values) = &self.values {
            return Some(values.clone());
        }
        let types = self.types.as_ref()?;
        let mut values = Vec::new();
        for ty in types {
            match *ty {
                "null" => values.push(NULL),
                "boolean" => values.extend([FALSE, TRUE]),
                _ => return None,
            }
        }
        Some(values)
    }

    /// Its types as alternatives, if it says nothing else and has several.
    pub(crate) fn types_apart(&self) -> Option<Vec<Schema<'a>>> {
        let types = self.types.as_ref().filter(|types| types.len() > 1)?;
        let is_types_only = self.values.is_none() && self.unions.is_empty() && self.is_bare();
        let one = |ty| TYPES.get(ty).map(Schema::from);
        is_types_only.then(|| types.iter().copied().map(one).collect())?
    }

    fn allow_types(&mut self, types: BTreeSet<&'a str>) {
        self.types = Some(match self.types.take() {
            None => types,
            Some(known) => {
                let both = |a: &BTreeSet<&'a str>, b: &BTreeSet<&'a str>| {
                    let is_in_b = |ty: &&&str| b.iter().any(|other| json::includes(other, ty));
                    a.iter().filter(is_in_b).copied().collect::<Vec<_>>()
                };
                [both(&known, &types), both(&types, &known)]
                    .concat()
                    .into_iter()
                    .collect()
            }
        });
    }

    fn allow_values(&mut self, values: Vec<&'a Value>) {
        match &mut self.values {
            None => self.values = Some(values),
            Some(known) => {
                known.retain(|value| values.iter().any(|other| json::equal(value, other)));
            }
        }
    }
}

/// A schema for each JSON type.
static TYPES: LazyLock<BTreeMap<&str, Value>> = LazyLock::new(|| {
    let types = [
        "null", "boolean", "integer", "number", "string", "array", "object",
    ];
    types.map(|ty| (ty, json!({ "type": ty }))).into()
});

/// What one schema object says of members.
struct Object<'a> {
    members: BTreeMap<&'a str, Schema<'a>>,
    patterns: BTreeMap<&'a str, Schema<'a>>,
    rest: Schema<'a>,
}

/// Keywords that work together within one schema, and so are only told apart where one part alone has them.
const ENTANGLING: [&[&str]; 2] = [
    &["if", "then", "else"],
    &["contains", "minContains", "maxContains"],
];

impl<'a> Document<'a> {
    /// What `schema` says, references followed.
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

    /// Adds what `schema` says; `is_whole` if nothing else does at this position.
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
        // What a schema says itself comes last: its words are the ones that count.
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
            let is_told = |keyword: &&&str| into.limits.contains_key(**keyword);
            if group.iter().any(|keyword| members.contains_key(*keyword))
                && let Some(keyword) = group.iter().find(is_told)
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

    /// Members that nothing evaluates are those that nothing names, unless what names them is not known here.
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
        // The rest of one part may be a pattern of another.
        let has_patterns = !object.patterns.is_empty() || !into.patterns.is_empty();
        if !is_first && has_patterns {
            into.entangled = Some("patternProperties");
        }
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
        // Before 2020-12, a list in `items` was what is `prefixItems` now.
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

    /// Reads a union of constants or of plain types as what it is. Answers whether it was one.
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

    /// The shape of an alternative that is nothing but types or constants.
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
