//! Sessions that the server has ended, where the opening of another fails, hangs, or comes too late.

use std::{
    future::IntoFuture,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::any,
};
use serde_json::{Value, json};
use tokio::{sync::Notify, time::Instant};
use trueform::{
    client::{Client, ClientError, ClientOptions},
    prelude::*,
    testing::InProcessHttp,
};

use crate::support::soon;

/// A request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    /// The method of the message, or that of HTTP if there is none.
    what: String,
    session: String,
}

/// What a server was asked.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Seen>>>);

impl Log {
    /// The sessions that the requests named which were `what`.
    fn sessions(&self, what: &str) -> Vec<String> {
        let seen = self.0.lock().unwrap();
        let found = seen.iter().filter(|seen| seen.what == what);
        found.map(|seen| seen.session.clone()).collect()
    }
}

/// A server whose sessions are `s-1`, `s-2` and so on. `answer` is given the request, the message, and how many sessions were asked for
/// so far, this one included; `None` is the usual answer.
async fn connected<F>(
    answer: impl Fn(Seen, Value, usize) -> F + Clone + Send + Sync + 'static,
) -> (Client, Log)
where
    F: Future<Output = Option<Response>> + Send,
{
    let log = Log::default();
    let (seen_by, opened) = (log.clone(), Arc::new(AtomicUsize::new(0)));
    let answer = move |method: Method, headers: HeaderMap, body: Bytes| {
        let (answer, log, opened) = (answer.clone(), seen_by.clone(), opened.clone());
        async move {
            let message: Value = serde_json::from_slice(&body).unwrap_or_default();
            let what = message["method"].as_str().unwrap_or(method.as_str());
            let session = headers.get("mcp-session-id");
            let seen = Seen {
                what: what.to_owned(),
                session: session
                    .map_or("", |session| session.to_str().unwrap())
                    .to_owned(),
            };
            log.0.lock().unwrap().push(seen.clone());
            if what == "initialize" {
                opened.fetch_add(1, Ordering::SeqCst);
            }
            let session = opened.load(Ordering::SeqCst);
            match answer(seen.clone(), message.clone(), session).await {
                Some(response) => response,
                None => usual(&seen, &message, session),
            }
        }
    };
    let router = Router::new().route("/mcp", any(answer));
    let options = ClientOptions::at(Revision::V2025_11_25).timeout(Duration::from_secs(600));
    let client = InProcessHttp::new(router).connect_as(options).await;
    (client.expect("a session"), log)
}

fn usual(seen: &Seen, message: &Value, session: usize) -> Response {
    let result = match &*seen.what {
        "initialize" => {
            json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "s", "version": "1" } })
        }
        "tools/call" => json!({ "content": [{ "type": "text", "text": "done" }] }),
        "GET" => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    let body = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
    let headers = [
        (header::CONTENT_TYPE.as_str(), "application/json".to_owned()),
        ("mcp-session-id", format!("s-{session}")),
    ];
    (headers, body.to_string()).into_response()
}

/// The answer that a server gives which does not have the session.
fn gone() -> Option<Response> {
    Some(StatusCode::NOT_FOUND.into_response())
}

async fn call(client: &Client) -> Result<String, ClientError> {
    let called = soon(client.call_tool("x", ()).into_future()).await;
    called.map(|result| result.text())
}

/// A server that refuses `initialize`, or leaves it, is asked once for all requests that wait.
#[tokio::test(start_paused = true)]
async fn one_attempt_is_that_of_all() {
    for hangs in [false, true] {
        let (client, log) = connected(move |seen, _, session| async move {
            match &*seen.what {
                "initialize" if session > 1 && hangs => std::future::pending().await,
                "initialize" if session > 1 => {
                    // All have noticed it by then.
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Some(StatusCode::INTERNAL_SERVER_ERROR.into_response())
                }
                "tools/call" => gone(),
                _ => None,
            }
        })
        .await;
        for attempts in [1, 2] {
            let begun = Instant::now();
            let mut calls = tokio::task::JoinSet::new();
            for _ in 0..20 {
                calls.spawn(client.call_tool("x", ()).into_future());
            }
            for called in soon(calls.join_all()).await {
                let error = called.unwrap_err().to_string();
                let expected = match hangs {
                    false => "a new one was not opened: HTTP 500",
                    true => "a new one was not opened: no answer within 60s",
                };
                assert!(error.contains(expected), "{error}");
            }
            assert!(begun.elapsed() <= Duration::from_secs(61), "{hangs}");
            // Those that come later try again.
            assert_eq!(log.sessions("initialize").len(), 1 + attempts, "{hangs}");
        }
    }
}

// B-5: until `notifications/initialized` has its response, requests name the old session.
#[tokio::test(start_paused = true)]
async fn a_session_is_named_once_it_is_open() {
    let refused = Arc::new(Notify::new());
    let is_refused = refused.clone();
    let ready = Arc::new(AtomicUsize::new(0));
    let (client, log) = connected(move |seen, _, session| {
        let (refused, ready) = (is_refused.clone(), ready.clone());
        async move {
            match (&*seen.what, &*seen.session) {
                ("tools/call", "s-1") => {
                    refused.notify_one();
                    gone()
                }
                ("tools/call", _) if ready.load(Ordering::SeqCst) == 0 => {
                    let error =
                        json!({ "code": -32000, "message": "Bad Request: Server not initialized" });
                    let body = json!({ "jsonrpc": "2.0", "id": null, "error": error });
                    Some((StatusCode::BAD_REQUEST, body.to_string()).into_response())
                }
                ("notifications/initialized", _) if session > 1 => {
                    tokio::time::sleep(Duration::from_secs(5)).await;
                    ready.store(1, Ordering::SeqCst);
                    None
                }
                _ => None,
            }
        }
    })
    .await;
    let first = tokio::spawn(client.call_tool("x", ()).into_future());
    soon(refused.notified()).await;
    // The session that is being opened waits for its first response.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(call(&client).await.unwrap(), "done");
    assert_eq!(soon(first).await.unwrap().unwrap().text(), "done");
    let calls = log.sessions("tools/call");
    assert_eq!(calls, ["s-1", "s-1", "s-2", "s-2"]);
    assert_eq!(log.sessions("initialize").len(), 2);
    assert_eq!(log.sessions("notifications/initialized"), ["s-1", "s-2"]);
}

/// As at the beginning of the first session: 10 s.
#[tokio::test(start_paused = true)]
async fn a_server_that_leaves_initialized_unanswered() {
    let (client, _) = connected(|seen, _, session| async move {
        match (&*seen.what, &*seen.session) {
            ("tools/call", "s-1") => gone(),
            ("notifications/initialized", _) if session > 1 => std::future::pending().await,
            _ => None,
        }
    })
    .await;
    let begun = Instant::now();
    assert_eq!(call(&client).await.unwrap(), "done");
    assert_eq!(begun.elapsed().as_secs(), 10);
}

// G-6: the session's own stream is opened in the new session at once, whatever wait the server asked for before.
#[tokio::test(start_paused = true)]
async fn the_wait_of_an_earlier_session() {
    let (client, log) = connected(|seen, _, session| async move {
        match (&*seen.what, &*seen.session) {
            ("GET", "s-1") => {
                let events = Body::from("retry: 300000\nid: 1\ndata:\n\n");
                Some(([(header::CONTENT_TYPE, "text/event-stream")], events).into_response())
            }
            ("tools/call", "s-1") if session == 1 => gone(),
            _ => None,
        }
    })
    .await;
    // The stream of the first session has ended meanwhile.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(log.sessions("GET"), ["s-1"]);
    assert_eq!(call(&client).await.unwrap(), "done");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(log.sessions("GET"), ["s-1", "s-2"]);
}

// G-4: a session that is opened when the client has ended is ended as well.
#[tokio::test(start_paused = true)]
async fn a_session_that_comes_too_late() {
    let (client, log) = connected(|seen, _, session| async move {
        match &*seen.what {
            "initialize" if session > 1 => {
                tokio::time::sleep(Duration::from_secs(30)).await;
                None
            }
            "tools/call" => gone(),
            _ => None,
        }
    })
    .await;
    let calling = tokio::spawn(client.call_tool("x", ()).into_future());
    tokio::time::sleep(Duration::from_secs(1)).await;
    let begun = Instant::now();
    soon(client.close()).await;
    assert!(begun.elapsed() <= 2 * InProcessHttp::CLOSE_WITHIN);
    assert!(soon(calling).await.unwrap().is_err());
    assert_eq!(log.sessions("DELETE"), ["s-1"]);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(log.sessions("DELETE"), ["s-1", "s-2"]);
}
