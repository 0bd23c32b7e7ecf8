//! LIKE and GLOB. Their time grows with the product of a pattern and a text, so they look at the time limit themselves.

use rusqlite::{Error, Result, functions::Context};

use super::{Steps, characters, text, until_nul};
use crate::database::MAX_PATTERN_BYTES;

/// A part of a pattern.
enum Part<'p> {
    /// Any characters, or none.
    Any,
    One,
    Character(&'p [u8]),
    /// One of these, or one that is not.
    Set {
        ranges: Vec<(&'p [u8], &'p [u8])>,
        is_negated: bool,
    },
    /// Matches nothing: an escape without a character, or a set that does not end.
    Never,
}

/// Whether the second argument matches the first one, a pattern. The third argument is the escape character of LIKE.
pub(super) fn matches(cx: &Context<'_>, is_glob: bool, steps: Steps<'_>) -> Result<Option<bool>> {
    let escape = match cx.len() {
        3 => match text(cx.get_raw(2))? {
            None => return Ok(None),
            escape => escape,
        },
        _ => None,
    };
    let escape = match escape.as_deref().map(|escape| {
        let mut found = characters(until_nul(escape));
        (found.next(), found.next())
    }) {
        None => None,
        Some((Some(escape), None)) => Some(escape),
        Some(_) => return Err(misuse("ESCAPE expression must be a single character")),
    };
    let (Some(pattern), Some(whole)) = (text(cx.get_raw(0))?, text(cx.get_raw(1))?) else {
        return Ok(None);
    };
    if usize::try_from(MAX_PATTERN_BYTES).is_ok_and(|most| most < pattern.len()) {
        return Err(misuse("LIKE or GLOB pattern too complex"));
    }
    let pattern = until_nul(&pattern);
    let parts = match is_glob {
        true => glob(pattern),
        false => like(pattern, escape),
    };
    fits(&parts, until_nul(&whole), !is_glob, steps).map(Some)
}

fn misuse(problem: &str) -> Error {
    Error::UserFunctionError(problem.into())
}

fn like<'p>(pattern: &'p [u8], escape: Option<&[u8]>) -> Vec<Part<'p>> {
    let mut rest = characters(pattern);
    let mut parts = Vec::new();
    while let Some(character) = rest.next() {
        parts.push(match character {
            escaped if Some(escaped) == escape => match rest.next() {
                Some(character) => Part::Character(character),
                None => Part::Never,
            },
            b"%" => Part::Any,
            b"_" => Part::One,
            character => Part::Character(character),
        });
    }
    parts
}

fn glob(pattern: &[u8]) -> Vec<Part<'_>> {
    let mut rest = characters(pattern).peekable();
    let mut parts = Vec::new();
    while let Some(character) = rest.next() {
        parts.push(match character {
            b"*" => Part::Any,
            b"?" => Part::One,
            b"[" => {
                let is_negated = rest.next_if(|next| *next == b"^").is_some();
                let mut ranges = Vec::new();
                // A bracket that comes first does not end the set.
                ranges.extend(rest.next_if(|next| *next == b"]").map(|one| (one, one)));
                let mut prior = None;
                let is_closed = loop {
                    match (rest.next(), rest.peek().copied()) {
                        (None, _) => break false,
                        (Some(b"]"), _) => break true,
                        (Some(b"-"), Some(to)) if to != b"]" && prior.is_some() => {
                            rest.next();
                            ranges.extend(prior.take().map(|from| (from, to)));
                        }
                        (Some(one), _) => {
                            ranges.push((one, one));
                            prior = Some(one);
                        }
                    }
                };
                match is_closed {
                    true => Part::Set { ranges, is_negated },
                    false => Part::Never,
                }
            }
            character => Part::Character(character),
        });
    }
    parts
}

/// Whether `whole` has the form of `parts`, with ASCII letters of either case where `folds`.
fn fits(parts: &[Part<'_>], whole: &[u8], folds: bool, mut steps: Steps<'_>) -> Result<bool> {
    let (mut at, mut part) = (0, 0);
    // Where to go on with one character more for the last `Any`.
    let mut again: Option<(usize, usize)> = None;
    loop {
        let next = characters(&whole[at..]).next();
        steps.step(next.map_or(0, <[u8]>::len))?;
        let fits = match (parts.get(part), next) {
            (None, None) => return Ok(true),
            (Some(Part::Any), _) => {
                part += 1;
                again = Some((part, at));
                continue;
            }
            (Some(Part::One), Some(_)) => true,
            (Some(Part::Character(wanted)), Some(next)) => {
                next == *wanted || (folds && next.eq_ignore_ascii_case(wanted))
            }
            (Some(Part::Set { ranges, is_negated }), Some(next)) => {
                let is_in = |range: &(&[u8], &[u8])| range.0 <= next && next <= range.1;
                ranges.iter().any(is_in) != *is_negated
            }
            (Some(_), None) | (Some(Part::Never), _) | (None, Some(_)) => false,
        };
        match (fits, next, again) {
            (true, Some(next), _) => {
                at += next.len();
                part += 1;
            }
            (false, Some(_), Some((from, begin))) => {
                let skipped = characters(&whole[begin..]).next().map_or(1, <[u8]>::len);
                again = Some((from, begin + skipped));
                (part, at) = (from, begin + skipped);
            }
            _ => return Ok(false),
        }
    }
}
