//! Serves one byte stream with one message per line: stdio, memory, a socket of any kind (E-1, E-11).
//!
//! One task owns the connection. It reads the available bytes, passes line after line to the engine, collects the answers in one buffer,
//! and writes that once when no more lines wait. A call is polled once in place. It moves to a task of its own only if it is not ready
//! then, so a short call needs neither a task nor a channel.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::JoinSet,
    time::Sleep,
};

use super::{
    lines::{DEFAULT_MAX_LINE, Line, Lines},
    patience::{DEFAULT_WRITE_TIMEOUT, Patience},
};
use crate::{
    drive::{Batch, CallFuture, Driving, Reply, Sorted},
    engine::{Engine, Shared, Source},
    gate::{Outgoing, UnreadBytes},
    jsonrpc,
    peer::Session,
    principal::Principal,
    signal::Fired,
};

/// A buffer with this many bytes to write is written before anything else is done.
const FULL: usize = 64 << 10;

/// How long writing the answers to calls that are cut off may take: 500 ms.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Bounds of one connection, and the principal of its peer.
///
/// ```
/// use std::time::Duration;
/// use trueform::transport::StreamSettings;
///
/// let settings = StreamSettings::new().max_line(1 << 20).drain(Duration::from_secs(1));
/// # let _ = settings;
/// ```
#[derive(Clone, Debug)]
pub struct StreamSettings {
    max_line: usize,
    drain: Duration,
    write_timeout: Duration,
    principal: Option<Principal>,
}

impl StreamSettings {
    /// Returns why nothing could be served with these settings; `None` if they are valid.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        (self.max_line == 0)
            .then_some("`StreamSettings::max_line` is zero; expected at least 1 byte")
    }

    /// Longest line taken by default, in bytes: 16 MiB.
    pub const DEFAULT_MAX_LINE: usize = DEFAULT_MAX_LINE;
    /// How long calls may still run by default when nothing more is read.
    pub const DEFAULT_DRAIN: Duration = Duration::from_secs(5);
    /// How long the peer may read nothing by default while something waits to be written: 60 s.
    pub const DEFAULT_WRITE_TIMEOUT: Duration = DEFAULT_WRITE_TIMEOUT;

    /// Returns the defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            max_line: Self::DEFAULT_MAX_LINE,
            drain: Self::DEFAULT_DRAIN,
            write_timeout: Self::DEFAULT_WRITE_TIMEOUT,
            principal: None,
        }
    }

    /// Sets the principal of the peer, such as the owner of the process at the other end of a Unix socket. Handlers see it as the caller of
    /// each request of the stream.
    ///
    /// ```
    /// use trueform::{Principal, transport::StreamSettings};
    ///
    /// let settings = StreamSettings::new().principal(Principal::new("ada"));
    /// ```
    #[must_use]
    pub fn principal(mut self, principal: Principal) -> Self {
        self.principal = Some(principal);
        self
    }

    /// Sets the longest line taken, in bytes. A longer one is skipped without being kept, and answered with -32600.
    ///
    /// ```
    /// use trueform::transport::StreamSettings;
    ///
    /// let settings = StreamSettings::new().max_line(1 << 20);
    /// ```
    #[must_use]
    pub const fn max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    /// Sets how long calls may still run after the end of the input, or after the server was asked to shut down. Calls that have not ended
    /// then are dropped, and answered with -32603. Both together, or a second request to shut down, end the wait. After the end of the
    /// input, answers to calls that have ended are written as long as the peer reads a part of them within each such time.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::transport::StreamSettings;
    ///
    /// let settings = StreamSettings::new().drain(Duration::from_secs(1));
    /// ```
    #[must_use]
    pub const fn drain(mut self, time: Duration) -> Self {
        self.drain = time;
        self
    }

    /// Sets how long the peer may read nothing while something waits to be written; zero: for ever. Then the connection ends with
    /// an error, and what runs is dropped.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::transport::StreamSettings;
    ///
    /// let settings = StreamSettings::new().write_timeout(Duration::from_secs(10));
    /// ```
    #[must_use]
    pub const fn write_timeout(mut self, time: Duration) -> Self {
        self.write_timeout = time;
        self
    }
}

impl Default for StreamSettings {
    fn default() -> Self {
        Self::new()
    }
}

/// Serves until the input ends or the server shuts down, and the running calls have ended or their time is over.
///
/// # Errors
/// The writer fails, unless the failure means that the peer has disconnected; or the peer reads nothing for too long.
pub(crate) async fn serve(
    engine: Engine,
    reader: Box<dyn AsyncRead + Send + Unpin>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    settings: StreamSettings,
) -> io::Result<()> {
    let mut connection = Connection {
        // Both eras share its table of ids and its outbox.
        session: Arc::new(Session::new(None, settings.principal.clone())),
        shutdown: Fired::new(engine.shared(), |shared| &shared.host.shutdown),
        at_once: Fired::new(engine.shared(), |shared| &shared.host.at_once),
        engine,
        reader,
        writer,
        lines: Lines::new(settings.max_line),
        patience: Patience::new(settings.write_timeout),
        was_read: false,
        settings,
        out: Vec::new(),
        written: 0,
        unflushed: false,
        unread: Vec::new(),
        calls: JoinSet::new(),
        ending: None,
    };
    std::future::poll_fn(|cx| connection.poll(cx)).await
}

struct Connection {
    engine: Engine,
    session: Arc<Session>,
    reader: Box<dyn AsyncRead + Send + Unpin>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    settings: StreamSettings,
    lines: Lines,
    /// Bytes to write. Those before `written` are already written.
    out: Vec<u8>,
    written: usize,
    unflushed: bool,
    /// Counts the long messages of `out`.
    unread: Vec<UnreadBytes>,
    /// Measures how long the peer does not read.
    patience: Patience,
    /// Whether the peer has read since the last check.
    was_read: bool,
    /// Calls that were not ready at once.
    calls: JoinSet<Option<Outgoing>>,
    shutdown: Fired<Shared>,
    at_once: Fired<Shared>,
    /// Set once no more lines are served.
    ending: Option<Ending>,
}

/// How the connection waits for its end.
struct Ending {
    stage: EndingStage,
    until: Pin<Box<Sleep>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndingStage {
    /// The input has ended: calls may still end.
    InputEnded,
    /// The server was asked to stop: calls may still end.
    Asked,
    /// Calls were cut off: their answers are written.
    Cut,
}

impl Ending {
    fn new(stage: EndingStage, time: Duration) -> Self {
        Self {
            stage,
            until: Box::pin(tokio::time::sleep(time)),
        }
    }
}

/// The work for one message, until it has ended or is cut off.
struct RunningJobs {
    driving: Driving,
    cut: Fired<Session>,
}

impl Future for RunningJobs {
    type Output = Option<Outgoing>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Outgoing>> {
        if let ready @ Poll::Ready(_) = Pin::new(&mut self.driving).poll(cx) {
            return ready;
        }
        match Pin::new(&mut self.cut).poll(cx) {
            Poll::Ready(()) => Poll::Ready(self.driving.cut_off(cx)),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Connection {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.ending.is_none() && Pin::new(&mut self.shutdown).poll(cx).is_ready() {
                tracing::debug!("shutdown: no more requests are read");
                self.drain(EndingStage::Asked);
            }
            let more = self.receive(cx);
            self.collect(cx);
            match self.poll_write(cx) {
                Poll::Ready(Ok(())) if more => continue,
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(gone(error)),
                // If the peer does not read, and enough bytes wait to be written, the connection does not read either. It still reads one
                // more line, because only reading shows that the peer has disconnected.
                Poll::Pending if self.is_full() && self.ending.is_none() => {
                    if self.lines.has_next() {
                        return Poll::Pending;
                    }
                }
                Poll::Pending => {}
            }
            let done = self.is_done();
            match self.ending.as_ref().map(|ending| ending.stage) {
                None => ready!(self.poll_read(cx)),
                Some(_) if done => return Poll::Ready(Ok(())),
                Some(EndingStage::InputEnded | EndingStage::Asked) => {
                    ready!(self.poll_drained(cx));
                    if !self.calls.is_empty() {
                        self.cut_off();
                    } else if !self.is_read_on(cx) {
                        return Poll::Ready(Ok(()));
                    }
                }
                Some(EndingStage::Cut) => {
                    ready!(self.poll_deadline(cx));
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.ending {
            Some(ending) => ending.until.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }

    /// Is ready when the time of the calls is over, or when the end was requested a second time: by the end of the input, a signal or a
    /// call (DEC-11).
    fn poll_drained(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let reader = Pin::new(&mut *self.reader);
        let is_asked_again = match self.ending.as_ref().map(|ending| ending.stage) {
            Some(EndingStage::InputEnded) => Pin::new(&mut self.shutdown).poll(cx).is_ready(),
            _ => {
                Pin::new(&mut self.at_once).poll(cx).is_ready()
                    || self.lines.poll_end(cx, reader).is_ready()
            }
        };
        match is_asked_again {
            true => Poll::Ready(()),
            false => self.poll_deadline(cx),
        }
    }

    /// Returns whether the connection waits only for a peer that reads, if slowly, and has sent everything: only its answers are left then,
    /// and it gets the same time again. False once the server was asked to stop.
    #[cold]
    fn is_read_on(&mut self, cx: &mut Context<'_>) -> bool {
        let is_asked = Pin::new(&mut self.shutdown).poll(cx).is_ready();
        let reads_on = std::mem::take(&mut self.was_read) && !is_asked;
        if reads_on {
            self.ending = Some(Ending::new(EndingStage::InputEnded, self.settings.drain));
        }
        reads_on
    }

    /// Ends the running calls; their answers are still sent.
    #[cold]
    fn cut_off(&mut self) {
        tracing::warn!(
            calls = self.calls.len(),
            "calls that did not end in time are cut off"
        );
        self.session.cut.fire();
        self.ending = Some(Ending::new(EndingStage::Cut, LAST_WORDS));
    }

    /// Serves the lines that are available. Returns `true` if it stopped because too many bytes wait to be written.
    fn receive(&mut self, cx: &mut Context<'_>) -> bool {
        loop {
            if self.is_full() {
                return self.lines.has_next();
            }
            let reply = match self.lines.next() {
                Some(line) => reply_to(&self.engine, &self.session, line, self.settings.max_line),
                None => return false,
            };
            self.take(reply, cx);
        }
    }

    fn take(&mut self, reply: Reply, cx: &mut Context<'_>) {
        let mut driving = match reply {
            Reply::Silent => return,
            Reply::Ready(response) => return self.respond(response),
            Reply::Running(job) => Driving::One(CallFuture::new(job)),
            Reply::Background(job) => {
                let most = self.engine.host.settings.max_in_flight;
                if self.calls.len() >= most {
                    tracing::warn!(
                        most,
                        "a notification was dropped: too many calls are running"
                    );
                    return;
                }
                Driving::One(CallFuture::new(job))
            }
            Reply::Batch(replies) => {
                let sorted = Sorted::of(replies);
                for job in sorted.background {
                    self.take(Reply::Background(job), cx);
                }
                Driving::Many(Batch::new(sorted.responses, sorted.jobs))
            }
        };
        match Pin::new(&mut driving).poll(cx) {
            Poll::Ready(Some(response)) => self.respond(response),
            Poll::Ready(None) => {}
            Poll::Pending => {
                let cut = Fired::new(self.session.clone(), |session| &session.cut);
                self.calls.spawn(RunningJobs { driving, cut });
            }
        }
    }

    /// Takes the responses to calls that have ended, and the other messages that were sent.
    fn collect(&mut self, cx: &mut Context<'_>) {
        // Nearly always empty: most calls end when they are first polled.
        while !self.calls.is_empty() && !self.is_full() {
            match self.calls.poll_join_next(cx) {
                Poll::Ready(Some(Ok(Some(response)))) => self.respond(response),
                Poll::Ready(Some(Ok(None))) => {}
                Poll::Ready(Some(Err(error))) => tracing::error!(%error, "a call was lost"),
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        while !self.is_full() {
            match self.session.outbox.poll_next(cx) {
                Poll::Ready(Some(message)) => self.append(message),
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
    }

    /// Appends a response, after everything that was sent before it.
    fn respond(&mut self, response: Outgoing) {
        while let Some(message) = self.session.outbox.try_next() {
            self.append(message);
        }
        self.append(response);
    }

    fn append(&mut self, message: Outgoing) {
        let (message, counted) = message.into_parts();
        self.unread.extend(counted.map(|counted| *counted));
        tracing::trace!(message = %jsonrpc::WholeMessage(&message), "sent");
        if self.out.is_empty() && message.len() >= FULL {
            // Large messages are not copied.
            self.out = message;
        } else {
            self.out.reserve(message.len() + 1);
            self.out.extend_from_slice(&message);
        }
        self.out.push(b'\n');
    }

    fn is_full(&self) -> bool {
        self.out.len() - self.written >= FULL
    }

    /// Writes and flushes all waiting bytes. Fails if the peer reads nothing for too long.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let before = self.written;
        let written = self.poll_write_all(cx);
        if written.is_ready() || self.written != before {
            self.patience.renew();
            self.was_read = true;
        }
        match written {
            Poll::Pending => self.patience.poll_over(cx).map(Err),
            ready @ Poll::Ready(_) => ready,
        }
    }

    fn poll_write_all(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        /// A larger buffer is freed. It is a single message, which was not copied, and the next long message has its own buffer.
        const WORTH_KEEPING: usize = 1 << 20;
        while self.written < self.out.len() {
            match ready!(Pin::new(&mut self.writer).poll_write(cx, &self.out[self.written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
            self.unflushed = true;
        }
        self.out.clear();
        self.written = 0;
        self.unread.clear();
        if self.out.capacity() > WORTH_KEEPING {
            self.out = Vec::new();
        }
        if self.unflushed {
            ready!(Pin::new(&mut self.writer).poll_flush(cx))?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Is ready once new bytes were read, or no more will be read.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match ready!(self.lines.poll_read(cx, Pin::new(&mut *self.reader))) {
            Ok(0) => tracing::debug!("end of input"),
            Ok(_) => return Poll::Ready(()),
            Err(error) => tracing::warn!(%error, "reading failed"),
        }
        if let Some(line) = self.lines.last() {
            let reply = reply_to(&self.engine, &self.session, line, self.settings.max_line);
            self.take(reply, cx);
        }
        self.drain(EndingStage::InputEnded);
        Poll::Ready(())
    }

    /// Stops reading and only waits for running calls.
    fn drain(&mut self, stage: EndingStage) {
        self.session.end_input();
        self.was_read = false;
        self.ending = Some(Ending::new(stage, self.settings.drain));
    }

    fn is_done(&self) -> bool {
        self.calls.is_empty()
            && self.out.is_empty()
            && !self.unflushed
            && self.session.outbox.is_empty()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.session.close();
    }
}

fn reply_to(engine: &Engine, session: &Arc<Session>, line: Line<'_>, limit: usize) -> Reply {
    let source = Source::stream(session);
    match line {
        Line::Whole(line) => {
            tracing::trace!(message = %jsonrpc::WholeMessage(line), "received");
            engine.receive(&source, line)
        }
        Line::TooLong(prefix) => engine.too_long(&source, &prefix, limit),
    }
}

/// Returns what a failure of the writer means.
fn gone(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::WriteZero => {
            tracing::debug!(%error, "the peer is gone");
            Ok(())
        }
        _ => Err(error),
    }
}
