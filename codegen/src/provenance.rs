//! `schema/PROVENANCE.toml`: the origin of the official file of each committed schema.
//!
//! Reads, writes and names entries. It does not read schemas, and does not fetch anything.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::problem::Problem;

/// The file's name inside the schema folder.
pub const FILE: &str = "PROVENANCE.toml";

const HEADER: &str = "\
# Which official schema file each committed one is the normal form of. Written by `trueform-codegen import`, proved by
# `trueform-codegen check`. The digest is of the official file, byte for byte.

";

/// The subject of a committed schema file: a revision of the core protocol, or an extension.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A dated revision, such as `2025-11-25`.
    Revision(String),
    /// An extension by its short name, such as `tasks`.
    Extension(String),
}

impl Source {
    /// Creates the source of a revision of the core protocol.
    ///
    /// # Errors
    /// The name is not a date of the form `YYYY-MM-DD`: it becomes a file name and an identifier.
    pub fn revision(name: &str) -> Result<Source, Problem> {
        let bytes = name.as_bytes();
        let shaped = bytes.len() == 10
            && bytes.iter().enumerate().all(|(i, b)| {
                if i == 4 || i == 7 {
                    *b == b'-'
                } else {
                    b.is_ascii_digit()
                }
            });
        match shaped {
            true => Ok(Source::Revision(name.to_owned())),
            false => Err(Problem::at(
                "",
                format!("`{name}` is not a revision, expected a date such as `2026-07-28`"),
            )),
        }
    }

    /// Creates the source of an extension.
    ///
    /// # Errors
    /// The name is not lower-case letters, digits and `_`, starting with a letter: it becomes a module name.
    pub fn extension(name: &str) -> Result<Source, Problem> {
        let shaped = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        match shaped {
            true => Ok(Source::Extension(name.to_owned())),
            false => Err(Problem::at(
                "",
                format!(
                    "`{name}` is not an extension name, expected lower-case letters, digits and `_`, such as `tasks`"
                ),
            )),
        }
    }

    /// Returns the date of the revision, or the short name of the extension.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Source::Revision(name) | Source::Extension(name) => name,
        }
    }

    /// Returns the path of the normal form inside the schema folder.
    #[must_use]
    pub fn committed(&self) -> PathBuf {
        match self {
            Source::Revision(name) => Path::new("revisions").join(format!("{name}.json")),
            Source::Extension(name) => Path::new("extensions").join(format!("{name}.json")),
        }
    }

    /// Returns the path of the official file inside a folder of official files.
    #[must_use]
    pub fn official(&self) -> PathBuf {
        match self {
            Source::Revision(name) => Path::new(name).join("schema.json"),
            Source::Extension(name) => Path::new("extensions").join(name).join("schema.json"),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Revision(name) => write!(f, "revision {name}"),
            Source::Extension(name) => write!(f, "extension {name}"),
        }
    }
}

/// The origin of one official file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// `owner/name` of the repository; absent for a file that has no public home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Path inside the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Commit that the file was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// SHA-256 of the official file, lower-case hex.
    pub sha256: String,
}

/// All entries, in order of name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Revisions of the core protocol.
    #[serde(default)]
    pub revisions: BTreeMap<String, Entry>,
    /// Extensions.
    #[serde(default)]
    pub extensions: BTreeMap<String, Entry>,
}

impl Provenance {
    /// Reads the provenance of a schema folder; a folder without the file has no entries.
    ///
    /// # Errors
    /// The file exists but cannot be read, or does not have the form that this module writes.
    pub fn read(schema: &Path) -> Result<Provenance, Problem> {
        let file = schema.join(FILE);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Provenance::default());
            }
            Err(error) => return Err(Problem::at("", error.to_string()).in_file(file.display())),
        };
        toml::from_str(&text).map_err(|error| {
            Problem::at("", error.to_string().trim().to_owned()).in_file(file.display())
        })
    }

    /// Returns the text of the file.
    ///
    /// # Errors
    /// Never occurs in practice: every entry is a table of strings.
    pub fn to_text(&self) -> Result<String, Problem> {
        let body = toml::to_string(self).map_err(|error| Problem::at("", error.to_string()))?;
        Ok(format!("{HEADER}{body}"))
    }

    /// Returns the entry of one source.
    #[must_use]
    pub fn get(&self, source: &Source) -> Option<&Entry> {
        match source {
            Source::Revision(name) => self.revisions.get(name),
            Source::Extension(name) => self.extensions.get(name),
        }
    }

    /// Sets the entry of one source and replaces an older one.
    pub fn insert(&mut self, source: &Source, entry: Entry) {
        _ = match source {
            Source::Revision(name) => self.revisions.insert(name.clone(), entry),
            Source::Extension(name) => self.extensions.insert(name.clone(), entry),
        };
    }

    /// Returns all sources that have an entry: revisions first, then extensions.
    pub fn sources(&self) -> impl Iterator<Item = (Source, &Entry)> {
        let revisions = self
            .revisions
            .iter()
            .map(|(name, entry)| (Source::Revision(name.clone()), entry));
        revisions.chain(
            self.extensions
                .iter()
                .map(|(name, entry)| (Source::Extension(name.clone()), entry)),
        )
    }
}

/// Returns the SHA-256 of `bytes` as lower-case hex.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    use fmt::Write as _;
    Sha256::digest(bytes)
        .iter()
        .fold(String::with_capacity(64), |mut hex, byte| {
            // Writing to a `String` cannot fail.
            _ = write!(hex, "{byte:02x}");
            hex
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        let mut provenance = Provenance::default();
        let entry = Entry {
            repository: Some("a/b".into()),
            path: None,
            commit: None,
            sha256: sha256(b""),
        };
        provenance.insert(&Source::Revision("2026-07-28".into()), entry);
        let text = provenance.to_text().unwrap();
        assert_eq!(toml::from_str::<Provenance>(&text).unwrap(), provenance);
        assert!(text.contains("[revisions.2026-07-28]"), "{text}");
        assert!(
            text.contains("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            "{text}"
        );
    }

    #[test]
    fn names_are_checked() {
        for good in ["2024-11-05", "2026-07-28"] {
            assert!(Source::revision(good).is_ok());
        }
        for bad in ["", "draft", "2026-7-28", "2026-07-28x", "../2026-07"] {
            assert!(Source::revision(bad).is_err(), "{bad}");
        }
        for bad in ["", "Tasks", "a/b", "..", "1a", "a-b"] {
            assert!(Source::extension(bad).is_err(), "{bad}");
        }
    }
}
