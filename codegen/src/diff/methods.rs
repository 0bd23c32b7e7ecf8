//! Two schema files as the protocol sees them: methods with their senders, parameters and results, then named types.
//!
//! What a method is, is read from the definitions (see [`Method::all`]); no method name is written here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::compare::{Compare, Named};
use super::shape::{Document, reference};
use super::{Change, Effect, Flow, What};

/// Unions that say who may send a method. They are reported as such and not as types.
const SENDERS: [&str; 5] = [
    "ClientNotification",
    "ClientRequest",
    "InputRequest",
    "ServerNotification",
    "ServerRequest",
];

/// One method of a document.
struct Method<'a> {
    params: Option<&'a Value>,
    params_required: bool,
    senders: BTreeSet<String>,
    results: BTreeSet<String>,
}

impl<'a> Method<'a> {
    /// Every method, by its name on the wire: definitions whose `method` member is a constant.
    fn all(document: &Document<'a>) -> BTreeMap<&'a str, Method<'a>> {
        let mut methods = BTreeMap::new();
        for name in document.names().filter(|name| !SENDERS.contains(name)) {
            let Some(definition) = document.definition(name) else {
                continue;
            };
            let shape = document.shape(definition);
            let wire = shape
                .members
                .get("method")
                .and_then(|method| document.shape(method).values?.first()?.as_str());
            let Some(wire) = wire else { continue };
            let method = Method {
                params: shape.members.get("params").copied(),
                params_required: shape.required.contains("params"),
                senders: senders(document, name, wire),
                results: results(document, name),
            };
            methods.insert(wire, method);
        }
        methods
    }
}

fn senders(document: &Document<'_>, definition: &str, wire: &str) -> BTreeSet<String> {
    let lists = |union: &&&str| {
        let Some(schema) = document.definition(union) else {
            return false;
        };
        let shape = document.shape(schema);
        // A union of one may have been collapsed into a copy of its only member.
        let copy = || {
            shape.members.get("method").is_some_and(|m| {
                document
                    .shape(m)
                    .values
                    .is_some_and(|v| v.iter().any(|v| *v == wire))
            })
        };
        shape
            .alternatives
            .iter()
            .any(|member| reference(member).is_some_and(|name| name == definition))
            || copy()
    };
    SENDERS
        .iter()
        .filter(lists)
        .map(|union| (*union).to_owned())
        .collect()
}

/// Names of the possible results: as the response definition says, else the result of the same name.
fn results(document: &Document<'_>, definition: &str) -> BTreeSet<String> {
    let Some(stem) = definition.strip_suffix("Request") else {
        return BTreeSet::new();
    };
    let result = format!("{stem}Result");
    if let Some(response) = document.definition(&format!("{result}Response"))
        && let Some(schema) = document.shape(response).members.get("result")
    {
        let shape = document.shape(schema);
        return match reference(schema) {
            None if !shape.alternatives.is_empty() => shape
                .alternatives
                .iter()
                .map(|alternative| document.describe(alternative))
                .collect(),
            _ => BTreeSet::from([document.describe(schema)]),
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
    let mut compare = Compare::new(old, new, Flow::Both, Named::Apart);
    let wires: BTreeSet<&str> = old_methods
        .keys()
        .chain(new_methods.keys())
        .copied()
        .collect();
    for wire in wires {
        match (old_methods.get(wire), new_methods.get(wire)) {
            (Some(before), Some(after)) => method(&mut compare, wire, before, after),
            (Some(_), None) => compare.report(wire, What::MethodRemoved, Effect::Narrows),
            (None, Some(after)) => {
                compare.report(
                    wire,
                    What::MethodAdded {
                        senders: after.senders.clone(),
                    },
                    Effect::Adds,
                );
            }
            (None, None) => {}
        }
    }

    types(&mut compare, old, new);
    compare.changes
}

fn method<'a>(compare: &mut Compare<'a>, wire: &str, old: &Method<'a>, new: &Method<'a>) {
    for sender in old.senders.difference(&new.senders) {
        compare.report(
            wire,
            What::SenderRemoved {
                sender: sender.clone(),
            },
            Effect::Narrows,
        );
    }
    for sender in new.senders.difference(&old.senders) {
        compare.report(
            wire,
            What::SenderAdded {
                sender: sender.clone(),
            },
            Effect::Adds,
        );
    }
    for result in old.results.difference(&new.results) {
        compare.report(
            wire,
            What::ResultRemoved {
                result: result.clone(),
            },
            Effect::Narrows,
        );
    }
    for result in new.results.difference(&old.results) {
        compare.report(
            wire,
            What::ResultAdded {
                result: result.clone(),
            },
            Effect::Widens,
        );
    }
    let params = format!("{wire} params");
    match (old.params_required, new.params_required) {
        (false, true) => compare.report(&params, What::BecameRequired, Effect::Narrows),
        (true, false) => compare.report(&params, What::BecameOptional, Effect::Widens),
        _ => {}
    }
    // A method without parameters accepts any; there is nothing to compare with then.
    const ANY_OBJECT: &Value = &Value::Null;
    match (old.params, new.params) {
        (None, None) => {}
        (before, after) => compare.position(
            &params,
            before.unwrap_or(ANY_OBJECT),
            after.unwrap_or(ANY_OBJECT),
        ),
    }
}

fn types<'a>(compare: &mut Compare<'a>, old: &'a Document<'a>, new: &'a Document<'a>) {
    let methods = compare.changes.len();
    let is_type = |name: &&str| {
        ![old, new]
            .iter()
            .any(|document| is_envelope(document, name))
    };
    let names: BTreeSet<&str> = old.names().chain(new.names()).filter(is_type).collect();
    let mut alone = Vec::new();
    for name in names {
        match (old.definition(name), new.definition(name)) {
            (Some(before), Some(after)) => compare.definition(name, before, after),
            (Some(_), None) => alone.push((name, What::TypeRemoved, Effect::Forgets)),
            (None, Some(_)) => alone.push((name, What::TypeAdded, Effect::Adds)),
            (None, None) => {}
        }
    }
    // What was compared under another name, or without one, is neither new nor gone.
    for (name, what, effect) in alone {
        if !compare.compared.contains(name) {
            compare.report(name, what, effect);
        }
    }
    compare.changes[methods..].sort_by(|a, b| a.subject.cmp(&b.subject));
}

/// What carries a payload and is none: anything with a `method`, the unions of such, and responses to one method, which say
/// only which results it has. All of that is compared with the methods.
fn is_envelope(document: &Document<'_>, name: &str) -> bool {
    let response = name.ends_with("ResultResponse") && name != "JSONRPCResultResponse";
    let carries = |definition| document.shape(definition).members.contains_key("method");
    response || SENDERS.contains(&name) || document.definition(name).is_some_and(carries)
}
