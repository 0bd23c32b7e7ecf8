//! The legacy sessions of this endpoint: found by id, bound to a principal, ended when idle.
//!
//! Spread over locks that are held for a look-up only, never across an await. There is no task behind it: sessions whose
//! time has come are looked for while others are opened and used.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
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

/// How long a session is left alone, whatever room others ask for: 60 s. Somebody who opens sessions without end then gets
/// no further than to be refused, and those who use theirs keep them.
pub const SESSION_KEPT: Duration = Duration::from_secs(60);

type Shard = HashMap<u128, Arc<Entry>>;

/// All open sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    shards: Box<[Mutex<Shard>]>,
    swept: Box<[AtomicU64]>,
    started: Instant,
    idle: Duration,
    /// How long a session must have been idle to make room for another.
    kept: Duration,
    /// No session can make room before this time.
    full_until: AtomicU64,
    limit: usize,
    count: AtomicUsize,
    /// Keeps events of sessions, and is notified when one has ended.
    events: Option<Arc<dyn EventStore>>,
}

/// One open session.
#[derive(Debug)]
pub(super) struct Entry {
    session: Arc<Session>,
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

/// The table is full of sessions at work or lately used.
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
    pub(super) fn new(limit: usize, idle: Duration, events: Option<Arc<dyn EventStore>>) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            swept: (0..SHARDS).map(|_| AtomicU64::new(0)).collect(),
            started: Instant::now(),
            idle,
            kept: SESSION_KEPT.min(idle),
            full_until: AtomicU64::new(0),
            limit: limit.max(1),
            count: AtomicUsize::new(0),
            events,
        }
    }

    /// Keeps `session`. When the table is full, a session that was idle for long ends.
    pub(super) fn insert(&self, session: Arc<Session>) -> Result<Active, Full> {
        let Some(key) = session.id().and_then(key) else {
            return Err(Full);
        };
        let now = self.now();
        if self.limit <= self.count.fetch_add(1, Ordering::Relaxed) && !self.make_room(key, now) {
            self.count.fetch_sub(1, Ordering::Relaxed);
            return Err(Full);
        }
        let entry = Arc::new(Entry {
            session,
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

    /// Ends sessions that are over, or else the one that was idle longest and for long enough, of the first part of the
    /// table that has any; the part of `key` is the first.
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
            let idle = shard.iter().filter(|(_, entry)| !entry.is_busy());
            let idle = idle.map(|(key, entry)| (entry.touched.load(Ordering::Relaxed), *key));
            let Some((touched, oldest)) = idle.min() else {
                continue;
            };
            if now < touched + kept {
                until = until.min(touched + kept);
                continue;
            }
            ended.extend(shard.remove(&oldest));
            break;
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
        Some(active)
    }

    /// Ends a session that [`Sessions::find`] gave.
    pub(super) fn end(&self, entry: &Entry) {
        let key = entry.session.id().and_then(key);
        if key.is_some_and(|key| self.shard(key).remove(&key).is_some()) {
            self.count.fetch_sub(1, Ordering::Relaxed);
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
            self.count.fetch_sub(entries.len(), Ordering::Relaxed);
            for entry in entries {
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
        self.count.fetch_sub(ended.len(), Ordering::Relaxed);
        for entry in &ended {
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
    use super::*;

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
        let sessions = Sessions::new(10, Duration::from_secs(60), None);
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
        let sessions = Sessions::new(10, Duration::from_secs(60), None);
        let (id, opened) = session(None);
        let active = sessions.insert(opened.clone()).expect("room");
        sessions.end(active.entry());
        assert!(sessions.find(&id, None).is_none());
        assert!(matches!(opened.phase(), crate::peer::Phase::Closed));
    }

    #[test]
    fn idle_sessions_end_and_busy_ones_do_not() {
        let sessions = Sessions::new(10, Duration::ZERO, None);
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
        let mut sessions = Sessions::new(50, Duration::from_secs(60), None);
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

    // Y-6: whoever opens sessions without end ends nobody's that is in use.
    #[test]
    fn a_session_that_was_used_lately_is_kept() {
        let mut sessions = Sessions::new(1, Duration::from_secs(3600), None);
        let (id, opened) = session(None);
        drop(sessions.insert(opened).expect("room"));
        for _ in 0..100 {
            assert_eq!(sessions.insert(session(None).1).err(), Some(Full));
        }
        assert!(sessions.find(&id, None).is_some());
        sessions.started -= SESSION_KEPT;
        assert!(sessions.insert(session(None).1).is_ok(), "idle for long");
        assert!(sessions.find(&id, None).is_none());
    }

    // Design §8: at most 4 KiB an idle session, most of which is what the client said of itself.
    #[test]
    fn sessions_are_small() {
        let size = size_of::<Entry>() + size_of::<Session>();
        assert!(size <= 1024, "{size}");
    }
}
