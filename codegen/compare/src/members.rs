//! Comparison of the content of objects and arrays.

use std::collections::BTreeSet;

use crate::{change::What, effect::Effect, schema::Schema, shape::Shape, walk::Comparison};

/// The rule of a schema for one member.
enum Member<'s, 'a> {
    /// It has a schema of its own.
    Known(&'s Schema<'a>),
    /// Members without a name of their own have one.
    Rest(&'s Schema<'a>),
    /// It may depend on a pattern.
    Unclear,
    /// It may have any value.
    Ignored,
    /// It must not be present.
    Refused,
}

impl<'a> Comparison<'a> {
    pub(crate) fn members(&mut self, place: &str, old: &Shape<'a>, new: &Shape<'a>) {
        let names: BTreeSet<&str> = (old.members.keys().chain(new.members.keys()))
            .copied()
            .collect();
        // First, because a change of the unnamed members may also apply to named ones, and is reported once.
        self.rest(place, old, new);
        for name in names {
            self.member(&format!("{place}.{name}"), name, old, new);
        }
        self.patterns(place, old, new);
    }

    fn member(&mut self, here: &str, name: &str, old: &Shape<'a>, new: &Shape<'a>) {
        let (was_required, is_required) = (old.requires(name), new.requires(name));
        match (member(old, name), member(new, name)) {
            (
                Member::Known(before) | Member::Rest(before),
                Member::Known(after) | Member::Rest(after),
            ) => {
                self.presence(here, was_required, is_required);
                self.member_below(here, Some(name), before, after);
            }
            (Member::Known(before), after) => {
                let what = What::MemberRemoved {
                    required: was_required,
                    ty: self.old.describe(before.clone()),
                    refused: matches!(after, Member::Refused),
                };
                let effect = match after {
                    Member::Ignored => Effect::Forgets,
                    _ => Effect::Moves,
                };
                self.report(here, what, effect);
            }
            (before, Member::Known(after)) => {
                let what = What::MemberAdded {
                    required: is_required,
                    ty: self.new.describe(after.clone()),
                };
                let effect = match (before, is_required) {
                    (Member::Refused, false) => Effect::Widens,
                    (Member::Ignored, false) if !self.surroundings.knows(name) => Effect::Adds,
                    (Member::Ignored, _) => Effect::Narrows,
                    _ => Effect::Moves,
                };
                self.report(here, what, effect);
            }
            _ => {}
        }
    }

    /// Compares members without a name of their own.
    fn rest(&mut self, place: &str, old: &Shape<'a>, new: &Shape<'a>) {
        match (old.is_closed(), new.is_closed()) {
            (false, true) => self.report(place, What::Closed, Effect::Narrows),
            (true, false) => self.report(place, What::Opened, Effect::Widens),
            (true, true) => {}
            (false, false) => self.member_below(&format!("{place}.*"), None, &old.rest, &new.rest),
        }
    }

    fn patterns(&mut self, place: &str, old: &Shape<'a>, new: &Shape<'a>) {
        let patterns: BTreeSet<&str> = (old.patterns.keys().chain(new.patterns.keys()))
            .copied()
            .collect();
        for pattern in patterns {
            let here = format!("{place}./{pattern}/");
            match (old.patterns.get(pattern), new.patterns.get(pattern)) {
                (Some(before), Some(after)) => self.member_below(&here, None, before, after),
                (Some(before), None) => {
                    let what = What::MemberRemoved {
                        required: false,
                        ty: self.old.describe(before.clone()),
                        refused: new.is_closed(),
                    };
                    let effect = match new.rest.is_anything() {
                        true => Effect::Forgets,
                        false => Effect::Moves,
                    };
                    self.report(&here, what, effect);
                }
                (None, Some(after)) => {
                    let what = What::MemberAdded {
                        required: false,
                        ty: self.new.describe(after.clone()),
                    };
                    let effect = match old.rest.is_anything() {
                        true => Effect::Narrows,
                        false => Effect::Moves,
                    };
                    self.report(&here, what, effect);
                }
                (None, None) => {}
            }
        }
    }

    pub(crate) fn elements(&mut self, place: &str, old: &Shape<'a>, new: &Shape<'a>) {
        let at = |shape: &Shape<'a>, i: usize| shape.prefix.get(i).unwrap_or(&shape.items).clone();
        for i in 0..old.prefix.len().max(new.prefix.len()) {
            self.member_below(&format!("{place}[{i}]"), None, &at(old, i), &at(new, i));
        }
        self.member_below(&format!("{place}[]"), None, &old.items, &new.items);
    }
}

fn member<'s, 'a>(shape: &'s Shape<'a>, name: &str) -> Member<'s, 'a> {
    match shape.members.get(name) {
        Some(schema) => Member::Known(schema),
        None if !shape.patterns.is_empty() => Member::Unclear,
        None if shape.is_closed() => Member::Refused,
        None if shape.rest.is_anything() => Member::Ignored,
        None => Member::Rest(&shape.rest),
    }
}
