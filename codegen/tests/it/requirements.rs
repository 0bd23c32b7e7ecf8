//! `schema/requirements.toml` against the citations: every id in the sources has an entry, every entry has its test.
//!
//! Only the id in a file is checked, not the code around it: the reviewer of a test checks that it is right about its rule.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::support::{REVISIONS, schema_folder};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Requirement {
    who: Who,
    revisions: String,
    says: String,
    cited_in: Option<CitedIn>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Who {
    Client,
    Server,
    Both,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum CitedIn {
    Code,
}

/// Where an id is cited.
#[derive(Default)]
struct Citations {
    files: Vec<PathBuf>,
    in_tests: bool,
}

#[test]
fn every_cited_id_has_an_entry() {
    let entries = entries(&text());
    let missing: Vec<String> = citations()
        .iter()
        .filter(|(id, _)| !entries.contains_key(*id))
        .map(|(id, cited)| format!("{id} in {}", cited.files[0].display()))
        .collect();
    assert!(
        missing.is_empty(),
        "not in schema/requirements.toml: {missing:#?}"
    );
}

#[test]
fn every_entry_is_cited_by_a_test_or_says_that_none_does() {
    let citations = citations();
    let untested: Vec<String> = entries(&text())
        .into_iter()
        .filter_map(|(id, entry)| match (citations.get(&id), entry.cited_in) {
            (None, _) => Some(format!("{id} is cited nowhere; remove it")),
            (Some(cited), None) if !cited.in_tests => Some(format!(
                "{id} is cited by no test; write one, or `cited_in = \"code\"`"
            )),
            _ => None,
        })
        .collect();
    assert!(untested.is_empty(), "{untested:#?}");
}

#[test]
fn ids_are_sorted_and_unique() {
    let text = text();
    let ids: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'))
        .collect();
    assert_eq!(
        ids.len(),
        entries(&text).len(),
        "an entry does not start with `[id]` on a line of its own"
    );
    for pair in ids.windows(2) {
        assert!(
            place(pair[0]) < place(pair[1]),
            "{} stands before {}",
            pair[0],
            pair[1]
        );
    }
}

#[test]
fn entries_are_complete() {
    for (id, entry) in entries(&text()) {
        assert!(is_id(&id), "`{id}` is not an id");
        assert!(
            revisions_exist(&entry.revisions),
            "{id}: revisions `{}`",
            entry.revisions
        );
        assert!(
            entry.says.ends_with('.') && entry.says.len() > 10,
            "{id}: says `{}`",
            entry.says
        );
        // Any of the three is right for some rule.
        let (Who::Client | Who::Server | Who::Both) = entry.who;
    }
}

#[test]
fn what_only_looks_like_an_id_is_none() {
    // In pieces, because this file must not cite the ids that it tests with.
    let id = ["Q", "77"].join("-");
    for (text, cited) in [
        (format!("// {id}."), true),
        (format!("({id}, {id})"), true),
        (format!("&[\"5 {id}\"]"), true),
        (format!("X{id}"), false),
        (format!("{id}7"), false),
        (format!("{id}-bit"), false),
        (format!("x_{id}"), false),
        ("UTF-8, SHA-256, 2025-06-18".to_owned(), false),
    ] {
        assert_eq!(ids(&text).any(|found| found == id), cited, "{text}");
    }
}

fn text() -> String {
    fs::read_to_string(schema_folder().join("requirements.toml")).unwrap()
}

fn entries(text: &str) -> BTreeMap<String, Requirement> {
    toml::from_str(text).unwrap_or_else(|error| panic!("requirements.toml: {error}"))
}

/// The ids that the sources of the workspace cite, by id.
fn citations() -> BTreeMap<String, Citations> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut citations: BTreeMap<String, Citations> = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() && !is_foreign(&entry.file_name().to_string_lossy()) {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|end| end == "rs") {
                let file = path.strip_prefix(&root).unwrap();
                let source = fs::read_to_string(&path).unwrap();
                let is_test =
                    source.contains("#[cfg(test)]") || file.iter().any(|part| part == "tests");
                for id in ids(&source) {
                    let cited = citations.entry(id.to_owned()).or_default();
                    cited.files.push(file.to_owned());
                    cited.in_tests |= is_test;
                }
            }
        }
    }
    assert!(
        citations.len() > 100,
        "the sources were not found: {}",
        root.display()
    );
    citations
}

/// Whether a folder of this name is not part of the workspace: builds, hidden folders, drafts that git ignores.
fn is_foreign(name: &str) -> bool {
    name == "target" || name == "wip" || name.starts_with('.')
}

/// The ids in a text.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'))
        .filter(|word| is_id(word))
}

fn is_id(word: &str) -> bool {
    let Some((group, number)) = word.split_once('-') else {
        return false;
    };
    let digits = match group {
        "TRAP" => 2..=2,
        "GAP" => 1..=2,
        letter if letter.len() == 1 && letter.as_bytes()[0].is_ascii_uppercase() => 1..=2,
        _ => return false,
    };
    digits.contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit())
}

/// Sorts the letters first, then the longer groups, each by number.
fn place(id: &str) -> (usize, &str, u32) {
    let (group, number) = id.split_once('-').unwrap_or((id, ""));
    (group.len(), group, number.parse().unwrap_or(0))
}

/// Whether `revisions` is `all`, or a list of revisions and of ranges that go forwards.
fn revisions_exist(revisions: &str) -> bool {
    let known = |revision: &str| REVISIONS.contains(&revision);
    revisions == "all"
        || revisions
            .split(", ")
            .all(|part| match part.split_once("..") {
                Some((first, last)) => known(first) && known(last) && first < last,
                None => known(part),
            })
}
