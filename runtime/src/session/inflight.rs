//! The requests of one peer that are not answered yet, by id.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use trueform_schema::RequestId;

use crate::exchange::Exchange;

/// The unanswered requests of one peer.
#[derive(Debug, Default)]
pub(crate) struct InFlight(Mutex<HashMap<RequestId, Weak<Exchange>>>);

/// Why an id was not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A request with that id is not answered yet.
    Taken,
    /// As many requests as are allowed are not answered yet.
    Full,
}

/// Keeps an id taken until dropped.
#[derive(Debug)]
pub(crate) struct Ticket {
    exchange: Arc<Exchange>,
}

impl InFlight {
    /// Whether `id` is taken.
    pub(crate) fn contains(&self, id: &RequestId) -> bool {
        let table = self.lock();
        !table.is_empty() && table.contains_key(id)
    }

    /// Takes the id of `exchange`, whose session must be the owner of this table, unless it is taken or `limit` are.
    pub(crate) fn enter(&self, exchange: &Arc<Exchange>, limit: usize) -> Result<Ticket, Refused> {
        let mut table = self.lock();
        if table.contains_key(&exchange.id) {
            return Err(Refused::Taken);
        }
        if table.len() >= limit {
            return Err(Refused::Full);
        }
        table.insert(exchange.id.clone(), Arc::downgrade(exchange));
        Ok(Ticket {
            exchange: exchange.clone(),
        })
    }

    /// The request with that id.
    pub(crate) fn get(&self, id: &RequestId) -> Option<Arc<Exchange>> {
        self.lock().get(id)?.upgrade()
    }

    pub(crate) fn cancel_all(&self) {
        // Collected first: waking runs foreign code, which must not find the lock held.
        let all: Vec<_> = self.lock().values().filter_map(Weak::upgrade).collect();
        for exchange in all {
            exchange.cancelled.fire();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Weak<Exchange>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(session) = &self.exchange.session {
            session.in_flight.lock().remove(&self.exchange.id);
        }
    }
}
