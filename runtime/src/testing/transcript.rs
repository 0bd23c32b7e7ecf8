//! The format of recorded traffic: one JSON object per line, with sender, time and message.
//!
//! This module does not depend on the meaning of the messages.

use std::{fmt, str::FromStr};

use serde::Deserialize;
use serde_json::value::RawValue;

/// One of the two peers of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The side that connects.
    Client,
    /// The side that serves.
    Server,
}

impl Side {
    /// Returns the other peer.
    ///
    /// ```
    /// use trueform::testing::Side;
    ///
    /// assert_eq!(Side::Client.peer(), Side::Server);
    /// ```
    #[must_use]
    pub const fn peer(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// Returns `client` or `server`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One line of a transcript.
///
/// ```
/// use trueform::testing::{Event, Record, Side};
///
/// let record: Record = r#"{"at":12,"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#.parse()?;
/// assert_eq!((record.at, record.from), (Some(12), Side::Client));
/// assert_eq!(record.event, Event::Message(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned()));
/// # Ok::<(), trueform::testing::TranscriptError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// Time in milliseconds since the recording began.
    pub at: Option<u64>,
    /// The peer that acted.
    pub from: Side,
    /// The action.
    pub event: Event,
    /// Over HTTP: a name for the exchange. A request and its response have the same name; each `GET` stream has its own.
    pub stream: Option<String>,
    /// Over HTTP: a name for the client, the same for all its exchanges.
    pub session: Option<String>,
}

/// Action of a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// It sent this text: a JSON-RPC message, or an invalid one. In a transcript it is the member `message`: JSON if it is an
    /// object or an array, otherwise a string that holds the text.
    Message(String),
    /// It sent these bytes, which are not UTF-8, instead of a message. In a transcript it is the member `bytes`: a string in which
    /// each byte that is not part of a character is written as `%` and two hexadecimal digits, and so is `%` itself.
    Bytes(Vec<u8>),
    /// It closed the stream: the member `closed`. Over HTTP, where a record of a client has no `stream`, it ended its session.
    Closed,
}

impl Event {
    /// Returns the event for the bytes of a message: [`Event::Message`] if they are UTF-8.
    pub(super) fn sent(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Message(text.to_owned()),
            Err(_) => Self::Bytes(bytes.to_owned()),
        }
    }
}

impl Record {
    /// Creates the record of a message over a byte stream.
    #[must_use]
    pub fn new(at: u64, from: Side, message: impl Into<String>) -> Self {
        Self {
            at: Some(at),
            from,
            event: Event::Message(message.into()),
            stream: None,
            session: None,
        }
    }
}

/// A transcript that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptError {
    line: usize,
    problem: String,
}

impl TranscriptError {
    /// Returns the line, counted from 1.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for TranscriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the transcript: {}", self.line, self.problem)
    }
}

impl std::error::Error for TranscriptError {}

/// Parses all records of `transcript` with their line numbers. Empty lines are skipped.
pub(super) fn parse(transcript: &str) -> Result<Vec<(usize, Record)>, TranscriptError> {
    let lines = transcript
        .lines()
        .zip(1..)
        .filter(|(text, _)| !text.trim().is_empty());
    let parse = |(text, line): (&str, usize)| match text.parse::<Record>() {
        Ok(record) => Ok((line, record)),
        Err(error) => Err(TranscriptError { line, ..error }),
    };
    lines.map(parse).collect()
}

impl FromStr for Record {
    type Err = TranscriptError;

    fn from_str(line: &str) -> Result<Self, TranscriptError> {
        #[derive(Deserialize)]
        struct TranscriptLine<'a> {
            at: Option<u64>,
            from: Side,
            #[serde(borrow)]
            message: Option<&'a RawValue>,
            bytes: Option<String>,
            #[serde(default)]
            closed: bool,
            stream: Option<String>,
            session: Option<String>,
        }
        let fail = |problem: String| TranscriptError { line: 1, problem };
        let TranscriptLine {
            at,
            from,
            message,
            bytes,
            closed,
            stream,
            session,
        } = serde_json::from_str(line).map_err(|error| fail(error.to_string()))?;
        let event = match (message, bytes, closed) {
            (Some(message), None, false) if message.get().starts_with('"') => Event::Message(
                serde_json::from_str(message.get()).map_err(|error| fail(error.to_string()))?,
            ),
            (Some(message), None, false) => Event::Message(message.get().to_owned()),
            (None, Some(escaped), false) => match unescaped(&escaped) {
                Some(bytes) => Event::Bytes(bytes),
                None => {
                    return Err(fail(
                        "`bytes` has `%` without two hexadecimal digits".to_owned(),
                    ));
                }
            },
            (None, None, true) => Event::Closed,
            (None, None, false) => {
                return Err(fail(
                    "has neither `message` nor `bytes` nor `closed`".to_owned(),
                ));
            }
            _ => {
                return Err(fail(
                    "has more than one of `message`, `bytes` and `closed`".to_owned(),
                ));
            }
        };
        Ok(Self {
            at,
            from,
            event,
            stream,
            session,
        })
    }
}

/// The line of a transcript, without a line end.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        if let Some(at) = self.at {
            write!(f, "\"at\":{at},")?;
        }
        write!(f, "\"from\":\"{}\"", self.from)?;
        for (name, value) in [("session", &self.session), ("stream", &self.stream)] {
            if let Some(value) = value {
                write!(f, ",\"{name}\":{}", serde_json::Value::from(value.as_str()))?;
            }
        }
        match &self.event {
            Event::Closed => f.write_str(",\"closed\":true}"),
            Event::Bytes(bytes) => {
                write!(
                    f,
                    ",\"bytes\":{}}}",
                    serde_json::Value::from(escaped(bytes))
                )
            }
            Event::Message(text) if is_one_line_of_json(text) => {
                write!(f, ",\"message\":{}}}", text.trim())
            }
            Event::Message(text) => write!(
                f,
                ",\"message\":{}}}",
                serde_json::Value::from(text.as_str())
            ),
        }
    }
}

/// Returns `bytes` as a text from which [`unescaped`] restores the bytes.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        text.extend(chunk.invalid().iter().map(|byte| format!("%{byte:02x}")));
    }
    text
}

/// Reverses [`escaped`]. `None` if a `%` is not followed by two digits.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let digits = piece
            .get(..2)
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(&piece.as_bytes()[2..]);
    }
    Some(bytes)
}

/// Returns whether a transcript can contain `text` as JSON without changing it.
fn is_one_line_of_json(text: &str) -> bool {
    let structured = text.trim_start().starts_with(['{', '[']);
    structured
        && !text.trim().contains(['\n', '\r'])
        && serde_json::from_str::<&RawValue>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let texts = [
            r#"{"id":1.0,"a":"\u00e9"}"#,
            "[]",
            "nonsense",
            r#""text""#,
            "5",
            "{\"a\":\r1}",
            "{",
            "",
        ];
        for text in texts {
            for session in [None, Some("a\"b".to_owned())] {
                let record = Record {
                    session,
                    stream: Some("1".to_owned()),
                    ..Record::new(7, Side::Server, text)
                };
                let line = record.to_string();
                assert!(!line.contains(['\n', '\r']), "{line}");
                assert_eq!(line.parse::<Record>().unwrap(), record, "{line}");
            }
        }
        for bytes in [
            &b"\xff"[..],
            b"%\xc3{\"a\":\"\xe4%ff\"}",
            b"\n\xf0\x9f",
            "é\u{0}".as_bytes(),
        ] {
            let record = Record {
                event: Event::Bytes(bytes.to_owned()),
                ..Record::new(7, Side::Client, "")
            };
            let line = record.to_string();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(line.parse::<Record>().unwrap(), record, "{line}");
        }
        let closed = Record {
            event: Event::Closed,
            ..Record::new(7, Side::Client, "")
        };
        assert_eq!(closed.to_string().parse::<Record>().unwrap(), closed);
    }

    #[test]
    fn what_is_no_record() {
        let table = [
            ("{}", "missing field `from`"),
            (
                r#"{"from":"client"}"#,
                "neither `message` nor `bytes` nor `closed`",
            ),
            (
                r#"{"from":"client","message":{},"closed":true}"#,
                "more than one",
            ),
            (
                r#"{"from":"client","message":{},"bytes":""}"#,
                "more than one",
            ),
            (r#"{"from":"client","bytes":"%f"}"#, "hexadecimal"),
            (r#"{"from":"client","bytes":"%+1"}"#, "hexadecimal"),
            (
                r#"{"from":"proxy","message":{}}"#,
                "unknown variant `proxy`",
            ),
        ];
        for (line, expected) in table {
            let error = parse(&format!("\n{line}")).unwrap_err();
            assert_eq!(error.line(), 2);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
