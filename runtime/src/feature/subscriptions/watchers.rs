//! The watchers of each resource, by URI: an update visits no others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use crate::{exchange::Exchange, peer::Session};

/// How many entries there may be before those whose peers have gone are looked for.
const FIRST_SWEEP: usize = 64;

/// The watchers of each resource. An entry may outlive its peer, so users of an entry check this.
#[derive(Debug, Default)]
pub(super) struct Watchers(Mutex<Table>);

#[derive(Debug)]
struct Table {
    by_uri: HashMap<Arc<str>, HashMap<usize, Watcher>>,
    entries: usize,
    sweep_at: usize,
}

/// A peer that asked for the changes of a resource.
#[derive(Debug)]
pub(super) enum Watcher {
    /// A session, until 2025-11-25.
    Session(Weak<Session>),
    /// A stream of `subscriptions/listen`.
    Stream(Weak<Exchange>),
}

/// A watcher that still exists.
#[derive(Debug)]
pub(super) enum Watching {
    Session(Arc<Session>),
    Stream(Arc<Exchange>),
}

impl Watcher {
    /// Returns the address, which distinguishes it from all others: the weak reference keeps the address in use.
    fn address(&self) -> usize {
        match self {
            Self::Session(session) => session.as_ptr().addr(),
            Self::Stream(exchange) => exchange.as_ptr().addr(),
        }
    }

    fn is_there(&self) -> bool {
        #[cfg(test)]
        tests::visited();
        match self {
            Self::Session(session) => session.strong_count() > 0,
            Self::Stream(exchange) => exchange.strong_count() > 0,
        }
    }

    fn watching(&self) -> Option<Watching> {
        #[cfg(test)]
        tests::visited();
        Some(match self {
            Self::Session(session) => Watching::Session(session.upgrade()?),
            Self::Stream(exchange) => Watching::Stream(exchange.upgrade()?),
        })
    }
}

impl Watchers {
    /// Adds `watcher` to the watchers of `uri`, once.
    pub(super) fn add(&self, uri: &str, watcher: Watcher) {
        let mut table = self.lock();
        if table.entries >= table.sweep_at {
            table.sweep();
        }
        let of_uri = match table.by_uri.get_mut(uri) {
            Some(of_uri) => of_uri,
            None => table.by_uri.entry(uri.into()).or_default(),
        };
        if of_uri.insert(watcher.address(), watcher).is_none() {
            table.entries += 1;
        }
    }

    /// Removes `session` from the watchers of `uri`.
    pub(super) fn remove(&self, uri: &str, session: &Arc<Session>) {
        let mut table = self.lock();
        let Some(of_uri) = table.by_uri.get_mut(uri) else {
            return;
        };
        let removed = of_uri.remove(&Arc::as_ptr(session).addr());
        if of_uri.is_empty() {
            table.by_uri.remove(uri);
        }
        table.entries -= usize::from(removed.is_some());
    }

    /// Returns the existing watchers of `uri`, and the URI that all their messages share.
    pub(super) fn of(&self, uri: &str) -> Option<(Arc<str>, Vec<Watching>)> {
        let table = self.lock();
        let (uri, of_uri) = table.by_uri.get_key_value(uri)?;
        let there = of_uri.values().filter_map(Watcher::watching);
        Some((uri.clone(), there.collect()))
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // No code that can panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Removes the entries whose peers have gone. The next sweep is when there are twice as many entries as remain.
    fn sweep(&mut self) {
        self.by_uri.retain(|_, of_uri| {
            of_uri.retain(|_, watcher| watcher.is_there());
            !of_uri.is_empty()
        });
        self.entries = self.by_uri.values().map(HashMap::len).sum();
        self.sweep_at = (self.entries * 2).max(FIRST_SWEEP);
    }
}

impl Default for Table {
    fn default() -> Self {
        Self {
            by_uri: HashMap::new(),
            entries: 0,
            sweep_at: FIRST_SWEEP,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static VISITS: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts a visit of a watcher.
    pub(super) fn visited() {
        VISITS.set(VISITS.get() + 1);
    }

    /// Returns how many watchers this thread visited while it ran `code`.
    pub(in super::super) fn visits(code: impl FnOnce()) -> usize {
        let before = VISITS.get();
        code();
        VISITS.get() - before
    }

    fn session() -> Arc<Session> {
        Arc::new(Session::new(None, None))
    }

    fn add(watchers: &Watchers, uri: &str, session: &Arc<Session>) {
        watchers.add(uri, Watcher::Session(Arc::downgrade(session)));
    }

    fn count(watchers: &Watchers, uri: &str) -> usize {
        watchers.of(uri).map_or(0, |(_, all)| all.len())
    }

    // J-7: an update visits only the watchers of the resource, however many others exist.
    #[test]
    fn only_those_of_the_resource() {
        let watchers = Watchers::default();
        let sessions: Vec<_> = (0..10_000).map(|_| session()).collect();
        for (at, session) in sessions.iter().enumerate() {
            add(&watchers, "x:all", session);
            add(&watchers, "x:all", session);
            add(&watchers, &format!("x:{}", at % 100), session);
        }
        assert_eq!(count(&watchers, "x:all"), 10_000);
        assert_eq!(count(&watchers, "x:7"), 100);
        assert_eq!(count(&watchers, "x:none"), 0);
        assert_eq!(watchers.lock().entries, 20_000);
        for session in &sessions {
            watchers.remove("x:all", session);
            watchers.remove("x:none", session);
        }
        assert_eq!(watchers.lock().entries, 10_000);
        assert!(!watchers.lock().by_uri.contains_key("x:all"));
    }

    // U-10: peers that have gone are not visited, and their entries are removed as others are added.
    #[test]
    fn who_has_gone_leaves_nothing() {
        let watchers = Watchers::default();
        let stays = session();
        add(&watchers, "x:stays", &stays);
        for round in 0..1_000 {
            let goes = session();
            for at in 0..10 {
                add(&watchers, &format!("x:{round}:{at}"), &goes);
            }
            drop(goes);
            assert_eq!(count(&watchers, &format!("x:{round}:0")), 0);
            let entries = watchers.lock().entries;
            assert!(entries <= FIRST_SWEEP, "{entries} in round {round}");
        }
        assert_eq!(count(&watchers, "x:stays"), 1);
    }
}
