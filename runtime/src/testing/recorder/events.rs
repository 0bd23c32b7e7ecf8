//! Parser of server-sent events: the bytes of each event, and its data.
//!
//! Knows only the format of event streams; the caller interprets the events.

/// Takes the bytes of an event stream in pieces of any size, and reports each event as soon as its last byte has arrived.
#[derive(Debug)]
pub(in crate::testing) struct EventReader {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    id: Option<Vec<u8>>,
    kind: Vec<u8>,
    /// Whether a line feed that comes next belongs to the line end before it.
    after_return: bool,
    is_first_line: bool,
}

/// An event that is a message.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::testing) struct SseEvent {
    /// The id it came with, if it came with one.
    pub(in crate::testing) id: Option<Vec<u8>>,
    /// Its data, lines joined by line feeds.
    pub(in crate::testing) data: Vec<u8>,
}

impl EventReader {
    pub(in crate::testing) fn new() -> Self {
        Self {
            line: Vec::new(),
            data: None,
            id: None,
            kind: Vec::new(),
            after_return: false,
            is_first_line: true,
        }
    }

    /// Takes the next bytes and calls `event` with each message that they complete: not with events without data, with
    /// empty data, or of another type than `message`.
    pub(in crate::testing) fn take(&mut self, bytes: &[u8], mut event: impl FnMut(SseEvent)) {
        for &byte in bytes {
            let is_second_half = std::mem::take(&mut self.after_return) && byte == b'\n';
            match byte {
                b'\n' if is_second_half => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    if let Some(done) = self.end_line() {
                        event(done);
                    }
                }
                _ => self.line.push(byte),
            }
        }
    }

    /// How many bytes of an event that is not complete it holds.
    pub(in crate::testing) fn held(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, Vec::len)
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let mut line = &*line;
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            b"id" => self.id = Some(value.to_owned()),
            b"event" => self.kind = value.to_owned(),
            // Comments, `retry`, and unknown fields.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        let (data, id) = (self.data.take(), self.id.take());
        let kind = std::mem::take(&mut self.kind);
        let is_message = kind.is_empty() || kind == b"message";
        let data = data.filter(|data| is_message && !data.is_empty())?;
        Some(SseEvent { id, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<(Option<String>, String)> {
        let mut reader = EventReader::new();
        let mut events = Vec::new();
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        for piece in pieces {
            reader.take(piece, |event| {
                events.push((event.id.map(text), text(event.data)));
            });
        }
        events
    }

    /// Ids and data.
    type Said = &'static [(Option<&'static str>, &'static str)];

    #[test]
    fn what_is_an_event() {
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
}
