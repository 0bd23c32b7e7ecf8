//! Proof that `conform` says of every value at every revision what the official schema of that revision says.
//!
//! Values are made from the merged model (all members, alternatives and enumeration values of all revisions, mostly within
//! the limits, sometimes not) and from every revision's own definitions, then damaged. Each is decoded once and written as
//! every revision sees it; the oracle judges what was written, `conform` the value.
//!
//! By default there are about 6,000 comparisons a revision. `TRUEFORM_ROUNDS=n` multiplies that: 85 make 500,000 a revision,
//! 320 make 10⁷ in all. Both are meant for `--release`:
//! `TRUEFORM_ROUNDS=85 cargo test --release -p trueform-codegen --test it proof::conform`.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::Value;
use trueform_codegen::model::{Model, TypeRef};
use trueform_schema::{
    At, Conform, DecodeError, Revision, View, Violation, conform, decode, violations,
};

use super::judge::{documents, judges};
use super::model_schema::superset;
use super::{read, report};
use crate::support::rounds;
use crate::values::Values;

/// A value as each revision sees it, and what `conform` says of that.
pub(super) struct Seen {
    pub(super) all: Value,
    pub(super) at: Vec<(Value, Vec<Violation>)>,
}

/// Decodes a text as a type and looks at it from all sides.
pub(super) type Look = fn(&str) -> Result<Seen, DecodeError>;

fn look<T: DeserializeOwned + Conform>(text: &str) -> Result<Seen, DecodeError> {
    let value: T = decode::from_str(text)?;
    let mut all = Vec::new();
    value.encode(View::ALL, &mut all);
    let parsed = |bytes: &[u8]| serde_json::from_slice(bytes).expect("encoders write JSON");
    let at = Revision::ALL.map(|revision| {
        let found = violations(&value, revision);
        assert_eq!(
            conform(&value, revision).err().map(|first| *first).as_ref(),
            found.first()
        );
        (parsed(&At::new(&value, revision).to_vec()), found)
    });
    Ok(Seen {
        all: parsed(&all),
        at: at.into(),
    })
}

pub(super) fn core() -> BTreeMap<&'static str, Look> {
    macro_rules! table {
        ($($name:ident)*) => { BTreeMap::from([$((stringify!($name), look::<trueform_schema::$name> as Look)),*]) };
    }
    include!("table/core.rs")
}

fn tasks() -> BTreeMap<&'static str, Look> {
    macro_rules! table {
        ($($name:ident)*) => { BTreeMap::from([$((stringify!($name), look::<trueform_schema::ext::tasks::$name> as Look)),*]) };
    }
    include!("table/tasks.rs")
}

/// Values of every type, from the merged model as a schema, and of `documents`, if there are any: then half is damaged.
pub(super) fn each_value(
    documents: &[Value],
    model: &Model,
    merged: &Value,
    visit: &mut dyn FnMut(&str, &Value),
) {
    let damage = !documents.is_empty();
    let mut merged = Values::new(merged, 11);
    for name in model.types.keys() {
        for round in 0..rounds(40) {
            let mut value = merged.random(name);
            if damage && round % 2 == 1 {
                value = merged.damaged(value);
            }
            visit(name, &value);
        }
    }
    for (revision, document) in documents.iter().enumerate() {
        let mut values = Values::new(document, 12);
        for ((at, definition), ty) in &model.definitions {
            let TypeRef::Named(name) = ty else { continue };
            // An extension also refers to types of the core, which are none of its own.
            if *at != revision
                || !model.types.contains_key(name)
                || document["$defs"].get(definition).is_none()
            {
                continue;
            }
            for round in 0..rounds(15) {
                let mut value = values.random(definition);
                if round % 2 == 1 {
                    value = values.damaged(value);
                }
                visit(name, &value);
            }
        }
    }
}

/// Rules that values which were decoded can break. The other two need an author: JSON has no number that is not finite, and
/// a decoded extra member never has the name of a known one.
const RULES: [&str; 9] = [
    "unavailable",
    "unknown",
    "missing",
    "type",
    "minimum",
    "maximum",
    "max-items",
    "format",
    "one-of",
];

/// Where `conform` refuses what the official schema lets pass: type, place, revision and reason.
const STRICTER: [(&str, &str, Revision, &str); 4] = [
    (
        "ElicitRequestParams",
        "",
        Revision::V2025_06_18,
        "there was no `mode`, so any is an extra member; but a request that no revision knows the meaning of is not sent",
    ),
    (
        "CancelTaskRequestParams",
        "/_meta",
        Revision::V2026_07_28,
        INHERITED,
    ),
    (
        "GetTaskRequestParams",
        "/_meta",
        Revision::V2026_07_28,
        INHERITED,
    ),
    (
        "UpdateTaskRequestParams",
        "/_meta",
        Revision::V2026_07_28,
        INHERITED,
    ),
];

const INHERITED: &str =
    "the schema of the extension leaves out the `_meta` that every request of the revision has";

/// Several results in one: the schemas say less of them together than of each, since one accepts any object.
const UNJUDGED: [&str; 5] = [
    "CallToolOutcome",
    "CreateMessageOutcome",
    "ElicitOutcome",
    "GetPromptOutcome",
    "ReadResourceOutcome",
];

/// The run is its own mutation check: had one rule been left out, how often would the oracle have disagreed?
#[test]
fn conform_is_what_the_schema_of_the_revision_says() {
    let (inputs, model) = read();
    let documents = documents(&inputs, None);
    let outcome = compare(&documents, &model, &superset(&model, &model), &core());
    report(outcome.failures);
    assert_eq!(outcome.unjudged, UNJUDGED);
    for rule in RULES {
        assert!(
            outcome.alone.contains_key(rule),
            "leaving out `{rule}` would go unnoticed: {:?}",
            outcome.alone
        );
    }
    for (revision, [refused, accepted]) in outcome.verdicts.iter().enumerate() {
        assert!(
            *refused > 500 && *accepted > 2_000,
            "{}: {refused} refused, {accepted} accepted",
            Revision::ALL[revision]
        );
    }
}

#[test]
fn conform_is_what_the_schema_of_the_tasks_extension_says() {
    let (inputs, model) = read();
    let tasks_model = &model.extensions["tasks"];
    let documents = documents(&inputs, Some("tasks"));
    let outcome = compare(
        &documents,
        tasks_model,
        &superset(&model, tasks_model),
        &tasks(),
    );
    report(outcome.failures);
    assert_eq!(outcome.unjudged, ["CallToolOutcome"]);
    let [refused, accepted] = outcome.verdicts[4];
    assert!(
        refused > 50 && accepted > 300,
        "{refused} refused, {accepted} accepted"
    );
}

/// What came of comparing.
#[derive(Default)]
struct Outcome {
    failures: Vec<String>,
    /// How many values of each revision the oracle refused and accepted.
    verdicts: [[usize; 2]; 5],
    /// How often a rule was the only reason to refuse what the oracle refuses too.
    alone: BTreeMap<&'static str, usize>,
    /// Types that no oracle judges.
    unjudged: Vec<String>,
}

fn compare(
    documents: &[Value],
    model: &Model,
    merged: &Value,
    looks: &BTreeMap<&str, Look>,
) -> Outcome {
    let mut judges = judges(documents, model);
    let mut outcome = Outcome::default();
    for (name, judges) in &mut judges {
        if UNJUDGED.contains(&name.as_str()) {
            judges.iter_mut().for_each(Vec::clear);
        }
        if judges.iter().all(Vec::is_empty) {
            outcome.unjudged.push(name.clone());
        }
    }
    each_value(documents, model, merged, &mut |name, value| {
        let Ok(seen) = looks[name](&value.to_string()) else {
            return;
        };
        for (revision, (json, found)) in seen.at.iter().enumerate() {
            for (place, judge) in &judges[name][revision] {
                let legal = judge.is_valid(json);
                outcome.verdicts[revision][usize::from(legal)] += 1;
                let rules: BTreeSet<&str> = found
                    .iter()
                    .map(|violation| violation.rule().name())
                    .collect();
                if let (false, 1, Some(rule)) = (legal, rules.len(), rules.first()) {
                    *outcome.alone.entry(rule).or_default() += 1;
                }
                if legal == found.is_empty()
                    || legal && found.iter().all(|violation| is_stricter(name, violation))
                {
                    continue;
                }
                let say = match found.first() {
                    Some(violation) => violation.to_string(),
                    None => judge.validate(json).expect_err("it is refused").to_string(),
                };
                outcome.failures.push(format!(
                    "`{name}` at {}, {place}: {say}\n    {json}\n    of {}",
                    Revision::ALL[revision],
                    seen.all
                ));
            }
        }
    });
    outcome
}

fn is_stricter(name: &str, violation: &Violation) -> bool {
    let inside = |place: &str| match violation.pointer().strip_prefix(place) {
        Some(rest) => rest.is_empty() || !place.is_empty() && rest.starts_with('/'),
        None => false,
    };
    STRICTER
        .iter()
        .any(|(of, place, at, _)| *of == name && *at == violation.revision() && inside(place))
}
