//! Proof that no member of a later revision leaks: the written value is valid under the closed twin of the revision.
//!
//! The run is its own mutation check: for each row of the table of projection rules, at each of its revisions, there is a
//! value that the twin refuses once the row is undone.
//!
//! No official object is closed, so the schemas themselves accept unknown members. In the twin every object for which the bindings
//! have a struct refuses unlisted members, even if the schema explicitly allows others.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use trueform_codegen::model::{Field, Model, Shape, TypeRef};

use super::conform::{Look, Seen, core, each_value, until_enough};
use super::judge::{documents, flattened_definitions, judges};
use super::model_schema::closed;
use super::rows::{Kind, Rows};
use super::{read, report};
use crate::values::Choices;
use trueform_schema::Revision;

/// Closes the objects of `document` that are structs in `model`.
pub(super) fn close(model: &Model, revision: usize, document: &mut Value) {
    document["$defs"] = flattened_definitions(document)["$defs"].take();
    // Every request and notification may have `_meta`, which some files say only of the base of all.
    let bases = [
        "/$defs/RequestParams/properties/_meta",
        "/$defs/Request/properties/params/properties/_meta",
    ];
    let mut meta = bases
        .iter()
        .find_map(|base| document.pointer(base))
        .cloned()
        .unwrap_or_default();
    if meta.get("$ref").is_none() {
        meta["additionalProperties"] = false.into();
    }
    for ty in model.types.values() {
        let Shape::Struct { fields } = &ty.shape else {
            continue;
        };
        let inherited = fields
            .iter()
            .find(|field| field.json_name == "_meta" && field.known.has(revision));
        for (at, pointer) in &ty.sources {
            if *at != revision || is_also(model, revision, pointer, &ty.name) {
                continue;
            }
            let own = own_copies(model, revision, document, pointer, fields);
            let Some(schema) = document.pointer_mut(pointer) else {
                continue;
            };
            schema["additionalProperties"] = false.into();
            for (member, copy) in own {
                schema["properties"][member] = copy;
            }
            if let Some(field) = inherited
                && schema["properties"].get("_meta").is_none()
            {
                schema["properties"]["_meta"] = match field.ty.named() {
                    Some("RequestMetaObject") => meta.clone(),
                    Some(_) => json!({ "type": "object", "additionalProperties": false }),
                    None => json!({ "type": "object" }),
                };
            }
        }
    }
}

/// Closed copies of the targets of the members at `pointer`, if the definition is used for another type elsewhere.
fn own_copies<'m>(
    model: &Model,
    revision: usize,
    document: &Value,
    pointer: &str,
    fields: &'m [Field],
) -> Vec<(&'m str, Value)> {
    let copy = |field: &'m Field| {
        let name = field.ty.named()?;
        let target =
            document.pointer(&format!("{pointer}/properties/{}", field.json_name))?["$ref"]
                .as_str()?;
        let target = target.trim_start_matches('#');
        if !is_also(model, revision, target, name)
            || !matches!(model.get(name)?.shape, Shape::Struct { .. })
        {
            return None;
        }
        let mut schema = document.pointer(target)?.clone();
        schema["additionalProperties"] = false.into();
        Some((field.json_name.as_str(), schema))
    };
    fields.iter().filter_map(copy).collect()
}

/// Whether the definition at `pointer` stands for another type elsewhere, as a free `_meta` does.
pub(super) fn is_also(model: &Model, revision: usize, pointer: &str, name: &str) -> bool {
    let definition = pointer.trim_start_matches("/$defs/");
    let ty = model.definitions.get(&(revision, definition.to_owned()));
    // Two structs of one definition are closed alike.
    ty.is_some_and(|ty| ty.named() != Some(name) && matches!(ty, TypeRef::Leaf(_)))
}

/// The places where `all` has a member that `part` does not: pointer to the object in `part`, name and value.
fn left_out(all: &Value, part: &Value, at: &str, out: &mut Vec<(String, String, Value)>) {
    match (all, part) {
        (Value::Object(all), Value::Object(part)) => {
            for (name, value) in all {
                match part.get(name) {
                    Some(part) => {
                        let name = name.replace('~', "~0").replace('/', "~1");
                        left_out(value, part, &format!("{at}/{name}"), out);
                    }
                    None => out.push((at.to_owned(), name.clone(), value.clone())),
                }
            }
        }
        (Value::Array(all), Value::Array(part)) => {
            for (i, (all, part)) in all.iter().zip(part).enumerate() {
                left_out(all, part, &format!("{at}/{i}"), out);
            }
        }
        _ => {}
    }
}

/// Rows that the twin cannot prove, and why.
const UNPROVABLE: [(&str, &str); 3] = [
    (
        "ListRootsRequestMetaObject.progressToken",
        "that revision has there an object of any members",
    ),
    (
        "ResultMetaObject.io.modelcontextprotocol/serverInfo",
        OPTIONAL,
    ),
    (
        "SubscriptionsListenResultMetaObject.io.modelcontextprotocol/serverInfo",
        OPTIONAL,
    ),
];

const OPTIONAL: &str = "no schema requires that the server says who it is";

#[test]
fn no_member_of_another_revision_is_written() {
    let (inputs, model) = read();
    let mut documents = documents(&inputs, None);
    for (revision, document) in documents.iter_mut().enumerate() {
        close(&model, revision, document);
    }
    let judges = judges(&documents, &documents, &model);
    let looks = core();
    let merged = closed(&model, &model);
    let mut choices = Choices::new(3);
    let mut failures = Vec::new();
    let mut rows = Rows::of(&model, &[Kind::LeftOut, Kind::Filled, Kind::Rewritten]);
    let mut accepted = [0; Revision::ALL.len()];
    until_enough("closed twin", &Revision::ALL, &mut |pass| {
        each_value(pass, &[], &model, &merged, &mut |name, value| {
            let Ok(seen) = looks[name](&value.to_string()) else {
                return;
            };
            for (revision, (json, found)) in seen.at.iter().enumerate() {
                if !found.is_empty() {
                    continue;
                }
                let undone = undone(&rows, &looks, name, &seen, revision);
                for (place, judge) in &judges[name][revision] {
                    if is_also(&model, revision, place, name) {
                        continue;
                    }
                    accepted[revision] += 1;
                    let mut fail = |what: &str, json: &Value| {
                        let at = Revision::ALL[revision];
                        failures.push(format!("`{name}` at {at}, {place}: {what}\n    {json}"));
                    };
                    if let Err(error) = judge.validate(json) {
                        fail(&error.to_string(), json);
                    }
                    for (item, kind, json) in &undone {
                        match judge.is_valid(json) {
                            true => fail(
                                &format!(
                                    "no check notices that {kind:?} of `{item}` is not applied"
                                ),
                                json,
                            ),
                            false => rows.meet(name, item, *kind, revision),
                        }
                    }
                    // The same further down, where the type stands as a part of others.
                    let mut masked = Vec::new();
                    left_out(&seen.all, json, "", &mut masked);
                    if masked.is_empty() {
                        continue;
                    }
                    let (at, member, value) = choices.of(&masked).clone();
                    let mut leaking = json.clone();
                    leaking.pointer_mut(&at).expect("the object is there")[&member] = value;
                    if judge.is_valid(&leaking) {
                        fail(
                            &format!("the twin does not notice `{at}/{member}`"),
                            &leaking,
                        );
                    }
                }
            }
        });
        accepted
    });
    report(failures);
    report(rows.unmet(&UNPROVABLE));
}

/// The forms in which `revision` would see a value of the type `name` if one row of that type were not applied, for each row that
/// affects the value.
fn undone(
    rows: &Rows<'_>,
    looks: &BTreeMap<&str, Look>,
    name: &str,
    seen: &Seen,
    revision: usize,
) -> Vec<(&'static str, Kind, Value)> {
    let json = &seen.at[revision].0;
    let mut out = Vec::new();
    for item in rows.items(name, Kind::LeftOut, revision) {
        if let Some(value) = seen.all.get(item) {
            let mut leaking = json.clone();
            leaking[item] = value.clone();
            out.push((item, Kind::LeftOut, leaking));
        }
    }
    for item in rows.items(name, Kind::Filled, revision) {
        if seen.all.get(item).is_none() {
            let mut bare = json.clone();
            if bare
                .as_object_mut()
                .and_then(|members| members.shift_remove(item))
                .is_some()
            {
                out.push((item, Kind::Filled, bare));
            }
        }
    }
    for item in rows.items(name, Kind::Rewritten, revision) {
        let plain = match rows.variant(name, item) {
            Some(ty) => match looks[ty](&seen.all.to_string()) {
                Ok(own) if own.all == seen.all => own.at[revision].0.clone(),
                _ => continue,
            },
            None if seen.all.is_array() => json!([json]),
            None => continue,
        };
        out.push((item, Kind::Rewritten, plain));
    }
    out
}
