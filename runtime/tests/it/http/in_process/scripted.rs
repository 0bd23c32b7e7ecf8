//! The client against endpoints of the test's own: what is wrong, slow or without end.

use std::{
    future::{IntoFuture, poll_fn},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use http_body::Frame;
use serde_json::{Value, json};
use trueform::{
    client::{Client, ClientError, ClientOptions, LocalError},
    prelude::*,
    testing::InProcessHttp,
};

use super::refusal;
use crate::support::{log, soon};

/// An endpoint that answers every message by `answer`, given the message.
fn endpoint<F>(answer: impl Fn(Value) -> F + Clone + Send + Sync + 'static) -> Router
where
    F: Future<Output = Response> + Send,
{
    let answer = move |body: Bytes| {
        let answer = answer.clone();
        async move { answer(serde_json::from_slice(&body).expect("JSON")).await }
    };
    Router::new().route("/mcp", post(answer))
}

fn json(status: u16, body: impl ToString) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    (
        status,
        [(header::CONTENT_TYPE, "application/json")],
        body.to_string(),
    )
        .into_response()
}

fn events(body: Body) -> Response {
    (
        [(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")],
        body,
    )
        .into_response()
}

fn initialized(message: &Value) -> Response {
    let result = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": { "name": "s", "version": "1" } });
    json(
        200,
        json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }),
    )
}

/// A session without an id, against an endpoint whose calls `answer` answers.
async fn against<F>(
    answer: impl Fn(Value) -> F + Clone + Send + Sync + 'static,
    options: ClientOptions,
) -> Client
where
    F: Future<Output = Response> + Send,
{
    let router = endpoint(move |message| {
        let answer = answer.clone();
        async move {
            match message["method"].as_str() {
                Some("initialize") => initialized(&message),
                Some("tools/call") => answer(message).await,
                _ => StatusCode::ACCEPTED.into_response(),
            }
        }
    });
    let client = InProcessHttp::new(router).connect_as(options).await;
    client.expect("a session")
}

fn old() -> ClientOptions {
    ClientOptions::at(Revision::V2025_06_18)
}

// Y-6: what has no end is given up; so is what has no answer.
#[tokio::test]
async fn answers_that_are_none() {
    /// The same bytes without end.
    struct Endless(&'static [u8]);

    impl http_body::Body for Endless {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            std::task::Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(self.0)))))
        }
    }

    static MANY: [u8; 1 << 20] = [b'x'; 1 << 20];
    let answer = |message: Value| async move {
        let id = &message["id"];
        match message["params"]["name"].as_str().expect("a name") {
            "empty" => StatusCode::ACCEPTED.into_response(),
            "text" => "no message".into_response(),
            "error" => json(400, json!({ "jsonrpc": "2.0", "error": { "code": -32600, "message": "no" } })),
            "pretty" => json(200, format!("{{\n\"jsonrpc\": \"2.0\",\r\n\"id\": {id}, \"result\": {{\"content\": []}}\n}}\n")),
            "cut" => events("event: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: ".into()),
            "silent" => events(": nothing\n\n".into()),
            "endless" => Body::new(Endless(&MANY)).into_response(),
            "endless event" => events(Body::new(Endless(&MANY))),
            "split" => events(format!("data: {{\"jsonrpc\":\"2.0\",\ndata: \"id\":{id},\"result\":{{\"content\":[]}}}}\n\n").into()),
            "panic" => panic!("meant to"),
            name => unreachable!("{name}"),
        }
    };
    let client = against(answer, old()).await;
    for (name, expected) in [
        (
            "empty",
            Err((202, "HTTP 202 Accepted: the response has no body")),
        ),
        (
            "text",
            Err((
                200,
                "HTTP 200 OK: expected `application/json` or `text/event-stream`, found `text/plain`: no message",
            )),
        ),
        ("error", Err((-32600, "no"))),
        (
            "cut",
            Err((200, "HTTP 200 OK: the stream ended before the answer")),
        ),
        (
            "silent",
            Err((200, "HTTP 200 OK: the stream ended before the answer")),
        ),
        (
            "endless",
            Err((200, "HTTP 200 OK: the body has more than 67108864 bytes")),
        ),
        (
            "endless event",
            Err((200, "HTTP 200 OK: an event has more than 67108864 bytes")),
        ),
        (
            "panic",
            Err((500, "HTTP 500 Internal Server Error: the router panicked")),
        ),
        ("split", Ok(())),
        ("pretty", Ok(())),
    ] {
        let outcome = soon(client.call_tool(name, ()).into_future()).await;
        match expected {
            Ok(()) => assert_eq!(outcome.expect(name).is_error, None, "{name}"),
            Err((code, message)) => {
                assert_eq!(refusal(outcome), (code, message.to_owned()), "{name}")
            }
        }
    }
    soon(client.close()).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_waits_for_ever() {
    // A call without an answer, and an end that such a call does not hold up.
    let never = |_| std::future::pending();
    let client = against(never, old().timeout(Duration::from_secs(7))).await;
    let begun = tokio::time::Instant::now();
    let outcome = client.call_tool("x", ()).await;
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "no answer to `tools/call` of `x` within 7s, which `ClientOptions::timeout` sets; set a longer time, or see what the server does"
    );
    assert_eq!(begun.elapsed().as_secs(), 7);

    let client = against(never, old()).await;
    let call = tokio::spawn(client.call_tool("x", ()).into_future());
    tokio::task::yield_now().await;
    let begun = tokio::time::Instant::now();
    client.clone().close().await;
    assert_eq!(begun.elapsed(), InProcessHttp::CLOSE_WITHIN);
    let outcome = call.await.expect("no panic");
    assert!(
        matches!(outcome, Err(ClientError::Local(LocalError::Closed))),
        "{outcome:?}"
    );

    // `notifications/initialized` without a response holds up what follows, and not for ever.
    let lines = log();
    let router = endpoint(|message| async move {
        match message["method"].as_str() {
            Some("initialize") => initialized(&message),
            Some("tools/call") => json(
                200,
                json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": [] } }),
            ),
            _ => std::future::pending().await,
        }
    });
    let options = old().timeout(InProcessHttp::DEADLINE * 3);
    let client = InProcessHttp::new(router)
        .connect_as(options)
        .await
        .unwrap();
    let begun = tokio::time::Instant::now();
    client.call_tool("x", ()).await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(10));
    let lines = lines.take().join("\n");
    let expected = "the server has not answered `notifications/initialized`";
    assert!(lines.contains(expected), "{lines}");
}

// O-1: what is sent next does not overtake what was sent before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_arrive_in_their_order() {
    let arrived = Arc::new(AtomicUsize::new(0));
    let order = arrived.clone();
    let answer = move |message: Value| {
        // Runs at the first poll, like the endpoint's own look at a message.
        let place = order.fetch_add(1, Ordering::SeqCst);
        let content = json!([{ "type": "text", "text": place.to_string() }]);
        let answer =
            json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": content } });
        async move { json(200, answer) }
    };
    let client = against(answer, old()).await;
    let calls = async {
        let mut tasks = tokio::task::JoinSet::new();
        for i in 0..200 {
            let mut call = Box::pin(client.call_tool("x", ()).into_future());
            // Sent by this task, in this order.
            let sent = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await;
            tasks.spawn(async move {
                let said = match sent {
                    Poll::Ready(said) => said,
                    Poll::Pending => call.await,
                };
                (i.to_string(), said.unwrap().text())
            });
        }
        tasks.join_all().await
    };
    for (sent, arrived) in soon(calls).await {
        assert_eq!(sent, arrived);
    }
}
