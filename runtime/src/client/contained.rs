//! Code of the caller's that runs in the client's own tasks: a panic in there is logged and goes no further.

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::Poll,
};

/// Runs `code`; `None` if it panicked. `what` is what the log calls it.
// What a panic leaves behind is the caller's own state: nothing of the client's is touched in there.
pub(super) fn contained<T>(what: &'static str, code: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(value) => Some(value),
        Err(panic) => {
            let panic = said(&*panic);
            tracing::error!(panic, "{what} panicked");
            None
        }
    }
}

/// As [`contained`], for a future, its drop included.
pub(super) async fn contained_future<T>(
    what: &'static str,
    mut future: Pin<Box<dyn Future<Output = T> + Send + '_>>,
) -> Option<T> {
    let ended = std::future::poll_fn(|cx| match contained(what, || future.as_mut().poll(cx)) {
        Some(Poll::Ready(value)) => Poll::Ready(Some(value)),
        Some(Poll::Pending) => Poll::Pending,
        None => Poll::Ready(None),
    })
    .await;
    contained(what, move || drop(future)).and(ended)
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("something that is no text")
}
