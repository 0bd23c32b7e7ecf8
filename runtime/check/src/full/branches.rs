//! What to say when no branch of `anyOf` or `oneOf` matches, from what `jsonschema` found in each.
//!
//! The same choice as `walk` makes: branches of another type or with another discriminator were not meant; among the
//! rest the one with the fewest, then the deepest violations is told. If that is not one, all are listed.

use std::cmp::Reverse;

use jsonschema::ValidationError;

use super::{
    super::{describe::or_list, path::cut, violation::Violation},
    tell::{Told, is_literal, plain, tell},
};

/// Branches beyond this many are not examined.
const MOST: usize = 24;

/// What is wrong with the value according to one branch.
struct Report {
    branch: usize,
    violations: Vec<Violation>,
}

pub(super) fn explain(
    told: &Told<'_>,
    keyword: &'static str,
    context: &[Vec<ValidationError<'static>>],
    out: &mut Vec<Violation>,
) {
    let report = |(branch, errors): (usize, &Vec<ValidationError<'static>>)| {
        let mut violations = Vec::new();
        for error in errors {
            tell(told.full, told.root, error, &mut violations);
        }
        Report {
            branch,
            violations: plain(violations),
        }
    };
    let all: Vec<Report> = context.iter().enumerate().take(MOST).map(report).collect();
    let here = cut(told.at.to_owned());
    if all.iter().all(|report| report.literal_at(&here).is_some()) {
        return out.extend(literals(keyword, &here, &all));
    }
    let other_type = |report: &Report| {
        let at_here = |violation: &Violation| violation.pointer == here;
        let mut violations = report
            .violations
            .iter()
            .filter(|violation| at_here(violation));
        violations.any(|violation| violation.keyword == "type" || is_literal(violation))
    };
    if all.iter().all(other_type) {
        return out.push(told.value(keyword, alternatives(told, &all)));
    }
    let mut meant = all;
    meant.retain(|report| !other_type(report));
    if let Some(tag) = discriminator(&here, &meant) {
        let other_tag = |report: &Report| report.literal_at(&tag).is_some();
        if meant.iter().all(other_tag) {
            return out.extend(literals(keyword, &tag, &meant));
        }
        meant.retain(|report| !other_tag(report));
    }
    closest(told, keyword, &meant, out);
}

impl Report {
    /// Why the value at `pointer` is none of the literals that the branch demands there.
    fn literal_at(&self, pointer: &str) -> Option<&Violation> {
        let mut at = self
            .violations
            .iter()
            .filter(|violation| violation.pointer == pointer);
        at.find(|violation| is_literal(violation) || is_missing_literal(violation))
    }

    fn rank(&self) -> (usize, Reverse<usize>) {
        let depth = |violation: &Violation| violation.pointer.matches('/').count();
        let deepest = self.violations.iter().map(depth).max();
        (self.violations.len(), Reverse(deepest.unwrap_or(0)))
    }
}

/// Whether a member is missing whose schema allows nothing but literals.
fn is_missing_literal(violation: &Violation) -> bool {
    violation.keyword == "required"
        && (violation.expected.starts_with('"') || violation.expected.starts_with(ONE_OF))
}

/// How `describe` begins a list of literals.
const ONE_OF: &str = "one of ";

fn closest(told: &Told<'_>, keyword: &'static str, reports: &[Report], out: &mut Vec<Violation>) {
    let best = reports.iter().map(Report::rank).min();
    let mut ties = reports.iter().filter(|report| Some(report.rank()) == best);
    let first = ties.next();
    match first.filter(|first| ties.all(|other| other.violations == first.violations)) {
        Some(report) => out.extend(report.violations.iter().cloned()),
        None => out.push(told.value(keyword, alternatives(told, reports))),
    }
}

/// A member right below `here` for which a branch has literals, of which none is there.
fn discriminator(here: &str, reports: &[Report]) -> Option<String> {
    if reports.len() < 2 {
        return None;
    }
    let right_below = |pointer: &str| {
        let below = pointer
            .strip_prefix(here)
            .and_then(|below| below.strip_prefix('/'));
        below.is_some_and(|name| !name.contains('/'))
    };
    let tag = |violation: &&Violation| {
        right_below(&violation.pointer)
            && (is_literal(violation)
                // Missing for all, or it says nothing about which was meant.
                || reports.iter().all(|report| report.literal_at(&violation.pointer).is_some()))
    };
    let mut violations = reports.iter().flat_map(|report| &report.violations);
    violations
        .find(tag)
        .map(|violation| violation.pointer.clone())
}

/// That what is at `pointer` is none of the literals of any branch.
fn literals(keyword: &'static str, pointer: &str, reports: &[Report]) -> Option<Violation> {
    let mut all = reports
        .iter()
        .filter_map(|report| report.literal_at(pointer));
    let first = all.next()?;
    let mut words = vec![first.expected.trim_start_matches(ONE_OF)];
    let mut suggestion = first.suggestion.as_ref();
    for violation in all {
        let allowed = violation.expected.trim_start_matches(ONE_OF);
        if !words.contains(&allowed) {
            words.push(allowed);
        }
        suggestion = suggestion.or(violation.suggestion.as_ref());
    }
    let expected = match words[..] {
        [only] if !only.contains(", ") => only.to_owned(),
        _ => format!("{ONE_OF}{}", words.join(", ")),
    };
    Some(Violation {
        pointer: pointer.to_owned(),
        keyword,
        expected,
        found: first.found.clone(),
        suggestion: suggestion.cloned(),
    })
}

/// What the branches allow, in words.
fn alternatives(told: &Told<'_>, reports: &[Report]) -> String {
    let branches = reports.iter().map(|report| report.branch);
    told.alternatives(branches).unwrap_or_else(|| {
        let mut words: Vec<&str> = Vec::new();
        for violation in reports
            .iter()
            .filter_map(|report| report.violations.first())
        {
            if !words.contains(&&*violation.expected) {
                words.push(&violation.expected);
            }
        }
        or_list(&words)
    })
}
