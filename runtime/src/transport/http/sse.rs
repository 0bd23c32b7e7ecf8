//! Server-sent events: turns messages into events. One event is one buffer, so that it is sent in one write.

use std::{fmt::Write as _, sync::Arc, time::Duration};

use bytes::Bytes;
use memchr::memchr2_iter;

use crate::{
    gate::{Outgoing, Unread},
    jsonrpc,
    store::{EventId, StoredEvent},
};

/// A comment that keeps proxies from closing a silent stream; clients skip it (F-31, G-13).
pub(super) const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// The last event of a stream whose reader is replaced. It has no message and no name (DEC-7). It asks the client to wait for 30 s, so that
/// clients that reopen a stream at once do not replace each other for ever (DEC-3).
pub(super) const REPLACED: Bytes = Bytes::from_static(b"retry: 30000\n\n");

/// Writes `message` as an event of the type `message`.
///
/// Parsers assume this name if there is none, but some clients accept only events with the name (DEC-7). A line end between the tokens of
/// the JSON would end the `data` field, so it becomes a space. JSON has no line ends inside strings. The letters that some clients' line
/// splitters treat as line ends occur only inside strings, and are escaped there.
/// space. Letters that line splitters of some clients take for line ends occur inside strings only, and are escaped there.
pub(super) fn event(id: Option<EventId>, message: &Outgoing) -> Bytes {
    message.as_text(written(id, message.bytes()))
}

/// Writes an event that the store kept, as it was sent before.
pub(super) fn replayed(id: EventId, event: &StoredEvent, unread: &Arc<Unread>) -> Bytes {
    unread.text(written(Some(id), &event.message))
}

fn written(id: Option<EventId>, message: &[u8]) -> Vec<u8> {
    tracing::trace!(message = %jsonrpc::WholeMessage(message), "sent as an event");
    let mut out = Vec::with_capacity(message.len() + if id.is_some() { 80 } else { 24 });
    if let Some(id) = id {
        push_id(&mut out, id);
    }
    out.extend_from_slice(b"event: message\ndata: ");
    let start = out.len();
    match first_separator(message) {
        None => out.extend_from_slice(message),
        Some(first) => escaped(&mut out, message, first),
    }
    for byte in &mut out[start..] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    out.extend_from_slice(b"\n\n");
    out
}

/// Returns the offset of the first of U+0085, U+2028 and U+2029.
fn first_separator(text: &[u8]) -> Option<usize> {
    memchr2_iter(0xc2, 0xe2, text).find(|at| separator(&text[*at..]).is_some())
}

/// Returns the escape of the separator that `text` begins with, and the length of the separator in bytes.
fn separator(text: &[u8]) -> Option<(&'static [u8], usize)> {
    match text {
        [0xc2, 0x85, ..] => Some((br"\u0085", 2)),
        [0xe2, 0x80, 0xa8, ..] => Some((br"\u2028", 3)),
        [0xe2, 0x80, 0xa9, ..] => Some((br"\u2029", 3)),
        _ => None,
    }
}

/// Appends the JSON text `message` with its separators escaped. The first separator is at `first`.
#[cold]
fn escaped(out: &mut Vec<u8>, mut message: &[u8], first: usize) {
    let mut next = Some(first);
    while let Some(at) = next {
        let (before, rest) = message.split_at(at);
        out.extend_from_slice(before);
        let (escape, length) = separator(rest).unwrap_or((b"", 0));
        out.extend_from_slice(escape);
        message = &rest[length..];
        next = first_separator(message);
    }
    out.extend_from_slice(message);
}

/// Writes the event that opens a resumable stream: it has an id to resume from, no message (F-11) and so no name (DEC-7).
pub(super) fn priming(id: EventId, retry: Duration) -> Bytes {
    let mut out = Vec::with_capacity(64);
    push_id(&mut out, id);
    // Without the data line parsers would not dispatch the event.
    out.extend_from_slice(format!("retry: {}\ndata: \n\n", retry.as_millis()).as_bytes());
    out.into()
}

fn push_id(out: &mut Vec<u8>, id: EventId) {
    let mut text = String::with_capacity(48);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "id: {id}");
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &[u8]) -> Outgoing {
        Outgoing::unchecked(text.to_vec())
    }

    // DEC-7
    #[test]
    fn one_message_is_one_named_event_with_one_data_line() {
        assert_eq!(
            event(None, &message(b"{\"a\":1}")),
            "event: message\ndata: {\"a\":1}\n\n"
        );
        assert_eq!(
            event(None, &message(b"{\r\n\"a\":\n1}")),
            "event: message\ndata: {  \"a\": 1}\n\n"
        );
        let id = EventId {
            stream: 1,
            position: 2,
        };
        assert_eq!(
            event(Some(id), &message(b"{}")),
            "id: 0000000000000001-2\nevent: message\ndata: {}\n\n"
        );
    }

    // Issue 8: some clients split lines at these characters.
    #[test]
    fn line_separators_are_escaped() {
        for (text, expected) in [
            ("\"\u{2028}\"", r#""\u2028""#),
            (
                "{\"a\u{2029}\":\"b\u{85}\u{85}c\"}",
                r#"{"a\u2029":"b\u0085\u0085c"}"#,
            ),
            ("\"\u{2028}\n\u{2029}\"", r#""\u2028 \u2029""#),
            // The characters next to them.
            (
                "\"\u{2027}\u{202a}\u{84}\u{86}\u{e9}\"",
                "\"\u{2027}\u{202a}\u{84}\u{86}\u{e9}\"",
            ),
        ] {
            let expected = format!("event: message\ndata: {expected}\n\n");
            assert_eq!(event(None, &message(text.as_bytes())), expected, "{text:?}");
        }
    }

    // F-11, DEC-7
    #[test]
    fn a_priming_event_has_an_id_a_delay_empty_data_and_no_name() {
        let id = EventId {
            stream: 0xab,
            position: 0,
        };
        let text = "id: 00000000000000ab-0\nretry: 1500\ndata: \n\n";
        assert_eq!(priming(id, Duration::from_millis(1500)), text);
    }
}
