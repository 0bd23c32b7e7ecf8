//! Two JSON Schemas at one position of a tool: what changed, and whether it lets more or less through.
//!
//! Knows the vocabulary of 2020-12 that tools use. What it does not know it reports as changed, which is the safe side. It is
//! a small one of its own: the comparison in the code generator is of protocol schemas in normal form, and the runtime does
//! not depend on it.

use std::{collections::BTreeSet, sync::LazyLock};

use serde_json::{Map, Value};

use super::{Change, Impact, shortened};

/// Which way values of a schema travel, seen from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// Arguments.
    In,
    /// Results.
    Out,
}

/// What a change does to the set of legal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Narrows,
    Widens,
    /// Some values come, some go.
    Moves,
    /// Values stay legal but mean nothing any more.
    Forgets,
    /// The values are the same; words about them are not.
    Words(Impact),
}

impl Effect {
    fn impact(self, flow: Flow) -> Impact {
        match (self, flow) {
            (Self::Words(impact), _) => impact,
            (Self::Narrows, Flow::Out) | (Self::Widens, Flow::In) => Impact::Additive,
            (Self::Widens, Flow::Out) | (Self::Forgets, Flow::In) => Impact::Risky,
            (Self::Narrows, Flow::In) | (Self::Moves, _) | (Self::Forgets, Flow::Out) => {
                Impact::Breaking
            }
        }
    }
}

/// What changed between two schemas of `tool`.
pub(super) fn changes(before: &Value, after: &Value, flow: Flow, tool: &str) -> Vec<Change> {
    let mut compare = Compare {
        roots: (before, after),
        flow,
        tool,
        followed: BTreeSet::new(),
        changes: Vec::new(),
    };
    compare.position("", before, after);
    compare.changes
}

struct Compare<'a> {
    roots: (&'a Value, &'a Value),
    flow: Flow,
    tool: &'a str,
    /// References that are being followed, or were: each pair is told once, and recursion ends.
    followed: BTreeSet<(String, String)>,
    changes: Vec<Change>,
}

/// The schema of everything.
static ANYTHING: Value = Value::Bool(true);

/// Keywords of bounds from below and above.
const LOWER: [&str; 6] = [
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
    "minContains",
];
const UPPER: [&str; 6] = [
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
    "maxContains",
];
/// Keywords that are looked at on their own, or hold nothing to compare.
const APART: [&str; 15] = [
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "$ref",
    "$defs",
    "definitions",
    "$schema",
    "$id",
    "anyOf",
    "oneOf",
    "allOf",
];

impl<'a> Compare<'a> {
    fn add(&mut self, path: &str, effect: Effect, message: impl Into<String>) {
        let what = match (self.flow, path) {
            (Flow::In, "") => ", arguments".to_owned(),
            (Flow::Out, "") => ", result".to_owned(),
            (Flow::In, path) => format!(", argument `{path}`"),
            (Flow::Out, path) => format!(", result `{path}`"),
        };
        let place = format!("{}{what}", self.tool);
        self.changes.push(Change {
            impact: effect.impact(self.flow),
            place,
            message: message.into(),
        });
    }

    /// `path` is the property below which it is, such as `a.b[].c`.
    fn position(&mut self, path: &str, before: &'a Value, after: &'a Value) {
        let (before_target, before) = follow(self.roots.0, before);
        let (after_target, after) = follow(self.roots.1, after);
        if before_target.is_some() || after_target.is_some() {
            let pair = (
                before_target.unwrap_or_else(|| path.to_owned()),
                after_target.unwrap_or_else(|| path.to_owned()),
            );
            if !self.followed.insert(pair) {
                return;
            }
        } else if before == after && !holds_reference(before) {
            return;
        }
        let (before, after) = match (before, after) {
            (Value::Bool(false), Value::Bool(false)) => return,
            (Value::Bool(false), _) => return self.add(path, Effect::Widens, "it is allowed now"),
            (_, Value::Bool(false)) => {
                return self.add(path, Effect::Narrows, "it is no longer allowed");
            }
            (before, after) => (members(before), members(after)),
        };
        self.types(path, before, after);
        self.values(path, before, after);
        self.properties(path, before, after);
        for keyword in ["items", "additionalProperties"] {
            let below = format!("{path}{}", if keyword == "items" { "[]" } else { "{}" });
            match (before.get(keyword), after.get(keyword)) {
                // Absent means anything.
                (None | Some(Value::Bool(true)), None | Some(Value::Bool(true))) => {}
                (before, after) => self.position(
                    &below,
                    before.unwrap_or(&ANYTHING),
                    after.unwrap_or(&ANYTHING),
                ),
            }
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            self.alternatives(path, keyword, before.get(keyword), after.get(keyword));
        }
        self.others(path, before, after);
    }

    fn types(&mut self, path: &str, before: &Map<String, Value>, after: &Map<String, Value>) {
        let (old, new) = (types(before), types(after));
        let covers =
            |wide: &Option<BTreeSet<&str>>, narrow: &Option<BTreeSet<&str>>| match (wide, narrow) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(wide), Some(narrow)) => narrow
                    .iter()
                    .all(|ty| wide.contains(ty) || (*ty == "integer" && wide.contains("number"))),
            };
        let effect = match (covers(&new, &old), covers(&old, &new)) {
            (true, true) => return,
            (true, false) => Effect::Widens,
            (false, true) => Effect::Narrows,
            (false, false) => Effect::Moves,
        };
        let verb = match effect {
            Effect::Widens => "widened",
            Effect::Narrows => "narrowed",
            _ => "changed",
        };
        let shown = |types: &Option<BTreeSet<&str>>| match types {
            None => "anything".to_owned(),
            Some(types) => types.iter().copied().collect::<Vec<_>>().join(" | "),
        };
        self.add(
            path,
            effect,
            format!(
                "the type is {verb} from `{}` to `{}`",
                shown(&old),
                shown(&new)
            ),
        );
    }

    fn values(&mut self, path: &str, before: &Map<String, Value>, after: &Map<String, Value>) {
        match (values(before), values(after)) {
            (None, None) => {}
            (None, Some(_)) => self.add(path, Effect::Narrows, "only certain values are legal now"),
            (Some(_), None) => {
                self.add(path, Effect::Widens, "the values are no longer restricted")
            }
            (Some(before), Some(after)) => {
                for value in before.iter().filter(|value| !after.contains(value)) {
                    self.add(
                        path,
                        Effect::Narrows,
                        format!("the value {} is gone", shortened(value)),
                    );
                }
                for value in after.iter().filter(|value| !before.contains(value)) {
                    self.add(
                        path,
                        Effect::Widens,
                        format!("the value {} is new", shortened(value)),
                    );
                }
            }
        }
    }

    fn properties(
        &mut self,
        path: &str,
        before: &'a Map<String, Value>,
        after: &'a Map<String, Value>,
    ) {
        let properties =
            |schema: &'a Map<String, Value>| schema.get("properties").map_or(&*NOTHING, members);
        let (old, new) = (properties(before), properties(after));
        let (must, must_now) = (required(before), required(after));
        let is_closed = |schema: &Map<String, Value>| {
            schema.get("additionalProperties") == Some(&Value::Bool(false))
        };
        let below = |name: &str| {
            if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path}.{name}")
            }
        };
        for (name, schema) in old {
            match new.get(name) {
                Some(other) => self.position(&below(name), schema, other),
                None if is_closed(after) && self.flow == Flow::In => {
                    self.add(&below(name), Effect::Narrows, "it is gone, and refused")
                }
                None => self.add(&below(name), Effect::Forgets, "it is gone"),
            }
        }
        for name in new.keys().filter(|name| !old.contains_key(*name)) {
            match (self.flow, must_now.contains(&**name)) {
                (Flow::In, true) => {
                    self.add(&below(name), Effect::Narrows, "it is new, and required")
                }
                (_, true) => self.add(&below(name), Effect::Narrows, "it is new, and always there"),
                (_, false) => self.add(
                    &below(name),
                    Effect::Words(Impact::Additive),
                    "it is new, and optional",
                ),
            }
        }
        // Of those that come or go that was told already.
        for name in must_now
            .difference(&must)
            .filter(|name| old.contains_key(**name) || !new.contains_key(**name))
        {
            self.add(&below(name), Effect::Narrows, "it is now required");
        }
        for name in must
            .difference(&must_now)
            .filter(|name| new.contains_key(**name) || !old.contains_key(**name))
        {
            // Whoever reads it may have relied on it.
            let effect = if self.flow == Flow::Out {
                Effect::Moves
            } else {
                Effect::Widens
            };
            self.add(&below(name), effect, "it is no longer required");
        }
    }

    fn alternatives(
        &mut self,
        path: &str,
        keyword: &str,
        before: Option<&'a Value>,
        after: Option<&'a Value>,
    ) {
        let list = |value: Option<&'a Value>| value.and_then(Value::as_array).map(Vec::as_slice);
        // More conditions let less through, more alternatives let more through.
        let (more, less) = if keyword == "allOf" {
            (Effect::Narrows, Effect::Widens)
        } else {
            (Effect::Widens, Effect::Narrows)
        };
        match (list(before), list(after)) {
            (None, None) => {}
            (None, Some(_)) => self.add(path, Effect::Narrows, format!("`{keyword}` is new")),
            (Some(_), None) => self.add(path, Effect::Widens, format!("`{keyword}` is gone")),
            (Some(before), Some(after)) if before.len() == after.len() => {
                for (before, after) in before.iter().zip(after) {
                    self.position(path, before, after);
                }
            }
            (Some(before), Some(after)) => {
                for schema in before.iter().filter(|schema| !after.contains(schema)) {
                    self.add(
                        path,
                        less,
                        format!("`{keyword}` no longer has {}", shortened(schema)),
                    );
                }
                for schema in after.iter().filter(|schema| !before.contains(schema)) {
                    self.add(
                        path,
                        more,
                        format!("`{keyword}` now has {}", shortened(schema)),
                    );
                }
            }
        }
    }

    /// Bounds, words, and all that is not known here.
    fn others(&mut self, path: &str, before: &Map<String, Value>, after: &Map<String, Value>) {
        let keywords: BTreeSet<&String> = before
            .keys()
            .chain(after.keys())
            .filter(|keyword| !APART.contains(&&***keyword))
            .collect();
        for keyword in keywords {
            let (old, new) = (before.get(keyword), after.get(keyword));
            if old == new {
                continue;
            }
            let shown =
                |value: Option<&Value>| value.map_or_else(|| "absent".to_owned(), shortened);
            let message = format!("`{keyword}` was {}, is {}", shown(old), shown(new));
            let effect = match (&**keyword, old, new) {
                ("description" | "default", ..) => Effect::Words(Impact::Risky),
                (
                    "title" | "examples" | "$comment" | "deprecated" | "readOnly" | "writeOnly",
                    ..,
                ) => Effect::Words(Impact::Additive),
                (bound, old, new) if LOWER.contains(&bound) => moved(old, new, true),
                (bound, old, new) if UPPER.contains(&bound) => moved(old, new, false),
                (_, None, Some(_)) => Effect::Narrows,
                (_, Some(_), None) => Effect::Widens,
                _ => Effect::Moves,
            };
            self.add(path, effect, message);
        }
    }
}

static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// The keywords of a schema; none for `true`.
fn members(schema: &Value) -> &Map<String, Value> {
    schema.as_object().unwrap_or(&NOTHING)
}

/// Where `schema` leads by `$ref`, within `root`; `schema` itself if it is no reference.
fn follow<'a>(root: &'a Value, schema: &'a Value) -> (Option<String>, &'a Value) {
    /// Most references that lead from one to the next.
    const LONGEST: usize = 32;
    let mut target = None;
    let mut schema = schema;
    for _ in 0..LONGEST {
        let Some(next) = schema.get("$ref").and_then(Value::as_str) else {
            break;
        };
        let Some(found) = next
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer))
        else {
            break;
        };
        target = Some(next.to_owned());
        schema = found;
    }
    (target, schema)
}

/// Whether equal schemas may still differ, in what they refer to.
fn holds_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            members.contains_key("$ref") || members.values().any(holds_reference)
        }
        Value::Array(items) => items.iter().any(holds_reference),
        _ => false,
    }
}

/// The names in `type`; `None` if there is none.
fn types(schema: &Map<String, Value>) -> Option<BTreeSet<&str>> {
    match schema.get("type")? {
        Value::String(one) => Some(BTreeSet::from([&**one])),
        Value::Array(several) => Some(several.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

/// The legal constants; `None` if they are not listed.
fn values(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(one), _) => Some(vec![one]),
        (None, Some(Value::Array(several))) => Some(several.iter().collect()),
        _ => None,
    }
}

fn required(schema: &Map<String, Value>) -> BTreeSet<&str> {
    schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// What it does that a bound moved.
fn moved(before: Option<&Value>, after: Option<&Value>, is_lower: bool) -> Effect {
    match (
        before.and_then(Value::as_f64),
        after.and_then(Value::as_f64),
    ) {
        (None, Some(_)) => Effect::Narrows,
        (Some(_), None) => Effect::Widens,
        (Some(before), Some(after)) if (before < after) == is_lower => Effect::Narrows,
        (Some(_), Some(_)) => Effect::Widens,
        (None, None) => Effect::Moves,
    }
}
