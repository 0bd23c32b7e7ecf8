//! Which JSON types and which constants are legal.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{change::What, effect::Effect, json, shape::Shape, walk::Comparison};

impl<'a> Comparison<'a> {
    /// Compares types and constants. Returns whether some type is legal on both sides, so that its content must be compared.
    pub(crate) fn kinds(&mut self, place: &str, old: &Shape<'a>, new: &Shape<'a>) -> bool {
        // The constants may also be all values of their type.
        if (old.values.is_some() || new.values.is_some())
            && let (Some(before), Some(after)) = (old.finite(), new.finite())
        {
            self.values(place, &before, &after);
            self.labels(place, old, new);
            return !old.is_nothing() && !new.is_nothing();
        }
        self.labels(place, old, new);
        let effect = match (covers(new, old), covers(old, new)) {
            (true, true) => return true,
            (true, false) => Effect::Widens,
            (false, true) => Effect::Narrows,
            (false, false) => Effect::Moves,
        };
        let (from, to) = (self.old.describe_kinds(old), self.new.describe_kinds(new));
        self.report(place, What::TypeChanged { from, to }, effect);
        let kinds = ["null", "boolean", "number", "string", "array", "object"];
        !old.is_nothing()
            && !new.is_nothing()
            && kinds
                .iter()
                .any(|kind| old.may_be(kind) && new.may_be(kind))
    }

    fn values(&mut self, place: &str, before: &[&'a Value], after: &[&'a Value]) {
        let holds = |list: &[&Value], value| list.iter().any(|other| json::equal(other, value));
        for value in before.iter().filter(|value| !holds(after, value)) {
            let value = (*value).clone();
            self.report(place, What::ValueRemoved { value }, Effect::Narrows);
        }
        for value in after.iter().filter(|value| !holds(before, value)) {
            let value = (*value).clone();
            self.report(place, What::ValueAdded { value }, Effect::Widens);
        }
    }

    /// Compares the annotations of single constants or types that both sides have.
    fn labels(&mut self, place: &str, old: &Shape<'a>, new: &Shape<'a>) {
        let is_legal = |shape: &Shape<'a>, name: &String| match &shape.values {
            Some(values) => values.iter().any(|value| value.to_string() == *name),
            None => (shape.types.as_ref()).is_some_and(|types| types.contains(&**name)),
        };
        let names: BTreeSet<&String> = old.labels.keys().chain(new.labels.keys()).collect();
        for name in names {
            if is_legal(old, name) && is_legal(new, name) {
                let words = |shape: &Shape<'a>| shape.labels.get(name).cloned().unwrap_or_default();
                self.words(&format!("{place} = {name}"), &words(old), &words(new));
            }
        }
    }
}

/// Returns whether every type and constant of `narrow` is legal in `wide`.
fn covers(wide: &Shape<'_>, narrow: &Shape<'_>) -> bool {
    if wide.values.is_some() {
        return narrow.is_nothing();
    }
    match (&wide.types, &narrow.types) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(wide), Some(narrow)) => {
            let is_legal = |ty: &&str| wide.iter().any(|other| json::includes(other, ty));
            narrow.iter().all(is_legal)
        }
    }
}
