//! Events kept in memory, within bounds of events and bytes for a session and of bytes for the server.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
    sync::{Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;

use super::{EventId, EventStore, Replay, StoreError, StoreFuture, StoredEvent};

/// Events kept for one session, over all its streams, unless set otherwise.
pub const DEFAULT_SESSION_EVENTS: usize = 256;

/// Bytes kept for one session, unless set otherwise: 1 MiB. An event counts 64 bytes beside its message.
pub const DEFAULT_SESSION_BYTES: usize = 1 << 20;

/// Bytes kept for all sessions, unless set otherwise: 64 MiB.
pub const DEFAULT_TOTAL_BYTES: usize = 64 << 20;

/// Streams remembered for one session. A stream costs 24 bytes; the oldest ended ones are forgotten first.
const SESSION_STREAMS: usize = 64;

/// The cost of an event beside its message, in bytes.
const EVENT_OVERHEAD: usize = 64;

/// Locks that sessions are spread over.
const SHARDS: usize = 16;

/// An [`EventStore`] in memory. Old events make room for new ones.
///
/// The limit on all sessions is divided among 16 parts, so a part may reach its limit a little early. When a part is full, the session that
/// holds most bytes in it loses its oldest events.
///
/// ```
/// use trueform::store::MemoryEventStore;
///
/// let store = MemoryEventStore::new().session_events(32).total_bytes(8 << 20);
/// # drop(store);
/// ```
#[derive(Debug)]
pub struct MemoryEventStore {
    shards: Box<[Mutex<Shard>]>,
    hasher: RandomState,
    session_events: usize,
    session_bytes: usize,
    shard_bytes: usize,
}

#[derive(Debug, Default)]
struct Shard {
    sessions: HashMap<Box<str>, Kept>,
    bytes: usize,
}

/// The events and streams that are kept for one session.
#[derive(Debug, Default)]
struct Kept {
    events: VecDeque<(EventId, Bytes)>,
    streams: VecDeque<Stream>,
    bytes: usize,
}

#[derive(Debug)]
struct Stream {
    number: u64,
    /// The position that the next event will have.
    next: u64,
    ended: bool,
}

impl Default for MemoryEventStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryEventStore {
    /// Creates a store with the default bounds.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
            session_events: DEFAULT_SESSION_EVENTS,
            session_bytes: DEFAULT_SESSION_BYTES,
            shard_bytes: DEFAULT_TOTAL_BYTES / SHARDS,
        }
    }

    /// Sets how many events are kept for one session; zero: none, and only a stream that missed nothing can be resumed. A second call replaces the first.
    ///
    /// ```
    /// use trueform::store::MemoryEventStore;
    ///
    /// let store = MemoryEventStore::new().session_events(64);
    /// ```
    #[must_use]
    pub fn session_events(mut self, events: usize) -> Self {
        self.session_events = events;
        self
    }

    /// Sets how many bytes are kept for one session; zero: none, as for [`session_events`](Self::session_events). A second call replaces the first.
    ///
    /// ```
    /// use trueform::store::MemoryEventStore;
    ///
    /// let store = MemoryEventStore::new().session_bytes(256 << 10);
    /// ```
    #[must_use]
    pub fn session_bytes(mut self, bytes: usize) -> Self {
        self.session_bytes = bytes;
        self
    }

    /// Sets how many bytes are kept in all, in 16 equal parts; fewer than 16: none, as for [`session_events`](Self::session_events). A second call replaces the first.
    ///
    /// ```
    /// use trueform::store::MemoryEventStore;
    ///
    /// let store = MemoryEventStore::new().total_bytes(16 << 20);
    /// ```
    #[must_use]
    pub fn total_bytes(mut self, bytes: usize) -> Self {
        self.shard_bytes = bytes / SHARDS;
        self
    }

    /// Returns the number of bytes that are kept.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).bytes).sum()
    }

    fn shard(&self, session: &str) -> MutexGuard<'_, Shard> {
        let index = self.hasher.hash_one(session) as usize % SHARDS;
        lock(&self.shards[index])
    }

    fn keep(&self, session: &str, id: EventId, message: Bytes) {
        let shard = &mut *self.shard(session);
        let kept = match shard.sessions.get_mut(session) {
            Some(kept) => kept,
            None => shard.sessions.entry(session.into()).or_default(),
        };
        let before = kept.bytes;
        kept.note(id);
        kept.push(id, message);
        kept.trim(self.session_events, self.session_bytes);
        shard.bytes = shard.bytes + kept.bytes - before;
        while self.shard_bytes < shard.bytes && shard.trim_largest() {}
    }
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    // The data consists of counters and queues, and is consistent between any two statements that could panic.
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shard {
    /// Drops the oldest event of the session that holds most bytes, and the session if it has no other event. Returns whether there was
    /// one.
    fn trim_largest(&mut self) -> bool {
        let Some((id, largest)) = self.sessions.iter_mut().max_by_key(|(_, kept)| kept.bytes)
        else {
            return false;
        };
        let freed = largest.drop_oldest();
        self.bytes -= freed;
        if largest.events.is_empty() {
            let id = id.clone();
            self.sessions.remove(&id);
        }
        0 < freed
    }
}

impl Kept {
    fn note(&mut self, id: EventId) {
        match self
            .streams
            .iter_mut()
            .find(|stream| stream.number == id.stream)
        {
            Some(stream) => stream.next = id.position + 1,
            None => {
                if SESSION_STREAMS <= self.streams.len() {
                    let victim = self
                        .streams
                        .iter()
                        .position(|stream| stream.ended)
                        .unwrap_or(0);
                    self.streams.remove(victim);
                }
                self.streams.push_back(Stream {
                    number: id.stream,
                    next: id.position + 1,
                    ended: false,
                });
            }
        }
    }

    fn push(&mut self, id: EventId, message: Bytes) {
        self.bytes += message.len() + EVENT_OVERHEAD;
        self.events.push_back((id, message));
    }

    fn trim(&mut self, events: usize, bytes: usize) {
        while events < self.events.len() || bytes < self.bytes {
            self.drop_oldest();
        }
    }

    /// Drops the oldest event. Returns the bytes that it held, 0 if there was none.
    fn drop_oldest(&mut self) -> usize {
        match self.events.pop_front() {
            Some((_, message)) => {
                let cost = message.len() + EVENT_OVERHEAD;
                self.bytes -= cost;
                cost
            }
            None => 0,
        }
    }

    fn after(&self, after: EventId) -> Option<Replay> {
        let stream = self
            .streams
            .iter()
            .find(|stream| stream.number == after.stream)?;
        if stream.next <= after.position {
            return None;
        }
        let events: Vec<_> = self
            .events
            .iter()
            .filter(|(id, _)| id.stream == after.stream && after.position < id.position)
            .map(|(id, message)| StoredEvent {
                position: id.position,
                message: message.clone(),
            })
            .collect();
        // Positions increase by one: if there are as many events as positions, none was dropped.
        if events.len() as u64 != stream.next - after.position - 1 {
            return None;
        }
        Some(Replay {
            events,
            ended: stream.ended,
        })
    }
}

impl EventStore for MemoryEventStore {
    fn append<'a>(
        &'a self,
        session: &'a str,
        id: EventId,
        message: Bytes,
    ) -> StoreFuture<'a, Result<(), StoreError>> {
        self.keep(session, id, message);
        StoreFuture::ready(Ok(()))
    }

    fn end<'a>(&'a self, session: &'a str, stream: u64) -> StoreFuture<'a, Result<(), StoreError>> {
        if let Some(kept) = self.shard(session).sessions.get_mut(session)
            && let Some(stream) = kept.streams.iter_mut().find(|known| known.number == stream)
        {
            stream.ended = true;
        }
        StoreFuture::ready(Ok(()))
    }

    fn replay<'a>(
        &'a self,
        session: &'a str,
        after: EventId,
    ) -> StoreFuture<'a, Result<Option<Replay>, StoreError>> {
        let replay = self
            .shard(session)
            .sessions
            .get(session)
            .and_then(|kept| kept.after(after));
        StoreFuture::ready(Ok(replay))
    }

    fn forget<'a>(&'a self, session: &'a str) -> StoreFuture<'a, Result<(), StoreError>> {
        let shard = &mut *self.shard(session);
        if let Some(kept) = shard.sessions.remove(session) {
            shard.bytes -= kept.bytes;
        }
        StoreFuture::ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(stream: u64, position: u64) -> EventId {
        EventId { stream, position }
    }

    fn replayed(
        store: &MemoryEventStore,
        session: &str,
        after: EventId,
    ) -> Option<(Vec<String>, bool)> {
        let mut future = store.replay(session, after);
        let StoreFuture::Ready(replay) = &mut future else {
            panic!("memory answers at once")
        };
        let replay = replay.take()?.expect("memory does not fail")?;
        let texts = replay
            .events
            .iter()
            .map(|event| String::from_utf8_lossy(&event.message).into_owned());
        Some((texts.collect(), replay.ended))
    }

    fn append(store: &MemoryEventStore, session: &str, id: EventId, text: &'static str) {
        drop(store.append(session, id, Bytes::from_static(text.as_bytes())));
    }

    #[test]
    fn replays_one_stream_of_one_session() {
        // F-18: never returns events of another stream.
        let store = MemoryEventStore::new();
        append(&store, "a", id(1, 0), "");
        append(&store, "a", id(2, 0), "other");
        append(&store, "a", id(1, 1), "one");
        append(&store, "a", id(1, 2), "two");
        append(&store, "b", id(3, 0), "foreign");
        drop(store.end("a", 1));

        let texts = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            replayed(&store, "a", id(1, 0)),
            Some((texts(&["one", "two"]), true))
        );
        assert_eq!(replayed(&store, "a", id(1, 2)), Some((texts(&[]), true)));
        assert_eq!(replayed(&store, "a", id(2, 0)), Some((texts(&[]), false)));
        assert_eq!(
            replayed(&store, "a", id(1, 3)),
            None,
            "an event that never was"
        );
        assert_eq!(
            replayed(&store, "a", id(3, 0)),
            None,
            "an event of another session"
        );
        assert_eq!(replayed(&store, "c", id(1, 0)), None, "an unknown session");
    }

    #[test]
    fn drops_the_oldest_within_every_bound() {
        let store = MemoryEventStore::new().session_events(3);
        for position in 0..5 {
            append(&store, "a", id(1, position), "x");
        }
        assert_eq!(
            replayed(&store, "a", id(1, 0)),
            None,
            "an event that followed is gone"
        );
        assert!(replayed(&store, "a", id(1, 1)).is_some());
        assert_eq!(store.bytes(), 3 * (1 + EVENT_OVERHEAD));

        let cost = 2 + EVENT_OVERHEAD;
        let store = MemoryEventStore::new().session_bytes(2 * cost);
        for position in 0..3 {
            append(&store, "a", id(1, position), "xx");
        }
        assert_eq!(store.bytes(), 2 * cost);

        let store = MemoryEventStore::new().total_bytes(2 * cost * SHARDS);
        for position in 0..40 {
            append(&store, "a", id(1, position), "xx");
            append(&store, "b", id(2, position), "xx");
        }
        assert!(store.bytes() <= 4 * cost, "{}", store.bytes());

        // As many as it takes.
        let store = MemoryEventStore::new().total_bytes(10 * cost * SHARDS);
        for position in 0..10 {
            append(&store, "a", id(1, position), "xx");
        }
        let large = Bytes::from(vec![b'x'; 4 * cost]);
        drop(store.append("a", id(1, 10), large));
        assert_eq!(store.bytes(), 9 * cost + EVENT_OVERHEAD);
    }

    #[test]
    fn forgets_a_session() {
        let store = MemoryEventStore::new();
        append(&store, "a", id(1, 0), "x");
        drop(store.forget("a"));
        assert_eq!(store.bytes(), 0);
        assert_eq!(replayed(&store, "a", id(1, 0)), None);
    }

    #[test]
    fn streams_of_a_session_are_bounded() {
        let store = MemoryEventStore::new();
        for stream in 0..1000 {
            append(&store, "a", id(stream, 0), "");
            drop(store.end("a", stream));
        }
        let shard = store.shard("a");
        assert!(shard.sessions["a"].streams.len() <= SESSION_STREAMS);
    }

    #[test]
    fn the_oldest_ended_stream_is_forgotten_first() {
        let store = MemoryEventStore::new();
        let streams = SESSION_STREAMS as u64;
        for stream in 0..streams {
            append(&store, "a", id(stream, 0), "");
        }
        for stream in [5, 7] {
            drop(store.end("a", stream));
        }
        for (new, forgotten) in [(streams, 5), (streams + 1, 7), (streams + 2, 0)] {
            assert!(replayed(&store, "a", id(forgotten, 0)).is_some());
            append(&store, "a", id(new, 0), "");
            assert_eq!(replayed(&store, "a", id(forgotten, 0)), None);
            assert!(replayed(&store, "a", id(new, 0)).is_some());
            assert!(replayed(&store, "a", id(1, 0)).is_some());
        }
    }

    #[test]
    fn the_default_bounds() {
        let store = MemoryEventStore::new();
        for position in 0..=DEFAULT_SESSION_EVENTS as u64 {
            append(&store, "a", id(1, position), "");
        }
        assert_eq!(store.bytes(), DEFAULT_SESSION_EVENTS * EVENT_OVERHEAD);

        // The copies share their bytes.
        let message = Bytes::from(vec![b'x'; DEFAULT_SESSION_BYTES - EVENT_OVERHEAD]);
        let store = MemoryEventStore::new();
        for position in 0..2 {
            drop(store.append("a", id(1, position), message.clone()));
        }
        assert_eq!(store.bytes(), DEFAULT_SESSION_BYTES);

        let larger = Bytes::from(vec![b'x'; message.len() + 1]);
        drop(store.append("b", id(2, 0), larger));
        assert_eq!(store.bytes(), DEFAULT_SESSION_BYTES, "too large for one");

        for session in 0..1000 {
            drop(store.append(&session.to_string(), id(1, 0), message.clone()));
        }
        let sessions = |shard: &Mutex<Shard>| lock(shard).sessions.len();
        let sessions: usize = store.shards.iter().map(sessions).sum();
        // Sessions that hold nothing any more are removed; `b` never held anything.
        let room = DEFAULT_TOTAL_BYTES / DEFAULT_SESSION_BYTES;
        assert!(sessions <= room + 1, "{sessions}");
        let kept = store.bytes();
        assert_eq!(kept, DEFAULT_TOTAL_BYTES, "each part is full");
    }
}
