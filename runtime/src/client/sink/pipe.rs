//! The writer of a connection, which the task that writes the queue shares with those that write without it. It is polled by the one
//! that has taken it out, never under the lock: it is the caller's code, and may call the client.

use std::{
    fmt, io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use tokio::{io::AsyncWrite, sync::Notify};

use crate::contained::contained;

/// What the log calls the writer.
const WRITER: &str = "the writer of a connection";

pub(super) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Where lines are written to, and whether that is free.
#[derive(Default)]
pub(super) struct Pipe {
    /// `None` while something is written, when the task has ended, and if messages are not written as lines.
    writer: Option<Writer>,
    /// What is left of a message that was written at once. It leaves before what is queued.
    pub(super) rest: Vec<u8>,
    /// How many messages the task has not written yet. What is written at once must not overtake them.
    pub(super) queued: usize,
    /// The task has ended: the writer is dropped by the one that has it.
    has_ended: bool,
}

/// A pipe that several write to, one at a time.
#[derive(Default)]
pub(super) struct SharedPipe {
    pipe: Mutex<Pipe>,
    /// Notified when the writer is put back while messages wait for the task.
    put_back: Notify,
}

impl SharedPipe {
    pub(super) fn new(writer: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let pipe = Pipe {
            writer: Some(Box::new(Contained(Some(writer)))),
            ..Pipe::default()
        };
        Self {
            pipe: Mutex::new(pipe),
            put_back: Notify::new(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Pipe> {
        // Nothing that can panic runs under the lock.
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the writer out if nothing is written and nothing waits to be.
    pub(super) fn take_idle(&self) -> Option<Writer> {
        let mut pipe = self.lock();
        match pipe.queued {
            0 => pipe.writer.take(),
            _ => None,
        }
    }

    /// Puts back what [`take_idle`](Self::take_idle) took out.
    pub(super) fn put_back(&self, writer: Writer) {
        let mut pipe = self.lock();
        if pipe.has_ended {
            drop(pipe);
            return drop(writer);
        }
        pipe.writer = Some(writer);
        if pipe.queued > 0 {
            drop(pipe);
            self.put_back.notify_one();
        }
    }
}

/// The task's hold on the pipe: it is dropped with the task, and the writer with it.
pub(super) struct PipeOwner(pub(super) Arc<SharedPipe>);

impl PipeOwner {
    /// Takes the writer out once nothing else writes, and what is to be written before the queue.
    pub(super) async fn take(&self) -> (Writer, Vec<u8>) {
        loop {
            {
                let mut pipe = self.0.lock();
                if let Some(writer) = pipe.writer.take() {
                    return (writer, std::mem::take(&mut pipe.rest));
                }
            }
            self.0.put_back.notified().await;
        }
    }

    /// Gives the writer back after it has written `messages`.
    pub(super) fn give_back(&self, writer: Writer, messages: usize) {
        let mut pipe = self.0.lock();
        pipe.writer = Some(writer);
        pipe.queued -= messages;
    }
}

impl Drop for PipeOwner {
    fn drop(&mut self) {
        let writer = {
            let mut pipe = self.0.lock();
            pipe.has_ended = true;
            pipe.writer.take()
        };
        drop(writer);
    }
}

/// The error of a writer that panicked.
#[derive(Debug)]
pub(in crate::client) struct WriterPanicked;

impl WriterPanicked {
    /// Whether that is what `error` is about.
    pub(in crate::client) fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|error| error.is::<Self>())
    }
}

impl fmt::Display for WriterPanicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{WRITER} panicked")
    }
}

impl std::error::Error for WriterPanicked {}

/// A writer whose panics, at its drop as well, are errors. One that panicked is not polled again.
struct Contained<W>(Option<W>);

impl<W: AsyncWrite + Unpin> Contained<W> {
    fn poll<T>(
        &mut self,
        poll: impl FnOnce(Pin<&mut W>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let polled = match &mut self.0 {
            Some(writer) => contained(WRITER, || poll(Pin::new(writer))),
            None => None,
        };
        polled.unwrap_or_else(|| {
            self.end();
            Poll::Ready(Err(io::Error::other(WriterPanicked)))
        })
    }
}

impl<W> Contained<W> {
    fn end(&mut self) {
        let writer = self.0.take();
        contained(WRITER, move || drop(writer));
    }
}

impl<W> Drop for Contained<W> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Contained<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll(|writer| writer.poll_write(cx, bytes))
            .map(|written| match written {
                // What is left of the message would be before its beginning.
                Ok(count) if count > bytes.len() => Err(io::Error::other(format!(
                    "{WRITER} took {count} of {} bytes",
                    bytes.len()
                ))),
                written => written,
            })
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(|writer| writer.poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(|writer| writer.poll_shutdown(cx))
    }
}
