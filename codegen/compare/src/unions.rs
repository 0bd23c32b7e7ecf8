//! Alternatives: pairs those of two unions, and reports added and removed ones.

use crate::{
    change::What,
    document::Document,
    effect::Effect,
    json,
    schema::Schema,
    shape::{Shape, Union},
    surroundings::Known,
    walk::{Comparison, DEPTH, Facts, Named},
};

impl<'a> Comparison<'a> {
    /// Compares unions. Returns whether the keywords beside them are still to be compared.
    pub(crate) fn unions(&mut self, place: &str, old: &Facts<'_, 'a>, new: &Facts<'_, 'a>) -> bool {
        let (old_unions, new_unions) = (&old.shape.unions, &new.shape.unions);
        // A schema that becomes one of several alternatives counts as the only alternative before.
        if old_unions.is_empty() && new.shape.is_union_only() {
            self.wrapped(place, old, new);
            return false;
        }
        if new_unions.is_empty() && old.shape.is_union_only() {
            self.wrapped(place, old, new);
            return false;
        }
        for i in 0..old_unions.len().max(new_unions.len()) {
            match (old_unions.get(i), new_unions.get(i)) {
                (Some(before), Some(after)) => {
                    let known = self.known_beside(&old.shape, i);
                    self.union(place, before, after, known);
                }
                (before, after) => self.union_alone(place, before, after),
            }
        }
        true
    }

    /// Reports a union that was added or removed beside other keywords.
    fn union_alone(&mut self, place: &str, before: Option<&Union<'a>>, after: Option<&Union<'a>>) {
        let names = |document: &Document<'a>, union: Option<&Union<'a>>| match union {
            Some(union) => names(document, &union.alternatives).join(" | "),
            None => "any JSON".to_owned(),
        };
        let (from, to) = (names(self.old, before), names(self.new, after));
        let effect = match before {
            None => Effect::Narrows,
            Some(_) => Effect::Widens,
        };
        self.report(place, What::TypeChanged { from, to }, effect);
    }

    /// Compares two unions of which one is written as its only alternative, or as types.
    fn wrapped(&mut self, place: &str, old: &Facts<'_, 'a>, new: &Facts<'_, 'a>) {
        let as_unions = |by_type: bool| {
            let one = |one: &Facts<'_, 'a>, other: &Facts<'_, 'a>| {
                let alternatives = || match by_type {
                    true => one.shape.types_apart().unwrap_or_default(),
                    false => vec![one.whole.clone()],
                };
                let union = one.shape.unions.first().cloned();
                union.unwrap_or_else(|| Union {
                    alternatives: alternatives(),
                    is_exclusive: other.shape.unions.iter().any(|union| union.is_exclusive),
                })
            };
            (one(old, new), one(new, old))
        };
        for by_type in [false, true] {
            let (before, after) = as_unions(by_type);
            if !self.pairs(&before, &after).is_empty() {
                return self.union(place, &before, &after, Known::default());
            }
        }
        let (before, after) = as_unions(false);
        let from = names(self.old, &before.alternatives).join(" | ");
        let to = names(self.new, &after.alternatives).join(" | ");
        self.report(place, What::TypeChanged { from, to }, Effect::Moves);
    }

    fn union(&mut self, place: &str, before: &Union<'a>, after: &Union<'a>, known: Known<'a>) {
        let (old, new) = (self.old, self.new);
        let overlaps = |document: &Document<'a>, union: &Union<'a>| {
            let shapes = union.alternatives.iter();
            let shapes: Vec<_> = shapes.map(|one| document.shape(one.clone())).collect();
            union.is_exclusive && !document.exclude_each_other(&shapes)
        };
        let is_spoilt = overlaps(old, before) || overlaps(new, after);
        if is_spoilt {
            match (before.is_exclusive, after.is_exclusive) {
                (false, true) => self.report(place, What::BecameExclusive, Effect::Narrows),
                (true, false) => self.report(place, What::BecameInclusive, Effect::Widens),
                _ => {}
            }
        }
        let outside = self.surroundings.clone();
        self.surroundings.is_spoilt |= is_spoilt;
        self.surroundings.known.and(known);
        self.alternatives(place, before, after);
        self.surroundings = outside;
    }

    /// Returns the members that a shape has rules for outside of one of its unions.
    fn known_beside(&self, shape: &Shape<'a>, union: usize) -> Known<'a> {
        let mut known = self.old.known(shape);
        for (i, other) in shape.unions.iter().enumerate() {
            if i != union {
                known.and(self.old.known_to(&other.alternatives, DEPTH));
            }
        }
        known
    }

    fn alternatives(&mut self, place: &str, before: &Union<'a>, after: &Union<'a>) {
        let pairs = self.pairs(before, after);
        let is_wrapped = before.alternatives.len() == 1 || after.alternatives.len() == 1;
        for (i, one) in before.alternatives.iter().enumerate() {
            match pairs.iter().find(|(old, _)| *old == i) {
                // On one side its annotations are about the whole.
                Some((_, j)) if is_wrapped => {
                    self.below_without_words(place, one, &after.alternatives[*j]);
                }
                Some((_, j)) => self.below(place, one, &after.alternatives[*j]),
                None => {
                    let variant = self.old.describe(one.clone());
                    self.report(place, What::VariantRemoved { variant }, Effect::Narrows);
                }
            }
        }
        for (j, one) in after.alternatives.iter().enumerate() {
            if pairs.iter().all(|(_, new)| *new != j) {
                let variant = self.new.describe(one.clone());
                self.report(place, What::VariantAdded { variant }, Effect::Widens);
            }
        }
    }

    /// Returns pairs of alternatives: those with the same name, otherwise equal ones, otherwise the only two that remain of one type. Each
    /// is in at most one pair.
    fn pairs(&self, before: &Union<'a>, after: &Union<'a>) -> Vec<(usize, usize)> {
        let (old, new) = (&before.alternatives, &after.alternatives);
        let (old_names, new_names) = (names(self.old, old), names(self.new, new));
        let is_same_name = |i: usize, j: usize| old_names[i] == new_names[j];
        // If definitions are compared separately, their names are part of the comparison.
        let may_be_renamed = |i: usize, j: usize| {
            self.named == Named::Followed || old[i].name().is_none() || new[j].name().is_none()
        };
        let is_same = |i: usize, j: usize| {
            let a = self.old.resolve(old[i].clone());
            let b = self.new.resolve(new[j].clone());
            may_be_renamed(i, j) && self.same_schema(&a.schema, &b.schema)
        };
        let rules: [&dyn Fn(usize, usize) -> bool; 3] = [
            &|i, j| is_same_name(i, j) && is_same(i, j),
            &is_same_name,
            &is_same,
        ];
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for rule in rules {
            for i in 0..old.len() {
                let is_free = |j: &usize| pairs.iter().all(|(a, b)| *a != i && b != j);
                if let Some(j) = (0..new.len()).filter(is_free).find(|j| rule(i, *j)) {
                    pairs.push((i, j));
                }
            }
        }
        if self.named == Named::Followed && old.len() == new.len() && pairs.len() + 1 == old.len() {
            let i = (0..old.len()).find(|i| pairs.iter().all(|(a, _)| a != i));
            let j = (0..new.len()).find(|j| pairs.iter().all(|(_, b)| b != j));
            if let (Some(i), Some(j)) = (i, j) {
                let (a, b) = (
                    self.old.shape(old[i].clone()),
                    self.new.shape(new[j].clone()),
                );
                if a.types == b.types && a.types.is_some() && !self.old.exclude(&a, self.new, &b, 1)
                {
                    pairs.push((i, j));
                }
            }
        }
        pairs
    }
}

fn names<'a>(document: &Document<'a>, alternatives: &[Schema<'a>]) -> Vec<String> {
    let alternatives = alternatives.iter();
    alternatives
        .map(|one| document.describe(one.clone()))
        .collect()
}

impl<'a> Document<'a> {
    /// Returns whether no value meets two of the shapes, as far as can be determined.
    pub(crate) fn exclude_each_other(&self, shapes: &[Shape<'a>]) -> bool {
        (1..shapes.len()).all(|i| {
            let one = &shapes[i];
            shapes[..i]
                .iter()
                .all(|other| self.exclude(one, self, other, 1))
        })
    }

    /// Returns whether no value meets both shapes, judged by types, constants, and members to a certain depth.
    fn exclude(&self, a: &Shape<'a>, other: &Document<'a>, b: &Shape<'a>, depth: usize) -> bool {
        if a.is_nothing() || b.is_nothing() {
            return true;
        }
        if let (Some(a), Some(b)) = (&a.values, &b.values) {
            return !a.iter().any(|a| b.iter().any(|b| json::equal(a, b)));
        }
        let (Some(a_types), Some(b_types)) = (&a.types, &b.types) else {
            return false;
        };
        let meets = |a: &str, b: &str| json::includes(a, b) || json::includes(b, a);
        let common: Vec<&str> = (a_types.iter().copied())
            .filter(|a| b_types.iter().any(|b| meets(a, b)))
            .collect();
        match &*common {
            [] => true,
            ["object"] if depth > 0 => self.exclude_by_members(a, other, b, depth - 1),
            _ => false,
        }
    }

    fn exclude_by_members(
        &self,
        a: &Shape<'a>,
        other: &Document<'a>,
        b: &Shape<'a>,
        depth: usize,
    ) -> bool {
        let is_refused = |shape: &Shape<'a>, name: &str| {
            shape.is_closed() && shape.patterns.is_empty() && shape.member(name).is_none()
        };
        let is_tag = |name: &&&str| {
            let (Some(a), Some(b)) = (a.member(name), b.member(name)) else {
                return false;
            };
            let (a, b) = (self.shape(a.clone()), other.shape(b.clone()));
            self.exclude(&a, other, &b, depth)
        };
        a.required.iter().any(|name| is_refused(b, name))
            || b.required.iter().any(|name| is_refused(a, name))
            || a.required
                .intersection(&b.required)
                .any(|name| is_tag(&name))
    }
}
