//! How many requests wait for their answers at once, and how many more wait to be sent.

use std::{
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use tokio::{
    sync::{Semaphore, SemaphorePermit, TryAcquireError},
    time::Instant,
};

use super::error::LocalError;

/// The bounds of a connection.
pub(super) struct Flights {
    free: Semaphore,
    most: usize,
    queued: AtomicUsize,
    most_queued: usize,
}

/// Why there is no place for a request.
pub(super) enum NoPlace {
    Full(LocalError),
    Closed,
}

impl Flights {
    pub(super) fn new(most: usize, most_queued: usize) -> Self {
        // What a semaphore can count.
        let most = most.min(Semaphore::MAX_PERMITS);
        Self {
            free: Semaphore::new(most),
            most,
            queued: AtomicUsize::new(0),
            most_queued,
        }
    }

    /// A place for a request, which is free again when it is dropped. `limit` is how long the request may wait; what is left of it
    /// is returned.
    pub(super) async fn enter(
        &self,
        limit: Duration,
    ) -> Result<(SemaphorePermit<'_>, Duration), NoPlace> {
        match self.free.try_acquire() {
            Ok(place) => Ok((place, limit)),
            Err(TryAcquireError::Closed) => Err(NoPlace::Closed),
            Err(TryAcquireError::NoPermits) => self.queue(limit).await,
        }
    }

    #[cold]
    async fn queue(&self, limit: Duration) -> Result<(SemaphorePermit<'_>, Duration), NoPlace> {
        let in_flight = self.most;
        let (queued, _leaves) = Queued::enter(&self.queued);
        if queued > self.most_queued {
            let waiting = self.most_queued;
            return Err(NoPlace::Full(LocalError::QueueFull { in_flight, waiting }));
        }
        let start = Instant::now();
        match tokio::time::timeout(limit, self.free.acquire()).await {
            Ok(Ok(place)) => Ok((place, limit.saturating_sub(start.elapsed()))),
            Ok(Err(_)) => Err(NoPlace::Closed),
            Err(_) => {
                let waited = limit;
                Err(NoPlace::Full(LocalError::NotSent { in_flight, waited }))
            }
        }
    }

    /// Wakes all requests that wait for a place, which then end.
    pub(super) fn close(&self) {
        self.free.close();
    }
}

/// Counts one that waits, until it is dropped.
struct Queued<'f>(&'f AtomicUsize);

impl<'f> Queued<'f> {
    fn enter(queued: &'f AtomicUsize) -> (usize, Self) {
        let now = queued.fetch_add(1, Ordering::Relaxed) + 1;
        (now, Self(queued))
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Flights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flights")
            .field("most", &self.most)
            .field("free", &self.free.available_permits())
            .field("queued", &self.queued)
            .finish_non_exhaustive()
    }
}
