//! What a client keeps of results that the server allows it to reuse.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::Deserialize;
use tokio::time::Instant;
use trueform_schema::{At, Conform, Era, Json, Map, Method};

use super::{Client, changes::Changing, error::ClientError, gate::ClientCall};
use crate::jsonrpc::code;

/// How much a client keeps of results; given to [`ClientOptions::cache`](super::ClientOptions::cache).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLimits {
    pub(super) entries: usize,
    pub(super) bytes: usize,
}

impl CacheLimits {
    /// Most results that are kept by default: 256.
    pub const DEFAULT_ENTRIES: usize = 256;
    /// Most bytes of results and params that are kept by default: 16 MiB.
    pub const DEFAULT_BYTES: usize = 16 << 20;

    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self {
            entries: Self::DEFAULT_ENTRIES,
            bytes: Self::DEFAULT_BYTES,
        }
    }

    /// Sets how many results are kept, at least 1, otherwise the client does not connect. The oldest are removed first.
    ///
    /// ```
    /// use trueform::client::CacheLimits;
    ///
    /// let limits = CacheLimits::new().entries(64);
    /// ```
    #[must_use]
    pub fn entries(mut self, entries: usize) -> Self {
        self.entries = entries;
        self
    }

    /// Sets how many bytes of results and params are kept, at least 1, otherwise the client does not connect. The oldest results are
    /// removed first. A result that is larger is not kept.
    ///
    /// ```
    /// use trueform::client::CacheLimits;
    ///
    /// let limits = CacheLimits::new().bytes(1 << 20);
    /// ```
    #[must_use]
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// The results that are kept.
pub(super) struct Cache {
    limits: CacheLimits,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    results: HashMap<Key, KeptResult>,
    /// The oldest first. Some may be gone already.
    order: VecDeque<(Key, u64)>,
    bytes: usize,
    serial: u64,
}

/// A method, and its params as the caller gave them.
// V-3
type Key = (&'static str, String);

struct KeptResult {
    text: Json,
    until: Instant,
    /// Of what it is about, when it was asked for.
    version: u64,
    serial: u64,
}

/// A request whose result may be kept.
pub(super) struct Cacheable {
    key: Key,
    about: Changing,
    version: u64,
    has_cursor: bool,
}

/// What changes the results of `method`.
fn about(method: Method) -> Option<Changing> {
    match method {
        Method::ListTools => Some(Changing::Tools),
        Method::ListPrompts => Some(Changing::Prompts),
        Method::ListResources | Method::ListResourceTemplates => Some(Changing::Resources),
        Method::ReadResource => Some(Changing::Contents),
        _ => None,
    }
}

impl Cache {
    pub(super) fn new(limits: CacheLimits) -> Self {
        Self {
            limits,
            kept: Mutex::default(),
        }
    }

    // V-2, V-6
    fn get(&self, asked: &Cacheable) -> Option<Json> {
        let mut kept = self.lock();
        let found = kept.results.get(&asked.key)?;
        if Instant::now() < found.until && found.version == asked.version {
            return Some(found.text.clone());
        }
        kept.remove(&asked.key);
        None
    }

    // V-1, V-2
    fn put(&self, asked: Cacheable, text: &Json, received: Instant) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Marks {
            result_type: Option<String>,
            ttl_ms: Option<i64>,
        }
        let Ok(marks) = text.parse::<Marks>() else {
            return;
        };
        let is_complete = marks.result_type.is_none_or(|kind| kind == "complete");
        let ttl = marks.ttl_ms.and_then(|ttl| u64::try_from(ttl).ok());
        let until = ttl
            .filter(|ttl| *ttl > 0 && is_complete)
            .and_then(|ttl| received.checked_add(Duration::from_millis(ttl)));
        let Some(until) = until else { return };
        let bytes = asked.key.1.len() + text.get().len();
        if bytes > self.limits.bytes {
            return;
        }
        let mut kept = self.lock();
        kept.remove(&asked.key);
        kept.serial += 1;
        let serial = kept.serial;
        kept.bytes += bytes;
        kept.order.push_back((asked.key.clone(), serial));
        let result = KeptResult {
            text: text.clone(),
            until,
            version: asked.version,
            serial,
        };
        kept.results.insert(asked.key, result);
        while kept.results.len() > self.limits.entries || kept.bytes > self.limits.bytes {
            let Some((key, serial)) = kept.order.pop_front() else {
                break;
            };
            let is_same = |result: &KeptResult| result.serial == serial;
            if kept.results.get(&key).is_some_and(is_same) {
                kept.remove(&key);
            }
        }
        if kept.order.len() > 2 * kept.results.len() + 16 {
            kept.forget_gone();
        }
    }

    /// Drops all pages of the list that `asked` wants one of.
    // V-9
    fn drop_pages(&self, asked: &Cacheable) {
        let mut kept = self.lock();
        let pages: Vec<Key> = kept.results.keys().cloned().collect();
        for key in pages.iter().filter(|key| key.0 == asked.key.0) {
            kept.remove(key);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // Nothing that can panic runs under the lock.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn remove(&mut self, key: &Key) {
        if let Some(gone) = self.results.remove(key) {
            self.bytes -= key.1.len() + gone.text.get().len();
        }
    }

    /// Shortens the order to what is kept.
    fn forget_gone(&mut self) {
        let results = &self.results;
        self.order.retain(|(key, serial)| {
            let found = results.get(key);
            found.is_some_and(|result| result.serial == *serial)
        });
    }
}

impl Client {
    /// The request, if its result may be kept, and a result of it that is still fresh.
    pub(super) fn cached(
        &self,
        cache: &Cache,
        call: &ClientCall,
        params: &(dyn Conform + Sync),
    ) -> Option<(Cacheable, Option<Json>)> {
        let about = Method::from_wire(call.method).and_then(about)?;
        if self.revision().era() == Era::Legacy {
            return None;
        }
        let params = At::new(params, self.revision()).to_json();
        let members: Map<Json> = params.parse().ok()?;
        // V-4
        if members.contains_key("inputResponses") || members.contains_key("requestState") {
            return None;
        }
        let has_cursor = members.contains_key("cursor");
        let asked = Cacheable {
            key: (call.method, params.get().to_owned()),
            about,
            version: self.inner.link.changes.version(about),
            has_cursor,
        };
        let found = cache.get(&asked);
        Some((asked, found))
    }

    /// Keeps what became of a request.
    pub(super) fn keep(
        &self,
        cache: &Cache,
        asked: Cacheable,
        outcome: &Result<Json, ClientError>,
        sent: Instant,
    ) {
        match outcome {
            // What has changed meanwhile may not be in it.
            Ok(_) if self.inner.link.changes.version(asked.about) != asked.version => {}
            // The server counts from its response. The client counts from the request, which is earlier, so it keeps nothing for too long.
            Ok(text) => cache.put(asked, text, sent),
            Err(ClientError::Remote(error))
                if error.code == code::INVALID_PARAMS && asked.has_cursor =>
            {
                cache.drop_pages(&asked);
            }
            Err(_) => {}
        }
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.lock();
        f.debug_struct("Cache")
            .field("limits", &self.limits)
            .field("results", &kept.results.len())
            .field("bytes", &kept.bytes)
            .finish_non_exhaustive()
    }
}
