//! The report if no branch of `anyOf` or `oneOf` matches: the violations of the most likely branch.
//!
//! Branches of another type or with another discriminator are excluded. Of the others, the branch with the fewest, then the deepest
//! violations is reported. If several are equal, the alternatives are listed.

use std::cmp::Reverse;

use serde_json::Value;

use super::{
    super::{
        describe,
        equal::equal,
        node::{NodeId, TypeSet},
        path::Path,
        violation::Violation,
    },
    Found, Out, Walk,
    leaf::literal_violation,
    violation,
};

/// Branches beyond this many are not examined for the report.
const MOST: usize = 24;

/// Maximum nesting of reports on branches. Deeper ones only list the alternatives, because every level multiplies the work by
/// the number of branches.
const MOST_NESTED: usize = 2;

/// Maximum depth to which `$ref` and `allOf` are followed for types and discriminators.
const DEEPEST: usize = 4;

impl<'s> Walk<'s> {
    /// Reports on branches that all refuse `value`. Always returns `false`.
    pub(super) fn explain(
        &mut self,
        keyword: &'static str,
        branches: &'s [NodeId],
        value: &Value,
        at: &Path<'_>,
        out: &mut Out,
    ) -> bool {
        if out.stops() || self.exceeded.is_some() {
            return false;
        }
        let nodes = self.nodes;
        let literals: Vec<&Value> = branches
            .iter()
            .filter_map(|&id| self.literals(id, DEEPEST))
            .flatten()
            .collect();
        if branches
            .iter()
            .all(|&id| self.literals(id, DEEPEST).is_some())
        {
            return out.push(|| literal_violation(keyword, literals.iter().copied(), value, at));
        }
        let kind = TypeSet::of(value);
        let mut candidates: Vec<NodeId> = branches
            .iter()
            .copied()
            .filter(|&id| self.types(id).intersects(kind))
            .take(MOST)
            .collect();
        if candidates.is_empty() {
            let words = || describe::alternatives(nodes, branches, DEEPEST);
            return out.push(|| violation(at, keyword, words(), Found::value(value)));
        }
        if let Some((tag, literals)) = self.discriminator(&candidates) {
            let tagged = value.get(tag);
            let chosen = |id: &NodeId| {
                let literals = self.tag(*id, tag, DEEPEST).unwrap_or_default();
                tagged.is_some_and(|value| literals.iter().any(|literal| equal(literal, value)))
            };
            let meant: Vec<NodeId> = candidates.iter().copied().filter(chosen).collect();
            match (meant.is_empty(), tagged) {
                (false, _) => candidates = meant,
                (true, Some(value)) => {
                    return out.push(|| {
                        literal_violation(keyword, literals.iter().copied(), value, &at.key(tag))
                    });
                }
                (true, None) => {
                    let words = || describe::one_of(literals.iter().copied());
                    return out.push(|| violation(&at.key(tag), keyword, words(), Found::NOTHING));
                }
            }
        }
        self.closest(keyword, &candidates, value, at, out)
    }

    fn closest(
        &mut self,
        keyword: &'static str,
        candidates: &[NodeId],
        value: &Value,
        at: &Path<'_>,
        out: &mut Out,
    ) -> bool {
        let nodes = self.nodes;
        let summary = || {
            let words = describe::alternatives(nodes, candidates, DEEPEST);
            violation(at, keyword, words, Found::value(value))
        };
        if let [only] = candidates {
            return self.node(*only, value, at, out);
        }
        if MOST_NESTED <= self.explaining {
            return out.push(summary);
        }
        self.explaining += 1;
        let mut reports: Vec<(usize, Reverse<usize>, Vec<Violation>)> = Vec::new();
        for &id in candidates {
            let mut report = Out::collect();
            self.node(id, value, at, &mut report);
            if let Out::Collect { kept, more } = report {
                let depth = kept
                    .iter()
                    .map(|violation| violation.pointer.matches('/').count())
                    .max();
                reports.push((kept.len() + more, Reverse(depth.unwrap_or(0)), kept));
            }
        }
        self.explaining -= 1;
        let Some(best) = reports
            .iter()
            .map(|(count, depth, _)| (*count, *depth))
            .min()
        else {
            return false;
        };
        let mut ties = reports
            .into_iter()
            .filter(|(count, depth, _)| (*count, *depth) == best)
            .map(|(_, _, kept)| kept);
        let first = ties.next().unwrap_or_default();
        if ties.all(|other| other == first) {
            for violation in first {
                out.push(|| violation);
            }
            return false;
        }
        out.push(summary)
    }

    /// Returns the only values that the node accepts, if its own keywords list them.
    fn literals(&self, id: NodeId, depth: usize) -> Option<Vec<&'s Value>> {
        let rules = self.nodes.rules(id)?;
        if let Some(constant) = &rules.constant {
            return Some(vec![constant]);
        }
        if let Some(options) = &rules.options {
            return Some(options.iter().collect());
        }
        match rules.apply.as_ref()?.reference {
            Some(target) if 0 < depth => self.literals(target, depth - 1),
            _ => None,
        }
    }

    /// Returns a superset of the types that the node accepts.
    pub(crate) fn types(&self, id: NodeId) -> TypeSet {
        self.types_at(id, DEEPEST)
    }

    fn types_at(&self, id: NodeId, depth: usize) -> TypeSet {
        let Some(rules) = self.nodes.rules(id) else {
            return if id == NodeId::NEVER {
                TypeSet::NONE
            } else {
                TypeSet::ALL
            };
        };
        let literals = rules.constant.iter().chain(rules.options.iter().flatten());
        let of_literals = literals.fold(TypeSet::NONE, |set, literal| {
            set.union(TypeSet::of(literal))
        });
        let own = if of_literals.is_empty() {
            rules.types
        } else {
            rules.types.intersection(of_literals)
        };
        match &rules.apply {
            Some(apply) if 0 < depth => {
                let of = |id: &NodeId| self.types_at(*id, depth - 1);
                let all = apply.reference.iter().chain(&apply.all);
                let all = all.fold(own, |set, id| set.intersection(of(id)));
                let unions = apply.any.iter().chain(&apply.one);
                unions.fold(all, |set, branches| {
                    let branches = branches.iter().map(of);
                    set.intersection(branches.fold(TypeSet::NONE, TypeSet::union))
                })
            }
            _ => own,
        }
    }

    /// Returns a property that every candidate fixes to a literal, with all those literals.
    fn discriminator(&self, candidates: &[NodeId]) -> Option<(&'s str, Vec<&'s Value>)> {
        let (&first, others) = candidates.split_first()?;
        if others.is_empty() {
            return None;
        }
        for name in self.property_names(first, DEEPEST) {
            let tags: Option<Vec<Vec<&Value>>> = candidates
                .iter()
                .map(|&id| self.tag(id, name, DEEPEST))
                .collect();
            if let Some(tags) = tags {
                return Some((name, tags.concat()));
            }
        }
        None
    }

    fn property_names(&self, id: NodeId, depth: usize) -> Vec<&'s str> {
        let Some(rules) = self.nodes.rules(id) else {
            return Vec::new();
        };
        let own = rules
            .object
            .iter()
            .flat_map(|object| object.names.iter().map(|name| &**name));
        let mut names: Vec<&str> = own.collect();
        if let Some(apply) = rules.apply.as_ref().filter(|_| 0 < depth) {
            names.extend(
                apply
                    .reference
                    .iter()
                    .chain(&apply.all)
                    .flat_map(|&id| self.property_names(id, depth - 1)),
            );
        }
        names
    }

    /// Returns the literals that the node requires of its property `name`.
    fn tag(&self, id: NodeId, name: &str, depth: usize) -> Option<Vec<&'s Value>> {
        let rules = self.nodes.rules(id)?;
        let member = rules
            .object
            .as_ref()
            .and_then(|object| object.member(name)?.schema);
        if let Some(literals) = member.and_then(|id| self.literals(id, depth)) {
            return Some(literals);
        }
        let apply = rules.apply.as_ref().filter(|_| 0 < depth)?;
        apply
            .reference
            .iter()
            .chain(&apply.all)
            .find_map(|&id| self.tag(id, name, depth - 1))
    }
}
