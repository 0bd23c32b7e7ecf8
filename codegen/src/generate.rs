//! The passes in order: from the inputs to the model, and from the model to Rust text.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    docs, emit,
    generated::Generated,
    inputs::Inputs,
    merge::{self, Sources},
    methods,
    model::Model,
    normalise::{self, Definitions},
    problem::Problem,
};

/// The Rust text of all bindings.
///
/// # Errors
/// The problem that [`model`] reports.
pub fn generate(inputs: &Inputs) -> Result<Generated, Problem> {
    emit::emit(&model(inputs)?, inputs)
}

/// The superset model of all revisions, with the models of the extensions in it.
///
/// # Errors
/// The first problem of the schemas or the overlay: an unknown keyword, shapes that cannot be merged, a union without a rule,
/// an unused overlay line. The problem names file, definition and JSON pointer.
pub fn model(inputs: &Inputs) -> Result<Model, Problem> {
    let overlay = &inputs.overlay;
    let names: Vec<String> = inputs.revisions.keys().cloned().collect();
    if 8 < names.len() {
        return Err(Problem::at(
            "",
            "more than eight revisions do not fit the sets of the model",
        ));
    }
    let mut revisions = Vec::new();
    for (name, document) in &inputs.revisions {
        revisions.push(definitions(document).map_err(|problem| problem.in_file(name))?);
    }
    let modern_since = names
        .iter()
        .position(|name| name.as_str() >= overlay.modern_since.as_str())
        .unwrap_or(names.len());
    let mut model = merge::merge(&Sources {
        names: names.clone(),
        revisions,
        modern_since,
        overlay,
        type_names: overlay.names.clone(),
        unions: overlay.unions.clone(),
        roots: overlay.roots.clone(),
        methods: overlay.methods.clone(),
        outcomes: BTreeMap::new(),
        shared: BTreeSet::new(),
        core: None,
    })?;
    let mut extensions = BTreeMap::new();
    for (name, document) in &inputs.extensions {
        let Some(facts) = overlay.extensions.get(name) else {
            let message = format!("the overlay has no `extensions.{name}` for this extension");
            return Err(Problem::at("", message).in_file(format!("extensions/{name}.json")));
        };
        let Some(revision) = names.iter().position(|r| *r == facts.revision) else {
            let message = format!(
                "the extension `{name}` extends the unknown revision `{}`",
                facts.revision
            );
            return Err(Problem::at("", message).in_file("overlay.toml"));
        };
        if !is_identifier(&facts.identifier) {
            let message = format!(
                "the extension `{name}` needs an `identifier` with a vendor prefix, such as `com.example/{name}`; found `{}`",
                facts.identifier
            );
            return Err(Problem::at("", message).in_file("overlay.toml"));
        }
        let file = format!("extensions/{name}.json");
        let core_document = &inputs.revisions[&facts.revision];
        let mut shared = shared(document, core_document);
        let mut ours =
            normalise::definitions(document).map_err(|problem| problem.in_file(&file))?;
        // An extension's file lacks the definitions that it does not refer to, such as the base of the params.
        for (name, schema) in normalise::definitions(core_document)? {
            if !methods::is_envelope(&name, &schema) && !ours.contains_key(&name) {
                shared.insert(name.clone());
                ours.insert(name, schema);
            }
        }
        methods::inherit_meta(&mut ours);
        let mut revisions = vec![Definitions::new(); names.len()];
        revisions[revision] = ours;
        let extension = merge::merge(&Sources {
            names: names.clone(),
            shared,
            revisions,
            modern_since,
            overlay,
            type_names: facts.names.clone(),
            unions: facts.unions.clone(),
            roots: facts.roots.clone(),
            methods: facts.methods.clone(),
            outcomes: facts.outcomes.clone(),
            core: Some(&model),
        })?;
        extensions.insert(name.clone(), extension);
    }
    model.extensions = extensions;
    docs::check(&model, inputs)?;
    Ok(model)
}

/// Whether `identifier` can be declared in `capabilities.extensions`: a vendor prefix, a slash and a name.
fn is_identifier(identifier: &str) -> bool {
    identifier
        .split_once('/')
        .is_some_and(|(vendor, name)| !vendor.is_empty() && !name.is_empty())
}

fn definitions(document: &Value) -> Result<Definitions, Problem> {
    let mut definitions = normalise::definitions(document)?;
    methods::inherit_meta(&mut definitions);
    Ok(definitions)
}

/// The definitions of `extension` that are equal to those of the same name in `core`, including all definitions that they refer to.
fn shared(extension: &Value, core: &Value) -> BTreeSet<String> {
    let definitions = |document: &Value| match document.get("$defs") {
        Some(Value::Object(definitions)) => definitions.clone(),
        _ => serde_json::Map::new(),
    };
    let (ours, theirs) = (definitions(extension), definitions(core));
    let mut shared: BTreeSet<String> = ours
        .iter()
        .filter(|(name, schema)| {
            theirs
                .get(*name)
                .is_some_and(|other| without_dialect(schema) == without_dialect(other))
        })
        .map(|(name, _)| name.clone())
        .collect();
    loop {
        let before = shared.len();
        let still: BTreeSet<String> = shared
            .iter()
            .filter(|name| {
                references(&ours[name.as_str()])
                    .iter()
                    .all(|target| shared.contains(target))
            })
            .cloned()
            .collect();
        shared = still;
        if shared.len() == before {
            return shared;
        }
    }
}

fn without_dialect(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(map) = &mut schema {
        map.remove("$schema");
    }
    schema
}

fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| match (key.as_str(), value) {
                ("$ref", Value::String(target)) => target
                    .rsplit('/')
                    .next()
                    .map(str::to_owned)
                    .into_iter()
                    .collect(),
                _ => references(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}
