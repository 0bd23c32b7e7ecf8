//! Stores for state that several processes can share: tasks and, for HTTP clients up to 2025-11-25, sessions and the events of streams
//! that can be resumed.
//!
//! Each of the three is a trait with a limited implementation in memory. An implementation stores values and does not interpret them: the
//! states of a session and of a task are opaque, and an event is a message with a place in a stream.

#[cfg(feature = "http")]
mod event;
#[cfg(feature = "http")]
mod memory_events;
#[cfg(feature = "http")]
mod memory_sessions;
mod memory_tasks;
#[cfg(feature = "http")]
mod session;
mod task;

use std::{
    error::Error,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

#[cfg(feature = "http")]
pub use self::{
    event::{EventId, EventStore, InvalidEventId, Replay, StoredEvent},
    memory_events::{
        DEFAULT_SESSION_BYTES, DEFAULT_SESSION_EVENTS, DEFAULT_TOTAL_BYTES, MemoryEventStore,
    },
    memory_sessions::{DEFAULT_MAX_RECORDS, DEFAULT_RECORD_LIFE, MemorySessionStore},
    session::{SessionRecord, SessionStore},
};
pub use self::{
    memory_tasks::{DEFAULT_MAX_TASKS, DEFAULT_TASK_BYTES, MemoryTaskStore},
    task::{TaskRecord, TaskStore},
};

/// What a store method returns: a value that is available at once, or one that has to be awaited.
///
/// A store in memory returns at once and needs no allocation; a store behind a network boxes a future.
///
/// ```
/// use trueform::store::StoreFuture;
///
/// let at_once = StoreFuture::ready(1);
/// let in_a_while = StoreFuture::later(async { 2 });
/// # drop((at_once, in_a_while));
/// ```
pub enum StoreFuture<'a, T> {
    /// The value is available. `None` after it has been taken.
    Ready(Option<T>),
    /// The value has to be awaited.
    Later(Pin<Box<dyn Future<Output = T> + Send + 'a>>),
}

impl<'a, T> StoreFuture<'a, T> {
    /// Creates a future with a value that is available at once.
    #[must_use]
    pub fn ready(value: T) -> Self {
        Self::Ready(Some(value))
    }

    /// Creates a future with the value that `future` returns.
    #[must_use]
    pub fn later(future: impl Future<Output = T> + Send + 'a) -> Self {
        Self::Later(Box::pin(future))
    }
}

impl<T: Unpin> Future for StoreFuture<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match self.get_mut() {
            Self::Ready(value) => match value.take() {
                Some(value) => Poll::Ready(value),
                // Polled after completion: never ready again, which the trait allows.
                None => Poll::Pending,
            },
            Self::Later(future) => future.as_mut().poll(cx),
        }
    }
}

impl<T> fmt::Debug for StoreFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready(_) => "StoreFuture::Ready",
            Self::Later(_) => "StoreFuture::Later",
        })
    }
}

/// Why an operation of a store failed. The text is for the log; peers get a short sentence.
#[derive(Debug)]
pub struct StoreError(Box<dyn Error + Send + Sync>);

impl StoreError {
    /// Wraps the cause.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store failed: {}", self.0)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_its_cause() {
        let error = StoreError::new("no disk");
        assert_eq!(error.to_string(), "the store failed: no disk");
        let cause = error.source().map(ToString::to_string);
        assert_eq!(cause.as_deref(), Some("no disk"));
    }
}
