//! Which session has taken a request, so that no other is asked to cancel it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use http::HeaderValue;

/// The session that has a request, as far as the client knows.
#[derive(Debug, Default)]
pub(super) struct Taker(Mutex<Option<Named>>);

/// What the request named: a session, or none where the server has no sessions.
type Named = Option<HeaderValue>;

impl Taker {
    /// The request is sent, and names `session`. Not called for one that is resumed: the server has it under the id of another client.
    pub(super) fn is(&self, session: Option<&HeaderValue>) {
        *self.lock() = Some(session.cloned());
    }

    /// The server has refused the request, because it no longer has the session.
    pub(super) fn is_nobody(&self) {
        *self.lock() = None;
    }

    /// Whether a message that names `session` now reaches the one that has the request.
    // O-1
    pub(super) fn has(&self, session: Option<&HeaderValue>) -> bool {
        let taker = self.lock();
        taker
            .as_ref()
            .is_some_and(|named| named.as_ref() == session)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Named>> {
        // Nothing that can panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
