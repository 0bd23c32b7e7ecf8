//! A resumable stream while it is written: the event store keeps its events, and its present reader gets them.
//!
//! An event is stored before it is sent. So a reader that attaches gets everything before some position from the store and everything from
//! there on through its pipe, without a gap and without a repetition.

use std::{
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;

use super::{
    pipe::{NotTaken, Pipe},
    sse,
};
use crate::{
    gate::{OutKind, Outgoing},
    peer::ShortId,
    store::{EventId, EventStore},
};

/// Returns a number that no other stream of any session has, in this process or (except with probability 2⁻⁶⁴) in another.
pub(super) fn new_stream_number() -> u64 {
    static NEXT: LazyLock<AtomicU64> =
        LazyLock::new(|| AtomicU64::new(uuid::Uuid::new_v4().as_u64_pair().1));
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A stream that is being written.
#[derive(Debug)]
pub(super) struct LiveStream {
    number: u64,
    state: Mutex<LiveState>,
}

#[derive(Debug, Default)]
struct LiveState {
    /// Events before this position have been passed to the reader.
    sent: u64,
    reader: Option<Arc<Pipe>>,
    ended: bool,
}

impl LiveStream {
    /// Creates a stream that `reader` reads from its beginning.
    pub(super) fn new(reader: Arc<Pipe>) -> Self {
        let state = LiveState {
            reader: Some(reader),
            ..LiveState::default()
        };
        Self {
            number: new_stream_number(),
            state: Mutex::new(state),
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Sends the event that opens the stream. Only the task that writes the stream calls this method and the next two.
    pub(super) async fn open(&self, store: &dyn EventStore, session: &str, retry: Duration) {
        let id = EventId {
            stream: self.number,
            position: 0,
        };
        keep(store, session, id, Bytes::new()).await;
        self.send(0, sse::priming(id, retry), false, false);
    }

    /// Stores and sends `message`. `last` marks an answer, which a full pipe accepts too. If the pipe is full, a notification is dropped,
    /// and a request ends the pipe: its reader can come back for it.
    pub(super) async fn publish(
        &self,
        store: &dyn EventStore,
        session: &str,
        message: Outgoing,
        last: bool,
    ) {
        let position = self.lock().sent;
        let id = EventId {
            stream: self.number,
            position,
        };
        let event = sse::event(Some(id), &message);
        let is_request = matches!(message.kind(), OutKind::Request(_));
        keep(store, session, id, message.into_bytes().into()).await;
        self.send(position, event, is_request, last);
    }

    /// Ends the stream. Its reader gets what waits, then the end.
    pub(super) async fn end(&self, store: &dyn EventStore, session: &str) {
        if let Err(error) = store.end(session, self.number).await {
            tracing::warn!(%error, session = %ShortId(session), "the end of a stream could not be noted");
        }
        let reader = {
            let mut state = self.lock();
            state.ended = true;
            state.reader.take()
        };
        if let Some(reader) = reader {
            reader.end();
        }
    }

    /// Makes `pipe` the reader, in place of any other, which ends (DEC-3). Returns the position from which on events will come through
    /// `pipe`; `None` if the stream has ended.
    pub(super) fn attach(&self, pipe: Arc<Pipe>) -> Option<u64> {
        let (earlier, from) = {
            let mut state = self.lock();
            if state.ended {
                return None;
            }
            (state.reader.replace(pipe), state.sent)
        };
        if let Some(earlier) = earlier {
            earlier.push_last(sse::REPLACED);
            earlier.end();
        }
        Some(from)
    }

    /// Ends the connection that reads now. The stream continues, for a reader that attaches later.
    pub(super) fn detach(&self) {
        let reader = self.lock().reader.take();
        if let Some(reader) = reader {
            reader.end();
        }
    }

    /// Is ready when the present reader has room for an event. Also if there is no reader: the store keeps events for a later one.
    pub(super) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self.lock().reader.clone() {
            Some(reader) => reader.poll_room(cx),
            None => Poll::Ready(()),
        }
    }

    fn send(&self, position: u64, event: Bytes, is_request: bool, last: bool) {
        let mut state = self.lock();
        state.sent = position + 1;
        let Some(reader) = &state.reader else { return };
        let sent = match last {
            true => {
                reader.push_last(event);
                Ok(())
            }
            false => reader.push(event),
        };
        match sent {
            Ok(()) => {}
            Err(NotTaken::Gone) => state.reader = None,
            Err(NotTaken::Full) if !is_request => {
                tracing::debug!("a message to a client that reads too slowly was dropped");
            }
            Err(NotTaken::Full) => {
                reader.end();
                state.reader = None;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, LiveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stores an event. A failure does not stop the event, but the stream then cannot be resumed from before it.
pub(super) async fn keep(store: &dyn EventStore, session: &str, id: EventId, message: Bytes) {
    if let Err(error) = store.append(session, id, message).await {
        tracing::warn!(%error, session = %ShortId(session), event = %id, "an event could not be kept for resumption");
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use trueform_schema::RequestId;

    use super::{super::pipe::PIPE_LIMIT, *};
    use crate::store::MemoryEventStore;

    fn message(text: &str) -> Outgoing {
        Outgoing::unchecked(text.as_bytes().to_vec())
    }

    fn drain(pipe: &Pipe) -> (Vec<String>, bool) {
        let mut cx = Context::from_waker(Waker::noop());
        let mut events = Vec::new();
        loop {
            match pipe.poll_next(&mut cx) {
                Poll::Ready(Some(event)) => {
                    events.push(String::from_utf8_lossy(&event).into_owned())
                }
                Poll::Ready(None) => return (events, true),
                Poll::Pending => return (events, false),
            }
        }
    }

    // F-17, F-18
    #[tokio::test]
    async fn a_second_reader_takes_over_without_gap_or_repetition() {
        let store = MemoryEventStore::new();
        let first = Arc::new(Pipe::default());
        let live = LiveStream::new(first.clone());
        live.open(&store, "s", Duration::from_secs(1)).await;
        live.publish(&store, "s", message("1"), false).await;
        assert_eq!(drain(&first).0.len(), 2);

        let second = Arc::new(Pipe::default());
        assert_eq!(live.attach(second.clone()), Some(2));
        // DEC-3
        assert_eq!(drain(&first), (vec!["retry: 30000\n\n".to_owned()], true));
        live.publish(&store, "s", message("2"), true).await;
        live.end(&store, "s").await;
        let (events, ended) = drain(&second);
        assert!(
            ended && events.len() == 1 && events[0].ends_with("data: 2\n\n"),
            "{events:?}"
        );
        assert_eq!(
            live.attach(first),
            None,
            "an ended stream is read from the store alone"
        );

        let after = EventId {
            stream: live.number(),
            position: 0,
        };
        let replay = store
            .replay("s", after)
            .await
            .expect("memory")
            .expect("kept");
        assert_eq!(replay.events.len(), 2);
        assert!(replay.ended);
    }

    // Y-6
    #[tokio::test]
    async fn a_reader_that_does_not_read() {
        let store = MemoryEventStore::new();
        let notification = || message(r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#);
        let request = || Outgoing::request(&RequestId::from(1), "roots/list", None);
        let cases: [(&dyn Fn() -> Outgoing, _, _); 3] = [
            (&notification, false, (PIPE_LIMIT, false)),
            (&request, false, (PIPE_LIMIT, true)),
            (&request, true, (PIPE_LIMIT + 1, false)),
        ];
        for (message, last, expected) in cases {
            let pipe = Arc::new(Pipe::default());
            let live = LiveStream::new(pipe.clone());
            for _ in 0..PIPE_LIMIT {
                live.publish(&store, "s", notification(), false).await;
            }
            live.publish(&store, "s", message(), last).await;
            let (events, ended) = drain(&pipe);
            assert_eq!((events.len(), ended), expected);
        }
    }
}
