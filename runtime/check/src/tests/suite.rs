//! The required cases of the JSON-Schema-Test-Suite.
//!
//! The suite is not in this repository. The source package of the Python library `jsonschema` contains it; `.ci/suite.sh FOLDER` puts it
//! into a folder. `JSON_SCHEMA_TEST_SUITE` names the folder.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use expect_test::{Expect, expect};
use serde_json::Value;

use super::super::{CompileOptions, Formats, Schema, SchemaErrorKind};

fn folder() -> PathBuf {
    std::env::var_os("JSON_SCHEMA_TEST_SUITE")
        .map(PathBuf::from)
        .expect("JSON_SCHEMA_TEST_SUITE names the folder of the suite")
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// Runs the cases of a `draft`, whose schemas get `$schema` if they name none. `refused` lists by file how many of its schemas do not
/// compile, and why.
fn run(draft: &str, dialect: Option<&str>, refused: &Expect) {
    let files = fs::read_dir(folder().join("tests").join(draft)).expect("the folder of the draft");
    let mut files: Vec<PathBuf> = files
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    let (mut list, mut wrong) = (String::new(), Vec::new());
    let mut cases = 0;
    for path in files {
        let groups = read(&path);
        let groups = groups.as_array().expect("a list of groups");
        let name = path.file_stem().expect("a name").to_string_lossy();
        let mut refusals: BTreeMap<String, usize> = BTreeMap::new();
        for group in groups {
            let mut schema = group["schema"].clone();
            if let (Some(members), Some(dialect)) = (schema.as_object_mut(), dialect) {
                members.entry("$schema").or_insert_with(|| dialect.into());
            }
            // In the suite, formats are annotations.
            let options = CompileOptions::default().formats(Formats::Annotate);
            let compiled = match Schema::compile(&schema, options) {
                Ok(compiled) => compiled,
                Err(errors) => {
                    let kinds: BTreeSet<_> =
                        errors.iter().map(|error| name_of(error.kind)).collect();
                    let kinds: Vec<&str> = kinds.into_iter().collect();
                    *refusals.entry(kinds.join(" and ")).or_default() += 1;
                    continue;
                }
            };
            for test in group["tests"].as_array().expect("a list of tests") {
                cases += 1;
                let (value, expected) = (&test["data"], test["valid"] == true);
                let text = value.to_string();
                let verdicts = [
                    compiled.accepts(value),
                    compiled.check(value).is_ok(),
                    compiled.check_str(&text).is_ok(),
                ];
                if verdicts != [expected; 3] {
                    wrong.push(format!("{name}: {schema} on {text}: {verdicts:?}"));
                }
            }
        }
        for (kinds, count) in refusals {
            _ = writeln!(list, "{name}: {count} of {}: {kinds}", groups.len());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(500 < cases, "only {cases} cases");
    refused.assert_eq(&list);
}

fn name_of(kind: SchemaErrorKind) -> &'static str {
    match kind {
        SchemaErrorKind::Malformed => "malformed",
        SchemaErrorKind::Dialect => "unknown dialect",
        SchemaErrorKind::Remote => "another document",
        SchemaErrorKind::Unresolved => "a reference that leads nowhere",
        SchemaErrorKind::Unsupported => "needs the feature `json-schema`",
        SchemaErrorKind::TooLarge => "too large",
        SchemaErrorKind::Contradictory => unreachable!("the compiler accepts contradictions"),
    }
}

// Z-1
#[test]
#[ignore = "needs the suite: `.ci/suite.sh`"]
fn draft_2020_12() {
    run(
        "draft2020-12",
        None,
        &if cfg!(feature = "json-schema") {
            expect![[r#"
                defs: 1 of 1: another document
                dynamicRef: 5 of 20: another document
                ref: 1 of 35: another document
                refRemote: 15 of 15: another document
                vocabulary: 2 of 2: unknown dialect
            "#]]
        } else {
            expect![[r#"
                anchor: 3 of 4: another document and needs the feature `json-schema`
                defs: 1 of 1: another document
                dynamicRef: 4 of 20: another document
                dynamicRef: 12 of 20: another document and needs the feature `json-schema`
                dynamicRef: 3 of 20: needs the feature `json-schema`
                not: 1 of 9: needs the feature `json-schema`
                ref: 3 of 35: a reference that leads nowhere and another document and needs the feature `json-schema`
                ref: 1 of 35: another document
                ref: 7 of 35: another document and needs the feature `json-schema`
                ref: 2 of 35: needs the feature `json-schema`
                refRemote: 12 of 15: another document
                refRemote: 3 of 15: another document and needs the feature `json-schema`
                unevaluatedItems: 1 of 27: another document and needs the feature `json-schema`
                unevaluatedItems: 25 of 27: needs the feature `json-schema`
                unevaluatedProperties: 1 of 41: another document and needs the feature `json-schema`
                unevaluatedProperties: 39 of 41: needs the feature `json-schema`
                vocabulary: 2 of 2: unknown dialect
            "#]]
        },
    );
}

#[test]
#[ignore = "needs the suite: `.ci/suite.sh`"]
fn draft_07() {
    run(
        "draft7",
        Some("http://json-schema.org/draft-07/schema#"),
        &if cfg!(feature = "json-schema") {
            expect![[r#"
                definitions: 1 of 1: another document
                ref: 1 of 35: another document
                refRemote: 11 of 11: another document
            "#]]
        } else {
            expect![[r#"
                definitions: 1 of 1: another document
                ref: 2 of 35: a reference that leads nowhere and another document and needs the feature `json-schema`
                ref: 1 of 35: another document
                ref: 8 of 35: another document and needs the feature `json-schema`
                refRemote: 8 of 11: another document
                refRemote: 3 of 11: another document and needs the feature `json-schema`
            "#]]
        },
    );
}
