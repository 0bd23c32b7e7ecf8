//! Whether a value was received as the revision writes it, or was changed when it was read. [`conform`](super::conform) cannot determine
//! this, because it checks the value as the revision would get it.
//!
//! Compares texts, not trees: open JSON may contain a number beyond `f64`, which no tree can hold, but it is the same on both sides.

use std::ops::ControlFlow;

use serde_json::value::RawValue;

use super::Flow;
use crate::{Encode, JsonKind, RawMembers, Revision, View, pointer};

/// One place where a text differs from what the value that was read from it says at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The kind of the difference.
    pub kind: DifferenceKind,
    /// JSON pointer (RFC 6901) into the text: to the different part, or to where a part is missing.
    pub pointer: String,
    /// Type and length in bytes of this part of the text; `None` if it is missing.
    pub found: Option<(JsonKind, usize)>,
}

/// How a text differs from what its value says at a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DifferenceKind {
    /// The text has a member that the revision does not define.
    Unknown,
    /// The text lacks a member that the revision requires, but whose value is known without it: `resultType`, `ttlMs`, `cacheScope`.
    Absent,
    /// The text writes an integer with a fraction or an exponent.
    Fraction,
    /// The revision does not have this part, and gets something else in its place.
    Rewritten,
}

/// Reports to `sink` where `text`, from which `value` was read, differs from what `value` says at `revision`. Does not check `_meta`,
/// because it is open.
///
/// ```
/// use std::ops::ControlFlow;
/// use trueform_schema::{CallToolResult, Revision, conform::differences, decode};
///
/// let text = r#"{"content":[],"more":1}"#;
/// let result: CallToolResult = decode::from_str(text)?;
/// let mut found = Vec::new();
/// let _ = differences(&result, text, Revision::V2026_07_28, &mut |difference| {
///     found.push(difference.pointer);
///     ControlFlow::Continue(())
/// });
/// assert_eq!(found, ["/more", "/resultType"]);
/// # Ok::<(), trueform_schema::DecodeError>(())
/// ```
pub fn differences<T: Encode + ?Sized>(
    value: &T,
    text: &str,
    revision: Revision,
    sink: &mut dyn FnMut(Difference) -> Flow,
) -> Flow {
    let mut known = Vec::with_capacity(text.len());
    value.encode(View::at(revision).closed(), &mut known);
    match std::str::from_utf8(&known) {
        Ok(known) => compare(text, known, String::new(), sink).unwrap_or(ControlFlow::Continue(())),
        Err(_) => ControlFlow::Continue(()),
    }
}

/// `None` if one of the texts cannot be split into its members: decoding has refused it if that matters.
fn compare(
    sent: &str,
    known: &str,
    pointer: String,
    sink: &mut dyn FnMut(Difference) -> Flow,
) -> Option<Flow> {
    if sent == known {
        return Some(ControlFlow::Continue(()));
    }
    let differs = |kind, pointer, sent: Option<&str>| Difference {
        kind,
        pointer,
        found: sent.map(|sent| (JsonKind::of(sent), sent.len())),
    };
    let rewritten = |pointer| differs(DifferenceKind::Rewritten, pointer, Some(sent));
    match (JsonKind::of(sent), JsonKind::of(known)) {
        (JsonKind::Object, JsonKind::Object) => {
            let RawMembers(sent_members) = serde_json::from_str(sent).ok()?;
            let RawMembers(known) = serde_json::from_str(known).ok()?;
            // This is another alternative, with other members.
            if let (Some(tag), Some(other)) = (tag(&sent_members), tag(&known))
                && !is_same(tag, other)
            {
                return Some(sink(rewritten(pointer)));
            }
            // `_meta` is open by design.
            for (name, value) in sent_members.iter().filter(|(name, _)| name != "_meta") {
                let pointer = format!("{pointer}/{}", pointer::escape(name));
                let flow = match known.iter().find(|(known, _)| known == name) {
                    Some((_, known)) => compare(value.get(), known.get(), pointer, sink)?,
                    None => sink(differs(DifferenceKind::Unknown, pointer, Some(value.get()))),
                };
                if flow.is_break() {
                    return Some(flow);
                }
            }
            for (name, _) in known.iter().filter(|(name, _)| !is_optional(name)) {
                if sent_members.iter().any(|(sent, _)| sent == name) {
                    continue;
                }
                let pointer = format!("{pointer}/{}", pointer::escape(name));
                let flow = sink(differs(DifferenceKind::Absent, pointer, None));
                if flow.is_break() {
                    return Some(flow);
                }
            }
        }
        (JsonKind::Array, JsonKind::Array) => {
            let items: Vec<&RawValue> = serde_json::from_str(sent).ok()?;
            let known: Vec<&RawValue> = serde_json::from_str(known).ok()?;
            if items.len() != known.len() {
                return Some(sink(rewritten(pointer)));
            }
            for (at, (sent, known)) in items.iter().zip(known).enumerate() {
                let flow = compare(sent.get(), known.get(), format!("{pointer}/{at}"), sink)?;
                if flow.is_break() {
                    return Some(flow);
                }
            }
        }
        (JsonKind::Number, JsonKind::Number) => {
            if has_fraction(sent) && !has_fraction(known) {
                return Some(sink(differs(DifferenceKind::Fraction, pointer, Some(sent))));
            }
        }
        (one, other) if one == other && is_same(sent, known) => {}
        _ => return Some(sink(rewritten(pointer))),
    }
    Some(ControlFlow::Continue(()))
}

/// Returns whether a member that is always written may be absent: `_meta`, and the `mode` of an elicitation, whose absence means a form
/// (R-3). All other members that are written but were not received are required.
fn is_optional(name: &str) -> bool {
    matches!(name, "_meta" | "mode")
}

/// Returns the member that distinguishes alternatives.
fn tag<'a>(members: &[(String, &'a RawValue)]) -> Option<&'a str> {
    let (_, tag) = members.iter().find(|(name, _)| name == "type")?;
    Some(tag.get())
}

/// Returns whether two scalars that are not numbers are equal, however they are written. A string that Rust cannot represent was not read
/// but kept as it is.
fn is_same(one: &str, other: &str) -> bool {
    let text = |json: &str| serde_json::from_str::<String>(json).ok();
    one == other || text(one).is_some_and(|one| text(other).is_some_and(|other| one == other))
}

/// Returns whether a number is written with a fraction or an exponent.
fn has_fraction(number: &str) -> bool {
    number.contains(['.', 'e', 'E'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CallToolResult, decode};

    /// Returns the kinds and pointers of the differences.
    fn found(text: &str, revision: Revision) -> Vec<(DifferenceKind, String)> {
        let result: CallToolResult = decode::from_str(text).unwrap();
        let mut found = Vec::new();
        let _ = differences(&result, text, revision, &mut |difference| {
            found.push((difference.kind, difference.pointer));
            ControlFlow::Continue(())
        });
        found
    }

    // DEC-12
    #[test]
    fn everything_that_is_changed_is_found() {
        use DifferenceKind::{Absent, Rewritten, Unknown};
        let (first, last) = (Revision::V2024_11_05, Revision::V2026_07_28);
        let audio = r#"{"type":"audio","data":"","mimeType":"audio/wav"}"#;
        for (text, revision, expected) in [
            (r#"{"content":[]}"#.to_owned(), first, vec![]),
            (
                r#"{"resultType":"complete","content":[]}"#.to_owned(),
                last,
                vec![],
            ),
            (
                r#"{"content":[]}"#.to_owned(),
                last,
                vec![(Absent, "/resultType")],
            ),
            (
                r#"{"resultType":"complete","content":[],"a/b":1}"#.to_owned(),
                first,
                vec![(Unknown, "/resultType"), (Unknown, "/a~1b")],
            ),
            (
                format!(r#"{{"content":[{audio}]}}"#),
                first,
                vec![(Rewritten, "/content/0")],
            ),
            (
                r#"{ "content" : [{"text":"\u0061","type":"text","x":[]}], "_meta": {"y":1} }"#
                    .to_owned(),
                first,
                vec![(Unknown, "/content/0/x")],
            ),
        ] {
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(kind, pointer)| (kind, pointer.to_owned()))
                .collect();
            assert_eq!(found(&text, revision), expected, "{text}");
        }
    }
}
