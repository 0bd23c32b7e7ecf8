//! JSON trees of messages, even if they contain a number or a string that cannot be read: a number out of range, an unpaired
//! surrogate.
//!
//! Both are JSON, so everything around them is still checked. They are replaced by a stand-in, which differs from every readable value.
//! Checks of the form know its place, so they draw no conclusion from it.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value, value::RawValue};
use trueform_schema::pointer::push;

use super::Report;
use crate::jsonrpc::MAX_DEPTH;

/// Maximum number of findings on one message, because a peer that sends one of a kind may send many.
const MOST: usize = 5;

/// The JSON text of params or a result, all of which can be read.
#[derive(Debug)]
pub(super) struct MessageText<'a> {
    pub(super) json: Cow<'a, str>,
    /// Pointers to the stand-ins.
    hidden: Vec<String>,
}

/// A value that not every peer can read.
#[derive(Debug)]
pub(super) struct UnreadableMessage {
    pub(super) pointer: String,
    /// The number as written; `None` for a string.
    number: Option<String>,
    /// Whether it is the name of a member of the object at the pointer.
    is_name: bool,
}

impl MessageText<'_> {
    /// Returns whether the value at `pointer` is, contains or is part of a stand-in.
    pub(super) fn hides(&self, pointer: &str) -> bool {
        let is_within = |inner: &str, outer: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mut hidden = self.hidden.iter();
        hidden.any(|hidden| is_within(hidden, pointer) || is_within(pointer, hidden))
    }

    pub(super) fn is_whole(&self) -> bool {
        self.hidden.is_empty()
    }
}

impl UnreadableMessage {
    pub(super) const fn requirements(&self) -> &'static [&'static str] {
        match self.number {
            Some(_) => &["A-1"],
            None => &["A-1", "GAP-14"],
        }
    }
}

impl fmt::Display for UnreadableMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = &self.pointer;
        match &self.number {
            Some(number) => write!(
                f,
                "{pointer} is `{number}`, a number that not every peer can read"
            ),
            None if self.is_name => write!(
                f,
                "{pointer} has a name with an unpaired surrogate, which not every peer can read"
            ),
            None => write!(
                f,
                "{pointer} is a string with an unpaired surrogate, which not every peer can read"
            ),
        }
    }
}

/// Parses the JSON of `raw`, which messages call `what`. Reports values that not every peer can read. Absent params become `null`; they may
/// be written as an empty object, but not as `null`.
pub(super) fn read<'a>(
    report: &mut Report<'_>,
    what: &str,
    raw: Option<&'a str>,
) -> (Value, MessageText<'a>) {
    let whole = |json| MessageText {
        json: Cow::Borrowed(json),
        hidden: Vec::new(),
    };
    let raw = match raw {
        None => return (Value::Null, whole("{}")),
        Some("null") => {
            report.error(
                &["A-1"],
                format!("{what} must be an object or absent, not `null`"),
            );
            // An empty text has no further findings.
            let hidden = vec![String::new()];
            return (
                Value::Null,
                MessageText {
                    json: "{}".into(),
                    hidden,
                },
            );
        }
        Some(raw) => raw,
    };
    if let Ok(value) = serde_json::from_str(raw) {
        return (value, whole(raw));
    }
    let Some((value, unreadable)) = tree(raw) else {
        return (Value::Null, whole(raw));
    };
    for one in unreadable.iter().take(MOST) {
        report.warning(one.requirements(), format!("{what}{one}"));
    }
    let text = MessageText {
        json: Cow::Owned(value.to_string()),
        hidden: unreadable.into_iter().map(|one| one.pointer).collect(),
    };
    (value, text)
}

/// Returns the tree of the JSON `text` with stand-ins, and the values that they replace. `None` if it is not JSON, or nested too deeply.
pub(super) fn tree(text: &str) -> Option<(Value, Vec<UnreadableMessage>)> {
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    let mut unreadable = Vec::new();
    let value = branch(raw.get(), &mut String::new(), 0, &mut unreadable)?;
    Some((value, unreadable))
}

fn branch(
    raw: &str,
    pointer: &mut String,
    depth: usize,
    unreadable: &mut Vec<UnreadableMessage>,
) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(raw) {
        return Some(value);
    }
    if depth == MAX_DEPTH {
        return None;
    }
    let length = pointer.len();
    let mut below = |step: &str, raw: &RawValue, unreadable: &mut Vec<UnreadableMessage>| {
        push(pointer, step.chars());
        let value = branch(raw.get(), pointer, depth + 1, unreadable);
        pointer.truncate(length);
        value
    };
    match raw.as_bytes().first()? {
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
            let items = items.into_iter().enumerate();
            let items = items.map(|(index, item)| below(&index.to_string(), item, unreadable));
            items.collect::<Option<_>>().map(Value::Array)
        }
        b'{' => {
            let MemberNames(members) = serde_json::from_str(raw).ok()?;
            let mut all = Map::new();
            let mut broken_name = false;
            for (Characters { text, is_whole }, member) in members {
                broken_name |= !is_whole;
                let value = below(&text, member, unreadable)?;
                all.insert(text, value);
            }
            if broken_name {
                unreadable.push(UnreadableMessage {
                    pointer: pointer.clone(),
                    number: None,
                    is_name: true,
                });
            }
            Some(Value::Object(all))
        }
        first => {
            let is_text = *first == b'"';
            unreadable.push(UnreadableMessage {
                pointer: pointer.clone(),
                number: (!is_text).then(|| raw.to_owned()),
                is_name: false,
            });
            match is_text {
                true => serde_json::from_str::<Characters>(raw)
                    .ok()
                    .map(|characters| characters.text.into()),
                // No readable number is larger.
                false if *first == b'-' => Some(f64::MIN.into()),
                false => Some(f64::MAX.into()),
            }
        }
    }
}

/// A string in which unpaired surrogates are replaced by escapes of their bytes.
struct Characters {
    text: String,
    is_whole: bool,
}

impl<'de> Deserialize<'de> for Characters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl Visitor<'_> for V {
            type Value = Characters;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Characters, E> {
                let mut text = String::new();
                for chunk in bytes.utf8_chunks() {
                    text.push_str(chunk.valid());
                    text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
                }
                let is_whole = std::str::from_utf8(bytes).is_ok();
                Ok(Characters { text, is_whole })
            }
        }
        // Strings that are read as bytes may contain unpaired surrogates.
        deserializer.deserialize_bytes(V)
    }
}

/// The members of an object, in their order.
struct MemberNames<'a>(Vec<(Characters, &'a RawValue)>);

impl<'de> Deserialize<'de> for MemberNames<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = MemberNames<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(MemberNames(members))
            }
        }
        deserializer.deserialize_map(V)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_found_in_its_place() {
        let table = [
            (r#"{"a":[1,{"b~/":1e999}]}"#, "/a/1/b~0~1 1e999"),
            (r#"[-1e999]"#, "/0 -1e999"),
            (r#"{"a":"\ud800"}"#, "/a"),
            (r#"{"a":{"\udc00":1}}"#, "/a name"),
            (r#""\ud83d\ude00""#, "nothing"),
            (r#"{"a":1e308}"#, "nothing"),
        ];
        for (text, expected) in table {
            let (_, unreadable) = tree(text).unwrap();
            let found = match &unreadable[..] {
                [] => "nothing".to_owned(),
                [
                    UnreadableMessage {
                        pointer,
                        number,
                        is_name,
                    },
                ] => {
                    let more = number.as_deref().or(is_name.then_some("name"));
                    more.map_or(pointer.clone(), |more| format!("{pointer} {more}"))
                }
                more => panic!("{more:?}"),
            };
            assert_eq!(found, expected, "{text}");
        }
        assert!(tree("{").is_none());
        let deep = format!("{}1e999{}", "[".repeat(129), "]".repeat(129));
        assert!(tree(&deep).is_none());
    }

    /// Two strings are equal if they were equal before, regardless of their escapes.
    #[test]
    fn stand_ins_are_distinguished() {
        let value = |text: &str| tree(text).unwrap().0;
        assert_eq!(value(r#""a\ud800""#), value(r#""\u0061\uD800""#));
        assert_ne!(value(r#""\ud800""#), value(r#""\ud801""#));
        assert_ne!(value("1e999"), value("-1e999"));
    }

    #[test]
    fn what_is_hidden() {
        let text = MessageText {
            json: "".into(),
            hidden: vec!["/a/b".to_owned()],
        };
        for (pointer, expected) in [
            ("", true),
            ("/a", true),
            ("/a/b", true),
            ("/a/b/c", true),
            ("/a/bc", false),
            ("/b", false),
        ] {
            assert_eq!(text.hides(pointer), expected, "{pointer}");
        }
    }
}
