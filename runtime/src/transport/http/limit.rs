//! How many calls run, or streams are open: the bound on them, and waiting until there are none.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::Notify;

/// Counts running calls, or open streams.
#[derive(Debug)]
pub(super) struct Limit {
    /// The number of those that count against the bound.
    count: AtomicUsize,
    /// The number of those that have not ended. Includes those that wait for their client and do not count against the bound.
    open: AtomicUsize,
    most: usize,
    emptied: Notify,
}

/// Counts as a number of running calls, or open streams, until it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    limit: Arc<Limit>,
    count: usize,
    /// How many of them do not count against the bound at present.
    paused: usize,
}

impl Limit {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            count: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            most,
            emptied: Notify::new(),
        })
    }

    /// Returns a permit, unless the maximum is reached.
    pub(super) fn enter(self: &Arc<Self>) -> Option<Permit> {
        let before = self.count.fetch_add(1, Ordering::Relaxed);
        self.open.fetch_add(1, Ordering::Relaxed);
        // Created in any case, because dropping it decrements the count.
        let permit = Permit {
            limit: self.clone(),
            count: 1,
            paused: 0,
        };
        (before < self.most).then_some(permit)
    }

    /// Completes when nothing is open.
    pub(super) async fn empty(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.open.load(Ordering::Acquire) == 0 {
                return;
            }
            emptied.await;
        }
    }
}

impl Permit {
    /// Counts as one more. Returns `false` if the maximum is reached.
    pub(super) fn grow(&mut self) -> bool {
        let before = self.limit.count.fetch_add(1, Ordering::Relaxed);
        self.limit.open.fetch_add(1, Ordering::Relaxed);
        self.count += 1;
        if before < self.limit.most {
            return true;
        }
        self.keep(self.count - 1);
        false
    }

    /// Returns a permit of its own for one of those that this permit counts as.
    pub(super) fn split(&mut self) -> Self {
        self.count -= 1;
        Self {
            limit: self.limit.clone(),
            count: 1,
            paused: 0,
        }
    }

    /// Reduces the number that this permit counts as to `count`.
    pub(super) fn keep(&mut self, count: usize) {
        let over = self.count.saturating_sub(count);
        if over == 0 {
            return;
        }
        self.count -= over;
        self.limit.count.fetch_sub(over, Ordering::Relaxed);
        if self.limit.open.fetch_sub(over, Ordering::Release) == over {
            self.limit.emptied.notify_waiters();
        }
    }

    /// Counts as one less against the bound, until [`resume`](Self::resume).
    pub(super) fn pause(&mut self) {
        self.paused += 1;
        self.limit.count.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts again, even if the maximum is reached: what already runs continues.
    pub(super) fn resume(&mut self) {
        self.paused -= 1;
        self.limit.count.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.limit.count.fetch_add(self.paused, Ordering::Relaxed);
        self.keep(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn bounded_and_waited_for() {
        let limit = Limit::new(2);
        let (one, two) = (limit.enter().expect("room"), limit.enter().expect("room"));
        assert!(limit.enter().is_none());
        drop(one);
        let mut three = limit.enter().expect("room again");
        assert!(!three.grow());
        drop(two);
        assert!(three.grow() && !three.grow());
        assert!(limit.enter().is_none(), "one that counts twice");
        three.keep(1);
        let two = limit.enter().expect("room for what is not kept");
        let waiting = tokio::spawn({
            let limit = limit.clone();
            async move { limit.empty().await }
        });
        drop((two, three));
        waiting.await.expect("not cancelled");
        limit.empty().await;
    }
}
