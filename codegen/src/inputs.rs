//! Everything that determines the generated code. Data only: `load` fills it, `correct` is the only pass that changes it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::overlay::Overlay;

/// The files of one extension, as the user named them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Files {
    /// The JSON schema.
    pub schema: String,
    /// The facts that the schema cannot express.
    pub facts: String,
}

/// Everything that the generator reads: the normal forms with the overlay's corrections applied, the overlay, and the docs of this project.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inputs {
    /// Normal form by revision, oldest first, corrected.
    pub revisions: BTreeMap<String, Value>,
    /// Normal form by extension, corrected.
    pub extensions: BTreeMap<String, Value>,
    /// The facts that a JSON schema cannot express.
    pub overlay: Overlay,
    /// The descriptions of this project by item path: `Tool`, `Tool.title`, `Role.user`.
    pub docs: BTreeMap<String, String>,
    /// The files that a user named for an extension, by extension. Problems name them.
    pub files: BTreeMap<String, Files>,
    /// FNV-1a over names and bytes of all input files.
    pub fingerprint: u64,
}

impl Inputs {
    /// Returns the files of the extension `name`, as problems name them.
    pub(crate) fn files_of(&self, name: &str) -> Files {
        match self.files.get(name) {
            Some(files) => files.clone(),
            None => Files {
                schema: format!("extensions/{name}.json"),
                facts: OVERLAY.to_owned(),
            },
        }
    }
}

/// The file of the facts that this project's own schemas cannot express.
pub(crate) const OVERLAY: &str = "overlay.toml";
