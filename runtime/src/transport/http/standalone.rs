//! The one stream of a session for messages that belong to no request (F-15, F-16): who reads it, and how far it is.

use std::{sync::Arc, task::Context};

use super::live::new_stream_number;
use crate::signal::Signal;

/// The state of a session's own stream, kept between its connections.
#[derive(Debug, Default)]
pub(super) struct Standalone {
    /// Fired when the connection that reads is to end.
    reader: Option<Arc<Signal>>,
    /// The number of the stream and the position of its next event, once it is read resumably.
    place: Option<(u64, u64)>,
}

impl Standalone {
    /// Makes a new connection the reader; `None` if there is one already.
    pub(super) fn open(&mut self) -> Option<Arc<Signal>> {
        match self.reader {
            Some(_) => None,
            None => Some(self.take_over()),
        }
    }

    /// Makes a new connection the reader, in place of any other: its client lost it, or would not resume.
    pub(super) fn take_over(&mut self) -> Arc<Signal> {
        self.end();
        let reader = Arc::<Signal>::default();
        self.reader = Some(reader.clone());
        reader
    }

    /// Ends the connection that reads, if there is one.
    pub(super) fn end(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.fire();
        }
    }

    /// Notes that the connection that `reader` stands for has ended.
    pub(super) fn leave(&mut self, reader: &Arc<Signal>) {
        if self
            .reader
            .as_ref()
            .is_some_and(|current| Arc::ptr_eq(current, reader))
        {
            self.reader = None;
        }
    }

    /// The number of the stream, where it was read resumably.
    pub(super) fn number(&self) -> Option<u64> {
        self.place.map(|(number, _)| number)
    }

    /// The place of the next event: the number of the stream and the position.
    pub(super) fn next_place(&mut self) -> (u64, u64) {
        let (number, position) = self.place.unwrap_or_else(|| (new_stream_number(), 0));
        self.place = Some((number, position + 1));
        (number, position)
    }
}

/// Whether the connection that `reader` stands for is to end; else the task of `cx` is woken when it is.
pub(super) fn is_over(reader: &Signal, cx: &mut Context<'_>) -> bool {
    reader.poll_fired(cx).is_ready()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_reader_at_a_time() {
        let mut stream = Standalone::default();
        let first = stream.open().expect("free");
        assert!(stream.open().is_none());
        let second = stream.take_over();
        assert!(first.is_fired() && !second.is_fired());
        stream.leave(&first);
        assert!(
            stream.open().is_none(),
            "a reader that was replaced does not free the stream"
        );
        stream.leave(&second);
        assert!(stream.open().is_some());
    }

    #[test]
    fn positions_go_on_over_connections() {
        let mut stream = Standalone::default();
        let (number, position) = stream.next_place();
        assert_eq!(position, 0);
        assert_eq!(stream.next_place(), (number, 1));
        assert_eq!(stream.number(), Some(number));
    }
}
