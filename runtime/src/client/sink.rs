//! What leaves for the server: one queue, and the task that writes it.
//!
//! Requests and notifications are the caller's own, and as many as it makes. Answers the server causes: one that asks and
//! does not read its input cannot make the client queue responses without end.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};

use crate::gate::Outgoing;

/// Most bytes of answers that wait for a server to read them: 8 MiB. While more wait, further requests of the server are
/// not answered.
pub(super) const MOST_UNREAD: usize = 8 << 20;

/// The queue to the server.
pub(super) struct MessageSink {
    queue: mpsc::UnboundedSender<Message>,
    unread: Arc<Unread>,
}

struct Message {
    message: Outgoing,
    is_answer: bool,
}

/// The answers that wait.
#[derive(Default)]
struct Unread {
    bytes: AtomicUsize,
    /// Whether the log says already that there are too many.
    told: AtomicBool,
}

/// The other end was closed.
pub(super) struct Closed;

impl MessageSink {
    /// A queue, and what writes it.
    pub(super) fn new<W: AsyncWrite + Unpin>(
        writer: W,
    ) -> (Self, impl Future<Output = ()> + use<W>) {
        let (queue, messages) = mpsc::unbounded_channel();
        let unread = Arc::<Unread>::default();
        let sink = Self {
            queue,
            unread: unread.clone(),
        };
        (sink, write(writer, messages, unread))
    }

    /// Sends a request or a notification.
    pub(super) fn send(&self, message: Outgoing) -> Result<(), Closed> {
        let is_answer = false;
        self.push(Message { message, is_answer })
    }

    /// Sends an answer, unless too many wait.
    pub(super) fn answer(&self, message: Outgoing) -> Result<(), Closed> {
        let unread = &self.unread;
        if unread.bytes.load(Ordering::Relaxed) > MOST_UNREAD {
            if !unread.told.swap(true, Ordering::Relaxed) {
                tracing::warn!("the server does not read its answers; they are no longer sent");
            }
            return Ok(());
        }
        unread
            .bytes
            .fetch_add(message.bytes().len(), Ordering::Relaxed);
        let is_answer = true;
        self.push(Message { message, is_answer })
    }

    fn push(&self, message: Message) -> Result<(), Closed> {
        self.queue.send(message).map_err(|_| Closed)
    }
}

async fn write(
    mut writer: impl AsyncWrite + Unpin,
    mut messages: mpsc::UnboundedReceiver<Message>,
    unread: Arc<Unread>,
) {
    let mut batch = Vec::new();
    while let Some(message) = messages.recv().await {
        batch.clear();
        let mut answers = append(&mut batch, &message);
        while let Ok(message) = messages.try_recv() {
            answers += append(&mut batch, &message);
        }
        if let Err(error) = write_batch(&mut writer, &batch).await {
            tracing::debug!(%error, "the connection to the server failed");
            return;
        }
        unread.bytes.fetch_sub(answers, Ordering::Relaxed);
        unread.told.store(false, Ordering::Relaxed);
    }
    // The server may be gone already.
    let _ = writer.shutdown().await;
}

async fn write_batch(writer: &mut (impl AsyncWrite + Unpin), batch: &[u8]) -> io::Result<()> {
    writer.write_all(batch).await?;
    writer.flush().await
}

/// How many bytes of it are an answer.
fn append(batch: &mut Vec<u8>, message: &Message) -> usize {
    let bytes = message.message.bytes();
    batch.extend_from_slice(bytes);
    batch.push(b'\n');
    match message.is_answer {
        true => bytes.len(),
        false => 0,
    }
}
