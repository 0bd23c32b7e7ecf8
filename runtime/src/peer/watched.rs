//! The resources whose changes a peer subscribed to.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Most resources that one session may be subscribed to, or that one `subscriptions/listen` may name.
pub const MAX_RESOURCE_SUBSCRIPTIONS: usize = 1024;

/// Most bytes of the URIs of these resources together: 64 KiB.
pub const MAX_RESOURCE_SUBSCRIPTION_BYTES: usize = 64 << 10;

/// Most bytes that the subscriptions to resources of all sessions and streams may take together: 64 MiB. Each counts as the bytes of its
/// URI and 256 more.
pub const MAX_RESOURCE_SUBSCRIPTION_BYTES_IN_ALL: usize = 64 << 20;

/// What a subscription takes beside its URI: entries of the tables by peer and by URI, and a waiting notification.
const ENTRY: usize = 256;

/// The bytes that the subscriptions of all peers of a server take.
#[derive(Debug, Default)]
pub(crate) struct SubscriptionBytes(AtomicUsize);

/// A part of these bytes, released when it is dropped.
#[derive(Debug)]
pub(crate) struct ReservedBytes {
    all: Arc<SubscriptionBytes>,
    own: usize,
}

impl ReservedBytes {
    pub(crate) fn new(all: &Arc<SubscriptionBytes>) -> Self {
        Self {
            all: all.clone(),
            own: 0,
        }
    }

    /// Adds the bytes of a subscription to `uri`. Returns `false`, and adds nothing, if there is no room for it.
    pub(crate) fn add(&mut self, uri: &str) -> bool {
        let bytes = uri.len() + ENTRY;
        let more = |all: usize| {
            all.checked_add(bytes)
                .filter(|all| *all <= MAX_RESOURCE_SUBSCRIPTION_BYTES_IN_ALL)
        };
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        let added = self.all.0.fetch_update(set, fetch, more).is_ok();
        if added {
            self.own += bytes;
        }
        added
    }

    fn remove(&mut self, uri: &str) {
        let bytes = uri.len() + ENTRY;
        self.own -= bytes;
        self.all.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for ReservedBytes {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.own, Ordering::Relaxed);
    }
}

/// The URIs that a session is subscribed to, at revisions up to 2025-11-25.
#[derive(Debug, Default)]
pub(crate) struct WatchedResources(Mutex<Watched>);

#[derive(Debug, Default)]
struct Watched {
    uris: HashSet<Box<str>>,
    /// The bytes of the URIs alone.
    bytes: usize,
    /// `None` before the first one.
    reserved: Option<ReservedBytes>,
}

/// The maximum of subscriptions is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooManySubscriptions {
    /// For this session.
    Here,
    /// For all sessions.
    InAll,
}

impl WatchedResources {
    /// Adds `uri`, unless it is already in the set.
    pub(crate) fn add(
        &self,
        uri: &str,
        all: &Arc<SubscriptionBytes>,
    ) -> Result<(), TooManySubscriptions> {
        let mut watched = self.lock();
        if watched.uris.contains(uri) {
            return Ok(());
        }
        let bytes = watched.bytes + uri.len();
        if watched.uris.len() >= MAX_RESOURCE_SUBSCRIPTIONS
            || bytes > MAX_RESOURCE_SUBSCRIPTION_BYTES
        {
            return Err(TooManySubscriptions::Here);
        }
        let reserved = &mut watched.reserved;
        if !reserved
            .get_or_insert_with(|| ReservedBytes::new(all))
            .add(uri)
        {
            return Err(TooManySubscriptions::InAll);
        }
        watched.uris.insert(uri.into());
        watched.bytes = bytes;
        Ok(())
    }

    /// Removes `uri`, if it is in the set.
    pub(crate) fn remove(&self, uri: &str) {
        let mut watched = self.lock();
        if watched.uris.remove(uri) {
            watched.bytes -= uri.len();
            if let Some(reserved) = &mut watched.reserved {
                reserved.remove(uri);
            }
        }
    }

    /// Removes all URIs.
    pub(crate) fn clear(&self) {
        *self.lock() = Watched::default();
    }

    pub(crate) fn contains(&self, uri: &str) -> bool {
        self.lock().uris.contains(uri)
    }

    fn lock(&self) -> MutexGuard<'_, Watched> {
        // Nothing that can panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // J-7
    #[test]
    fn bounded_in_number_and_bytes() {
        use TooManySubscriptions::Here;
        let all = Arc::default();
        let watched = WatchedResources::default();
        let uri = |at: usize| format!("x:{at}");
        for at in 0..MAX_RESOURCE_SUBSCRIPTIONS {
            assert_eq!(watched.add(&uri(at), &all), Ok(()));
        }
        assert_eq!(watched.add("x:more", &all), Err(Here));
        assert_eq!(watched.add(&uri(7), &all), Ok(()), "it is there already");
        assert!(watched.contains(&uri(7)) && !watched.contains("x:more"));
        watched.remove(&uri(7));
        watched.remove("x:unknown");
        assert!(!watched.contains(&uri(7)));
        assert_eq!(watched.add("x:more", &all), Ok(()));

        let watched = WatchedResources::default();
        let half = "x".repeat(MAX_RESOURCE_SUBSCRIPTION_BYTES / 2);
        assert_eq!(watched.add(&half, &all), Ok(()));
        assert_eq!(watched.add(&half.replace('x', "y"), &all), Ok(()));
        assert_eq!(watched.add("z", &all), Err(Here));
        watched.remove(&half);
        assert_eq!(watched.add("z", &all), Ok(()));
    }

    // J-7: all sessions together are bounded too, and a subscription that ends releases its part.
    #[test]
    fn bounded_in_all() {
        let all: Arc<SubscriptionBytes> = Arc::default();
        let uri = "x".repeat(MAX_RESOURCE_SUBSCRIPTION_BYTES);
        let fits = MAX_RESOURCE_SUBSCRIPTION_BYTES_IN_ALL / (uri.len() + ENTRY);
        let mut sessions: Vec<WatchedResources> = Vec::new();
        for _ in 0..fits {
            let session = WatchedResources::default();
            assert_eq!(session.add(&uri, &all), Ok(()));
            sessions.push(session);
        }
        let more = WatchedResources::default();
        assert_eq!(more.add(&uri, &all), Err(TooManySubscriptions::InAll));
        assert!(!more.contains(&uri));
        sessions[0].remove(&uri);
        assert_eq!(more.add(&uri, &all), Ok(()));
        sessions[1].clear();
        assert_eq!(sessions[0].add(&uri, &all), Ok(()));
        drop(sessions);
        drop(more);
        assert_eq!(all.0.load(Ordering::Relaxed), 0);
    }
}
