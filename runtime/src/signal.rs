//! A flag that tasks can wait for: cancellation of one exchange, shutdown of the server. Needs no async runtime.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

/// Set once, never reset.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    fired: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

impl Signal {
    /// Sets the flag and wakes whoever waits. Later calls do nothing.
    pub(crate) fn fire(&self) {
        if self.fired.swap(true, Ordering::SeqCst) {
            return;
        }
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        for waker in waiting {
            waker.wake();
        }
    }

    pub(crate) fn is_fired(&self) -> bool {
        self.fired.load(Ordering::SeqCst)
    }

    /// Ready once the flag is set.
    pub(crate) fn poll_fired(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_fired() {
            return Poll::Ready(());
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            waiting.push(cx.waker().clone());
        }
        drop(waiting);
        // `fire` may have emptied the list between the two looks at the flag.
        if self.is_fired() { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Completes when a signal that an owner shares is fired.
#[derive(Debug)]
pub(crate) struct Fired<T>(pub(crate) Arc<T>, pub(crate) fn(&T) -> &Signal);

impl<T> Future for Fired<T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        (self.1)(&self.0).poll_fired(cx)
    }
}
