//! Reads the schema folder: the files that together determine the generated code, and their fingerprint.
//!
//! Knows the places of inputs, not their meaning.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use crate::{correct, inputs::Inputs, overlay::Overlay, problem::Problem, store};

impl Inputs {
    /// Reads and corrects the schema folder `schema`.
    ///
    /// # Errors
    /// A file cannot be read or parsed, or a correction of the overlay does not apply or no longer applies.
    pub fn read(schema: &Path) -> Result<Self, Problem> {
        let mut fingerprint = Fingerprint::new();
        let revisions = read_folder(schema, "revisions", &mut fingerprint)?;
        let extensions = read_folder(schema, "extensions", &mut fingerprint)?;
        let text = store::read(&schema.join("overlay.toml"))?;
        fingerprint.add("overlay.toml", text.as_bytes());
        let overlay: Overlay = parse_toml("overlay.toml", &text)?;
        let docs = match fs::read_to_string(schema.join("docs.toml")) {
            Ok(text) => {
                fingerprint.add("docs.toml", text.as_bytes());
                parse_toml("docs.toml", &text)?
            }
            // Docs are optional: a copied schema folder need not contain them.
            Err(_) => BTreeMap::new(),
        };
        let mut inputs = Self {
            revisions,
            extensions,
            overlay,
            docs,
            files: BTreeMap::new(),
            fingerprint: fingerprint.finish(),
        };
        correct::apply(&mut inputs)?;
        Ok(inputs)
    }
}

fn read_folder(
    schema: &Path,
    folder: &str,
    fingerprint: &mut Fingerprint,
) -> Result<BTreeMap<String, Value>, Problem> {
    let mut files = BTreeMap::new();
    let path = schema.join(folder);
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(_) if folder == "extensions" => return Ok(files),
        Err(error) => {
            return Err(Problem::at("", format!("cannot read: {error}")).in_file(path.display()));
        }
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry =
            entry.map_err(|error| Problem::at("", error.to_string()).in_file(path.display()))?;
        if let Some(name) = entry
            .file_name()
            .to_str()
            .and_then(|n| n.strip_suffix(".json"))
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    for name in names {
        let file = format!("{folder}/{name}.json");
        let text = store::read(&schema.join(&file))?;
        fingerprint.add(&file, text.as_bytes());
        let value = serde_json::from_str(&text)
            .map_err(|error| Problem::at("", error.to_string()).in_file(&file))?;
        files.insert(name, value);
    }
    Ok(files)
}

fn parse_toml<T: serde::de::DeserializeOwned>(file: &str, text: &str) -> Result<T, Problem> {
    toml::from_str(text).map_err(|error| Problem::at("", error.to_string()).in_file(file))
}

/// FNV-1a, 64 bit. `schema/build.rs` has the same lines, because it may depend on nothing.
struct Fingerprint(u64);

impl Fingerprint {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, name: &str, bytes: &[u8]) {
        for part in [name.as_bytes(), &[0], bytes, &[0]] {
            for byte in part {
                self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
    }

    fn finish(self) -> u64 {
        self.0
    }
}
