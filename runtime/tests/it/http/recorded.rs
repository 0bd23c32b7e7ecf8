//! Whole sessions over HTTP, recorded: nothing in them is a finding, and what is wrong in one is found.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context as TaskContext, Poll},
    time::{Duration, Instant},
};

use axum::{
    body::{Body, Bytes},
    http::{Request, Response},
};
use http_body::Frame;
use http_body_util::BodyExt;
use serde_json::json;
use tower::{Layer, ServiceExt};
use trueform::{
    prelude::*,
    testing::{Checker, Event, RecordedBody, Recorder, Side},
};

use super::support::{App, Opened, Req};
use crate::{
    asks::{needy, roots},
    support::{add, stage, steps, wait},
};

fn server() -> App {
    let (stage, director) = stage();
    let server = Server::new("recorded", "1.0.0")
        .tools(tools![add, wait, steps, roots, needy])
        .state(stage);
    let service = server.build().expect("the tools are fine");
    App::recorded((service, director), &Recorder::new())
}

#[track_caller]
fn assert_clean(app: &App) {
    let transcript = app.recorder.transcript();
    let findings = Checker::http()
        .check(&transcript)
        .expect("it was just written");
    assert_eq!(findings, [], "{transcript}");
}

/// How often the peer did what `what` looks for.
fn count(app: &App, from: Side, what: impl Fn(&Event) -> bool) -> usize {
    let records = app.recorder.records();
    let all = records.iter().filter(|record| record.from == from);
    all.filter(|record| what(&record.event)).count()
}

fn says(part: &str) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::Message(text) if text.contains(part))
}

/// `_meta` with more in it.
fn with_meta(mut request: Req, more: &str) -> Req {
    let body = String::from_utf8(request.body).expect("UTF-8");
    request.body = body
        .replace(r#""_meta":{"#, &format!(r#""_meta":{{{more},"#))
        .into_bytes();
    request
}

async fn until(stream: &mut Opened, method: &str) -> serde_json::Value {
    loop {
        let event = stream.event().await.expect("the stream goes on");
        if !event.data.is_empty() && event.method() == method {
            return event.json();
        }
    }
}

/// A session with nearly everything in it, in which ids go up from 1.
async fn legacy_session(app: &App, revision: &str) {
    let [initialize, initialized] = crate::asks::initialize(revision, r#"{"roots":{}}"#);
    let opened = app.send(Req::post(initialize)).await;
    let session = opened
        .header("mcp-session-id")
        .expect("a session")
        .to_owned();
    app.send(Req::post(initialized).session(&session)).await;
    let mut standalone = app.open(Req::get(&session)).await;
    assert!(standalone.is_stream());

    app.send(Req::legacy(&session, "1", "tools/list", "{}"))
        .await;
    app.send(Req::call(&session, "2", "add", r#"{"a":2,"b":3}"#))
        .await;
    app.send(Req::call(&session, "3", "add", r#"{"a":"x"}"#))
        .await;
    app.send(Req::legacy(&session, "4", "ping", "{}")).await;
    // Progress and log messages on the stream of the call.
    app.send(Req::legacy(
        &session,
        "5",
        "logging/setLevel",
        r#"{"level":"info"}"#,
    ))
    .await;
    app.send(Req::call(&session, "6", "steps", r#"{"steps":3}"#))
        .await;
    // The tool asks the client.
    let mut stream = app.open(Req::call(&session, "7", "roots", "{}")).await;
    let asked = until(&mut stream, "roots/list").await;
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": [] } });
    app.send(Req::post(answer.to_string()).session(&session))
        .await;
    stream.events().await;
    // A cancelled call.
    let waiting =
        Req::call(&session, "8", "wait", r#"{"label":"w"}"#).header("accept", "application/json");
    let cancelling = async {
        assert_eq!(app.director.begun().await, "w");
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}"#;
        app.send(Req::post(cancel).session(&session)).await;
    };
    tokio::join!(app.send(waiting), cancelling);
    // What belongs to no call.
    app.handle.notify_tools_changed();
    until(&mut standalone, "notifications/tools/list_changed").await;
    if revision == "2025-11-25" {
        resumed(app, &session).await;
    }
    assert_eq!(app.send(Req::delete(&session)).await.status, 204);
    standalone.events().await;
    let late = app
        .send(Req::legacy(&session, "20", "tools/list", "{}"))
        .await;
    assert_eq!(late.status, 404);
}

/// A stream that breaks after its first events, which come again.
async fn resumed(app: &App, session: &str) {
    let mut stream = app
        .open(Req::call(session, "10", "steps", r#"{"steps":4}"#))
        .await;
    let first = stream
        .event()
        .await
        .and_then(|event| event.id)
        .expect("an id");
    until(&mut stream, "notifications/progress").await;
    drop(stream);
    let all = app
        .open(Req::get(session).header("last-event-id", &first))
        .await
        .events()
        .await;
    assert_eq!(all.len(), 9, "{all:?}");
}

// F-18
#[tokio::test]
async fn legacy_sessions() {
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let app = server();
        // Two clients at once, who use the same ids.
        tokio::join!(legacy_session(&app, revision), async {
            let session = app.session(revision).await;
            app.send(Req::legacy(&session, "1", "tools/list", "{}"))
                .await;
            app.send(Req::call(&session, "2", "add", r#"{"a":2,"b":3}"#))
                .await;
            app.send(Req::delete(&session)).await;
        });
        assert_clean(&app);
        let records = app.recorder.records();
        assert!(records.iter().all(|record| {
            matches!(record.session.as_deref(), Some("1" | "2"))
                && (record.stream.is_some() || record.event == Event::Closed)
        }));
        let progress = says("notifications/progress");
        let expected = if revision == "2025-11-25" { 7 } else { 3 };
        assert_eq!(
            count(&app, Side::Server, progress),
            expected,
            "what came again is recorded once"
        );
        for part in [
            "roots/list",
            "list_changed\"",
            r#"[{"type":"text","text":"5"}]"#,
            r#""id":20,"error""#,
        ] {
            assert_ne!(count(&app, Side::Server, says(part)), 0, "{part}");
        }
        let ends = records
            .iter()
            .filter(|record| record.stream.is_none())
            .count();
        assert_eq!(ends, 2, "each client ends its session");
    }
}

async fn modern_client(app: &App) {
    let call = |id: &str, tool: &str, arguments: &str| {
        Req::modern(
            id,
            "tools/call",
            &format!(r#","name":"{tool}","arguments":{arguments}"#),
        )
    };
    app.send(Req::modern("1", "server/discover", "")).await;
    app.send(Req::modern("2", "tools/list", "")).await;
    app.send(call("3", "add", r#"{"a":2,"b":3}"#)).await;
    app.send(call("4", "add", "{}")).await;
    app.send(call("5", "needy", "{}")).await;
    app.send(call("6", "unknown", "{}")).await;
    app.send(Req::modern("7", "ping", "")).await;
    let more = r#""progressToken":"t","io.modelcontextprotocol/logLevel":"info""#;
    app.send(with_meta(call("8", "steps", r#"{"steps":3}"#), more))
        .await;
}

#[tokio::test]
async fn modern_exchanges() {
    let app = server();
    // Clients that use the same ids and tokens.
    tokio::join!(modern_client(&app), modern_client(&app));
    // A client goes away before the head of the response, and another in the middle of a stream.
    let wait = Req::modern(
        "9",
        "tools/call",
        r#","name":"wait","arguments":{"label":"w"}"#,
    );
    {
        let mut sending =
            std::pin::pin!(app.send(wait.clone().header("accept", "application/json")));
        tokio::select! {
            got = &mut sending => panic!("{got:?}"),
            begun = app.director.begun() => assert_eq!(begun, "w"),
        }
    }
    assert_eq!(app.director.begun().await, "dropped w");
    let mut stream = app
        .open(with_meta(
            Req::modern(
                "9",
                "tools/call",
                r#","name":"steps","arguments":{"steps":100000}"#,
            ),
            r#""progressToken":"t""#,
        ))
        .await;
    until(&mut stream, "notifications/progress").await;
    drop(stream);
    // A subscription.
    let listen = r#","notifications":{"toolsListChanged":true}"#;
    let mut subscription = app
        .open(Req::modern("10", "subscriptions/listen", listen))
        .await;
    until(
        &mut subscription,
        "notifications/subscriptions/acknowledged",
    )
    .await;
    app.handle.notify_tools_changed();
    until(&mut subscription, "notifications/tools/list_changed").await;
    app.handle.shut_down();
    subscription.events().await;

    let transcript = app.recorder.transcript();
    let findings = Checker::http()
        .check(&transcript)
        .expect("it was just written");
    // The client asked for what there is not.
    let found: Vec<_> = findings
        .iter()
        .map(|finding| (finding.side, finding.requirements))
        .collect();
    assert_eq!(found, [(Side::Client, &["C-11"][..]); 2], "{findings:?}");
    assert!(
        app.recorder
            .records()
            .iter()
            .all(|record| record.session.is_none())
    );
    let closed = |event: &Event| *event == Event::Closed;
    assert_eq!(count(&app, Side::Client, closed), 2);
    assert_eq!(count(&app, Side::Server, closed), 3, "{transcript}");
}

/// The pieces of a body; it breaks where one is `None`.
type InPieces = &'static [Option<&'static str>];

/// A body that comes in these pieces, and breaks where one is `None`.
struct Pieces(VecDeque<Option<&'static str>>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = self.0.pop_front().map(|piece| match piece {
            Some(piece) => Ok(Frame::data(Bytes::from_static(piece.as_bytes()))),
            None => Err(std::io::Error::other("broken")),
        });
        Poll::Ready(frame)
    }
}

/// What is recorded of a server that answers a POST of `said` with these pieces.
async fn exchange(
    said: &'static str,
    status: u16,
    kind: &'static str,
    pieces: InPieces,
) -> Recorder {
    let recorder = Recorder::new();
    let pieces = VecDeque::from(pieces.to_vec());
    let server = tower::service_fn(move |request: Request<RecordedBody<Body>>| {
        let body = Pieces(pieces.clone());
        async move {
            // Whoever refuses at once reads nothing.
            if status != 413 {
                request.into_body().collect().await?;
            }
            let response = Response::builder()
                .status(status)
                .header("content-type", kind);
            Ok::<_, axum::Error>(response.body(body).expect("a good response"))
        }
    });
    let request = Request::post("/")
        .body(Body::from(said))
        .expect("a good request");
    let response = recorder.layer().layer(server).oneshot(request).await;
    let mut body = response.expect("it answers").into_body();
    while let Some(Ok(_)) = body.frame().await {}
    drop(body);
    recorder
}

#[tokio::test]
async fn what_is_recorded() {
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const BOTH: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    const SSE: &str = "text/event-stream";
    const JSON: &str = "application/json; charset=utf-8";
    let closed = "closed";
    let table: [(_, _, _, InPieces, &[(Side, &str)]); 12] = [
        (
            PING,
            200,
            JSON,
            &[Some(r#"{"jsonrpc":"2."#), Some(r#"0","id":1,"result":{}}"#)],
            &[(Side::Client, PING), (Side::Server, BOTH)],
        ),
        ("\n", 202, JSON, &[], &[]),
        (
            "nonsense",
            200,
            JSON,
            &[Some("nonsense")],
            &[(Side::Client, "nonsense"), (Side::Server, "nonsense")],
        ),
        (
            "x",
            200,
            JSON,
            &[Some("{"), None],
            &[(Side::Client, "x"), (Side::Server, closed)],
        ),
        (
            "x",
            200,
            "text/html",
            &[Some("hello")],
            &[(Side::Client, "x")],
        ),
        (
            "x",
            401,
            JSON,
            &[Some(r#"{"error":"invalid_token"}"#)],
            &[(Side::Client, "x")],
        ),
        (
            "x",
            400,
            JSON,
            &[Some(r#"{"jsonrpc":5}"#)],
            &[(Side::Client, "x"), (Side::Server, r#"{"jsonrpc":5}"#)],
        ),
        (PING, 413, "text/plain", &[Some("too large")], &[]),
        (
            "x",
            200,
            SSE,
            &[Some("data: a\r"), Some("\n\r\ndata: b"), Some("\n\n")],
            &[
                (Side::Client, "x"),
                (Side::Server, "a"),
                (Side::Server, "b"),
                (Side::Server, closed),
            ],
        ),
        (
            "x",
            200,
            SSE,
            &[Some("data: a\n\ndata: b\n")],
            &[
                (Side::Client, "x"),
                (Side::Server, "a"),
                (Side::Server, closed),
            ],
        ),
        (
            "x",
            200,
            SSE,
            &[Some("data: a\n\ndata"), None],
            &[
                (Side::Client, "x"),
                (Side::Server, "a"),
                (Side::Server, closed),
            ],
        ),
        (
            "x",
            200,
            SSE,
            &[],
            &[(Side::Client, "x"), (Side::Server, closed)],
        ),
    ];
    for (said, status, kind, pieces, expected) in table {
        let recorder = exchange(said, status, kind, pieces).await;
        let records = recorder.records();
        let found: Vec<_> = records
            .iter()
            .map(|record| match &record.event {
                Event::Message(text) => (record.from, &**text),
                _ => (record.from, closed),
            })
            .collect();
        assert_eq!(found, expected, "{said} {status} {kind} {pieces:?}");
    }
    // Bytes that are not text.
    let request = Request::post("/")
        .body(Body::from(&b"\xff{"[..]))
        .expect("a good request");
    let recorder = Recorder::new();
    let server = tower::service_fn(|request: Request<RecordedBody<Body>>| async move {
        request.into_body().collect().await?;
        Ok::<_, axum::Error>(Response::new(Body::empty()))
    });
    recorder
        .layer()
        .layer(server)
        .oneshot(request)
        .await
        .expect("it answers");
    assert_eq!(recorder.records()[0].event, Event::Bytes(b"\xff{".to_vec()));
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}"#;

/// How a server may be done with the body of a request.
#[derive(Clone, Copy, Debug)]
enum Reading {
    /// It stops after so many frames and drops it.
    Frames(usize),
    /// It stops after so many frames, and keeps it until it has answered.
    Kept(usize),
}

/// A request whose body has been read without asking for what comes after it is a request (A-5).
#[tokio::test]
async fn nobody_needs_to_read_past_the_end() {
    let (first, second) = CALL.split_at(40);
    // Whether the length is known, how the body is read, and whether the request is recorded before the answer.
    let table = [
        (true, Reading::Frames(2), true),
        (true, Reading::Kept(2), true),
        (false, Reading::Frames(2), true),
        (true, Reading::Frames(1), false),
        (false, Reading::Frames(1), false),
        (false, Reading::Frames(0), false),
    ];
    for (has_length, reading, is_recorded) in table {
        let recorder = Recorder::new();
        let server = tower::service_fn(move |request: Request<RecordedBody<Pieces>>| async move {
            let mut body = request.into_body();
            let (Reading::Frames(count) | Reading::Kept(count)) = reading;
            for _ in 0..count {
                body.frame().await.expect("a frame").expect("no error");
            }
            let kept = matches!(reading, Reading::Kept(_)).then_some(body);
            let response = Response::builder().header("content-type", "application/json");
            let response = response.body(Body::from(DONE)).expect("a good response");
            // As long as the response.
            Ok::<_, std::convert::Infallible>(response.map(|body| {
                body.map_frame(move |frame| {
                    let _ = &kept;
                    frame
                })
            }))
        });
        let mut request = Request::post("/");
        if has_length {
            request = request.header("content-length", CALL.len());
        }
        let body = Pieces([Some(first), Some(second)].into());
        let request = request.body(body).expect("a good request");
        let service = recorder.layer().layer(server);
        let response = service.oneshot(request).await.expect("it answers");
        response.into_body().collect().await.expect("it answers");
        let records = recorder.records();
        let said: Vec<_> = records.iter().map(|record| record.from).collect();
        let expected = match is_recorded {
            true => &[Side::Client, Side::Server][..],
            false => &[Side::Server],
        };
        assert_eq!(said, expected, "{has_length} {reading:?}");
        if is_recorded {
            let findings = Checker::http().check_records(records);
            assert_eq!(findings, [], "{has_length} {reading:?}");
        }
    }
}

/// Where a service gives up on a response.
#[derive(Clone, Copy, Debug)]
enum Failing {
    Called,
    Polled,
    Refusing,
    Telling,
}

/// A body that panics when it is read.
struct Explosive;

impl http_body::Body for Explosive {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        panic!("on purpose")
    }
}

/// Who panics is the server, and not a client that has gone away (F-6).
#[tokio::test]
async fn a_service_that_panics_or_fails() {
    for failing in [
        Failing::Called,
        Failing::Polled,
        Failing::Refusing,
        Failing::Telling,
    ] {
        let recorder = Recorder::new();
        let server = tower::service_fn(move |request: Request<RecordedBody<Body>>| {
            assert!(!matches!(failing, Failing::Called), "on purpose");
            async move {
                let read = request.into_body().collect().await;
                assert!(!matches!(failing, Failing::Polled), "on purpose");
                read.map_err(|_| "broken")?;
                match failing {
                    Failing::Telling => {
                        let response =
                            Response::builder().header("content-type", "application/json");
                        Ok(response.body(Explosive).expect("a good response"))
                    }
                    _ => Err("no"),
                }
            }
        });
        let service = recorder.layer().layer(server);
        let request = Request::post("/")
            .body(Body::from(CALL))
            .expect("a good request");
        // What is caught is dropped when nobody panics any more, as by servers that go on.
        let sending = async move {
            let response = service.oneshot(request).await?;
            response
                .into_body()
                .collect()
                .await
                .expect("it cannot fail");
            Ok::<_, &str>(())
        };
        let outcome = tokio::spawn(sending).await;
        assert_eq!(
            outcome.is_err(),
            !matches!(failing, Failing::Refusing),
            "{failing:?}"
        );
        let records = recorder.records();
        let last = records.last().expect("something");
        assert_eq!(
            (last.from, &last.event),
            (Side::Server, &Event::Closed),
            "{failing:?}"
        );
        let findings = Checker::http().check_records(records);
        let found: Vec<_> = findings
            .iter()
            .map(|finding| finding.requirements)
            .collect();
        let expected: &[&[&str]] = match failing {
            Failing::Called => &[],
            _ => &[&["F-6"]],
        };
        assert_eq!(found, expected, "{failing:?}");
    }
}

/// How long so many exchanges of one session take to record.
async fn time_of(exchanges: usize) -> Duration {
    let recorder = Recorder::new();
    let server = tower::service_fn(|request: Request<RecordedBody<Body>>| async move {
        request.into_body().collect().await?;
        let response = Response::builder().header("content-type", "application/json");
        Ok::<_, axum::Error>(response.body(Body::from(DONE)).expect("a good response"))
    });
    let service = recorder.layer().layer(server);
    let began = Instant::now();
    for _ in 0..exchanges {
        let request = Request::post("/").header("mcp-session-id", "a");
        let request = request.body(Body::from(CALL)).expect("a good request");
        let response = service.clone().oneshot(request).await.expect("it answers");
        response.into_body().collect().await.expect("it answers");
    }
    let time = began.elapsed();
    assert_eq!(recorder.records().len(), 2 * exchanges);
    time
}

/// Sixteen times as many take sixteen times as long, and not 256 times.
#[tokio::test]
async fn a_long_session_costs_as_much_as_short_ones() {
    // What else runs on the machine makes some runs slow, but not all of them.
    let mut ratio = f64::INFINITY;
    for _ in 0..3 {
        let short = time_of(1000).await;
        ratio = ratio.min(time_of(16_000).await.as_secs_f64() / short.as_secs_f64());
        if ratio < 64.0 {
            return;
        }
    }
    panic!("{ratio} times as long");
}

/// Each event is recorded when it passes, and passed on at once.
#[tokio::test]
async fn nothing_is_held_back() {
    let app = server();
    let listen = r#","notifications":{"toolsListChanged":true}"#;
    let mut subscription = app
        .open(Req::modern("1", "subscriptions/listen", listen))
        .await;
    for round in 1..=3 {
        let event = subscription.event().await.expect("an event");
        assert_eq!(app.recorder.records().len(), 1 + round, "{event:?}");
        app.handle.notify_tools_changed();
    }
}

// F-6, F-9, F-21, F-30
#[tokio::test]
async fn what_a_server_does_wrong() {
    let table: [(_, InPieces, &[&str]); 4] = [
        (
            "application/json",
            &[Some(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#)],
            &["A-5"],
        ),
        (
            "text/event-stream",
            &[Some(
                "data: {\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"roots/list\"}\n\n",
            )],
            &["A-18", "F-6"],
        ),
        ("text/event-stream", &[Some(": nothing\n\n")], &["F-6"]),
        (
            "text/event-stream",
            &[Some("data: [] \n\n"), None],
            &["A-11", "F-6"],
        ),
    ];
    for (kind, pieces, expected) in table {
        let recorder = exchange(CALL, 200, kind, pieces).await;
        let transcript = recorder.transcript();
        let findings = Checker::http()
            .check(&transcript)
            .expect("it was just written");
        let found: Vec<_> = findings
            .iter()
            .map(|finding| {
                assert_eq!(finding.side, Side::Server, "{finding}");
                finding.requirements[0]
            })
            .collect();
        assert_eq!(found, expected, "{findings:?}\n{transcript}");
    }
}

// DEC-10: a byte order mark passes, and is not part of the message.
#[tokio::test]
async fn a_byte_order_mark_is_not_recorded() {
    let app = server();
    let mut request = Req::modern(
        "1",
        "tools/call",
        r#","name":"add","arguments":{"a":2,"b":3}"#,
    );
    request.body.splice(0..0, "\u{feff}".bytes());
    assert_eq!(app.send(request).await.text(), "5");
    assert_clean(&app);
    let records = app.recorder.records();
    let Event::Message(asked) = &records[0].event else {
        panic!("{:?}", records[0]);
    };
    assert!(asked.starts_with('{'), "{asked}");
}
