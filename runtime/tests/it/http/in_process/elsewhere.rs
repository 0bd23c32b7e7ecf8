//! Responses that nothing waits for any more: the answer came on another stream, or the client was dropped while it connected.

use std::{
    convert::Infallible,
    future::IntoFuture,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::any,
};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use trueform::{
    client::{ClientOptions, HttpEndpoint},
    prelude::*,
    testing::InProcessHttp,
};

use crate::support::soon;

fn old() -> ClientOptions {
    ClientOptions::at(Revision::V2025_11_25).timeout(Duration::from_secs(60))
}

fn initialized(message: &Value) -> String {
    let result = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "s", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string()
}

/// An event stream that brings `events`.
fn events(events: impl stream::Stream<Item = String> + Send + 'static) -> Response {
    let body = Body::from_stream(events.map(Ok::<_, Infallible>));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// How the response to a call that is answered elsewhere goes on.
#[derive(Clone, Copy, Debug)]
enum Post {
    NoHead,
    Silent,
}

// More calls than there may be open responses, each answered on the session's own stream: none keeps its place.
#[tokio::test(start_paused = true)]
async fn calls_that_are_answered_on_another_stream() {
    for post in [Post::NoHead, Post::Silent] {
        let (tell, told) = mpsc::unbounded_channel::<String>();
        let own = Arc::new(Mutex::new(Some(told)));
        let answer = move |method: Method, body: Bytes| {
            let (tell, own) = (tell.clone(), own.clone());
            async move {
                let message: Value = serde_json::from_slice(&body).unwrap_or_default();
                match message["method"].as_str() {
                    Some("initialize") => {
                        let json = [(header::CONTENT_TYPE, "application/json")];
                        (json, initialized(&message)).into_response()
                    }
                    Some("tools/call") => {
                        let result = json!({ "content": [{ "type": "text", "text": "done" }] });
                        let answer =
                            json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                        tell.send(format!("data: {answer}\n\n")).unwrap();
                        match post {
                            Post::NoHead => std::future::pending().await,
                            Post::Silent => events(stream::pending()),
                        }
                    }
                    _ if method == Method::GET => {
                        let told = own.lock().unwrap().take().expect("one stream");
                        events(stream::unfold(told, async |mut told| {
                            Some((told.recv().await?, told))
                        }))
                    }
                    _ => StatusCode::ACCEPTED.into_response(),
                }
            }
        };
        let router = Router::new().route("/mcp", any(answer));
        let client = InProcessHttp::new(router).connect_as(old()).await.unwrap();
        let count = 2 * HttpEndpoint::MAX_STREAMS;
        let begun = Instant::now();
        for _ in 0..2 {
            let calls = (0..count).map(|_| client.call_tool("x", ()).into_future());
            for called in soon(futures_util::future::join_all(calls)).await {
                assert_eq!(called.unwrap().text(), "done", "{post:?}");
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "{post:?}");
        soon(client.close()).await;
    }
}

/// Where `connect` is when it is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dropped {
    /// The server has `initialize`, and answers after this many seconds.
    BeforeHead(u64),
    /// The session is open, and the stream of the answer brings nothing.
    BeforeAnswer,
}

// G-4: a session that the server opens for a client that is no longer there is ended.
#[tokio::test(start_paused = true)]
async fn a_connect_that_is_dropped() {
    for (dropped, is_ended) in [
        (Dropped::BeforeHead(1), true),
        (Dropped::BeforeHead(4), true),
        (Dropped::BeforeAnswer, true),
        // Not waited for: no wait is without end.
        (Dropped::BeforeHead(6), false),
    ] {
        let (tell, mut told) = mpsc::unbounded_channel();
        let (asked, was_asked) = oneshot::channel();
        let asked = Arc::new(Mutex::new(Some(asked)));
        let answer = move |method: Method, headers: HeaderMap, body: Bytes| {
            let (tell, asked) = (tell.clone(), asked.clone());
            async move {
                let message: Value = serde_json::from_slice(&body).unwrap_or_default();
                if message["method"] == "initialize" {
                    let asked = asked.lock().unwrap().take();
                    let _ = asked.expect("one `initialize`").send(());
                    let session = [("mcp-session-id", "s-1")];
                    return match dropped {
                        Dropped::BeforeHead(seconds) => {
                            tokio::time::sleep(Duration::from_secs(seconds)).await;
                            let json = [(header::CONTENT_TYPE, "application/json")];
                            (session, json, initialized(&message)).into_response()
                        }
                        Dropped::BeforeAnswer => {
                            (session, events(stream::pending())).into_response()
                        }
                    };
                }
                let session = headers.get("mcp-session-id").cloned();
                tell.send((method.clone(), session.unwrap())).unwrap();
                match method {
                    Method::GET => StatusCode::METHOD_NOT_ALLOWED.into_response(),
                    _ => StatusCode::ACCEPTED.into_response(),
                }
            }
        };
        let router = Router::new().route("/mcp", any(answer));
        let connecting =
            tokio::spawn(async move { InProcessHttp::new(router).connect_as(old()).await });
        soon(was_asked).await.unwrap();
        let begun = Instant::now();
        connecting.abort();
        assert!(soon(connecting).await.unwrap_err().is_cancelled());
        // The server is dropped with what moves the messages, which is the end.
        let mut requests = Vec::new();
        while let Some((method, session)) = soon(told.recv()).await {
            requests.push((method, session.to_str().unwrap().to_owned()));
        }
        let expected = is_ended.then(|| (Method::DELETE, "s-1".to_owned()));
        assert_eq!(requests, Vec::from_iter(expected), "{dropped:?}");
        assert!(
            begun.elapsed() <= InProcessHttp::CLOSE_WITHIN,
            "{dropped:?}"
        );
    }
}
