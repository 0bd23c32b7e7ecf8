//! Sessions of the legacy era: opened by `initialize`, bound to who opened them, ended by DELETE or by idleness.

use std::time::Duration;

use trueform::HttpConfig;

use super::support::{App, Req};

// B-2, B-3, F-19
#[tokio::test]
async fn every_legacy_revision() {
    let app = App::new();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = app.session(revision).await;
        assert!(session.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
        let got = app
            .send(Req::call(&session, "1", "add", r#"{"a":2,"b":3}"#))
            .await;
        assert_eq!(
            (got.header("content-type"), got.text()),
            (Some("application/json"), "5".to_owned()),
            "{revision}"
        );
        assert_eq!(got.header("mcp-session-id"), None);
    }
    let [initialize, _] = crate::support::initialize("2026-07-28");
    let got = app.send(Req::post(initialize)).await;
    assert_eq!(
        got.json()["result"]["protocolVersion"],
        "2025-11-25",
        "TRAP-06"
    );
}

// D-2
#[tokio::test]
async fn both_eras_at_once() {
    let app = App::new();
    let session = app.session("2025-06-18").await;
    let modern = Req::modern(
        "1",
        "tools/call",
        r#","name":"add","arguments":{"a":1,"b":1}"#,
    );
    let (legacy, modern) = tokio::join!(
        app.send(Req::call(&session, "1", "add", r#"{"a":2,"b":3}"#)),
        app.send(modern.session(&session))
    );
    assert_eq!(
        (legacy.text(), modern.text()),
        ("5".to_owned(), "2".to_owned())
    );
}

// F-21, F-22
#[tokio::test]
async fn delete_ends_a_session() {
    let app = App::new();
    let session = app.session("2025-06-18").await;
    let stream = app.open(Req::get(&session)).await;
    assert!(stream.is_stream());
    assert_eq!(
        app.send(Req::delete("5e0b6a52-0000-4000-8000-000000000000"))
            .await
            .status,
        404
    );
    assert_eq!(
        app.send(Req::delete("x").without("mcp-session-id"))
            .await
            .status,
        400
    );
    assert_eq!(app.send(Req::delete(&session)).await.status, 204);
    assert_eq!(stream.events().await, [], "its stream ends");
    for request in [
        Req::legacy(&session, "1", "tools/list", "{}"),
        Req::get(&session),
        Req::delete(&session),
    ] {
        assert_eq!(app.send(request).await.status, 404);
    }
}

// F-20, F-21: which of the three it is, for each method; of two headers none is taken to be meant.
#[tokio::test]
async fn a_header_that_leads_to_no_session() {
    let app = App::new();
    let session = app.session("2025-06-18").await;
    let named = |id: &str| {
        [
            Req::legacy(id, "1", "ping", "{}"),
            Req::get(id),
            Req::delete(id),
        ]
    };
    let twice = named(&session).map(|request| request.also("mcp-session-id", &session));
    let absent = named(&session).map(|request| request.without("mcp-session-id"));
    for (requests, status, rule, problem) in [
        (twice, 400, "session", "occurs twice"),
        (absent, 400, "missing", "header is missing"),
        (named("x"), 404, "session", "there is no such session"),
    ] {
        for request in requests {
            let got = app.send(request).await;
            assert_eq!((got.status, got.code()), (status, -32600), "{}", got.body);
            let error = &got.json()["error"];
            assert_eq!(error["data"]["rule"], rule, "{error}");
            let expected = "an `Mcp-Session-Id` header with the id of an open session";
            assert_eq!(error["data"]["expected"], expected);
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(problem), "{message}");
        }
    }
    // F-23
    for request in named(&session) {
        let request = request.without("mcp-protocol-version");
        let got = app
            .send(request.header("mcp-protocol-version", "1.0"))
            .await;
        assert_eq!((got.status, got.code()), (400, -32600), "{}", got.body);
        let error = &got.json()["error"];
        assert_eq!(error["data"]["rule"], "version", "{error}");
    }
    let ping = Req::legacy(&session, "1", "ping", "{}");
    assert_eq!(app.send(ping).await.status, 200, "the session goes on");
}

// F-21: what a session has at work ends with it, and its client is neither left waiting nor told that it is accepted.
#[tokio::test]
async fn delete_cancels_what_is_at_work() {
    let app = App::new();
    let session = app.session("2025-06-18").await;
    let wait =
        Req::call(&session, "7", "wait", r#"{"label":"x"}"#).header("accept", "application/json");
    let (got, ()) = tokio::join!(app.send(wait), async {
        assert_eq!(app.director.begun().await, "x");
        assert_eq!(app.send(Req::delete(&session)).await.status, 204);
    });
    assert_eq!(
        (got.status, got.json()["id"].clone(), got.code()),
        (404, serde_json::json!(7), -32600)
    );
    assert_eq!(app.director.begun().await, "dropped x");
}

// Y-1
#[tokio::test]
async fn sessions_belong_to_a_principal() {
    let app = App::new();
    let session = app.session_as("2025-06-18", Some("ann")).await;
    let call = Req::call(&session, "1", "whoami", "{}");
    assert_eq!(
        app.send(call.clone().principal(Some("ann"))).await.text(),
        "ann"
    );
    for other in [Some("bob"), None] {
        for request in [call.clone(), Req::get(&session), Req::delete(&session)] {
            assert_eq!(
                app.send(request.principal(other)).await.status,
                404,
                "{other:?}"
            );
        }
    }
    assert_eq!(
        app.send(call.principal(Some("ann"))).await.text(),
        "ann",
        "nobody else ended it"
    );
    let open = app.session("2025-06-18").await;
    assert_eq!(
        app.send(Req::call(&open, "1", "whoami", "{}").principal(Some("ann")))
            .await
            .status,
        404
    );
}

// Peers 33: what is at work or listens is not idle.
#[tokio::test]
async fn idle_sessions_end_and_busy_ones_do_not() {
    let app = App::with(HttpConfig::default().session_idle(Duration::from_nanos(1)));
    let [initialize, _] = crate::support::initialize("2025-06-18");
    let opened = app.send(Req::post(initialize.clone())).await;
    let idle = opened
        .header("mcp-session-id")
        .expect("a session")
        .to_owned();
    assert_eq!(
        app.send(Req::legacy(&idle, "1", "ping", "{}")).await.status,
        404
    );

    // The response to `initialize` is whole here: only streams keep a session of this server.
    let app = App::with(
        HttpConfig::default()
            .session_idle(Duration::from_secs(3600))
            .max_sessions(1),
    );
    let busy = app.session("2025-06-18").await;
    let stream = app.open(Req::get(&busy)).await;
    assert!(stream.is_stream());
    assert_eq!(app.send(Req::post(initialize.clone())).await.status, 503);
    assert_eq!(
        app.send(Req::legacy(&busy, "1", "ping", "{}")).await.status,
        200
    );
    drop(stream);
    let refused = app.send(Req::post(initialize)).await;
    assert_eq!(
        (refused.status, refused.json()["id"].clone()),
        (503, serde_json::json!(0)),
        "one that was used just now makes no room"
    );
    assert_eq!(
        app.send(Req::legacy(&busy, "1", "ping", "{}")).await.status,
        200
    );
}

// A-3, DEC-1: one array cannot tell the responses to two requests with one id apart, whatever clients may repeat elsewhere.
#[tokio::test]
async fn an_id_twice_in_a_batch() {
    for leniencies in [trueform::Leniencies::default(), trueform::Leniencies::NONE] {
        let server = trueform::Server::new("test", "1.0.0").lenient(leniencies);
        let service = server.build().expect("it has nothing");
        let http = service.into_http_service().expect("the defaults are fine");
        let [initialize, _] = crate::support::initialize("2025-03-26");
        let (_, session, _) = crate::parity::post(&http, &[], initialize.into_bytes()).await;
        let headers = [("mcp-session-id".to_owned(), session.expect("a session"))];
        let pings = ["1", "1.0", "2"].map(|id| crate::support::legacy(id, "ping", "{}"));
        let body = format!("[{}]", pings.join(",")).into_bytes();
        let (status, _, answers) = crate::parity::post(&http, &headers, body).await;
        assert_eq!(status, 200);
        let data = serde_json::json!({
            "pointer": "/id", "rule": "duplicate",
            "expected": "an id that no other request of the batch has", "found": "a repeated one",
        });
        let message = "invalid request: two requests of a batch have the id 1.0";
        let error = serde_json::json!({ "code": -32600, "data": data, "message": message });
        let expected = serde_json::json!([
            { "jsonrpc": "2.0", "id": 1, "result": {} },
            { "jsonrpc": "2.0", "id": 1.0, "error": error },
            { "jsonrpc": "2.0", "id": 2, "result": {} },
        ]);
        assert_eq!(answers, Some(expected));
    }
}

// F-5: a batch in which nothing is a message is refused as one malformed message is.
#[tokio::test]
async fn batches_of_nothing() {
    let app = App::new();
    let session = app.session("2025-03-26").await;
    for (body, status) in [
        (
            r#"[{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}]"#,
            400,
        ),
        (r#"[{"jsonrpc":"1.0","id":1,"method":"ping"}]"#, 400),
        (r#"[5,{"jsonrpc":"2.0"}]"#, 400),
        (r#"[5,{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, 200),
    ] {
        let got = app.send(Req::post(body).session(&session)).await;
        assert_eq!(got.status, status, "{body}");
        assert!(
            got.json().is_array() || got.json().get("id").is_none(),
            "{got:?}"
        );
    }
}

// B-10, M-2: what belongs to no call is answered at once, in any session.
#[tokio::test]
async fn ping_during_a_call() {
    let app = App::new();
    let session = app.session("2025-06-18").await;
    let wait = Req::call(&session, "1", "wait", r#"{"label":"x"}"#);
    let (got, ()) = tokio::join!(app.send(wait), async {
        app.director.begun().await;
        assert_eq!(
            app.send(Req::legacy(&session, "2", "ping", "{}"))
                .await
                .json()["result"],
            serde_json::json!({})
        );
        app.director.open();
    });
    assert_eq!(got.text(), "x");
}

// O-2
#[tokio::test]
async fn a_cancelled_call_is_not_answered() {
    let app = App::new();
    let session = app.session("2025-06-18").await;
    for accept in ["application/json", "application/json, text/event-stream"] {
        let wait = Req::call(&session, "1", "wait", r#"{"label":"x"}"#).header("accept", accept);
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        let (got, ()) = tokio::join!(app.send(wait), async {
            app.director.begun().await;
            assert_eq!(
                app.send(Req::post(cancel).session(&session)).await.status,
                202
            );
        });
        assert_eq!((got.status, &*got.body), (202, ""));
        assert_eq!(app.director.begun().await, "dropped x");
    }
}
