//! The guarantees of the comparison: no value becomes illegal, or legal, without a report.

use std::cell::Cell;

use jsonschema::Validator;
use proptest::{
    prelude::any,
    test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner},
};
use serde_json::{Map, Value, json};
use trueform_compare::{Change, Flow, Impact, compare};

use crate::{
    made_up::{document, documents},
    sample::{Dice, sample},
};

/// Pairs of documents that are tried, and values on each.
const PAIRS: u32 = 1_500;
const VALUES: usize = 60;

fn runner(cases: u32) -> TestRunner {
    let config = Config {
        cases: std::env::var("PROPTEST_CASES")
            .ok()
            .and_then(|set| set.parse().ok())
            .unwrap_or(cases),
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, rng)
}

fn validator(schema: &Value) -> Validator {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .build(schema)
        .unwrap_or_else(|error| panic!("{schema}: {error}"))
}

#[track_caller]
fn passed<T: std::fmt::Debug>(result: Result<(), TestError<T>>) {
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn a_schema_has_no_change_from_itself() {
    let result = runner(PAIRS).run(&document(), |schema| {
        for flow in [Flow::In, Flow::Out, Flow::Both] {
            let changes = compare("s", &schema, &schema.clone(), flow);
            assert_eq!(changes, [], "{schema}");
        }
        Ok(())
    });
    passed(result);
}

#[test]
fn no_value_changes_sides_unnoticed() {
    let mut runner = runner(PAIRS);
    let (narrowed, widened) = (Cell::new(0), Cell::new(0));
    let result = runner.run(&(documents(), any::<u64>()), |((old, new), seed)| {
        let (before, after) = (validator(&old), validator(&new));
        let customary = validator(&without_unknown_members(&old));
        let found = |flow| Found::of(&compare("s", &old, &new, flow));
        let (input, output, both) = (found(Flow::In), found(Flow::Out), found(Flow::Both));
        let mut dice = Dice::new(seed);
        for i in 0..VALUES {
            let model = if i % 2 == 0 { &old } else { &new };
            let value = &sample(model, model, &mut dice, 4);
            let context = || {
                format!("old {old}\nnew {new}\nvalue {value}\nin {input:#?}\nout {output:#?}\nboth {both:#?}")
            };
            let (was, is) = (before.is_valid(value), after.is_valid(value));
            if was && !is && customary.is_valid(value) {
                narrowed.set(narrowed.get() + 1);
                for found in [&input, &both] {
                    assert!(found.worst >= Some(Impact::Breaking), "{}", context());
                }
            }
            if !was && is {
                widened.set(widened.get() + 1);
                for found in [&output, &both] {
                    assert!(found.worst >= Some(Impact::Risky), "{}", context());
                }
            }
        }
        Ok(())
    });
    passed(result);
    // Else the test would say nothing.
    let (narrowed, widened) = (narrowed.get(), widened.get());
    let cases = runner.config().cases;
    assert!(narrowed > cases && widened > cases, "{narrowed}, {widened}");
}

#[derive(Debug)]
struct Found {
    worst: Option<Impact>,
    #[expect(dead_code, reason = "shown when a test fails")]
    changes: Vec<String>,
}

impl Found {
    fn of(changes: &[Change]) -> Found {
        Found {
            worst: changes.iter().map(|change| change.impact).max(),
            changes: changes.iter().map(ToString::to_string).collect(),
        }
    }
}

/// A schema whose objects hold only members that the given one knows, because the exemption for unknown members applies to the others.
fn without_unknown_members(document: &Value) -> Value {
    let mut whole = closed(document);
    // Where anything goes, objects have no members that anyone knows.
    whole["$defs"]["anything"] = json!({ "unevaluatedProperties": false, "items": anything() });
    whole
}

fn anything() -> Value {
    json!({ "$ref": "#/$defs/anything" })
}

/// `schema` at a position of its own.
fn closed(schema: &Value) -> Value {
    match beside(schema) {
        Value::Object(mut members) => {
            members
                .entry("unevaluatedProperties")
                .or_insert(json!(false));
            Value::Object(members)
        }
        Value::Bool(true) => anything(),
        other => other,
    }
}

/// `schema` beside others that speak of the same value.
fn beside(schema: &Value) -> Value {
    let Value::Object(members) = schema else {
        return schema.clone();
    };
    let mut members: Map<String, Value> = members.clone();
    members.retain(|keyword, value| {
        let opens = keyword == "additionalProperties" || keyword == "unevaluatedProperties";
        !opens || (value != &json!(true) && value != &json!({}))
    });
    members.entry("items").or_insert(json!(true));
    for (keyword, value) in &mut members {
        match keyword.as_str() {
            "properties" | "patternProperties" => each(value, closed),
            "$defs" | "allOf" | "anyOf" | "oneOf" => each(value, beside),
            "prefixItems" => each(value, closed),
            "items" | "additionalProperties" | "unevaluatedProperties" => *value = closed(value),
            "if" | "then" | "else" => *value = beside(value),
            _ => {}
        }
    }
    Value::Object(members)
}

fn each(values: &mut Value, change: impl Fn(&Value) -> Value) {
    match values {
        Value::Object(members) => members
            .values_mut()
            .for_each(|value| *value = change(value)),
        Value::Array(items) => items.iter_mut().for_each(|value| *value = change(value)),
        _ => {}
    }
}
