//! Proof that what is let in where nothing is tolerated is what the closed twin of the revision's schema accepts (DEC-12).
//!
//! Judged is a value as it came, not as the revision would see it: by the check of its form, by `conform`, and by comparing its
//! text with what it says at the revision. Excepted are integers with a fraction, which a leniency of their own lets in and
//! JSON schema too, and `_meta`, which is open here as in the official schema.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use trueform_schema::{
    Conform, DecodeError, Revision, Violation,
    conform::{DifferenceKind, Path, Walk, differences},
    decode,
};

use super::conform::{each_value, is_question_before, is_stricter, until_enough};
use super::judge::{documents, judges};
use super::model_schema::superset;
use super::refused::{is_excused, is_inexact};
use super::twin::{close, is_also};
use super::{read, report};

/// What is wrong with a value that came.
struct Verdict {
    violations: Vec<Violation>,
    differences: Vec<(DifferenceKind, String)>,
}

type Judge = fn(&str, Revision) -> Result<Verdict, DecodeError>;

fn judge<T: DeserializeOwned + Conform>(
    text: &str,
    revision: Revision,
) -> Result<Verdict, DecodeError> {
    let value: T = decode::from_str(text)?;
    let (mut violations, mut found) = (Vec::new(), Vec::new());
    let mut sink = |violation: Violation| {
        violations.push(violation);
        ControlFlow::Continue(())
    };
    let _ = value.conform(&mut Walk::incoming(revision, &mut sink), &Path::ROOT);
    let _ = differences(&value, text, revision, &mut |difference| {
        if difference.kind != DifferenceKind::Fraction {
            found.push((difference.kind, difference.pointer));
        }
        ControlFlow::Continue(())
    });
    Ok(Verdict {
        violations,
        differences: found,
    })
}

fn core() -> BTreeMap<&'static str, Judge> {
    macro_rules! table {
        ($($name:ident)*) => { BTreeMap::from([$((stringify!($name), judge::<trueform_schema::$name> as Judge)),*]) };
    }
    include!("table/core.rs")
}

/// Opens every `_meta` of the closed `document`, and what it refers to; `plain` is the document before it was closed.
fn open_meta(document: &mut Value, plain: &Value) {
    let definitions = document["$defs"]
        .as_object_mut()
        .expect("it has definitions");
    definitions.values_mut().for_each(open_members);
    for (name, definition) in plain["$defs"].as_object().into_iter().flatten() {
        let mut definition = definition.clone();
        refer_to_open(&mut definition);
        definitions.insert(format!("{OPEN}{name}"), definition);
    }
}

/// What the names of definitions begin with that were not closed.
const OPEN: &str = "Open";

fn open_members(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(open_members);
            if members.get("additionalProperties") != Some(&Value::Bool(false)) {
                return;
            }
            let known = members.entry("properties").or_insert_with(|| json!({}));
            // Also where the official schema does not repeat it.
            let known = known.as_object_mut().expect("properties are an object");
            let meta = known.entry("_meta").or_insert_with(|| json!({}));
            refer_to_open(meta);
            if let Some(meta) = meta.as_object_mut() {
                meta.shift_remove("additionalProperties");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(open_members),
        _ => {}
    }
}

fn refer_to_open(schema: &mut Value) {
    const BEFORE: &str = "#/$defs/";
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && let Some(name) = target.strip_prefix(BEFORE)
                && !name.starts_with(OPEN)
            {
                *target = format!("{BEFORE}{OPEN}{name}");
            }
            members.values_mut().for_each(refer_to_open);
        }
        Value::Array(items) => items.iter_mut().for_each(refer_to_open),
        _ => {}
    }
}

#[test]
fn what_is_let_in_is_what_the_closed_twin_accepts() {
    let (inputs, model) = read();
    let plain = documents(&inputs, None);
    let mut twins = plain.clone();
    for (revision, document) in twins.iter_mut().enumerate() {
        close(&model, revision, document);
        open_meta(document, &plain[revision]);
    }
    let oracles = judges(&twins, &twins, &model);
    let own = core();
    let merged = superset(&model, &model);
    let mut failures = Vec::new();
    let mut made = [0; Revision::ALL.len()];
    let mut verdicts = [[0_usize; 2]; Revision::ALL.len()];
    // How often a kind of difference was the only reason to refuse what the twin refuses too.
    let mut alone: BTreeMap<String, usize> = BTreeMap::new();
    until_enough("incoming", &Revision::ALL, &mut |pass| {
        each_value(pass, &plain, &model, &merged, &mut |name, value| {
            // Itself what is open.
            if name.ends_with("MetaObject") {
                return;
            }
            let text = value.to_string();
            for (revision, at) in Revision::ALL.into_iter().enumerate() {
                let verdict = own[name](&text, at);
                for (place, oracle) in &oracles[name][revision] {
                    if is_also(&model, revision, place, name) {
                        continue;
                    }
                    made[revision] += 1;
                    let legal = oracle.is_valid(value);
                    verdicts[revision][usize::from(legal)] += 1;
                    let problem = match &verdict {
                        Err(error) if is_inexact(error, value) => continue,
                        Err(error) => {
                            let schema = plain[revision].pointer(place);
                            if !legal
                                || is_excused(&[&model], name, error.pointer(), revision, schema)
                            {
                                continue;
                            }
                            error.to_string()
                        }
                        Ok(Verdict {
                            violations,
                            differences,
                        }) => {
                            let is_let_in = violations.is_empty() && differences.is_empty();
                            if let (false, [], [(kind, _)]) =
                                (legal, &violations[..], &differences[..])
                            {
                                *alone.entry(format!("{kind:?}")).or_default() += 1;
                            }
                            let is_listed = |violation| {
                                is_stricter(name, violation) || is_question_before(value, violation)
                            };
                            if legal == is_let_in
                                || legal
                                    && differences.is_empty()
                                    && violations.iter().all(is_listed)
                            {
                                continue;
                            }
                            match (violations.first(), differences.first()) {
                                (Some(violation), _) => violation.to_string(),
                                (None, Some((kind, pointer))) => format!("{kind:?} at `{pointer}`"),
                                (None, None) => {
                                    let error = oracle.validate(value).expect_err("refused");
                                    format!("let in, but {error} at {}", error.instance_path())
                                }
                            }
                        }
                    };
                    failures.push(format!("`{name}` at {at}, {place}: {problem}\n    {value}"));
                }
            }
        });
        made
    });
    report(failures);
    for kind in ["Unknown", "Absent"] {
        assert!(alone.contains_key(kind), "{kind} goes unnoticed: {alone:?}");
    }
    for (at, [refused, accepted]) in Revision::ALL.into_iter().zip(verdicts) {
        assert!(
            refused > 500 && accepted > 500,
            "{at}: {refused} refused, {accepted} accepted"
        );
    }
}
