//! The report if no branch of `anyOf` or `oneOf` matches, from the errors that `jsonschema` found in each.
//!
//! The choice is that of `walk`: branches of another type or with another discriminator are excluded. Of the others, the branch with the
//! fewest, then the deepest violations is reported. If several are equal, the alternatives are listed.

use std::cmp::Reverse;

use jsonschema::ValidationError;

use super::{
    super::{describe::or_list, path::cut, violation::Violation},
    report::{Located, is_literal, plain, report},
};

/// Branches beyond this many are not examined.
const MOST: usize = 24;

/// The violations of the value in one branch.
struct Branch {
    index: usize,
    violations: Vec<Violation>,
}

pub(super) fn explain(
    located: &Located<'_>,
    keyword: &'static str,
    context: &[Vec<ValidationError<'static>>],
    out: &mut Vec<Violation>,
) {
    let examine = |(index, errors): (usize, &Vec<ValidationError<'static>>)| {
        let mut violations = Vec::new();
        for error in errors {
            report(located.full, located.root, error, &mut violations);
        }
        Branch {
            index,
            violations: plain(violations),
        }
    };
    let all: Vec<Branch> = context.iter().enumerate().take(MOST).map(examine).collect();
    let here = cut(located.at.to_owned());
    if all.iter().all(|branch| branch.literal_at(&here).is_some()) {
        return out.extend(literals(keyword, &here, &all));
    }
    let other_type = |branch: &Branch| {
        let at_here = |violation: &Violation| violation.pointer == here;
        let mut violations = branch
            .violations
            .iter()
            .filter(|violation| at_here(violation));
        violations.any(|violation| violation.keyword == "type" || is_literal(violation))
    };
    if all.iter().all(other_type) {
        return out.push(located.value(keyword, alternatives(located, &all)));
    }
    let mut meant = all;
    meant.retain(|branch| !other_type(branch));
    if let Some(tag) = discriminator(&here, &meant) {
        let other_tag = |branch: &Branch| branch.literal_at(&tag).is_some();
        if meant.iter().all(other_tag) {
            return out.extend(literals(keyword, &tag, &meant));
        }
        meant.retain(|branch| !other_tag(branch));
    }
    closest(located, keyword, &meant, out);
}

impl Branch {
    /// Returns the violation at `pointer` of the literals that the branch allows there.
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

/// Returns whether a member is missing whose schema allows nothing but literals.
fn is_missing_literal(violation: &Violation) -> bool {
    violation.keyword == "required"
        && (violation.expected.starts_with('"') || violation.expected.starts_with(ONE_OF))
}

/// The beginning of a list of literals in the text of `describe`.
const ONE_OF: &str = "one of ";

fn closest(
    located: &Located<'_>,
    keyword: &'static str,
    branches: &[Branch],
    out: &mut Vec<Violation>,
) {
    let best = branches.iter().map(Branch::rank).min();
    let mut ties = branches.iter().filter(|branch| Some(branch.rank()) == best);
    let first = ties.next();
    match first.filter(|first| ties.all(|other| other.violations == first.violations)) {
        Some(branch) => out.extend(branch.violations.iter().cloned()),
        None => out.push(located.value(keyword, alternatives(located, branches))),
    }
}

/// Returns a member directly below `here` for which a branch allows only literals, all different from the value.
fn discriminator(here: &str, branches: &[Branch]) -> Option<String> {
    if branches.len() < 2 {
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
                // If no branch reports that it is missing, it does not discriminate.
                || branches.iter().all(|branch| branch.literal_at(&violation.pointer).is_some()))
    };
    let mut violations = branches.iter().flat_map(|branch| &branch.violations);
    violations
        .find(tag)
        .map(|violation| violation.pointer.clone())
}

/// Returns the violation at `pointer` that says that no branch allows the literal there.
fn literals(keyword: &'static str, pointer: &str, branches: &[Branch]) -> Option<Violation> {
    let mut all = branches
        .iter()
        .filter_map(|branch| branch.literal_at(pointer));
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

/// Description of the values that the branches allow.
fn alternatives(located: &Located<'_>, branches: &[Branch]) -> String {
    let indices = branches.iter().map(|branch| branch.index);
    located.alternatives(indices).unwrap_or_else(|| {
        let mut words: Vec<&str> = Vec::new();
        for violation in branches
            .iter()
            .filter_map(|branch| branch.violations.first())
        {
            if !words.contains(&&*violation.expected) {
                words.push(&violation.expected);
            }
        }
        or_list(&words)
    })
}
