//! Tracks which call's poll the current code runs in.
//!
//! A question of a call is noticed only when the driver of that call polls it. In a spawned task, or on a thread for blocking work, nothing
//! would notice it.

use std::{cell::Cell, sync::Arc};

use super::AskError;
use crate::exchange::Exchange;

/// No call.
const NONE: usize = 0;
/// A call that holds its thread.
const BLOCKING: usize = 1;

thread_local! {
    /// The address of the exchange whose future this thread polls.
    static POLLED: Cell<usize> = const { Cell::new(NONE) };
}

/// Polls the future of the call of `exchange`. `poll` must not panic.
#[inline]
pub(crate) fn polling<T>(exchange: &Arc<Exchange>, poll: impl FnOnce() -> T) -> T {
    within(Arc::as_ptr(exchange).addr(), poll)
}

/// Does the work of a call that blocks its thread. `work` must not panic.
pub(crate) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    within(BLOCKING, work)
}

#[inline]
fn within<T>(place: usize, code: impl FnOnce() -> T) -> T {
    // A call may be polled within another call: a client in this process may call a server.
    let before = POLLED.replace(place);
    let value = code();
    POLLED.set(before);
    value
}

/// Checks that the current code runs in the poll of the call of `exchange`.
///
/// # Errors
/// [`AskError::Misused`], whose text says what to do.
pub(super) fn check(exchange: &Arc<Exchange>, what: &str) -> Result<(), AskError> {
    let place = POLLED.get();
    if place == Arc::as_ptr(exchange).addr() {
        return Ok(());
    }
    let problem = match place {
        BLOCKING => format!("{what} in a function that blocks: make the function async"),
        _ => format!(
            "{what} outside of the future of the call, such as in a spawned task: await it in the async function itself, with `join!` \
             if other work goes on meanwhile"
        ),
    };
    tracing::error!(
        method = exchange.method,
        problem,
        "a question that cannot be asked"
    );
    Err(AskError::Misused(problem))
}
