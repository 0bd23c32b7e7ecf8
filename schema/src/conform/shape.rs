//! What raw JSON must look like where a revision says more of it than its type: the roots of tool schemas, for example.
//!
//! The text is read once, without building a tree.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Flow, Path, Rule, Walk};
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
    /// An object with these members, and what others must be.
    Object(&'static [Member], &'static Shape),
}

/// A known member of an object: its name, whether it must be there, and what it must be.
// A tuple, because only its construction is a constant that the generated code can refer to in place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member(pub &'static str, pub bool, pub Shape);

impl Shape {
    /// The one JSON type of such values; `None` for any.
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

/// Reports where `json` does not have the form of `shape`; `since` says from which revision on it is allowed.
pub(super) fn check(
    shape: &Shape,
    json: &Json,
    walk: &mut Walk<'_>,
    path: &Path<'_>,
    since: &dyn Fn(&Walk<'_>) -> Option<Revision>,
) -> Flow {
    visit(shape, json.raw(), path, &mut |path, rule, found| {
        let since = since(walk);
        walk.report_found(path, rule, found, since)
    })
}

type Report<'r> = dyn FnMut(&Path<'_>, Rule, Option<(JsonKind, usize)>) -> Flow + 'r;

fn visit(shape: &Shape, raw: &RawValue, path: &Path<'_>, report: &mut Report<'_>) -> Flow {
    let text = raw.get();
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
        Shape::OneOf(values) => match serde_json::from_str::<Text<'_>>(text) {
            Ok(Text(value)) if values.contains(&&*value) => Flow::Continue(()),
            _ => refuse(Rule::OneOf(values)),
        },
        Shape::Array(Shape::Any) => Flow::Continue(()),
        Shape::Object([], Shape::Any) => Flow::Continue(()),
        Shape::Array(_) | Shape::Object(..) => {
            let mut flow = Flow::Continue(());
            let inside = Inside {
                shape,
                path,
                report,
                flow: &mut flow,
            };
            // It is JSON; the reader only fails when the sink has had enough.
            let _ = inside.deserialize(&mut serde_json::Deserializer::from_str(text));
            flow
        }
    }
}

/// The inside of an array or object.
struct Inside<'a, 'r> {
    shape: &'a Shape,
    path: &'a Path<'a>,
    report: &'a mut Report<'r>,
    flow: &'a mut Flow,
}

impl<'de> DeserializeSeed<'de> for Inside<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Inside<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Shape::Array(shape) = self.shape else {
            return Err(A::Error::custom("an object"));
        };
        let mut index = 0;
        while let Some(raw) = items.next_element::<&RawValue>()? {
            *self.flow = visit(shape, raw, &self.path.index(index), self.report);
            if self.flow.is_break() {
                return Err(A::Error::custom("enough"));
            }
            index += 1;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Shape::Object(members, others) = self.shape else {
            return Err(A::Error::custom("an array"));
        };
        // One bit per required member that was there; shapes are small.
        let mut there = 0_u64;
        while let Some(Text(key)) = map.next_key()? {
            let raw: &RawValue = map.next_value()?;
            let known = members.iter().position(|Member(name, ..)| *name == key);
            let shape = match known {
                Some(i) => {
                    there |= 1 << i;
                    &members[i].2
                }
                None => others,
            };
            *self.flow = visit(shape, raw, &self.path.key(&key), self.report);
            if self.flow.is_break() {
                return Err(A::Error::custom("enough"));
            }
        }
        for (i, Member(name, required, _)) in members.iter().enumerate() {
            if *required && there & 1 << i == 0 {
                *self.flow = (self.report)(&self.path.key(name), Rule::Missing, None);
                if self.flow.is_break() {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// A string, borrowed where it has no escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Text<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Read)
    }
}
