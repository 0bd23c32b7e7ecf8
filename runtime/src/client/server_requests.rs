//! The server's requests that the handler is working on. Their number is limited, and each has an id of its own. A request ends with its
//! answer, when the server cancels it, or with the connection.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;
use trueform_schema::RequestId;

use super::ClientOptions;

/// The server's requests that are not answered yet.
#[derive(Default)]
pub(super) struct ServerRequests(Mutex<Table>);

#[derive(Default)]
struct Table {
    working: HashMap<RequestId, Working>,
    entered: u64,
}

/// Dropped, it stops the handler.
struct Working {
    serial: u64,
    _stop: oneshot::Sender<()>,
}

/// One of the requests.
pub(super) struct Question {
    pub(super) id: RequestId,
    /// Distinguishes it from a later request with the same id.
    serial: u64,
    /// Ends when the answer is no longer wanted.
    pub(super) stopped: oneshot::Receiver<()>,
}

impl ServerRequests {
    /// Whether a request with that id is not answered yet.
    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.lock().working.contains_key(id)
    }

    /// Takes in a request, whose id must be free; `None` if there are [`ClientOptions::MOST_QUESTIONS`].
    pub(super) fn enter(&self, id: &RequestId) -> Option<Question> {
        let mut table = self.lock();
        if table.working.len() >= ClientOptions::MOST_QUESTIONS {
            return None;
        }
        table.entered += 1;
        let serial = table.entered;
        let (stop, stopped) = oneshot::channel();
        let working = Working {
            serial,
            _stop: stop,
        };
        table.working.insert(id.clone(), working);
        Some(Question {
            id: id.clone(),
            serial,
            stopped,
        })
    }

    /// Whether `question` is still to be answered; from now on it is not.
    pub(super) fn leave(&self, question: &Question) -> bool {
        let mut table = self.lock();
        let found = table.working.get(&question.id);
        if found.is_none_or(|working| working.serial != question.serial) {
            return false;
        }
        let left = table.working.remove(&question.id);
        drop(table);
        left.is_some()
    }

    /// The server does not want the answer to `id` any more.
    // O-2
    pub(super) fn cancel(&self, id: &RequestId) {
        let cancelled = self.lock().working.remove(id);
        // Dropped without the lock: it wakes the handler's task.
        drop(cancelled);
    }

    /// Stops all.
    pub(super) fn clear(&self) {
        let all = std::mem::take(&mut self.lock().working);
        drop(all);
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // Nothing that can panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
