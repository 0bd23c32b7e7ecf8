//! Table tests: verdicts and words per keyword, faults of schemas, limits; and in `oracle`, agreement with the
//! `jsonschema` crate.

mod exact;
#[cfg(feature = "json-schema")]
mod full;
mod generator;
mod limits;
mod oracle;
mod schemas;
mod suite;
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

/// Returns the verdict as text: empty if the value passes. All functions that check must agree.
#[track_caller]
fn verdict(schema: &str, value: &str) -> String {
    let tree = json(value);
    let words = words(&compiled(schema), &tree);
    let streamed = compiled(schema)
        .check_str(value)
        .err()
        .map(|violations| violations.to_string())
        .unwrap_or_default();
    assert_eq!(words, streamed, "tree and text disagree");
    #[cfg(feature = "json-schema")]
    if let Some(other) = full::otherwise_checked(schema) {
        assert_eq!(
            words,
            self::words(&other, &tree),
            "the engines disagree on {schema}"
        );
    }
    words
}

#[track_caller]
fn words(schema: &Schema, value: &Value) -> String {
    let words = match schema.check(value) {
        Ok(()) => String::new(),
        Err(violations) => violations.to_string(),
    };
    assert_eq!(
        words.is_empty(),
        schema.accepts(value),
        "check and accepts disagree"
    );
    words
}
