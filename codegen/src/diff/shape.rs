//! A schema as the facts that a comparison is about, whatever way it was spelled.
//!
//! Follows references, folds `allOf` together, and reads a union of constants as an enum and a union of plain types as a
//! type list. Knows one schema and its document; compares nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::problem::{Problem, child};

/// A document whose references all resolve.
#[derive(Debug)]
pub(super) struct Document<'a> {
    definitions: Option<&'a Map<String, Value>>,
}

impl<'a> Document<'a> {
    pub(super) fn new(document: &'a Value) -> Result<Self, Problem> {
        match document.get("$defs").and_then(Value::as_object) {
            Some(_) => Self::of_schema(document),
            None => Err(Problem::at(
                "",
                "no `$defs`: not a schema file in normal form",
            )),
        }
    }

    pub(super) fn of_schema(schema: &'a Value) -> Result<Self, Problem> {
        let document = Document {
            definitions: schema.get("$defs").and_then(Value::as_object),
        };
        document.check(schema, "")?;
        Ok(document)
    }

    fn check(&self, value: &Value, at: &str) -> Result<(), Problem> {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    let here = child(at, key);
                    match value {
                        // A property may be named `$ref`; then its value is a schema.
                        Value::String(target) if key == "$ref" => {
                            let known = reference_name(target)
                                .is_some_and(|name| self.definition(&name).is_some());
                            if !known {
                                return Err(Problem::at(
                                    here,
                                    format!("`{target}` is not defined in this file"),
                                ));
                            }
                        }
                        _ => self.check(value, &here)?,
                    }
                }
                Ok(())
            }
            Value::Array(values) => values
                .iter()
                .enumerate()
                .try_for_each(|(i, value)| self.check(value, &child(at, i))),
            _ => Ok(()),
        }
    }

    pub(super) fn definition(&self, name: &str) -> Option<&'a Value> {
        self.definitions?.get(name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.definitions
            .into_iter()
            .flat_map(Map::keys)
            .map(String::as_str)
    }

    /// What `schema` says, references followed.
    pub(super) fn shape(&self, schema: &'a Value) -> Shape<'a> {
        let mut shape = Shape::default();
        self.fold(schema, &mut shape, &mut BTreeSet::new());
        shape.tidy(self);
        shape
    }

    fn fold(&self, schema: &'a Value, into: &mut Shape<'a>, seen: &mut BTreeSet<String>) {
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(false) => {
                into.values = Some(Vec::new());
                return;
            }
            _ => return,
        };
        if let Some(name) = reference(schema)
            && !is_free(&name)
            && seen.insert(name.clone())
            && let Some(target) = self.definition(&name)
        {
            self.fold(target, into, seen);
        }
        for (keyword, value) in members {
            self.keyword(keyword, value, into, seen);
        }
    }

    fn keyword(
        &self,
        keyword: &'a str,
        value: &'a Value,
        into: &mut Shape<'a>,
        seen: &mut BTreeSet<String>,
    ) {
        match (keyword, value) {
            ("$ref" | "$defs" | "$schema", _) => {}
            ("type", Value::String(name)) => into.types = Some(BTreeSet::from([name.as_str()])),
            ("type", Value::Array(names)) => {
                into.types = Some(names.iter().filter_map(Value::as_str).collect())
            }
            ("const", value) => into.values = Some(vec![value]),
            ("enum", Value::Array(values)) => into.values = Some(values.iter().collect()),
            ("properties", Value::Object(members)) => into
                .members
                .extend(members.iter().map(|(k, v)| (k.as_str(), v))),
            ("required", Value::Array(names)) => {
                into.required.extend(names.iter().filter_map(Value::as_str))
            }
            ("additionalProperties", value) => {
                into.rest = Some(value).filter(|value| !self.is_anything(value))
            }
            ("items", value) => into.items = Some(value).filter(|value| !self.is_anything(value)),
            ("allOf", Value::Array(parts)) => {
                parts.iter().for_each(|part| self.fold(part, into, seen))
            }
            ("anyOf" | "oneOf", Value::Array(alternatives)) => {
                into.alternatives.extend(alternatives)
            }
            (keyword, value) => _ = into.limits.insert(keyword, value),
        }
    }

    fn is_anything(&self, schema: &Value) -> bool {
        match schema {
            Value::Bool(anything) => *anything,
            Value::Object(members) if members.is_empty() => true,
            _ => reference(schema).is_some_and(|name| is_free(&name)),
        }
    }

    /// A short name for `schema`: the definition it refers to, or its type.
    pub(super) fn describe(&self, schema: &'a Value) -> String {
        match reference(schema) {
            Some(name) => name,
            None => self.shape(schema).describe(self),
        }
    }
}

/// What one schema says.
#[derive(Debug, Default)]
pub(super) struct Shape<'a> {
    /// Legal JSON types; `None` if all are.
    pub(super) types: Option<BTreeSet<&'a str>>,
    /// Legal constants; `None` if not limited to some, empty if nothing is legal.
    pub(super) values: Option<Vec<&'a Value>>,
    pub(super) members: BTreeMap<&'a str, &'a Value>,
    pub(super) required: BTreeSet<&'a str>,
    /// What members without a name of their own must be; `None` if anything.
    pub(super) rest: Option<&'a Value>,
    /// What elements must be; `None` if anything.
    pub(super) items: Option<&'a Value>,
    /// Alternatives, of which one must hold; empty if it is no union.
    pub(super) alternatives: Vec<&'a Value>,
    /// Every other keyword.
    pub(super) limits: BTreeMap<&'a str, &'a Value>,
}

impl<'a> Shape<'a> {
    fn tidy(&mut self, document: &Document<'a>) {
        // A required member that no `properties` names is still a member.
        const ANYTHING: &Value = &Value::Bool(true);
        for name in &self.required {
            self.members.entry(name).or_insert(ANYTHING);
        }
        if self.types.is_none()
            && let Some(values) = &self.values
        {
            self.types = Some(values.iter().map(|value| kind(value)).collect());
        }
        if self.alternatives.is_empty() {
            return;
        }
        let inline =
            |schema: &&'a Value| reference(schema).is_none().then(|| document.shape(schema));
        let Some(shapes) = self
            .alternatives
            .iter()
            .map(inline)
            .collect::<Option<Vec<_>>>()
        else {
            return;
        };
        if shapes.iter().all(|shape| {
            shape.values.is_some() && shape.alternatives.is_empty() && shape.members.is_empty()
        }) {
            self.values = Some(
                shapes
                    .iter()
                    .filter_map(|shape| shape.values.clone())
                    .flatten()
                    .collect(),
            );
            self.types = shapes
                .iter()
                .map(|shape| shape.types.clone())
                .collect::<Option<Vec<_>>>()
                .map(|t| t.into_iter().flatten().collect());
            self.alternatives.clear();
        } else if shapes.iter().all(Shape::is_plain) {
            self.types = Some(
                shapes
                    .iter()
                    .filter_map(|shape| shape.types.clone())
                    .flatten()
                    .collect(),
            );
            self.alternatives.clear();
        }
    }

    fn is_plain(&self) -> bool {
        self.types.is_some()
            && self.values.is_none()
            && self.members.is_empty()
            && self.rest.is_none()
            && self.items.is_none()
            && self.alternatives.is_empty()
            && self.limits.is_empty()
    }

    /// Whether members without a name of their own are refused.
    pub(super) fn is_closed(&self) -> bool {
        self.rest.is_some_and(|rest| match rest {
            Value::Bool(anything) => !anything,
            // Some generators have no other way to say `false`.
            Value::Object(members) => {
                members.len() == 1
                    && members
                        .get("not")
                        .is_some_and(|not| not == &Value::Object(Map::new()))
            }
            _ => false,
        })
    }

    pub(super) fn describe(&self, document: &Document<'a>) -> String {
        if !self.alternatives.is_empty() {
            return self
                .alternatives
                .iter()
                .map(|schema| document.describe(schema))
                .collect::<Vec<_>>()
                .join(" | ");
        }
        match &self.values {
            Some(values) if values.is_empty() => return "nothing".into(),
            Some(values) => {
                return values
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(" | ");
            }
            None => {}
        }
        let Some(types) = &self.types else {
            return "any JSON".into();
        };
        let one = |name: &&str| match (*name, self.items, self.rest) {
            ("array", Some(items), _) => format!("array of {}", document.describe(items)),
            ("object", _, Some(rest)) if self.members.is_empty() && !self.is_closed() => {
                format!("map of {}", document.describe(rest))
            }
            ("object", _, _) if !self.members.is_empty() => self.describe_object(document),
            (name, _, _) => name.to_owned(),
        };
        types.iter().map(one).collect::<Vec<_>>().join(" | ")
    }

    /// Inline objects are told apart by what they hold constant, as readers of them do.
    fn describe_object(&self, document: &Document<'a>) -> String {
        let constant = |(name, schema): (&&'a str, &&'a Value)| match document
            .shape(schema)
            .values?
            .as_slice()
        {
            [value] => Some(format!("{name} {value}")),
            _ => None,
        };
        let constants: Vec<String> = self.members.iter().filter_map(constant).collect();
        match constants.is_empty() {
            true => "object".to_owned(),
            false => format!("object with {}", constants.join(", ")),
        }
    }
}

/// The JSON type of a constant.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The definition that `schema` refers to.
pub(super) fn reference(schema: &Value) -> Option<String> {
    schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(reference_name)
}

fn reference_name(target: &str) -> Option<String> {
    Some(
        target
            .strip_prefix("#/$defs/")?
            .replace("~1", "/")
            .replace("~0", "~"),
    )
}

/// The specification's own word for "any JSON". Its official definition forgets two kinds of JSON, which is a fault of the
/// file and not a limit.
fn is_free(name: &str) -> bool {
    name == "JSONValue"
}
