//! The state of the request that a connection serves, and the parts that record it: the bodies of the request and of the response.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::Instant;

/// The value in place of a time while the connection does not wait for a head.
const NO_HEAD: u64 = u64::MAX;

/// How long incoming bytes may still become a request when the server stops.
const LAST_MOMENT: Duration = Duration::from_millis(100);

/// The state of the request that the connection serves.
#[derive(Debug)]
pub(super) struct ConnectionState {
    opened: Instant,
    /// Since when the connection waits for the head of a request, in milliseconds from `opened`; [`NO_HEAD`] while a request is served.
    head_since: AtomicU64,
    /// The request is complete and its answer is not.
    at_work: AtomicBool,
    /// The client does not read what is written to it.
    write_blocked: AtomicBool,
}

impl ConnectionState {
    pub(super) fn new() -> Self {
        Self {
            opened: Instant::now(),
            head_since: AtomicU64::new(0),
            at_work: AtomicBool::new(false),
            write_blocked: AtomicBool::new(false),
        }
    }

    /// Notes that the head of a request has arrived.
    pub(super) fn begin(&self) {
        self.head_since.store(NO_HEAD, Ordering::Relaxed);
    }

    /// Notes that the response is complete or was abandoned.
    fn end(&self) {
        self.await_head();
        self.at_work.store(false, Ordering::Relaxed);
    }

    fn await_head(&self) {
        let since = self.opened.elapsed().as_millis();
        let since = u64::try_from(since).unwrap_or(NO_HEAD);
        self.head_since.store(since, Ordering::Relaxed);
    }

    /// Notes whether bytes wait to be written. A client need not send a head before it has the answer.
    pub(super) fn note_write(&self, is_blocked: bool) {
        let was_blocked = self.write_blocked.load(Ordering::Relaxed);
        if is_blocked != was_blocked {
            self.write_blocked.store(is_blocked, Ordering::Relaxed);
            if self.head_since.load(Ordering::Relaxed) != NO_HEAD {
                self.await_head();
            }
        }
    }

    /// Returns since when the connection waits for the head of a request; `None` while a request is served or an answer waits to be
    /// written.
    pub(super) fn awaits_head(&self) -> Option<Instant> {
        let since = self.head_since.load(Ordering::Relaxed);
        let awaited = since != NO_HEAD && !self.write_blocked.load(Ordering::Relaxed);
        awaited.then(|| self.opened + Duration::from_millis(since))
    }

    /// Completes when no request is served and nothing waits to be written, but not before [`LAST_MOMENT`] has passed.
    pub(super) async fn unused(&self) {
        loop {
            tokio::time::sleep(LAST_MOMENT).await;
            if !self.at_work.load(Ordering::Relaxed) && !self.write_blocked.load(Ordering::Relaxed)
            {
                return;
            }
        }
    }
}

/// Notes that the whole request has arrived once all of its body was read.
pub(super) struct WholeBody(Arc<ConnectionState>);

impl WholeBody {
    pub(super) fn new(state: Arc<ConnectionState>, body: &Incoming) -> Self {
        let whole = http_body::Body::is_end_stream(body);
        state.at_work.store(whole, Ordering::Relaxed);
        Self(state)
    }
}

/// The body of a request.
pub(super) struct Arriving {
    pub(super) body: Incoming,
    pub(super) whole: WholeBody,
}

impl http_body::Body for Arriving {
    type Data = bytes::Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<bytes::Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let frame = Pin::new(&mut this.body).poll_frame(cx);
        if let Poll::Ready(None) = frame {
            this.whole.0.at_work.store(true, Ordering::Relaxed);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Notes, when dropped, that the response is complete or was abandoned.
pub(super) struct AnsweredBody(pub(super) Arc<ConnectionState>);

impl Drop for AnsweredBody {
    fn drop(&mut self) {
        self.0.end();
    }
}
