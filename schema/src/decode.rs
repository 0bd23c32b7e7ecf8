//! Decoding with a JSON pointer to what was wrong, at no cost while nothing is.
//!
//! Nothing tracks the path while a value is read. Only when `serde_json` reports an error is its line and column turned
//! into a place in the text, and the text walked up to there.

use std::fmt;

use serde::Deserialize;

/// Decodes `text`.
///
/// # Errors
/// [`DecodeError`], saying where in `text` and what was expected.
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

/// A value that does not have the form of the type it was decoded as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    pointer: String,
    message: String,
}

impl DecodeError {
    /// An error at `pointer`.
    #[must_use]
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
        }
    }

    /// Finds the place in `text` that `error` is about.
    #[must_use]
    pub fn locate(text: &str, error: &serde_json::Error) -> Self {
        let full = error.to_string();
        // serde_json appends the place, which the pointer says better.
        let message = match full.rfind(" at line ") {
            Some(at) => full[..at].to_owned(),
            None => full,
        };
        let mut pointer = match error.line() {
            0 => String::new(),
            line => pointer_at(text.as_bytes(), offset(text, line, error.column())),
        };
        match replayed_parts(&message) {
            None => Self { pointer, message },
            Some((earlier, member, message)) => {
                if earlier {
                    // The reader stood at a later member of the same object.
                    pointer.truncate(pointer.rfind('/').unwrap_or(0));
                }
                pointer.push_str(member);
                Self::new(pointer, message)
            }
        }
    }

    /// The message of the same error in member `key` of the object being read, whose value was read before; `at_end`
    /// says that the object has no further members. [`DecodeError::locate`] finds the place in it again.
    pub(crate) fn replayed(self, key: &str, at_end: bool) -> String {
        let intro = if at_end { MEMBER } else { EARLIER };
        let key = match key {
            "" => String::new(),
            key => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        };
        format!("{intro}{key}{}`: {}", self.pointer, self.message)
    }

    /// JSON pointer (RFC 6901) to the value at fault; empty for the whole.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What was expected and what was found.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same error in a document that holds the value at `prefix`.
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

const MEMBER: &str = "in member `";
const EARLIER: &str = "in earlier member `";

/// Whether the reader was past the member, its pointer, and the message proper.
fn replayed_parts(message: &str) -> Option<(bool, &str, &str)> {
    let (earlier, rest) = match message.strip_prefix(EARLIER) {
        Some(rest) => (true, rest),
        None => (false, message.strip_prefix(MEMBER)?),
    };
    let (member, message) = rest.split_once("`: ")?;
    Some((earlier, member, message))
}

/// Offset of the byte after the last one `serde_json` looked at; its columns count bytes.
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

/// Pointer to the innermost value that was being read when the reader had consumed `end` bytes of valid JSON `text`.
fn pointer_at(text: &[u8], end: usize) -> String {
    enum Step {
        Member { key: String, in_value: bool },
        Item(usize),
    }
    let mut path: Vec<Step> = Vec::new();
    let mut at = 0;
    // A scalar that ends exactly where the reader stopped is the value at fault, so a container is left only when
    // something after it was consumed.
    while at < end {
        match text[at] {
            b'{' => path.push(Step::Member {
                key: String::new(),
                in_value: false,
            }),
            b'[' => path.push(Step::Item(0)),
            // The reader peeks at a closing bracket before it reports what the container lacks.
            b'}' | b']' if at + 1 >= end => {
                if let Some(Step::Member { in_value, .. }) = path.last_mut() {
                    *in_value = false;
                }
                break;
            }
            b'}' | b']' => {
                path.pop();
            }
            b':' => {
                if let Some(Step::Member { in_value, .. }) = path.last_mut() {
                    *in_value = true;
                }
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
                if let Some(Step::Member {
                    key,
                    in_value: false,
                }) = path.last_mut()
                {
                    let quoted = &text[start..(at + 1).min(text.len())];
                    *key = serde_json::from_slice(quoted).unwrap_or_default();
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
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Step::Member { .. } => {}
            Step::Item(index) => {
                pointer.push('/');
                pointer.push_str(&index.to_string());
            }
        }
    }
    pointer
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
        check(r#"[1]"#, "", "invalid");
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
