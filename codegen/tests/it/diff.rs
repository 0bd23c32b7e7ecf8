//! The changes between neighbouring revisions, as goldens. The comparison of single schemas has tests of its own.
//!
//! `UPDATE_EXPECT=1` rewrites the goldens.

use expect_test::expect_file;
use serde_json::json;
use trueform_codegen::diff::diff;

use crate::support::committed;

#[test]
fn neighbouring_revisions() {
    let between = |a, b| diff(&committed(a), &committed(b)).unwrap().to_string();
    expect_file!["golden/diff-2024-11-05-2025-03-26.txt"]
        .assert_eq(&between("2024-11-05", "2025-03-26"));
    expect_file!["golden/diff-2025-03-26-2025-06-18.txt"]
        .assert_eq(&between("2025-03-26", "2025-06-18"));
    expect_file!["golden/diff-2025-06-18-2025-11-25.txt"]
        .assert_eq(&between("2025-06-18", "2025-11-25"));
    expect_file!["golden/diff-2025-11-25-2026-07-28.txt"]
        .assert_eq(&between("2025-11-25", "2026-07-28"));
}

#[test]
fn nothing_changes_between_a_schema_and_itself() {
    for name in crate::support::REVISIONS.into_iter().chain(["tasks"]) {
        let document = committed(name);
        assert!(diff(&document, &document).unwrap().is_empty(), "{name}");
    }
}

/// A type that only got a name, or another notation of the same schema, is not a change.
#[test]
fn spelling_is_no_change() {
    let old = json!({ "$defs": {
        "Base": { "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] },
        "T": { "allOf": [{ "$ref": "#/$defs/Base" }, { "properties": { "b": { "type": "object", "additionalProperties": {} } } }] },
    } });
    let new = json!({ "$defs": {
        "Base": { "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] },
        "Map": { "type": "object" },
        "T": { "type": "object", "required": ["a"], "properties": { "a": { "type": "string" }, "b": { "$ref": "#/$defs/Map" } } },
    } });
    assert_eq!(diff(&old, &new).unwrap().to_string(), "no changes\n");
}

#[test]
fn dangling_references_are_named() {
    let good = json!({ "$defs": {} });
    let bad = json!({ "$defs": { "A": { "$ref": "#/$defs/B" } } });
    let problem = diff(&good, &bad).unwrap_err().to_string();
    assert_eq!(
        problem,
        "definition `A`, at `/$defs/A/$ref`: `#/$defs/B` is not defined in this file"
    );
    assert!(diff(&json!({}), &good).is_err());
}
