//! When a wait ends, however long it may be.

use std::time::Duration;

use tokio::time::Instant;

/// What stands for the end of a wait that is longer than the clock can count: about 30 years.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// The end of a wait of `wait` that begins at `start`. [`Duration::MAX`] is how callers write a wait without end.
pub(super) fn deadline(start: Instant, wait: Duration) -> Instant {
    start.checked_add(wait).unwrap_or_else(|| start + FAR)
}
