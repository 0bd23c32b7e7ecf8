//! Bodies of event streams, with comments while they are silent. Each poll returns at most one event, as one buffer.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, header};
use http_body::Frame;
use tokio::{
    task::AbortHandle,
    time::{Instant, Sleep},
};

use super::{
    calls::HttpCalls,
    live::keep,
    message_body::{Response, ResponseBody},
    pipe::Pipe,
    sessions::Active,
    sse,
    standalone::{Over, StreamReader},
};
use crate::{
    drive::CallEvent,
    engine::Shared,
    gate::Outgoing,
    signal::Fired,
    store::{EventId, EventStore},
};

/// The source of a stream's events.
pub(super) trait EventSource: Send + Unpin + 'static {
    /// Returns the next event; `None` at the end of the stream.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

/// Creates the response whose body is the events in `first`, followed by those of `source`.
pub(super) fn event_stream(
    first: VecDeque<Bytes>,
    source: impl EventSource,
    keep_alive: Duration,
) -> Response {
    let body = Events {
        first,
        source,
        silence: Silence::new(keep_alive),
        ended: false,
    };
    headed(ResponseBody::streamed(body))
}

/// Creates the response that consists of an event for each of `messages`.
pub(super) fn complete_stream(messages: &[Outgoing]) -> Response {
    let body = match messages {
        [message] => sse::event(None, message),
        _ => {
            let mut whole = Vec::new();
            for message in messages {
                whole.extend_from_slice(&sse::event(None, message));
            }
            match messages.iter().find(|message| message.is_counted()) {
                Some(message) => message.as_text(whole),
                None => whole.into(),
            }
        }
    };
    headed(ResponseBody::from(body))
}

fn headed(body: ResponseBody) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Makes nginx pass events on immediately (F-31).
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

struct Events<S> {
    first: VecDeque<Bytes>,
    source: S,
    silence: Silence,
    ended: bool,
}

impl<S: EventSource> http_body::Body for Events<S> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        if let Some(event) = this.first.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(event))));
        }
        if this.ended {
            return Poll::Ready(None);
        }
        match this.source.poll_event(cx) {
            Poll::Ready(Some(event)) => {
                this.silence.broken();
                Poll::Ready(Some(Ok(Frame::data(event))))
            }
            Poll::Ready(None) => {
                this.ended = true;
                Poll::Ready(None)
            }
            Poll::Pending if this.silence.poll_too_long(cx) => {
                Poll::Ready(Some(Ok(Frame::data(sse::KEEP_ALIVE))))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ended && self.first.is_empty()
    }
}

/// Measures how long nothing was sent. The timer is set when it is first needed, and moved when it fires, not for each event.
struct Silence {
    since: Instant,
    longest: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Silence {
    fn new(longest: Duration) -> Self {
        Self {
            since: Instant::now(),
            longest,
            timer: None,
        }
    }

    fn broken(&mut self) {
        self.since = Instant::now();
    }

    /// Returns whether a keep-alive comment is due. Otherwise the task of `cx` is woken when one may be due. Never, if the interval is zero
    /// or beyond the range of the clock.
    fn poll_too_long(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(until) = self
            .since
            .checked_add(self.longest)
            .filter(|_| !self.longest.is_zero())
        else {
            return false;
        };
        let timer = self
            .timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        if timer.as_mut().poll(cx).is_pending() {
            return false;
        }
        let now = Instant::now();
        let too_long = until <= now;
        if too_long {
            self.since = now;
        }
        timer.as_mut().reset(self.since + self.longest);
        // Registers the task for the new time.
        let _ = timer.as_mut().poll(cx);
        too_long
    }
}

/// Subscriptions, which their own response drives: dropping it drops them. No author's code runs in them.
pub(super) struct Inline(pub(super) HttpCalls);

impl EventSource for Inline {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.0.poll_next(true, cx).map(|event| match event? {
            CallEvent::Message(message) | CallEvent::Response { message, .. } => {
                Some(sse::event(None, &message))
            }
        })
    }
}

/// The events that a task writes.
pub(super) struct Piped {
    pub(super) pipe: Arc<Pipe>,
    /// An open stream counts as use of the session.
    pub(super) _active: Option<Active>,
}

impl EventSource for Piped {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.pipe.poll_next(cx)
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        self.pipe.abandon();
    }
}

/// The events of a task that ends with the response (F-14).
pub(super) struct Cancelling {
    pub(super) piped: Piped,
    pub(super) task: AbortHandle,
}

impl EventSource for Cancelling {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.piped.poll_event(cx)
    }
}

impl Drop for Cancelling {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Messages of a session that belong to no request.
pub(super) struct Unrelated {
    pub(super) active: Active,
    pub(super) reader: Arc<StreamReader>,
    /// Another connection reads the stream, and this one was notified of that.
    is_replaced: bool,
    /// The store of the events, for streams that can be resumed.
    pub(super) store: Option<Arc<dyn EventStore>>,
    /// An event that is being stored before it is sent.
    pub(super) keeping: Option<Keeping>,
    /// Completes when the server stops.
    stopping: Fired<Shared>,
}

type Keeping = Pin<Box<dyn Future<Output = Bytes> + Send>>;

impl Unrelated {
    pub(super) fn new(
        active: Active,
        reader: Arc<StreamReader>,
        store: Option<Arc<dyn EventStore>>,
        stopping: Fired<Shared>,
    ) -> Self {
        Self {
            active,
            reader,
            is_replaced: false,
            store,
            keeping: None,
            stopping,
        }
    }
}

impl EventSource for Unrelated {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(keeping) = &mut self.keeping {
            let Poll::Ready(event) = keeping.as_mut().poll(cx) else {
                return Poll::Pending;
            };
            self.keeping = None;
            return Poll::Ready(Some(event));
        }
        let entry = self.active.entry();
        // Locked while a message is taken and stored, so that the next reader finds it either in the store or in the queue (F-16).
        let mut place = entry.lock_standalone();
        match self.reader.poll_over(cx) {
            Poll::Ready(Over::Replaced) if !self.is_replaced => {
                self.is_replaced = true;
                return Poll::Ready(Some(sse::REPLACED));
            }
            Poll::Ready(_) => return Poll::Ready(None),
            Poll::Pending => {}
        }
        if Pin::new(&mut self.stopping).poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        let message = match entry.session().outbox.poll_next(cx) {
            Poll::Ready(Some(message)) => message,
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => return Poll::Pending,
        };
        let Some(store) = &self.store else {
            return Poll::Ready(Some(sse::event(None, &message)));
        };
        let (stream, position) = place.next_place();
        let id = EventId { stream, position };
        let event = sse::event(Some(id), &message);
        let (store, kept_for) = (store.clone(), entry.clone());
        let mut keeping: Keeping = Box::pin(async move {
            keep(&*store, kept_for.id(), id, message.into_bytes().into()).await;
            event
        });
        match keeping.as_mut().poll(cx) {
            Poll::Ready(event) => Poll::Ready(Some(event)),
            Poll::Pending => {
                drop(place);
                self.keeping = Some(keeping);
                Poll::Pending
            }
        }
    }
}

impl Drop for Unrelated {
    fn drop(&mut self) {
        self.active.entry().lock_standalone().leave(&self.reader);
    }
}
