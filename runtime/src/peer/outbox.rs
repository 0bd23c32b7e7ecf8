//! Outgoing messages that are not responses: progress, log messages, list changes, server requests.
//!
//! A bounded queue with one reader. Knows neither tokio nor a transport; the transport that writes the bytes polls it.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use crate::gate::Outgoing;

/// Most messages that wait in one outbox. Beyond it what may be lost (progress, log messages) is, and the rest is
/// refused to the sender.
pub const OUTBOX_LIMIT: usize = 1024;

/// A bounded queue of encoded messages.
pub(crate) struct Outbox {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Outgoing>,
    reader: Option<Waker>,
    closed: bool,
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Too many messages wait already.
    Full,
    /// The reader of this outbox has gone.
    Closed,
}

impl Outbox {
    pub(crate) const fn new() -> Self {
        Self {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                reader: None,
                closed: false,
            }),
        }
    }

    /// Appends `message`.
    pub(crate) fn push(&self, message: Outgoing) -> Result<(), Refused> {
        let mut state = self.lock();
        if state.closed {
            return Err(Refused::Closed);
        }
        if state.queue.len() >= OUTBOX_LIMIT {
            return Err(Refused::Full);
        }
        state.queue.push_back(message);
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
        Ok(())
    }

    /// Appends `message` unless the last one that waits says the same: a peer that does not read costs nothing more.
    pub(crate) fn push_new(&self, message: Outgoing) -> Result<(), Refused> {
        let says_the_same = |last: &Outgoing| last.bytes() == message.bytes();
        if self.lock().queue.back().is_some_and(says_the_same) {
            return Ok(());
        }
        self.push(message)
    }

    /// The next message; `None` once closed and empty. One reader at a time.
    pub(crate) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Outgoing>> {
        let mut state = self.lock();
        match state.queue.pop_front() {
            Some(message) => Poll::Ready(Some(message)),
            None if state.closed => Poll::Ready(None),
            None => {
                if !state
                    .reader
                    .as_ref()
                    .is_some_and(|reader| reader.will_wake(cx.waker()))
                {
                    state.reader = Some(cx.waker().clone());
                }
                Poll::Pending
            }
        }
    }

    /// The next message that is there already.
    pub(crate) fn try_next(&self) -> Option<Outgoing> {
        self.lock().queue.pop_front()
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().queue.is_empty()
    }

    /// Refuses all later messages; those that wait can still be read.
    pub(crate) fn close(&self) {
        let reader = {
            let mut state = self.lock();
            state.closed = true;
            state.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock, so a poisoned one still holds a whole queue.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Outbox")
            .field("waiting", &state.queue.len())
            .field("closed", &state.closed)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_ordered_closable() {
        let message = |text: &str| Outgoing::unchecked(text.as_bytes().to_vec());
        let outbox = Outbox::new();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(outbox.poll_next(&mut cx).is_pending());
        for i in 0..OUTBOX_LIMIT {
            outbox.push(message(&i.to_string())).unwrap();
        }
        assert_eq!(outbox.push(message("")), Err(Refused::Full));
        assert_eq!(outbox.try_next().unwrap().bytes(), b"0");
        outbox.close();
        assert_eq!(outbox.push(message("")), Err(Refused::Closed));
        let next = outbox.poll_next(&mut cx);
        assert!(matches!(next, Poll::Ready(Some(next)) if next.bytes() == b"1"));
        while outbox.try_next().is_some() {}
        assert!(matches!(outbox.poll_next(&mut cx), Poll::Ready(None)));
    }
}
