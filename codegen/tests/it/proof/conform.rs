//! Proof that `conform` has the same verdict on every value as the official schema, at every revision.
//!
//! Values are generated from the merged model (all members, alternatives and enumeration values of all revisions, mostly within
//! the limits, sometimes not) and from every revision's own definitions, then damaged. Each is decoded once and written as
//! every revision sees it; the oracle checks the text, `conform` the value.
//!
//! Each revision gets 5,000 comparisons, or `TRUEFORM_COMPARISONS`; CI asks for 500,000. For 10⁷ in all:
//! `TRUEFORM_COMPARISONS=2_000_000 cargo test -p trueform-codegen --test it -- --nocapture proof::conform::`.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use trueform_codegen::model::{Model, TypeRef};
use trueform_schema::{
    At, Conform, DecodeError, Revision, View, Violation, conform, decode, violations,
};

use super::judge::{documents, judges};
use super::model_schema::superset;
use super::refused::{is_excused, is_inexact};
use super::rows::{Kind, Rows};
use super::{read, report};
use crate::support::comparisons;
use crate::values::Values;

/// A value in the form of each revision, and the verdict of `conform` on it.
pub(super) struct Seen {
    pub(super) all: Value,
    pub(super) at: Vec<(Value, Vec<Violation>)>,
}

/// Decodes a text as a type, and writes and checks it at every revision.
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

/// Runs `pass` with numbers from 0 until it has made the required number of comparisons of each of `revisions`, and prints
/// the numbers. A pass returns the total so far.
#[allow(clippy::print_stdout, reason = "CI shows how many there were")]
pub(super) fn until_enough(
    what: &str,
    revisions: &[Revision],
    pass: &mut dyn FnMut(u64) -> [usize; Revision::ALL.len()],
) {
    let asked = comparisons();
    let mut made = [0; Revision::ALL.len()];
    let fewest = |made: &[usize]| revisions.iter().map(|at| made[*at as usize]).min();
    // A pass makes thousands; one that makes hardly any has lost its values.
    for number in 0..=asked as u64 / 100 {
        made = pass(number);
        if fewest(&made) >= Some(asked) {
            break;
        }
    }
    for revision in revisions {
        println!(
            "{what}, {revision}: {} comparisons",
            made[*revision as usize]
        );
    }
    assert!(
        fewest(&made) >= Some(asked),
        "{what}: {made:?} comparisons, but {asked} of each revision are asked for"
    );
}

/// Values of every type, from the merged model as a schema, and of `documents`, if there are any: then half is damaged. Each
/// `pass` has others.
pub(super) fn each_value(
    pass: u64,
    documents: &[Value],
    model: &Model,
    merged: &Value,
    visit: &mut dyn FnMut(&str, &Value),
) {
    let damage = !documents.is_empty();
    for (name, value) in corners() {
        if model.types.contains_key(name) {
            visit(name, &value);
        }
    }
    let mut merged = Values::new(merged, 11 + 1_000 * pass);
    for name in model.types.keys() {
        for round in 0..40 {
            let mut value = merged.random(name);
            if damage && round % 2 == 1 {
                value = merged.damaged(value);
            }
            visit(name, &value);
        }
    }
    for (revision, document) in documents.iter().enumerate() {
        let mut values = Values::new(document, 12 + 1_000 * pass);
        for ((at, definition), ty) in &model.definitions {
            let TypeRef::Named(name) = ty else { continue };
            // An extension also refers to types of the core, which it does not define.
            if *at != revision
                || !model.types.contains_key(name)
                || document["$defs"].get(definition).is_none()
            {
                continue;
            }
            for round in 0..15 {
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

/// Values that `conform` refuses and the official schema accepts: type, place, revision and reason.
const STRICTER: [(&str, &str, Revision, &str); 7] = [
    (
        "CallToolOutcome",
        "",
        Revision::V2026_07_28,
        "the schema takes a result of an unknown kind for a complete one; results of unknown kind are not sent",
    ),
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
    (
        "GetTaskResult",
        "/inputRequests",
        Revision::V2026_07_28,
        OF_ONE_STATE,
    ),
    (
        "TaskStatusNotificationParams",
        "/inputRequests",
        Revision::V2026_07_28,
        OF_ONE_STATE,
    ),
];

const OF_ONE_STATE: &str = "the schema has a type for each state of a task, and only one has `inputRequests`: elsewhere it is an \
    extra member that may be anything; the model has one type for all states, and it is what it is called in each";

const INHERITED: &str =
    "the schema of the extension leaves out the `_meta` that every request of the revision has";

/// Values that prove rows for which the generators hardly ever find one.
fn corners() -> [(&'static str, Value); 2] {
    let schema = json!({ "type": "object" });
    let tool = json!({ "name": "t", "inputSchema": schema, "outputSchema": { "$schema": 1 } });
    let choices = json!({ "type": "array", "items": { "type": "string", "enum": ["a"] } });
    [("Tool", tool), ("PrimitiveSchemaDefinition", choices)]
}

/// The run is its own mutation check: had one rule been left out, or one row of the table of rules, how often would the
/// oracle have disagreed?
#[test]
fn conform_is_what_the_schema_of_the_revision_says() {
    let (inputs, model) = read();
    let documents = documents(&inputs, None);
    let mut rows = Rows::of(&model, &[Kind::Refused, Kind::Required, Kind::Narrowed]);
    let outcome = compare(
        &documents,
        &documents,
        [&model; 2],
        &superset(&model, &model),
        &core(),
        &Revision::ALL,
        &mut rows,
    );
    report(outcome.failures);
    report(rows.unmet(&[]));
    assert_eq!(outcome.unjudged, [""; 0]);
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
        &super::judge::documents(&inputs, None),
        [tasks_model, &model],
        &superset(&model, tasks_model),
        &tasks(),
        &[Revision::V2026_07_28],
        // An extension has one revision, so its table is empty.
        &mut Rows::of(tasks_model, &[]),
    );
    report(outcome.failures);
    assert_eq!(outcome.unjudged, [""; 0]);
    let [refused, accepted] = outcome.verdicts[4];
    assert!(
        refused > 50 && accepted > 300,
        "{refused} refused, {accepted} accepted"
    );
}

/// Results of the comparison.
#[derive(Default)]
struct Outcome {
    failures: Vec<String>,
    /// How many values of each revision the oracle refused and accepted.
    verdicts: [[usize; 2]; 5],
    /// How often a rule was the only reason to refuse a value that the oracle refuses too.
    alone: BTreeMap<&'static str, usize>,
    /// Types without an oracle.
    unjudged: Vec<String>,
}

fn compare(
    documents: &[Value],
    core: &[Value],
    [model, outer]: [&Model; 2],
    merged: &Value,
    looks: &BTreeMap<&str, Look>,
    revisions: &[Revision],
    rows: &mut Rows<'_>,
) -> Outcome {
    let judges = judges(documents, core, model);
    let mut outcome = Outcome::default();
    for (name, judges) in &judges {
        if judges.iter().all(Vec::is_empty) {
            outcome.unjudged.push(name.clone());
        }
    }
    until_enough("conform", revisions, &mut |pass| {
        each_value(pass, documents, model, merged, &mut |name, value| {
            let seen = match looks[name](&value.to_string()) {
                Ok(seen) => seen,
                Err(error) if is_inexact(&error, value) => return,
                Err(error) => {
                    for (revision, judges) in judges[name].iter().enumerate() {
                        for (place, _) in judges.iter().filter(|(_, judge)| judge.is_valid(value)) {
                            let schema = documents[revision].pointer(place);
                            if !is_excused(&[model, outer], name, error.pointer(), revision, schema)
                            {
                                outcome.failures.push(format!(
                                    "`{name}` at {}, {place}: refused, {error}\n    {value}",
                                    Revision::ALL[revision]
                                ));
                            }
                        }
                    }
                    return;
                }
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
                    if !legal
                        && let Some((item, kind)) = rows.only_reason(name, &seen, found, looks)
                    {
                        rows.meet(name, item, kind, revision);
                    }
                    let is_stricter = |violation| {
                        is_stricter(name, violation) || is_question_before(&seen.all, violation)
                    };
                    if legal == found.is_empty() || legal && found.iter().all(is_stricter) {
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
        outcome.verdicts.map(|verdicts| verdicts.iter().sum())
    });
    outcome
}

/// An answer that asks for input is not sent to older revisions, which would take it for a result if it had the members of one.
pub(super) fn is_question_before(all: &Value, violation: &Violation) -> bool {
    all["resultType"] == "input_required"
        && violation.pointer().is_empty()
        && *violation.rule() == conform::Rule::Unavailable
}

pub(super) fn is_stricter(name: &str, violation: &Violation) -> bool {
    let inside = |place: &str| match violation.pointer().strip_prefix(place) {
        Some(rest) => rest.is_empty() || !place.is_empty() && rest.starts_with('/'),
        None => false,
    };
    STRICTER
        .iter()
        .any(|(of, place, at, _)| *of == name && *at == violation.revision() && inside(place))
}
