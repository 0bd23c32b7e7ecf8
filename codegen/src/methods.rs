//! Pass 5, the reading part: the methods of every revision, from the envelopes.
//!
//! An envelope is a definition with a constant `method`. Its params and results become the roots from which the merge starts. This file
//! contains no method name: facts that the schemas do not have are in the overlay.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    merge::Sources,
    model::{MethodRules, Model},
    names::{free, is_pascal, is_taken_type, pascal, snake},
    normalise::{Definitions, Object, Schema},
    overlay::MethodFacts,
    problem::{Problem, child},
};

/// A method before its types are known.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) wire: String,
    /// Envelope definition, `CallToolRequest`.
    pub(crate) envelope: String,
    /// Marker name, `CallTool`.
    pub(crate) name: String,
    pub(crate) notification: bool,
    /// `params` by revision, with the pointer.
    pub(crate) params: Vec<(usize, Schema, String)>,
    /// Result definitions by revision, with the pointer of those that are written in the response.
    pub(crate) results: Vec<(usize, Vec<Schema>, String)>,
    pub(crate) rules: BTreeMap<usize, MethodRules>,
}

/// Returns all methods by wire name.
pub(crate) fn drafts(sources: &Sources<'_>) -> Result<BTreeMap<String, Draft>, Problem> {
    let mut drafts = BTreeMap::new();
    for (revision, definitions) in sources.revisions.iter().enumerate() {
        let directions = Directions::of(definitions);
        for (envelope, schema) in definitions {
            let Some((wire, object)) = envelope_of(envelope, schema) else {
                continue;
            };
            let facts = sources.methods.get(wire).cloned().unwrap_or_default();
            check_facts(sources, wire, &facts)?;
            let (from_client, from_server) = directions.of_method(envelope, wire, &facts);
            if !from_client && !from_server {
                continue; // Only a value inside another message: an embedded input request, or a reused definition.
            }
            let notification = envelope.ends_with("Notification");
            let short = envelope
                .strip_suffix("Notification")
                .or_else(|| envelope.strip_suffix("Request"))
                .unwrap_or(envelope);
            let draft = drafts.entry(wire.to_owned()).or_insert_with(|| Draft {
                wire: wire.to_owned(),
                envelope: envelope.clone(),
                name: String::new(),
                notification,
                params: Vec::new(),
                results: Vec::new(),
                rules: BTreeMap::new(),
            });
            draft.envelope.clone_from(envelope);
            draft.name = match &facts.name {
                Some(name) => name.clone(),
                None => free(pascal(short), is_taken_type),
            };
            let at = child(&child(&child("/$defs", envelope), "properties"), "params");
            match object.properties.get("params") {
                // JSON-RPC has params as optional. A method of an extension may have no params, or not describe them.
                None | Some(Schema::Any) if sources.core.is_some() => {
                    draft
                        .params
                        .push((revision, Schema::Object(Box::default()), at));
                }
                Some(params) => draft.params.push((revision, params.clone(), at)),
                None => return Err(Problem::at(at, "an envelope needs `params`")),
            }
            let mut results = Vec::new();
            if !notification {
                results = result_of(definitions, short);
                if results.iter().any(|result| match result {
                    Schema::Ref(name) => !definitions.contains_key(name),
                    _ => false,
                }) {
                    let message = format!(
                        "the request `{wire}` has no result: expected a definition `{short}Result`, or `{short}ResultResponse` \
                         with a member `result`"
                    );
                    let at = child("/$defs", envelope);
                    return Err(Problem::at(at, message).in_file(&sources.files[revision]));
                }
                let name = &sources.names[revision];
                for further in facts.results.get(name).into_iter().flatten() {
                    if !definitions.contains_key(further) {
                        let message = format!(
                            "`methods.{wire:?}.results` names `{further}`, which is not a definition"
                        );
                        return Err(sources.problem(message));
                    }
                    results.push(Schema::Ref(further.clone()));
                }
            }
            let results: Vec<Schema> = dedup(results);
            let names: Vec<String> = results.iter().filter_map(name_of).collect();
            draft.rules.insert(
                revision,
                MethodRules {
                    from_client,
                    from_server,
                    capability: capability(&facts, sources, revision),
                    header_name: facts
                        .header_name
                        .clone()
                        .filter(|_| sources.modern_since <= revision),
                    input_required: names.iter().any(|name| name == "InputRequiredResult"),
                    params_required: object.required.contains("params"),
                    results: names,
                },
            );
            let response = child("/$defs", format!("{short}ResultResponse"));
            let at = child(&child(&response, "properties"), "result");
            draft.results.push((revision, results, at));
        }
    }
    for wire in sources.methods.keys() {
        if !drafts.contains_key(wire) {
            let message = format!(
                "`methods.{wire:?}` describes the method `{wire}`, which no schema has, or which is sent by nobody"
            );
            return Err(sources.problem(message));
        }
    }
    distinct(
        drafts
            .values()
            .map(|draft| (draft.wire.as_str(), draft.name.as_str())),
        &sources.facts,
    )?;
    Ok(drafts)
}

/// Checks the facts of one method, as far as no schema is needed.
fn check_facts(sources: &Sources<'_>, wire: &str, facts: &MethodFacts) -> Result<(), Problem> {
    if let Some(direction) = &facts.direction
        && !DIRECTIONS.contains(&&**direction)
    {
        let message = format!(
            "`methods.{wire:?}.direction` is `{direction}`, expected `{}`",
            DIRECTIONS.join("`, `")
        );
        return Err(sources.problem(message));
    }
    if let Some(name) = &facts.name
        && (!is_pascal(name) || is_taken_type(name))
    {
        let message = format!(
            "`methods.{wire:?}.name` is `{name}`, expected ASCII letters and digits that start with a capital, and no name that \
             generated code uses"
        );
        return Err(sources.problem(message));
    }
    if let Some(revision) = facts
        .results
        .keys()
        .find(|name| !sources.names.contains(*name))
    {
        let message = format!("`methods.{wire:?}.results` names the unknown revision `{revision}`");
        return Err(sources.problem(message));
    }
    Ok(())
}

/// Returns the methods of an extension without a direction, with the pointers of their envelopes.
///
/// A method that the core also has does not belong to the extension, and an envelope that another schema refers to is a value inside a
/// message.
pub(crate) fn undirected<'a>(
    sources: &'a Sources<'_>,
    model: &'a Model,
    core: &'a Model,
) -> impl Iterator<Item = (&'a str, String)> {
    let all = sources.revisions.iter().enumerate();
    let envelopes = all.flat_map(|(revision, definitions)| {
        definitions
            .iter()
            .map(move |(name, schema)| (revision, name, schema))
    });
    envelopes.filter_map(|(revision, name, schema)| {
        let (wire, _) = envelope_of(name, schema)?;
        let is_known = model.methods.contains_key(wire)
            || core.methods.contains_key(wire)
            || sources.shared.contains(name)
            || model.definitions.contains_key(&(revision, name.clone()));
        (!is_known).then(|| (wire, child("/$defs", name)))
    })
}

/// Returns a method of an extension with two envelopes in one revision, of which one would be lost: the method, the first envelope, and the
/// pointer of the second.
pub(crate) fn repeated<'a>(sources: &'a Sources<'_>) -> Option<(&'a str, &'a str, String)> {
    for definitions in &sources.revisions {
        let mut first: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, schema) in definitions {
            let Some((wire, _)) = envelope_of(name, schema) else {
                continue;
            };
            if sources.shared.contains(name) || !sources.methods.contains_key(wire) {
                continue;
            }
            if let Some(other) = first.insert(wire, name) {
                return Some((wire, other, child("/$defs", name)));
            }
        }
    }
    None
}

/// The possible values of `direction`.
const DIRECTIONS: [&str; 3] = ["client-to-server", "server-to-client", "both"];

/// Functions of the generated traits, whose names no method may have.
const TAKEN: [&str; 3] = ["answer", "ignored", "not_served"];

/// Checks that the Rust names of all methods differ, given pairs of wire name and Rust name. A method that one revision renames on the wire
/// keeps the name of its definition, so the overlay must name one of the two.
pub(crate) fn distinct<'a>(
    methods: impl Iterator<Item = (&'a str, &'a str)>,
    file: &str,
) -> Result<(), Problem> {
    let mut functions: BTreeMap<String, (&str, &str)> = BTreeMap::new();
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for (wire, name) in methods {
        let function = snake(name);
        let message = match (names.insert(wire, name), functions.get(&function)) {
            _ if TAKEN.contains(&&*function) => format!(
                "the method `{wire}` would be the Rust function `{function}`, which the generated traits need; give it another \
                 `name` in `methods.\"{wire}\"`"
            ),
            (Some(other), _) if other != name => format!(
                "the method `{wire}` is `{other}` in one module and `{name}` in another; give it the same `name` in both"
            ),
            (_, Some((other, same))) if *other != wire => format!(
                "the methods `{other}` and `{wire}` would both be `{same}` in Rust; give one of them a `name` in \
                 `methods.\"{other}\"` or `methods.\"{wire}\"`"
            ),
            _ => {
                functions.insert(function, (wire, name));
                continue;
            }
        };
        return Err(Problem::at("", message).in_file(file));
    }
    Ok(())
}

/// Adds the `_meta` of the base request or notification to inline params, which lack it in the official files if a definition
/// overrides `params`.
pub(crate) fn inherit_meta(definitions: &mut Definitions) {
    let base = |definitions: &Definitions, notification: bool| {
        let (envelope, params) = match notification {
            true => ("Notification", "NotificationParams"),
            false => ("Request", "RequestParams"),
        };
        let meta = |object: &Object| object.properties.get("_meta").cloned();
        let inline = match definitions.get(envelope) {
            Some(Schema::Object(object)) => match object.properties.get("params") {
                Some(Schema::Object(params)) => meta(params),
                _ => None,
            },
            _ => None,
        };
        inline.or_else(|| match definitions.get(params)? {
            Schema::Object(object) => meta(object),
            _ => None,
        })
    };
    let metas = [base(definitions, false), base(definitions, true)];
    for (name, schema) in definitions.iter_mut() {
        if envelope_of(name, schema).is_none() {
            continue;
        }
        let Schema::Object(object) = schema else {
            continue;
        };
        let Some(meta) = &metas[usize::from(name.ends_with("Notification"))] else {
            continue;
        };
        if let Some(Schema::Object(params)) = object.properties.get_mut("params") {
            params
                .properties
                .entry("_meta".to_owned())
                .or_insert_with(|| meta.clone());
        }
    }
}

/// Returns the method and body of an envelope.
fn envelope_of<'a>(name: &str, schema: &'a Schema) -> Option<(&'a str, &'a Object)> {
    // A union of one notification collapses into a copy of that notification.
    if name == "ClientNotification" || name == "ServerNotification" {
        return None;
    }
    match schema {
        Schema::Object(object) => Some((object.properties.get("method")?.constant()?, object)),
        _ => None,
    }
}

/// Returns whether a definition is part of the JSON-RPC envelope, for which no type is generated.
pub(crate) fn is_envelope(name: &str, schema: &Schema) -> bool {
    envelope_of(name, schema).is_some()
        || name.starts_with("JSONRPC")
        || name.starts_with("Client") && !name.ends_with("Capabilities")
        || name.starts_with("Server") && !name.ends_with("Capabilities")
        || name.ends_with("ResultResponse")
        || name.ends_with("Error")
        || matches!(
            name,
            "Result"
                | "Request"
                | "Notification"
                | "PaginatedRequest"
                | "PaginatedResult"
                | "CacheableResult"
        )
}

struct Directions<'a> {
    client: BTreeSet<&'a str>,
    server: BTreeSet<&'a str>,
    /// Methods of unions of one member, which collapsed into it.
    collapsed: BTreeMap<&'a str, bool>,
}

impl<'a> Directions<'a> {
    fn of(definitions: &'a Definitions) -> Self {
        let members = |names: [&str; 2]| {
            names
                .iter()
                .filter_map(|name| definitions.get(*name))
                .flat_map(|schema| match schema {
                    Schema::Union(members) => members.iter().collect(),
                    one => vec![one],
                })
                .filter_map(|member| match member {
                    Schema::Ref(name) => Some(name.as_str()),
                    _ => None,
                })
                .collect()
        };
        let mut collapsed = BTreeMap::new();
        for (name, client) in [("ClientNotification", true), ("ServerNotification", false)] {
            if let Some(Schema::Object(object)) = definitions.get(name)
                && let Some(method) = object.properties.get("method").and_then(Schema::constant)
            {
                collapsed.insert(method, client);
            }
        }
        Self {
            client: members(["ClientRequest", "ClientNotification"]),
            server: members(["ServerRequest", "ServerNotification"]),
            collapsed,
        }
    }

    fn of_method(&self, envelope: &str, wire: &str, facts: &MethodFacts) -> (bool, bool) {
        match facts.direction.as_deref() {
            Some("client-to-server") => (true, false),
            Some("server-to-client") => (false, true),
            Some("both") => (true, true),
            _ => (
                self.client.contains(envelope) || self.collapsed.get(wire) == Some(&true),
                self.server.contains(envelope) || self.collapsed.get(wire) == Some(&false),
            ),
        }
    }
}

/// Returns an explicit response definition, otherwise the result of that name, otherwise the empty result.
fn result_of(definitions: &Definitions, short: &str) -> Vec<Schema> {
    if let Some(Schema::Object(response)) = definitions.get(&format!("{short}ResultResponse")) {
        match response.properties.get("result") {
            Some(Schema::Union(members)) => return members.clone(),
            Some(one) => return vec![one.clone()],
            None => {}
        }
    }
    let named = format!("{short}Result");
    let name = if definitions.contains_key(&named) {
        named
    } else {
        "EmptyResult".to_owned()
    };
    vec![Schema::Ref(name)]
}

fn capability(facts: &MethodFacts, sources: &Sources<'_>, revision: usize) -> Option<String> {
    let (name, since) = match facts.capability.as_deref()?.split_once('@') {
        Some((name, since)) => (name, Some(since)),
        None => (facts.capability.as_deref()?, None),
    };
    let old = since.is_some_and(|since| sources.names[revision].as_str() < since);
    if old { None } else { Some(name.to_owned()) }
}

fn name_of(schema: &Schema) -> Option<String> {
    match schema {
        Schema::Ref(name) => Some(name.clone()),
        _ => None,
    }
}

fn dedup(schemas: Vec<Schema>) -> Vec<Schema> {
    let mut out: Vec<Schema> = Vec::new();
    for schema in schemas {
        if !out.contains(&schema) {
            out.push(schema);
        }
    }
    out
}
