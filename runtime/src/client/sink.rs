//! What leaves for the server: one queue, and the task that writes it. A message that is alone is written at once, without either.
//! Writers are the caller's code: they are polled without a lock, and a panic of one ends the connection as an error does.
//!
//! Requests wait for room in the queue. Notifications are refused if the queue has no room. Responses have a limit of their own: a server
//! that sends requests and does not read its input cannot make the client queue responses without end.

mod pipe;

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::{Notify, mpsc},
};

use self::pipe::{Pipe, PipeOwner, SharedPipe, Writer};
use crate::{gate::ToServer, transport::patience::Patience};

pub(super) use self::pipe::WriterPanicked;

/// Most bytes of answers that wait for a server to read them: 8 MiB. While more wait, further requests of the server are
/// not answered.
pub(super) const MOST_UNREAD: usize = 8 << 20;

/// While this many bytes wait for a server to read them, requests wait and notifications are refused: 8 MiB.
pub(super) const MOST_UNSENT: usize = 8 << 20;

/// The queue to the server.
pub(super) struct ClientSink {
    queue: mpsc::UnboundedSender<SinkMessage>,
    pipe: Arc<SharedPipe>,
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

/// Wakes all that wait for room, because nothing is written any more.
struct Closing(Arc<Room>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.closed.store(true, Ordering::Relaxed);
        self.0.made.notify_one();
    }
}

struct SinkMessage {
    /// The message and a line end.
    line: Vec<u8>,
    is_answer: bool,
    /// How many bytes of the line are written.
    written: usize,
}

impl SinkMessage {
    fn new(message: ToServer, is_answer: bool) -> Self {
        Self {
            line: message.into_line(),
            is_answer,
            written: 0,
        }
    }

    /// How many bytes the message has.
    fn len(&self) -> usize {
        self.line.len() - 1
    }

    /// Writes as much of the line as `writer` takes now. Returns whether that is all of it. What fails is for the task to find out.
    fn write_now(&mut self, writer: &mut Writer) -> bool {
        // Nothing is woken: what is left goes to the task, which polls the writer again.
        let mut cx = Context::from_waker(Waker::noop());
        while self.written < self.line.len() {
            match Pin::new(&mut *writer).poll_write(&mut cx, &self.line[self.written..]) {
                Poll::Ready(Ok(count)) if count > 0 => self.written += count,
                _ => return false,
            }
        }
        matches!(Pin::new(writer).poll_flush(&mut cx), Poll::Ready(Ok(())))
    }

    /// What is not written yet. It counts as written from now on.
    fn take_rest(&mut self) -> Vec<u8> {
        let rest = self.line[self.written..].to_vec();
        self.written = self.line.len();
        rest
    }
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
        let sent = self.messages.recv().await?;
        let unsent = Unsent {
            bytes: sent.len(),
            counts: match sent.is_answer {
                true => Counts::Answers(self.unread.clone()),
                false => Counts::Requests(self.closing.0.clone()),
            },
        };
        let mut message = sent.line;
        message.pop();
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
    pub(super) fn new<W: AsyncWrite + Send + Unpin + 'static>(
        writer: W,
        write_timeout: Duration,
    ) -> (Self, impl Future<Output = io::Result<()>> + use<W>) {
        let (queue, messages) = mpsc::unbounded_channel();
        let unread = Arc::<UnreadAnswers>::default();
        let room = Arc::<Room>::default();
        let pipe = Arc::new(SharedPipe::new(writer));
        let sink = Self {
            queue,
            pipe: pipe.clone(),
            unread: unread.clone(),
            room: room.clone(),
        };
        let patience = Patience::new(write_timeout);
        let closing = Closing(room);
        (
            sink,
            write(PipeOwner(pipe), patience, messages, unread, closing),
        )
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
            pipe: Arc::default(),
            unread,
            room,
        };
        (sink, outbox)
    }

    /// Sends a request or a notification.
    pub(super) fn send(&self, message: ToServer) -> Result<(), Closed> {
        let message = SinkMessage::new(message, false);
        self.enqueue(message, &mut self.pipe.lock())
    }

    /// Sends a request: written at once, if the task has nothing to write and the writer takes all of it. That saves a change of tasks,
    /// but no other message shares the write.
    pub(super) fn send_at_once(&self, message: ToServer) -> Result<(), Closed> {
        let mut message = SinkMessage::new(message, false);
        let Some(mut writer) = self.pipe.take_idle() else {
            return self.enqueue(message, &mut self.pipe.lock());
        };
        if message.write_now(&mut writer) {
            self.pipe.put_back(writer);
            return Ok(());
        }
        let sent = {
            let mut pipe = self.pipe.lock();
            // Others may have queued messages meanwhile, which follow what is left of this one.
            pipe.rest = message.take_rest();
            self.enqueue(message, &mut pipe)
        };
        self.pipe.put_back(writer);
        sent
    }

    fn enqueue(&self, message: SinkMessage, pipe: &mut Pipe) -> Result<(), Closed> {
        self.room.take(message.len());
        self.push(message, pipe)
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
        let message = SinkMessage::new(message, true);
        unread.bytes.fetch_add(message.len(), Ordering::Relaxed);
        self.push(message, &mut self.pipe.lock())
    }

    fn push(&self, message: SinkMessage, pipe: &mut Pipe) -> Result<(), Closed> {
        pipe.queued += 1;
        self.queue.send(message).map_err(|_| Closed)
    }
}

/// A writer with bounded patience for a server that does not read.
struct Patient<'a> {
    writer: &'a mut Writer,
    patience: &'a mut Patience,
}

impl Patient<'_> {
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
            match ready!(Pin::new(&mut *self.writer).poll_write(cx, &batch[*written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => *written += count,
            }
        }
        Pin::new(&mut *self.writer).poll_flush(cx)
    }
}

async fn write(
    pipe: PipeOwner,
    mut patience: Patience,
    mut messages: mpsc::UnboundedReceiver<SinkMessage>,
    unread: Arc<UnreadAnswers>,
    closing: Closing,
) -> io::Result<()> {
    let mut batch = Batch::default();
    while let Some(message) = messages.recv().await {
        batch.clear();
        batch.add(&message);
        while let Ok(message) = messages.try_recv() {
            batch.add(&message);
        }
        let (mut writer, rest) = pipe.take().await;
        let mut patient = Patient {
            writer: &mut writer,
            patience: &mut patience,
        };
        if !rest.is_empty() {
            patient.write_batch(&rest).await?;
        }
        patient.write_batch(&batch.lines).await?;
        pipe.give_back(writer, batch.messages);
        closing.0.give_back(batch.requests);
        unread.bytes.fetch_sub(batch.answers, Ordering::Relaxed);
        unread.reported.store(false, Ordering::Relaxed);
    }
    let (mut writer, _) = pipe.take().await;
    // The server may be gone already.
    let _ = writer.shutdown().await;
    Ok(())
}

/// Messages that are written together.
#[derive(Default)]
struct Batch {
    lines: Vec<u8>,
    messages: usize,
    /// How many bytes answers have, without line ends.
    answers: usize,
    /// How many bytes the others have.
    requests: usize,
}

impl Batch {
    fn clear(&mut self) {
        self.lines.clear();
        (self.messages, self.answers, self.requests) = (0, 0, 0);
    }

    fn add(&mut self, message: &SinkMessage) {
        self.lines
            .extend_from_slice(&message.line[message.written..]);
        self.messages += 1;
        match message.is_answer {
            true => self.answers += message.len(),
            false => self.requests += message.len(),
        }
    }
}

#[cfg(test)]
mod tests;
