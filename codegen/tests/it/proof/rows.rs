//! The rows of the table of projection rules that a proof must have met: each row, at each of its revisions, with a value for
//! which the oracle's verdict changes if the row is not applied.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use trueform_codegen::model::{Model, Shape};
use trueform_schema::{
    Revision, Violation, conform,
    projection::{self, Becomes},
};

use super::conform::{Look, Seen};

/// Kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    LeftOut,
    Filled,
    Rewritten,
    Refused,
    Required,
    Narrowed,
}

impl Kind {
    fn of(becomes: Becomes) -> Self {
        match becomes {
            Becomes::LeftOut => Self::LeftOut,
            Becomes::Filled(_) => Self::Filled,
            Becomes::Rewritten(_) => Self::Rewritten,
            Becomes::Refused => Self::Refused,
            Becomes::Required => Self::Required,
            Becomes::Narrowed(_) => Self::Narrowed,
            other => panic!("{other:?}: how is such a row proven?"),
        }
    }
}

/// After this many proofs a row is no longer searched for, because the search takes as long as the proof itself.
const ENOUGH: usize = 20;

/// How often each row was proven.
pub(super) struct Rows<'m> {
    model: &'m Model,
    /// By revision and type, the items with their treatment and the number of proofs.
    met: [BTreeMap<&'static str, Vec<Row>>; Revision::ALL.len()],
}

struct Row {
    item: &'static str,
    kind: Kind,
    met: usize,
}

impl<'m> Rows<'m> {
    /// The rows of these kinds, met by nothing yet. Error codes are of no generated type.
    pub(super) fn of(model: &'m Model, kinds: &[Kind]) -> Self {
        let mut met: [BTreeMap<_, Vec<Row>>; Revision::ALL.len()] = Default::default();
        for rule in projection::rules().filter(|rule| rule.topic != "errors") {
            let kind = Kind::of(rule.becomes);
            for revision in rule.at.iter().filter(|_| kinds.contains(&kind)) {
                let item = rule.item;
                let rows = met[revision as usize].entry(rule.of).or_default();
                rows.push(Row { item, kind, met: 0 });
            }
        }
        Self { model, met }
    }

    /// Counts that the row was proven, if there is such a row.
    pub(super) fn meet(&mut self, of: &str, item: &str, kind: Kind, revision: usize) {
        let mut rows = self.met[revision].get_mut(of).into_iter().flatten();
        if let Some(row) = rows.find(|row| row.item == item && row.kind == kind) {
            row.met += 1;
        }
    }

    /// The items of the type `of` with a row of this kind at a revision that was not met enough yet.
    pub(super) fn items(
        &self,
        of: &str,
        kind: Kind,
        revision: usize,
    ) -> impl Iterator<Item = &'static str> + use<'_> {
        let rows = self.met[revision].get(of).into_iter().flatten();
        rows.filter(move |row| row.kind == kind && row.met < ENOUGH)
            .map(|row| row.item)
    }

    /// The one row for which all of `found` were refused in `seen`, a value of the type `of`.
    pub(super) fn only_reason(
        &self,
        of: &str,
        seen: &Seen,
        found: &[Violation],
        looks: &BTreeMap<&str, Look>,
    ) -> Option<(&'static str, Kind)> {
        let rows: BTreeSet<_> = found
            .iter()
            .map(|violation| self.reason(of, &seen.all, violation, looks))
            .collect();
        rows.first().copied().flatten().filter(|_| rows.len() == 1)
    }

    fn reason(
        &self,
        of: &str,
        all: &Value,
        violation: &Violation,
        looks: &BTreeMap<&str, Look>,
    ) -> Option<(&'static str, Kind)> {
        let at = violation.revision() as usize;
        let Some((member, deeper)) = member(violation.pointer()) else {
            let is_unavailable = matches!(violation.rule(), conform::Rule::Unavailable);
            let items = self.items(of, Kind::Refused, at);
            let mut items = items.filter(|item| is_unavailable && self.is(of, item, all, looks));
            return items.next().map(|item| (item, Kind::Refused));
        };
        let kind = match violation.rule() {
            conform::Rule::Missing if !deeper => Kind::Required,
            _ => Kind::Narrowed,
        };
        let mut items = self.items(of, kind, at);
        items.find(|item| *item == member).map(|item| (item, kind))
    }

    /// Whether `all`, of the union or enumeration `of`, is its variant or value `item`.
    fn is(&self, of: &str, item: &str, all: &Value, looks: &BTreeMap<&str, Look>) -> bool {
        match &self.model.types[of].shape {
            Shape::Enum { .. } => all == item,
            Shape::Union { .. } => match self.variant(of, item) {
                Some(ty) => looks[ty](&all.to_string()).is_ok_and(|seen| seen.all == *all),
                // The one variant that is a list.
                None => all.is_array(),
            },
            Shape::Struct { .. } => false,
            other => panic!("{other:?}"),
        }
    }

    /// The generated type of the variant `item`; `None` if it is a list or a leaf.
    pub(super) fn variant(&self, of: &str, item: &str) -> Option<&'m str> {
        let Shape::Union { variants, .. } = &self.model.types[of].shape else {
            return None;
        };
        let variant = variants.iter().find(|variant| variant.name == item)?;
        match &variant.ty {
            trueform_codegen::model::TypeRef::Named(name) => Some(name),
            _ => None,
        }
    }

    /// The rows that nothing has met, but for the `unprovable` ones: prefix of `Type.item`, and why. Each of those must be of
    /// use.
    pub(super) fn unmet(&self, unprovable: &[(&str, &str)]) -> Vec<String> {
        let mut idle = unprovable.to_vec();
        let mut unmet = Vec::new();
        let met = self.met.iter().zip(Revision::ALL);
        for ((of, rows), at) in met.flat_map(|(of, at)| of.iter().map(move |rows| (rows, at))) {
            for Row { item, kind, .. } in rows.iter().filter(|row| row.met == 0) {
                let name = format!("{of}.{item}");
                idle.retain(|(prefix, _)| !name.starts_with(prefix));
                if !unprovable
                    .iter()
                    .any(|(prefix, _)| name.starts_with(prefix))
                {
                    unmet.push(format!("{kind:?} of `{name}` at {at} was not proven"));
                }
            }
        }
        let idle = idle.into_iter();
        unmet.extend(idle.map(|(prefix, why)| format!("`{prefix}` needs no excuse: {why}")));
        unmet
    }
}

/// The first token of a pointer, and whether there are more; `None` for the whole value.
fn member(pointer: &str) -> Option<(String, bool)> {
    let mut tokens = pointer.split('/').skip(1);
    let first = tokens.next()?.replace("~1", "/").replace("~0", "~");
    Some((first, tokens.next().is_some()))
}
