//! What a server sends that no request or subscription of the client is waiting for: counted, and handed to those who listen.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use super::mailbox::{Mailbox, Weighs};
use crate::gate::Redacted;

/// What is wrong with a message of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StrayKind {
    /// An answer to a request that was cancelled, has run out of time, or was answered before.
    LateAnswer,
    /// An answer with an id that no request had.
    UnknownId,
    /// A line that is not a message, such as a banner, or a message that JSON-RPC does not allow.
    Malformed,
    /// A notification of a method that no revision has. An extension may have it, so [`Notifications`](super::Notifications) returns it
    /// too.
    UnknownNotification,
    /// A request or a notification that the revision does not allow.
    NotAllowed,
    /// A notification of a subscription that the client does not have: its [`Subscription`](super::Subscription) was dropped, or it was not
    /// opened by [`Client::listen`](super::Client::listen) but by
    /// [`ClientMethods::subscriptions_listen`](super::ClientMethods::subscriptions_listen), which brings no notifications.
    UnknownSubscription,
    /// Progress of a request that has ended, also if its task goes on and the call has no `on_progress`. [`Notifications`](super::Notifications) returns it too.
    LateProgress,
    /// Progress with a token that this client did not make. [`Notifications`](super::Notifications) returns it too.
    UnknownProgress,
}

impl StrayKind {
    const ALL: [Self; 8] = [
        Self::LateAnswer,
        Self::UnknownId,
        Self::Malformed,
        Self::UnknownNotification,
        Self::NotAllowed,
        Self::UnknownSubscription,
        Self::LateProgress,
        Self::UnknownProgress,
    ];
}

/// A message of the server that nothing was waiting for; from [`Client::strays`](super::Client::strays).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stray {
    /// What is wrong with it.
    pub kind: StrayKind,
    /// The message, with its strings and numbers replaced by their sizes, cut off after about 512 bytes. For a message of a batch it is
    /// the whole batch, except for progress, and for a notification of an unknown subscription.
    pub redacted: String,
}

/// Counts and listeners of a connection.
#[derive(Default)]
pub(super) struct StrayLog {
    counts: [AtomicU64; StrayKind::ALL.len()],
    listeners: Mutex<Vec<Weak<Mailbox<Stray>>>>,
}

impl StrayLog {
    /// Counts a message, and hands it to those who listen.
    #[cold]
    pub(super) fn add(&self, kind: StrayKind, raw: &[u8]) {
        self.count_of(kind).fetch_add(1, Ordering::Relaxed);
        let listeners = {
            let mut listeners = self.lock();
            listeners.retain(|listener| listener.strong_count() > 0);
            listeners.clone()
        };
        if listeners.is_empty() {
            return;
        }
        let redacted = Redacted(raw).to_string();
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            let redacted = redacted.clone();
            listener.put(Stray { kind, redacted });
        }
    }

    pub(super) fn count(&self, kind: StrayKind) -> u64 {
        self.count_of(kind).load(Ordering::Relaxed)
    }

    fn count_of(&self, kind: StrayKind) -> &AtomicU64 {
        &self.counts[kind as usize]
    }

    pub(super) fn listen(&self) -> Arc<Mailbox<Stray>> {
        let listener = Arc::new(Mailbox::new(Some("stray messages")));
        self.lock().push(Arc::downgrade(&listener));
        listener
    }

    /// Ends the streams of all listeners.
    pub(super) fn close(&self) {
        let listeners = std::mem::take(&mut *self.lock());
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            listener.close();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Mailbox<Stray>>>> {
        // Nothing that can panic runs under the lock.
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for StrayLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StrayLog")
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl Weighs for Stray {
    fn bytes(&self) -> usize {
        self.redacted.len()
    }
}

/// Receives every [`Stray`] of a connection from its creation on.
///
/// At most 1,024 wait, and 8 MiB of them; a reader that is slower loses the oldest, and the log says so.
#[derive(Debug)]
pub struct Strays(pub(super) Arc<Mailbox<Stray>>);

impl Strays {
    /// The next one; `None` when the connection is closed.
    pub async fn next(&mut self) -> Option<Stray> {
        self.0.take().await
    }

    /// One that is there already.
    pub fn try_next(&mut self) -> Option<Stray> {
        self.0.try_take()
    }
}
