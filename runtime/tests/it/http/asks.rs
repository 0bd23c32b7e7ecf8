//! Requests to the client, and capabilities that a tool needs, over HTTP.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use trueform::{HttpConfig, prelude::*, schema::methods, transport::http::Streams};

use super::support::{App, Opened, Recorder, Req};
use crate::{
    asks::{ANSWERS, ENOUGH, LEGACY, MISSING, initialize, needy, roots},
    support::{Stage, stage},
};

/// Is at work until its client goes away.
#[tool]
async fn held(context: Context) {
    context.log(LoggingLevel::from("info"), "held").await;
    std::future::pending().await
}

fn app(config: HttpConfig) -> App {
    with(config, |server| server)
}

/// The same with settings of the test's own.
fn with(config: HttpConfig, settings: impl FnOnce(Server) -> Server) -> App {
    let service = settings(Server::new("asks", "1"))
        .tools(tools![roots, needy, held])
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

// DEC-8, F-5: an answer that comes twice, or after the call was given up, is not a fault of the client; one to what was never asked
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

// Issue 8 §3: a call that waits for its client leaves its permit to others, and has it again when it goes on.
#[tokio::test]
async fn a_call_that_waits_for_its_client_takes_no_room() {
    let app = app(HttpConfig::default().max_in_flight(1));
    let session = session(&app, "2025-06-18", r#"{"roots":{}}"#).await;
    let mut waiting = Vec::new();
    for id in ["1", "2", "3"] {
        let mut stream = app.open(Req::call(&session, id, "roots", "{}")).await;
        assert!(stream.is_stream(), "{id}: {stream:?}");
        let asked = asked(&mut stream).await["id"].clone();
        waiting.push((stream, asked));
    }
    let (said, expected) = ANSWERS[0];
    for (stream, asked) in waiting {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{asked},{said}}}"#);
        let got = app.send(Req::post(line).session(&session)).await;
        assert_eq!((got.status, &*got.body), (202, ""));
        let told = answer(stream).await;
        assert!(told.contains(expected), "{told}");
    }
    // All permits were given back, each once: one call runs, and no other beside it.
    let held = app.open(Req::call(&session, "4", "held", "{}")).await;
    assert!(held.is_stream());
    let refused = app.send(Req::call(&session, "5", "roots", "{}")).await;
    assert_eq!((refused.status, refused.code()), (503, -32603));
    drop(held);
}

/// Asks its client `times` times at once, and is held when all of them are answered.
#[tool]
async fn asks_at_once(
    context: Context,
    answered: State<mpsc::UnboundedSender<()>>,
    stage: State<Stage>,
    times: u32,
) -> &'static str {
    let ask = async |number: u32| {
        if number < times {
            let answer = context.request::<methods::ListRoots>(Default::default());
            answer.await.expect("the client answers");
            answered.send(()).expect("the test waits");
        }
    };
    tokio::join!(ask(0), ask(1));
    stage.hold("held").await;
    "done"
}

// Issue 8 §3: a call gives its permit back while it waits for all that it asked at once, and its session counts as idle while all
// calls of a batch wait. Both are taken again by the first call that goes on.
#[tokio::test(start_paused = true)]
async fn what_waits_and_what_goes_on() {
    const IDLE: Duration = Duration::from_secs(60);
    for (asks, answers, at_work) in [
        (&[2][..], 0, 0),
        (&[2], 1, 0),
        (&[2], 2, 1),
        (&[1, 1], 0, 0),
        (&[1, 1], 1, 1),
        (&[1, 1], 2, 2),
        (&[2, 1], 3, 2),
    ] {
        let case = format!("{asks:?}, {answers} answered");
        let (sender, mut answered) = mpsc::unbounded_channel::<()>();
        let (held_here, director) = stage();
        let config = HttpConfig::default().max_in_flight(2).session_idle(IDLE);
        let app = with(config, |server| {
            let server = server.tools(tools![asks_at_once]);
            server.state(sender).state(held_here)
        });
        let asked_session = session(&app, "2025-03-26", r#"{"roots":{}}"#).await;
        let other = session(&app, "2025-06-18", "{}").await;
        let calls: Vec<_> = asks
            .iter()
            .enumerate()
            .map(|(id, times)| {
                let params =
                    format!(r#"{{"name":"asks_at_once","arguments":{{"times":{times}}}}}"#);
                crate::support::legacy(&id.to_string(), "tools/call", &params)
            })
            .collect();
        let body = format!("[{}]", calls.join(","));
        let mut stream = app.open(Req::post(body).session(&asked_session)).await;
        let mut open = Vec::new();
        for _ in 0..asks.iter().sum::<i32>() {
            open.push(asked(&mut stream).await["id"].clone());
        }
        for id in open.drain(..answers) {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},{}}}"#, ANSWERS[0].0);
            let got = app.send(Req::post(line).session(&asked_session)).await;
            assert_eq!(got.status, 202, "{case}");
            answered.recv().await.expect("the call goes on");
        }
        for _ in 0..at_work {
            assert_eq!(director.begun().await, "held", "{case}");
        }
        let mut others = Vec::new();
        for _ in at_work..2 {
            let stream = app.open(Req::call(&other, "1", "held", "{}")).await;
            assert!(stream.is_stream(), "{case}: {stream:?}");
            others.push(stream);
        }
        let refused = app.send(Req::call(&other, "2", "roots", "{}")).await;
        assert_eq!(refused.status, 503, "{case}");
        tokio::time::advance(IDLE).await;
        let got = app
            .send(Req::legacy(&asked_session, "9", "ping", "{}"))
            .await;
        let expected = if at_work == 0 { 404 } else { 200 };
        assert_eq!(got.status, expected, "{case}");
        if open.is_empty() {
            director.open();
            let done = stream.events().await;
            let done = done.iter().filter(|event| event.data.contains("done"));
            assert_eq!(done.count(), asks.len(), "{case}");
        }
    }
}

// Issue 8 §3: no answer is waited for without a limit, and a request that was given up is cancelled.
#[tokio::test(start_paused = true)]
async fn an_answer_has_a_deadline() {
    let limit = Duration::from_secs(7);
    let app = with(HttpConfig::default(), |server| server.ask_timeout(limit));
    let session = session(&app, "2025-06-18", r#"{"roots":{}}"#).await;
    let mut stream = app.open(Req::call(&session, "1", "roots", "{}")).await;
    let asked = asked(&mut stream).await["id"].clone();
    let begun = tokio::time::Instant::now();
    let events = stream.events().await;
    assert_eq!(begun.elapsed().as_secs(), limit.as_secs());
    let [cancelled, answer] = &events[..] else {
        panic!("{events:?}");
    };
    let cancelled = cancelled.json();
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], asked);
    let text = answer.json()["result"]["content"][0]["text"].clone();
    assert_eq!(text, "something new: the client did not answer within 7s");
}

// Issue 8 §3: of one session and of all, only so many requests to clients are open.
#[tokio::test]
async fn open_requests_to_clients_are_bounded() {
    for (in_all, in_one_session) in [(1, 10), (10, 1)] {
        let app = with(HttpConfig::default(), |server| {
            server.max_asks(in_all, in_one_session)
        });
        let first = session(&app, "2025-06-18", r#"{"roots":{}}"#).await;
        let other = session(&app, "2025-06-18", r#"{"roots":{}}"#).await;
        let mut stream = app.open(Req::call(&first, "1", "roots", "{}")).await;
        let open = asked(&mut stream).await["id"].clone();
        let second = if in_all == 1 { &other } else { &first };
        let refused = app.send(Req::call(second, "2", "roots", "{}")).await;
        let expected = "something new: 1 requests to clients are not answered yet, which is the limit of this server";
        assert_eq!(refused.text(), expected);
        let line = format!(r#"{{"jsonrpc":"2.0","id":{open},{}}}"#, ANSWERS[0].0);
        app.send(Req::post(line).session(&first)).await;
        answer(stream).await;
        let mut again = app.open(Req::call(second, "3", "roots", "{}")).await;
        asked(&mut again).await;
    }
}

/// Asks its client, and tells the test how that ended.
#[tool]
async fn reports_its_end(context: Context, ends: State<mpsc::UnboundedSender<String>>) {
    let params = Default::default();
    let answer = context.request::<methods::ListRoots>(params).await;
    let end = answer.map_or_else(|error| error.to_string(), |_| "answered".to_owned());
    ends.send(end).expect("the test waits");
}

// Issue 8 §3: a client that closed the stream of the call, cannot resume it and is silent for 30 s has gone.
#[tokio::test(start_paused = true)]
async fn a_client_that_has_gone_is_not_waited_for() {
    let (sender, mut ends) = mpsc::unbounded_channel::<String>();
    let app = with(HttpConfig::default(), |server| {
        server.tools(tools![reports_its_end]).state(sender)
    });
    let session = session(&app, "2025-06-18", r#"{"roots":{}}"#).await;
    let call = Req::call(&session, "1", "reports_its_end", "{}");
    let mut stream = app.open(call).await;
    asked(&mut stream).await;
    let begun = tokio::time::Instant::now();
    drop(stream);
    // It is heard once more.
    tokio::time::sleep(Duration::from_secs(20)).await;
    app.send(Req::legacy(&session, "2", "ping", "{}")).await;
    let end = ends.recv().await.expect("the call ends");
    assert!(
        end.starts_with("the client cannot be reached from this call"),
        "{end}"
    );
    let waited = begun.elapsed().as_secs();
    assert!((50..=51).contains(&waited), "{waited} s");
}
