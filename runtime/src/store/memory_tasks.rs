//! Tasks kept in memory, within bounds, until they expire.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

use super::{StoreError, StoreFuture, TaskRecord, TaskStore};

/// Tasks kept at once, unless set otherwise.
pub const DEFAULT_MAX_TASKS: usize = 10_000;

/// Bytes of the tasks that are kept, unless set otherwise: 64 MiB.
pub const DEFAULT_TASK_BYTES: usize = 64 << 20;

/// Approximate size of a task beside its texts, in bytes.
const OVERHEAD: usize = 512;

/// A [`TaskStore`] in memory. Every server has one unless another store is set.
///
/// When it is full, tasks that have ended are removed, first those that expire first. If none has ended, no task is created.
///
/// ```
/// use trueform::{prelude::*, store::MemoryTaskStore, task::TaskSettings};
///
/// let small = MemoryTaskStore::new().max_tasks(100).max_bytes(1 << 20);
/// let server = Server::new("reports", "1.0.0").tasks(TaskSettings::new().store(small));
/// # drop(server);
/// ```
pub struct MemoryTaskStore {
    kept: Mutex<Kept>,
    max_tasks: usize,
    max_bytes: usize,
}

#[derive(Default)]
struct Kept {
    tasks: HashMap<Arc<str>, Entry>,
    bytes: usize,
    /// Every task, by the end of its life.
    expiry: BTreeSet<(Instant, Arc<str>)>,
    /// The tasks of each owner, by their creation: most come at the end and go from the start.
    by_owner: HashMap<Box<str>, VecDeque<(SystemTime, Arc<str>)>>,
}

struct Entry {
    record: TaskRecord,
    expires: Instant,
}

/// Stands for an expiry that the clock cannot represent. It is too far away to matter.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

fn bytes_of(record: &TaskRecord) -> usize {
    let owner = record.owner.as_ref().map_or(0, |owner| owner.len());
    OVERHEAD + record.id.len() + owner + record.state.len()
}

impl Kept {
    fn drop_expired(&mut self) {
        let now = Instant::now();
        while let Some((expires, id)) = self.expiry.first()
            && *expires <= now
        {
            let id = id.clone();
            self.remove(&id);
        }
    }

    fn remove(&mut self, id: &str) {
        let Some(Entry { record, expires }) = self.tasks.remove(id) else {
            return;
        };
        self.bytes -= bytes_of(&record);
        self.expiry.remove(&(expires, record.id.clone()));
        if let Some(owner) = &record.owner
            && let Some(tasks) = self.by_owner.get_mut(owner)
        {
            if let Ok(at) = tasks.binary_search(&(record.created, record.id)) {
                tasks.remove(at);
            }
            if tasks.is_empty() {
                self.by_owner.remove(owner);
            }
        }
    }

    /// Makes room for `bytes` and for `tasks` more. Returns `false` if removing all ended tasks is not enough; then nothing was removed.
    fn make_room(&mut self, tasks: usize, bytes: usize, of: &MemoryTaskStore, but: &str) -> bool {
        let mut missing_tasks = (self.tasks.len() + tasks).saturating_sub(of.max_tasks);
        let mut missing_bytes = (self.bytes + bytes).saturating_sub(of.max_bytes);
        let mut going = Vec::new();
        for (_, id) in &self.expiry {
            if missing_tasks == 0 && missing_bytes == 0 {
                break;
            }
            let ended = self.tasks.get(id).filter(|entry| entry.record.has_ended);
            if let Some(entry) = ended.filter(|_| &**id != but) {
                missing_tasks = missing_tasks.saturating_sub(1);
                missing_bytes = missing_bytes.saturating_sub(bytes_of(&entry.record));
                going.push(id.clone());
            }
        }
        if missing_tasks != 0 || missing_bytes != 0 {
            return false;
        }
        for id in going {
            self.remove(&id);
        }
        true
    }
}

impl Default for MemoryTaskStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryTaskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryTaskStore")
            .field("max_tasks", &self.max_tasks)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

impl MemoryTaskStore {
    /// Creates a store with the default bounds.
    #[must_use]
    pub fn new() -> Self {
        Self {
            kept: Mutex::default(),
            max_tasks: DEFAULT_MAX_TASKS,
            max_bytes: DEFAULT_TASK_BYTES,
        }
    }

    /// Sets how many tasks are kept at once, running and ended; zero means 1. A second call replaces the first.
    ///
    /// ```
    /// use trueform::store::MemoryTaskStore;
    ///
    /// let store = MemoryTaskStore::new().max_tasks(100);
    /// ```
    #[must_use]
    pub fn max_tasks(mut self, tasks: usize) -> Self {
        self.max_tasks = tasks.max(1);
        self
    }

    /// Sets how many bytes the texts of all tasks may take, with about 512 bytes for each task. Fewer than one task takes, such as zero,
    /// leave room for none: each is refused. A result that does not fit fails its task. A second call replaces the first.
    ///
    /// ```
    /// use trueform::store::MemoryTaskStore;
    ///
    /// let store = MemoryTaskStore::new().max_bytes(8 << 20);
    /// ```
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Returns the tasks that are kept, without those that have expired.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Code that could panic does not leave the tables inconsistent.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.drop_expired();
        kept
    }
}

impl TaskStore for MemoryTaskStore {
    fn is_shared(&self) -> bool {
        false
    }

    fn create(&self, record: TaskRecord) -> StoreFuture<'_, Result<bool, StoreError>> {
        let mut kept = self.kept();
        if kept.tasks.contains_key(&record.id) {
            return StoreFuture::ready(Err(StoreError::new("two tasks have the same id")));
        }
        if !kept.make_room(1, bytes_of(&record), self, "") {
            return StoreFuture::ready(Ok(false));
        }
        let now = Instant::now();
        let expires = now.checked_add(record.life).unwrap_or(now + FAR);
        kept.bytes += bytes_of(&record);
        kept.expiry.insert((expires, record.id.clone()));
        if let Some(owner) = &record.owner {
            let tasks = kept.by_owner.entry(owner.clone()).or_default();
            let created = (record.created, record.id.clone());
            let at = tasks.partition_point(|earlier| *earlier < created);
            tasks.insert(at, created);
        }
        let id = record.id.clone();
        kept.tasks.insert(id, Entry { record, expires });
        StoreFuture::ready(Ok(true))
    }

    fn update(&self, record: TaskRecord) -> StoreFuture<'_, Result<bool, StoreError>> {
        let mut kept = self.kept();
        let Some(entry) = kept.tasks.get(&record.id) else {
            return StoreFuture::ready(Ok(false));
        };
        let earlier = &entry.record;
        if earlier.has_ended || record.version <= earlier.version {
            return StoreFuture::ready(Ok(false));
        }
        let (before, after) = (bytes_of(earlier), bytes_of(&record));
        let more = after.saturating_sub(before);
        if !kept.make_room(0, more, self, &record.id) {
            return StoreFuture::ready(Err(StoreError::new(format!(
                "no room for {more} more bytes of a task: at most {} are kept",
                self.max_bytes
            ))));
        }
        kept.bytes = kept.bytes - before + after;
        if let Some(entry) = kept.tasks.get_mut(&record.id) {
            // The owner and the life of a task are fixed at its creation.
            entry.record.state = record.state;
            entry.record.version = record.version;
            entry.record.has_ended = record.has_ended;
        }
        StoreFuture::ready(Ok(true))
    }

    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Result<Option<TaskRecord>, StoreError>> {
        let kept = self.kept();
        let found = kept.tasks.get(id).map(|entry| entry.record.clone());
        StoreFuture::ready(Ok(found))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(SystemTime, &'a str)>,
        most: usize,
    ) -> StoreFuture<'a, Result<Vec<TaskRecord>, StoreError>> {
        let kept = self.kept();
        let Some(tasks) = kept.by_owner.get(owner) else {
            return StoreFuture::ready(Ok(Vec::new()));
        };
        let is_listed = |(created, id): &(SystemTime, Arc<str>)| Some((*created, &**id)) <= after;
        let from = tasks.partition_point(is_listed);
        let records = tasks.range(from..).filter_map(|(_, id)| kept.tasks.get(id));
        let found = records.map(|entry| entry.record.clone()).take(most);
        StoreFuture::ready(Ok(found.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: Duration = Duration::from_secs(60);

    fn now<T: Unpin>(future: StoreFuture<'_, Result<T, StoreError>>) -> Result<T, String> {
        match future {
            StoreFuture::Ready(Some(value)) => value.map_err(|error| error.to_string()),
            _ => panic!("memory answers at once"),
        }
    }

    /// Returns a record of `owner` with a state of `bytes` bytes.
    fn record(id: &str, owner: Option<&str>, bytes: usize) -> TaskRecord {
        let created = SystemTime::UNIX_EPOCH + Duration::from_secs(id.len() as u64);
        TaskRecord::new(id, created, LIFE, "x".repeat(bytes)).with_owner(owner.map(Into::into))
    }

    fn loaded(store: &MemoryTaskStore, id: &str) -> Option<TaskRecord> {
        now(store.load(id)).expect("memory does not fail")
    }

    // W-5: of two ends only one counts, and a state that comes late does not replace a newer one.
    #[test]
    fn an_end_is_final() {
        let store = MemoryTaskStore::new();
        let first = record("a", None, 1);
        assert_eq!(now(store.update(first.clone())), Ok(false), "unknown");
        assert_eq!(now(store.create(first.clone())), Ok(true));
        assert!(now(store.create(first.clone())).is_err(), "taken");
        let second = first.clone().changed("second", false);
        let third = second.clone().changed("third", false);
        assert_eq!(now(store.update(third.clone())), Ok(true));
        assert_eq!(now(store.update(second)), Ok(false), "late");
        let ended = third.clone().changed("ended", true);
        assert_eq!(now(store.update(ended.clone())), Ok(true));
        assert_eq!(
            now(store.update(ended.clone().changed("x", false))),
            Ok(false)
        );
        assert_eq!(loaded(&store, "a"), Some(ended));
    }

    #[tokio::test(start_paused = true)]
    async fn tasks_expire() {
        let store = MemoryTaskStore::new();
        now(store.create(record("a", Some("ann"), 1))).unwrap();
        tokio::time::advance(LIFE - Duration::from_millis(1)).await;
        now(store.create(record("bb", Some("ann"), 1))).unwrap();
        assert!(loaded(&store, "a").is_some());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(loaded(&store, "a"), None);
        let left = now(store.list("ann", None, 9)).unwrap();
        assert_eq!(left.len(), 1);
        tokio::time::advance(LIFE).await;
        assert_eq!(now(store.list("ann", None, 9)), Ok(Vec::new()));
        let kept = store.kept();
        assert_eq!((kept.tasks.len(), kept.bytes), (0, 0));
        assert!(kept.by_owner.is_empty() && kept.expiry.is_empty());
    }

    #[test]
    fn a_life_without_end_is_long() {
        let store = MemoryTaskStore::new();
        let mut record = record("a", None, 1);
        record.life = Duration::MAX;
        assert_eq!(now(store.create(record)), Ok(true));
        assert!(loaded(&store, "a").is_some());
    }

    // W-10
    #[test]
    fn lists_of_one_owner_in_order() {
        let store = MemoryTaskStore::new();
        for (id, owner) in [("ccc", "ann"), ("a", "ann"), ("d", "bob"), ("bb", "ann")] {
            now(store.create(record(id, Some(owner), 1))).unwrap();
        }
        now(store.create(record("nobody's", None, 1))).unwrap();
        let page = |after: Option<&TaskRecord>, most| -> Vec<TaskRecord> {
            let after = after.map(|record| (record.created, &*record.id));
            now(store.list("ann", after, most)).unwrap()
        };
        let ids = |page: &[TaskRecord]| -> Vec<String> {
            page.iter().map(|record| record.id.to_string()).collect()
        };
        let first = page(None, 2);
        assert_eq!(ids(&first), ["a", "bb"]);
        assert_eq!(ids(&page(first.last(), 2)), ["ccc"]);
        assert_eq!(now(store.list("eve", None, 9)), Ok(Vec::new()));
    }

    #[test]
    fn ended_tasks_make_room() {
        let store = MemoryTaskStore::new().max_tasks(2);
        let (a, b) = (record("a", None, 1), record("b", None, 1));
        assert_eq!(now(store.create(a.clone())), Ok(true));
        assert_eq!(now(store.create(b)), Ok(true));
        assert_eq!(
            now(store.create(record("c", None, 1))),
            Ok(false),
            "both run"
        );
        assert_eq!(now(store.update(a.changed("", true))), Ok(true));
        assert_eq!(now(store.create(record("c", None, 1))), Ok(true));
        assert_eq!(loaded(&store, "a"), None);
        assert!(loaded(&store, "b").is_some());
    }

    #[test]
    fn bytes_are_bounded() {
        let empty = bytes_of(&record("a", None, 0));
        let store = MemoryTaskStore::new().max_bytes(2 * empty + 100);
        let (a, b) = (record("a", None, 50), record("b", None, 0));
        assert_eq!(now(store.create(a.clone())), Ok(true));
        assert_eq!(now(store.create(b.clone())), Ok(true));
        let large = |record: &TaskRecord, bytes| record.clone().changed("x".repeat(bytes), true);
        assert!(now(store.update(large(&b, 51))).is_err());
        assert_eq!(now(store.update(large(&b, 50))), Ok(true));
        // A task that has ended is removed to make room for the end of another one.
        assert_eq!(now(store.update(large(&a, 100))), Ok(true));
        assert_eq!(loaded(&store, "b"), None);
        assert_eq!(store.kept().bytes, empty + 100);
        // A task's own record is not removed to make room for the task.
        let alone = MemoryTaskStore::new().max_bytes(empty + 10);
        assert_eq!(now(alone.create(b.clone())), Ok(true));
        assert!(now(alone.update(large(&b, 11))).is_err());
        assert!(loaded(&alone, "b").is_some());
    }
}
