//! Records the traffic of a byte stream or an HTTP service without changing it.

#[cfg(feature = "http")]
mod body;
#[cfg(feature = "http")]
mod http;

use std::{
    fmt, io,
    pin::Pin,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Instant,
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::transcript::{Event, Record, Side};
use crate::{
    Service,
    client::{Client, ClientError, ClientOptions},
    jsonrpc,
};

#[cfg(feature = "http")]
pub use self::{
    body::RecordedBody,
    http::{RecordedResponse, RecordedService, RecorderLayer},
};

/// Collects the traffic between two peers, over a byte stream with one message per line or over HTTP. Clones share the recording.
///
/// It keeps everything in memory until it is dropped. Everything is recorded unchanged, even if it is invalid: bytes that are not UTF-8 are
/// [`Event::Bytes`].
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<RecorderShared>,
}

struct RecorderShared {
    began: Instant,
    next: AtomicU64,
    records: Mutex<Vec<RecordedMessage>>,
    #[cfg(feature = "http")]
    names: Mutex<http::SessionNumbers>,
}

/// The name of a session, when it is known.
type RecordedSession = Arc<OnceLock<String>>;

/// The stored form of a record.
#[derive(Clone, Debug)]
struct RecordedMessage {
    turn: Turn,
    record: Record,
    /// The session that it belongs to, which may become known later.
    session: Option<RecordedSession>,
}

/// Time of an event, relative to the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    order: u64,
    at: u64,
}

/// One direction of a recorded stream.
pub struct Recorded<S> {
    inner: S,
    from: Side,
    recorder: Recorder,
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    is_first_line: bool,
}

impl Recorder {
    /// Creates a recorder without records; its clock starts now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shared: Arc::new(RecorderShared {
                began: Instant::now(),
                next: AtomicU64::new(0),
                records: Mutex::default(),
                #[cfg(feature = "http")]
                names: Mutex::default(),
            }),
        }
    }

    /// Connects a client to `service` in the same process, like [`Service::connect`], and records all of its traffic.
    ///
    /// ```
    /// use trueform::{prelude::*, testing::{Checker, Recorder}};
    ///
    /// /// Add two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 { a + b }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let recorder = Recorder::new();
    /// let service = Server::new("calc", "1.0.0").tools(tools![add]).build()?;
    /// let client = recorder.connect(&service).await?;
    /// client.call_tool("add", serde_json::json!({ "a": 2, "b": 3 })).await?;
    /// client.close().await;
    /// assert_eq!(Checker::new().check(&recorder.transcript())?, []);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Client::over`].
    pub async fn connect(&self, service: &Service) -> Result<Client, ClientError> {
        self.connect_as(service, ClientOptions::new()).await
    }

    /// Like [`connect`](Self::connect), with other options.
    ///
    /// # Errors
    /// Those of [`Client::over`].
    pub async fn connect_as(
        &self,
        service: &Service,
        options: ClientOptions,
    ) -> Result<Client, ClientError> {
        let near = service.served(options.stream_settings());
        let (reader, writer) = self.around_client(near.reader, near.writer);
        Client::over(reader, writer, options).await
    }

    /// Records the traffic of `reader` and `writer` on their way to [`Client::over`](crate::Client::over).
    pub fn around_client<R: AsyncRead, W: AsyncWrite>(
        &self,
        reader: R,
        writer: W,
    ) -> (Recorded<R>, Recorded<W>) {
        (
            self.record(Side::Server, reader),
            self.record(Side::Client, writer),
        )
    }

    /// Records the traffic of `reader` and `writer` on their way to [`Service::serve_stream`](crate::Service::serve_stream).
    pub fn around_server<R: AsyncRead, W: AsyncWrite>(
        &self,
        reader: R,
        writer: W,
    ) -> (Recorded<R>, Recorded<W>) {
        (
            self.record(Side::Client, reader),
            self.record(Side::Server, writer),
        )
    }

    /// Records everything that passes one stream, in either direction, as sent by `from`.
    pub fn record<S>(&self, from: Side, stream: S) -> Recorded<S> {
        Recorded {
            inner: stream,
            from,
            recorder: self.clone(),
            line: Vec::new(),
            is_first_line: true,
        }
    }

    /// Returns the records so far.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        let mut entries = self
            .shared
            .records
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        entries.sort_by_key(|entry| entry.turn);
        let named = |RecordedMessage {
                         record, session, ..
                     }: RecordedMessage| Record {
            session: session.and_then(|session| session.get().cloned()),
            ..record
        };
        entries.into_iter().map(named).collect()
    }

    /// Returns the records so far, as a transcript: one record per line.
    #[must_use]
    pub fn transcript(&self) -> String {
        self.records()
            .iter()
            .map(|record| format!("{record}\n"))
            .collect()
    }

    fn turn(&self) -> Turn {
        let at = u64::try_from(self.shared.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Turn {
            order: self.shared.next.fetch_add(1, Ordering::SeqCst),
            at,
        }
    }

    fn push(&self, turn: Turn, record: Record, session: Option<RecordedSession>) {
        let entry = RecordedMessage {
            turn,
            record,
            session,
        };
        let mut records = self
            .shared
            .records
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        records.push(entry);
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Recorded<S> {
    fn take(&mut self, mut bytes: &[u8], turn: Turn) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.line.extend_from_slice(&bytes[..end]);
            bytes = &bytes[end + 1..];
            self.end_line(turn);
        }
        self.line.extend_from_slice(bytes);
    }

    fn end_line(&mut self, turn: Turn) {
        let line = std::mem::take(&mut self.line);
        let line = match std::mem::take(&mut self.is_first_line) {
            true => jsonrpc::trimmed(jsonrpc::without_mark(&line)),
            false => jsonrpc::trimmed(&line),
        };
        if !line.is_empty() {
            let record = Record {
                event: Event::sent(line),
                ..Record::new(turn.at, self.from, "")
            };
            self.recorder.push(turn, record, None);
        }
    }
}

/// A last line without a line end is recorded when the stream is dropped.
impl<S> Drop for Recorded<S> {
    fn drop(&mut self) {
        self.end_line(self.recorder.turn());
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Recorded<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.inner).poll_read(cx, buffer))?;
        let turn = this.recorder.turn();
        this.take(&buffer.filled()[before..], turn);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Recorded<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        // Taken before the peer can answer, on any thread.
        let turn = this.recorder.turn();
        let written = ready!(Pin::new(&mut this.inner).poll_write(cx, bytes))?;
        this.take(&bytes[..written], turn);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for Recorded<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded")
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    // DEC-10
    #[tokio::test]
    async fn a_byte_order_mark_is_not_recorded() {
        let recorder = Recorder::new();
        let sent = "\u{feff}{\"a\":1}\n\u{feff}{}\n";
        let mut read = String::new();
        recorder
            .record(Side::Client, sent.as_bytes())
            .read_to_string(&mut read)
            .await
            .unwrap();
        assert_eq!(read, sent, "what passes does not change");
        let events: Vec<_> = recorder
            .records()
            .into_iter()
            .map(|record| record.event)
            .collect();
        let message = |text: &str| Event::Message(text.to_owned());
        assert_eq!(events, [message("{\"a\":1}"), message("\u{feff}{}")]);
    }

    #[tokio::test]
    async fn lines_are_recorded_whatever_the_chunks_are() {
        let recorder = Recorder::new();
        let (mut from_server, mut to_server) =
            recorder.around_client(&b"{\"a\":1}\r\n\n{\"b\""[..], Vec::new());
        to_server.write_all(b"{\"c\":").await.unwrap();
        to_server.write_all(b"2}\nnonsense\n\xff\n").await.unwrap();
        let mut read = String::new();
        from_server.read_to_string(&mut read).await.unwrap();
        drop((from_server, to_server));
        let said: Vec<_> = recorder
            .records()
            .into_iter()
            .map(|record| (record.from, record.event))
            .collect();
        let message = |text: &str| Event::Message(text.to_owned());
        assert_eq!(
            said,
            [
                (Side::Client, message("{\"c\":2}")),
                (Side::Client, message("nonsense")),
                (Side::Client, Event::Bytes(vec![0xff])),
                (Side::Server, message("{\"a\":1}")),
                (Side::Server, message("{\"b\"")),
            ]
        );
    }
}
