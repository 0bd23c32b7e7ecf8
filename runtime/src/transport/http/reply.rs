//! What the engine replied becomes an HTTP response, and whether it is JSON or a stream is decided late.
//!
//! A call that ends soon and says nothing is answered with one JSON object. The first message, or a delay, turns the
//! answer into an event stream, where the client accepts one. From then on the calls have a task of their own, so that a
//! client which does not read holds up none. A modern task ends with its response; a legacy one outlives the connection,
//! and at 2025-11-25 its events are kept so that the client can come back for them.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{body::Body, response::Response};
use http::{HeaderValue, StatusCode, header};
use tokio::time::{Instant, Sleep, sleep_until};
use trueform_schema::{Era, Revision};

use super::{
    admit::Accepts,
    body::{Cancelling, Inline, Piped, complete_stream, event_stream},
    calls::{Calls, Said},
    config::HttpConfig,
    live::LiveStream,
    pipe::{NotTaken, Pipe},
    refusal::Refusal,
    sessions::Entry,
    sse,
};
use crate::{engine::Answer, jsonrpc::NoId, store::EventStore};

/// One answer as the body of a response.
pub(super) fn json(answer: Answer) -> Response {
    tracing::trace!(message = %String::from_utf8_lossy(&answer.body), "sent");
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}

/// Nothing to say: what was sent is taken (F-5).
pub(super) fn accepted() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// Answers that are all there, in a type that the client accepts.
pub(super) fn complete(mut answers: Vec<Answer>, batch: bool, accepts: Accepts) -> Response {
    let refused = !batch && answers.first().is_some_and(|answer| answer.status != 200);
    if answers.is_empty() {
        // Cancelled: nothing may be answered.
        return accepted();
    }
    if accepts.json || refused {
        return match (batch, answers.pop()) {
            (false, Some(answer)) => json(answer),
            (_, last) => {
                answers.extend(last);
                json(Answer {
                    status: 200,
                    body: array(&answers),
                    is_refusal: false,
                })
            }
        };
    }
    complete_stream(answers.iter().map(|answer| sse::event(None, &answer.body)))
}

/// The answers to a batch in which nothing is a message.
pub(super) fn refused_batch(answers: &[Answer]) -> Response {
    json(Answer {
        status: 400,
        body: array(answers),
        is_refusal: true,
    })
}

fn array(answers: &[Answer]) -> Vec<u8> {
    let length = answers
        .iter()
        .map(|answer| answer.body.len() + 1)
        .sum::<usize>()
        + 1;
    let mut out = Vec::with_capacity(length);
    for answer in answers {
        out.push(if out.is_empty() { b'[' } else { b',' });
        out.extend_from_slice(&answer.body);
    }
    out.push(b']');
    out
}

/// Calls that are at work, and how they are to be answered.
pub(super) struct Late {
    pub(super) calls: Calls,
    /// Answers of the same batch that are there already.
    pub(super) answers: Vec<Answer>,
    pub(super) batch: bool,
    pub(super) accepts: Accepts,
    /// Whether the answer may become a stream.
    pub(super) may_stream: bool,
    pub(super) resumable: Option<Resumable>,
}

/// What a stream needs so that it can be resumed.
#[derive(Debug)]
pub(super) struct Resumable {
    pub(super) entry: Arc<Entry>,
    pub(super) store: Arc<dyn EventStore>,
}

impl Resumable {
    /// Streams of a session are resumable if events are kept, and from 2025-11-25 on: older clients may stumble over
    /// events without a message (F-11).
    pub(super) fn of(entry: &Arc<Entry>, store: Option<&Arc<dyn EventStore>>) -> Option<Self> {
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

/// How the wait for the first word ended.
enum First {
    /// Every call has ended, and none had said anything.
    Answered,
    /// A call said something, or has been at it for long, or wants its stream to be ended early.
    Stream(Option<Vec<u8>>),
}

impl Late {
    /// The response, if it is known without waiting.
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

    /// Drives the calls until it is known what kind of response this is.
    pub(super) async fn respond(mut self, config: &HttpConfig) -> Response {
        let first = self.first(config).await;
        self.begin(first, config)
    }

    fn begin(self, first: First, config: &HttpConfig) -> Response {
        match first {
            First::Answered if self.answers.is_empty() && self.calls.ended_with_session() => {
                let refusal = Refusal::SessionUnknown;
                tracing::debug!(?refusal, "the session of a call has ended");
                match self.calls.id().filter(|_| !self.batch) {
                    Some(id) => refusal.respond(Some(id), NoId::Absent),
                    None => refusal.respond_without_id(),
                }
            }
            First::Answered => complete(self.answers, self.batch, self.accepts),
            First::Stream(message) => self.stream(message, config),
        }
    }

    async fn first(&mut self, config: &HttpConfig) -> First {
        // Made before the first poll: the delay counts from the arrival of the request.
        let deadline = Instant::now()
            .checked_add(config.sse_after)
            .filter(|_| self.may_stream);
        let mut delay = std::pin::pin!(deadline.map(sleep_until));
        poll_fn(|cx| self.poll_first(delay.as_mut().as_pin_mut(), cx)).await
    }

    fn poll_first(
        &mut self,
        delay: Option<std::pin::Pin<&mut Sleep>>,
        cx: &mut Context<'_>,
    ) -> Poll<First> {
        loop {
            match self.calls.poll_next(cx) {
                Poll::Ready(Some(Said::Answer(answer))) => self.answers.push(answer),
                Poll::Ready(Some(Said::Message(message))) if self.may_stream => {
                    return Poll::Ready(First::Stream(Some(message)));
                }
                // Said before the calls were muted.
                Poll::Ready(Some(Said::Message(_))) => {}
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

    fn stream(self, message: Option<Vec<u8>>, config: &HttpConfig) -> Response {
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

    fn modern_stream(self, message: Option<Vec<u8>>, config: &HttpConfig) -> Response {
        let pipe = Arc::new(Pipe::default());
        let said = message.map(Said::Message).into_iter().collect();
        let task = tokio::spawn(pump(said, self.calls, Sink::Plain(pipe.clone())));
        let source = Cancelling {
            piped: Piped {
                pipe,
                _active: None,
            },
            task: task.abort_handle(),
        };
        event_stream(VecDeque::new(), source, config.keep_alive)
    }

    fn legacy_stream(self, message: Option<Vec<u8>>, config: &HttpConfig) -> Response {
        let pipe = Arc::new(Pipe::default());
        let mut said: VecDeque<Said> = self.answers.into_iter().map(Said::Answer).collect();
        said.extend(message.map(Said::Message));
        let sink = match self.resumable {
            None => Sink::Plain(pipe.clone()),
            Some(Resumable { entry, store }) => {
                let live = Arc::new(LiveStream::new(pipe.clone()));
                // Known before the client can ask for it.
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
        tokio::spawn(pump(said, calls, sink));
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

/// Where a legacy stream goes.
enum Sink {
    /// To the one connection there is.
    Plain(Arc<Pipe>),
    /// To the store, and to whichever connection reads.
    Resumable {
        live: Arc<LiveStream>,
        entry: Arc<Entry>,
        store: Arc<dyn EventStore>,
        retry: std::time::Duration,
    },
}

/// Something happened to calls at work.
enum Happened {
    Said(Said),
    CloseEarly,
    Ended,
}

/// Messages after which a call that never stops talking lets others have their turn.
const TURN: u32 = 32;

/// Drives calls to their end, whoever listens.
async fn pump(mut said: VecDeque<Said>, mut calls: Calls, sink: Sink) {
    sink.open().await;
    let mut may_close_early = matches!(sink, Sink::Resumable { .. });
    let mut taken = 0;
    loop {
        taken += 1;
        if taken % TURN == 0 {
            tokio::task::yield_now().await;
        }
        let happened = match said.pop_front() {
            Some(said) => Happened::Said(said),
            None => poll_fn(|cx| poll_happened(&mut calls, may_close_early, cx)).await,
        };
        match happened {
            Happened::Said(said) => {
                if let Err(Lost { message, why }) = sink.take(said).await {
                    calls.unheard(&message);
                    if why == NotTaken::Gone {
                        calls.mute();
                    }
                }
            }
            Happened::CloseEarly => {
                // Asked for once; a client that resumes gets the rest.
                may_close_early = false;
                sink.close_early();
            }
            Happened::Ended => break,
        }
    }
    sink.end().await;
}

fn poll_happened(calls: &mut Calls, may_close_early: bool, cx: &mut Context<'_>) -> Poll<Happened> {
    match calls.poll_next(cx) {
        Poll::Ready(Some(said)) => Poll::Ready(Happened::Said(said)),
        Poll::Ready(None) => Poll::Ready(Happened::Ended),
        Poll::Pending if may_close_early => {
            calls.poll_stream_closed(cx).map(|()| Happened::CloseEarly)
        }
        Poll::Pending => Poll::Pending,
    }
}

/// A message that nobody hears, nor can come back for.
struct Lost {
    message: Vec<u8>,
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

    async fn take(&self, said: Said) -> Result<(), Lost> {
        let (bytes, last) = match said {
            Said::Message(message) => (message, false),
            Said::Answer(answer) => (answer.body, true),
        };
        match self {
            Self::Plain(pipe) => plainly(pipe, bytes, last),
            Self::Resumable {
                live, entry, store, ..
            } => {
                live.publish(&**store, entry.id(), bytes, last).await;
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

fn plainly(pipe: &Pipe, message: Vec<u8>, last: bool) -> Result<(), Lost> {
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
    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        Answer {
            status,
            is_refusal: status != 200,
            body: body.as_bytes().to_vec(),
        }
    }

    async fn text(response: Response) -> (u16, String, String) {
        let status = response.status().as_u16();
        let kind = response.headers().get(header::CONTENT_TYPE);
        let kind = kind
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX)
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
        let events = Accepts {
            json: false,
            events: true,
        };
        let (json, stream) = ("application/json", "text/event-stream");
        for (answers, batch, accepts, status, kind, body) in [
            (vec![answer(200, "1")], false, both, 200, json, "1"),
            (vec![answer(404, "1")], false, both, 404, json, "1"),
            (
                vec![answer(200, "1")],
                false,
                events,
                200,
                stream,
                "event: message\ndata: 1\n\n",
            ),
            (vec![answer(400, "1")], false, events, 400, json, "1"),
            (vec![answer(200, "1")], true, both, 200, json, "[1]"),
            (
                vec![answer(200, "1"), answer(400, "2")],
                true,
                both,
                200,
                json,
                "[1,2]",
            ),
            (
                vec![answer(200, "1"), answer(400, "2")],
                true,
                events,
                200,
                stream,
                "event: message\ndata: 1\n\nevent: message\ndata: 2\n\n",
            ),
            (vec![], false, both, 202, "", ""),
        ] {
            let got = text(complete(answers, batch, accepts)).await;
            assert_eq!(got, (status, kind.to_owned(), body.to_owned()));
        }
    }
}
