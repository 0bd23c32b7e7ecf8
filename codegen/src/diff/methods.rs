//! Two schema files as the protocol sees them: methods with their senders, parameters and results, then named types.
//!
//! Methods are found by the form of their definitions (see [`Method::all`]); this file contains no method name.

use std::collections::{BTreeMap, BTreeSet};

use trueform_compare::{Comparison, Document, Flow, Named, Schema, Shape};

use super::{Change, Impact, What};

/// Unions that list the methods of a sender. They are reported as such and not as types.
const SENDERS: [&str; 5] = [
    "ClientNotification",
    "ClientRequest",
    "InputRequest",
    "ServerNotification",
    "ServerRequest",
];

/// One method of a document.
struct Method<'a> {
    params: Schema<'a>,
    params_required: bool,
    senders: BTreeSet<String>,
    results: BTreeSet<String>,
}

impl<'a> Method<'a> {
    /// Returns every method, by its name on the wire: definitions whose `method` member is a constant.
    fn all(document: &Document<'a>) -> BTreeMap<&'a str, Method<'a>> {
        let mut methods = BTreeMap::new();
        for name in document.names().filter(|name| !SENDERS.contains(name)) {
            let Some(definition) = document.definition(name) else {
                continue;
            };
            let shape = document.shape(definition);
            let Some(wire) = wires(document, &shape).and_then(|wires| wires.first().copied())
            else {
                continue;
            };
            let method = Method {
                // A method without parameters accepts any.
                params: shape.member("params").cloned().unwrap_or_default(),
                params_required: shape.requires("params"),
                senders: senders(document, name, wire),
                results: results(document, name),
            };
            methods.insert(wire, method);
        }
        methods
    }
}

/// Returns the names on the wire that a message of this shape may have.
fn wires<'a>(document: &Document<'a>, shape: &Shape<'a>) -> Option<Vec<&'a str>> {
    let method = document.shape(shape.member("method")?.clone());
    method
        .values()?
        .iter()
        .map(|value| value.as_str())
        .collect()
}

fn senders(document: &Document<'_>, definition: &str, wire: &str) -> BTreeSet<String> {
    let lists = |union: &&&str| {
        let Some(schema) = document.definition(union) else {
            return false;
        };
        let shape = document.shape(schema);
        // A union of one may have been collapsed into a copy of its only member.
        let is_copy = || wires(document, &shape).is_some_and(|wires| wires.contains(&wire));
        let names = |one: &Schema<'_>| one.name().is_some_and(|name| name == definition);
        shape.alternatives().any(names) || is_copy()
    };
    SENDERS
        .iter()
        .filter(lists)
        .map(|union| (*union).to_owned())
        .collect()
}

/// Returns the names of the possible results: those of the response definition, otherwise the result of the same name.
fn results(document: &Document<'_>, definition: &str) -> BTreeSet<String> {
    let Some(stem) = definition.strip_suffix("Request") else {
        return BTreeSet::new();
    };
    let result = format!("{stem}Result");
    if let Some(response) = document.definition(&format!("{result}Response"))
        && let Some(schema) = document.shape(response).member("result")
    {
        let shape = document.shape(schema.clone());
        let alternatives = shape
            .alternatives()
            .map(|one| document.describe(one.clone()));
        return match schema.name() {
            None if shape.alternatives().next().is_some() => alternatives.collect(),
            _ => BTreeSet::from([document.describe(schema.clone())]),
        };
    }
    let name = if document.definition(&result).is_some() {
        result
    } else {
        "EmptyResult".to_owned()
    };
    BTreeSet::from([name])
}

pub(super) fn compare(old: &Document<'_>, new: &Document<'_>) -> Vec<Change> {
    let (old_methods, new_methods) = (Method::all(old), Method::all(new));
    let mut comparison = Comparison::new(old, new, Flow::Both, Named::Apart);
    let wires: BTreeSet<&str> = old_methods
        .keys()
        .chain(new_methods.keys())
        .copied()
        .collect();
    let mut changes = Vec::new();
    for wire in wires {
        match (old_methods.get(wire), new_methods.get(wire)) {
            (Some(before), Some(after)) => {
                changes.extend(method(&mut comparison, wire, before, after));
            }
            (Some(_), None) => changes.push(change(wire, What::MethodRemoved, Impact::Breaking)),
            (None, Some(after)) => {
                let senders = after.senders.clone();
                changes.push(change(
                    wire,
                    What::MethodAdded { senders },
                    Impact::Additive,
                ));
            }
            (None, None) => {}
        }
    }
    changes.extend(types(&mut comparison, old, new));
    changes
}

fn change(subject: &str, what: What, impact: Impact) -> Change {
    Change {
        subject: subject.to_owned(),
        what,
        impact,
    }
}

/// Returns the findings of the comparison of schemas.
fn found(comparison: &mut Comparison<'_>) -> impl Iterator<Item = Change> {
    let changes = comparison.take().into_iter();
    changes.map(|found| change(&found.place, What::Schema(found.what), found.impact))
}

fn method<'a>(
    comparison: &mut Comparison<'a>,
    wire: &str,
    old: &Method<'a>,
    new: &Method<'a>,
) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut add = |what, impact| changes.push(change(wire, what, impact));
    for sender in old.senders.difference(&new.senders).cloned() {
        add(What::SenderRemoved { sender }, Impact::Breaking);
    }
    for sender in new.senders.difference(&old.senders).cloned() {
        add(What::SenderAdded { sender }, Impact::Additive);
    }
    for result in old.results.difference(&new.results).cloned() {
        add(What::ResultRemoved { result }, Impact::Breaking);
    }
    for result in new.results.difference(&old.results).cloned() {
        add(What::ResultAdded { result }, Impact::Risky);
    }
    let params = format!("{wire} params");
    comparison.presence(&params, old.params_required, new.params_required);
    comparison.position(&params, old.params.clone(), new.params.clone());
    changes.extend(found(comparison));
    changes
}

fn types<'a>(
    comparison: &mut Comparison<'a>,
    old: &Document<'a>,
    new: &Document<'a>,
) -> Vec<Change> {
    let is_type = |name: &&str| {
        ![old, new]
            .iter()
            .any(|document| is_envelope(document, name))
    };
    let names: BTreeSet<&str> = old.names().chain(new.names()).filter(is_type).collect();
    let mut alone = Vec::new();
    for name in names {
        match (old.definition(name), new.definition(name)) {
            (Some(before), Some(after)) => comparison.definition(name, before, after),
            (Some(_), None) => alone.push(change(name, What::TypeRemoved, Impact::Breaking)),
            (None, Some(_)) => alone.push(change(name, What::TypeAdded, Impact::Additive)),
            (None, None) => {}
        }
    }
    // A type that was compared under another name, or as an inline schema, is neither new nor gone.
    alone.retain(|change| !comparison.compared().contains(&change.subject));
    let mut changes: Vec<Change> = found(comparison).chain(alone).collect();
    changes.sort_by(|a, b| a.subject.cmp(&b.subject));
    changes
}

/// Returns whether a definition is an envelope: it has a `method`, is a union of such definitions, or is the response to one method and
/// lists only its results. Envelopes are compared with the methods.
fn is_envelope(document: &Document<'_>, name: &str) -> bool {
    let response = name.ends_with("ResultResponse") && name != "JSONRPCResultResponse";
    let carries = |definition| document.shape(definition).member("method").is_some();
    response || SENDERS.contains(&name) || document.definition(name).is_some_and(carries)
}
