//! Requests to the client, and capabilities that a tool needs, over HTTP.

use serde_json::{Value, json};
use trueform::{HttpConfig, prelude::*, transport::http::Streams};

use super::support::{App, Opened, Recorder, Req};
use crate::{
    asks::{ANSWERS, ENOUGH, LEGACY, MISSING, initialize, needy, roots},
    support::stage,
};

fn app(config: HttpConfig) -> App {
    let service = Server::new("asks", "1")
        .tools(tools![roots, needy])
        .http(config)
        .build()
        .expect("the tools are fine");
    let handle = service.handle();
    let router = service.into_router().expect("the settings are fine");
    App::over(router, stage().1, handle, &Recorder::new())
}

async fn session(app: &App, revision: &str, capabilities: &str) -> String {
    let [initialize, initialized] = initialize(revision, capabilities);
    let opened = app.send(Req::post(initialize)).await;
    let id = opened
        .header("mcp-session-id")
        .expect("a session")
        .to_owned();
    app.send(Req::post(initialized).session(&id)).await;
    id
}

/// The request to the client, on the stream of the call.
async fn asked(stream: &mut Opened) -> Value {
    loop {
        let event = stream.event().await.expect("the stream goes on");
        if !event.data.is_empty() {
            let asked = event.json();
            assert_eq!(asked["method"], "roots/list", "{asked}");
            return asked;
        }
    }
}

async fn answer(stream: Opened) -> String {
    let events = stream.events().await;
    let answer = events.last().expect("an answer").json();
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
        .to_owned()
}

// F-4, F-5: the request goes out on the call's own stream, the answer comes in by a POST of its own.
#[tokio::test]
async fn a_client_answers() {
    let app = app(HttpConfig::default());
    for revision in LEGACY {
        let session = session(&app, revision, r#"{"roots":{}}"#).await;
        for (id, (said, expected)) in (1..).zip(ANSWERS) {
            let mut stream = app
                .open(Req::call(&session, &format!("{id}"), "roots", "{}"))
                .await;
            assert!(stream.is_stream(), "{stream:?}");
            let asked = asked(&mut stream).await;
            let line = format!(r#"{{"jsonrpc":"2.0","id":{},{said}}}"#, asked["id"]);
            let got = app.send(Req::post(line).session(&session)).await;
            match !expected.contains("invalid request") {
                true => assert_eq!((got.status, &*got.body), (202, ""), "{said}"),
                // F-5: refused as a body, never answered as a message: the error has no id.
                false => {
                    assert_eq!(got.status, 400, "{said}: {got:?}");
                    assert!(got.json().get("id").is_none(), "{got:?}");
                }
            }
            let told = answer(stream).await;
            assert!(told.contains(expected), "{revision}: {told}");
        }
    }
}

// DEC-8, F-5: an answer that comes twice, or after the call was given up, is no fault of the client's; one to what was never asked
// is.
#[tokio::test]
async fn answers_that_nobody_waits_for() {
    let app = app(HttpConfig::default());
    let session = session(&app, "2025-06-18", r#"{"roots":{}}"#).await;
    let mut stream = app.open(Req::call(&session, "1", "roots", "{}")).await;
    let first = asked(&mut stream).await["id"].as_i64().expect("a number");
    let reply = |id: String| {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}"#);
        app.send(Req::post(line).session(&session))
    };
    assert_eq!(reply(first.to_string()).await.status, 202);
    answer(stream).await;
    let mut stream = app.open(Req::call(&session, "2", "roots", "{}")).await;
    let second = asked(&mut stream).await["id"].as_i64().expect("a number");
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    app.send(Req::post(cancelled).session(&session)).await;
    assert_eq!(stream.events().await, []);
    for (id, status) in [
        (first.to_string(), 202),
        (second.to_string(), 202),
        (format!("{second}.0"), 202),
        (format!("{}", second + 1), 400),
        ("0".to_owned(), 400),
        ("-1".to_owned(), 400),
        ("1e300".to_owned(), 400),
        (format!("\"{second}\""), 400),
    ] {
        let got = reply(id.clone()).await;
        assert_eq!(got.status, status, "{id}: {got:?}");
    }
}

// A session's answers are its own: another one cannot answer for it.
#[tokio::test]
async fn answers_of_other_sessions() {
    let app = app(HttpConfig::default());
    let session_a = session(&app, "2025-06-18", r#"{"roots":{}}"#).await;
    let session_b = session(&app, "2025-06-18", r#"{"roots":{}}"#).await;
    let mut stream = app.open(Req::call(&session_a, "1", "roots", "{}")).await;
    let asked = asked(&mut stream).await;
    let reply = |uri: &str| {
        json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": [{ "uri": uri }] } })
            .to_string()
    };
    app.send(Req::post(reply("file:///forged")).session(&session_b))
        .await;
    app.send(Req::post(reply("file:///own")).session(&session_a))
        .await;
    assert_eq!(answer(stream).await, "roots: file:///own");
}

// The end of the session is the end of what it was asked.
#[tokio::test]
async fn a_session_that_ends() {
    let app = app(HttpConfig::default());
    let session = session(&app, "2025-06-18", r#"{"roots":{}}"#).await;
    let mut stream = app.open(Req::call(&session, "1", "roots", "{}")).await;
    asked(&mut stream).await;
    app.send(Req::delete(&session)).await;
    // No answer either: whoever asked has ended the session.
    assert_eq!(stream.events().await, []);
}

// Where the answer cannot be a stream, the client cannot be asked: the tool is told instead of waiting for ever.
#[tokio::test]
async fn a_client_that_cannot_be_asked() {
    let call = |session: &str| Req::call(session, "1", "roots", "{}");
    let never = app(HttpConfig::default().streams(Streams::Never));
    for revision in LEGACY {
        let session = session(&never, revision, r#"{"roots":{}}"#).await;
        assert_eq!(
            never.send(call(&session)).await.text(),
            "gone",
            "{revision}"
        );
    }
    let app = app(HttpConfig::default());
    for revision in LEGACY {
        let session = session(&app, revision, r#"{"roots":{}}"#).await;
        let got = app
            .send(call(&session).header("accept", "application/json"))
            .await;
        assert_eq!(got.text(), "gone", "{revision}");
    }
}

// C-10: the status tells too.
#[tokio::test]
async fn what_a_tool_needs() {
    let app = app(HttpConfig::default());
    let request = |capabilities: &str| {
        let mut request = Req::modern("1", "tools/call", r#","name":"needy","arguments":{}"#);
        let body = String::from_utf8(request.body).expect("UTF-8");
        request.body = body
            .replace(
                r#"clientCapabilities":{}"#,
                &format!(r#"clientCapabilities":{capabilities}"#),
            )
            .into_bytes();
        request
    };
    for (capabilities, missing) in MISSING {
        let got = app.send(request(capabilities)).await;
        assert_eq!((got.status, got.code()), (400, -32021), "{got:?}");
        let missing: Value = serde_json::from_str(missing).expect("JSON");
        assert_eq!(got.json()["error"]["data"]["requiredCapabilities"], missing);
    }
    assert_eq!(app.send(request(ENOUGH)).await.text(), "served");
    // DEC-9, TRAP-08: an older client gets a failed result, with status 200.
    let session = session(&app, "2025-06-18", "{}").await;
    let got = app.send(Req::call(&session, "1", "needy", "{}")).await;
    assert_eq!(got.status, 200, "{got:?}");
    assert_eq!(got.json()["result"]["isError"], true, "{got:?}");
}

// Issue 8: a server that is full takes the answer that frees it.
#[tokio::test]
async fn the_answer_reaches_a_server_that_is_full() {
    let app = app(HttpConfig::default().max_in_flight(1));
    let session = session(&app, "2025-06-18", r#"{"roots":{}}"#).await;
    let mut stream = app.open(Req::call(&session, "1", "roots", "{}")).await;
    let asked = asked(&mut stream).await;
    let refused = app.send(Req::call(&session, "2", "roots", "{}")).await;
    assert_eq!((refused.status, refused.code()), (503, -32603));
    let (said, expected) = ANSWERS[0];
    let line = format!(r#"{{"jsonrpc":"2.0","id":{},{said}}}"#, asked["id"]);
    let got = app.send(Req::post(line).session(&session)).await;
    assert_eq!((got.status, &*got.body), (202, ""));
    let told = answer(stream).await;
    assert!(told.contains(expected), "{told}");
    let again = app.open(Req::call(&session, "3", "roots", "{}")).await;
    assert!(again.is_stream(), "there is room again");
}
