//! Events on their way from the task that writes them to the one connection that reads them.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;

/// Most events that wait for a slow reader; beyond it writes fail.
pub const PIPE_LIMIT: usize = 1024;

/// Most bytes that wait for a slow reader: 4 MiB, or one event if that is larger.
pub const PIPE_BYTES: usize = 4 << 20;

/// A bounded queue with one reader.
#[derive(Debug, Default)]
pub(super) struct Pipe(Mutex<PipeState>);

#[derive(Debug, Default)]
struct PipeState {
    queue: VecDeque<Bytes>,
    bytes: usize,
    reader: Option<Waker>,
    /// The task that waits until there is room.
    writer: Option<Waker>,
    ended: bool,
    abandoned: bool,
}

/// Why an event was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// The reader is too slow.
    Full,
    /// The reader is gone, or the stream was ended.
    Gone,
}

impl Pipe {
    /// Appends `event`.
    pub(super) fn push(&self, event: Bytes) -> Result<(), NotTaken> {
        let mut state = self.lock();
        if state.ended || state.abandoned {
            return Err(NotTaken::Gone);
        }
        if !state.has_room_for(event.len()) {
            return Err(NotTaken::Full);
        }
        state.append(event);
        wake(state);
        Ok(())
    }

    /// Appends `event` even if the pipe is full: the last event of a stream is not dropped.
    pub(super) fn push_last(&self, event: Bytes) {
        let mut state = self.lock();
        if !state.ended && !state.abandoned {
            state.append(event);
            wake(state);
        }
    }

    /// Ends the stream. The reader gets what waits, then the end.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        let writer = state.writer.take();
        wake(state);
        if let Some(writer) = writer {
            writer.wake();
        }
    }

    /// Notes that the reader is gone.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        state.abandoned = true;
        state.queue = VecDeque::new();
        state.bytes = 0;
        wake_writer(state);
    }

    /// Is ready when the reader is gone. The task that waits for room waits for this as well.
    pub(super) fn poll_abandoned(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.abandoned {
            return Poll::Ready(());
        }
        state.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Is ready when there is room for a small event, or the reader is gone. One task at a time waits.
    pub(super) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.ended || state.abandoned || state.has_room_for(1) {
            return Poll::Ready(());
        }
        state.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Returns the next event; `None` at the end.
    pub(super) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.lock();
        match state.queue.pop_front() {
            Some(event) => {
                state.bytes -= event.len();
                wake_writer(state);
                Poll::Ready(Some(event))
            }
            None if state.ended => Poll::Ready(None),
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, PipeState> {
        // No code that can panic runs under the lock, so a poisoned one still holds a whole queue.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PipeState {
    fn has_room_for(&self, bytes: usize) -> bool {
        self.queue.is_empty() || self.queue.len() < PIPE_LIMIT && self.bytes + bytes <= PIPE_BYTES
    }

    fn append(&mut self, event: Bytes) {
        self.bytes += event.len();
        self.queue.push_back(event);
    }
}

fn wake_writer(mut state: MutexGuard<'_, PipeState>) {
    let writer = state.writer.take();
    drop(state);
    if let Some(writer) = writer {
        writer.wake();
    }
}

fn wake(mut state: MutexGuard<'_, PipeState>) {
    let reader = state.reader.take();
    drop(state);
    if let Some(reader) = reader {
        reader.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(pipe: &Pipe) -> Poll<Option<Bytes>> {
        pipe.poll_next(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn ordered_and_ended() {
        let pipe = Pipe::default();
        assert_eq!(next(&pipe), Poll::Pending);
        assert_eq!(pipe.push("a".into()), Ok(()));
        pipe.push_last("b".into());
        pipe.end();
        assert_eq!(pipe.push("c".into()), Err(NotTaken::Gone));
        assert_eq!(next(&pipe), Poll::Ready(Some("a".into())));
        assert_eq!(next(&pipe), Poll::Ready(Some("b".into())));
        assert_eq!(next(&pipe), Poll::Ready(None));
    }

    // Y-6
    #[test]
    fn bounded_by_events_and_by_bytes() {
        let pipe = Pipe::default();
        for _ in 0..PIPE_LIMIT {
            assert_eq!(pipe.push("x".into()), Ok(()));
        }
        assert_eq!(pipe.push("x".into()), Err(NotTaken::Full));
        pipe.push_last("answer".into());

        let pipe = Pipe::default();
        let large = Bytes::from(vec![b'x'; PIPE_BYTES + 1]);
        assert_eq!(
            pipe.push(large.clone()),
            Ok(()),
            "one event passes, however large"
        );
        assert_eq!(pipe.push("x".into()), Err(NotTaken::Full));
        assert_eq!(next(&pipe), Poll::Ready(Some(large)));
        assert_eq!(pipe.push("x".into()), Ok(()));
    }

    #[test]
    fn an_abandoned_pipe_keeps_nothing() {
        let pipe = Pipe::default();
        assert_eq!(pipe.push("x".into()), Ok(()));
        pipe.abandon();
        assert_eq!(pipe.push("x".into()), Err(NotTaken::Gone));
        pipe.push_last("x".into());
        assert!(pipe.lock().queue.is_empty());
    }
}
