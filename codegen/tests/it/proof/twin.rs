//! Proof that no member of a later revision leaks: what is written validates under the closed twin of the revision.
//!
//! No official object is closed, so the schemas themselves cannot tell. In the twin every object of which the bindings have
//! a struct refuses members that are not listed, also where the schema declares that there may be others.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use trueform_codegen::model::{Field, Model, Shape, TypeRef};

use super::conform::{core, each_value};
use super::judge::{documents, flattened_definitions, judges};
use super::model_schema::closed;
use super::{read, report};
use crate::values::Choices;
use trueform_schema::Revision;

/// Closes the objects of `document` that are structs in `model`.
fn close(model: &Model, revision: usize, document: &mut Value) {
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

/// Closed copies of what the members at `pointer` refer to where it stands for another type elsewhere.
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
fn is_also(model: &Model, revision: usize, pointer: &str, name: &str) -> bool {
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

/// Members that stay in an object that the twin must refuse, or it proves nothing.
#[test]
fn no_member_of_another_revision_is_written() {
    let (inputs, model) = read();
    let mut documents = documents(&inputs, None);
    for (revision, document) in documents.iter_mut().enumerate() {
        close(&model, revision, document);
    }
    let judges = judges(&documents, &model);
    let looks = core();
    let mut choices = Choices::new(3);
    let mut failures = Vec::new();
    let mut masks: BTreeMap<String, usize> = BTreeMap::new();
    let mut accepted = 0;
    each_value(&[], &model, &closed(&model, &model), &mut |name, value| {
        let Ok(seen) = looks[name](&value.to_string()) else {
            return;
        };
        for (revision, (json, found)) in seen.at.iter().enumerate() {
            if !found.is_empty() {
                continue;
            }
            for (place, judge) in &judges[name][revision] {
                if is_also(&model, revision, place, name) {
                    continue;
                }
                accepted += 1;
                if let Err(error) = judge.validate(json) {
                    failures.push(format!(
                        "`{name}` at {}, {place}: {error}\n    {json}",
                        Revision::ALL[revision]
                    ));
                }
                // As if one of the masks had been forgotten.
                let mut masked = Vec::new();
                left_out(&seen.all, json, "", &mut masked);
                if masked.is_empty() {
                    continue;
                }
                let (at, member, value) = choices.of(&masked).clone();
                let mut leaking = json.clone();
                leaking.pointer_mut(&at).expect("the object is there")[&member] = value;
                if judge.is_valid(&leaking) {
                    failures.push(format!(
                        "`{name}` at {}, {place}: the twin does not notice `{at}/{member}`\n    {leaking}",
                        Revision::ALL[revision]
                    ));
                }
                *masks.entry(format!("{name}.{member}")).or_default() += 1;
            }
        }
    });
    report(failures);
    assert!(accepted > 2_000, "{accepted} comparisons");
    assert!(
        masks.len() > 60,
        "{} masks were tried: {masks:?}",
        masks.len()
    );
}
