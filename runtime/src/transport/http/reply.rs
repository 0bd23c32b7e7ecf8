//! Turns the reply of the engine into an HTTP response. Whether it is JSON or a stream is decided late.
//!
//! A call that ends soon and sends no message before is answered with one JSON object. The first message, or a delay, turns the answer into
//! an event stream, if the client accepts one. From then on the calls have a task of their own, so that a client that does not read delays
//! no other. A modern task ends with its response. A legacy task outlives the connection, and at 2025-11-25 its events are stored so that
//! the client can come back for them.

use std::{
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::time::{Instant, Sleep, sleep_until};
use trueform_schema::{Era, Revision};

use super::{
    body::{Cancelling, Inline, Piped, complete_stream, event_stream},
    calls::HttpCalls,
    config::HttpConfig,
    live::LiveStream,
    media::Accepts,
    message_body::Response,
    pipe::{NotTaken, Pipe},
    sessions::SessionEntry,
    sse, status,
};
use crate::{
    drive::{CallEvent, Responses},
    gate::{Outgoing, Refusal},
    signal::{Fired, Signal},
    store::EventStore,
};

/// Creates the response from responses that are all ready, in a type that the client accepts.
pub(super) fn complete(responses: Responses, accepts: Accepts) -> Response {
    if accepts.json || responses.single().is_some_and(status::is_refusal) {
        // Without a response, the calls were cancelled: nothing may be answered.
        return responses
            .into_message()
            .map_or_else(status::accepted, status::json);
    }
    if responses.is_empty() {
        return status::accepted();
    }
    complete_stream(&responses.into_list())
}

/// Running calls, and how they are to be answered.
pub(super) struct Late {
    pub(super) calls: HttpCalls,
    /// Responses that are ready.
    pub(super) responses: Responses,
    pub(super) accepts: Accepts,
    /// Whether the answer may become a stream.
    pub(super) may_stream: bool,
    pub(super) resumable: Option<Resumable>,
    /// Completes when the calls must end.
    pub(super) cut: Fired<Signal>,
}

/// The parts that make a stream resumable.
#[derive(Debug)]
pub(super) struct Resumable {
    pub(super) entry: Arc<SessionEntry>,
    pub(super) store: Arc<dyn EventStore>,
}

impl Resumable {
    /// Creates the parts for a resumable stream, if the stream can be resumed: events are stored, and the revision is 2025-11-25 or later.
    /// Older clients may fail on events without a message (F-11).
    pub(super) fn of(
        entry: &Arc<SessionEntry>,
        store: Option<&Arc<dyn EventStore>>,
    ) -> Option<Self> {
        let recent = entry
            .session()
            .revision()
            .is_some_and(|revision| Revision::V2025_11_25 <= revision);
        let store = store.filter(|_| recent)?.clone();
        Some(Self {
            entry: entry.clone(),
            store,
        })
    }
}

/// How the wait for the first message or response ended.
enum First {
    /// Every call has ended, and none had sent a message.
    Answered,
    /// A call sent a message, or takes long, or asks for its stream to be ended early.
    Stream(Option<Outgoing>),
}

impl Late {
    /// Returns the response, if it is known without waiting.
    #[expect(
        clippy::result_large_err,
        reason = "it goes on from here; a box would cost each call that waits an allocation"
    )]
    pub(super) fn at_once(
        mut self,
        config: &HttpConfig,
        cx: &mut Context<'_>,
    ) -> Result<Response, Self> {
        if !self.may_stream {
            self.calls.mute();
        }
        match self.poll_first(None, cx) {
            Poll::Ready(first) => Ok(self.begin(first, config)),
            Poll::Pending if self.may_stream && config.sse_after.is_zero() => {
                Ok(self.begin(First::Stream(None), config))
            }
            Poll::Pending => Err(self),
        }
    }

    /// Drives the calls until the kind of response is known.
    pub(super) async fn respond(mut self, config: &HttpConfig) -> Response {
        let first = self.first(config).await;
        self.begin(first, config)
    }

    fn begin(self, first: First, config: &HttpConfig) -> Response {
        match first {
            First::Answered if self.responses.is_empty() && self.calls.ended_with_session() => {
                let id = self.calls.id().filter(|_| !self.responses.is_batch());
                status::refused(&Refusal::SessionUnknown, id)
            }
            First::Answered => complete(self.responses, self.accepts),
            First::Stream(message) => self.stream(message, config),
        }
    }

    async fn first(&mut self, config: &HttpConfig) -> First {
        // Created before the first poll: the delay counts from the arrival of the request.
        let deadline = Instant::now()
            .checked_add(config.sse_after)
            .filter(|_| self.may_stream);
        let mut delay = std::pin::pin!(deadline.map(sleep_until));
        poll_fn(|cx| {
            let first = self.poll_first(delay.as_mut().as_pin_mut(), cx);
            if first.is_ready() || Pin::new(&mut self.cut).poll(cx).is_pending() {
                return first;
            }
            self.calls.cut_off();
            self.poll_first(None, cx)
        })
        .await
    }

    fn poll_first(&mut self, delay: Option<Pin<&mut Sleep>>, cx: &mut Context<'_>) -> Poll<First> {
        loop {
            match self.calls.poll_next(true, cx) {
                Poll::Ready(Some(CallEvent::Response { place, message })) => {
                    self.responses.push(place, message);
                }
                Poll::Ready(Some(CallEvent::Message(message))) if self.may_stream => {
                    return Poll::Ready(First::Stream(Some(message)));
                }
                // Sent before the calls were muted.
                Poll::Ready(Some(CallEvent::Message(_))) => {}
                Poll::Ready(None) => return Poll::Ready(First::Answered),
                Poll::Pending => break,
            }
        }
        let close_early = self.resumable.is_some()
            && self.may_stream
            && self.calls.poll_stream_closed(cx).is_ready();
        if close_early || delay.is_some_and(|delay| delay.poll(cx).is_ready()) {
            return Poll::Ready(First::Stream(None));
        }
        Poll::Pending
    }

    fn stream(self, message: Option<Outgoing>, config: &HttpConfig) -> Response {
        match self.calls.era() {
            Era::Modern if !self.calls.only_listen() => self.modern_stream(message, config),
            Era::Modern => {
                let first = message
                    .map(|message| sse::event(None, &message))
                    .into_iter()
                    .collect();
                event_stream(first, Inline(self.calls), config.keep_alive)
            }
            Era::Legacy => self.legacy_stream(message, config),
        }
    }

    fn modern_stream(self, message: Option<Outgoing>, config: &HttpConfig) -> Response {
        let pipe = Arc::new(Pipe::default());
        let events = message.map(CallEvent::Message).into_iter().collect();
        let task = tokio::spawn(pump(
            events,
            self.calls,
            Sink::Plain(pipe.clone()),
            self.cut,
        ));
        let source = Cancelling {
            piped: Piped {
                pipe,
                _active: None,
            },
            task: task.abort_handle(),
        };
        event_stream(VecDeque::new(), source, config.keep_alive)
    }

    fn legacy_stream(self, message: Option<Outgoing>, config: &HttpConfig) -> Response {
        let pipe = Arc::new(Pipe::default());
        let mut events: VecDeque<CallEvent> = self
            .responses
            .into_list()
            .into_iter()
            .map(|message| CallEvent::Response { place: 0, message })
            .collect();
        events.extend(message.map(CallEvent::Message));
        let sink = match self.resumable {
            None => Sink::Plain(pipe.clone()),
            Some(Resumable { entry, store }) => {
                let live = Arc::new(LiveStream::new(pipe.clone()));
                // Registered before the client can ask for it.
                entry.add_live(live.clone());
                Sink::Resumable {
                    live,
                    entry,
                    store,
                    retry: config.retry,
                }
            }
        };
        let mut calls = self.calls;
        calls.set_on_their_own();
        tokio::spawn(pump(events, calls, sink, self.cut));
        event_stream(
            VecDeque::new(),
            Piped {
                pipe,
                _active: None,
            },
            config.keep_alive,
        )
    }
}

/// The destination of a legacy stream.
enum Sink {
    /// The only connection.
    Plain(Arc<Pipe>),
    /// The store, and the connection that reads at the time.
    Resumable {
        live: Arc<LiveStream>,
        entry: Arc<SessionEntry>,
        store: Arc<dyn EventStore>,
        retry: std::time::Duration,
    },
}

/// An event of running calls.
enum Happened {
    Event(CallEvent),
    CloseEarly,
    /// The stream has no reader, now or later.
    Unread,
    /// The calls must end (DEC-11).
    Cut,
    Ended,
}

/// The number of messages after which a call that keeps sending lets other tasks run.
const TURN: u32 = 32;

/// Drives calls to completion, with or without a reader.
async fn pump(
    mut events: VecDeque<CallEvent>,
    mut calls: HttpCalls,
    sink: Sink,
    cut: Fired<Signal>,
) {
    let mut cut = Some(cut);
    sink.open().await;
    let mut may_close_early = matches!(sink, Sink::Resumable { .. });
    let mut is_read = true;
    let mut taken = 0;
    loop {
        taken += 1;
        if taken % TURN == 0 {
            tokio::task::yield_now().await;
        }
        let happened = match events.pop_front() {
            Some(event) => Happened::Event(event),
            None => {
                poll_fn(|cx| {
                    let happened = poll_happened(&mut calls, &sink, may_close_early, cx);
                    let has_to_end = |cut: &mut Fired<Signal>| Pin::new(cut).poll(cx).is_ready();
                    if happened.is_pending() && cut.as_mut().is_some_and(has_to_end) {
                        return Poll::Ready(Happened::Cut);
                    }
                    if happened.is_pending() && is_read && sink.poll_unread(cx).is_ready() {
                        return Poll::Ready(Happened::Unread);
                    }
                    happened
                })
                .await
            }
        };
        match happened {
            Happened::Event(event) => {
                if let Err(Lost { message, why }) = sink.take(event).await {
                    calls.unheard(&message);
                    if why == NotTaken::Gone {
                        calls.mute();
                    }
                }
            }
            Happened::CloseEarly => {
                // Asked for only once. A client that resumes gets the rest.
                may_close_early = false;
                sink.close_early();
            }
            Happened::Unread => {
                is_read = false;
                calls.mute();
            }
            Happened::Cut => {
                cut = None;
                calls.cut_off();
            }
            Happened::Ended => break,
        }
    }
    sink.end().await;
}

fn poll_happened(
    calls: &mut HttpCalls,
    sink: &Sink,
    may_close_early: bool,
    cx: &mut Context<'_>,
) -> Poll<Happened> {
    // If a slow reader has no room, the messages wait in the call's outbox, where the author can wait for room.
    let has_room = sink.poll_room(cx).is_ready();
    match calls.poll_next(has_room, cx) {
        Poll::Ready(Some(event)) => Poll::Ready(Happened::Event(event)),
        Poll::Ready(None) => Poll::Ready(Happened::Ended),
        Poll::Pending if may_close_early => {
            calls.poll_stream_closed(cx).map(|()| Happened::CloseEarly)
        }
        Poll::Pending => Poll::Pending,
    }
}

/// A message that has no reader, now or later.
struct Lost {
    message: Outgoing,
    why: NotTaken,
}

impl Sink {
    async fn open(&self) {
        if let Self::Resumable {
            live,
            entry,
            store,
            retry,
        } = self
        {
            live.open(&**store, entry.id(), *retry).await;
        }
    }

    /// Is ready when an event would be accepted now.
    fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Plain(pipe) => pipe.poll_room(cx),
            Self::Resumable { live, .. } => live.poll_room(cx),
        }
    }

    /// Is ready when the stream has no reader, now or later.
    fn poll_unread(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Plain(pipe) => pipe.poll_abandoned(cx),
            Self::Resumable { .. } => Poll::Pending,
        }
    }

    async fn take(&self, event: CallEvent) -> Result<(), Lost> {
        let (message, last) = match event {
            CallEvent::Message(message) => (message, false),
            CallEvent::Response { message, .. } => (message, true),
        };
        match self {
            Self::Plain(pipe) => plainly(pipe, message, last),
            Self::Resumable {
                live, entry, store, ..
            } => {
                live.publish(&**store, entry.id(), message, last).await;
                Ok(())
            }
        }
    }

    fn close_early(&self) {
        if let Self::Resumable { live, .. } = self {
            live.detach();
        }
    }

    async fn end(&self) {
        match self {
            Self::Plain(pipe) => pipe.end(),
            Self::Resumable {
                live, entry, store, ..
            } => {
                live.end(&**store, entry.id()).await;
                entry.remove_live(live);
            }
        }
    }
}

fn plainly(pipe: &Pipe, message: Outgoing, last: bool) -> Result<(), Lost> {
    let event = sse::event(None, &message);
    if last {
        pipe.push_last(event);
        return Ok(());
    }
    pipe.push(event).map_err(|why| {
        tracing::debug!(?why, "a message to a client was dropped");
        Lost { message, why }
    })
}

#[cfg(test)]
mod tests {
    use http::header;
    use trueform_schema::{ErrorObject, RequestId};

    use super::*;
    use crate::gate::Stage;

    /// Returns an error that has this status.
    fn error(status: u16) -> Outgoing {
        let (stage, code) = match status {
            200 => (Stage::Call(Era::Legacy), -32602),
            404 => (Stage::Call(Era::Modern), -32601),
            _ => (Stage::Claims, -32602),
        };
        let error = ErrorObject::new(code, status.to_string());
        Outgoing::refusal(Some(&RequestId::from(1)), None, stage, &error)
    }

    async fn text(response: Response) -> (u16, String, String) {
        let status = response.status().as_u16();
        let kind = response.headers().get(header::CONTENT_TYPE);
        let kind = kind
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        let body = axum::body::to_bytes(response.into_body().into_axum(), usize::MAX)
            .await
            .expect("a whole body");
        (status, kind, String::from_utf8_lossy(&body).into_owned())
    }

    // F-6, F-7, F-34
    #[tokio::test]
    async fn complete_answers() {
        let both = Accepts {
            json: true,
            events: true,
        };
        let only_events = Accepts {
            json: false,
            events: true,
        };
        let (json, stream) = ("application/json", "text/event-stream");
        for (statuses, batch, accepts, status, kind) in [
            (&[200][..], false, both, 200, json),
            (&[404], false, both, 404, json),
            (&[200], false, only_events, 200, stream),
            (&[400], false, only_events, 400, json),
            (&[200], true, both, 200, json),
            (&[200, 400], true, both, 200, json),
            (&[200, 400], true, only_events, 200, stream),
            (&[], false, both, 202, ""),
        ] {
            let texts: Vec<String> = statuses
                .iter()
                .map(|status| String::from_utf8_lossy(error(*status).bytes()).into_owned())
                .collect();
            let events = || {
                let events = statuses
                    .iter()
                    .map(|status| sse::event(None, &error(*status)));
                events.map(|event| String::from_utf8_lossy(&event).into_owned())
            };
            let body = match (kind, batch) {
                ("text/event-stream", _) => events().collect(),
                (_, true) => format!("[{}]", texts.join(",")),
                (_, false) => texts.concat(),
            };
            let mut responses = match batch {
                true => Responses::of_batch(),
                false => Responses::default(),
            };
            for (place, status) in statuses.iter().enumerate() {
                responses.push(place, error(*status));
            }
            let got = text(complete(responses, accepts)).await;
            assert_eq!(got, (status, kind.to_owned(), body), "{statuses:?}");
        }
    }
}
