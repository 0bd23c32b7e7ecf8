//! `schema/requirements.toml` against the citations: every id in the sources has an entry, every entry has its test.
//!
//! A test cites a rule in its own function, or in the comment above it: what stands elsewhere in a file of tests does not count.
//! Only the id is checked, not the code around it: the reviewer of a test checks that it is right about its rule.

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

#[test]
fn only_tests_cite_for_tests() {
    // In pieces, as above.
    let [above, inside, helper, whole] = [1, 2, 3, 4].map(|number| format!("Q-{number}"));
    let source = format!(
        "//! {whole}\n/// {helper}\nfn helper() {{\n    // {helper}\n}}\n\n// {above}\n#[cfg(unix)]\n#[tokio::test(flavor = \"x\")]\n\
         async fn it_works() {{\n    if {inside} {{\n    }}\n    // {inside}\n}}\n\n// {helper}\nfn case() {{\n}}\n\
         mod tests {{\n    // {above}\n    #[test]\n    fn inner() {{\n        // {inside}\n    }}\n    // {helper}\n}}\n"
    );
    let found = |in_test, without_harness| -> Vec<String> {
        let lines = lines(&source, without_harness).filter(|(is_test, _)| *is_test == in_test);
        lines
            .flat_map(|(_, line)| ids(line).map(str::to_owned))
            .collect()
    };
    let expected = [&above, &inside, &inside, &above, &inside];
    assert_eq!(found(true, false).iter().collect::<Vec<_>>(), expected);
    let expected = [&whole, &helper, &helper, &helper, &helper];
    assert_eq!(found(false, false).iter().collect::<Vec<_>>(), expected);
    assert_eq!(found(true, true).len(), 5, "no case is in a table");
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
                for (is_test, line) in lines(&source, is_without_harness(file)) {
                    for id in ids(line) {
                        let cited = citations.entry(id.to_owned()).or_default();
                        cited.files.push(file.to_owned());
                        cited.in_tests |= is_test;
                    }
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

/// Whether the tests in this file are functions that its own `main` calls.
fn is_without_harness(file: &Path) -> bool {
    file.ends_with("runtime/tests/process.rs")
}

/// The lines of a source that `rustfmt` has formatted, and whether each belongs to a test: to a function with the attribute, or to
/// the comments and attributes above it. In a file without a harness every function counts that is in the table of cases.
fn lines(source: &str, without_harness: bool) -> impl Iterator<Item = (bool, &str)> {
    let lines: Vec<&str> = source.lines().collect();
    let mut in_test = vec![false; lines.len()];
    let is_above = |line: &str| line.trim_start().starts_with("//") || is_attribute(line);
    for (at, line) in lines.iter().enumerate() {
        let is_case = || {
            let name = line.strip_prefix("fn ")?.strip_suffix("() {")?;
            source.contains(&format!("\"{name}\",")).then_some(())
        };
        if !(is_test_attribute(line) || without_harness && is_case().is_some()) {
            continue;
        }
        let above = lines[..at].iter().rev().take_while(|line| is_above(line));
        let indent = line.len() - line.trim_start().len();
        let is_end = |line: &&str| line.trim_start() == "}" && line.len() == indent + 1;
        let length = lines[at..].iter().position(is_end);
        let end = at + length.expect("a function of a formatted file has an end");
        in_test[at - above.count()..=end].fill(true);
    }
    in_test.into_iter().zip(lines)
}

fn is_attribute(line: &str) -> bool {
    line.trim_start().starts_with("#[")
}

fn is_test_attribute(line: &str) -> bool {
    let line = line.trim_start();
    line == "#[test]" || line == "#[tokio::test]" || line.starts_with("#[tokio::test(")
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
