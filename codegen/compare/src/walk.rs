//! Two schemas at one position, and all that is below.
//!
//! Owns the order of the walk and where it ends; what is compared at one position has files of its own.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    change::{Change, What},
    document::{Document, Resolved},
    effect::{Effect, Flow, Surroundings},
    limits::Words,
    schema::{Place, Schema},
};

/// What to do at a reference to the same name on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    /// Nothing: someone else compares the definitions.
    Apart,
    /// Compare what it leads to.
    Followed,
}

/// A comparison of positions in two documents, which collects what it finds.
#[derive(Debug)]
pub struct Comparison<'a> {
    pub(crate) old: &'a Document<'a>,
    pub(crate) new: &'a Document<'a>,
    pub(crate) flow: Flow,
    pub(crate) named: Named,
    pub(crate) surroundings: Surroundings,
    /// Pairs that are being compared, or were: each is told once, and recursion ends.
    seen: BTreeSet<(Vec<Place>, Vec<Place>, Surroundings)>,
    compared: BTreeSet<String>,
    changes: Vec<Change>,
}

impl<'a> Comparison<'a> {
    /// A comparison that has found nothing yet.
    #[must_use]
    pub fn new(old: &'a Document<'a>, new: &'a Document<'a>, flow: Flow, named: Named) -> Self {
        Self {
            old,
            new,
            flow,
            named,
            surroundings: Surroundings::None,
            seen: BTreeSet::new(),
            compared: BTreeSet::new(),
            changes: Vec::new(),
        }
    }

    /// Compares what two schemas allow at `place`, and below it.
    pub fn position(
        &mut self,
        place: &str,
        old: impl Into<Schema<'a>>,
        new: impl Into<Schema<'a>>,
    ) {
        self.seen.clear();
        self.below(place, &old.into(), &new.into());
    }

    /// As [`Comparison::position`], for the definitions themselves: they are compared even if they are nothing but references
    /// to the same name.
    pub fn definition(&mut self, place: &str, old: &'a Value, new: &'a Value) {
        self.seen.clear();
        let none = Words::new();
        self.schemas(place, (&old.into(), &none), (&new.into(), &none));
    }

    /// Compares whether something must be present.
    pub fn presence(&mut self, place: &str, was_required: bool, is_required: bool) {
        match (was_required, is_required) {
            (false, true) => self.report(place, What::BecameRequired, Effect::Narrows),
            (true, false) => self.report(place, What::BecameOptional, Effect::Releases),
            _ => {}
        }
    }

    /// What was found since this was last asked, in the order of the walk.
    pub fn take(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Names of definitions, of either document, that were compared with something without that name: they need no report of
    /// their own that they came or went.
    #[must_use]
    pub fn compared(&self) -> &BTreeSet<String> {
        &self.compared
    }

    pub(crate) fn report(&mut self, place: &str, what: What, effect: Effect) {
        let impact = effect.within(self.surroundings).impact(self.flow);
        self.changes.push(Change {
            place: place.to_owned(),
            what,
            impact,
        });
    }

    /// Whether two values of the documents say the same.
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

    /// As [`Comparison::below`], where the words of the two are not about the same thing.
    pub(crate) fn below_without_words(&mut self, place: &str, old: &Schema<'a>, new: &Schema<'a>) {
        self.walk(place, old, new, false);
    }

    fn walk(&mut self, place: &str, old: &Schema<'a>, new: &Schema<'a>, with_words: bool) {
        let (old, new) = (self.old.resolve(old.clone()), self.new.resolve(new.clone()));
        let is_same_name = old.name.is_some() && old.name == new.name;
        if with_words && old.name.is_some() && new.name.is_some() {
            self.words(place, &old.words, &new.words);
        }
        if is_same_name && self.named == Named::Apart {
            return;
        }
        if old.schema.is_anything() && new.schema.is_anything() {
            return;
        }
        let pair = (old.schema.place(), new.schema.place(), self.surroundings);
        if !self.seen.insert(pair) {
            return;
        }
        match old.name == new.name {
            true => self.resolved(place, &old, &new, with_words),
            false => self.renamed(place, &old, &new, with_words),
        }
    }

    /// A position that names another definition than before, or names one where it named none. If it is still the same
    /// kind of thing, its content has been compared here and the names are not worth a report of their own.
    fn renamed(&mut self, place: &str, old: &Resolved<'a>, new: &Resolved<'a>, with_words: bool) {
        let before = self.changes.len();
        self.resolved(place, old, new, with_words);
        let is_other = self.changes[before..].iter().any(|change| {
            let is_whole = matches!(
                change.what,
                What::TypeChanged { .. } | What::VariantAdded { .. } | What::VariantRemoved { .. }
            );
            is_whole && change.place == place
        });
        if !is_other {
            self.compared
                .extend([&old.name, &new.name].into_iter().flatten().cloned());
        }
    }

    fn resolved(&mut self, place: &str, old: &Resolved<'a>, new: &Resolved<'a>, with_words: bool) {
        let none = Words::new();
        let is_told = !with_words || (old.name.is_some() && new.name.is_some());
        let words = |resolved: &Resolved<'a>| match is_told {
            true => none.clone(),
            false => resolved.words.clone(),
        };
        if with_words {
            self.schemas(
                place,
                (&old.schema, &words(old)),
                (&new.schema, &words(new)),
            );
        } else {
            self.facts(place, &old.schema, &new.schema, None);
        }
    }

    /// Compares schemas that are no references, with words that come before their own.
    fn schemas(
        &mut self,
        place: &str,
        (old, old_words): (&Schema<'a>, &Words<'a>),
        (new, new_words): (&Schema<'a>, &Words<'a>),
    ) {
        self.facts(place, old, new, Some((old_words, new_words)));
    }

    fn facts(
        &mut self,
        place: &str,
        old: &Schema<'a>,
        new: &Schema<'a>,
        words: Option<(&Words<'a>, &Words<'a>)>,
    ) {
        let (before, after) = (self.old.shape(old.clone()), self.new.shape(new.clone()));
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
            if !self.same_schema(old, new) {
                let keyword = keyword.to_owned();
                self.report(place, What::Unclear { keyword }, Effect::Moves);
            }
            return;
        }
        if !self.unions(place, (old, &before), (new, &after)) || !self.kinds(place, &before, &after)
        {
            return;
        }
        if before.may_be("object") && after.may_be("object") {
            self.members(place, &before, &after);
        }
        if before.may_be("array") && after.may_be("array") {
            self.elements(place, &before, &after);
        }
        self.limits(place, &before, &after);
    }
}
