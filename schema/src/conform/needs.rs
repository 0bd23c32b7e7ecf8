//! The constraints of a place on its values, per revision, and how values of the hand-written types are checked against them.

use super::{Conform, Flow, Format, Path, Rule, Shape, Walk, shape};
use crate::{Json, JsonObject, Map, RequestId, Revision, Revisions};

/// Constraints on a value, each with the revisions that have it.
pub type Needs = [(Revisions, Need)];

/// One constraint of a place on a value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Need {
    /// No fraction.
    Integral,
    /// At least this.
    Minimum(f64),
    /// At most this.
    Maximum(f64),
    /// At least this many items.
    MinItems(usize),
    /// At most this many items.
    MaxItems(usize),
    /// At least this many Unicode scalar values.
    MinLength(usize),
    /// At most this many Unicode scalar values.
    MaxLength(usize),
    /// A string of this format.
    Format(Format),
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// Raw JSON of this form.
    Shape(&'static Shape),
    /// These constraints, on each item of a list or value of a map.
    Each(&'static Needs),
}

/// Checks each need of the walk's revision; `test` returns the violated rule if a need is not met.
fn ask(
    needs: &Needs,
    walk: &mut Walk<'_>,
    path: &Path<'_>,
    value: &dyn Conform,
    test: impl Fn(&Need) -> Option<Rule>,
) -> Flow {
    for (revisions, need) in needs {
        if revisions.contains(walk.revision())
            && let Some(rule) = test(need)
        {
            let since = walk.met_later(Revisions::ALL, value, needs);
            walk.report(path, rule, Some(value), since)?;
        }
    }
    Flow::Continue(())
}

fn number(need: &Need, number: f64) -> Option<Rule> {
    match *need {
        Need::Integral if number.fract() != 0.0 => Some(Rule::Type("integer")),
        Need::Minimum(least) if number < least => Some(Rule::Minimum(least)),
        Need::Maximum(most) if number > most => Some(Rule::Maximum(most)),
        _ => None,
    }
}

/// Like [`number`], without rounding the integer.
fn integer(need: &Need, integer: i64) -> Option<Rule> {
    // An integer is below a limit if it is below the next integer. The cast saturates at the range of `i128`.
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    match *need {
        Need::Minimum(least) if i128::from(integer) < least.ceil() as i128 => {
            Some(Rule::Minimum(least))
        }
        Need::Maximum(most) if i128::from(integer) > most.floor() as i128 => {
            Some(Rule::Maximum(most))
        }
        _ => None,
    }
}

fn items(need: &Need, count: usize) -> Option<Rule> {
    match *need {
        Need::MinItems(least) if count < least => Some(Rule::MinItems(least)),
        Need::MaxItems(most) if most < count => Some(Rule::MaxItems(most)),
        _ => None,
    }
}

/// Returns the needs of the items of a list or the values of a map.
fn each(needs: &Needs, revision: Revision) -> impl Iterator<Item = &'static Needs> {
    needs
        .iter()
        .filter_map(move |(revisions, need)| match need {
            Need::Each(inner) if revisions.contains(revision) => Some(*inner),
            _ => None,
        })
}

impl Conform for bool {
    fn conform(&self, _: &mut Walk<'_>, _: &Path<'_>) -> Flow {
        Flow::Continue(())
    }
}

impl Conform for i64 {
    fn conform(&self, _: &mut Walk<'_>, _: &Path<'_>) -> Flow {
        Flow::Continue(())
    }

    fn meets(&self, needs: &Needs, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        ask(needs, walk, path, self, |need| integer(need, *self))
    }
}

impl Conform for f64 {
    fn conform(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        match self.is_finite() {
            true => Flow::Continue(()),
            false => {
                walk.report_found(path, Rule::Finite, Some((crate::JsonKind::Number, 0)), None)
            }
        }
    }

    fn meets(&self, needs: &Needs, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        ask(needs, walk, path, self, |need| number(need, *self))
    }
}

impl Conform for String {
    fn conform(&self, _: &mut Walk<'_>, _: &Path<'_>) -> Flow {
        Flow::Continue(())
    }

    fn meets(&self, needs: &Needs, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        ask(needs, walk, path, self, |need| match *need {
            Need::Format(format) if !format.accepts(self) => Some(Rule::Format(format)),
            Need::OneOf(values) if !values.contains(&&**self) => Some(Rule::OneOf(values)),
            Need::MinLength(least) if self.chars().take(least).count() < least => {
                Some(Rule::MinLength(least))
            }
            Need::MaxLength(most) if self.chars().nth(most).is_some() => {
                Some(Rule::MaxLength(most))
            }
            _ => None,
        })
    }
}

impl Conform for RequestId {
    fn conform(&self, _: &mut Walk<'_>, _: &Path<'_>) -> Flow {
        Flow::Continue(())
    }
}

impl Conform for Json {
    fn conform(&self, _: &mut Walk<'_>, _: &Path<'_>) -> Flow {
        Flow::Continue(())
    }

    fn meets(&self, needs: &Needs, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        for (revisions, need) in needs {
            if let Need::Shape(shape) = need
                && revisions.contains(walk.revision())
            {
                shape::check(shape, self, walk, path, &|walk| {
                    walk.met_later(Revisions::ALL, self, needs)
                })?;
            }
        }
        Flow::Continue(())
    }
}

impl Conform for JsonObject {
    fn conform(&self, _: &mut Walk<'_>, _: &Path<'_>) -> Flow {
        Flow::Continue(())
    }

    fn meets(&self, needs: &Needs, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        (**self).meets(needs, walk, path)
    }
}

impl<T: Conform> Conform for Option<T> {
    fn conform(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        match self {
            Some(value) => value.conform(walk, path),
            None => Flow::Continue(()),
        }
    }

    fn meets(&self, needs: &Needs, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        match self {
            Some(value) => value.meets(needs, walk, path),
            None => Flow::Continue(()),
        }
    }
}

impl<T: Conform + ?Sized> Conform for Box<T> {
    fn conform(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        (**self).conform(walk, path)
    }

    fn meets(&self, needs: &Needs, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        (**self).meets(needs, walk, path)
    }
}

impl<T: Conform> Conform for Vec<T> {
    fn conform(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        for (i, item) in self.iter().enumerate() {
            item.conform(walk, &path.index(i))?;
        }
        Flow::Continue(())
    }

    fn meets(&self, needs: &Needs, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        ask(needs, walk, path, self, |need| items(need, self.len()))?;
        for inner in each(needs, walk.revision()) {
            for (i, item) in self.iter().enumerate() {
                item.meets(inner, walk, &path.index(i))?;
            }
        }
        Flow::Continue(())
    }
}

impl<V: Conform> Conform for Map<V> {
    fn conform(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        for (key, value) in self.iter() {
            value.conform(walk, &path.key(key))?;
        }
        Flow::Continue(())
    }

    fn meets(&self, needs: &Needs, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow {
        for inner in each(needs, walk.revision()) {
            for (key, value) in self.iter() {
                value.meets(inner, walk, &path.key(key))?;
            }
        }
        Flow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conform::{Bounded, Sink as _};

    fn rules(value: &dyn Conform, needs: &Needs) -> Vec<&'static str> {
        let mut found = Bounded::new(9);
        let mut sink = |violation| found.take(violation);
        let _ = value.meets(
            needs,
            &mut Walk::new(Revision::V2026_07_28, &mut sink),
            &Path::ROOT,
        );
        let found = found.into_violations();
        found
            .iter()
            .map(|violation| violation.rule().name())
            .collect()
    }

    #[test]
    fn lengths_count_characters() {
        let needs: &Needs = &[
            (Revisions::ALL, Need::MinLength(2)),
            (Revisions::ALL, Need::MaxLength(3)),
        ];
        for (text, expected) in [
            ("", vec!["min-length"]),
            ("\u{1F600}", vec!["min-length"]),
            ("\u{1F600}é", vec![]),
            ("e\u{301}a", vec![]),
            ("abcd", vec!["max-length"]),
        ] {
            assert_eq!(rules(&text.to_owned(), needs), expected, "{text:?}");
        }
    }

    #[test]
    fn integers_are_compared_without_rounding() {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let most: &Needs = &[(Revisions::ALL, Need::Maximum(EXACT))];
        assert!(rules(&(1_i64 << 53), most).is_empty());
        assert_eq!(rules(&((1_i64 << 53) + 1), most), ["maximum"]);
        let least: &Needs = &[(Revisions::ALL, Need::Minimum(1.5))];
        assert_eq!(rules(&1, least), ["minimum"]);
        assert!(rules(&2, least).is_empty());
        let far: &Needs = &[(Revisions::ALL, Need::Minimum(-1e300))];
        assert!(rules(&i64::MIN, far).is_empty());
    }
}
