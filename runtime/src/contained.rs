//! Code of others that runs among our own: a panic in there is caught, and logged by the caller or here.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};
#[cfg(feature = "client")]
use std::{pin::Pin, task::Poll};

/// What a panic carried.
pub(crate) type Panic = Box<dyn Any + Send>;

/// Runs `code`.
///
/// # Errors
/// It panicked.
// What a panic leaves behind is the state of that code: nothing of the library is touched in there.
pub(crate) fn guarded<T>(code: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(code))
}

/// Runs `code`. `None` if it panicked, which is logged; `what` is its name in the log.
pub(crate) fn contained<T>(what: &'static str, code: impl FnOnce() -> T) -> Option<T> {
    match guarded(code) {
        Ok(value) => Some(value),
        Err(panic) => {
            tracing::error!(panic = panic_text(&*panic), "{what} panicked");
            None
        }
    }
}

/// As [`contained`], for a future: also its making, which runs before it is polled, and its drop.
#[cfg(feature = "client")]
pub(crate) async fn contained_future<'a, T>(
    what: &'static str,
    make: impl FnOnce() -> Pin<Box<dyn Future<Output = T> + Send + 'a>>,
) -> Option<T> {
    let mut future = contained(what, make)?;
    let ended = std::future::poll_fn(|cx| match contained(what, || future.as_mut().poll(cx)) {
        Some(Poll::Ready(value)) => Poll::Ready(Some(value)),
        Some(Poll::Pending) => Poll::Pending,
        None => Poll::Ready(None),
    })
    .await;
    contained(what, move || drop(future)).and(ended)
}

/// The message of a panic, for the log.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "(no message)",
    }
}
