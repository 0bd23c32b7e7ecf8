//! What the server has no room for, or what its client cannot accept, is refused before anything is done for it.

use trueform::{HttpConfig, prelude::*};

use super::support::{App, Req};
use crate::{
    extended::Own,
    support::{add, initialize, keep_spans, legacy, log, spans, stage},
};

/// The method and the outcome of each request since the last look.
fn outcomes() -> Vec<String> {
    let spans = spans();
    let shown = spans.iter().map(|span| {
        let outcome = span.get("outcome").map_or("none yet", String::as_str);
        format!("{}: {outcome}", span["method"])
    });
    shown.collect()
}

// Issue 7: no session is opened, and the span of the request has the outcome that its client sees.
#[tokio::test]
async fn a_session() {
    let log = log();
    let app = App::with(HttpConfig::default().max_sessions(1));
    let open = app.session("2025-06-18").await;
    keep_spans();
    log.take();
    let [initialize, _] = initialize("2025-06-18");
    let refused = app.send(Req::post(initialize)).await;
    assert_eq!((refused.status, refused.code()), (503, -32603));
    assert_eq!(refused.json()["id"], 0);
    assert_eq!(refused.header("mcp-session-id"), None);
    assert_eq!(outcomes(), ["initialize: -32603"]);
    let log = log.take();
    let opened = |line: &String| line.contains("session opened");
    assert!(!log.iter().any(opened), "{log:?}");
    let got = app.send(Req::legacy(&open, "1", "ping", "{}")).await;
    assert_eq!(got.status, 200);
}

// Issue 7, U-3: nothing is subscribed for a client that does not accept a stream, or beyond the bound.
#[tokio::test]
async fn a_subscription() {
    let app = App::with(HttpConfig::default().max_listeners(1));
    let listen = |id: &str| {
        let wanted = r#","notifications":{"toolsListChanged":true}"#;
        Req::modern(id, "subscriptions/listen", wanted)
    };
    keep_spans();
    let refused = app.send(listen("1").header("accept", "application/json"));
    let refused = refused.await;
    assert_eq!((refused.status, refused.code()), (406, -32600));
    assert_eq!(refused.json()["id"], 1, "{refused:?}");
    assert_eq!(outcomes(), ["subscriptions/listen: -32600"]);
    let open = app.open(listen("2")).await;
    assert!(open.is_stream());
    assert_eq!(outcomes(), ["subscriptions/listen: none yet"]);
    let refused = app.send(listen("3")).await;
    assert_eq!((refused.status, refused.code()), (503, -32603));
    assert_eq!(outcomes(), ["subscriptions/listen: -32603"]);
    drop(open);
}

// Issue 7, F-5: a notification that a full server cannot work for is refused, alone and in a batch; one that it works for counts.
#[tokio::test]
async fn a_notification() {
    let (held, director) = stage();
    let service = Server::new("test", "1.0.0")
        .tools(tools![add])
        .extension(Own)
        .state(held)
        .http(HttpConfig::default().max_in_flight(1));
    let app = App::serving(service);
    let [initialize, _] =
        crate::asks::initialize("2025-03-26", r#"{"extensions":{"com.example/own":{}}}"#);
    let opened = app.send(Req::post(initialize)).await;
    let session = opened.header("mcp-session-id").expect("a session");
    let note = r#"{"jsonrpc":"2.0","method":"notifications/own/held"}"#;
    let post = |body: String| Req::post(body).session(session);
    let last = std::cell::Cell::new(0);
    let id = || {
        last.set(last.get() + 1);
        last.get().to_string()
    };
    let call = || Req::call(session, &id(), "add", r#"{"a":1,"b":2}"#);
    let batch = || post(format!("[{note},{}]", legacy(&id(), "ping", "{}")));
    assert_eq!(app.send(post(note.to_owned())).await.status, 202);
    assert_eq!(director.begun().await, "noted");
    let refused = app.send(post(note.to_owned())).await;
    assert_eq!((refused.status, refused.code()), (503, -32603));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(app.send(call()).await.status, 503);
    // Beside the response, an error without an id would be taken for one.
    let pong = serde_json::json!([{ "jsonrpc": "2.0", "id": 2, "result": {} }]);
    assert_eq!(app.send(batch()).await.json(), pong);
    let alone = app.send(post(format!("[{note}]"))).await;
    assert_eq!(alone.json()[0]["error"]["code"], -32603, "{alone:?}");
    director.open();
    while app.send(call()).await.status == 503 {
        tokio::task::yield_now().await;
    }
    // Each of a batch has a permit of its own, which it gives back when it ends.
    for _ in 0..2 {
        let batch = app.send(batch()).await;
        assert_eq!(batch.json().as_array().map(Vec::len), Some(1), "{batch:?}");
        assert_eq!(director.begun().await, "noted");
        while app.send(call()).await.status == 503 {
            tokio::task::yield_now().await;
        }
    }
}
