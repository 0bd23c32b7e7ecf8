//! Event streams of legacy sessions: of a call, and of what belongs to no call.

use std::time::Duration;

use trueform::{HttpConfig, prelude::*};

use super::support::{App, Req};

// F-8, F-12, F-11: older clients get no priming event and no ids.
#[tokio::test]
async fn a_talking_call() {
    let app = App::new();
    for revision in ["2025-03-26", "2025-06-18"] {
        let session = app.session(revision).await;
        let mut stream = app.open(Req::call(&session, "1", "talk", "{}")).await;
        assert!(stream.is_stream());
        let first = stream.event().await.expect("progress");
        assert_eq!(
            (first.id.as_deref(), first.retry, first.method()),
            (None, None, "notifications/progress".to_owned())
        );
        assert_eq!(first.json()["params"]["progressToken"], "p1");
        app.director.open();
        let rest = stream.events().await;
        assert_eq!(rest.len(), 2);
        assert_eq!(rest[1].json()["id"], 1);
    }
}

// F-13, TRAP-04: before the head of the response, and in the middle of a stream.
#[tokio::test]
async fn going_away_does_not_cancel() {
    let app = App::strict();
    let session = app.session("2025-06-18").await;
    for accept in ["application/json", "application/json, text/event-stream"] {
        let wait = Req::call(&session, "1", "wait", r#"{"label":"x"}"#).header("accept", accept);
        {
            let mut sending = std::pin::pin!(app.send(wait));
            tokio::select! {
                biased;
                got = &mut sending => panic!("{got:?}"),
                begun = app.director.begun() => assert_eq!(begun, "x"),
            }
        }
        // The id is still taken (DEC-1: this server does not allow repeated ids): the call is still at work.
        let again = app
            .send(Req::call(&session, "1", "add", r#"{"a":1,"b":1}"#))
            .await;
        assert_eq!((again.status, again.code()), (400, -32600));
        app.director.open();
        // Once it has ended the id is free. There is nothing to wait for but the end itself.
        while app
            .send(Req::call(&session, "1", "add", r#"{"a":1,"b":1}"#))
            .await
            .status
            != 200
        {
            tokio::task::yield_now().await;
        }
        app.director.close();
    }

    let app = App::strict_with(HttpConfig::default().sse_after(Duration::ZERO));
    let session = app.session("2025-06-18").await;
    let stream = app
        .open(Req::call(&session, "1", "wait", r#"{"label":"x"}"#))
        .await;
    assert!(stream.is_stream());
    assert_eq!(app.director.begun().await, "x");
    drop(stream);
    app.director.open();
    while app
        .send(Req::call(&session, "1", "add", r#"{"a":1,"b":1}"#))
        .await
        .status
        != 200
    {
        tokio::task::yield_now().await;
    }
}

// F-15, F-16: one stream a session, one copy of each message.
#[tokio::test]
async fn what_belongs_to_no_call() {
    let app = App::new();
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = app.session(revision).await;
        let mut stream = app.open(Req::get(&session)).await;
        assert!(stream.is_stream());
        let mut call = app.open(Req::call(&session, "1", "talk", "{}")).await;
        app.handle.notify_tools_changed();
        if revision == "2025-11-25" {
            let priming = stream.event().await.expect("a priming event");
            assert_eq!(
                (priming.id.is_some(), priming.retry, &*priming.data),
                (true, Some(1000), "")
            );
            assert_eq!(call.event().await.expect("a priming event").data, "");
        }
        assert_eq!(
            stream.event().await.expect("a change").method(),
            "notifications/tools/list_changed"
        );
        app.director.open();
        let told = call.events().await;
        assert!(
            told.iter()
                .all(|event| event.method() != "notifications/tools/list_changed"),
            "{told:?}"
        );
        app.director.close();
        // The stream is free again once its client has gone; what was said meanwhile is kept.
        drop(stream);
        app.handle.notify_tools_changed();
        let mut stream = app.open(Req::get(&session)).await;
        let mut event = stream.event().await.expect("an event");
        if event.data.is_empty() {
            event = stream.event().await.expect("an event");
        }
        assert_eq!(event.method(), "notifications/tools/list_changed");
        assert_eq!(app.send(Req::delete(&session)).await.status, 204);
    }
}

// DEC-3, F-16: a second standalone stream replaces the first, which asks for patience as it ends; each message goes to one of them.
#[tokio::test]
async fn the_newest_stream_of_a_session_is_the_one() {
    let app = App::new();
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = app.session(revision).await;
        let mut streams = Vec::new();
        for _ in 0..3 {
            let stream = app.open(Req::get(&session)).await;
            assert!(stream.is_stream());
            streams.push(stream);
        }
        app.handle.notify_tools_changed();
        let messages = |events: &[super::support::Event]| {
            let messages = events.iter().filter(|event| !event.data.is_empty());
            messages.count()
        };
        let mut newest = streams.pop().expect("three");
        for replaced in streams {
            let events = replaced.events().await;
            assert_eq!(messages(&events), 0, "{events:?}");
            let last = events.last().expect("an event");
            assert_eq!((last.retry, &last.id), (Some(30_000), &None), "{revision}");
        }
        loop {
            let event = newest.event().await.expect("a change");
            if !event.data.is_empty() {
                break assert_eq!(event.method(), "notifications/tools/list_changed");
            }
        }
        assert_eq!(app.send(Req::delete(&session)).await.status, 204);
        assert_eq!(
            newest.events().await,
            [],
            "the end of a session does not replace it"
        );
    }
}

// Issue 8: streams that only listen have a bound of their own, and one that is replaced makes room for its successor.
#[tokio::test]
async fn listening_streams_are_bounded() {
    let app = App::with(HttpConfig::default().max_listeners(2));
    let listen = |id: &str| {
        Req::modern(
            id,
            "subscriptions/listen",
            r#","notifications":{"toolsListChanged":true}"#,
        )
    };
    let (one, two) = (
        app.session("2025-06-18").await,
        app.session("2025-06-18").await,
    );
    let first = app.open(Req::get(&one)).await;
    let subscription = app.open(listen("1")).await;
    assert!(first.is_stream() && subscription.is_stream());
    let full = |got: super::support::Got| {
        assert_eq!((got.status, got.header("retry-after")), (503, Some("1")));
        assert!(got.body.contains("max_listeners"), "{}", got.body);
    };
    full(app.send(Req::get(&two)).await);
    let refused = app.send(listen("2")).await;
    assert_eq!(refused.json()["id"], 2);
    full(refused);
    let second = app.open(Req::get(&one)).await;
    assert!(second.is_stream(), "in place of its own");
    assert_eq!(first.events().await.len(), 1);
    full(app.send(Req::get(&two)).await);
    assert_eq!(
        app.send(Req::legacy(&two, "1", "ping", "{}")).await.status,
        200
    );
    drop(subscription);
    let third = app.open(Req::get(&two)).await;
    assert!(third.is_stream());
    drop(second);
    assert!(app.open(listen("3")).await.is_stream());
}

// B-7
#[tokio::test]
async fn nothing_before_the_client_is_ready() {
    let app = App::new();
    let [initialize, initialized] = crate::support::initialize("2025-06-18");
    let session = app
        .send(Req::post(initialize))
        .await
        .header("mcp-session-id")
        .expect("a session")
        .to_owned();
    let stream = app.open(Req::get(&session)).await;
    app.handle.notify_tools_changed();
    app.send(Req::post(initialized).session(&session)).await;
    app.send(Req::delete(&session)).await;
    assert_eq!(stream.events().await, []);
}

// Peers 3.5: a reader that stops reading holds up nobody, and costs a bounded amount.
#[tokio::test]
async fn a_stuck_reader_holds_up_nobody() {
    let app = App::new();
    for revision in ["2025-06-18", "2025-11-25"] {
        let session = app.session(revision).await;
        let stuck = app
            .open(Req::call(&session, "1", "flood", r#"{"count":5000}"#))
            .await;
        let standing = app.open(Req::get(&session)).await;
        assert!(stuck.is_stream() && standing.is_stream());
        for id in 2..20 {
            let got = app
                .send(Req::call(
                    &session,
                    &id.to_string(),
                    "add",
                    r#"{"a":2,"b":3}"#,
                ))
                .await;
            assert_eq!(got.text(), "5");
        }
        let events = stuck.events().await;
        assert!(
            events.len() <= trueform::transport::http::PIPE_LIMIT + trueform::OUTBOX_LIMIT + 2,
            "{}",
            events.len()
        );
        assert_eq!(
            events.last().expect("an event").json()["result"]["content"][0]["text"],
            "5000",
            "the answer is not lost"
        );
    }
}

/// Says three things at each step, so that what is queued grows unless it is taken before the call goes on.
#[tool]
async fn talks(context: Context, steps: u32, waits: bool) -> &'static str {
    for step in 0..steps {
        for part in 0..3 {
            let said = context.log(LoggingLevel::from("info"), step * 3 + part);
            if waits {
                said.await;
            }
        }
        if !waits {
            tokio::task::yield_now().await;
        }
    }
    "said"
}

fn talking(id: &str, steps: u32, waits: bool) -> Req {
    let arguments = format!(r#","name":"talks","arguments":{{"steps":{steps},"waits":{waits}}}"#);
    let call = Req::modern(id, "tools/call", &arguments);
    let body = String::from_utf8(call.body.clone()).expect("UTF-8");
    let level = r#""_meta":{"io.modelcontextprotocol/logLevel":"info","#;
    Req {
        body: body.replace(r#""_meta":{"#, level).into(),
        ..call
    }
}

// A client that reads at once gets everything, however much is said at each step, and one that reads late gets everything from
// a handler that waits for it.
#[tokio::test]
async fn nothing_is_lost_to_a_client_that_reads() {
    let app = App::serving(Server::new("t", "1").tools(tools![talks]));
    for (waits, reads_late) in [(false, false), (true, false), (true, true)] {
        let stream = app.open(talking("1", 2000, waits)).await;
        assert!(stream.is_stream());
        if reads_late {
            // The test has one thread: this is where it is left to the call.
            for _ in 0..500 {
                tokio::task::yield_now().await;
            }
        }
        let events = stream.events().await;
        let (answer, said) = events.split_last().expect("events");
        let said: Vec<_> = said
            .iter()
            .map(|event| event.json()["params"]["data"].as_u64().expect("a number"))
            .collect();
        let all: Vec<_> = (0..6000).collect();
        assert!(said == all, "{waits}, {reads_late}: {} arrived", said.len());
        assert_eq!(answer.json()["result"]["content"][0]["text"], "said");
    }
}

// Y-6: a call that never stops talking leaves others their turn, and its answer is not lost among what it said.
#[tokio::test]
async fn a_call_that_never_stops_talking() {
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let app = App::new();
        let call = match revision {
            "2026-07-28" => {
                let call = Req::modern("1", "tools/call", r#","name":"chatter","arguments":{}"#);
                let body = String::from_utf8(call.body.clone()).expect("UTF-8");
                let asking = body.replace(r#""_meta":{"#, r#""_meta":{"progressToken":"p1","#);
                Req {
                    body: asking.into(),
                    ..call
                }
            }
            _ => Req::call(&app.session(revision).await, "1", "chatter", "{}"),
        };
        let mut talking = app.open(call).await;
        assert!(talking.is_stream());
        // The test has one thread: this is where it is left to the call.
        assert!(talking.event().await.is_some());
        let add = Req::modern(
            "2",
            "tools/call",
            r#","name":"add","arguments":{"a":2,"b":3}"#,
        );
        assert_eq!(app.send(add).await.text(), "5");
        app.director.open();
        let events = talking.events().await;
        let answer = events.last().expect("an event").json();
        assert_eq!(
            answer["result"]["content"][0]["text"], "heard",
            "{revision}: {answer}"
        );
    }
}

// A panic in a stream ends that stream with an answer.
#[tokio::test]
async fn a_panic_in_a_stream() {
    let app = App::with(HttpConfig::default().sse_after(Duration::ZERO));
    let session = app.session("2025-06-18").await;
    let stream = app.open(Req::call(&session, "1", "fall", "{}")).await;
    assert!(stream.is_stream());
    app.director.open();
    let events = stream.events().await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].json()["result"]["isError"], true);
}

// Design §8: a client that does not listen costs nothing more with each change.
#[tokio::test]
async fn what_waits_is_said_once() {
    let app = App::new();
    let session = app.session("2025-06-18").await;
    for _ in 0..100 {
        app.handle.notify_tools_changed();
    }
    let mut stream = app.open(Req::get(&session)).await;
    assert!(stream.event().await.is_some());
    app.send(Req::delete(&session)).await;
    assert_eq!(stream.events().await, []);
}
