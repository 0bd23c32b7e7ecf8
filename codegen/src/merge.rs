//! Pass 3: merges the definitions of all revisions into one superset model.
//!
//! Walks all revisions in parallel, from the params and results of every method. A *position* is a place in the merged model; its *nodes*
//! are the schemas of the single revisions there. Positions of the same type name share one entry, so the walk is a fixpoint: entries get
//! nodes until nothing is new, then the types are built from them.

mod build;
mod distinguish;
mod needs;
mod position;
#[cfg(test)]
mod tests;
mod variants;

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    methods::{self, Draft},
    model::{Bits, MethodDef, Model, TypeRef},
    names,
    normalise::{Definitions, Schema},
    overlay::{MethodFacts, Overlay, UnionRule},
    problem::{Problem, child},
};

/// The inputs of the merge of one module of bindings.
#[derive(Debug)]
pub(crate) struct Sources<'a> {
    /// Revision names, oldest first.
    pub(crate) names: Vec<String>,
    /// The file that problems of each revision name.
    pub(crate) files: Vec<String>,
    /// The file of the facts, which problems name.
    pub(crate) facts: String,
    /// Their definitions; empty for revisions that an extension does not extend.
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

impl Sources<'_> {
    /// Returns a problem of the facts.
    pub(crate) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::at("", message).in_file(&self.facts)
    }
}

/// The schema of one revision at a position.
#[derive(Clone, Debug)]
struct Node<'a> {
    revision: usize,
    schema: &'a Schema,
    at: String,
    /// The definitions through which it was reached, outermost first.
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
    /// Overlay positions that were reached. The others are reported as unused.
    used: BTreeSet<String>,
    /// The Rust names of the types of an extension.
    rust_names: RustNames,
    /// The rules of unions that the overlay need not contain.
    rules: BTreeMap<String, UnionRule>,
    /// How many lists, maps and nullable values enclose the current position.
    depth: usize,
    /// The entries that were added and not yet expanded.
    added: BTreeSet<String>,
    changed: bool,
}

/// Returns the superset model of `sources`.
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
        rust_names: RustNames::of(sources)?,
        rules: BTreeMap::new(),
        depth: 0,
        added: BTreeSet::new(),
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
        // Includes the types that this round finds, so that a long chain of types does not need a round for each.
        merger.added = merger.entries.keys().cloned().collect();
        while !merger.added.is_empty() {
            for name in std::mem::take(&mut merger.added) {
                merger.expand(&name)?;
            }
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
            let is_definition = |revision: &Definitions| revision.contains_key(pointer);
            let (definition, member) = match pointer.split_once('/') {
                Some((definition, member)) if !sources.revisions.iter().any(is_definition) => {
                    (definition, Some(member))
                }
                _ => (pointer.as_str(), None),
            };
            for (revision, definitions) in sources.revisions.iter().enumerate() {
                let Some(schema) = definitions.get(definition) else {
                    continue;
                };
                match (member, schema) {
                    (None, _) => nodes.push((
                        revision,
                        Schema::Ref(definition.to_owned()),
                        child("/$defs", definition),
                    )),
                    (Some(member), Schema::Object(object)) => {
                        if let Some(schema) = object.properties.get(member) {
                            let at =
                                child(&child(&child("/$defs", definition), "properties"), member);
                            nodes.push((revision, schema.clone(), at));
                        }
                    }
                    _ => {}
                }
            }
        }
        if nodes.is_empty() {
            let message = format!("the root `{name}` finds no definition in any revision");
            return Err(sources.problem(message));
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
                return Err(sources.problem(message));
            };
            let node = (
                revision,
                Schema::Ref(member.clone()),
                child("/$defs", member),
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
            let nodes: Vec<Node<'a>> = draft
                .params
                .iter()
                .map(|(revision, schema, at)| Node {
                    revision: *revision,
                    schema,
                    at: at.clone(),
                    names: Vec::new(),
                })
                .collect();
            let first = nodes.first().cloned();
            let params = self.position(
                &format!("{}.params", names::pascal(&draft.envelope)),
                None,
                nodes,
            )?;
            self.check_object(&params, first.as_ref(), "params")?;
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
        for (revision, results, response) in &draft.results {
            several |= 1 < results.len();
            for (i, schema) in results.iter().enumerate() {
                let at = match results.len() {
                    1 => response.clone(),
                    _ => child(&child(response, "anyOf"), i),
                };
                nodes.push(Node {
                    revision: *revision,
                    schema,
                    at,
                    names: Vec::new(),
                });
            }
        }
        if !several {
            let first = nodes.first().cloned();
            let result = self.position(
                &format!("{}.result", names::pascal(&draft.envelope)),
                None,
                nodes,
            )?;
            self.check_object(&result, first.as_ref(), "result")?;
            return Ok(result);
        }
        let name = format!("{}Outcome", draft.name);
        let name = match self.sources.core {
            Some(_) => self
                .rust_names
                .of_place(&format!("result of {}", draft.wire), &name),
            None => name,
        };
        for node in nodes {
            self.add(&name, Kind::Union, node)?;
        }
        Ok(TypeRef::Named(name))
    }

    /// Adds `node` to the entry `name`.
    fn add(&mut self, name: &str, kind: Kind, node: Node<'a>) -> Result<(), Problem> {
        let entry = self.entries.entry(name.to_owned()).or_insert_with(|| {
            self.added.insert(name.to_owned());
            MergedType {
                kind,
                nodes: BTreeMap::new(),
            }
        });
        if entry.kind != kind {
            let message = format!(
                "`{name}` is a {kind:?} here and a {:?} elsewhere; `{}` must name one of them otherwise",
                entry.kind, self.sources.facts
            );
            return Err(self.problem(&node, message));
        }
        if kind == Kind::Struct
            && self.sources.core.is_some()
            && !self
                .sources
                .unions
                .get(name)
                .is_some_and(|rule| rule.collapse)
            // One place of the schema may differ between revisions.
            && let Some(other) = entry
                .nodes
                .values()
                .find(|other| other.at != node.at && other.schema != node.schema)
        {
            let message = format!(
                "`names` calls this `{name}`, and the different schema at `{}` too",
                other.at
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
        Problem::at(node.at.clone(), message).in_file(&self.sources.files[node.revision])
    }

    /// Checks that params and results are objects, as the protocol requires.
    fn check_object(
        &self,
        ty: &TypeRef,
        node: Option<&Node<'a>>,
        what: &str,
    ) -> Result<(), Problem> {
        let is_object = match ty {
            TypeRef::Leaf(leaf) => leaf == "JsonObject" || leaf == "Meta",
            TypeRef::Named(name) => {
                self.entries
                    .get(name)
                    .is_none_or(|entry| entry.kind != Kind::Enum)
                    && !self.rule(name).is_some_and(|rule| rule.json)
            }
            TypeRef::Map(_) => true,
            _ => false,
        };
        match (is_object, node) {
            (false, Some(node)) if self.sources.core.is_some() => {
                let node = self.resolve(node.clone());
                Err(self.problem(&node, format!("the {what} of a method must be an object")))
            }
            _ => Ok(()),
        }
    }

    /// Returns the rule of the union `name`: that of the overlay, otherwise the one that its members suggest.
    fn rule(&self, name: &str) -> Option<&UnionRule> {
        self.sources
            .unions
            .get(name)
            .or_else(|| self.rules.get(name))
    }

    /// Returns the unreachable definitions, except envelopes.
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

/// The Rust names of the types of an extension. For the core, the names of its definitions are used, because the merge of revisions relies
/// on them.
#[derive(Debug, Default)]
struct RustNames {
    /// The names by that of the definition.
    definitions: BTreeMap<String, String>,
    /// The names by the place in the file.
    places: BTreeMap<String, String>,
    used: names::Used,
}

impl RustNames {
    /// Names the definitions of an extension: first those whose name is written as it is spelled, then all others in order.
    fn of(sources: &Sources<'_>) -> Result<Self, Problem> {
        let mut rust = Self::default();
        let Some(core) = sources.core else {
            return Ok(rust);
        };
        let explicit = sources.type_names.values().chain(sources.roots.keys());
        for name in explicit.chain(sources.outcomes.keys()) {
            if !names::is_pascal(name) || names::is_taken_type(name) {
                let message = format!(
                    "`{name}` cannot be the name of a type: expected ASCII letters and digits that start with a capital, and no \
                     name that generated code uses"
                );
                return Err(sources.problem(message));
            }
        }
        let own: BTreeSet<&String> = sources
            .revisions
            .iter()
            .flat_map(BTreeMap::keys)
            .filter(|name| !sources.shared.contains(*name))
            .collect();
        // Types that the extension takes from the core keep their names.
        for ((_, definition), ty) in &core.definitions {
            if sources.shared.contains(definition)
                && let Some(name) = ty.named()
            {
                rust.used.insert(name);
            }
        }
        for as_written in [true, false] {
            for name in &own {
                let spelled = names::free(names::pascal(name), names::is_taken_type);
                if as_written == (spelled == **name) {
                    let chosen = rust.used.numbered(&spelled, "");
                    rust.definitions.insert((*name).clone(), chosen);
                }
            }
        }
        // Positions that must share a type have the same name; a position without a name must not share their type.
        for name in sources.type_names.values().chain(sources.roots.keys()) {
            rust.used.insert(name);
        }
        Ok(rust)
    }

    /// Returns the name of the type of the schema at `place`: `proposed` unless that is used.
    fn of_place(&mut self, place: &str, proposed: &str) -> String {
        if let Some(name) = self.places.get(place) {
            return name.clone();
        }
        let spelled = names::free(names::pascal(proposed), names::is_taken_type);
        let name = self.used.numbered(&spelled, "");
        self.places.insert(place.to_owned(), name.clone());
        name
    }
}
