//! Work of a call that holds its thread.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::{
    contained::{Panic, guarded},
    exchange::{Exchange, blocking},
    feature::job::{Pool, PoolWork},
};

/// What work returns that a thread of the pool does.
pub(super) struct FromThread<T> {
    pub(super) outcome: oneshot::Receiver<Result<T, Panic>>,
    /// While it is there, somebody waits for the outcome.
    _caller: Arc<()>,
}

/// Lets `pool` do `work` of `exchange` in `span`. The outcome is an error if no thread does it.
pub(super) fn on_thread<T: Send + 'static>(
    pool: Pool,
    exchange: &Exchange,
    span: &tracing::Span,
    work: impl FnOnce() -> T + Send + 'static,
) -> FromThread<T> {
    let (sender, outcome) = oneshot::channel();
    let span = span.clone();
    let caller = Arc::new(());
    let held = exchange.hold_thread();
    pool(PoolWork {
        caller: Arc::downgrade(&caller),
        run: Box::new(move || {
            // Nothing waits any more after a timeout or a cancellation.
            let _ = sender.send(span.in_scope(|| blocking(|| guarded(work))));
            drop(held);
        }),
    });
    FromThread {
        outcome,
        _caller: caller,
    }
}
