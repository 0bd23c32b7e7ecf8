//! Suggestions: finds the candidate closest to a misspelt name, in bounded time.

/// Longer names are not compared; the work is at most `LONGEST`² per candidate.
const LONGEST: usize = 48;

/// At most this many candidates are compared.
const MOST: usize = 200;

/// Returns the candidate closest to `name`, if it is close enough.
///
/// `tokenBudget` finds `token_budget` at distance 0: case, `_` and `-` do not count. Otherwise a third of the
/// letters may differ.
///
/// ```
/// # use trueform_check::did_you_mean;
/// let names = ["token_budget", "path"];
/// assert_eq!(did_you_mean("paht", names.into_iter()), Some("path"));
/// assert_eq!(did_you_mean("query", names.into_iter()), None);
/// ```
#[must_use]
pub fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if LONGEST < name.len() {
        return None;
    }
    let wanted = folded(name);
    let allowed = (wanted.len() / 3).clamp(1, 4);
    candidates
        .filter(|candidate| candidate.len() <= LONGEST)
        .take(MOST)
        .map(|candidate| (distance(&wanted, &folded(candidate)), candidate))
        .filter(|&(distance, candidate)| distance <= allowed && distance < candidate.len())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

fn folded(name: &str) -> Vec<char> {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns the number of edits (insert, remove, replace, swap of neighbours) from `a` to `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for j in 0..b.len() {
            let replace = above[j] + usize::from(a[i] != b[j]);
            let mut best = replace.min(above[j + 1] + 1).min(row[j] + 1);
            if 0 < i && 0 < j && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let names = ["token_budget", "path", "max_results", "a"];
        for (name, meant) in [
            ("tokenBudget", Some("token_budget")),
            ("token-budget", Some("token_budget")),
            ("paht", Some("path")),
            ("maxResult", Some("max_results")),
            ("maximum", None),
            ("b", None),
            ("", None),
        ] {
            assert_eq!(closest(name, names.into_iter()), meant, "{name}");
        }
        assert_eq!(closest(&"x".repeat(1000), ["x"].into_iter()), None);
    }
}
