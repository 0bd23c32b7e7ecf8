//! Removes `null` from the optional properties of an input schema.
//!
//! Several clients lose the type of a property that may be null, or fail the whole request. If a property may be left out, `null` is
//! another way to omit it, which clients do not need.
//!
//! The result accepts no new values. For each value that was accepted, it accepts at least one variant in which only members with `null`
//! are absent. If the rest of the schema could distinguish an absent member, `null` remains allowed.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    complete::{allows, each},
    dialect::is_default_dialect,
    disjoint::are_disjoint,
    merge::{is_null, merged},
};
use crate::check::{
    MAX_SCHEMA_DEPTH,
    positions::{Holds, holds, is_annotation},
};

/// Removes `null` from every optional property for which that is safe, and from default values there. Changes nothing if it is not clear
/// what else applies to the target of a reference.
pub(super) fn remove_optional(schema: &mut Value) {
    let mut references = References { all_clear: true };
    references.instance(schema, 0);
    if let Some(definitions) = schema.get("$defs").and_then(Value::as_object) {
        definitions
            .values()
            .for_each(|definition| references.instance(definition, 0));
    }
    if !references.all_clear || !is_default_dialect(schema) {
        return;
    }
    instance(schema, 0);
    if let Some(Value::Object(definitions)) = schema.get_mut("$defs") {
        definitions
            .values_mut()
            .for_each(|definition| instance(definition, 0));
    }
    without_null_defaults(schema, 0);
}

/// Keywords whose schemas apply to the same value, as alternatives or all together.
const IN_PLACE: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords whose schema, or list of schemas, applies to parts of the value and only restricts them.
const PARTS: [&str; 4] = [
    "additionalItems",
    "additionalProperties",
    "items",
    "prefixItems",
];

/// Keywords with one schema for each of several parts.
const NAMED_PARTS: [&str; 2] = ["patternProperties", "properties"];

/// Names of required properties.
type Names = HashSet<String>;

/// Returns whether the result of `schema`, or of one that applies to the same value, may depend on an absent member or on a branch that
/// accepts less.
fn notices(schema: &Value, depth: usize) -> bool {
    let Some(members) = schema.as_object() else {
        return false;
    };
    if MAX_SCHEMA_DEPTH < depth {
        return true;
    }
    let itself = members
        .iter()
        .any(|(keyword, value)| match keyword.as_str() {
            "not"
            | "if"
            | "then"
            | "else"
            | "dependentSchemas"
            | "dependencies"
            | "contains"
            | "unevaluatedProperties"
            | "unevaluatedItems" => true,
            "minProperties" => value.as_f64() != Some(0.0),
            "uniqueItems" => value != &Value::Bool(false),
            "const" => is_container(value),
            "enum" => value
                .as_array()
                .is_none_or(|values| values.iter().any(is_container)),
            "oneOf" => value
                .as_array()
                .is_none_or(|branches| !are_disjoint(branches)),
            _ => false,
        });
    itself || branches(members).any(|(_, branch)| notices(branch, depth + 1))
}

fn is_container(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

/// Returns the schemas that apply to the same value, and the keyword that each is in.
fn branches(members: &Map<String, Value>) -> impl Iterator<Item = (&'static str, &Value)> {
    IN_PLACE.into_iter().flat_map(|keyword| {
        let list = members.get(keyword).and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .map(move |branch| (keyword, branch))
    })
}

/// Adds the names that `members` itself requires.
fn add_own_required(members: &Map<String, Value>, names: &mut Names) {
    let mut add = |list: &Value| {
        let list = list.as_array().into_iter().flatten();
        names.extend(list.filter_map(Value::as_str).map(str::to_owned));
    };
    members.get("required").into_iter().for_each(&mut add);
    let dependent = members.get("dependentRequired").and_then(Value::as_object);
    dependent
        .into_iter()
        .flatten()
        .for_each(|(_, list)| add(list));
}

/// Adds the names that `schema`, or one that applies to the same value, requires.
fn add_required(schema: &Value, names: &mut Names) {
    let Some(members) = schema.as_object() else {
        return;
    };
    add_own_required(members, names);
    branches(members).for_each(|(_, branch)| add_required(branch, names));
}

/// Returns the names that are required of a value besides those that the branch `index` of `keyword` requires.
fn required_beside(
    members: &Map<String, Value>,
    keyword: &str,
    index: usize,
    outer: &Names,
) -> Names {
    let mut names = outer.clone();
    add_own_required(members, &mut names);
    let mut place = 0;
    for (other, branch) in branches(members) {
        let is_itself = other == keyword && place == index;
        // Of alternatives one is enough.
        let is_alternative = other == keyword && keyword != "allOf";
        if other == keyword {
            place += 1;
        }
        if !is_itself && !is_alternative {
            add_required(branch, &mut names);
        }
    }
    names
}

/// Rewrites a schema that alone determines whether a value is valid.
fn instance(schema: &mut Value, depth: usize) {
    if depth < MAX_SCHEMA_DEPTH && !notices(schema, depth) {
        in_place(schema, &Names::new(), depth);
    }
}

/// Rewrites a schema that applies to a value together with others, which require `outer`.
fn in_place(schema: &mut Value, outer: &Names, depth: usize) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    for keyword in PARTS {
        if let Some(part) = members.get_mut(keyword) {
            match part {
                Value::Array(list) => list.iter_mut().for_each(|part| instance(part, depth + 1)),
                part => instance(part, depth + 1),
            }
        }
    }
    for keyword in NAMED_PARTS {
        if let Some(Value::Object(parts)) = members.get_mut(keyword) {
            parts
                .values_mut()
                .for_each(|part| instance(part, depth + 1));
        }
    }
    for keyword in IN_PLACE {
        let count = members
            .get(keyword)
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        for index in 0..count {
            let names = required_beside(members, keyword, index, outer);
            if let Some(branch) = members
                .get_mut(keyword)
                .and_then(|list| list.get_mut(index))
            {
                in_place(branch, &names, depth + 1);
            }
        }
    }
    let mut names = outer.clone();
    add_own_required(members, &mut names);
    branches(members).for_each(|(_, branch)| add_required(branch, &mut names));
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        for (_, property) in properties
            .iter_mut()
            .filter(|(name, _)| !names.contains(*name))
        {
            without_null(property, depth + 1);
        }
    }
}

/// Makes the schema refuse `null` if its own keywords allow it. For other values, the schema does not change.
fn without_null(schema: &mut Value, depth: usize) {
    let Some(members) = schema.as_object_mut().filter(|_| depth < MAX_SCHEMA_DEPTH) else {
        return;
    };
    if let Some(Value::Array(types)) = members.get_mut("type")
        && types.iter().any(|name| name != "null")
    {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            members.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = members.get_mut("enum")
        && values.iter().any(|value| !value.is_null())
    {
        values.retain(|value| !value.is_null());
    }
    for keyword in IN_PLACE {
        let Some(Value::Array(list)) = members.get_mut(keyword) else {
            continue;
        };
        let allows_only_null = |branch: &Value| branch.as_object().is_some_and(is_null);
        if keyword != "allOf" && !list.iter().all(allows_only_null) {
            list.retain(|branch| !allows_only_null(branch));
        }
        list.iter_mut()
            .for_each(|branch| without_null(branch, depth + 1));
        let is_alone = members
            .keys()
            .all(|other| other == keyword || is_annotation(other));
        if let (true, Some([Value::Object(only)])) = (
            is_alone,
            members
                .get(keyword)
                .and_then(Value::as_array)
                .map(Vec::as_slice),
        ) {
            let only = only.clone();
            members.shift_remove(keyword);
            *members = merged(only, std::mem::take(members));
        }
    }
}

/// Removes members that are `null` from default values and examples, for properties that no longer allow `null`.
fn without_null_defaults(schema: &mut Value, depth: usize) {
    each(schema, depth, &mut |members| {
        for keyword in ["default", "examples"] {
            let Some(given) = members.get(keyword) else {
                continue;
            };
            let mut fitting = given.clone();
            match (&mut fitting, keyword) {
                (Value::Array(examples), "examples") => examples
                    .iter_mut()
                    .for_each(|example| fit(example, members)),
                (default, _) => fit(default, members),
            }
            if fitting != *given {
                members.insert(keyword.to_owned(), fitting);
            }
        }
    });
}

fn fit(value: &mut Value, schema: &Map<String, Value>) {
    match value {
        Value::Object(values) => {
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
                return;
            };
            let mut required = Names::new();
            add_own_required(schema, &mut required);
            values.retain(|name, value| {
                let refused = properties
                    .get(name)
                    .is_some_and(|property| !allows_null(property));
                !(refused && value.is_null() && !required.contains(name))
            });
            for (name, value) in values {
                if let Some(Value::Object(property)) = properties.get(name) {
                    fit(value, property);
                }
            }
        }
        Value::Array(values) => {
            if let Some(Value::Object(items)) = schema.get("items") {
                values.iter_mut().for_each(|value| fit(value, items));
            }
        }
        _ => {}
    }
}

/// Returns whether the schema may allow `null`, according to its type and alternatives.
fn allows_null(schema: &Value) -> bool {
    let Some(members) = schema.as_object() else {
        return true;
    };
    if members.contains_key("type") {
        return allows(members, "null");
    }
    if let Some(values) = members.get("enum").and_then(Value::as_array) {
        return values.iter().any(Value::is_null);
    }
    let alternatives = ["anyOf", "oneOf"]
        .into_iter()
        .find_map(|keyword| members.get(keyword)?.as_array());
    match alternatives {
        Some(alternatives) => alternatives.iter().any(allows_null),
        None => !members.contains_key("$ref"),
    }
}

/// The check of references before anything is changed: a change of their target applies to all of them.
struct References {
    /// Whether every reference alone determines whether its value is valid, or is one of alternatives that do.
    all_clear: bool,
}

impl References {
    fn instance(&mut self, schema: &Value, depth: usize) {
        if MAX_SCHEMA_DEPTH < depth {
            self.all_clear = false;
        } else if notices(schema, depth) {
            self.all_clear &= !has_reference(schema);
        } else {
            self.in_place(schema, depth);
        }
    }

    fn in_place(&mut self, schema: &Value, depth: usize) {
        let Some(members) = schema.as_object() else {
            return;
        };
        if refers_in_place(schema) {
            let decisive = members.keys().filter(|keyword| {
                !is_annotation(keyword) && !matches!(keyword.as_str(), "type" | "$defs")
            });
            let decisive: Vec<&str> = decisive.map(String::as_str).collect();
            self.all_clear &= matches!(decisive[..], ["$ref" | "anyOf" | "oneOf"]);
        }
        for keyword in PARTS {
            match members.get(keyword) {
                Some(Value::Array(list)) => {
                    list.iter().for_each(|part| self.instance(part, depth + 1))
                }
                Some(part) => self.instance(part, depth + 1),
                None => {}
            }
        }
        for keyword in NAMED_PARTS {
            let parts = members.get(keyword).and_then(Value::as_object);
            parts
                .into_iter()
                .flatten()
                .for_each(|(_, part)| self.instance(part, depth + 1));
        }
        for (_, branch) in branches(members) {
            self.in_place(branch, depth + 1);
        }
    }
}

/// Returns whether the schema, or one that applies to the same value, is a reference.
fn refers_in_place(schema: &Value) -> bool {
    schema.as_object().is_some_and(|members| {
        members.contains_key("$ref") || branches(members).any(|(_, branch)| refers_in_place(branch))
    })
}

/// Returns whether the schema or one in it is a reference.
fn has_reference(schema: &Value) -> bool {
    let below = |(keyword, value): (&String, &Value)| match (holds(keyword, value), value) {
        (Holds::One, schema) => has_reference(schema),
        (Holds::List, Value::Array(list)) => list.iter().any(has_reference),
        (Holds::Map, Value::Object(map)) => map.values().any(has_reference),
        _ => false,
    };
    schema
        .as_object()
        .is_some_and(|members| members.contains_key("$ref") || members.iter().any(below))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(mut schema: Value, expected: &Value) {
        let before = schema.to_string();
        remove_optional(&mut schema);
        assert_eq!(schema, *expected, "{before}");
    }

    /// Returns `property` as the optional property of an object, which `rest` restricts further.
    fn optional(property: &Value, rest: &Value) -> Value {
        let mut schema = json!({"type": "object", "properties": {"a": property}});
        for (keyword, value) in rest.as_object().unwrap() {
            schema[keyword] = value.clone();
        }
        schema
    }

    #[test]
    fn optional_properties_lose_null() {
        for (with, without) in [
            (
                json!({"type": ["string", "null"]}),
                json!({"type": "string"}),
            ),
            (
                json!({"type": ["string", "integer", "null"]}),
                json!({"type": ["string", "integer"]}),
            ),
            (
                json!({"type": ["string", "null"], "enum": ["m", null]}),
                json!({"type": "string", "enum": ["m"]}),
            ),
            (
                json!({"description": "d", "anyOf": [{"const": 1}, {"type": "null"}]}),
                json!({"description": "d", "const": 1}),
            ),
            (
                json!({"anyOf": [{"const": 1}, {"type": ["string", "null"]}, {"type": "null"}]}),
                json!({"anyOf": [{"const": 1}, {"type": "string"}]}),
            ),
            (
                json!({"oneOf": [{"oneOf": [{"const": "a"}, {"const": "b"}]}, {"type": "null"}]}),
                json!({"oneOf": [{"const": "a"}, {"const": "b"}]}),
            ),
            (
                json!({"items": {"properties": {"b": {"type": ["null", "string"]}}}}),
                json!({"items": {"properties": {"b": {"type": "string"}}}}),
            ),
            // These allow nothing else.
            (json!({"type": "null"}), json!({"type": "null"})),
            (
                json!({"items": {"type": ["string", "null"]}}),
                json!({"items": {"type": ["string", "null"]}}),
            ),
            (
                json!({"additionalProperties": {"type": ["string", "null"]}}),
                json!({"additionalProperties": {"type": ["string", "null"]}}),
            ),
        ] {
            check(optional(&with, &json!({})), &optional(&without, &json!({})));
        }
    }

    #[test]
    fn null_stays_where_its_absence_may_be_noticed() {
        let maybe = || json!({"type": ["string", "null"]});
        for rest in [
            json!({"required": ["a"]}),
            json!({"allOf": [{"required": ["a"]}]}),
            json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"dependentRequired": {"b": ["a"]}}),
            json!({"minProperties": 1}),
            json!({"allOf": [{"minProperties": 1}]}),
            json!({"not": {"required": ["b"]}}),
            json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}}),
            json!({"enum": [{"a": null}]}),
            json!({"oneOf": [{"properties": {"b": {}}}, {"required": ["b"]}]}),
        ] {
            let schema = optional(&maybe(), &rest);
            check(schema.clone(), &schema);
        }
        for around in [
            |schema: Value| json!({"type": "array", "items": schema, "uniqueItems": true}),
            |schema: Value| json!({"type": "array", "items": schema, "contains": {}}),
            |schema: Value| json!({"not": schema}),
            |schema: Value| json!({"oneOf": [schema, {"type": "object"}]}),
            |schema: Value| json!({"oneOf": [schema, {"$ref": "#/$defs/D"}], "$defs": {"D": {"properties": {"a": {"type": ["string", "null"]}}}}}),
        ] {
            let schema = around(optional(&maybe(), &json!({})));
            check(schema.clone(), &schema);
        }
    }

    #[test]
    fn alternatives_that_exclude_each_other() {
        let of = |kind: &str, value: Value| json!({"type": "object", "properties": {"kind": {"const": kind}, "a": value}, "required": ["kind"]});
        check(
            json!({"oneOf": [of("x", json!({"type": ["string", "null"]})), of("y", json!({"type": ["integer", "null"]}))]}),
            &json!({"oneOf": [of("x", json!({"type": "string"})), of("y", json!({"type": "integer"}))]}),
        );
    }

    #[test]
    fn recursion() {
        let node = |next: Value| json!({"type": "object", "properties": {"next": next}, "$defs": {"N": {"type": "object", "properties": {"next": next}}}});
        let maybe = json!({"anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]});
        check(node(maybe), &node(json!({"$ref": "#/$defs/N"})));
        // A schema beside a reference may require a property that is optional in its target.
        let both = json!({"allOf": [{"$ref": "#/$defs/N"}, {"required": ["next"]}]});
        let mut schema = node(json!({"type": ["object", "null"]}));
        schema["properties"]["both"] = both;
        check(schema.clone(), &schema);
    }

    #[test]
    fn defaults_fit() {
        let unit = |default: Value| {
            json!({"properties": {"o": {"type": "object", "default": default, "properties": {
                "unit": {"type": ["string", "null"]}, "list": {"items": {"type": ["string", "null"]}}}}}})
        };
        let mut expected = unit(json!({"list": [null]}));
        expected["properties"]["o"]["properties"]["unit"] = json!({"type": "string"});
        check(unit(json!({"unit": null, "list": [null]})), &expected);
    }
}
