//! Messages that wait for a slow or absent reader. Their number and their bytes are limited; beyond the limit the oldest are lost.
//!
//! Does not know the contents of the messages.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// Most messages that wait for one reader.
const KEPT: usize = 1024;
/// Most bytes of messages that wait for one reader: 8 MiB. The newest message waits whatever its size, which
/// [`ClientOptions::max_message`](super::ClientOptions::max_message) bounds.
const KEPT_BYTES: usize = 8 << 20;

/// What can wait.
pub(super) trait Weighs {
    /// Size in bytes, or near it.
    fn bytes(&self) -> usize;
}

/// Messages that wait for one reader.
pub(super) struct Mailbox<T> {
    state: Mutex<MailboxState<T>>,
    arrived: Notify,
    /// What the log calls the messages, if it reports those that are lost.
    named: Option<&'static str>,
}

struct MailboxState<T> {
    waiting: VecDeque<T>,
    bytes: usize,
    /// How many were lost since the reader last took one.
    lost: u64,
    closed: bool,
}

impl<T: Weighs> Mailbox<T> {
    /// Without messages. The log reports, once until it is read again, that messages called `named` are lost.
    pub(super) fn new(named: Option<&'static str>) -> Self {
        let state = MailboxState {
            waiting: VecDeque::new(),
            bytes: 0,
            lost: 0,
            closed: false,
        };
        Self {
            state: Mutex::new(state),
            arrived: Notify::new(),
            named,
        }
    }

    /// Adds a message, in place of the oldest ones if there are too many.
    pub(super) fn put(&self, message: T) {
        let mut dropped = Vec::new();
        let mut state = self.lock();
        if state.closed {
            return;
        }
        let had_lost = state.lost;
        state.bytes += message.bytes();
        state.waiting.push_back(message);
        while state.waiting.len() > KEPT || (state.bytes > KEPT_BYTES && state.waiting.len() > 1) {
            let Some(oldest) = state.waiting.pop_front() else {
                break;
            };
            state.bytes -= oldest.bytes();
            state.lost += 1;
            dropped.push(oldest);
        }
        let begins_to_lose = had_lost == 0 && state.lost > 0;
        drop(state);
        if let (true, Some(named)) = (begins_to_lose, self.named) {
            tracing::warn!("{named} are not read in time; the oldest are lost");
        }
        self.arrived.notify_one();
    }

    /// A message that is there already.
    pub(super) fn try_take(&self) -> Option<T> {
        self.taken(&mut self.lock())
    }

    /// The oldest message; `None` once there are none and the mailbox is closed.
    pub(super) async fn take(&self) -> Option<T> {
        loop {
            let arrived = self.arrived.notified();
            {
                let mut state = self.lock();
                match self.taken(&mut state) {
                    Some(message) => return Some(message),
                    None if state.closed => return None,
                    None => {}
                }
            }
            arrived.await;
        }
    }

    /// Takes nothing more. What waits can still be read.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_waiters();
        self.arrived.notify_one();
    }

    fn taken(&self, state: &mut MailboxState<T>) -> Option<T> {
        let message = state.waiting.pop_front()?;
        state.bytes -= message.bytes();
        let lost = std::mem::take(&mut state.lost);
        if let (true, Some(named)) = (lost > 0, self.named) {
            tracing::warn!(lost, "{named} were not read in time");
        }
        Some(message)
    }

    fn lock(&self) -> MutexGuard<'_, MailboxState<T>> {
        // Nothing that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Weighs for String {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl<T> fmt::Debug for Mailbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox")
            .field("named", &self.named)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(mailbox: &Mailbox<String>) -> Vec<usize> {
        std::iter::from_fn(|| mailbox.try_take())
            .map(|message| message.len())
            .collect()
    }

    #[test]
    fn the_oldest_are_lost() {
        let mailbox = Mailbox::new(None);
        for size in 0..KEPT + 3 {
            mailbox.put("x".repeat(size));
        }
        let left = sizes(&mailbox);
        assert_eq!((left.len(), left[0]), (KEPT, 3));
        for size in [KEPT_BYTES / 2, KEPT_BYTES / 2, 1] {
            mailbox.put("x".repeat(size));
        }
        assert_eq!(sizes(&mailbox), [KEPT_BYTES / 2, 1]);
        for size in [1, KEPT_BYTES + 1] {
            mailbox.put("x".repeat(size));
        }
        assert_eq!(sizes(&mailbox), [KEPT_BYTES + 1], "the newest always waits");
        let halves = [KEPT_BYTES / 2; 2];
        for size in halves {
            mailbox.put("x".repeat(size));
        }
        assert_eq!(sizes(&mailbox), halves, "what was taken weighs nothing");
    }

    #[tokio::test]
    async fn what_waits_outlives_the_end() {
        let mailbox = Mailbox::new(None);
        mailbox.put("a".to_owned());
        mailbox.close();
        mailbox.put("b".to_owned());
        assert_eq!(mailbox.take().await.as_deref(), Some("a"));
        assert_eq!(mailbox.take().await, None);
    }
}
