//! What leaves for the server: one queue, and the task that writes it.
//!
//! Requests wait for room in the queue, and notifications that find none are refused. Answers the server causes: one that asks
//! and does not read its input cannot make the client queue responses without end.

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
    sync::{Notify, mpsc},
};

use crate::{gate::ToServer, transport::patience::Patience};

/// Most bytes of answers that wait for a server to read them: 8 MiB. While more wait, further requests of the server are
/// not answered.
pub(super) const MOST_UNREAD: usize = 8 << 20;

/// While this many bytes wait for a server to read them, requests wait and notifications are refused: 8 MiB.
pub(super) const MOST_UNSENT: usize = 8 << 20;

/// The queue to the server.
pub(super) struct ClientSink {
    queue: mpsc::UnboundedSender<SinkMessage>,
    unread: Arc<UnreadAnswers>,
    room: Arc<Room>,
}

/// How much of the queue is taken.
#[derive(Debug, Default)]
pub(super) struct Room {
    waiting: AtomicUsize,
    made: Notify,
    /// Nothing is written any more.
    closed: AtomicBool,
}

impl Room {
    /// How many bytes wait, if no more may.
    pub(super) fn is_full(&self) -> Option<usize> {
        let waiting = self.waiting.load(Ordering::Relaxed);
        (waiting >= MOST_UNSENT && !self.closed.load(Ordering::Relaxed)).then_some(waiting)
    }

    /// Waits until there is room, or nothing is written any more.
    #[cold]
    pub(super) async fn made(&self) {
        while self.is_full().is_some() {
            self.made.notified().await;
        }
        // What this one leaves is the next one's.
        self.made.notify_one();
    }

    fn take(&self, bytes: usize) {
        self.waiting.fetch_add(bytes, Ordering::Relaxed);
    }

    fn give_back(&self, bytes: usize) {
        if self.waiting.fetch_sub(bytes, Ordering::Relaxed) >= MOST_UNSENT {
            self.made.notify_one();
        }
    }
}

/// Lets those go who wait for room, when nothing is written any more.
struct Closing(Arc<Room>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::Relaxed);
        self.0.made.notify_one();
    }
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

/// The messages of a queue that are not written as lines.
#[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
pub(super) struct Outbox {
    messages: mpsc::UnboundedReceiver<SinkMessage>,
    unread: Arc<UnreadAnswers>,
    closing: Closing,
}

#[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
impl Outbox {
    /// The next message; `None` when the client sends nothing more. It counts among those that wait until what comes with it is
    /// dropped.
    pub(super) async fn next(&mut self) -> Option<(Vec<u8>, Unsent)> {
        let SinkMessage { message, is_answer } = self.messages.recv().await?;
        let message = message.bytes().to_vec();
        let unsent = Unsent {
            bytes: message.len(),
            counts: match is_answer {
                true => Counts::Answers(self.unread.clone()),
                false => Counts::Requests(self.closing.0.clone()),
            },
        };
        Some((message, unsent))
    }
}

/// Gives back, when it is dropped, the room that a message took.
#[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
pub(super) struct Unsent {
    bytes: usize,
    counts: Counts,
}

#[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
enum Counts {
    Requests(Arc<Room>),
    Answers(Arc<UnreadAnswers>),
}

#[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
impl Drop for Unsent {
    fn drop(&mut self) {
        match &self.counts {
            Counts::Requests(room) => room.give_back(self.bytes),
            Counts::Answers(unread) => {
                unread.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
                unread.reported.store(false, Ordering::Relaxed);
            }
        }
    }
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
        let room = Arc::<Room>::default();
        let sink = Self {
            queue,
            unread: unread.clone(),
            room: room.clone(),
        };
        let writer = Patient {
            writer,
            patience: Patience::new(write_timeout),
        };
        (sink, write(writer, messages, unread, Closing(room)))
    }

    /// Room for requests and notifications.
    pub(super) fn room(&self) -> &Arc<Room> {
        &self.room
    }

    /// A queue whose messages are taken one by one.
    #[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
    pub(super) fn queue() -> (Self, Outbox) {
        let (queue, messages) = mpsc::unbounded_channel();
        let unread = Arc::<UnreadAnswers>::default();
        let room = Arc::<Room>::default();
        let outbox = Outbox {
            messages,
            unread: unread.clone(),
            closing: Closing(room.clone()),
        };
        let sink = Self {
            queue,
            unread,
            room,
        };
        (sink, outbox)
    }

    /// Sends a request or a notification.
    pub(super) fn send(&self, message: ToServer) -> Result<(), Closed> {
        let is_answer = false;
        self.room.take(message.bytes().len());
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
    closing: Closing,
) -> io::Result<()> {
    let mut batch = Vec::new();
    while let Some(message) = messages.recv().await {
        batch.clear();
        let (mut answers, mut messages_in_all) = (append(&mut batch, &message), 1);
        while let Ok(message) = messages.try_recv() {
            answers += append(&mut batch, &message);
            messages_in_all += 1;
        }
        writer.write_batch(&batch).await?;
        // Each message has a line end.
        let requests = batch.len() - messages_in_all - answers;
        closing.0.give_back(requests);
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
