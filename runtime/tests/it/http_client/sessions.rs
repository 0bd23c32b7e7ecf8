//! Sessions that the server no longer has: opened again once where that is what it says, and not in a circle.

use std::{
    future::IntoFuture,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::json;
use trueform::client::{ClientError, HttpEndpoint, HttpErrorKind};

use super::{
    call, connect, failed, old,
    server::{Answer, Scripted, called, legacy},
};
use crate::support::soon;

/// A refusal: the status, and the error, if there is one.
type Refusal = (&'static str, Option<(i64, &'static str)>);

async fn refuse(answer: Answer, (status, error): Refusal) {
    match error {
        None => answer.reply(status, "", "").await,
        Some((code, message)) => {
            let error = json!({ "code": code, "message": message });
            let body = json!({ "jsonrpc": "2.0", "id": null, "error": error });
            answer.json(status, body).await;
        }
    }
}

/// How servers say that they do not have a session: the specification by 404, others by 400.
const NO_SESSION: [Refusal; 4] = [
    ("404 Not Found", None),
    ("404 Not Found", Some((-32001, "Session not found"))),
    (
        "400 Bad Request",
        Some((-32000, "Bad Request: No valid session ID provided")),
    ),
    (
        "400 Bad Request",
        Some((-32000, "Bad Request: Server not initialized")),
    ),
];

// G-3: once for all requests that notice it, and the calls are answered.
#[tokio::test]
async fn a_session_that_the_server_ended() {
    for refusal in NO_SESSION {
        let sessions = Arc::new(AtomicUsize::new(0));
        let opened = sessions.clone();
        let server = Scripted::start(move |asked, answer| {
            let opened = opened.clone();
            async move {
                let count = match asked.what() {
                    "initialize" => opened.fetch_add(1, Ordering::SeqCst) + 1,
                    _ => opened.load(Ordering::SeqCst),
                };
                let Some((asked, answer)) = legacy(asked, answer, &format!("s-{count}")).await
                else {
                    return;
                };
                match (asked.what(), asked.header("mcp-session-id")) {
                    ("tools/call", Some("s-1")) => refuse(answer, refusal).await,
                    ("tools/call", _) => answer.result(&asked, called("done")).await,
                    _ => answer.reply("405 Method Not Allowed", "", "").await,
                }
            }
        })
        .await;
        let reported = Arc::new(AtomicUsize::new(0));
        let report = reported.clone();
        let endpoint = HttpEndpoint::new(&*server.url).on_new_session(move || {
            report.fetch_add(1, Ordering::SeqCst);
        });
        let client = soon(endpoint.connect_as(old())).await.unwrap();
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..8 {
            calls.spawn(client.call_tool("x", ()).into_future());
        }
        for called in soon(calls.join_all()).await {
            assert_eq!(called.unwrap().text(), "done", "{refusal:?}");
        }
        assert_eq!(sessions.load(Ordering::SeqCst), 2, "{:?}", server.whats());
        assert_eq!(reported.load(Ordering::SeqCst), 1, "{refusal:?}");
        let openings = server.all("initialize");
        assert_eq!(openings[1].header("mcp-session-id"), None);
        assert_eq!(openings[0].body["params"], openings[1].body["params"]);
        assert_ne!(openings[0].id(), openings[1].id(), "A-3");
        soon(client.close()).await;
        assert_eq!(
            server.all("DELETE")[0].header("mcp-session-id"),
            Some("s-2")
        );
    }
}

#[tokio::test]
async fn sessions_that_do_not_last() {
    for refusal in NO_SESSION {
        let server = Scripted::start(move |asked, answer| async move {
            if let Some((_, answer)) = legacy(asked, answer, "s").await {
                refuse(answer, refusal).await;
            }
        })
        .await;
        let client = connect(&server, old()).await;
        let error = failed(call(&client, "x").await);
        assert_eq!(error.kind(), HttpErrorKind::SessionLost, "{refusal:?}");
        let openings = server.all("initialize").len();
        // A server without the session's own stream may say 404 too: that ends no session.
        assert_eq!(openings, 2, "{:?}", server.whats());
        assert_eq!(server.all("tools/call").len(), 2, "{refusal:?}");
    }
}

/// What is not clearly about the session is the answer: the call may have been made.
#[tokio::test]
async fn a_refusal_for_another_reason() {
    let server = Scripted::start(move |asked, answer| async move {
        if let Some((_, answer)) = legacy(asked, answer, "s").await {
            let message = "Bad Request: Unsupported protocol version";
            refuse(answer, ("400 Bad Request", Some((-32000, message)))).await;
        }
    })
    .await;
    let client = connect(&server, old()).await;
    match call(&client, "x").await {
        Err(ClientError::Remote(error)) => {
            assert_eq!(error.code, -32000);
            assert!(error.message.contains("Unsupported"), "{}", error.message);
        }
        other => panic!("expected the error of the server, found {other:?}"),
    }
    assert_eq!(server.all("initialize").len(), 1, "{:?}", server.whats());
    assert_eq!(server.all("tools/call").len(), 1);
}
