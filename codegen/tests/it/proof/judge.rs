//! The oracle by type: the schemas of each revision for a generated type, at every place where the type is used.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use trueform_codegen::Inputs;
use trueform_codegen::model::{Model, TypeDef, TypeRef};

use crate::support::validator;

/// The oracles of one type at one revision, by the JSON pointer of the place.
pub(super) type Judges = Vec<(String, Validator)>;

/// The documents of the revisions: the committed normal form with the corrections of the overlay, as the generator reads it.
/// For an extension its own document replaces that of the revision that it extends.
pub(super) fn documents(inputs: &Inputs, extension: Option<&str>) -> Vec<Value> {
    let Some(extension) = extension else {
        return inputs.revisions.values().cloned().collect();
    };
    let extended = &inputs.overlay.extensions[extension].revision;
    let own = |revision| match revision == extended {
        true => inputs.extensions[extension].clone(),
        false => Value::Null,
    };
    inputs.revisions.keys().map(own).collect()
}

/// The oracles of every type of `model`, by name, then revision. `core` has the types that an extension does not repeat.
pub(super) fn judges(
    documents: &[Value],
    core: &[Value],
    model: &Model,
) -> BTreeMap<String, Vec<Judges>> {
    let flat: Vec<Value> = documents.iter().map(flattened_definitions).collect();
    let of = |ty: &TypeDef| {
        documents
            .iter()
            .enumerate()
            .map(|(revision, document)| {
                let flat = &flat[revision];
                if let Some(result) = outcome(&ty.name) {
                    return ty
                        .known
                        .has(revision)
                        .then(|| one_of_results(&core[revision], document, result))
                        .into_iter()
                        .collect();
                }
                places(model, ty, revision)
                    .into_iter()
                    .filter_map(|pointer| {
                        // A definition with `allOf` has no members to point to.
                        let schema = standalone(document, document, &pointer)
                            .or_else(|| standalone(flat, document, &pointer))?;
                        let judge = validator(&schema);
                        Some((pointer, judge.unwrap_or_else(|error| panic!("{error}"))))
                    })
                    .collect()
            })
            .collect()
    };
    model
        .types
        .values()
        .map(|ty| (ty.name.clone(), of(ty)))
        .collect()
}

/// The default result of a union of results without a definition.
fn outcome(name: &str) -> Option<&'static str> {
    match name {
        "CallToolOutcome" => Some("CallToolResult"),
        "CreateMessageOutcome" => Some("CreateMessageResult"),
        "ElicitOutcome" => Some("ElicitResult"),
        "GetPromptOutcome" => Some("GetPromptResult"),
        "ReadResourceOutcome" => Some("ReadResourceResult"),
        _ => None,
    }
}

/// The oracle of a union of results. Each result is recognised by its `resultType` if it has one, else by a member that only it
/// has. `anyOf` is not enough, because one of them accepts any object.
fn one_of_results(core: &Value, document: &Value, result: &str) -> (String, Validator) {
    let mut document = document.clone();
    for (name, definition) in core["$defs"].as_object().into_iter().flatten() {
        let known = document["$defs"]
            .as_object_mut()
            .expect("it has definitions");
        known.entry(name).or_insert_with(|| definition.clone());
    }
    let has = |name: &str| document["$defs"].get(name).is_some();
    let mut schema = json!({ "$ref": format!("#/$defs/{result}") });
    let kinds = [
        ("task", "CreateTaskResult"),
        ("input_required", "InputRequiredResult"),
    ];
    if has("ResultType") {
        for (kind, other) in kinds.into_iter().filter(|(_, other)| has(other)) {
            schema = json!({
                "if": { "required": ["resultType"], "properties": { "resultType": { "const": kind } } },
                "then": { "$ref": format!("#/$defs/{other}") },
                "else": schema,
            });
        }
    } else if has("CreateTaskResult") {
        schema = json!({
            "if": { "required": document["$defs"][result]["required"] },
            "then": schema,
            "else": { "$ref": "#/$defs/CreateTaskResult" },
        });
    }
    let whole = json!({ "$defs": { "Outcome": schema } });
    let schema = standalone(&whole, &document, "/$defs/Outcome").expect("it was just written");
    (
        result.to_owned(),
        validator(&schema).unwrap_or_else(|error| panic!("{error}")),
    )
}

/// The places where `revision` has `ty`; for a union that is recognised member by member, those of the union.
fn places(model: &Model, ty: &TypeDef, revision: usize) -> BTreeSet<String> {
    let at = ty.sources.iter().filter(|(at, _)| *at == revision);
    let named = model
        .definitions
        .iter()
        .filter(|((at, _), what)| *at == revision && what.named() == Some(&ty.name));
    let named = named.filter(|(_, what)| matches!(what, TypeRef::Named(_)));
    let names = named.map(|((_, name), _)| format!("/$defs/{name}"));
    at.map(|(_, pointer)| match pointer.rsplit_once("/anyOf/") {
        Some((union, rest)) if rest.bytes().all(|b| b.is_ascii_digit()) => union.to_owned(),
        _ => pointer.clone(),
    })
    .chain(names)
    .collect()
}

/// `document` with the `allOf` of each definition merged into it.
pub(super) fn flattened_definitions(document: &Value) -> Value {
    let flat = document["$defs"].as_object().into_iter().flatten();
    let flat: Map<String, Value> = flat
        .map(|(name, schema)| (name.clone(), flattened(document, schema.clone())))
        .collect();
    json!({ "$defs": flat })
}

/// `schema`, of `document`, with its `allOf` merged into it, but for the alternatives of a part.
pub(super) fn flattened(document: &Value, mut schema: Value) -> Value {
    let Some(parts) = schema
        .as_object_mut()
        .and_then(|schema| schema.remove("allOf"))
    else {
        return schema;
    };
    for part in parts.as_array().expect("`allOf` is an array") {
        let part = match part["$ref"].as_str() {
            Some(target) => document
                .pointer(target.trim_start_matches('#'))
                .expect("the target exists"),
            None => part,
        };
        let part = flattened(document, part.clone());
        if schema.get("properties").is_none() {
            schema["properties"] = json!({});
        }
        for (name, member) in part["properties"].as_object().into_iter().flatten() {
            schema["properties"][name] = member.clone();
        }
        let mut required = schema["required"].as_array().cloned().unwrap_or_default();
        required.extend(part["required"].as_array().cloned().unwrap_or_default());
        required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        required.dedup();
        schema["required"] = required.into();
        schema["type"] = "object".into();
    }
    schema
}

/// The schema at `pointer` with the definitions it needs, as a document of its own: quicker to build than all of them.
fn standalone(from: &Value, document: &Value, pointer: &str) -> Option<Value> {
    let mut schema = from.pointer(pointer)?.clone();
    let mut needed: BTreeMap<String, Value> = BTreeMap::new();
    let mut open = references(&schema);
    while let Some(name) = open.pop() {
        if let Entry::Vacant(entry) = needed.entry(name) {
            let definition = document["$defs"][entry.key()].clone();
            open.extend(references(&definition));
            entry.insert(definition);
        }
    }
    schema["$defs"] = needed.into_iter().collect::<Map<_, _>>().into();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    Some(schema)
}

fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(members) => members
            .iter()
            .flat_map(|(key, value)| match (key.as_str(), value.as_str()) {
                ("$ref", Some(target)) => vec![target.trim_start_matches("#/$defs/").to_owned()],
                _ => references(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}
