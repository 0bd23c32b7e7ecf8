//! What changed between neighbouring revisions, as goldens, and the comparison itself on small schemas.
//!
//! `UPDATE_EXPECT=1` rewrites the goldens.

use expect_test::expect_file;
use serde_json::{Value, json};
use trueform_codegen::diff::{Flow, diff, diff_schemas};

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

/// Every kind of change, in both directions and for every flow.
#[test]
fn single_schemas() {
    let object = |members: Value, required: Value| json!({ "type": "object", "properties": members, "required": required });
    let text = json!({ "type": "string" });
    let cases: [(Value, Value, &[&str]); 20] = [
        (
            object(json!({}), json!([])),
            object(json!({ "a": text }), json!([])),
            &["s.a: optional member added (string)|aaa"],
        ),
        (
            object(json!({}), json!([])),
            object(json!({ "a": text }), json!(["a"])),
            &["s.a: required member added (string)|bab"],
        ),
        (
            object(json!({ "a": text }), json!([])),
            object(json!({}), json!([])),
            &["s.a: optional member removed (string)|rbb"],
        ),
        (
            object(json!({ "a": text }), json!([])),
            object(json!({ "a": text }), json!(["a"])),
            &["s.a: became required|bab"],
        ),
        (
            object(json!({ "a": text }), json!(["a"])),
            object(json!({ "a": text }), json!([])),
            &["s.a: became optional|arr"],
        ),
        (
            json!({ "enum": ["a"] }),
            json!({ "enum": ["a", "b"] }),
            &["s: value \"b\" added|arr"],
        ),
        (
            json!({ "enum": ["a", "b"] }),
            json!({ "const": "a" }),
            &["s: value \"b\" removed|bab"],
        ),
        (
            json!({ "enum": ["a"] }),
            text.clone(),
            &["s: type changed from \"a\" to string|arr"],
        ),
        (
            json!({ "type": "integer" }),
            json!({ "type": "number" }),
            &["s: type changed from integer to number|arr"],
        ),
        (
            json!({ "type": "number" }),
            json!({ "type": "integer" }),
            &["s: type changed from number to integer|bab"],
        ),
        (
            json!({ "type": "string" }),
            json!({ "type": "integer" }),
            &["s: type changed from string to integer|bbb"],
        ),
        (
            json!(true),
            text.clone(),
            &["s: type changed from any JSON to string|bab"],
        ),
        (
            json!({ "type": "string" }),
            json!({ "type": ["string", "null"] }),
            &["s: type changed from string to null | string|arr"],
        ),
        (
            json!({ "anyOf": [text, { "type": "null" }] }),
            json!({ "type": ["null", "string"] }),
            &[],
        ),
        (
            json!({ "type": "string", "maxLength": 3 }),
            json!({ "type": "string", "maxLength": 5 }),
            &["s: `maxLength` changed from 3 to 5|arr"],
        ),
        (
            json!({ "type": "string", "minLength": 3 }),
            json!({ "type": "string", "minLength": 5 }),
            &["s: `minLength` changed from 3 to 5|bab"],
        ),
        (
            text.clone(),
            json!({ "type": "string", "format": "uri" }),
            &["s: `format` changed from none to \"uri\"|bab"],
        ),
        (
            json!({ "type": "object" }),
            json!({ "type": "object", "additionalProperties": false }),
            &["s: unknown members are now refused|bab"],
        ),
        (
            json!({ "type": "array", "items": text }),
            json!({ "type": "array", "items": { "type": "integer" } }),
            &["s[]: type changed from string to integer|bbb"],
        ),
        (
            json!({ "anyOf": [{ "$ref": "#/$defs/A" }, text], "$defs": { "A": { "type": "object", "properties": { "a": { "$ref": "#/$defs/A" } } } } }),
            json!({ "anyOf": [{ "$ref": "#/$defs/A" }, { "type": "array" }], "$defs": {
                "A": { "type": "object", "properties": { "a": { "$ref": "#/$defs/A" }, "b": text } } } }),
            &[
                "s.b: optional member added (string)|aaa",
                "s: union member string removed|bab",
                "s: union member array added|arr",
            ],
        ),
    ];
    for (old, new, expected) in cases {
        let severities = |index: usize| {
            let severity = |flow| {
                format!(
                    "{:?}",
                    diff_schemas("s", &old, &new, flow).unwrap().changes[index].severity
                )
            };
            [Flow::In, Flow::Out, Flow::Both]
                .map(|flow| severity(flow).to_lowercase().remove(0))
                .iter()
                .collect::<String>()
        };
        let changes = diff_schemas("s", &old, &new, Flow::Both).unwrap().changes;
        let found: Vec<String> = (changes.iter().enumerate())
            .map(|(i, change)| {
                format!(
                    "{}|{}",
                    change.to_string().split_once("  ").unwrap().1.trim_start(),
                    severities(i)
                )
            })
            .collect();
        assert_eq!(found, expected, "{old}\n{new}");
    }
}

/// A type that only got a name, or another spelling of the same thing, is no change.
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
