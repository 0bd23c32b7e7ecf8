//! The schema folder on disk: importing official files into it, and naming what is in it.
//!
//! Owns where files live and how they are written. The content comes from [`import`](crate::import) and
//! [`provenance`](crate::provenance).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::import::normal_form;
use crate::problem::Problem;
use crate::provenance::{self, Entry, Provenance, Source, sha256};

/// Where an official file was taken from, as far as the person importing it says so.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// `owner/name`; the earlier entry's, else the official repository for a revision.
    pub repository: Option<String>,
    /// Path in the repository; the earlier entry's, else the official one for a revision.
    pub path: Option<String>,
    /// Commit; the earlier entry's if the file is still the same one.
    pub commit: Option<String>,
}

/// What an import did.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The normal form that was written.
    pub file: PathBuf,
    /// Whether it differs from what was there.
    pub changed: bool,
    /// The entry that was recorded.
    pub entry: Entry,
}

/// Writes the normal form of the official file `official` and its provenance into the schema folder `schema`.
///
/// # Errors
/// The official file cannot be read or has no normal form, or the schema folder cannot be written. Nothing is written
/// before the normal form is complete.
pub fn import(
    schema: &Path,
    source: &Source,
    official: &Path,
    origin: Origin,
) -> Result<Imported, Problem> {
    let bytes = fs::read(official).map_err(|error| unreadable(official, &error))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        Problem::at("", format!("not UTF-8: {error}")).in_file(official.display())
    })?;
    let normal = normal_form(text).map_err(|problem| problem.in_file(official.display()))?;

    let mut provenance = Provenance::read(schema)?;
    let entry = entry(source, origin, provenance.get(source), sha256(&bytes));
    provenance.insert(source, entry.clone());

    let file = schema.join(source.committed());
    let changed = write_if_changed(&file, &normal)?;
    write_if_changed(&schema.join(provenance::FILE), &provenance.to_text()?)?;
    Ok(Imported {
        file,
        changed,
        entry,
    })
}

fn entry(source: &Source, origin: Origin, earlier: Option<&Entry>, sha256: String) -> Entry {
    let official = match source {
        Source::Revision(name) => Some((
            "modelcontextprotocol/modelcontextprotocol".to_owned(),
            format!("schema/{name}/schema.json"),
        )),
        Source::Extension(_) => None,
    };
    let earlier_repository = || earlier.and_then(|entry| entry.repository.clone());
    let earlier_path = || earlier.and_then(|entry| entry.path.clone());
    // A commit that named another file would be a lie about this one.
    let earlier_commit = || {
        earlier
            .filter(|entry| entry.sha256 == sha256)
            .and_then(|entry| entry.commit.clone())
    };
    let (repository, path) = official.unzip();
    Entry {
        repository: origin.repository.or_else(earlier_repository).or(repository),
        path: origin.path.or_else(earlier_path).or(path),
        commit: origin.commit.or_else(earlier_commit),
        sha256,
    }
}

/// Writes `text` unless the file already holds it, so that time stamps change only with content.
///
/// # Errors
/// The file or its folder cannot be written.
pub fn write_if_changed(file: &Path, text: &str) -> Result<bool, Problem> {
    if fs::read_to_string(file).is_ok_and(|old| old == text) {
        return Ok(false);
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)
            .map_err(|error| Problem::at("", error.to_string()).in_file(folder.display()))?;
    }
    fs::write(file, text)
        .map_err(|error| Problem::at("", error.to_string()).in_file(file.display()))?;
    Ok(true)
}

/// The nearest folder named `schema` with `revisions/` in it, in `start` or above: what commands use unless told.
#[must_use]
pub fn find_schema(start: &Path) -> Option<PathBuf> {
    start
        .ancestors()
        .map(|folder| folder.join("schema"))
        .find(|schema| schema.join("revisions").is_dir())
}

/// Reads a file, naming it when that fails.
///
/// # Errors
/// The file cannot be read as UTF-8 text.
pub fn read(file: &Path) -> Result<String, Problem> {
    fs::read_to_string(file).map_err(|error| unreadable(file, &error))
}

fn unreadable(file: &Path, error: &io::Error) -> Problem {
    Problem::at("", format!("cannot read: {error}")).in_file(file.display())
}
