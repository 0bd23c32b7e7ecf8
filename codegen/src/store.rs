//! The schema folder on disk: imports official files into it, and lists its content.
//!
//! Determines where files are and how they are written. The content comes from `import` and `provenance`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::generated::Generated;
use crate::import::normal_form;
use crate::problem::Problem;
use crate::provenance::{self, Entry, Provenance, Source, sha256};

/// The origin of an official file, as far as the user who imports it states it.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// `owner/name`; by default that of the earlier entry, otherwise the official repository for a revision.
    pub repository: Option<String>,
    /// Path in the repository; by default that of the earlier entry, otherwise the official one for a revision.
    pub path: Option<String>,
    /// Commit; by default that of the earlier entry if the file is unchanged.
    pub commit: Option<String>,
}

/// Result of an import.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The normal form that was written.
    pub file: PathBuf,
    /// Whether it differs from the previous content.
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
    // The recorded commit belongs to another version of the file.
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

/// Writes `text` unless the file already contains it, so that time stamps change only with the content.
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

/// Returns the files below `folder` that differ from `generated`, and those that an earlier generation left in a folder of generated files.
///
/// # Errors
/// A folder of generated files cannot be listed.
pub fn stale(folder: &Path, generated: &Generated) -> Result<Vec<PathBuf>, Problem> {
    let mut stale = Vec::new();
    for (name, text) in generated {
        let file = folder.join(name);
        if !fs::read_to_string(&file).is_ok_and(|old| old == *text) {
            stale.push(file);
        }
    }
    stale.extend(leftovers(folder, generated)?);
    Ok(stale)
}

/// Writes the [`stale`] files, removes leftovers, and returns the paths of both.
///
/// # Errors
/// A file cannot be written or removed.
pub fn write_generated(folder: &Path, generated: &Generated) -> Result<Vec<PathBuf>, Problem> {
    let mut written = Vec::new();
    for (name, text) in generated {
        let file = folder.join(name);
        if write_if_changed(&file, text)? {
            written.push(file);
        }
    }
    for file in leftovers(folder, generated)? {
        fs::remove_file(&file)
            .map_err(|error| Problem::at("", error.to_string()).in_file(file.display()))?;
        written.push(file);
    }
    Ok(written)
}

/// Returns the Rust files that an earlier generation left in folders of the generator.
fn leftovers(folder: &Path, generated: &Generated) -> Result<Vec<PathBuf>, Problem> {
    let owned: BTreeSet<&Path> = generated
        .keys()
        .filter_map(|name| Path::new(name).parent())
        .filter(|parent| !parent.as_os_str().is_empty())
        .collect();
    let mut left = Vec::new();
    for parent in owned {
        let entries = match fs::read_dir(folder.join(parent)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(&folder.join(parent), &error)),
        };
        for entry in entries.flatten() {
            let name = parent.join(entry.file_name());
            let known = name
                .to_str()
                .is_some_and(|name| generated.contains_key(name));
            if !known && name.extension().is_some_and(|ext| ext == "rs") {
                left.push(folder.join(name));
            }
        }
    }
    left.sort();
    Ok(left)
}

/// Returns the nearest folder named `schema` with `revisions/` in it, in `start` or above: the default of all commands.
#[must_use]
pub fn find_schema(start: &Path) -> Option<PathBuf> {
    start
        .ancestors()
        .map(|folder| folder.join("schema"))
        .find(|schema| schema.join("revisions").is_dir())
}

/// Returns the revisions and extensions in the schema folder `schema`, sorted by name, revisions first.
///
/// # Errors
/// One of its folders exists but cannot be listed.
pub fn sources(schema: &Path) -> Result<Vec<Source>, Problem> {
    let mut sources = BTreeSet::new();
    for (folder, named) in [
        ("revisions", Source::revision as fn(&str) -> _),
        ("extensions", Source::extension),
    ] {
        let folder = schema.join(folder);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(&folder, &error)),
        };
        let names = entries.flatten().map(|entry| entry.file_name());
        sources.extend(names.filter_map(|name| named(name.to_str()?.strip_suffix(".json")?).ok()));
    }
    Ok(sources.into_iter().collect())
}

/// Reads a file. The error names the file.
///
/// # Errors
/// The file cannot be read as UTF-8 text.
pub fn read(file: &Path) -> Result<String, Problem> {
    fs::read_to_string(file).map_err(|error| unreadable(file, &error))
}

fn unreadable(file: &Path, error: &io::Error) -> Problem {
    Problem::at("", format!("cannot read: {error}")).in_file(file.display())
}
