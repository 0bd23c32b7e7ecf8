//! Walks two schemas from one position downwards.
//!
//! Owns the order of the walk and where it ends; the comparisons at one position have their own files.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    change::{Change, What},
    document::Document,
    effect::{Effect, Flow},
    limits::Words,
    schema::{Place, Schema},
    shape::Shape,
    surroundings::Surroundings,
};

/// Treatment of references to the same name on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    /// Skip: the caller compares the definitions separately.
    Apart,
    /// Compare the targets.
    Followed,
}

/// Maximum depth of alternatives within alternatives that are searched for members.
pub(crate) const DEPTH: usize = 3;

/// A comparison of positions in two documents, which collects its findings.
#[derive(Debug)]
pub struct Comparison<'a> {
    pub(crate) old: &'a Document<'a>,
    pub(crate) new: &'a Document<'a>,
    pub(crate) flow: Flow,
    pub(crate) named: Named,
    pub(crate) surroundings: Surroundings<'a>,
    /// Pairs that are or were compared. So each is reported once, and recursion ends.
    seen: BTreeSet<Pair<'a>>,
    compared: BTreeSet<String>,
    changes: Vec<Change>,
}

/// Two positions, and the settings of their comparison.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair<'a> {
    old: Vec<Place>,
    new: Vec<Place>,
    surroundings: Surroundings<'a>,
    with_words: bool,
}

/// One side of a position.
pub(crate) struct Facts<'s, 'a> {
    /// The schema as written, possibly a reference.
    pub(crate) whole: &'s Schema<'a>,
    /// Its resolved form.
    pub(crate) schema: &'s Schema<'a>,
    pub(crate) shape: Shape<'a>,
}

impl<'s, 'a> Facts<'s, 'a> {
    fn of(document: &Document<'a>, whole: &'s Schema<'a>, schema: &'s Schema<'a>) -> Self {
        let shape = document.shape(schema.clone());
        Facts {
            whole,
            schema,
            shape,
        }
    }
}

impl<'a> Comparison<'a> {
    /// Creates a comparison without findings.
    #[must_use]
    pub fn new(old: &'a Document<'a>, new: &'a Document<'a>, flow: Flow, named: Named) -> Self {
        Self {
            old,
            new,
            flow,
            named,
            surroundings: Surroundings::default(),
            seen: BTreeSet::new(),
            compared: BTreeSet::new(),
            changes: Vec::new(),
        }
    }

    /// Compares two schemas at `place` and below it.
    pub fn position(
        &mut self,
        place: &str,
        old: impl Into<Schema<'a>>,
        new: impl Into<Schema<'a>>,
    ) {
        self.seen.clear();
        self.below(place, &old.into(), &new.into());
    }

    /// As [`Comparison::position`], for the definitions themselves: they are compared even if they are only references
    /// to the same name.
    pub fn definition(&mut self, place: &str, old: &'a Value, new: &'a Value) {
        self.seen.clear();
        let none = Words::new();
        let (old, new) = (old.into(), new.into());
        let (old, new) = (
            Facts::of(self.old, &old, &old),
            Facts::of(self.new, &new, &new),
        );
        self.facts(place, &old, &new, Some((&none, &none)));
    }

    /// Compares whether something must be present.
    pub fn presence(&mut self, place: &str, was_required: bool, is_required: bool) {
        match (was_required, is_required) {
            (false, true) => self.report(place, What::BecameRequired, Effect::Narrows),
            (true, false) => self.report(place, What::BecameOptional, Effect::Releases),
            _ => {}
        }
    }

    /// Takes the changes found since the last call, in the order of the walk.
    pub fn take(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Returns the names of definitions, of either document, that were compared with a schema without that name. Their addition or removal
    /// needs no report of its own.
    #[must_use]
    pub fn compared(&self) -> &BTreeSet<String> {
        &self.compared
    }

    pub(crate) fn report(&mut self, place: &str, what: What, effect: Effect) {
        let impact = self.surroundings.on(effect).impact(self.flow);
        self.changes.push(Change {
            place: place.to_owned(),
            what,
            impact,
        });
    }

    /// Returns whether two values of the documents are equal.
    pub(crate) fn same(&self, old: &'a Value, new: &'a Value) -> bool {
        self.old
            .same(old, self.new, new, self.named == Named::Followed)
    }

    /// As [`Comparison::same`], for positions.
    pub(crate) fn same_schema(&self, old: &Schema<'a>, new: &Schema<'a>) -> bool {
        let (old, new) = (old.parts(), new.parts());
        old.len() == new.len() && old.iter().zip(new).all(|(a, b)| self.same(a, b))
    }

    pub(crate) fn below(&mut self, place: &str, old: &Schema<'a>, new: &Schema<'a>) {
        self.walk(place, old, new, true);
    }

    /// As [`Comparison::below`], for the member of a name, or members or elements without one.
    pub(crate) fn member_below(
        &mut self,
        place: &str,
        name: Option<&str>,
        old: &Schema<'a>,
        new: &Schema<'a>,
    ) {
        let below = self.surroundings.below(name);
        let outside = std::mem::replace(&mut self.surroundings, below);
        self.walk(place, old, new, true);
        self.surroundings = outside;
    }

    /// As [`Comparison::below`], for two schemas whose annotations have different subjects.
    pub(crate) fn below_without_words(&mut self, place: &str, old: &Schema<'a>, new: &Schema<'a>) {
        self.walk(place, old, new, false);
    }

    fn walk(
        &mut self,
        place: &str,
        old_whole: &Schema<'a>,
        new_whole: &Schema<'a>,
        with_words: bool,
    ) {
        let mut old = self.old.resolve(old_whole.clone());
        let mut new = self.new.resolve(new_whole.clone());
        let is_named = old.name.is_some() && new.name.is_some();
        if is_named {
            let beside = (
                std::mem::take(&mut old.words),
                std::mem::take(&mut new.words),
            );
            if with_words {
                self.words(place, &beside.0, &beside.1);
            }
            if old.name == new.name && self.named == Named::Apart {
                return;
            }
        }
        if old.schema.is_anything() && new.schema.is_anything() {
            return;
        }
        // Annotations of definitions are about the definitions, independent of the surroundings here.
        let with_words = with_words || is_named;
        let pair = Pair {
            old: old.schema.place(),
            new: new.schema.place(),
            surroundings: self.surroundings.clone(),
            with_words,
        };
        if !self.seen.insert(pair) {
            return;
        }
        let before = self.changes.len();
        let words = with_words.then_some((&old.words, &new.words));
        let (before_facts, after_facts) = (
            Facts::of(self.old, old_whole, &old.schema),
            Facts::of(self.new, new_whole, &new.schema),
        );
        self.facts(place, &before_facts, &after_facts, words);
        if old.name != new.name {
            self.renamed(place, before, [old.name, new.name]);
        }
    }

    /// Handles a position that refers to another definition than before, or to a definition that was inline before. If the kind is the
    /// same, its content has been compared here, and the names need no report of their own.
    fn renamed(&mut self, place: &str, before: usize, names: [Option<String>; 2]) {
        let is_other = self.changes[before..].iter().any(|change| {
            let is_whole = matches!(
                change.what,
                What::TypeChanged { .. } | What::VariantAdded { .. } | What::VariantRemoved { .. }
            );
            is_whole && change.place == place
        });
        if !is_other {
            self.compared.extend(names.into_iter().flatten());
        }
    }

    /// Compares schemas that are not references, with annotations that take priority over their own; without annotations, if
    /// those have different subjects.
    fn facts(
        &mut self,
        place: &str,
        old: &Facts<'_, 'a>,
        new: &Facts<'_, 'a>,
        words: Option<(&Words<'a>, &Words<'a>)>,
    ) {
        let (before, after) = (&old.shape, &new.shape);
        if let Some((old_words, new_words)) = words {
            let effective = |own: &Words<'a>, over: &Words<'a>| -> Words<'a> {
                own.iter()
                    .chain(over)
                    .map(|(k, v)| (*k, *v))
                    .collect::<BTreeMap<_, _>>()
            };
            self.words(
                place,
                &effective(&before.words, old_words),
                &effective(&after.words, new_words),
            );
        }
        if let Some(keyword) = before.entangled.or(after.entangled) {
            if !self.same_schema(old.schema, new.schema) {
                let keyword = keyword.to_owned();
                self.report(place, What::Unclear { keyword }, Effect::Moves);
            }
            return;
        }
        if !self.unions(place, old, new) || !self.kinds(place, before, after) {
            return;
        }
        let outside = self.surroundings.clone();
        for union in &before.unions {
            let known = self.old.known_to(&union.alternatives, DEPTH);
            self.surroundings.known.and(known);
        }
        if before.may_be("object") && after.may_be("object") {
            self.members(place, before, after);
        }
        if before.may_be("array") && after.may_be("array") {
            self.elements(place, before, after);
        }
        self.surroundings = outside;
        self.limits(place, before, after);
    }
}
