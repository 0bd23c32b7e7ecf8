//! Session records kept in memory, for several servers in one process and for tests of code that shares sessions.

use std::{
    collections::HashMap,
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{SessionRecord, SessionStore, StoreError, StoreFuture};

/// Records kept at once, unless set otherwise.
pub const DEFAULT_MAX_RECORDS: usize = 100_000;

/// How long an untouched record lives, unless set otherwise: 30 minutes.
pub const DEFAULT_RECORD_LIFE: Duration = Duration::from_secs(30 * 60);

/// Locks that records are spread over.
const SHARDS: usize = 16;

/// A [`SessionStore`] in memory. When it is full, the record that was untouched for longest is removed.
///
/// A single server needs no store: it keeps its own sessions. If several servers of a process have the same store, all of them serve a
/// session that one of them opened:
///
/// ```
/// use std::sync::Arc;
/// use trueform::store::MemorySessionStore;
///
/// let shared = Arc::new(MemorySessionStore::new());
/// # drop(shared);
/// ```
pub struct MemorySessionStore {
    shards: Box<[Mutex<Shard>]>,
    hasher: RandomState,
    shard_records: usize,
    life: Duration,
}

type Shard = HashMap<Box<str>, Kept>;

struct Kept {
    record: SessionRecord,
    touched: Instant,
}

impl Default for MemorySessionStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemorySessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySessionStore")
            .field("life", &self.life)
            .finish_non_exhaustive()
    }
}

impl MemorySessionStore {
    /// Creates a store with the default bounds.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
            shard_records: DEFAULT_MAX_RECORDS.div_ceil(SHARDS),
            life: DEFAULT_RECORD_LIFE,
        }
    }

    /// Sets how many records are kept, rounded up to a multiple of 16, so that zero means 16. A second call replaces the first.
    ///
    /// ```
    /// use trueform::store::MemorySessionStore;
    ///
    /// let store = MemorySessionStore::new().max_records(1600);
    /// ```
    #[must_use]
    pub fn max_records(mut self, records: usize) -> Self {
        self.shard_records = records.div_ceil(SHARDS).max(1);
        self
    }

    /// Sets how long an untouched record lives; zero: no record is found again. A second call replaces the first.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::store::MemorySessionStore;
    ///
    /// let store = MemorySessionStore::new().record_life(Duration::from_secs(3600));
    /// ```
    #[must_use]
    pub fn record_life(mut self, life: Duration) -> Self {
        self.life = life;
        self
    }

    fn shard(&self, id: &str) -> MutexGuard<'_, Shard> {
        let index = self.hasher.hash_one(id) as usize % SHARDS;
        self.shards[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `act` on the live record of `id`, if there is one; an expired one is dropped.
    fn with<T>(&self, id: &str, act: impl FnOnce(&mut Kept) -> T) -> Option<T> {
        let mut shard = self.shard(id);
        let kept = shard.get_mut(id)?;
        if self.life <= kept.touched.elapsed() {
            shard.remove(id);
            return None;
        }
        Some(act(kept))
    }
}

impl SessionStore for MemorySessionStore {
    fn save<'a>(
        &'a self,
        id: &'a str,
        record: SessionRecord,
    ) -> StoreFuture<'a, Result<(), StoreError>> {
        let now = Instant::now();
        let mut shard = self.shard(id);
        if self.shard_records <= shard.len() && !shard.contains_key(id) {
            shard.retain(|_, kept| now.duration_since(kept.touched) < self.life);
        }
        if self.shard_records <= shard.len() && !shard.contains_key(id) {
            let oldest = shard
                .iter()
                .min_by_key(|(_, kept)| kept.touched)
                .map(|(id, _)| id.clone());
            if let Some(oldest) = oldest {
                shard.remove(&oldest);
            }
        }
        shard.insert(
            id.into(),
            Kept {
                record,
                touched: now,
            },
        );
        StoreFuture::ready(Ok(()))
    }

    fn load<'a>(
        &'a self,
        id: &'a str,
    ) -> StoreFuture<'a, Result<Option<SessionRecord>, StoreError>> {
        StoreFuture::ready(Ok(self.with(id, |kept| {
            kept.touched = Instant::now();
            kept.record.clone()
        })))
    }

    fn touch<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Result<bool, StoreError>> {
        let touched = self.with(id, |kept| kept.touched = Instant::now());
        StoreFuture::ready(Ok(touched.is_some()))
    }

    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Result<bool, StoreError>> {
        let live = self.with(id, |_| ()).is_some();
        self.shard(id).remove(id);
        StoreFuture::ready(Ok(live))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn now<T: Unpin>(future: StoreFuture<'_, Result<T, StoreError>>) -> T {
        match future {
            StoreFuture::Ready(Some(value)) => value.expect("memory does not fail"),
            _ => panic!("memory answers at once"),
        }
    }

    fn record(text: &'static str) -> SessionRecord {
        SessionRecord::new(Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn keeps_replaces_and_ends() {
        let store = MemorySessionStore::new();
        now(store.save("a", record("one")));
        now(store.save("a", record("two").with_principal(Some("ann".into()))));
        let found = now(store.load("a")).expect("kept");
        assert_eq!(
            (&*found.state, found.principal.as_deref()),
            (&b"two"[..], Some("ann"))
        );
        assert!(now(store.remove("a")));
        assert!(!now(store.remove("a")));
        assert_eq!(now(store.load("a")), None);
    }

    #[test]
    fn expires_and_is_bounded() {
        let store = MemorySessionStore::new().record_life(Duration::ZERO);
        now(store.save("a", record("one")));
        assert_eq!(now(store.load("a")), None);

        let kept = MemorySessionStore::new().shard_records * SHARDS;
        assert_eq!(kept, DEFAULT_MAX_RECORDS);
        let store = MemorySessionStore::new().max_records(16);
        for number in 0..200 {
            now(store.save(&number.to_string(), record("x")));
        }
        let kept: usize = store
            .shards
            .iter()
            .map(|shard| shard.lock().expect("unpoisoned").len())
            .sum();
        assert!(kept <= 16, "{kept}");
    }

    /// Returns `count` ids that share a part of `store`.
    fn ids(store: &MemorySessionStore, count: usize) -> Vec<String> {
        let part = |id: &str| store.hasher.hash_one(id) as usize % SHARDS;
        (0..)
            .map(|number: u32| number.to_string())
            .filter(|id| part(id) == 0)
            .take(count)
            .collect()
    }

    #[test]
    fn the_longest_untouched_makes_room() {
        let store = MemorySessionStore::new().max_records(2 * SHARDS);
        let ids = ids(&store, 5);
        let are_kept = || -> Vec<bool> {
            let shard = store.shard(&ids[0]);
            ids.iter().map(|id| shard.contains_key(&**id)).collect()
        };
        for at in [0, 1, 1] {
            now(store.save(&ids[at], record("x")));
        }
        assert_eq!(are_kept(), [true, true, false, false, false]);
        assert!(now(store.load(&ids[0])).is_some());
        now(store.save(&ids[2], record("x")));
        assert_eq!(are_kept(), [true, false, true, false, false]);
        assert!(now(store.touch(&ids[0])));
        now(store.save(&ids[3], record("x")));
        assert_eq!(are_kept(), [true, false, false, true, false]);
        // Saving a record again touches it.
        now(store.save(&ids[0], record("y")));
        now(store.save(&ids[4], record("x")));
        assert_eq!(are_kept(), [true, false, false, false, true]);
    }

    #[test]
    fn the_expired_make_room_first() {
        let mut store = MemorySessionStore::new().max_records(3 * SHARDS);
        let ids = ids(&store, 4);
        for id in &ids[..3] {
            now(store.save(id, record("x")));
        }
        store.life = Duration::ZERO;
        assert!(!now(store.touch(&ids[0])));
        assert_eq!(store.shard(&ids[0]).len(), 2, "it was dropped");
        assert_eq!(now(store.load(&ids[1])), None);
        assert_eq!(store.shard(&ids[0]).len(), 1, "it was dropped");
        store.life = DEFAULT_RECORD_LIFE;
        for id in &ids[..2] {
            now(store.save(id, record("x")));
        }
        store.life = Duration::ZERO;
        now(store.save(&ids[3], record("x")));
        assert_eq!(store.shard(&ids[0]).len(), 1, "all the others were dropped");
    }
}
