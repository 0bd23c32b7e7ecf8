//! Work of a call that holds its thread.

use std::{
    any::Any,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::sync::oneshot;

use crate::{
    contained::{Panic, guarded},
    exchange::{Exchange, blocking},
    feature::{
        callable::Failure,
        job::{Pool, PoolWork},
    },
};

/// What work returns that a thread of the pool does.
pub(super) struct FromThread<T> {
    outcome: Outcome,
    returns: PhantomData<fn() -> T>,
    /// While it is there, somebody waits for the outcome.
    _caller: Arc<()>,
}

impl<T: 'static> FromThread<T> {
    /// Returns `Ready` with the outcome, or with the reason why the work was not done.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<T, Failure>> {
        let outcome = Pin::new(&mut self.outcome).poll(cx);
        outcome.map(|outcome| match outcome {
            Ok(Ok(outcome)) => Ok(*outcome
                .downcast()
                .unwrap_or_else(|_| unreachable!("`on_thread` sends what `work` returns"))),
            Ok(Err(panic)) => Err(Failure::Panicked(panic)),
            Err(_) => Err(Failure::NoThread),
        })
    }
}

/// Lets `pool` do `work` of `exchange` in `span`.
pub(super) fn on_thread<T: Send + 'static>(
    pool: Pool,
    exchange: &Exchange,
    span: &tracing::Span,
    work: impl FnOnce() -> T + Send + 'static,
) -> FromThread<T> {
    let work = Box::new(move || -> Box<dyn Any + Send> { Box::new(work()) });
    let (outcome, caller) = send_out(pool, exchange, span, work);
    FromThread {
        outcome,
        returns: PhantomData,
        _caller: caller,
    }
}

/// What comes from a thread. Its type is not known, so that all of this is compiled once for all kinds of calls.
type Outcome = oneshot::Receiver<Result<Box<dyn Any + Send>, Panic>>;
type Work = Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>;

fn send_out(
    pool: Pool,
    exchange: &Exchange,
    span: &tracing::Span,
    work: Work,
) -> (Outcome, Arc<()>) {
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
    (outcome, caller)
}
