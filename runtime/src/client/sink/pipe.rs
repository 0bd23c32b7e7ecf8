//! The writer of a connection, which the task that writes the queue shares with those that write without it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::AsyncWrite;

pub(super) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Where lines are written to, and whether that is free.
#[derive(Default)]
pub(super) struct Pipe {
    /// `None` while the task writes, when it has ended, and if messages are not written as lines.
    pub(super) writer: Option<Writer>,
    /// How many messages the task has not written yet. What is written at once must not overtake them.
    pub(super) queued: usize,
}

/// The task's hold on the pipe: it is dropped with the task, and the writer with it.
pub(super) struct PipeOwner(pub(super) Arc<Mutex<Pipe>>);

impl PipeOwner {
    pub(super) fn take(&self) -> Option<Writer> {
        lock(&self.0).writer.take()
    }

    /// Gives the writer back after it has written `messages`.
    pub(super) fn give_back(&self, writer: Writer, messages: usize) {
        let mut pipe = lock(&self.0);
        pipe.writer = Some(writer);
        pipe.queued -= messages;
    }
}

impl Drop for PipeOwner {
    fn drop(&mut self) {
        let writer = self.take();
        drop(writer);
    }
}

pub(super) fn lock(pipe: &Mutex<Pipe>) -> MutexGuard<'_, Pipe> {
    // A writer that panics under the lock is gone.
    pipe.lock().unwrap_or_else(PoisonError::into_inner)
}
