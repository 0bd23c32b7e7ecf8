//! What leaves for the server: one queue, and the task that writes it.
//!
//! Requests and notifications are the caller's own, and as many as it makes. Answers the server causes: one that asks and
//! does not read its input cannot make the client queue responses without end.

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};

use crate::{gate::ToServer, transport::patience::Patience};

/// Most bytes of answers that wait for a server to read them: 8 MiB. While more wait, further requests of the server are
/// not answered.
pub(super) const MOST_UNREAD: usize = 8 << 20;

/// The queue to the server.
pub(super) struct ClientSink {
    queue: mpsc::UnboundedSender<SinkMessage>,
    unread: Arc<UnreadAnswers>,
}

struct SinkMessage {
    message: ToServer,
    is_answer: bool,
}

/// The answers that wait.
#[derive(Default)]
struct UnreadAnswers {
    bytes: AtomicUsize,
    /// Whether the log says already that there are too many.
    reported: AtomicBool,
}

/// The other end was closed.
pub(super) struct Closed;

impl ClientSink {
    /// A queue, and what writes it. That fails if the server takes nothing for `write_timeout`.
    pub(super) fn new<W: AsyncWrite + Unpin>(
        writer: W,
        write_timeout: Duration,
    ) -> (Self, impl Future<Output = io::Result<()>> + use<W>) {
        let (queue, messages) = mpsc::unbounded_channel();
        let unread = Arc::<UnreadAnswers>::default();
        let sink = Self {
            queue,
            unread: unread.clone(),
        };
        let writer = Patient {
            writer,
            patience: Patience::new(write_timeout),
        };
        (sink, write(writer, messages, unread))
    }

    /// Sends a request or a notification.
    pub(super) fn send(&self, message: ToServer) -> Result<(), Closed> {
        let is_answer = false;
        self.push(SinkMessage { message, is_answer })
    }

    /// Sends an answer, unless too many wait.
    pub(super) fn answer(&self, message: ToServer) -> Result<(), Closed> {
        let unread = &self.unread;
        if unread.bytes.load(Ordering::Relaxed) > MOST_UNREAD {
            if !unread.reported.swap(true, Ordering::Relaxed) {
                tracing::warn!("the server does not read its answers; they are no longer sent");
            }
            return Ok(());
        }
        unread
            .bytes
            .fetch_add(message.bytes().len(), Ordering::Relaxed);
        let is_answer = true;
        self.push(SinkMessage { message, is_answer })
    }

    fn push(&self, message: SinkMessage) -> Result<(), Closed> {
        self.queue.send(message).map_err(|_| Closed)
    }
}

/// A writer with bounded patience for a server that does not read.
struct Patient<W> {
    writer: W,
    patience: Patience,
}

impl<W: AsyncWrite + Unpin> Patient<W> {
    async fn write_batch(&mut self, batch: &[u8]) -> io::Result<()> {
        let mut written = 0;
        poll_fn(|cx| self.poll_batch(batch, &mut written, cx)).await
    }

    /// Writes what is left of `batch`, of which `written` bytes are gone, and flushes it.
    fn poll_batch(
        &mut self,
        batch: &[u8],
        written: &mut usize,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let before = *written;
        let progress = self.poll_all(batch, written, cx);
        if progress.is_ready() || *written != before {
            self.patience.renew();
        }
        match progress {
            Poll::Pending => self.patience.poll_over(cx).map(Err),
            ready @ Poll::Ready(_) => ready,
        }
    }

    fn poll_all(
        &mut self,
        batch: &[u8],
        written: &mut usize,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while *written < batch.len() {
            match ready!(Pin::new(&mut self.writer).poll_write(cx, &batch[*written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => *written += count,
            }
        }
        Pin::new(&mut self.writer).poll_flush(cx)
    }
}

async fn write(
    mut writer: Patient<impl AsyncWrite + Unpin>,
    mut messages: mpsc::UnboundedReceiver<SinkMessage>,
    unread: Arc<UnreadAnswers>,
) -> io::Result<()> {
    let mut batch = Vec::new();
    while let Some(message) = messages.recv().await {
        batch.clear();
        let mut answers = append(&mut batch, &message);
        while let Ok(message) = messages.try_recv() {
            answers += append(&mut batch, &message);
        }
        writer.write_batch(&batch).await?;
        unread.bytes.fetch_sub(answers, Ordering::Relaxed);
        unread.reported.store(false, Ordering::Relaxed);
    }
    // The server may be gone already.
    let _ = writer.writer.shutdown().await;
    Ok(())
}

/// How many bytes of it are an answer.
fn append(batch: &mut Vec<u8>, message: &SinkMessage) -> usize {
    let bytes = message.message.bytes();
    batch.extend_from_slice(bytes);
    batch.push(b'\n');
    match message.is_answer {
        true => bytes.len(),
        false => 0,
    }
}
