//! How many requests are at work: the bound on them, and waiting until there are none.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::Notify;

/// Counts requests at work.
#[derive(Debug)]
pub(super) struct Limit {
    count: AtomicUsize,
    most: usize,
    emptied: Notify,
}

/// Counts as one request at work until dropped.
#[derive(Debug)]
pub(super) struct Permit(Arc<Limit>);

impl Limit {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            count: AtomicUsize::new(0),
            most,
            emptied: Notify::new(),
        })
    }

    /// A permit, unless as many as there may be are out.
    pub(super) fn enter(self: &Arc<Self>) -> Option<Permit> {
        let before = self.count.fetch_add(1, Ordering::Relaxed);
        // Made in any case: dropping it takes the count back.
        let permit = Permit(self.clone());
        (before < self.most).then_some(permit)
    }

    /// Completes when no request is at work.
    pub(super) async fn empty(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.count.load(Ordering::Acquire) == 0 {
                return;
            }
            emptied.await;
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::Release) == 1 {
            self.0.emptied.notify_waiters();
        }
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
        let three = limit.enter().expect("room again");
        let waiting = tokio::spawn({
            let limit = limit.clone();
            async move { limit.empty().await }
        });
        drop((two, three));
        waiting.await.expect("not cancelled");
        limit.empty().await;
    }
}
