//! The one stream of a session for messages that belong to no request (F-15, F-16): its reader, and its position.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use super::{limit::Permit, live::new_stream_number};
use crate::signal::Signal;

/// The state of a session's own stream, kept between its connections.
#[derive(Debug, Default)]
pub(super) struct Standalone {
    /// The connection that reads.
    reader: Option<Arc<StreamReader>>,
    /// Counts the reader as a stream that only listens.
    permit: Option<Permit>,
    /// The number of the stream and the position of its next event, once it is read resumably.
    place: Option<(u64, u64)>,
}

/// Represents a connection that reads the stream.
#[derive(Debug, Default)]
pub(super) struct StreamReader {
    /// Fired when the connection must end.
    over: Signal,
    replaced: AtomicBool,
}

/// Why the connection of a reader must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// Another connection reads (DEC-3).
    Replaced,
    /// The session or the server ends.
    Ended,
}

impl StreamReader {
    /// Is ready when the connection must end. Otherwise the task of `cx` is woken then.
    pub(super) fn poll_over(&self, cx: &mut Context<'_>) -> Poll<Over> {
        self.over
            .poll_fired(cx)
            .map(|()| match self.replaced.load(Ordering::Acquire) {
                true => Over::Replaced,
                false => Over::Ended,
            })
    }
}

impl Standalone {
    /// Makes a new connection the reader, in place of any other (DEC-3). It takes over the permit of the connection before, or gets one
    /// from `room`; `None` if there is no room.
    pub(super) fn take_over(
        &mut self,
        room: impl FnOnce() -> Option<Permit>,
    ) -> Option<Arc<StreamReader>> {
        self.permit = Some(self.permit.take().or_else(room)?);
        let reader = Arc::<StreamReader>::default();
        if let Some(earlier) = self.reader.replace(reader.clone()) {
            earlier.replaced.store(true, Ordering::Release);
            earlier.over.fire();
        }
        Some(reader)
    }

    /// Ends the connection that reads, if there is one.
    pub(super) fn end(&mut self) {
        self.permit = None;
        if let Some(reader) = self.reader.take() {
            reader.over.fire();
        }
    }

    /// Notes that the connection of `reader` has ended.
    pub(super) fn leave(&mut self, reader: &Arc<StreamReader>) {
        if self
            .reader
            .as_ref()
            .is_some_and(|current| Arc::ptr_eq(current, reader))
        {
            self.reader = None;
            self.permit = None;
        }
    }

    /// Returns the number of the stream, if it was read resumably.
    pub(super) fn number(&self) -> Option<u64> {
        self.place.map(|(number, _)| number)
    }

    /// Returns the place of the next event: the number of the stream and the position.
    pub(super) fn next_place(&mut self) -> (u64, u64) {
        let (number, position) = self.place.unwrap_or_else(|| (new_stream_number(), 0));
        self.place = Some((number, position + 1));
        (number, position)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::{super::limit::Limit, *};

    // DEC-3
    #[test]
    fn one_reader_at_a_time_the_newest() {
        let over =
            |reader: &StreamReader| reader.poll_over(&mut Context::from_waker(Waker::noop()));
        let limit = Limit::new(1);
        let mut stream = Standalone::default();
        let first = stream.take_over(|| limit.enter()).expect("room");
        let second = stream
            .take_over(|| limit.enter())
            .expect("in place of the first");
        assert_eq!(over(&first), Poll::Ready(Over::Replaced));
        assert_eq!(over(&second), Poll::Pending);
        stream.leave(&first);
        let mut other = Standalone::default();
        assert!(
            other.take_over(|| limit.enter()).is_none(),
            "a reader that was replaced does not free the room of the one that reads"
        );
        stream.leave(&second);
        let third = other.take_over(|| limit.enter()).expect("room again");
        other.end();
        assert_eq!(over(&third), Poll::Ready(Over::Ended));
        assert!(limit.enter().is_some(), "an ended stream holds no room");
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
