//! The legacy sessions of this endpoint: found by id, bound to a principal, ended when idle.
//!
//! Spread over locks that are held for a look-up only, never across an await. There is no task behind it: sessions whose
//! time has come are looked for while others are opened and used.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use tokio::time::Instant;
use uuid::Uuid;

use super::{live::LiveStream, standalone::Standalone};
use crate::{
    Principal,
    peer::{Session, ShortId},
    store::EventStore,
};

/// Locks that sessions are spread over.
const SHARDS: usize = 32;

/// Least time between two looks through one shard for sessions whose time has come.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// How long a session lives at least that sent no second message: 10 s. After that it ends when a full server needs the room.
/// Sessions that did send one never end for a newcomer, so somebody who opens sessions without end ends nobody else's.
pub const UNPROVEN_KEPT: Duration = Duration::from_secs(10);

type Shard = HashMap<u128, Arc<Entry>>;

/// All open sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    shards: Box<[Mutex<Shard>]>,
    swept: Box<[AtomicU64]>,
    started: Instant,
    idle: Duration,
    /// How long a session without a second message must have been idle to make room for another.
    kept: Duration,
    /// No session can make room before this time.
    full_until: AtomicU64,
    limit: usize,
    count: AtomicUsize,
    max_bytes: usize,
    /// What all sessions keep together.
    bytes: AtomicUsize,
    /// Keeps events of sessions, and is notified when one has ended.
    events: Option<Arc<dyn EventStore>>,
}

/// One open session.
#[derive(Debug)]
pub(super) struct Entry {
    session: Arc<Session>,
    /// What it counts as in bytes.
    bytes: usize,
    /// The client used the id that it was given: it sent a second message.
    proven: AtomicBool,
    /// Calls at work and open streams.
    busy: AtomicUsize,
    /// When it was last used, in milliseconds since the table was made.
    touched: AtomicU64,
    /// The stream of messages that belong to no request.
    pub(super) standalone: Mutex<Standalone>,
    /// Resumable streams that are still written.
    live: Mutex<Vec<Arc<LiveStream>>>,
    /// The state as it was last saved, where sessions are shared.
    pub(super) saved: Mutex<Option<Bytes>>,
}

/// Keeps a session from being idle until dropped.
#[derive(Debug)]
pub(super) struct Active {
    entry: Arc<Entry>,
    started: Instant,
}

/// The table is full, and no session in it may end for another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

/// A new id for a session: unguessable, and visible ASCII (F-19).
pub(super) fn new_id() -> Box<str> {
    let mut buffer = Uuid::encode_buffer();
    Box::from(&*Uuid::new_v4().hyphenated().encode_lower(&mut buffer))
}

/// What the table knows a session by; `None` for a text that is not an id of this server.
fn key(id: &str) -> Option<u128> {
    const LENGTH: usize = uuid::fmt::Hyphenated::LENGTH;
    (id.len() == LENGTH)
        .then(|| Uuid::try_parse(id).ok())
        .flatten()
        .map(|id| id.as_u128())
}

impl Sessions {
    /// A table of at most `limit` sessions that keep at most `max_bytes` together and end when they were idle for `idle`.
    pub(super) fn new(
        limit: usize,
        max_bytes: usize,
        idle: Duration,
        events: Option<Arc<dyn EventStore>>,
    ) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            swept: (0..SHARDS).map(|_| AtomicU64::new(0)).collect(),
            started: Instant::now(),
            idle,
            kept: UNPROVEN_KEPT.min(idle),
            full_until: AtomicU64::new(0),
            limit: limit.max(1),
            count: AtomicUsize::new(0),
            max_bytes,
            bytes: AtomicUsize::new(0),
            events,
        }
    }

    /// Keeps `session`. When the table is full, sessions end that were idle for [`UNPROVEN_KEPT`] and sent no second message.
    pub(super) fn insert(&self, session: Arc<Session>) -> Result<Active, Full> {
        let Some(key) = session.id().and_then(key) else {
            return Err(Full);
        };
        let now = self.now();
        let bytes = size_of::<Entry>() + session.footprint();
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        while self.is_over_full() {
            if !self.make_room(key, now) {
                self.count.fetch_sub(1, Ordering::Relaxed);
                self.bytes.fetch_sub(bytes, Ordering::Relaxed);
                return Err(Full);
            }
        }
        let entry = Arc::new(Entry {
            session,
            bytes,
            proven: AtomicBool::new(false),
            busy: AtomicUsize::new(0),
            touched: AtomicU64::new(now),
            standalone: Mutex::default(),
            live: Mutex::default(),
            saved: Mutex::default(),
        });
        let active = self.activate(entry.clone());
        self.shard(key).insert(key, entry);
        Ok(active)
    }

    fn is_over_full(&self) -> bool {
        self.limit < self.count.load(Ordering::Relaxed)
            || self.max_bytes < self.bytes.load(Ordering::Relaxed)
    }

    /// Ends sessions that are over, or else those that may end for another, of the first part of the table that has any; the
    /// part of `key` is the first.
    fn make_room(&self, key: u128, now: u64) -> bool {
        if now < self.full_until.load(Ordering::Relaxed) {
            return false;
        }
        let kept = self.kept.as_millis() as u64;
        // When the first of those there are now may make room, if none is used until then.
        let mut until = now + kept;
        let mut ended = Vec::new();
        for offset in 0..SHARDS {
            let shard = &mut *lock(&self.shards[(index(key) + offset) % SHARDS]);
            self.sweep(shard, now, &mut ended);
            if !ended.is_empty() {
                break;
            }
            let mut may_end = |entry: &Entry| {
                if entry.is_busy() || entry.proven.load(Ordering::Relaxed) {
                    return false;
                }
                let end = entry.touched.load(Ordering::Relaxed) + kept;
                until = until.min(end.max(now));
                end <= now
            };
            ended.extend(
                shard
                    .extract_if(|_, entry| may_end(entry))
                    .map(|(_, entry)| entry),
            );
            if !ended.is_empty() {
                break;
            }
        }
        let made = !ended.is_empty();
        if !made {
            self.full_until.store(until, Ordering::Relaxed);
        }
        self.close("session ended to make room", ended);
        made
    }

    /// The open session `id` of `principal`. Somebody else's does not exist for the caller (Y-1).
    pub(super) fn find(&self, id: &str, principal: Option<&Principal>) -> Option<Active> {
        let key = key(id)?;
        let now = self.now();
        let mut ended = Vec::new();
        let found = {
            let mut shard = self.shard(key);
            self.sweep_sometimes(key, &mut shard, now, &mut ended);
            // Made active under the lock, so that nothing ends it in between.
            shard.get(&key).cloned().map(|entry| self.activate(entry))
        };
        self.close("idle session ended", ended);
        let active = found?;
        if active.entry.session.principal() != principal {
            tracing::warn!(session = %ShortId(id), "a session was asked for by another principal");
            return None;
        }
        if !active.entry.proven.load(Ordering::Relaxed) {
            active.entry.proven.store(true, Ordering::Relaxed);
        }
        Some(active)
    }

    /// Ends a session that [`Sessions::find`] gave.
    pub(super) fn end(&self, entry: &Entry) {
        let key = entry.session.id().and_then(key);
        if key.is_some_and(|key| self.shard(key).remove(&key).is_some()) {
            self.uncount(entry);
        }
        entry.close();
    }

    /// Ends the connections that only listen, for a server that stops.
    pub(super) fn end_streams(&self) {
        for shard in &self.shards {
            let entries: Vec<_> = lock(shard).values().cloned().collect();
            for entry in entries {
                entry.lock_standalone().end();
            }
        }
    }

    /// Ends every session, and with it what it has at work.
    pub(super) fn close_all(&self) {
        for shard in &self.shards {
            let entries: Vec<_> = lock(shard).drain().map(|(_, entry)| entry).collect();
            for entry in entries {
                self.uncount(&entry);
                entry.close();
            }
        }
    }

    /// The session `id`. Does not check who asks.
    pub(super) fn peek(&self, id: &str) -> Option<Arc<Entry>> {
        let key = key(id)?;
        self.shard(key).get(&key).cloned()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    /// Ends what was taken out of the table.
    fn close(&self, why: &'static str, ended: Vec<Arc<Entry>>) {
        if ended.is_empty() {
            return;
        }
        for entry in &ended {
            self.uncount(entry);
            tracing::info!(session = %ShortId(entry.id()), "{why}");
            entry.close();
        }
        if let Some(events) = self.events.clone() {
            tokio::spawn(async move {
                for entry in ended {
                    entry.forget_events(&*events).await;
                }
            });
        }
    }

    /// Counts `entry` no more, which was taken out of the table.
    fn uncount(&self, entry: &Entry) {
        self.count.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(entry.bytes, Ordering::Relaxed);
    }

    pub(super) fn activate(&self, entry: Arc<Entry>) -> Active {
        entry.busy.fetch_add(1, Ordering::Relaxed);
        Active {
            entry,
            started: self.started,
        }
    }

    fn sweep_sometimes(&self, key: u128, shard: &mut Shard, now: u64, ended: &mut Vec<Arc<Entry>>) {
        let last = &self.swept[index(key)];
        let every = self.idle.min(SWEEP_EVERY).as_millis() as u64;
        if every <= now.saturating_sub(last.load(Ordering::Relaxed)) {
            last.store(now, Ordering::Relaxed);
            self.sweep(shard, now, ended);
            return;
        }
        // One that is asked for between two sweeps must not live longer for it.
        if shard
            .get(&key)
            .is_some_and(|entry| self.is_over(entry, now))
        {
            ended.extend(shard.remove(&key));
        }
    }

    fn sweep(&self, shard: &mut Shard, now: u64, ended: &mut Vec<Arc<Entry>>) {
        ended.extend(
            shard
                .extract_if(|_, entry| self.is_over(entry, now))
                .map(|(_, entry)| entry),
        );
    }

    fn is_over(&self, entry: &Entry, now: u64) -> bool {
        let idle = now.saturating_sub(entry.touched.load(Ordering::Relaxed));
        !entry.is_busy() && self.idle.as_millis() as u64 <= idle
    }

    fn now(&self) -> u64 {
        millis_since(self.started)
    }

    fn shard(&self, key: u128) -> MutexGuard<'_, Shard> {
        lock(&self.shards[index(key)])
    }
}

/// Ids are random, so any of their bits spread them.
fn index(key: u128) -> usize {
    key as usize % SHARDS
}

fn millis_since(start: Instant) -> u64 {
    start.elapsed().as_millis() as u64
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What runs under these locks leaves the data whole wherever it could panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Entry {
    pub(super) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The id that the client knows.
    pub(super) fn id(&self) -> &str {
        // Only sessions with an id are kept in the table.
        self.session.id().unwrap_or_default()
    }

    pub(super) fn lock_standalone(&self) -> MutexGuard<'_, Standalone> {
        lock(&self.standalone)
    }

    /// The resumable stream `number`, while it is written.
    pub(super) fn live(&self, number: u64) -> Option<Arc<LiveStream>> {
        self.lock_live()
            .iter()
            .find(|stream| stream.number() == number)
            .cloned()
    }

    pub(super) fn add_live(&self, stream: Arc<LiveStream>) {
        self.lock_live().push(stream);
    }

    pub(super) fn remove_live(&self, stream: &LiveStream) {
        let mut live = self.lock_live();
        live.retain(|kept| kept.number() != stream.number());
        if live.is_empty() {
            // An idle session keeps nothing of its calls.
            *live = Vec::new();
        }
    }

    fn lock_live(&self) -> MutexGuard<'_, Vec<Arc<LiveStream>>> {
        lock(&self.live)
    }

    /// Drops the events that were kept of a session that has ended.
    pub(super) async fn forget_events(&self, events: &dyn EventStore) {
        if let Err(error) = events.forget(self.id()).await {
            tracing::warn!(%error, session = %ShortId(self.id()), "events of an ended session could not be dropped");
        }
    }

    fn is_busy(&self) -> bool {
        0 < self.busy.load(Ordering::Relaxed)
    }

    fn close(&self) {
        self.session.close();
        self.lock_standalone().end();
    }
}

impl Active {
    pub(super) fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }
}

impl Active {
    /// The session again, once this is dropped.
    pub(super) fn again(&self) -> impl Fn() -> Self + Send + Sync + 'static {
        let (entry, started) = (self.entry.clone(), self.started);
        move || {
            entry.busy.fetch_add(1, Ordering::Relaxed);
            Self {
                entry: entry.clone(),
                started,
            }
        }
    }

    /// How long ago the session was used last; no time if something is at work in it.
    pub(super) fn silence(&self) -> impl Fn() -> Duration + Send + Sync + 'static {
        let (entry, started) = (self.entry.clone(), self.started);
        move || match entry.busy.load(Ordering::Relaxed) {
            0 => Duration::from_millis(
                millis_since(started).saturating_sub(entry.touched.load(Ordering::Relaxed)),
            ),
            _ => Duration::ZERO,
        }
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        // The time first: a session that is no longer busy was used just now.
        self.entry
            .touched
            .store(millis_since(self.started), Ordering::Relaxed);
        self.entry.busy.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use trueform_schema::{Implementation, Revision};

    use super::*;
    use crate::peer::{MAX_SESSION_FACTS, Negotiated, PeerFacts};

    fn session(principal: Option<&str>) -> (Box<str>, Arc<Session>) {
        let id = new_id();
        let principal = principal.map(|name| Principal::new(name.to_owned()));
        (id.clone(), Arc::new(Session::new(Some(id), principal)))
    }

    // F-19
    #[test]
    fn ids_are_visible_ascii_and_differ() {
        let (one, two) = (new_id(), new_id());
        assert!(one.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
        assert!(one != two && key(&one).is_some());
        for text in [
            "",
            "x",
            "00000000000000000000000000000000",
            "00000000-0000-0000-0000-00000000000g",
        ] {
            assert_eq!(key(text), None, "{text}");
        }
    }

    // Y-1
    #[test]
    fn sessions_belong_to_their_principal() {
        let sessions = Sessions::new(10, usize::MAX, Duration::from_secs(60), None);
        let (id, opened) = session(Some("ann"));
        drop(sessions.insert(opened).expect("room"));
        assert!(sessions.find(&id, Some(&Principal::new("ann"))).is_some());
        assert!(sessions.find(&id, Some(&Principal::new("bob"))).is_none());
        assert!(sessions.find(&id, None).is_none());
        assert!(sessions.find(&new_id(), None).is_none());
    }

    // F-21
    #[test]
    fn ended_sessions_are_gone_and_closed() {
        let sessions = Sessions::new(10, usize::MAX, Duration::from_secs(60), None);
        let (id, opened) = session(None);
        let active = sessions.insert(opened.clone()).expect("room");
        sessions.end(active.entry());
        assert!(sessions.find(&id, None).is_none());
        assert!(matches!(opened.phase(), crate::peer::Phase::Closed));
    }

    #[test]
    fn idle_sessions_end_and_busy_ones_do_not() {
        let sessions = Sessions::new(10, usize::MAX, Duration::ZERO, None);
        let (idle, opened) = session(None);
        drop(sessions.insert(opened).expect("room"));
        let (busy, opened) = session(None);
        let active = sessions.insert(opened).expect("room");
        assert!(sessions.find(&idle, None).is_none());
        assert!(sessions.find(&busy, None).is_some());
        drop(active);
        assert!(sessions.find(&busy, None).is_none());
        assert_eq!(sessions.len(), 0);
    }

    #[test]
    fn a_full_table_lets_an_idle_one_go_and_keeps_the_busy() {
        let mut sessions = Sessions::new(50, usize::MAX, Duration::from_secs(60), None);
        sessions.kept = Duration::ZERO;
        let busy: Vec<_> = (0..49)
            .map(|_| sessions.insert(session(None).1).expect("room"))
            .collect();
        for _ in 0..200 {
            drop(
                sessions
                    .insert(session(None).1)
                    .expect("an idle one makes room"),
            );
            assert_eq!(sessions.len(), 50);
        }
        let last = sessions
            .insert(session(None).1)
            .expect("an idle one makes room");
        assert_eq!(sessions.insert(session(None).1).err(), Some(Full));
        assert_eq!(sessions.len(), 50);
        for active in busy.iter().chain([&last]) {
            assert!(sessions.find(active.entry().id(), None).is_some());
        }
        sessions.end(last.entry());
        sessions.end(last.entry());
        assert!(sessions.insert(session(None).1).is_ok());
        sessions.close_all();
        assert_eq!(sessions.count.load(Ordering::Relaxed), 0);
    }

    // Issue 8: somebody who opens sessions without end ends nobody's that is in use, and no more than 10 s of his own.
    #[test]
    fn newcomers_end_only_sessions_without_a_second_message() {
        let mut sessions = Sessions::new(2, usize::MAX, Duration::from_secs(3600), None);
        let (proven, opened) = session(None);
        drop(sessions.insert(opened).expect("room"));
        assert!(sessions.find(&proven, None).is_some());
        let (unproven, opened) = session(None);
        drop(sessions.insert(opened).expect("room"));
        for _ in 0..100 {
            assert_eq!(sessions.insert(session(None).1).err(), Some(Full));
        }
        sessions.started -= UNPROVEN_KEPT;
        for _ in 0..3 {
            drop(
                sessions
                    .insert(session(None).1)
                    .expect("in place of the unproven one"),
            );
            assert!(sessions.peek(&unproven).is_none());
            assert_eq!(
                sessions.insert(session(None).1).err(),
                Some(Full),
                "the next one is new"
            );
            sessions.started -= UNPROVEN_KEPT;
        }
        sessions.started -= Duration::from_secs(3000);
        let (last, opened) = session(None);
        drop(
            sessions
                .insert(opened)
                .expect("in place of the unproven one"),
        );
        assert!(sessions.find(&last, None).is_some() && sessions.find(&proven, None).is_some());
        sessions.started -= Duration::from_secs(3000);
        assert_eq!(
            sessions.insert(session(None).1).err(),
            Some(Full),
            "both are proven"
        );
        sessions.started -= Duration::from_secs(600);
        assert!(
            sessions.insert(session(None).1).is_ok(),
            "one of them is over"
        );
    }

    // Issue 8: all sessions together keep no more than the setting says.
    #[test]
    fn bounded_in_bytes() {
        let facts = |name: &str| PeerFacts {
            client_info: Some(Implementation::new(name, "1")),
            ..PeerFacts::default()
        };
        let opened = |name: &str| {
            let session = session(None).1;
            session.open(Negotiated {
                revision: Revision::LATEST_LEGACY,
                facts: Arc::new(facts(name)),
            });
            session
        };
        let bytes = size_of::<Entry>() + opened("n").footprint();
        let mut sessions = Sessions::new(100, 10 * bytes, Duration::from_secs(60), None);
        let all: Vec<_> = (0..10)
            .map(|_| sessions.insert(opened("n")).expect("room"))
            .collect();
        assert_eq!(sessions.insert(opened("n")).err(), Some(Full));
        sessions.end(all[0].entry());
        assert_eq!(
            sessions.insert(opened("nn")).err(),
            Some(Full),
            "one byte too much"
        );
        let last = sessions.insert(opened("n")).expect("room again");
        drop((all, last));
        sessions.started -= UNPROVEN_KEPT;
        let large = "n".repeat(2 * bytes);
        sessions.full_until.store(0, Ordering::Relaxed);
        drop(
            sessions
                .insert(opened(&large))
                .expect("several make room for one"),
        );
        sessions.close_all();
        assert_eq!(sessions.bytes.load(Ordering::Relaxed), 0);
    }

    // Design §8: at most 4 KiB an idle session, most of which is what the client said of itself.
    #[test]
    fn sessions_are_small() {
        let state = size_of::<Entry>() + size_of::<Session>();
        assert!(state <= 1024, "{state}");
        let whole = size_of::<Entry>() + session(None).1.footprint() + MAX_SESSION_FACTS;
        assert!(whole <= 4096, "{whole}");
    }
}
