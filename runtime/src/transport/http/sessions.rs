//! The legacy sessions of this endpoint: found by id, bound to a principal, ended when idle.
//!
//! The sessions are divided among locks that are held for a look-up only, never across an await. No task runs for it: expired sessions are
//! found while others are opened and used.

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

/// Number of locks that sessions are divided among.
const SHARDS: usize = 32;

/// Least time between two searches of one shard for expired sessions.
const SWEEP_EVERY: Duration = Duration::from_secs(30);

/// How long a session lives at least that sent no second message: 10 s. After that it ends when a full server needs the room.
/// A session that did send one never ends for a newcomer, so a flood of new sessions does not end those in use.
pub const UNPROVEN_KEPT: Duration = Duration::from_secs(10);

type Shard = HashMap<u128, Arc<SessionEntry>>;

/// All open sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    shards: Box<[Mutex<Shard>]>,
    swept: Box<[AtomicU64]>,
    started: Instant,
    idle: Duration,
    /// How long a session without a second message must have been idle before it is ended for another.
    kept: Duration,
    /// No session can be ended for another before this time.
    full_until: AtomicU64,
    limit: usize,
    count: AtomicUsize,
    max_bytes: usize,
    /// The bytes that all sessions keep together.
    bytes: AtomicUsize,
    /// Keeps events of sessions, and is notified when a session has ended.
    events: Option<Arc<dyn EventStore>>,
}

/// One open session.
#[derive(Debug)]
pub(super) struct SessionEntry {
    session: Arc<Session>,
    /// The number of bytes that it counts as.
    bytes: usize,
    /// The client used the id that it got: it sent a second message.
    proven: AtomicBool,
    /// The number of running calls and open streams.
    busy: AtomicUsize,
    /// When the table was created.
    started: Instant,
    /// When it was last used, in milliseconds since `started`.
    touched: AtomicU64,
    /// The stream of messages that belong to no request.
    pub(super) standalone: Mutex<Standalone>,
    /// Resumable streams that are still written.
    live: Mutex<Vec<Arc<LiveStream>>>,
    /// The state as it was last saved, where sessions are shared.
    pub(super) saved: Mutex<Option<Bytes>>,
}

/// Marks a session as active until it is dropped.
#[derive(Debug)]
pub(super) struct Active(Arc<SessionEntry>);

/// The table is full, and no session in it may be ended for another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

/// Creates a new id for a session: unguessable, and visible ASCII (F-19).
pub(super) fn new_id() -> Box<str> {
    let mut buffer = Uuid::encode_buffer();
    Box::from(&*Uuid::new_v4().hyphenated().encode_lower(&mut buffer))
}

/// Returns the key of a session in the table; `None` for a text that is not an id of this server.
fn key(id: &str) -> Option<u128> {
    const LENGTH: usize = uuid::fmt::Hyphenated::LENGTH;
    (id.len() == LENGTH)
        .then(|| Uuid::try_parse(id).ok())
        .flatten()
        .map(|id| id.as_u128())
}

impl Sessions {
    /// Creates a table of at most `limit` sessions, which keep at most `max_bytes` together and end when they were idle for `idle`.
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

    /// Adds `session`. If the table is full, sessions that were idle for [`UNPROVEN_KEPT`] and sent no second message are ended.
    pub(super) fn insert(&self, session: Arc<Session>) -> Result<Active, Full> {
        let Some(key) = session.id().and_then(key) else {
            return Err(Full);
        };
        let now = self.now();
        let bytes = size_of::<SessionEntry>() + session.footprint();
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        while self.is_over_full() {
            if !self.make_room(key, now) {
                self.count.fetch_sub(1, Ordering::Relaxed);
                self.bytes.fetch_sub(bytes, Ordering::Relaxed);
                return Err(Full);
            }
        }
        let entry = Arc::new(SessionEntry {
            session,
            bytes,
            proven: AtomicBool::new(false),
            busy: AtomicUsize::new(0),
            started: self.started,
            touched: AtomicU64::new(now),
            standalone: Mutex::default(),
            live: Mutex::default(),
            saved: Mutex::default(),
        });
        let active = entry.activate();
        self.shard(key).insert(key, entry);
        Ok(active)
    }

    fn is_over_full(&self) -> bool {
        self.limit < self.count.load(Ordering::Relaxed)
            || self.max_bytes < self.bytes.load(Ordering::Relaxed)
    }

    /// Ends expired sessions, or if there are none, those that may be ended for another, of the first part of the table that has any.
    /// Starts with the part of `key`.
    fn make_room(&self, key: u128, now: u64) -> bool {
        if now < self.full_until.load(Ordering::Relaxed) {
            return false;
        }
        let kept = self.kept.as_millis() as u64;
        // The time when the first of the present sessions may be ended for another, if none is used until then.
        let mut until = now + kept;
        let mut ended = Vec::new();
        for offset in 0..SHARDS {
            let shard = &mut *lock(&self.shards[(index(key) + offset) % SHARDS]);
            self.sweep(shard, now, &mut ended);
            if !ended.is_empty() {
                break;
            }
            let mut may_end = |entry: &SessionEntry| {
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

    /// Returns the open session `id` of `principal`. For the caller, a session of another principal does not exist (Y-1).
    pub(super) fn find(&self, id: &str, principal: Option<&Principal>) -> Option<Active> {
        let key = key(id)?;
        let now = self.now();
        let mut ended = Vec::new();
        let found = {
            let mut shard = self.shard(key);
            self.sweep_sometimes(key, &mut shard, now, &mut ended);
            // Activated under the lock, so that it cannot be ended in between.
            shard.get(&key).map(SessionEntry::activate)
        };
        self.close("idle session ended", ended);
        let active = found?;
        if active.0.session.principal() != principal {
            tracing::warn!(session = %ShortId(id), "a session was asked for by another principal");
            return None;
        }
        if !active.0.proven.load(Ordering::Relaxed) {
            active.0.proven.store(true, Ordering::Relaxed);
        }
        Some(active)
    }

    /// Ends a session that [`Sessions::find`] returned.
    pub(super) fn end(&self, entry: &SessionEntry) {
        let key = entry.session.id().and_then(key);
        if key.is_some_and(|key| self.shard(key).remove(&key).is_some()) {
            self.uncount(entry);
        }
        entry.close();
    }

    /// Ends every session, and its running calls.
    pub(super) fn close_all(&self) {
        for shard in &self.shards {
            let entries: Vec<_> = lock(shard).drain().map(|(_, entry)| entry).collect();
            for entry in entries {
                self.uncount(&entry);
                entry.close();
            }
        }
    }

    /// Returns the session `id`. Does not check who asks.
    pub(super) fn peek(&self, id: &str) -> Option<Arc<SessionEntry>> {
        let key = key(id)?;
        self.shard(key).get(&key).cloned()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    /// Ends sessions that were removed from the table.
    fn close(&self, why: &'static str, ended: Vec<Arc<SessionEntry>>) {
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

    /// Subtracts `entry`, which was removed from the table, from the counts.
    fn uncount(&self, entry: &SessionEntry) {
        self.count.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(entry.bytes, Ordering::Relaxed);
    }

    fn sweep_sometimes(
        &self,
        key: u128,
        shard: &mut Shard,
        now: u64,
        ended: &mut Vec<Arc<SessionEntry>>,
    ) {
        let last = &self.swept[index(key)];
        let every = self.idle.min(SWEEP_EVERY).as_millis() as u64;
        if every <= now.saturating_sub(last.load(Ordering::Relaxed)) {
            last.store(now, Ordering::Relaxed);
            self.sweep(shard, now, ended);
            return;
        }
        // An expired session between two sweeps must not live longer because a request asks for it.
        if shard
            .get(&key)
            .is_some_and(|entry| self.is_over(entry, now))
        {
            ended.extend(shard.remove(&key));
        }
    }

    fn sweep(&self, shard: &mut Shard, now: u64, ended: &mut Vec<Arc<SessionEntry>>) {
        ended.extend(
            shard
                .extract_if(|_, entry| self.is_over(entry, now))
                .map(|(_, entry)| entry),
        );
    }

    fn is_over(&self, entry: &SessionEntry, now: u64) -> bool {
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

/// Ids are random, so any of their bits distribute them evenly.
fn index(key: u128) -> usize {
    key as usize % SHARDS
}

fn millis_since(start: Instant) -> u64 {
    start.elapsed().as_millis() as u64
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Code that runs under these locks keeps the data consistent wherever it could panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SessionEntry {
    pub(super) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Returns the id that the client knows.
    pub(super) fn id(&self) -> &str {
        // Only sessions with an id are in the table.
        self.session.id().unwrap_or_default()
    }

    pub(super) fn lock_standalone(&self) -> MutexGuard<'_, Standalone> {
        lock(&self.standalone)
    }

    /// Returns the resumable stream `number`, while it is written.
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
            // An idle session keeps no data of its calls.
            *live = Vec::new();
        }
    }

    fn lock_live(&self) -> MutexGuard<'_, Vec<Arc<LiveStream>>> {
        lock(&self.live)
    }

    /// Drops the events that were kept for a session that has ended.
    pub(super) async fn forget_events(&self, events: &dyn EventStore) {
        if let Err(error) = events.forget(self.id()).await {
            tracing::warn!(%error, session = %ShortId(self.id()), "events of an ended session could not be dropped");
        }
    }

    /// Keeps the session active while the return value exists.
    pub(super) fn activate(self: &Arc<Self>) -> Active {
        self.busy.fetch_add(1, Ordering::Relaxed);
        Active(self.clone())
    }

    /// Returns the time since it was last used; zero if a call runs or a stream is open.
    pub(super) fn silent_for(&self) -> Duration {
        if self.is_busy() {
            return Duration::ZERO;
        }
        let touched = self.touched.load(Ordering::Relaxed);
        Duration::from_millis(millis_since(self.started).saturating_sub(touched))
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
    pub(super) fn entry(&self) -> &Arc<SessionEntry> {
        &self.0
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        // Sets the time first: a session that is no longer busy was used just now.
        let Self(entry) = self;
        let now = millis_since(entry.started);
        entry.touched.store(now, Ordering::Relaxed);
        entry.busy.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
