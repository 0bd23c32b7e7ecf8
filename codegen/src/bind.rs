//! Bindings of an extension of one's own, from one's own build script.
//!
//! The extension's schema is merged like any of ours. A definition that equals one of the core is not generated again: the
//! bindings use the type of `trueform_schema`. What the schema cannot say stands in a small TOML file, in the form of one
//! extension in `schema/overlay.toml`.

mod descriptions;

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::import::normalise;
use crate::overlay::{Extension as Facts, Overlay};
use crate::problem::Problem;
use crate::provenance::Source;
use crate::{Inputs, correct, docs, emit, model, store};

/// The core schemas, embedded by the build script.
mod core {
    include!(concat!(env!("OUT_DIR"), "/core.rs"));
}

/// An extension to bind.
///
/// ```no_run
/// // in `main` of build.rs
/// trueform_codegen::bind::Extension::new("bookmarks")
///     .schema("bookmarks.schema.json")
///     .facts("bookmarks.toml")
///     .build();
/// ```
///
/// and in the crate: `pub mod bookmarks { include!(concat!(env!("OUT_DIR"), "/bookmarks.rs")); }`. The crate depends on
/// `trueform-schema`, by that name, and needs nothing else.
#[derive(Clone, Debug)]
pub struct Extension {
    name: String,
    schema: PathBuf,
    facts: PathBuf,
}

impl Extension {
    /// An extension by its short name (lower-case letters, digits and `_`), which becomes the name of the generated file.
    /// Reads `NAME.schema.json` and `NAME.toml` unless told otherwise.
    #[must_use]
    pub fn new(name: &str) -> Extension {
        Extension {
            name: name.to_owned(),
            schema: format!("{name}.schema.json").into(),
            facts: format!("{name}.toml").into(),
        }
    }

    /// The JSON schema, as published: its descriptions become the documentation of the bindings.
    #[must_use]
    pub fn schema(mut self, file: impl Into<PathBuf>) -> Extension {
        self.schema = file.into();
        self
    }

    /// What the schema cannot say: identifier, the revision that is extended, directions of methods, rules of unions.
    #[must_use]
    pub fn facts(mut self, file: impl Into<PathBuf>) -> Extension {
        self.facts = file.into();
        self
    }

    /// The Rust text of the bindings.
    ///
    /// # Errors
    /// A file cannot be read, or something in it is left open; the problem names file, definition and JSON pointer.
    pub fn generate(&self) -> Result<String, Problem> {
        Source::extension(&self.name)?;
        let schema = self.schema.display();
        let text = store::read(&self.schema)?;
        let document: Value = serde_json::from_str(&text)
            .map_err(|error| Problem::at("", format!("not JSON: {error}")).in_file(&schema))?;
        let normal = normalise(&document).map_err(|problem| problem.in_file(&schema))?;
        let facts: Facts = toml::from_str(&store::read(&self.facts)?)
            .map_err(|error| Problem::at("", error.to_string()).in_file(self.facts.display()))?;

        let mut inputs = core_inputs()?;
        inputs.extensions = BTreeMap::from([(self.name.clone(), normal)]);
        inputs.overlay.extensions = BTreeMap::from([(self.name.clone(), facts)]);
        let model = model(&inputs)?;
        // Only now: a schema may describe what becomes no item, such as an envelope.
        let docs = descriptions::of(&document).into_iter();
        inputs.docs = docs
            .map(|(item, text)| (docs::path(Some(&self.name), &item), text))
            .collect();
        emit::emit_elsewhere(&model, &inputs, &self.name)
    }

    /// Writes the bindings to `NAME.rs` in `folder`, if they changed.
    ///
    /// # Errors
    /// As for [`Extension::generate`], or the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, Problem> {
        let file = folder.join(format!("{}.rs", self.name));
        store::write_if_changed(&file, &self.generate()?)?;
        Ok(file)
    }

    /// For a build script: [writes](Extension::write) to `OUT_DIR` and has cargo watch both files. A problem fails the build
    /// with its text.
    #[expect(
        clippy::print_stdout,
        reason = "that is how a build script talks to cargo"
    )]
    pub fn build(&self) {
        for file in [&self.schema, &self.facts] {
            println!("cargo::rerun-if-changed={}", file.display());
        }
        let written = match env::var_os("OUT_DIR") {
            Some(out) => self.write(Path::new(&out)),
            None => Err(Problem::at(
                "",
                "`OUT_DIR` is not set: this is for build scripts, use `write` elsewhere",
            )),
        };
        if let Err(problem) = written {
            // One line: cargo takes the rest for something else.
            println!("cargo::error={}", problem.to_string().replace('\n', " "));
        }
    }
}

/// The inputs of the core, without our own extensions.
fn core_inputs() -> Result<Inputs, Problem> {
    let parse = |(name, text): &(&str, &str)| match serde_json::from_str(text) {
        Ok(document) => Ok(((*name).to_owned(), document)),
        Err(error) => Err(Problem::at("", error.to_string()).in_file(name)),
    };
    let revisions = core::REVISIONS
        .iter()
        .map(parse)
        .collect::<Result<_, _>>()?;
    let mut overlay: Overlay = toml::from_str(core::OVERLAY)
        .map_err(|error| Problem::at("", error.to_string()).in_file("overlay.toml"))?;
    overlay.extensions.clear();
    for correction in &mut overlay.correct {
        correction
            .files
            .retain(|file| !file.starts_with("extension:"));
    }
    let mut inputs = Inputs {
        revisions,
        extensions: BTreeMap::new(),
        overlay,
        docs: BTreeMap::new(),
        fingerprint: 0,
    };
    correct::apply(&mut inputs)?;
    Ok(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_core_is_the_committed_one() {
        let read = Inputs::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema")).unwrap();
        assert_eq!(core_inputs().unwrap().revisions, read.revisions);
    }
}
