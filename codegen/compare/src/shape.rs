//! A schema as the facts to compare, independent of its notation.
//!
//! Owns the set of facts; `fold` reads them from a schema.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use serde_json::{Value, json};

use crate::{
    json,
    limits::{Limits, Words},
    schema::{Schema, is_nothing},
};

/// The facts of one schema.
#[derive(Clone, Debug, Default)]
pub struct Shape<'a> {
    /// Legal JSON types; `None` if all are.
    pub(crate) types: Option<BTreeSet<&'a str>>,
    /// Legal constants; `None` if not limited to some, empty if nothing is legal.
    pub(crate) values: Option<Vec<&'a Value>>,
    /// Annotations of single constants or types, by the notation of these.
    pub(crate) labels: BTreeMap<String, Words<'a>>,
    pub(crate) members: BTreeMap<&'a str, Schema<'a>>,
    pub(crate) required: BTreeSet<&'a str>,
    /// Additional schemas of members by pattern of the name.
    pub(crate) patterns: BTreeMap<&'a str, Schema<'a>>,
    /// Schema of the members without a schema of their own.
    pub(crate) rest: Schema<'a>,
    /// Schemas of the first elements.
    pub(crate) prefix: Vec<Schema<'a>>,
    /// Schema of all other elements.
    pub(crate) items: Schema<'a>,
    /// The unions, each of which must be met.
    pub(crate) unions: Vec<Union<'a>>,
    /// Every other restriction.
    pub(crate) limits: Limits<'a>,
    pub(crate) words: Words<'a>,
    /// Whether there is a rule for members without a schema of their own, even if it allows anything.
    pub(crate) has_rest: bool,
    /// The members that `properties` names.
    pub(crate) named: BTreeSet<&'a str>,
    /// A keyword that connects the parts of the schema, so that they cannot be compared one by one.
    pub(crate) entangled: Option<&'static str>,
}

/// Alternatives, of which one must hold.
#[derive(Clone, Debug)]
pub(crate) struct Union<'a> {
    pub(crate) alternatives: Vec<Schema<'a>>,
    /// Whether only one may hold: `oneOf`.
    pub(crate) is_exclusive: bool,
}

impl<'a> Shape<'a> {
    /// Returns the schema of the member with this name; `None` if the shape does not name it.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Schema<'a>> {
        self.members.get(name)
    }

    /// Returns whether the member of this name must be present.
    #[must_use]
    pub fn requires(&self, name: &str) -> bool {
        self.required.contains(name)
    }

    /// Returns the legal constants; `None` if not limited to some.
    #[must_use]
    pub fn values(&self) -> Option<&[&'a Value]> {
        self.values.as_deref()
    }

    /// Returns the alternatives of a union; empty for other shapes.
    pub fn alternatives(&self) -> impl Iterator<Item = &Schema<'a>> {
        self.unions.iter().flat_map(|union| &union.alternatives)
    }

    /// Returns whether any value of a JSON type may be legal.
    pub(crate) fn may_be(&self, kind: &str) -> bool {
        self.types.as_ref().is_none_or(|types| {
            types
                .iter()
                .any(|ty| json::includes(kind, ty) || json::includes(ty, kind))
        })
    }

    /// Returns whether no value is legal.
    pub(crate) fn is_nothing(&self) -> bool {
        self.values.as_ref().is_some_and(Vec::is_empty)
    }

    /// Returns whether members without a schema of their own are refused.
    pub(crate) fn is_closed(&self) -> bool {
        self.rest.parts().iter().any(|part| is_nothing(part))
    }

    /// Returns whether it consists only of alternatives and annotations.
    pub(crate) fn is_union_only(&self) -> bool {
        self.unions.len() == 1 && self.types.is_none() && self.values.is_none() && self.is_bare()
    }

    /// Returns whether its only restrictions are types, constants and alternatives.
    fn is_bare(&self) -> bool {
        self.members.is_empty()
            && self.required.is_empty()
            && self.patterns.is_empty()
            && self.rest.is_anything()
            && self.prefix.is_empty()
            && self.items.is_anything()
            && self.limits.is_empty()
            && self.entangled.is_none()
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.unions.is_empty() && self.labels.is_empty() && self.is_bare()
    }

    /// Returns the legal constants, if it has no other restrictions.
    pub(crate) fn finite(&self) -> Option<Vec<&'a Value>> {
        const NULL: &Value = &Value::Null;
        const FALSE: &Value = &Value::Bool(false);
        const TRUE: &Value = &Value::Bool(true);
        if let Some(values) = &self.values {
            return Some(values.clone());
        }
        let types = self.types.as_ref()?;
        let mut values = Vec::new();
        for ty in types {
            match *ty {
                "null" => values.push(NULL),
                "boolean" => values.extend([FALSE, TRUE]),
                _ => return None,
            }
        }
        Some(values)
    }

    /// Returns its types as alternatives, if it has several and no other restrictions.
    pub(crate) fn types_apart(&self) -> Option<Vec<Schema<'a>>> {
        let types = self.types.as_ref().filter(|types| types.len() > 1)?;
        let is_types_only = self.values.is_none() && self.unions.is_empty() && self.is_bare();
        let one = |ty| TYPES.get(ty).map(Schema::from);
        is_types_only.then(|| types.iter().copied().map(one).collect())?
    }

    pub(crate) fn allow_types(&mut self, types: BTreeSet<&'a str>) {
        self.types = Some(match self.types.take() {
            None => types,
            Some(known) => {
                let both = |a: &BTreeSet<&'a str>, b: &BTreeSet<&'a str>| {
                    let is_in_b = |ty: &&&str| b.iter().any(|other| json::includes(other, ty));
                    a.iter().filter(is_in_b).copied().collect::<Vec<_>>()
                };
                [both(&known, &types), both(&types, &known)]
                    .concat()
                    .into_iter()
                    .collect()
            }
        });
    }

    pub(crate) fn allow_values(&mut self, values: Vec<&'a Value>) {
        match &mut self.values {
            None => self.values = Some(values),
            Some(known) => {
                known.retain(|value| values.iter().any(|other| json::equal(value, other)));
            }
        }
    }
}

/// A schema for each JSON type.
static TYPES: LazyLock<BTreeMap<&str, Value>> = LazyLock::new(|| {
    let types = [
        "null", "boolean", "integer", "number", "string", "array", "object",
    ];
    types.map(|ty| (ty, json!({ "type": ty }))).into()
});
