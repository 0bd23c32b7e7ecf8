//! Decoding with a JSON pointer to the error, at no cost for valid input.
//!
//! The path is not tracked while a value is read. When `serde_json` reports an error, its line and column are converted to an
//! offset, and the text is walked up to there.

use std::{collections::HashMap, fmt};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{JsonKind, pointer};

/// Decodes `text`.
///
/// # Errors
/// [`DecodeError`] with the place in `text` and the expectation.
///
/// ```
/// use trueform_schema::{CallToolRequestParams, decode};
///
/// let error = decode::from_str::<CallToolRequestParams>(r#"{"name": "add", "arguments": [1]}"#).unwrap_err();
/// assert_eq!(error.pointer(), "/arguments");
/// ```
pub fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, DecodeError> {
    serde_json::from_str(text).map_err(|error| DecodeError::locate(text, &error))
}

/// Why a value could not be decoded, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    pointer: String,
    message: String,
    found: Option<(JsonKind, usize)>,
}

impl DecodeError {
    /// Creates an error at `pointer`.
    #[must_use]
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
            found: None,
        }
    }

    /// Locates `error` in `text`.
    #[must_use]
    pub fn locate(text: &str, error: &serde_json::Error) -> Self {
        let full = error.to_string();
        // serde_json appends line and column; the pointer is more precise.
        let message = match full.rfind(" at line ") {
            Some(at) => full[..at].to_owned(),
            None => full,
        };
        let (mut pointer, named) = match error.line() {
            0 => (String::new(), false),
            line => pointer_at(text.as_bytes(), offset(text, line, error.column())),
        };
        let mut located = match message
            .strip_prefix(MEMBER)
            .and_then(|rest| rest.split_once("`: "))
        {
            None => Self::new(pointer, message),
            Some((member, message)) => {
                // The reader was anywhere in the object that contains the member.
                if named {
                    pointer.truncate(pointer.rfind('/').unwrap_or(0));
                }
                // It may have been at the end of the member's value, which is then an object or array. The right object is the innermost
                // enclosing one that has the member.
                let has_it = |around: &&str| value_at(text, &format!("{around}{member}")).is_some();
                let around = std::iter::successors(Some(&*pointer), |inner| {
                    inner.rfind('/').map(|at| &inner[..at])
                });
                let around = around.into_iter().find(has_it).unwrap_or(&pointer);
                let pointer = format!("{around}{member}");
                Self::new(pointer, message)
            }
        };
        let value = value_at(text, &located.pointer);
        located.found = value.map(|value| (JsonKind::of(value.get()), value.get().len()));
        if located.message == OUT_OF_RANGE
            && let Some(value) = value
        {
            located.message = out_of_range(value.get());
        }
        located
    }

    /// Returns the JSON pointer (RFC 6901) to the value at fault; empty for the whole document.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Returns what was expected and what was found. It may contain a short value, so return it to the sender of the value but do not
    /// log it.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the violated rule, by a stable name: `missing`, `type`, `value`, `length`, `one-of`, `duplicate`,
    /// `unknown`, or `form` for errors that only the message describes.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        self.parts().0
    }

    /// Returns what was expected, without the value found.
    #[must_use]
    pub fn expected(&self) -> &str {
        self.parts().1
    }

    /// Returns the type of the value found at [`pointer`](Self::pointer) and the length of its JSON text in bytes, if known.
    #[must_use]
    pub const fn found(&self) -> Option<(JsonKind, usize)> {
        self.found
    }

    /// Returns the name of the member that [`pointer`](Self::pointer)'s object lacks, if the error is a missing member.
    #[must_use]
    pub fn missing(&self) -> Option<&str> {
        let name = self.message.strip_prefix("missing field `")?;
        Some(name.split_once('`')?.0)
    }

    /// Returns the name of the member that occurs twice in [`pointer`](Self::pointer)'s object, if that is the error and the pointer is
    /// not to the member itself.
    #[must_use]
    pub fn repeated_in_object(&self) -> Option<&str> {
        let name = self.message.strip_prefix(REPEATED)?;
        name.strip_suffix('`')
    }

    /// Returns the rule and the expectation, derived from the wording of serde's messages.
    fn parts(&self) -> (&'static str, &str) {
        const BEGINNINGS: [(&str, &str); 8] = [
            ("missing field ", "missing"),
            ("invalid type: ", "type"),
            ("invalid value: ", "value"),
            ("invalid length ", "length"),
            ("unknown variant ", "one-of"),
            ("duplicate field ", "duplicate"),
            (REPEATED, "duplicate"),
            ("unknown field ", "unknown"),
        ];
        let rule = BEGINNINGS
            .iter()
            .find(|(beginning, _)| self.message.starts_with(beginning))
            .map_or("form", |(_, rule)| rule);
        let expected = match self.message.rsplit_once("expected ") {
            // `serde_json`'s message for unpaired surrogates in escapes.
            _ if self.message.ends_with("hex escape") => "text whose escapes are whole characters",
            Some((_, expected)) => expected.split_once(", found ").map_or(expected, |(e, _)| e),
            None => &self.message,
        };
        (rule, expected)
    }

    /// Returns the same error in a document that contains the value at `prefix`.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Self {
        self.pointer.insert_str(0, prefix);
        self
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => f.write_str(&self.message),
            pointer => write!(f, "{pointer}: {}", self.message),
        }
    }
}

impl std::error::Error for DecodeError {}

/// The message of serde_json for a number beyond the range of doubles, or of 128-bit integers.
const OUT_OF_RANGE: &str = "number out of range";

/// Returns what is wrong with `number`, which serde_json calls out of range.
fn out_of_range(number: &str) -> String {
    /// Longest number that the message repeats, in bytes.
    const SHOWN: usize = 40;
    let expected = match number.parse::<f64>() {
        Ok(double) if double.is_infinite() => {
            "a number that a double holds, up to ±1.7976931348623157e308"
        }
        // serde_json reads only 128-bit integers from their digits.
        _ => return OUT_OF_RANGE.to_owned(),
    };
    match number.len() {
        0..=SHOWN => format!("invalid value: number `{number}`, expected {expected}"),
        length => format!("invalid value: number of {length} bytes, expected {expected}"),
    }
}

/// Returns the value at `pointer` in `text`.
fn value_at<'t>(text: &'t str, pointer: &str) -> Option<&'t RawValue> {
    let mut value: &RawValue = serde_json::from_str(text).ok()?;
    for token in pointer.split('/').skip(1) {
        value = match JsonKind::of(value.get()) {
            JsonKind::Object => {
                let members: HashMap<String, &RawValue> = serde_json::from_str(value.get()).ok()?;
                *members.get(&*pointer::unescape(token))?
            }
            _ => {
                let items: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
                *items.get(token.parse::<usize>().ok()?)?
            }
        };
    }
    Some(value)
}

const MEMBER: &str = "in member `";
const REPEATED: &str = "duplicate member `";

/// Returns the message of an error in the value of member `key`, for errors without a position: those of values that were read ahead
/// or that are checked after `serde_json` has read them. [`DecodeError::locate`] turns it into a pointer.
pub(crate) fn in_member(key: &str, error: &DecodeError) -> String {
    let key = pointer::escape(key);
    let (inner, message) = match error
        .message
        .strip_prefix(MEMBER)
        .and_then(|rest| rest.split_once("`: "))
    {
        Some(inner) => inner,
        None => ("", &*error.message),
    };
    format!("{MEMBER}/{key}{}{inner}`: {message}", error.pointer)
}

/// Returns the offset after the last byte that `serde_json` read; its columns count bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start = match line {
        1 => 0,
        _ => text
            .bytes()
            .enumerate()
            .filter(|(_, b)| *b == b'\n')
            .nth(line - 2)
            .map_or(text.len(), |(at, _)| at + 1),
    };
    (start + column).min(text.len())
}

/// Returns the pointer to the innermost value that was being read when the reader had consumed `end` bytes of the valid JSON `text`, and
/// whether its last token is the name of a member.
fn pointer_at(text: &[u8], end: usize) -> (String, bool) {
    enum Step {
        Member { key: String, in_value: bool },
        Item(usize),
    }
    let mut path: Vec<Step> = Vec::new();
    let mut at = 0;
    // A scalar that ends exactly where the reader stopped is the value in error, so a container is left only when
    // something after it was consumed.
    while at < end {
        match text[at] {
            b'{' => path.push(Step::Member {
                key: String::new(),
                in_value: false,
            }),
            b'[' => path.push(Step::Item(0)),
            // The reader peeks at a closing bracket before it reports a member that the container lacks.
            b'}' | b']' if at + 1 >= end => {
                if let Some(Step::Member { in_value, .. }) = path.last_mut() {
                    *in_value = false;
                }
                break;
            }
            b'}' | b']' => {
                path.pop();
            }
            b',' => match path.last_mut() {
                Some(Step::Member { in_value, .. }) => *in_value = false,
                Some(Step::Item(index)) if at + 1 < end => *index += 1,
                _ => {}
            },
            b'"' => {
                let start = at;
                at += 1;
                while at < text.len() && text[at] != b'"' {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
                // A member may be at fault from its name on: it may be unknown or repeated.
                if let Some(Step::Member { key, in_value }) = path.last_mut()
                    && !*in_value
                {
                    let quoted = &text[start..(at + 1).min(text.len())];
                    match serde_json::from_slice(quoted) {
                        Ok(name) => *key = name,
                        // The name itself is at fault: a pointer cannot refer to a name.
                        Err(_) if at + 1 >= end => break,
                        Err(_) => key.clear(),
                    }
                    *in_value = true;
                }
            }
            _ => {}
        }
        at += 1;
    }
    let mut pointer = String::new();
    for (depth, step) in path.iter().enumerate() {
        match step {
            Step::Member { key, in_value } if *in_value || depth + 1 < path.len() => {
                pointer::push(&mut pointer, key.chars());
            }
            Step::Member { .. } => {}
            Step::Item(index) => {
                pointer.push('/');
                pointer.push_str(&index.to_string());
            }
        }
    }
    let named = matches!(path.last(), Some(Step::Member { in_value: true, .. }));
    (pointer, named)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only decoded into")]
    struct Outer {
        name: String,
        list: Option<Vec<Inner>>,
        inner: Option<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only decoded into")]
    struct Inner {
        n: i64,
        #[serde(rename = "a/b~c")]
        odd: Option<bool>,
    }

    #[track_caller]
    fn check(text: &str, pointer: &str, message: &str) {
        let error = from_str::<Outer>(text).unwrap_err();
        assert_eq!(
            (error.pointer(), error.message().contains(message)),
            (pointer, true),
            "{error}"
        );
    }

    /// A value that is checked after it has been read completely, when the reader is at its end.
    #[test]
    fn places_of_values_read_before() {
        use crate::CancelledNotificationParams as Cancelled;
        for (text, pointer, rule) in [
            (r#"{"requestId":{"a":1}}"#, "/requestId", "form"),
            (r#"{"requestId":[1],"reason":"x"}"#, "/requestId", "form"),
            (r#"{"requestId":true}"#, "/requestId", "form"),
            (r#"{"requestId":1,"reason":"\ud800"}"#, "/reason", "form"),
            (r#"{"requestId":1,"_meta":{"\ud800":1}}"#, "/_meta", "form"),
            (
                r#"{"requestId":1,"_meta":{"a":1,"a":2}}"#,
                "/_meta",
                "duplicate",
            ),
        ] {
            let error = from_str::<Cancelled>(text).unwrap_err();
            assert_eq!((error.pointer(), error.rule()), (pointer, rule), "{text}");
            assert!(!error.expected().starts_with("end of"), "{error:?}");
        }
    }

    #[test]
    fn rules() {
        for (text, rule, expected, found) in [
            (
                r#"{"name": 5}"#,
                "type",
                "a string",
                Some((JsonKind::Number, 1)),
            ),
            (
                r#"{"name": "secret, expected 5", "inner": "secret, expected "}"#,
                "type",
                "struct Inner",
                Some((JsonKind::String, 19)),
            ),
            (
                r#"{"list": []}"#,
                "missing",
                "missing field `name`",
                Some((JsonKind::Object, 12)),
            ),
            (
                r#"{"name": "", "list": [{"n": 1}, {"n": 1.5}]}"#,
                "type",
                "i64",
                Some((JsonKind::Number, 3)),
            ),
            (
                r#"{"name": "", "name": ""}"#,
                "duplicate",
                "duplicate field `name`",
                Some((JsonKind::String, 2)),
            ),
            (
                r#"{"name": "", "nope": [1, 2]}"#,
                "unknown",
                "one of `name`, `list`, `inner`",
                Some((JsonKind::Array, 6)),
            ),
            (
                r#"{"name": "", "list": [{"n": 1}, {"n": -1e400}]}"#,
                "value",
                "a number that a double holds, up to ±1.7976931348623157e308",
                Some((JsonKind::Number, 6)),
            ),
        ] {
            let error = from_str::<Outer>(text).unwrap_err();
            assert_eq!(
                (error.rule(), error.expected(), error.found()),
                (rule, expected, found),
                "{text}"
            );
        }
        let error = from_str::<Outer>(r#"{"list": []}"#).unwrap_err();
        assert_eq!(error.missing(), Some("name"));
        let error = DecodeError::new("", "expected a string or an integer, found null");
        assert_eq!(
            (error.rule(), error.expected(), error.found()),
            ("form", "a string or an integer", None)
        );
    }

    /// Numbers beyond the range of doubles, at any position. A long one is not repeated.
    #[test]
    fn numbers_out_of_range() {
        let expected = "expected a number that a double holds, up to ±1.7976931348623157e308";
        let digits = format!("1{}", "0".repeat(400));
        for (number, found) in [
            ("1e400", "number `1e400`"),
            ("-1.5E+309", "number `-1.5E+309`"),
            (&*digits, "number of 401 bytes"),
        ] {
            for (text, pointer) in [
                (number.to_owned(), ""),
                (format!("[{number}]"), "/0"),
                (format!("[0, {number} ,1]"), "/1"),
                (format!(r#"{{"a": 1, "b/c": {number}}}"#), "/b~1c"),
                (
                    format!(r#"{{"a":{{"b":[{{}},{{"c":{number} }}]}}, "d":2}}"#),
                    "/a/b/1/c",
                ),
            ] {
                let error = from_str::<serde_json::Value>(&text).unwrap_err();
                let message = format!("invalid value: {found}, {expected}");
                assert_eq!(
                    (error.pointer(), error.message()),
                    (pointer, &*message),
                    "{text}"
                );
                assert_eq!(
                    error.found(),
                    Some((JsonKind::Number, number.len())),
                    "{text}"
                );
            }
        }
        let error = from_str::<u128>(&digits[..40]).unwrap_err();
        assert_eq!(
            error.message(),
            "number out of range",
            "of an integer of 128 bits"
        );
    }

    #[test]
    fn pointers() {
        check(r#"{"name": 5}"#, "/name", "expected a string");
        check(
            r#"{"name": null, "list": []}"#,
            "/name",
            "expected a string",
        );
        check(r#"{"list": []}"#, "", "missing field `name`");
        check(
            r#"{"list": [{"n": 1}, {"n": "x"}]}"#,
            "/list/1/n",
            "expected i64",
        );
        check(
            r#"{"list": [{"n": 1}, {}]}"#,
            "/list/1",
            "missing field `n`",
        );
        check(
            r#"{"list": [{"n": 1} , {"n":2, "a/b~c": 3}], "name": ""}"#,
            "/list/1/a~1b~0c",
            "expected a boolean",
        );
        check(
            r#"{"name":"","inner":{"a/b~c":true}}"#,
            "/inner",
            "missing field `n`",
        );
        check(
            "{\"name\":\"\",\n \"inner\":\n {\"n\": {\"deep\": [1]}}}",
            "/inner/n",
            "expected i64",
        );
        check(r#"{"name":"","list":{}}"#, "/list", "expected a sequence");
        check(r#"[1]"#, "/0", "invalid type");
        check(r#"{"name":"","nope":1}"#, "/nope", "unknown field");
        check(r#"{"name":"a","name":"b"}"#, "/name", "duplicate field");
        check(
            r#"{"name":"a","inner":5.5}"#,
            "/inner",
            "expected struct Inner",
        );
        check(
            r#"{"name":"a","inner":"{[,"}"#,
            "/inner",
            "expected struct Inner",
        );
    }
}
