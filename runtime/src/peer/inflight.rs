//! The requests of one peer that are not answered yet, by id.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use trueform_schema::RequestId;

/// A request that can be given up.
pub(crate) trait Cancel: Send + Sync {
    /// Its peer no longer wants the answer.
    fn cancel(&self);
}

/// The unanswered requests of one peer.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<HashMap<RequestId, Weak<dyn Cancel>>>);

/// Why an id was not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A request with that id is not answered yet.
    Taken,
    /// As many requests as are allowed are not answered yet.
    Full,
}

impl InFlight {
    /// Whether `id` is taken.
    pub(crate) fn contains(&self, id: &RequestId) -> bool {
        let table = self.lock();
        !table.is_empty() && table.contains_key(id)
    }

    /// Takes `id` for `request`, unless it is taken or `limit` are. The taker gives it back by [`leave`](Self::leave).
    pub(crate) fn enter(
        &self,
        id: &RequestId,
        request: Weak<dyn Cancel>,
        limit: usize,
    ) -> Result<(), Refused> {
        let mut table = self.lock();
        if table.contains_key(id) {
            return Err(Refused::Taken);
        }
        if table.len() >= limit {
            return Err(Refused::Full);
        }
        table.insert(id.clone(), request);
        Ok(())
    }

    /// Gives `id` back.
    pub(crate) fn leave(&self, id: &RequestId) {
        self.lock().remove(id);
    }

    /// Cancels the request with that id. Returns `false` if no such request is in flight.
    pub(crate) fn cancel(&self, id: &RequestId) -> bool {
        let found = self.lock().get(id).and_then(Weak::upgrade);
        // Waking runs foreign code, which must not find the lock held.
        found.map(|request| request.cancel()).is_some()
    }

    pub(crate) fn cancel_all(&self) {
        let all: Vec<Arc<dyn Cancel>> = self.lock().values().filter_map(Weak::upgrade).collect();
        for request in all {
            request.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Weak<dyn Cancel>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.lock().keys()).finish()
    }
}
