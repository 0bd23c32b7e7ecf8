//! Our own words for the items of the bindings: which items there are, and which have none yet.

use std::collections::BTreeSet;

use crate::{
    load::Inputs,
    model::{Model, Shape, TypeRef},
    problem::Problem,
};

/// How much of the bindings is described in our own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// Items in all.
    pub items: usize,
    /// Items with a neutral generated sentence.
    pub neutral: usize,
}

/// How many items of `model` have words of ours.
#[must_use]
pub fn coverage(model: &Model, inputs: &Inputs) -> Coverage {
    Coverage {
        items: paths(model).len(),
        neutral: undescribed(model, inputs).len(),
    }
}

/// The items of `model` that have no words of ours, as `docs.toml` spells them.
#[must_use]
pub fn undescribed(model: &Model, inputs: &Inputs) -> Vec<String> {
    let mut paths = paths(model);
    paths.retain(|path| !inputs.docs.contains_key(path));
    paths.into_iter().collect()
}

/// The subject that `words` link to in the specification, such as `tools`.
pub(crate) fn topic(words: &str) -> Option<&str> {
    let (_, link) = words.split_once("[Specification: ")?;
    link.split_once(']').map(|(topic, _)| topic)
}

/// # Errors
/// Words for an item that does not exist, which are words that nobody reads.
pub(crate) fn check(model: &Model, inputs: &Inputs) -> Result<(), Problem> {
    let paths = paths(model);
    match inputs.docs.keys().find(|path| !paths.contains(*path)) {
        Some(path) => Err(
            Problem::at("", format!("there is no item `{path}` to describe")).in_file("docs.toml"),
        ),
        None => Ok(()),
    }
}

/// The path of `item` in the docs file: items of an extension carry its name.
pub(crate) fn path(extension: Option<&str>, item: &str) -> String {
    match extension {
        Some(name) => format!("{name}::{item}"),
        None => item.to_owned(),
    }
}

fn paths(model: &Model) -> BTreeSet<String> {
    let mut paths: BTreeSet<String> = model
        .revisions
        .iter()
        .map(|name| format!("Revision.{name}"))
        .collect();
    collect(model, None, &mut paths);
    for (name, extension) in &model.extensions {
        collect(extension, Some(name), &mut paths);
    }
    paths
}

fn collect(model: &Model, extension: Option<&str>, paths: &mut BTreeSet<String>) {
    for ty in model.types.values() {
        let mut add = |item: &str| paths.insert(path(extension, item));
        add(&ty.name);
        let name = &ty.name;
        match &ty.shape {
            Shape::Struct { fields } => {
                for field in fields
                    .iter()
                    .filter(|field| !matches!(field.ty, TypeRef::Constant(_)))
                {
                    add(&format!("{name}.{}", field.json_name));
                }
            }
            Shape::Union { variants, .. } => {
                for variant in variants {
                    add(&format!("{name}.{}", variant.name));
                }
            }
            Shape::Enum { values } => {
                for value in values {
                    add(&format!("{name}.{}", value.value));
                }
            }
        }
    }
    // All methods are variants of one enumeration of the core.
    paths.extend(
        model
            .methods
            .values()
            .map(|method| format!("Method.{}", method.name)),
    );
}
