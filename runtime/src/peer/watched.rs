//! The resources whose changes a peer wants to hear of.

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Most resources that one session may be subscribed to, or that one `subscriptions/listen` may name.
pub const MAX_RESOURCE_SUBSCRIPTIONS: usize = 1024;

/// Most bytes of the URIs of these resources together: 64 KiB.
pub const MAX_RESOURCE_SUBSCRIPTION_BYTES: usize = 64 << 10;

/// The URIs that a session is subscribed to: up to 2025-11-25.
#[derive(Debug, Default)]
pub(crate) struct WatchedResources(Mutex<Watched>);

#[derive(Debug, Default)]
struct Watched {
    uris: HashSet<Box<str>>,
    bytes: usize,
}

/// The session may have no further subscriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManySubscriptions;

impl WatchedResources {
    /// Adds `uri`, unless it is there already.
    pub(crate) fn add(&self, uri: &str) -> Result<(), TooManySubscriptions> {
        let mut watched = self.lock();
        if watched.uris.contains(uri) {
            return Ok(());
        }
        let bytes = watched.bytes + uri.len();
        if watched.uris.len() >= MAX_RESOURCE_SUBSCRIPTIONS
            || bytes > MAX_RESOURCE_SUBSCRIPTION_BYTES
        {
            return Err(TooManySubscriptions);
        }
        watched.uris.insert(uri.into());
        watched.bytes = bytes;
        Ok(())
    }

    /// Removes `uri`, if it is there.
    pub(crate) fn remove(&self, uri: &str) {
        let mut watched = self.lock();
        if watched.uris.remove(uri) {
            watched.bytes -= uri.len();
        }
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
        let watched = WatchedResources::default();
        let uri = |at: usize| format!("x:{at}");
        for at in 0..MAX_RESOURCE_SUBSCRIPTIONS {
            assert_eq!(watched.add(&uri(at)), Ok(()));
        }
        assert_eq!(watched.add("x:more"), Err(TooManySubscriptions));
        assert_eq!(watched.add(&uri(7)), Ok(()), "it is there already");
        assert!(watched.contains(&uri(7)) && !watched.contains("x:more"));
        watched.remove(&uri(7));
        watched.remove("x:unknown");
        assert!(!watched.contains(&uri(7)));
        assert_eq!(watched.add("x:more"), Ok(()));

        let watched = WatchedResources::default();
        let half = "x".repeat(MAX_RESOURCE_SUBSCRIPTION_BYTES / 2);
        assert_eq!(watched.add(&half), Ok(()));
        assert_eq!(watched.add(&half.replace('x', "y")), Ok(()));
        assert_eq!(watched.add("z"), Err(TooManySubscriptions));
        watched.remove(&half);
        assert_eq!(watched.add("z"), Ok(()));
    }
}
