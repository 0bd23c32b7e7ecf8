//! What a connection and the transport below it tell each other.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use super::{error::LocalError, failure::ServerFailure};

/// Most lines that are not messages of which the log has each at level `WARN`.
const LOGGED_LINES: u64 = 100;

/// Shared by a connection and its transport.
#[derive(Debug, Default)]
pub(super) struct Wire {
    /// Why the connection ended, if the transport knows. It is set before the stream ends.
    failure: OnceLock<Arc<ServerFailure>>,
    skipped_lines: AtomicU64,
    has_long_line: AtomicBool,
}

impl Wire {
    /// Notes why the stream is about to end. The first reason counts.
    #[cfg(feature = "client-process")]
    pub(super) fn fail(&self, failure: ServerFailure) {
        let _ = self.failure.set(Arc::new(failure));
    }

    /// The error of what can no longer be sent or answered.
    pub(super) fn closed(&self) -> LocalError {
        match self.failure.get() {
            Some(failure) => LocalError::Server(failure.clone()),
            None => LocalError::Closed,
        }
    }

    /// Counts a line that is not a message. Returns whether the log is to have it at level `WARN`.
    pub(super) fn skipped(&self) -> bool {
        let before = self.skipped_lines.fetch_add(1, Ordering::Relaxed);
        if before == LOGGED_LINES {
            tracing::warn!(
                "the server goes on writing lines that are not messages; the log has further ones at level DEBUG"
            );
        }
        before < LOGGED_LINES
    }

    /// How many lines were not messages.
    pub(super) fn skipped_lines(&self) -> u64 {
        self.skipped_lines.load(Ordering::Relaxed)
    }

    /// Notes that a line longer than the limit has begun. Returns whether it is the first.
    pub(super) fn long_line(&self) -> bool {
        !self.has_long_line.swap(true, Ordering::Relaxed)
    }

    /// Whether a line was longer than the limit.
    #[cfg(feature = "client-process")]
    pub(super) fn has_long_line(&self) -> bool {
        self.has_long_line.load(Ordering::Relaxed)
    }
}
