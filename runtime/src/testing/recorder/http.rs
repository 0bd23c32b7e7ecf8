//! Records the traffic of an HTTP service that serves MCP: the bodies with messages, and their exchanges and clients.
//!
//! This module handles methods, statuses and headers of Streamable HTTP; the checker interprets the messages.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, PoisonError},
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body::Body;
use tower::{Layer, Service};

use super::{
    RecordedSession, Recorder, Turn,
    body::{RecordedBody, Taking},
};
use crate::{
    client::http::events::EventReader,
    gate::SESSION_HEADER,
    testing::{Event, Record, Side},
};

/// Records the traffic of the HTTP services that it wraps; [`Recorder::layer`] creates it.
#[derive(Clone, Debug)]
pub struct RecorderLayer {
    recorder: Recorder,
}

/// An HTTP service whose messages are recorded.
#[derive(Clone, Debug)]
pub struct RecordedService<S> {
    inner: S,
    recorder: Recorder,
}

/// Future of the response of a [`RecordedService`].
pub struct RecordedResponse<F> {
    inner: Pin<Box<F>>,
    head: Head,
}

/// The pending head of a response. If it never arrives, the side that disconnected is recorded.
struct Head {
    exchange: RecordedExchange,
    is_done: bool,
    /// Whether the service is running right now.
    is_at_work: bool,
}

/// The numbers of sessions in transcripts, and the recorded events.
#[derive(Debug, Default)]
pub(super) struct SessionNumbers {
    exchanges: u64,
    sessions: HashMap<Vec<u8>, String>,
    /// Ids of events, which are unique in a session.
    events: HashSet<(Option<String>, Vec<u8>)>,
}

/// One request, and everything that belongs to it.
#[derive(Clone, Debug)]
pub(super) struct RecordedExchange {
    recorder: Recorder,
    shared: Arc<About>,
}

#[derive(Debug)]
struct About {
    stream: String,
    session: RecordedSession,
    method: Method,
    /// Whether the client asks to resume an earlier stream.
    resumes: bool,
    began: Turn,
}

impl Recorder {
    /// Returns a layer that records the traffic of an HTTP service, such as the router of
    /// [`Server::into_router`](crate::Server::into_router): the body of each POST as sent by the client; each JSON body, and each event of
    /// an event stream that has data, as sent by the server. Bodies are passed on as they arrive. Clones of the layer, and other layers of
    /// this recorder, record into the same transcript. [`Checker::http`] checks it.
    ///
    /// Each exchange has its own name in [`Record::stream`]. Sessions are numbered in [`Record::session`], by the header
    /// `Mcp-Session-Id`, whose value is not recorded. Requests without this header belong to no session: requests of 2026-07-28, which are
    /// independent, and legacy requests to a server that assigns no ids. Several clients of such a server cannot be distinguished: use one
    /// recorder for each.
    ///
    /// [`Event::Closed`] records a client that disconnects before the end of a response or ends its session, and a server that ends an
    /// event stream, or that fails or panics before the end of a response. The body of a request is recorded when all of it has passed,
    /// even if it is not read to its end. Events that are sent again to a client that resumes a stream are recorded only once. Content
    /// encodings are not decoded: put this layer inside layers that compress.
    ///
    /// ```
    /// use axum::{body::Body, http::Request};
    /// use tower::ServiceExt as _;
    /// use trueform::{prelude::*, testing::{Checker, Recorder}};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let recorder = Recorder::new();
    /// let router = Server::new("calc", "1.0.0").into_router()?.layer(recorder.layer());
    ///
    /// let request = Request::post("/mcp")
    ///     .header("host", "localhost")
    ///     .header("content-type", "application/json")
    ///     .header("accept", "application/json, text/event-stream")
    ///     .header("mcp-protocol-version", "2026-07-28")
    ///     .header("mcp-method", "server/discover")
    ///     .body(Body::from(r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{
    ///         "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#))?;
    /// let response = router.oneshot(request).await?;
    /// axum::body::to_bytes(response.into_body(), usize::MAX).await?;
    ///
    /// assert_eq!(recorder.records().len(), 2);
    /// assert_eq!(Checker::http().check(&recorder.transcript())?, []);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Checker::http`]: crate::testing::Checker::http
    #[must_use]
    pub fn layer(&self) -> RecorderLayer {
        RecorderLayer {
            recorder: self.clone(),
        }
    }

    fn exchange(&self, method: &Method, headers: &HeaderMap) -> RecordedExchange {
        let stream = {
            let mut names = self.names();
            names.exchanges += 1;
            names.exchanges.to_string()
        };
        let exchange = RecordedExchange {
            recorder: self.clone(),
            shared: Arc::new(About {
                stream,
                session: RecordedSession::default(),
                method: method.clone(),
                resumes: headers.contains_key("last-event-id"),
                began: self.turn(),
            }),
        };
        exchange.learn_session(headers);
        exchange
    }

    fn names(&self) -> std::sync::MutexGuard<'_, SessionNumbers> {
        self.shared
            .names
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordedExchange {
    pub(super) fn turn(&self) -> Turn {
        self.recorder.turn()
    }

    pub(super) fn message(&self, from: Side, text: &[u8], turn: Turn) {
        let text = crate::jsonrpc::trimmed(text);
        if !text.is_empty() {
            self.push(from, Event::sent(text), turn);
        }
    }

    pub(super) fn push(&self, from: Side, event: Event, turn: Turn) {
        let record = Record {
            at: Some(turn.at),
            from,
            event,
            stream: Some(self.shared.stream.clone()),
            session: None,
        };
        // Messages before the response to `initialize` also belong to the session that it names.
        self.recorder
            .push(turn, record, Some(self.shared.session.clone()));
    }

    /// Returns whether this event of a resumed stream was recorded before. If not, it is added.
    pub(super) fn is_replayed(&self, id: Option<&[u8]>) -> bool {
        let Some(id) = id else {
            return false;
        };
        let key = (self.shared.session.get().cloned(), id.to_owned());
        let is_new = self.recorder.names().events.insert(key);
        !is_new && self.shared.resumes
    }

    /// Reads the session from the headers. It is in the request, or only in the response to `initialize`.
    fn learn_session(&self, headers: &HeaderMap) {
        let Some(id) = headers.get(SESSION_HEADER) else {
            return;
        };
        let name = {
            let mut names = self.recorder.names();
            let next = names.sessions.len() + 1;
            names
                .sessions
                .entry(id.as_bytes().to_owned())
                .or_insert_with(|| next.to_string())
                .clone()
        };
        // It never changes.
        let _ = self.shared.session.set(name);
    }

    /// Returns how the body of the request is recorded.
    fn taking_of_request(&self) -> Taking {
        match self.shared.method == Method::POST {
            true => Taking::Request(Vec::new()),
            false => Taking::Nothing,
        }
    }

    /// Returns how the body of the response is recorded.
    fn taking_of_response(&self, status: StatusCode, headers: &HeaderMap) -> Taking {
        let kind = headers
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .and_then(|kind| kind.split(';').next())
            .map(|kind| kind.trim().to_ascii_lowercase());
        match (kind.as_deref(), self.shared.method.as_str()) {
            (Some("text/event-stream"), "POST" | "GET") => Taking::Events(EventReader::new()),
            (Some("application/json"), "POST") if status.is_success() => Taking::Whole(Vec::new()),
            (Some("application/json"), "POST" | "GET" | "DELETE") => Taking::Refusal(Vec::new()),
            _ => Taking::Nothing,
        }
    }

    /// Records that the client has ended its session.
    fn session_ended(&self) {
        let turn = self.shared.began;
        let record = Record {
            at: Some(turn.at),
            from: Side::Client,
            event: Event::Closed,
            stream: None,
            session: None,
        };
        self.recorder
            .push(turn, record, Some(self.shared.session.clone()));
    }
}

impl<S> Layer<S> for RecorderLayer {
    type Service = RecordedService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        RecordedService {
            inner,
            recorder: self.recorder.clone(),
        }
    }
}

impl<S, B, R> Service<Request<B>> for RecordedService<S>
where
    S: Service<Request<RecordedBody<B>>, Response = Response<R>>,
    B: Body<Data = Bytes>,
    R: Body<Data = Bytes>,
{
    type Response = Response<RecordedBody<R>>;
    type Error = S::Error;
    type Future = RecordedResponse<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let exchange = self.recorder.exchange(request.method(), request.headers());
        let taking = exchange.taking_of_request();
        let length = length_of(request.headers());
        let request =
            request.map(|body| RecordedBody::new(body, taking, exchange.clone()).of_length(length));
        let mut head = Head {
            exchange,
            is_done: false,
            is_at_work: true,
        };
        let inner = Box::pin(self.inner.call(request));
        head.is_at_work = false;
        RecordedResponse { inner, head }
    }
}

impl<F, R, E> Future for RecordedResponse<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    R: Body<Data = Bytes>,
{
    type Output = Result<Response<RecordedBody<R>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { inner, head } = self.get_mut();
        head.is_at_work = true;
        let polled = inner.as_mut().poll(cx);
        head.is_at_work = false;
        let response = match ready!(polled) {
            Ok(response) => response,
            Err(error) => {
                head.end(Side::Server);
                return Poll::Ready(Err(error));
            }
        };
        head.is_done = true;
        let (status, exchange) = (response.status(), head.exchange.clone());
        exchange.learn_session(response.headers());
        if exchange.shared.method == Method::DELETE && status.is_success() {
            exchange.session_ended();
        }
        let taking = exchange.taking_of_response(status, response.headers());
        Poll::Ready(Ok(
            response.map(|body| RecordedBody::new(body, taking, exchange))
        ))
    }
}

impl Head {
    /// Records that the response will not arrive.
    fn end(&mut self, by: Side) {
        if !std::mem::replace(&mut self.is_done, true) {
            self.exchange.push(by, Event::Closed, self.exchange.turn());
        }
    }
}

/// If it is dropped before the response has arrived, the client has disconnected, unless the service panicked.
impl Drop for Head {
    fn drop(&mut self) {
        self.end(match self.is_at_work {
            true => Side::Server,
            false => Side::Client,
        });
    }
}

/// Returns the length of a request's body in bytes, according to its head.
fn length_of(headers: &HeaderMap) -> Option<u64> {
    headers
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

impl<F> fmt::Debug for RecordedResponse<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedResponse").finish_non_exhaustive()
    }
}
