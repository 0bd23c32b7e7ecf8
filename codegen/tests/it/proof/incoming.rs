//! Proof that what is let in where nothing is tolerated is what the closed twin of the revision's schema accepts (DEC-12).
//!
//! Judged is a value as it came, not as the revision would see it: by the check of its form, by `conform`, and by comparing its
//! text with what it says at the revision. Excepted are integers with a fraction, which a leniency of their own lets in and
//! JSON schema too, and `_meta`, which is open here as in the official schema.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use trueform_codegen::model::Model;
use trueform_schema::{
    Conform, DecodeError, Method, Revision, Violation,
    conform::{DifferenceKind, Path, Walk, differences},
    decode, ext,
    methods::Methods,
};

use super::conform::{each_value, is_question_before, is_stricter, until_enough};
use super::judge::{Judges, documents, flattened, judges};
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
    Ok(verdict(&value, text, revision))
}

fn verdict(value: &dyn Conform, text: &str, revision: Revision) -> Verdict {
    let (mut violations, mut found) = (Vec::new(), Vec::new());
    let mut sink = |violation: Violation| {
        violations.push(violation);
        ControlFlow::Continue(())
    };
    let _ = value.conform(&mut Walk::incoming(revision, &mut sink), &Path::ROOT);
    let _ = differences(value, text, revision, &mut |difference| {
        if difference.kind != DifferenceKind::Fraction {
            found.push((difference.kind, difference.pointer));
        }
        ControlFlow::Continue(())
    });
    Verdict {
        violations,
        differences: found,
    }
}

fn core() -> BTreeMap<&'static str, Judge> {
    macro_rules! table {
        ($($name:ident)*) => { BTreeMap::from([$((stringify!($name), judge::<trueform_schema::$name> as Judge)),*]) };
    }
    include!("table/core.rs")
}

/// Params are decoded as the engine decodes them: by the adapter of the side that receives them, which knows them by method.
fn tasks() -> BTreeMap<&'static str, Judge> {
    macro_rules! table {
        ($($name:ident)*) => { BTreeMap::from([$((stringify!($name), judge::<ext::tasks::$name> as Judge)),*]) };
    }
    let mut judges = include!("table/tasks.rs");
    let of_methods: [(_, Judge); 4] = [
        ("CancelTaskRequestParams", |text, at| {
            requested(Method::CancelTask, text, at)
        }),
        ("GetTaskRequestParams", |text, at| {
            requested(Method::GetTask, text, at)
        }),
        ("UpdateTaskRequestParams", |text, at| {
            requested(Method::UpdateTask, text, at)
        }),
        ("TaskStatusNotificationParams", notified),
    ];
    judges.extend(of_methods);
    judges
}

/// Both sides of the extension; nothing calls them.
struct Nobody;

impl ext::tasks::handler::ServerHandler for Nobody {
    type Context = ();
}

impl ext::tasks::handler::ClientHandler for Nobody {
    type Context = ();
}

fn requested(method: Method, text: &str, at: Revision) -> Result<Verdict, DecodeError> {
    let server: Arc<dyn Methods<()>> = Arc::new(ext::tasks::handler::Server(Nobody));
    let request = server.request(at, method.as_str(), Some(text))?;
    Ok(verdict(request.params(), text, at))
}

fn notified(text: &str, at: Revision) -> Result<Verdict, DecodeError> {
    let client: Arc<dyn Methods<()>> = Arc::new(ext::tasks::handler::Client(Nobody));
    let notification = client.notification(at, Method::TaskUpdated.as_str(), Some(text))?;
    Ok(verdict(notification.params(), text, at))
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

/// The corrected official documents, closed but for every `_meta`.
fn twins(model: &Model, plain: &[Value]) -> Vec<Value> {
    let mut twins = plain.to_vec();
    for (revision, document) in twins.iter_mut().enumerate() {
        close(model, revision, document);
        open_meta(document, &plain[revision]);
    }
    twins
}

/// The same for the extension, which repeats definitions of the core, and whose tasks have one schema for each state.
fn twins_of_tasks(core: &Model, tasks: &Model, plain: &[Value], of_core: &[Value]) -> Vec<Value> {
    let mut twins = plain.to_vec();
    for (revision, document) in twins.iter_mut().enumerate() {
        if document.is_null() {
            continue;
        }
        let mut closed = of_core[revision].clone();
        close(core, revision, &mut closed);
        let definitions = document["$defs"].as_object_mut().expect("it has some");
        for (name, definition) in definitions {
            if of_core[revision]["$defs"].get(name) == Some(definition) {
                *definition = closed["$defs"][name].clone();
            }
        }
        let whole = document.clone();
        flatten(&whole, document);
        close(tasks, revision, document);
        close_alternatives(document);
        open_meta(document, &plain[revision]);
    }
    twins
}

/// Merges every `allOf` in `schema`, of `document`. The alternatives of a part stay beside the members.
fn flatten(document: &Value, schema: &mut Value) {
    let parts = schema.get("allOf").and_then(Value::as_array);
    let alternatives = parts.and_then(|parts| parts.iter().find_map(|part| part.get("anyOf")));
    if let Some(alternatives) = alternatives.cloned() {
        *schema = flattened(document, schema.take());
        schema["anyOf"] = alternatives;
    } else if parts.is_some() {
        *schema = flattened(document, schema.take());
    }
    match schema {
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| flatten(document, member)),
        Value::Array(items) => items.iter_mut().for_each(|item| flatten(document, item)),
        _ => {}
    }
}

/// Closes each form of an object that has several: it has the members of all of them, and its own.
fn close_alternatives(schema: &mut Value) {
    match schema {
        Value::Object(members) => members.values_mut().for_each(close_alternatives),
        Value::Array(items) => items.iter_mut().for_each(close_alternatives),
        _ => {}
    }
    if schema.get("anyOf").is_none() || schema.get("properties").is_none() {
        return;
    }
    let mut alternatives = schema["anyOf"].take();
    for alternative in alternatives.as_array_mut().expect("`anyOf` is an array") {
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            alternative["properties"][name] = member.clone();
        }
        let mut required = schema["required"].as_array().cloned().unwrap_or_default();
        let own = alternative["required"].as_array().cloned();
        required.extend(own.unwrap_or_default());
        alternative["required"] = required.into();
        alternative["additionalProperties"] = false.into();
    }
    *schema = json!({ "anyOf": alternatives });
}

/// What is compared.
struct Subject<'a> {
    what: &'static str,
    revisions: &'a [Revision],
    /// The documents by revision, before they were closed.
    plain: &'a [Value],
    /// The model of the types, and that of others which these refer to.
    models: &'a [&'a Model],
    /// The merged model as a schema.
    merged: Value,
    own: BTreeMap<&'static str, Judge>,
    oracles: BTreeMap<String, Vec<Judges>>,
}

/// Results of the comparison.
#[derive(Default)]
struct Outcome {
    failures: Vec<String>,
    /// How many values of each revision the oracle refused and accepted.
    verdicts: [[usize; 2]; Revision::ALL.len()],
    /// How often a kind of difference was the only reason to refuse what the twin refuses too.
    alone: BTreeMap<String, usize>,
}

fn compare(subject: &Subject<'_>) -> Outcome {
    let Subject {
        plain,
        models,
        merged,
        own,
        oracles,
        ..
    } = subject;
    let model = models[0];
    let mut outcome = Outcome::default();
    let mut made = [0; Revision::ALL.len()];
    until_enough(subject.what, subject.revisions, &mut |pass| {
        each_value(pass, plain, model, merged, &mut |name, value| {
            // Itself what is open.
            if name.ends_with("MetaObject") {
                return;
            }
            let text = value.to_string();
            for at in subject.revisions.iter().copied() {
                let revision = at as usize;
                let verdict = own[name](&text, at);
                for (place, oracle) in &oracles[name][revision] {
                    if is_also(model, revision, place, name) {
                        continue;
                    }
                    made[revision] += 1;
                    let legal = oracle.is_valid(value);
                    outcome.verdicts[revision][usize::from(legal)] += 1;
                    let problem = match &verdict {
                        Err(error) if is_inexact(error, value) => continue,
                        Err(error) => {
                            let schema = plain[revision].pointer(place);
                            if !legal || is_excused(models, name, error.pointer(), revision, schema)
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
                                *outcome.alone.entry(format!("{kind:?}")).or_default() += 1;
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
                    let failure = format!("`{name}` at {at}, {place}: {problem}\n    {value}");
                    outcome.failures.push(failure);
                }
            }
        });
        made
    });
    outcome
}

#[test]
fn what_is_let_in_is_what_the_closed_twin_accepts() {
    let (inputs, model) = read();
    let plain = documents(&inputs, None);
    let twins = twins(&model, &plain);
    let outcome = compare(&Subject {
        what: "incoming",
        revisions: &Revision::ALL,
        plain: &plain,
        models: &[&model],
        merged: superset(&model, &model),
        own: core(),
        oracles: judges(&twins, &twins, &model),
    });
    report(outcome.failures);
    for kind in ["Unknown", "Absent"] {
        let alone = &outcome.alone;
        assert!(alone.contains_key(kind), "{kind} goes unnoticed: {alone:?}");
    }
    for (at, [refused, accepted]) in Revision::ALL.into_iter().zip(outcome.verdicts) {
        assert!(
            refused > 500 && accepted > 500,
            "{at}: {refused} refused, {accepted} accepted"
        );
    }
}

// DEC-12
#[test]
fn what_is_let_in_of_the_tasks_extension_is_what_its_closed_twin_accepts() {
    let (inputs, model) = read();
    let tasks_model = &model.extensions["tasks"];
    let of_core = documents(&inputs, None);
    let plain = documents(&inputs, Some("tasks"));
    let twins_of_core = twins(&model, &of_core);
    let twins = twins_of_tasks(&model, tasks_model, &plain, &of_core);
    let mut oracles = judges(&twins, &twins_of_core, tasks_model);
    let at = Revision::V2026_07_28;
    // The status in one of the states is a constant; it is judged as a member of its task.
    let of_status = oracles.get_mut("TaskStatus").expect("it is a type");
    of_status[at as usize].retain(|(place, _)| !place.contains("/anyOf/"));
    for (name, of) in &oracles {
        assert!(!of[at as usize].is_empty(), "`{name}` has no oracle");
    }
    let outcome = compare(&Subject {
        what: "incoming, tasks",
        revisions: &[at],
        plain: &plain,
        models: &[tasks_model, &model],
        merged: superset(&model, tasks_model),
        own: tasks(),
        oracles,
    });
    report(outcome.failures);
    for kind in ["Unknown", "Absent"] {
        let alone = &outcome.alone;
        assert!(alone.contains_key(kind), "{kind} goes unnoticed: {alone:?}");
    }
    let [refused, accepted] = outcome.verdicts[at as usize];
    assert!(
        refused > 500 && accepted > 500,
        "{refused} refused, {accepted} accepted"
    );
}
