//! The form that a revision requires of raw JSON, for example of the roots of tool schemas.
//!
//! The text is read in one pass, without building a tree.

use super::{Flow, Path, Rule, Walk, quoted};
use crate::{Json, JsonKind, Revision};

/// The form of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// Anything.
    Any,
    /// A string, a boolean, and so on.
    Kind(JsonKind),
    /// A number without a fraction.
    Integer,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// An array of such items.
    Array(&'static Shape),
    /// An object with these members, and the form of all others.
    Object(&'static [Member], &'static Shape),
}

/// A known member of an object: its name, whether it is required, and its form.
// A tuple, because only its construction is a constant that the generated code can refer to in place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member(pub &'static str, pub bool, pub Shape);

impl Shape {
    /// Returns the one JSON type of such values; `None` for any.
    const fn kind(&self) -> Option<JsonKind> {
        match self {
            Self::Any => None,
            Self::Kind(kind) => Some(*kind),
            Self::Integer => Some(JsonKind::Number),
            Self::OneOf(_) => Some(JsonKind::String),
            Self::Array(_) => Some(JsonKind::Array),
            Self::Object(..) => Some(JsonKind::Object),
        }
    }
}

/// Reports where `json` does not have the form of `shape`; `since` is the first later revision that allows it.
pub(super) fn check(
    shape: &Shape,
    json: &Json,
    walk: &mut Walk<'_>,
    path: &Path<'_>,
    since: &dyn Fn(&Walk<'_>) -> Option<Revision>,
) -> Flow {
    visit(shape, json.get(), path, &mut |path, rule, found| {
        let since = since(walk);
        walk.report_found(path, rule, found, since)
    })
}

type Report<'r> = dyn FnMut(&Path<'_>, Rule, Option<(JsonKind, usize)>) -> Flow + 'r;

fn visit(shape: &Shape, text: &str, path: &Path<'_>, report: &mut Report<'_>) -> Flow {
    let kind = JsonKind::of(text);
    let mut refuse = |rule| report(path, rule, Some((kind, text.len())));
    if let Some(wanted) = shape.kind()
        && wanted != kind
    {
        return refuse(Rule::Type(wanted.as_str()));
    }
    match shape {
        Shape::Any | Shape::Kind(_) => Flow::Continue(()),
        Shape::Integer => match text.parse::<f64>() {
            Ok(number) if number.fract() == 0.0 => Flow::Continue(()),
            _ => refuse(Rule::Type("integer")),
        },
        Shape::OneOf(values) => match values.iter().any(|value| quoted::says(text, value)) {
            true => Flow::Continue(()),
            false => refuse(Rule::OneOf(values)),
        },
        Shape::Array(Shape::Any) | Shape::Object([], Shape::Any) => Flow::Continue(()),
        Shape::Array(items) => {
            let mut inside = Inside::of(text);
            let mut index = 0;
            while let Some(item) = inside.value() {
                visit(items, item, &path.index(index), report)?;
                index += 1;
            }
            Flow::Continue(())
        }
        Shape::Object(members, others) => object(members, others, text, path, report),
    }
}

fn object(
    members: &[Member],
    others: &Shape,
    text: &str,
    path: &Path<'_>,
    report: &mut Report<'_>,
) -> Flow {
    // One bit per known member that was found; no schema of the protocol names more than a few.
    let mut there = 0_u64;
    let mut inside = Inside::of(text);
    while let Some((key, value)) = inside.member() {
        let known = members
            .iter()
            .position(|Member(name, ..)| quoted::says(key, name));
        match known {
            Some(i) => {
                there |= 1 << i;
                let Member(name, _, shape) = &members[i];
                visit(shape, value, &path.key(name), report)?;
            }
            None => visit(others, value, &path.quoted(key), report)?,
        }
    }
    for (i, Member(name, required, _)) in members.iter().enumerate() {
        if *required && there & 1 << i == 0 {
            report(&path.key(name), Rule::Missing, None)?;
        }
    }
    Flow::Continue(())
}

/// Reader of the values in an array or object. The text must be valid JSON.
struct Inside<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Inside<'a> {
    /// Starts inside `text`, whose first byte is its bracket.
    fn of(text: &'a str) -> Self {
        Self { text, at: 1 }
    }

    /// Returns the name, with its quotes, and the value of the next member.
    fn member(&mut self) -> Option<(&'a str, &'a str)> {
        Some((self.value()?, self.value()?))
    }

    /// Returns the next value, or the name of the next member.
    fn value(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        while matches!(
            bytes.get(self.at)?,
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b':'
        ) {
            self.at += 1;
        }
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match *bytes.get(self.at)? {
                b'"' => self.at = end_of_string(bytes, self.at)?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                b'}' | b']' if depth == 0 => return None,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => {
                    self.at += 1;
                    continue;
                }
                // A number, `true`, `false` or `null`.
                _ => {
                    while !matches!(
                        bytes.get(self.at)?,
                        b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'
                    ) {
                        self.at += 1;
                    }
                }
            }
            if depth == 0 {
                return self.text.get(start..self.at);
            }
        }
    }
}

/// Returns the offset after the string that starts at `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += 1;
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_inside() {
        let text = r#"{ "a" : 1,"b\"}":[1, {"c":"]"}, []] , "d":"x\\", "e":null, "":{} }"#;
        let mut inside = Inside::of(text);
        let members: Vec<_> = std::iter::from_fn(|| inside.member()).collect();
        let wanted = [
            (r#""a""#, "1"),
            (r#""b\"}""#, r#"[1, {"c":"]"}, []]"#),
            (r#""d""#, r#""x\\""#),
            (r#""e""#, "null"),
            (r#""""#, "{}"),
        ];
        assert_eq!(members, wanted);
        let mut inside = Inside::of("[ true,-1.5e3 ,[ ] ]");
        let items: Vec<_> = std::iter::from_fn(|| inside.value()).collect();
        assert_eq!(items, ["true", "-1.5e3", "[ ]"]);
        assert!(Inside::of("[]").value().is_none() && Inside::of("{ }").member().is_none());
    }
}
