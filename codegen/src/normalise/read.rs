//! Reads the keywords of one schema.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
};

use serde_json::{Map, Value};

use super::{
    Array, DEEPEST, MOST_SCHEMAS, MOST_TEXT, Object, Schema, Text,
    combine::union,
    limits::{array, bounds, count, text},
};
use crate::problem::{Problem, child, referred};

const ANNOTATIONS: &[&str] = &[
    "$comment",
    "$id",
    "$schema",
    "contentEncoding",
    "contentMediaType",
    "default",
    "deprecated",
    "description",
    "examples",
    "title",
];

/// Keywords that the facts of an extension may list as unchecked: each of them only refuses further values.
pub(crate) const MAY_BE_UNCHECKED: &[&str] = &[
    "contains",
    "dependentRequired",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxContains",
    "maxProperties",
    "minContains",
    "minProperties",
    "multipleOf",
    "pattern",
    "propertyNames",
    "uniqueItems",
];

/// Keywords that combine schemas. Each is a separate part, to which the other keywords of its schema are added.
const COMBINING: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];

/// Returns the keywords that a schema of one JSON type may have.
fn keywords_of(ty: &str) -> Option<&'static [&'static str]> {
    Some(match ty {
        "null" | "boolean" => &[],
        "integer" => &["minimum", "maximum", "const", "format"],
        "number" => &["minimum", "maximum", "format"],
        "string" => &["format", "const", "enum", "minLength", "maxLength"],
        "array" => &["items", "minItems", "maxItems"],
        "object" => &[
            "properties",
            "required",
            "additionalProperties",
            "propertyNames",
        ],
        _ => return None,
    })
}

pub(super) struct Reader<'a> {
    pub(super) raw: &'a Map<String, Value>,
    pub(super) unchecked: &'a [String],
    /// How many schemas may still be read or copied.
    pub(super) left: Cell<usize>,
    /// How many bytes of their texts may still be read or copied.
    pub(super) text_left: Cell<usize>,
    pub(super) depth: Cell<usize>,
    /// The definitions through which `allOf` is being resolved.
    pub(super) opened: RefCell<Vec<String>>,
}

impl Reader<'_> {
    /// Counts `schemas` against the limit.
    pub(super) fn spend(&self, schemas: usize, at: &str) -> Result<(), Problem> {
        match self.left.get().checked_sub(schemas) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(Problem::at(
                at,
                format!(
                    "the file expands to more than {MOST_SCHEMAS} schemas here; `allOf` copies what it refers to"
                ),
            )),
        }
    }

    /// Counts `bytes` of text against the limit.
    pub(super) fn spend_text(&self, bytes: usize, at: &str) -> Result<(), Problem> {
        match self.text_left.get().checked_sub(bytes) {
            Some(left) => {
                self.text_left.set(left);
                Ok(())
            }
            None => Err(Problem::at(
                at,
                format!(
                    "the names and strings of the file expand to more than {MOST_TEXT} bytes here, counted with 32 bytes more for each; \
                     `allOf` copies what it refers to"
                ),
            )),
        }
    }

    /// Runs `inside` one level deeper.
    pub(super) fn deeper<T>(
        &self,
        at: &str,
        inside: impl FnOnce() -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        if DEEPEST <= self.depth.get() {
            return Err(Problem::at(
                at,
                format!(
                    "more than {DEEPEST} schemas lie inside each other here, with those that `allOf` refers to"
                ),
            ));
        }
        self.depth.set(self.depth.get() + 1);
        let result = inside();
        self.depth.set(self.depth.get() - 1);
        result
    }

    pub(super) fn read(&self, value: &Value, at: &str) -> Result<Schema, Problem> {
        self.spend(1, at)?;
        match value {
            Value::Bool(true) => Ok(Schema::Any),
            Value::Bool(false) => Ok(Schema::Never),
            Value::Object(map) => {
                self.spend_text(own_text(map), at)?;
                self.deeper(at, || self.keywords(map, at))
            }
            _ => Err(Problem::at(at, "a schema must be an object or a boolean")),
        }
    }

    fn keywords(&self, map: &Map<String, Value>, at: &str) -> Result<Schema, Problem> {
        let keywords: BTreeSet<&str> = map
            .keys()
            .map(String::as_str)
            .filter(|keyword| !ANNOTATIONS.contains(keyword))
            .filter(|keyword| !self.unchecked.iter().any(|unchecked| unchecked == keyword))
            .collect();
        if keywords.is_empty() {
            return Ok(Schema::Any);
        }
        if let Some(not) = map.get("not") {
            if keywords.len() != 1 {
                let message = "`not` beside other keywords is not supported";
                return Err(Problem::at(child(at, "not"), message));
            }
            return match self.read(not, &child(at, "not"))? {
                Schema::Any => Ok(Schema::Never),
                _ => Err(Problem::at(child(at, "not"), "only `not: {}` is supported")),
            };
        }
        let mut parts = Vec::new();
        let combining = COMBINING
            .iter()
            .filter(|keyword| map.contains_key(**keyword));
        for keyword in combining {
            let value = &map[*keyword];
            let at = child(at, keyword);
            match *keyword {
                "$ref" => parts.push(self.reference(value, &at)?),
                "allOf" => {
                    for (i, part) in array(value, &at)?.iter().enumerate() {
                        parts.push(self.read(part, &child(&at, i))?);
                    }
                }
                keyword => parts.push(self.alternatives(keyword, value, &at)?),
            }
        }
        if parts.is_empty() {
            return self.typed(map, &keywords, at);
        }
        let beside: BTreeSet<&str> = keywords
            .iter()
            .copied()
            .filter(|keyword| !COMBINING.contains(keyword))
            .collect();
        if !beside.is_empty() {
            parts.push(self.typed(map, &beside, at)?);
        }
        if let [_] = &*parts {
            return Ok(parts.remove(0));
        }
        let impossible = parts.contains(&Schema::Never);
        let mut all = Schema::Any;
        for part in parts {
            all = self.intersect(all, part, at)?;
        }
        match all {
            Schema::Never if !impossible => Err(Problem::at(
                at,
                "these parts cannot be combined: no value satisfies all of them",
            )),
            all => Ok(all),
        }
    }

    /// Returns the union of the members of `anyOf` or `oneOf`.
    fn alternatives(&self, keyword: &str, value: &Value, at: &str) -> Result<Schema, Problem> {
        let members = array(value, at)?
            .iter()
            .enumerate()
            .map(|(i, member)| self.read(member, &child(at, i)))
            .collect::<Result<Vec<_>, _>>()?;
        // `oneOf` refuses a value that two equal members allow.
        let repeated = (0..members.len())
            .filter(|_| keyword == "oneOf")
            .find(|i| members[..*i].contains(&members[*i]));
        if let Some(i) = repeated {
            return Err(Problem::at(
                child(at, i),
                "this member of `oneOf` equals an earlier one, so neither allows a value",
            ));
        }
        match union(members) {
            Schema::Never => Err(Problem::at(
                at,
                format!("`{keyword}` has no member that allows a value"),
            )),
            union => Ok(union),
        }
    }

    /// Reads a schema by its `type`, with `keywords`.
    fn typed(
        &self,
        map: &Map<String, Value>,
        keywords: &BTreeSet<&str>,
        at: &str,
    ) -> Result<Schema, Problem> {
        let types: Vec<&str> = match map.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) if !several.is_empty() => several
                .iter()
                .enumerate()
                .map(|(i, one)| {
                    let at = child(&child(at, "type"), i);
                    one.as_str()
                        .ok_or_else(|| Problem::at(at, "`type` must hold names of types"))
                })
                .collect::<Result<_, _>>()?,
            Some(_) => {
                return Err(Problem::at(
                    child(at, "type"),
                    "`type` must be the name of a type, or an array of them",
                ));
            }
            None if map.contains_key("properties") => vec!["object"],
            None if map.contains_key("const") || map.contains_key("enum") => vec!["string"],
            None => {
                // If the bindings do not have a keyword, that is the better reason.
                if let Some(keyword) = keywords.iter().find(|keyword| !is_supported(keyword)) {
                    return Err(unsupported(keyword, at));
                }
                return Err(Problem::at(at, "a schema needs `type`, `$ref` or a union"));
            }
        };
        let mut allowed = vec!["type"];
        for (i, ty) in types.iter().enumerate() {
            let Some(keywords) = keywords_of(ty) else {
                return Err(Problem::at(
                    child(at, "type"),
                    format!("unknown type `{ty}`"),
                ));
            };
            if types[..i].contains(ty) {
                let message = format!("the type `{ty}` is named twice");
                return Err(Problem::at(child(at, "type"), message));
            }
            allowed.extend(keywords);
        }
        allow(keywords, &allowed, at)?;
        if let (Some(keyword), true) = (
            ["const", "enum"]
                .iter()
                .find(|keyword| map.contains_key(**keyword)),
            types.len() != 1,
        ) {
            let message = format!("`{keyword}` is supported with a single `type` only");
            return Err(Problem::at(child(at, keyword), message));
        }
        let mut members = Vec::new();
        for ty in types {
            members.push(match ty {
                "null" => Schema::Null,
                "boolean" => Schema::Bool,
                "integer" => Schema::Integer(bounds(map, at)?),
                "number" => Schema::Number(bounds(map, at)?),
                "string" => Schema::String(text(map, at)?),
                "array" => {
                    let items = match map.get("items") {
                        Some(items) => self.read(items, &child(at, "items"))?,
                        None => Schema::Any,
                    };
                    Schema::Array(Box::new(Array {
                        items,
                        min_items: count(map, "minItems", at)?,
                        max_items: count(map, "maxItems", at)?,
                    }))
                }
                _ => Schema::Object(Box::new(self.object(map, at)?)),
            });
        }
        Ok(union(members))
    }

    fn reference(&self, target: &Value, at: &str) -> Result<Schema, Problem> {
        let name = target.as_str().and_then(referred);
        let name =
            name.ok_or_else(|| Problem::at(at, "only references to `#/$defs/NAME` are supported"))?;
        if !self.raw.contains_key(&name) {
            return Err(Problem::at(at, format!("there is no definition `{name}`")));
        }
        Ok(Schema::Ref(name))
    }

    fn object(&self, map: &Map<String, Value>, at: &str) -> Result<Object, Problem> {
        if let Some(names) = map.get("propertyNames")
            && !self
                .unchecked
                .iter()
                .any(|keyword| keyword == "propertyNames")
        {
            let at = child(at, "propertyNames");
            match self.read(names, &at)? {
                Schema::Any => {}
                // The name of a member is always a string.
                Schema::String(text) if text == Text::default() => {}
                _ => return Err(unsupported_at("propertyNames", at)),
            }
        }
        let mut properties = BTreeMap::new();
        if let Some(raw) = map.get("properties") {
            let at = child(at, "properties");
            let raw = raw
                .as_object()
                .ok_or_else(|| Problem::at(&*at, "`properties` must be an object"))?;
            for (name, value) in raw {
                properties.insert(name.clone(), self.read(value, &child(&at, name))?);
            }
        }
        let additional = match map.get("additionalProperties") {
            Some(schema) => self.read(schema, &child(at, "additionalProperties"))?,
            None => Schema::Any,
        };
        if !properties.is_empty() && !matches!(additional, Schema::Any | Schema::Never) {
            let message = "typed `additionalProperties` beside `properties` is not supported";
            return Err(Problem::at(child(at, "additionalProperties"), message));
        }
        let mut required = BTreeSet::new();
        if let Some(names) = map.get("required") {
            let at = child(at, "required");
            for (i, name) in array(names, &at)?.iter().enumerate() {
                let at = child(&at, i);
                let Some(name) = name.as_str() else {
                    return Err(Problem::at(at, "`required` must hold names of members"));
                };
                // The schema of the other members describes a member that is only required.
                if !properties.contains_key(name) {
                    if additional == Schema::Never {
                        let message = format!(
                            "`{name}` is required, but `additionalProperties` allows only the members in `properties`"
                        );
                        return Err(Problem::at(at, message));
                    }
                    if properties.is_empty() && additional != Schema::Any {
                        let message =
                            "`required` beside a typed `additionalProperties` is not supported";
                        return Err(Problem::at(at, message));
                    }
                    properties.insert(name.to_owned(), additional.clone());
                }
                required.insert(name.to_owned());
            }
        }
        for (name, schema) in &properties {
            possible(name, schema, || child(&child(at, "properties"), name))?;
        }
        Ok(Object {
            properties,
            required,
            additional,
        })
    }
}

/// Returns the size of `text`: its bytes, and a fixed number beside them.
pub(super) fn text_size(text: &str) -> usize {
    text.len() + 32
}

/// Returns the bytes of the names and strings that the keywords of `map` hold themselves. Annotations are not read.
fn own_text(map: &Map<String, Value>) -> usize {
    map.iter()
        .filter(|(keyword, _)| !ANNOTATIONS.contains(&keyword.as_str()))
        .map(|(_, value)| match value {
            Value::String(text) => text_size(text),
            Value::Array(items) => items.iter().filter_map(Value::as_str).map(text_size).sum(),
            Value::Object(members) => members.keys().map(|name| text_size(name)).sum(),
            _ => 0,
        })
        .sum()
}

/// Checks that `keywords` are all among those `allowed`.
fn allow(keywords: &BTreeSet<&str>, allowed: &[&str], at: &str) -> Result<(), Problem> {
    match keywords.iter().find(|keyword| !allowed.contains(keyword)) {
        Some(keyword) => Err(unsupported(keyword, at)),
        None => Ok(()),
    }
}

fn is_supported(keyword: &str) -> bool {
    let types = ["integer", "number", "string", "array", "object"];
    keyword == "type"
        || types
            .iter()
            .filter_map(|ty| keywords_of(ty))
            .flatten()
            .any(|known| *known == keyword)
}

fn unsupported(keyword: &str, at: &str) -> Problem {
    unsupported_at(keyword, child(at, keyword))
}

fn unsupported_at(keyword: &str, at: String) -> Problem {
    let advice = match MAY_BE_UNCHECKED.contains(&keyword) {
        true => format!(
            ": the bindings do not check it; they accept the values that it refuses if the facts say `unchecked = [{keyword:?}]`"
        ),
        false => String::new(),
    };
    Problem::at(
        at,
        format!("keyword `{keyword}` is not supported here{advice}"),
    )
}

/// Refuses a member that no value can have; `place` is the pointer to it.
pub(super) fn possible(
    name: &str,
    schema: &Schema,
    place: impl Fn() -> String,
) -> Result<(), Problem> {
    match schema {
        Schema::Never => Err(Problem::at(
            place(),
            format!(
                "the member `{name}` allows no value; the bindings cannot demand that a member is absent"
            ),
        )),
        _ => Ok(()),
    }
}
