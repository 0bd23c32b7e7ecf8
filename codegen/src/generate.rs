//! The passes in order: from the inputs to the model, and from the model to Rust text.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    docs, emit,
    generated::Generated,
    inputs::{Inputs, OVERLAY},
    merge::{self, Sources},
    methods,
    model::{Model, Shape, TypeRef},
    normalise::{self, Definitions},
    older,
    problem::{Problem, referred},
};

/// Returns the Rust text of all bindings.
///
/// # Errors
/// The problem that [`model`] reports.
pub fn generate(inputs: &Inputs) -> Result<Generated, Problem> {
    emit::emit(&model(inputs)?, inputs)
}

/// Returns the superset model of all revisions, with the models of the extensions in it.
///
/// # Errors
/// The first problem of the schemas or the overlay: an unknown keyword, shapes that cannot be merged, a union without a rule,
/// an unused overlay line. The problem names file, definition and JSON pointer.
pub fn model(inputs: &Inputs) -> Result<Model, Problem> {
    let mut model = core(inputs)?;
    let mut extensions = BTreeMap::new();
    for (name, document) in &inputs.extensions {
        extensions.insert(name.clone(), extension(inputs, &model, name, document)?);
    }
    model.extensions = extensions;
    docs::check(&model, inputs)?;
    Ok(model)
}

/// Returns the model of all revisions, without extensions.
pub(crate) fn core(inputs: &Inputs) -> Result<Model, Problem> {
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
    let modern_since = modern_since(inputs);
    merge::merge(&Sources {
        names: names.clone(),
        files: names.clone(),
        facts: OVERLAY.to_owned(),
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
    })
}

/// Returns the index of the first revision of the modern era.
fn modern_since(inputs: &Inputs) -> usize {
    let mut names = inputs.revisions.keys();
    let modern = names.position(|name| *name >= inputs.overlay.modern_since);
    modern.unwrap_or(inputs.revisions.len())
}
/// Returns the model of the extension `name` of the core `core`.
pub(crate) fn extension(
    inputs: &Inputs,
    core: &Model,
    name: &str,
    document: &Value,
) -> Result<Model, Problem> {
    let overlay = &inputs.overlay;
    let names = &core.revisions;
    let files = inputs.files_of(name);
    let of_facts = |message: String| Problem::at("", message).in_file(&files.facts);
    let Some(facts) = overlay.extensions.get(name) else {
        return Err(of_facts(format!(
            "there is no `extensions.{name}` for this extension"
        )));
    };
    let index_of = |wanted: &String| {
        let found = names.iter().position(|name| name == wanted);
        found.ok_or_else(|| {
            of_facts(format!(
                "the extension `{name}` extends the unknown revision `{wanted}`; known are `{}`",
                names.join("`, `")
            ))
        })
    };
    let revision = index_of(&facts.revision)?;
    let mut older: Vec<usize> = facts.older.iter().map(index_of).collect::<Result<_, _>>()?;
    if let Some(at) = older.iter().position(|other| revision <= *other) {
        return Err(of_facts(format!(
            "`older` of the extension `{name}` names `{}`, which is not older than its revision `{}`",
            facts.older[at], facts.revision
        )));
    }
    older.sort_unstable();
    if let Some(pair) = older.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(of_facts(format!(
            "`older` of the extension `{name}` names `{}` twice",
            names[pair[0]]
        )));
    }
    if !is_identifier(&facts.identifier) {
        return Err(of_facts(format!(
            "the extension `{name}` needs an `identifier` with a vendor prefix, such as `com.example/{name}`; found `{}`",
            facts.identifier
        )));
    }
    if let Some(keyword) = facts
        .unchecked
        .iter()
        .find(|keyword| !normalise::MAY_BE_UNCHECKED.contains(&keyword.as_str()))
    {
        return Err(of_facts(format!(
            "`unchecked` names `{keyword}`, which cannot be left out; possible are `{}`",
            normalise::MAY_BE_UNCHECKED.join("`, `")
        )));
    }
    let core_document = &inputs.revisions[&facts.revision];
    let mut shared = shared(document, core_document);
    let mut ours = normalise::definitions_without(document, &facts.unchecked)
        .map_err(|problem| problem.in_file(&files.schema))?;
    // An extension's file lacks the definitions that it does not refer to, such as the base of the params.
    for (name, schema) in normalise::definitions(core_document)? {
        // The empty result is a reference to the base of all results.
        let is_wanted = !methods::is_envelope(&name, &schema) || name == "Result";
        if is_wanted && !ours.contains_key(&name) {
            shared.insert(name.clone());
            ours.insert(name, schema);
        }
    }
    let modern_since = modern_since(inputs);
    let mut revisions = vec![Definitions::new(); names.len()];
    for at in older {
        let core = &inputs.revisions[&names[at]];
        let is_modern = modern_since <= at;
        revisions[at] = older::definitions(&ours, &shared, core, is_modern).map_err(|(missing, by)| {
            of_facts(format!(
                "`older` of the extension `{name}` names `{}`, whose core lacks `{missing}`, which `{by}` refers to",
                names[at]
            ))
        })?;
        let of_core = revisions[at]
            .keys()
            .filter(|name| !ours.contains_key(*name));
        shared.extend(of_core.cloned());
    }
    methods::inherit_meta(&mut ours);
    revisions[revision] = ours;
    let sources = Sources {
        names: names.clone(),
        files: vec![files.schema.clone(); names.len()],
        facts: files.facts.clone(),
        shared,
        revisions,
        modern_since,
        overlay,
        type_names: facts.names.clone(),
        unions: facts.unions.clone(),
        roots: facts.roots.clone(),
        methods: facts.methods.clone(),
        outcomes: facts.outcomes.clone(),
        core: Some(core),
    };
    if let Some((wire, other, pointer)) = methods::repeated(&sources) {
        let message = format!("`{other}` has the method `{wire}` too; a method has one envelope");
        return Err(Problem::at(pointer, message).in_file(&files.schema));
    }
    let model = merge::merge(&sources)?;
    if let Some((wire, pointer)) = methods::undirected(&sources, &model, core).next() {
        let message = format!(
            "the method `{wire}` has no direction: `{}` must say who sends it (`methods.{wire:?}.direction`)",
            files.facts
        );
        return Err(Problem::at(pointer, message).in_file(&files.schema));
    }
    if model.types.is_empty() && model.methods.is_empty() {
        return Err(of_facts(
            "nothing to generate: the schema has no method, and `roots` names no definition"
                .to_owned(),
        ));
    }
    for method in model.methods.values() {
        let member = facts
            .methods
            .get(&method.wire)
            .and_then(|facts| facts.header_name.as_deref());
        if let Some(member) = member
            && !has_text(&model, &method.params, member)
        {
            return Err(of_facts(format!(
                "`methods.{:?}.header_name` is `{member}`, which is not a required string of the params",
                method.wire
            )));
        }
    }
    Ok(model)
}

/// Returns whether the struct `params` has a required string `member`.
fn has_text(model: &Model, params: &TypeRef, member: &str) -> bool {
    let TypeRef::Named(name) = params else {
        return false;
    };
    let Some(Shape::Struct { fields }) = model.get(name).map(|ty| &ty.shape) else {
        return false;
    };
    fields
        .iter()
        .any(|field| field.json_name == member && field.always && field.ty == TypeRef::String)
}

/// Returns whether `identifier` can be declared in `capabilities.extensions`: a vendor prefix, a slash and a name.
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

/// Returns the definitions of `extension` that are equal to those of the same name in `core`, including all definitions that they refer to.
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
                ("$ref", Value::String(target)) => referred(target).into_iter().collect(),
                _ => references(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}
