//! The surroundings of a position, as far as they alter the effect of a change there.

use std::collections::BTreeSet;

use crate::{document::Document, effect::Effect, schema::Schema, shape::Shape};

/// The surroundings of a position.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Surroundings<'a> {
    /// Whether it is inside an alternative of a `oneOf` whose alternatives overlap: if one accepts more values, values that another accepts
    /// become illegal.
    pub(crate) is_spoilt: bool,
    /// The rules of other schemas that must also hold for the members of an object here.
    pub(crate) known: Known<'a>,
}

/// Members that have a schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Known<'a> {
    Names(BTreeSet<&'a str>),
    /// Any member may have one.
    All,
}

impl Default for Known<'_> {
    fn default() -> Self {
        Self::Names(BTreeSet::new())
    }
}

impl<'a> Known<'a> {
    pub(crate) fn and(&mut self, other: Known<'a>) {
        match (&mut *self, other) {
            (Self::Names(names), Self::Names(more)) => names.extend(more),
            _ => *self = Self::All,
        }
    }
}

impl<'a> Surroundings<'a> {
    /// Returns whether the member of this name was known elsewhere.
    pub(crate) fn knows(&self, name: &str) -> bool {
        match &self.known {
            Known::Names(names) => names.contains(name),
            Known::All => true,
        }
    }

    /// Returns the surroundings of the member with a name, or of members without one.
    pub(crate) fn below(&self, name: Option<&str>) -> Surroundings<'a> {
        let is_known = match name {
            Some(name) => self.knows(name),
            None => self.known != Known::default(),
        };
        Surroundings {
            is_spoilt: self.is_spoilt,
            known: match is_known {
                true => Known::All,
                false => Known::default(),
            },
        }
    }

    /// Returns the effect, in these surroundings, of a change that has `effect` on its own.
    pub(crate) fn on(&self, effect: Effect) -> Effect {
        match effect {
            Effect::Words(_) => effect,
            _ if self.is_spoilt => Effect::Moves,
            _ => effect,
        }
    }
}

impl<'a> Document<'a> {
    /// Returns the members that a shape has rules for, without its alternatives.
    pub(crate) fn known(&self, shape: &Shape<'a>) -> Known<'a> {
        let conditions = ["if", "then", "else", "dependentSchemas"];
        let is_open = shape.has_rest && !shape.is_closed();
        match is_open
            || !shape.patterns.is_empty()
            || conditions
                .iter()
                .any(|keyword| shape.limits.contains_key(keyword))
        {
            true => Known::All,
            false => Known::Names(shape.named.clone()),
        }
    }

    /// Returns the members that alternatives have rules for.
    pub(crate) fn known_to(&self, alternatives: &[Schema<'a>], depth: usize) -> Known<'a> {
        let Some(below) = depth.checked_sub(1) else {
            return Known::All;
        };
        let mut known = Known::default();
        for alternative in alternatives {
            let shape = self.shape(alternative.clone());
            known.and(self.known(&shape));
            for union in &shape.unions {
                known.and(self.known_to(&union.alternatives, below));
            }
        }
        known
    }
}
