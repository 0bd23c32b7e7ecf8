//! `docs.toml`, our own documentation of the items of the bindings: the list of items, and those without an entry.

use std::collections::BTreeSet;

use crate::{
    inputs::Inputs,
    model::{Model, Shape, TypeRef},
    problem::Problem,
};

/// How much of the bindings `docs.toml` describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// Number of items.
    pub items: usize,
    /// Number of items with a neutral generated sentence.
    pub neutral: usize,
}

/// Counts the items of `model` that have an entry.
#[must_use]
pub fn coverage(model: &Model, inputs: &Inputs) -> Coverage {
    Coverage {
        items: paths(model).len(),
        neutral: undescribed(model, inputs).len(),
    }
}

/// Returns the paths of the items of `model` that have no entry.
#[must_use]
pub fn undescribed(model: &Model, inputs: &Inputs) -> Vec<String> {
    let mut paths = paths(model);
    paths.retain(|path| !inputs.docs.contains_key(path));
    paths.into_iter().collect()
}

/// Returns the subject in the specification, such as `tools`, that `words` link to.
pub(crate) fn topic(words: &str) -> Option<&str> {
    let (_, link) = words.split_once("[Specification: ")?;
    link.split_once(']').map(|(topic, _)| topic)
}

/// # Errors
/// An entry for an item that does not exist, because it would never be used.
pub(crate) fn check(model: &Model, inputs: &Inputs) -> Result<(), Problem> {
    let paths = paths(model);
    match inputs.docs.keys().find(|path| !paths.contains(*path)) {
        Some(path) => Err(
            Problem::at("", format!("there is no item `{path}` to describe")).in_file("docs.toml"),
        ),
        None => Ok(()),
    }
}

/// Returns the path of `item` in the docs file; the items of an extension are prefixed by its name.
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
