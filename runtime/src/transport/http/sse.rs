//! Server-sent events: how a message becomes an event. One event is one buffer, so that it leaves in one write.

use std::{fmt::Write as _, time::Duration};

use bytes::Bytes;

use crate::{gate::Outgoing, store::EventId};

/// A comment that keeps proxies from taking a silent stream for a dead one; clients skip it (F-31, G-13).
pub(super) const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// `message` as an event of the type `message`.
///
/// The name is what parsers assume without it, but some clients take events with this name only (DEC-7).
/// A line end between the tokens of the JSON would end the `data` field, and inside strings JSON has none: it becomes a
/// space.
pub(super) fn event(id: Option<EventId>, message: &Outgoing) -> Bytes {
    let message = message.bytes();
    tracing::trace!(message = %String::from_utf8_lossy(message), "sent as an event");
    let mut out = Vec::with_capacity(message.len() + if id.is_some() { 80 } else { 24 });
    if let Some(id) = id {
        push_id(&mut out, id);
    }
    out.extend_from_slice(b"event: message\ndata: ");
    let start = out.len();
    out.extend_from_slice(message);
    for byte in &mut out[start..] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    out.extend_from_slice(b"\n\n");
    out.into()
}

/// The event that opens a resumable stream: it has an id to resume from, no message (F-11) and so no name (DEC-7).
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
