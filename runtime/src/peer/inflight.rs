//! The requests of one peer that are not answered yet, by id.

use std::{
    collections::{HashMap, hash_map},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use trueform_schema::RequestId;

/// A request that can be cancelled.
pub(crate) trait Cancel: Send + Sync {
    /// Cancels the request: its peer no longer wants the answer.
    fn cancel(&self);
}

/// The unanswered requests of one peer.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<Table>);

#[derive(Default)]
struct Table {
    by_id: HashMap<RequestId, InflightEntry>,
    /// The number of requests.
    requests: usize,
}

/// The requests with one id.
struct InflightEntry {
    first: Weak<dyn Cancel>,
    /// The other requests with this id, if ids may be repeated (DEC-1).
    more: Vec<Weak<dyn Cancel>>,
}

/// Why a request could not get its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdRefused {
    /// A request with that id is not answered yet.
    Taken,
    /// The maximum number of requests is in flight.
    Full,
}

/// The outcome of a cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancelled {
    /// The request was cancelled.
    One,
    /// Several requests have the id; none was cancelled.
    Ambiguous,
    /// No request in flight has the id.
    Unknown,
}

impl InFlight {
    /// Returns whether `id` is in use.
    pub(crate) fn contains(&self, id: &RequestId) -> bool {
        let table = self.lock();
        table.requests > 0 && table.by_id.contains_key(id)
    }

    /// Returns whether fewer than `limit` requests are in flight.
    pub(crate) fn has_room(&self, limit: usize) -> bool {
        self.lock().requests < limit
    }

    /// Registers `id` for `request`, unless `limit` requests are in flight, or another one has the id and it may not be repeated.
    /// [`leave`](Self::leave) must release the id.
    pub(crate) fn enter(
        &self,
        id: &RequestId,
        request: Weak<dyn Cancel>,
        limit: usize,
        may_repeat: bool,
    ) -> Result<(), IdRefused> {
        let mut table = self.lock();
        let Table { by_id, requests } = &mut *table;
        // One look-up: this is on the path of every call.
        let entry = by_id.entry(id.clone());
        if let hash_map::Entry::Occupied(_) = &entry
            && !may_repeat
        {
            return Err(IdRefused::Taken);
        }
        if *requests >= limit {
            return Err(IdRefused::Full);
        }
        *requests += 1;
        match entry {
            hash_map::Entry::Occupied(mut taken) => taken.get_mut().more.push(request),
            hash_map::Entry::Vacant(free) => {
                free.insert(InflightEntry {
                    first: request,
                    more: Vec::new(),
                });
            }
        }
        Ok(())
    }

    /// Releases `id`, which the request at the address `request` registered.
    pub(crate) fn leave(&self, id: &RequestId, request: *const ()) {
        let mut table = self.lock();
        let Table { by_id, requests } = &mut *table;
        let Some(mut entry) = by_id.remove(id) else {
            return;
        };
        *requests -= 1;
        if entry.more.is_empty() {
            return;
        }
        // Other requests have the id too.
        let is_it = |other: &Weak<dyn Cancel>| other.as_ptr().cast::<()>() == request;
        if !is_it(&entry.first) {
            entry.more.retain(|other| !is_it(other));
        } else if let Some(next) = entry.more.pop() {
            entry.first = next;
        }
        by_id.insert(id.clone(), entry);
    }

    /// Cancels the request with that id.
    pub(crate) fn cancel(&self, id: &RequestId) -> Cancelled {
        let found = match self.lock().by_id.get(id) {
            None => return Cancelled::Unknown,
            Some(entry) if !entry.more.is_empty() => return Cancelled::Ambiguous,
            Some(entry) => entry.first.upgrade(),
        };
        // Waking runs other code, which must not run under the lock.
        match found {
            Some(request) => {
                request.cancel();
                Cancelled::One
            }
            None => Cancelled::Unknown,
        }
    }

    pub(crate) fn cancel_all(&self) {
        let all: Vec<Arc<dyn Cancel>> = {
            let table = self.lock();
            let entries = table.by_id.values();
            let requests =
                entries.flat_map(|entry| std::iter::once(&entry.first).chain(&entry.more));
            requests.filter_map(Weak::upgrade).collect()
        };
        for request in all {
            request.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.lock().by_id.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[derive(Default)]
    struct Call(AtomicBool);

    impl Cancel for Call {
        fn cancel(&self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    // DEC-1
    #[test]
    fn repeated_ids() {
        let table = InFlight::default();
        let id = RequestId::Integer(1);
        let calls: Vec<Arc<Call>> = (0..3).map(|_| Arc::default()).collect();
        let weak = |at: usize| -> Weak<dyn Cancel> {
            let call: Arc<dyn Cancel> = calls[at].clone();
            Arc::downgrade(&call)
        };
        let leave = |at: usize| table.leave(&id, Arc::as_ptr(&calls[at]).cast());
        assert_eq!(table.enter(&id, weak(0), 3, false), Ok(()));
        assert_eq!(table.enter(&id, weak(1), 3, false), Err(IdRefused::Taken));
        assert_eq!(table.enter(&id, weak(1), 3, true), Ok(()));
        assert_eq!(table.enter(&id, weak(2), 2, true), Err(IdRefused::Full));
        assert_eq!(table.enter(&id, weak(2), 3, true), Ok(()));
        assert_eq!(table.cancel(&id), Cancelled::Ambiguous);
        leave(0);
        leave(2);
        assert!(table.contains(&id));
        assert_eq!(table.cancel(&id), Cancelled::One);
        let was_cancelled = |call: &Arc<Call>| call.0.load(Ordering::SeqCst);
        assert_eq!(
            calls.iter().map(was_cancelled).collect::<Vec<_>>(),
            [false, true, false]
        );
        leave(1);
        assert!(!table.contains(&id));
        assert_eq!(table.cancel(&id), Cancelled::Unknown);
        assert_eq!(
            table.enter(&id, weak(0), 1, false),
            Ok(()),
            "the count is right"
        );
    }

    // DEC-1
    #[test]
    fn repeated_ids_are_given_back_in_any_order() {
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let table = InFlight::default();
            let id = RequestId::Integer(1);
            let calls: Vec<Arc<Call>> = (0..3).map(|_| Arc::default()).collect();
            for call in &calls {
                let call: Arc<dyn Cancel> = call.clone();
                assert_eq!(table.enter(&id, Arc::downgrade(&call), 3, true), Ok(()));
            }
            for (left, at) in (1..).zip(order) {
                table.leave(&id, Arc::as_ptr(&calls[at]).cast());
                table.cancel_all();
                for (call, is_left) in calls
                    .iter()
                    .enumerate()
                    .map(|(at, call)| (call, order[..left].contains(&at)))
                {
                    let was_cancelled = call.0.swap(false, Ordering::SeqCst);
                    assert_eq!(was_cancelled, !is_left, "{order:?}, {left} have left");
                }
                assert_eq!(table.lock().requests, 3 - left);
            }
        }
    }
}
