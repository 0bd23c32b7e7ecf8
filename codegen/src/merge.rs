//! Pass 3: the definitions of all revisions as one superset model.
//!
//! Walks all revisions in step from the params and results of every method. A *position* is a place in the merged
//! model; its *nodes* are the schemas of the single revisions there. Positions of the same type name share one entry,
//! so the walk is a fixpoint: entries gain nodes until nothing is new, then the types are built from them.

mod build;
mod needs;
mod position;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    methods::{self, Draft},
    model::{Bits, MethodDef, Model, TypeRef},
    normalise::{Definitions, Schema},
    overlay::{MethodFacts, Overlay, UnionRule},
    problem::Problem,
};

/// The inputs of the merge of one module of bindings.
#[derive(Debug)]
pub(crate) struct Sources<'a> {
    /// Revision names, oldest first.
    pub(crate) names: Vec<String>,
    /// Their definitions; empty for revisions an extension does not extend.
    pub(crate) revisions: Vec<Definitions>,
    /// Index of the first revision of the modern era.
    pub(crate) modern_since: usize,
    pub(crate) overlay: &'a Overlay,
    pub(crate) type_names: BTreeMap<String, String>,
    pub(crate) unions: BTreeMap<String, UnionRule>,
    pub(crate) roots: BTreeMap<String, Vec<String>>,
    pub(crate) methods: BTreeMap<String, MethodFacts>,
    pub(crate) outcomes: BTreeMap<String, Vec<String>>,
    /// Definitions equal to those of the core, and the core.
    pub(crate) shared: BTreeSet<String>,
    pub(crate) core: Option<&'a Model>,
}

/// The schema of one revision at a position.
#[derive(Clone, Debug)]
struct Node<'a> {
    revision: usize,
    schema: &'a Schema,
    at: String,
    /// The definitions it was reached through, outermost first.
    names: Vec<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Struct,
    Union,
    Enum,
}

#[derive(Debug)]
struct MergedType<'a> {
    kind: Kind,
    nodes: BTreeMap<(usize, String), Node<'a>>,
}

struct Merger<'a> {
    sources: &'a Sources<'a>,
    entries: BTreeMap<String, MergedType<'a>>,
    definitions: BTreeMap<(usize, String), TypeRef>,
    decisions: BTreeSet<String>,
    /// Overlay positions that were reached, to report those that no longer are.
    used: BTreeSet<String>,
    changed: bool,
}

/// The superset model of `sources`.
///
/// # Errors
/// Shapes that cannot be merged without an overlay line, unions without a rule, unused overlay lines.
pub(crate) fn merge(sources: &Sources<'_>) -> Result<Model, Problem> {
    let drafts = methods::drafts(sources)?;
    let roots = roots(sources)?;
    let outcomes = outcomes(sources)?;
    let mut merger = Merger {
        sources,
        entries: BTreeMap::new(),
        definitions: BTreeMap::new(),
        decisions: BTreeSet::new(),
        used: BTreeSet::new(),
        changed: true,
    };
    let mut methods = BTreeMap::new();
    while merger.changed {
        merger.changed = false;
        methods = merger.methods(&drafts)?;
        for (name, nodes) in &roots {
            let nodes = nodes.iter().map(|(revision, schema, at)| Node {
                revision: *revision,
                schema,
                at: at.clone(),
                names: Vec::new(),
            });
            merger.position(&format!("@{name}"), Some(name), nodes.collect())?;
        }
        for (name, members) in &outcomes {
            for (revision, schema, at) in members {
                let node = Node {
                    revision: *revision,
                    schema,
                    at: at.clone(),
                    names: Vec::new(),
                };
                merger.add(name, Kind::Union, node)?;
            }
        }
        let names: Vec<String> = merger.entries.keys().cloned().collect();
        for name in names {
            merger.expand(&name)?;
        }
    }
    merger.finish(methods)
}

type Root = (usize, Schema, String);

fn roots(sources: &Sources<'_>) -> Result<BTreeMap<String, Vec<Root>>, Problem> {
    let mut all = BTreeMap::new();
    for (name, pointers) in &sources.roots {
        let mut nodes: Vec<Root> = Vec::new();
        for pointer in pointers {
            let (definition, member) = match pointer.split_once('/') {
                Some((definition, member)) => (definition, Some(member)),
                None => (pointer.as_str(), None),
            };
            for (revision, definitions) in sources.revisions.iter().enumerate() {
                let Some(schema) = definitions.get(definition) else {
                    continue;
                };
                match (member, schema) {
                    (None, _) => nodes.push((
                        revision,
                        Schema::Ref(definition.to_owned()),
                        format!("/$defs/{definition}"),
                    )),
                    (Some(member), Schema::Object(object)) => {
                        if let Some(schema) = object.properties.get(member) {
                            let at = format!("/$defs/{definition}/properties/{member}");
                            nodes.push((revision, schema.clone(), at));
                        }
                    }
                    _ => {}
                }
            }
        }
        if nodes.is_empty() {
            let message = format!("the root `{name}` finds no definition in any revision");
            return Err(Problem::at("", message).in_file("overlay.toml"));
        }
        all.insert(name.clone(), nodes);
    }
    Ok(all)
}

fn outcomes(sources: &Sources<'_>) -> Result<BTreeMap<String, Vec<Root>>, Problem> {
    let mut all: BTreeMap<String, Vec<Root>> = BTreeMap::new();
    for (name, members) in &sources.outcomes {
        for member in members {
            let revision = sources
                .revisions
                .iter()
                .position(|definitions| definitions.contains_key(member));
            let Some(revision) = revision else {
                let message =
                    format!("the outcome `{name}` names `{member}`, which is not a definition");
                return Err(Problem::at("", message).in_file("overlay.toml"));
            };
            let node = (
                revision,
                Schema::Ref(member.clone()),
                format!("/$defs/{member}"),
            );
            all.entry(name.clone()).or_default().push(node);
        }
    }
    Ok(all)
}

impl<'a> Merger<'a> {
    fn methods(
        &mut self,
        drafts: &'a BTreeMap<String, Draft>,
    ) -> Result<BTreeMap<String, MethodDef>, Problem> {
        let mut methods = BTreeMap::new();
        for (wire, draft) in drafts {
            let nodes = draft
                .params
                .iter()
                .map(|(revision, schema, at)| Node {
                    revision: *revision,
                    schema,
                    at: at.clone(),
                    names: Vec::new(),
                })
                .collect();
            let params = self.position(&format!("{}.params", draft.envelope), None, nodes)?;
            let result = match draft.notification {
                true => None,
                false => Some(self.result(draft)?),
            };
            methods.insert(
                wire.clone(),
                MethodDef {
                    wire: wire.clone(),
                    name: draft.name.clone(),
                    notification: draft.notification,
                    params,
                    result,
                    rules: draft.rules.clone(),
                },
            );
        }
        Ok(methods)
    }

    fn result(&mut self, draft: &'a Draft) -> Result<TypeRef, Problem> {
        let mut nodes = Vec::new();
        let mut several = false;
        for (revision, results) in &draft.results {
            several |= 1 < results.len();
            for (i, schema) in results.iter().enumerate() {
                let at = format!("/result of {}/{i}", draft.wire);
                nodes.push(Node {
                    revision: *revision,
                    schema,
                    at,
                    names: Vec::new(),
                });
            }
        }
        if !several {
            return self.position(&format!("{}.result", draft.envelope), None, nodes);
        }
        let name = format!("{}Outcome", draft.name);
        for node in nodes {
            self.add(&name, Kind::Union, node)?;
        }
        Ok(TypeRef::Named(name))
    }

    /// Adds `node` to the entry `name`.
    fn add(&mut self, name: &str, kind: Kind, node: Node<'a>) -> Result<(), Problem> {
        let entry = self
            .entries
            .entry(name.to_owned())
            .or_insert_with(|| MergedType {
                kind,
                nodes: BTreeMap::new(),
            });
        if entry.kind != kind {
            let message = format!(
                "`{name}` is a {:?} here and a {:?} elsewhere; the overlay must name one of them otherwise",
                kind, entry.kind
            );
            return Err(self.problem(&node, message));
        }
        let key = (node.revision, node.at.clone());
        if entry.nodes.insert(key, node).is_none() {
            self.changed = true;
        }
        Ok(())
    }

    fn problem(&self, node: &Node<'_>, message: impl Into<String>) -> Problem {
        Problem::at(node.at.clone(), message).in_file(&self.sources.names[node.revision])
    }

    /// Unreachable definitions, envelopes excepted.
    fn unreached(&self) -> BTreeMap<String, Bits> {
        let mut unreached: BTreeMap<String, Bits> = BTreeMap::new();
        for (revision, definitions) in self.sources.revisions.iter().enumerate() {
            for (name, schema) in definitions {
                let reached = self.definitions.contains_key(&(revision, name.clone()))
                    || self.sources.shared.contains(name)
                    || self.sources.core.is_some() && self.entries.contains_key(name)
                    || methods::is_envelope(name, schema);
                if !reached {
                    unreached.entry(name.clone()).or_default().add(revision);
                }
            }
        }
        unreached
    }
}
