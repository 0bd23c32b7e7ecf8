//! Parser of server-sent events.
//!
//! Knows only the format of event streams; the caller interprets the events.

/// Takes the bytes of an event stream in pieces of any size, and reports each event as soon as its last byte has arrived.
#[derive(Debug)]
pub(crate) struct EventReader {
    line: Vec<u8>,
    event: SseEvent,
    /// Whether a line feed that comes next belongs to the line end before it.
    after_return: bool,
    is_first_line: bool,
}

/// What came between two empty lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// The id it came with, if it came with one. Empty: the ids before it are void.
    pub(crate) id: Option<Vec<u8>>,
    /// Its data, lines joined by line feeds.
    pub(crate) data: Vec<u8>,
    /// How long the server asks the reader to wait before it reconnects, in milliseconds.
    pub(crate) retry: Option<u64>,
    kind: Vec<u8>,
    has_data: bool,
}

impl SseEvent {
    /// Whether it is a message: not without data, with empty data, or of another type than `message`.
    pub(crate) fn is_message(&self) -> bool {
        !self.data.is_empty() && (self.kind.is_empty() || self.kind == b"message")
    }

    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl EventReader {
    pub(crate) fn new() -> Self {
        Self {
            line: Vec::new(),
            event: SseEvent::default(),
            after_return: false,
            is_first_line: true,
        }
    }

    /// Takes the next bytes and calls `event` with each event that they complete, messages or not. Comments are not events.
    pub(crate) fn take(&mut self, bytes: &[u8], mut event: impl FnMut(SseEvent)) {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                return self.line.extend_from_slice(rest);
            };
            self.line.extend_from_slice(&rest[..end]);
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if let Some(done) = self.end_line() {
                event(done);
            }
        }
    }

    /// How many bytes of an event that is not complete it holds.
    pub(crate) fn held(&self) -> usize {
        let id = self.event.id.as_ref().map_or(0, Vec::len);
        self.line.len() + self.event.data.len() + self.event.kind.len() + id
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let mut whole = std::mem::take(&mut self.line);
        let mut line = &*whole;
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return (!event.is_nothing()).then_some(event);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let event = &mut self.event;
        match field {
            b"data" => {
                if std::mem::replace(&mut event.has_data, true) {
                    event.data.push(b'\n');
                }
                event.data.extend_from_slice(value);
            }
            // The format ignores an id with a NUL.
            b"id" if !value.contains(&0) => event.id = Some(value.to_owned()),
            b"event" => event.kind = value.to_owned(),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let digits = std::str::from_utf8(value).unwrap_or_default();
                event.retry = Some(digits.parse().unwrap_or(u64::MAX));
            }
            // Comments and unknown fields.
            _ => {}
        }
        // The buffer serves the next line, unless this one was very long.
        whole.clear();
        if whole.capacity() <= WORTH_KEEPING {
            self.line = whole;
        }
        None
    }
}

/// A buffer that grew beyond this for one line is given back after it.
const WORTH_KEEPING: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<(Option<String>, String)> {
        let mut reader = EventReader::new();
        let mut events = Vec::new();
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        for piece in pieces {
            reader.take(piece, |event| {
                if event.is_message() {
                    events.push((event.id.map(text), text(event.data)));
                }
            });
        }
        events
    }

    /// Ids and data.
    type Said = &'static [(Option<&'static str>, &'static str)];

    #[test]
    fn what_is_a_message() {
        let table: [(&str, Said); 20] = [
            ("data: {}\n\n", &[(None, "{}")]),
            ("data:{}\n\n", &[(None, "{}")]),
            ("data:  {}\n\n", &[(None, " {}")]),
            ("\u{feff}data: {}\n\n", &[(None, "{}")]),
            ("data: {\ndata: }\n\n", &[(None, "{\n}")]),
            ("data: a\n\ndata: b\n\n", &[(None, "a"), (None, "b")]),
            (
                "id: 7\ndata: a\n\ndata: b\n\n",
                &[(Some("7"), "a"), (None, "b")],
            ),
            ("data: a\nid: 7\n\n", &[(Some("7"), "a")]),
            ("event: message\ndata: a\n\n", &[(None, "a")]),
            // No messages.
            ("", &[]),
            (":\n\n: comment\n\n", &[]),
            ("\n\n\n", &[]),
            ("id: 7\nretry: 100\ndata: \n\n", &[]),
            ("id: 7\n\n", &[]),
            ("data\n\n", &[]),
            ("event: endpoint\ndata: /messages\n\n", &[]),
            ("event: endpoint\ndata: x\n\ndata: a\n\n", &[(None, "a")]),
            // Cut off.
            ("data: a\n\ndata: b\n", &[(None, "a")]),
            ("data: a\n\ndata: b", &[(None, "a")]),
            // Among other things.
            (": c\nretry: 5\nodd: x\ndata: a\n: c\n\n", &[(None, "a")]),
        ];
        for (text, expected) in table {
            let expected: Vec<_> = expected
                .iter()
                .map(|(id, data)| (id.map(str::to_owned), (*data).to_owned()))
                .collect();
            for end in ["\n", "\r", "\r\n"] {
                let text = text.replace('\n', end);
                assert_eq!(read(&[text.as_bytes()]), expected, "{text:?}");
                let bytes: Vec<_> = text.as_bytes().chunks(1).collect();
                assert_eq!(read(&bytes), expected, "{text:?} byte by byte");
            }
        }
    }

    /// An event is complete with its last byte, not with the next one.
    #[test]
    fn nothing_waits() {
        for whole in ["data: a\n\n", "data: a\r\r", "data: a\r\n\r"] {
            assert_eq!(read(&[whole.as_bytes()]).len(), 1, "{whole:?}");
            assert_eq!(
                read(&[&whole.as_bytes()[..whole.len() - 1]]).len(),
                0,
                "{whole:?}"
            );
        }
        assert_eq!(read(&[b"data: a\r\n\r", b"\ndata: b\n\n"]).len(), 2);
    }

    // G-7
    #[test]
    fn where_a_stream_can_be_resumed() {
        type Found = (Option<&'static [u8]>, Option<u64>);
        let table: [(&str, &[Found]); 10] = [
            ("id: 7\nretry: 100\ndata: \n\n", &[(Some(b"7"), Some(100))]),
            ("id: 7\n\n", &[(Some(b"7"), None)]),
            ("id\ndata: a\n\n", &[(Some(b""), None)]),
            ("id: a\0b\ndata: a\n\n", &[(None, None)]),
            ("retry: 30000\n\n", &[(None, Some(30_000))]),
            ("retry: 0\n\n", &[(None, Some(0))]),
            ("retry: -1\nretry: 1.5\nretry: \nretry: 5s\n\n", &[]),
            (
                "retry: 99999999999999999999999\n\n",
                &[(None, Some(u64::MAX))],
            ),
            // An event ends with an empty line.
            ("id: 7\ndata: a\n", &[]),
            (": nothing\n\n", &[]),
        ];
        for (text, expected) in table {
            let mut found = Vec::new();
            EventReader::new().take(text.as_bytes(), |event| {
                found.push((event.id, event.retry));
            });
            let expected: Vec<_> = expected
                .iter()
                .map(|(id, retry)| (id.map(<[u8]>::to_vec), *retry))
                .collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    // Y-6: all that a peer can make it hold is counted.
    #[test]
    fn what_it_holds_is_counted() {
        let long = "x".repeat(1000);
        for (start, least) in [
            (long.clone(), 1000),
            (format!("data: {long}\n"), 1000),
            (format!("data: {long}\ndata: {long}\n{long}"), 3000),
            (format!("id: {long}\n"), 1000),
            (format!("event: {long}\n"), 1000),
        ] {
            let mut reader = EventReader::new();
            reader.take(start.as_bytes(), |event| panic!("{event:?}"));
            assert!(least <= reader.held(), "{} of {start}", reader.held());
            reader.take(b"\n\n", |_| {});
            assert_eq!(reader.held(), 0);
        }
    }
}
