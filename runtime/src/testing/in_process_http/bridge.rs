//! The task between the client's byte stream and the router: lines become requests, responses become lines.

use std::{
    collections::HashMap,
    convert::Infallible,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{Router, body::Body, response::Response};
use http::{Request, StatusCode};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream},
    sync::Mutex,
    task::{AbortHandle, JoinSet},
    time::timeout,
};
use tower::Service as _;
use trueform_schema::{Method, methods};

use super::{
    InProcessHttp,
    answer::{Events, answer, answers, failed, is_events, line, whole},
    request::{Requests, SentRequest},
};
use crate::{contained::contained_future, jsonrpc};

/// What moves the messages of one client.
pub(super) struct Bridge {
    router: Router,
    requests: Requests,
    /// To the client; one message at a time.
    client: Mutex<DuplexStream>,
}

/// The requests that are not answered yet.
#[derive(Default)]
struct RunningExchange {
    tasks: JoinSet<()>,
    /// By their ids as JSON text.
    by_id: HashMap<String, Ongoing>,
    /// The task that reads the session's own stream.
    own_stream: Option<AbortHandle>,
}

struct Ongoing {
    task: AbortHandle,
    /// It ends with the connection, not by itself.
    listens: bool,
}

/// A response of the router. `None` if it panicked.
type Answering = std::pin::Pin<Box<dyn Future<Output = Option<Response>> + Send>>;

impl Bridge {
    pub(super) fn new(router: Router, requests: Requests, client: DuplexStream) -> Arc<Self> {
        let client = Mutex::new(client);
        Arc::new(Self {
            router,
            requests,
            client,
        })
    }

    /// Moves messages until the client closes its side.
    pub(super) async fn run(self: Arc<Self>, lines: DuplexStream) {
        let mut running = RunningExchange::default();
        let mut lines = BufReader::new(lines);
        let mut text = Vec::new();
        while lines
            .read_until(b'\n', &mut text)
            .await
            .is_ok_and(|read| read != 0)
        {
            let body = std::mem::take(&mut text);
            let body = jsonrpc::trimmed(&body).to_vec();
            if !body.is_empty() {
                self.take(SentRequest::new(body), &mut running).await;
            }
            running.forget_ended();
        }
        running.end().await;
        if let Some(delete) = self.requests.delete() {
            // 405: the server does not let clients end sessions.
            self.deliver(delete, &[StatusCode::METHOD_NOT_ALLOWED])
                .await;
        }
    }

    async fn take(self: &Arc<Self>, sent: SentRequest, running: &mut RunningExchange) {
        if let Some(id) = sent.request_id().cloned() {
            return self.ask(sent, id, running).await;
        }
        let cancels = sent.notifies::<methods::Cancelled>();
        // In the modern era the end of the response is the cancellation.
        if !(cancels && self.requests.is_modern()) {
            self.deliver(self.requests.post(&sent), &[]).await;
        }
        if let (true, Some(id)) = (cancels, sent.cancelled_id())
            && let Some(ongoing) = running.by_id.remove(&id.to_string())
        {
            ongoing.task.abort();
        }
        if sent.notifies::<methods::Initialized>() {
            self.open_own_stream(running).await;
        }
    }

    /// Sends a request. The router has begun with it when this returns, so that what is sent next does not overtake it.
    async fn ask(self: &Arc<Self>, sent: SentRequest, id: Value, running: &mut RunningExchange) {
        let mut answering = self.send(self.requests.post(&sent));
        let begun = poll_fn(|cx| Poll::Ready(answering.as_mut().poll(cx))).await;
        let key = id.to_string();
        let listens = sent.method() == Some(Method::SubscriptionsListen.as_str());
        let bridge = self.clone();
        let task = running.tasks.spawn(async move {
            let response = match begun {
                Poll::Ready(response) => response,
                Poll::Pending => answering.await,
            };
            bridge.answered(&sent, &id, response).await;
        });
        running.by_id.insert(key, Ongoing { task, listens });
    }

    /// Passes the response to `sent` on. The client gets an answer, whatever the response is.
    async fn answered(&self, sent: &SentRequest, id: &Value, response: Option<Response>) {
        let Some(response) = response else {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            let panicked = failed(id, status, "the router panicked");
            return self.pass_on(panicked.to_string().into_bytes()).await;
        };
        let status = response.status();
        self.requests.answered(sent, response.headers());
        if status.is_success() && is_events(&response) {
            let problem = match self.stream(sent, id, response.into_body()).await {
                Ok(()) => return,
                Err(problem) => problem,
            };
            let failed = failed(id, status, &problem);
            return self.pass_on(failed.to_string().into_bytes()).await;
        }
        let answer = match whole(response.into_body()).await {
            Ok(body) => answer(id, status, &body),
            Err(problem) => failed(id, status, &problem),
        };
        self.requests.learn(sent, &answer);
        self.pass_on(answer.to_string().into_bytes()).await;
    }

    /// Passes the events of a stream on, up to the answer to `sent`.
    async fn stream(&self, sent: &SentRequest, id: &Value, body: Body) -> Result<(), String> {
        let mut events = Events::new(body);
        let mut is_answered = false;
        while let Some(messages) = events.next().await {
            for message in messages? {
                if let Ok(value) = serde_json::from_slice::<Value>(&message)
                    && answers(&value, id)
                {
                    is_answered = true;
                    self.requests.learn(sent, &value);
                }
                self.pass_on(message).await;
            }
        }
        match is_answered {
            true => Ok(()),
            false => Err("the stream ended before the answer".to_owned()),
        }
    }

    /// Opens the stream of what belongs to no request, if the server has one.
    async fn open_own_stream(self: &Arc<Self>, running: &mut RunningExchange) {
        let none = [StatusCode::METHOD_NOT_ALLOWED];
        let Some(response) = self.deliver(self.requests.get(), &none).await else {
            return;
        };
        if !response.status().is_success() || !is_events(&response) {
            return;
        }
        let bridge = self.clone();
        let reading = running.tasks.spawn(async move {
            let mut events = Events::new(response.into_body());
            while let Some(messages) = events.next().await {
                match messages {
                    Ok(messages) => {
                        for message in messages {
                            bridge.pass_on(message).await;
                        }
                    }
                    Err(problem) => {
                        return tracing::warn!(problem, "the session's own stream ended");
                    }
                }
            }
        });
        running.own_stream = Some(reading);
    }

    /// Sends what is not answered by a message. A response that is neither a success nor one of `expected` is logged.
    async fn deliver(&self, request: Request<Body>, expected: &[StatusCode]) -> Option<Response> {
        let method = request.method().clone();
        let limit = InProcessHttp::DEADLINE;
        let Ok(response) = timeout(limit, self.send(request)).await else {
            tracing::warn!(%method, ?limit, "the router did not answer in time");
            return None;
        };
        let response = response?;
        let status = response.status();
        if !status.is_success() && !expected.contains(&status) {
            tracing::warn!(%method, %status, "the router refused a message that has no answer");
        }
        Some(response)
    }

    fn send(&self, request: Request<Body>) -> Answering {
        let mut router = self.router.clone();
        let answering = async move {
            poll_fn(|cx: &mut Context<'_>| {
                tower::Service::<Request<Body>>::poll_ready(&mut router, cx)
            })
            .await
            .unwrap_or_else(|never: Infallible| match never {});
            let response = router.call(request).await;
            response.unwrap_or_else(|never: Infallible| match never {})
        };
        Box::pin(contained_future("the router", Box::pin(answering)))
    }

    /// Hands a message to the client, which may be gone.
    async fn pass_on(&self, message: Vec<u8>) {
        let _ = self.client.lock().await.write_all(&line(message)).await;
    }
}

impl RunningExchange {
    fn forget_ended(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        self.by_id.retain(|_, ongoing| !ongoing.task.is_finished());
    }

    /// Waits for the answers that are to come, within limits.
    async fn end(mut self) {
        let streams = self.by_id.values().filter(|ongoing| ongoing.listens);
        for stream in streams.map(|ongoing| &ongoing.task).chain(&self.own_stream) {
            stream.abort();
        }
        let answered = async { while self.tasks.join_next().await.is_some() {} };
        if timeout(InProcessHttp::CLOSE_WITHIN, answered)
            .await
            .is_err()
        {
            tracing::warn!("requests were not answered when the connection was closed");
        }
        self.tasks.shutdown().await;
    }
}
