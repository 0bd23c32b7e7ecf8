//! A flag that tasks can wait for: cancellation of one exchange, shutdown of the server. It needs no async runtime.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

/// A flag that is set once and never reset.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    fired: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    last_key: u64,
    /// Wakers with their keys; those without a key share the key 0.
    wakers: Vec<(u64, Waker)>,
}

impl Signal {
    /// Sets the flag and wakes all waiting tasks. Later calls do nothing. Returns `true` for the first call.
    pub(crate) fn fire(&self) -> bool {
        if self.fired.swap(true, Ordering::SeqCst) {
            return false;
        }
        let waiting = std::mem::take(&mut self.lock().wakers);
        for (_, waker) in waiting {
            waker.wake();
        }
        true
    }

    pub(crate) fn is_fired(&self) -> bool {
        self.fired.load(Ordering::SeqCst)
    }

    /// Is ready when the flag is set. Wakers are kept as long as the signal, so futures with a shorter life use [`Fired`].
    pub(crate) fn poll_fired(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_as(0, cx)
    }

    fn poll_as(&self, key: u64, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_fired() {
            return Poll::Ready(());
        }
        let mut waiting = self.lock();
        match waiting
            .wakers
            .iter_mut()
            .find(|(taken, waker)| *taken == key && (key != 0 || waker.will_wake(cx.waker())))
        {
            Some((_, waker)) => waker.clone_from(cx.waker()),
            None => waiting.wakers.push((key, cx.waker().clone())),
        }
        drop(waiting);
        // `fire` may have emptied the list between the two checks of the flag.
        if self.is_fired() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Wakers are cloned, never woken, under the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Completes when a signal of a shared owner is fired. When it is dropped, it removes its waker.
#[derive(Debug)]
pub(crate) struct Fired<T: ?Sized> {
    owner: Arc<T>,
    signal: fn(&T) -> &Signal,
    /// The key of the registration, and its waker.
    registered: Option<(u64, Waker)>,
}

impl<T: ?Sized> Fired<T> {
    pub(crate) fn new(owner: Arc<T>, signal: fn(&T) -> &Signal) -> Self {
        Self {
            owner,
            signal,
            registered: None,
        }
    }
}

impl<T: ?Sized> Future for Fired<T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let signal = (this.signal)(&this.owner);
        let key = match &this.registered {
            // Loops poll this often, so it takes no lock while nothing changes.
            Some((_, waker)) if waker.will_wake(cx.waker()) && !signal.is_fired() => {
                return Poll::Pending;
            }
            Some((key, _)) => *key,
            None if signal.is_fired() => return Poll::Ready(()),
            None => {
                // A new key is not in the list, so it is not searched for, however many wait.
                let mut waiting = signal.lock();
                waiting.last_key += 1;
                let key = waiting.last_key;
                waiting.wakers.push((key, cx.waker().clone()));
                drop(waiting);
                this.registered = Some((key, cx.waker().clone()));
                // `fire` may have emptied the list before.
                return match signal.is_fired() {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                };
            }
        };
        this.registered = Some((key, cx.waker().clone()));
        signal.poll_as(key, cx)
    }
}

impl<T: ?Sized> Drop for Fired<T> {
    fn drop(&mut self) {
        let Some((key, _)) = self.registered else {
            return;
        };
        let mut waiting = (self.signal)(&self.owner).lock();
        if let Some(at) = waiting.wakers.iter().position(|(taken, _)| *taken == key) {
            waiting.wakers.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not [`Waker::noop`]: `will_wake` does not have to be true for its clones.
    struct Nobody;

    impl std::task::Wake for Nobody {
        fn wake(self: Arc<Self>) {}
    }

    #[test]
    fn waiters_leave_nothing_behind() {
        let signal = Arc::new(Signal::default());
        let waker = Waker::from(Arc::new(Nobody));
        let mut cx = Context::from_waker(&waker);
        let mut waiters: Vec<_> = (0..3)
            .map(|_| Fired::new(signal.clone(), |signal| signal))
            .collect();
        for waiter in &mut waiters {
            assert!(Pin::new(waiter).poll(&mut cx).is_pending());
        }
        assert!(signal.poll_fired(&mut cx).is_pending() && signal.poll_fired(&mut cx).is_pending());
        assert_eq!(signal.lock().wakers.len(), 4);
        let mut kept = waiters.remove(1);
        drop(waiters);
        assert_eq!(signal.lock().wakers.len(), 2);
        signal.fire();
        assert!(
            Pin::new(&mut kept).poll(&mut cx).is_ready() && signal.poll_fired(&mut cx).is_ready()
        );
    }
}
