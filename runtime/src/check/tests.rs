//! Table tests: verdicts and words per keyword, faults of schemas, limits; and in `oracle`, agreement with the
//! `jsonschema` crate.

mod oracle;
mod schemas;
mod words;

use serde_json::Value;

use super::{CompileOptions, Schema};

#[track_caller]
fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn compiled(schema: &str) -> Schema {
    Schema::compile(&json(schema), CompileOptions::default())
        .unwrap_or_else(|errors| panic!("{schema}: {errors:?}"))
}

/// The verdict as text: empty if the value passes. All ways of asking must agree.
#[track_caller]
fn verdict(schema: &str, value: &str) -> String {
    let schema = compiled(schema);
    let tree = json(value);
    let words = match schema.check(&tree) {
        Ok(()) => String::new(),
        Err(violations) => violations.to_string(),
    };
    let streamed = schema
        .check_str(value)
        .err()
        .map(|violations| violations.to_string())
        .unwrap_or_default();
    assert_eq!(words, streamed, "tree and text disagree");
    assert_eq!(
        words.is_empty(),
        schema.accepts(&tree),
        "check and accepts disagree"
    );
    words
}
