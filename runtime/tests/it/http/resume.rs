//! Resumption at 2025-11-25: streams that were broken, or ended early by the tool, are gone on with.

use std::{sync::Arc, time::Duration};

use trueform::{HttpConfig, store::MemoryEventStore};

use super::support::{App, Event, Opened, Req};

const REVISION: &str = "2025-11-25";

fn last(session: &str, id: &str) -> Req {
    Req::get(session).header("last-event-id", id)
}

async fn priming(stream: &mut Opened) -> String {
    let event = stream.event().await.expect("a priming event");
    assert_eq!((event.retry, &*event.data), (Some(1000), ""), "F-11");
    event.id.expect("an id")
}

fn texts(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|event| {
            let json = event.json();
            match json["params"]["progress"].as_f64() {
                Some(progress) => format!("progress {progress}"),
                None => json["result"]["content"][0]["text"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
            }
        })
        .collect()
}

// F-10, G-7: what the conformance suite's `server-sse-polling` does.
#[tokio::test]
async fn a_tool_ends_its_stream_early() {
    let app = App::new();
    let session = app.session(REVISION).await;
    let mut stream = app.open(Req::call(&session, "1", "part", "{}")).await;
    assert!(stream.is_stream());
    let id = priming(&mut stream).await;
    let before = stream.events().await;
    assert!(
        !texts(&before).contains(&"back".to_owned()),
        "the stream ends before the answer"
    );
    let seen = before
        .last()
        .and_then(|event| event.id.clone())
        .unwrap_or(id);
    assert_eq!(app.director.begun().await, "part");

    let (resumed, ()) = tokio::join!(
        async { app.open(last(&session, &seen)).await.events().await },
        async { app.director.open() }
    );
    let all: Vec<_> = before.into_iter().chain(resumed).collect();
    assert_eq!(
        texts(&all),
        ["progress 1", "back"],
        "nothing lost, nothing twice"
    );
    assert_eq!(all[1].json()["id"], 1);
}

// F-18: while the call is at work, and after it has ended.
#[tokio::test]
async fn a_broken_stream_is_resumed() {
    let app = App::new();
    let session = app.session(REVISION).await;
    let mut stream = app.open(Req::call(&session, "1", "talk", "{}")).await;
    let first = priming(&mut stream).await;
    let second = stream.event().await.expect("progress").id.expect("an id");
    drop(stream);
    app.director.begun().await;

    let mut resumed = app.open(last(&session, &first)).await;
    assert_eq!(
        texts(&[resumed.event().await.expect("progress")]),
        ["progress 1"]
    );
    app.director.open();
    assert_eq!(texts(&resumed.events().await), ["progress 2", "done"]);

    for (id, expected) in [
        (&first, &["progress 1", "progress 2", "done"][..]),
        (&second, &["progress 2", "done"]),
    ] {
        let events = app.open(last(&session, id)).await.events().await;
        assert_eq!(texts(&events), expected, "after the end");
        assert!(events.iter().all(|event| event.id.is_some()));
    }
}

// F-17, TRAP-20: every stream has its own ids, and only its own events.
#[tokio::test]
async fn streams_are_apart() {
    let app = App::new();
    let session = app.session(REVISION).await;
    let mut one = app.open(Req::call(&session, "1", "talk", "{}")).await;
    let mut two = app.open(Req::call(&session, "2", "talk", "{}")).await;
    let (first, second) = (priming(&mut one).await, priming(&mut two).await);
    app.director.open();
    let mut ids: Vec<_> = one
        .events()
        .await
        .into_iter()
        .chain(two.events().await)
        .filter_map(|event| event.id)
        .collect();
    ids.extend([first.clone(), second.clone()]);
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), count), (8, 8));

    for (id, of) in [(&first, 1), (&second, 2)] {
        let events = app.open(last(&session, id)).await.events().await;
        assert_eq!(events.last().expect("an answer").json()["id"], of);
        assert!(
            events[..2]
                .iter()
                .all(|event| event.json()["params"]["progressToken"] == format!("p{of}"))
        );
    }

    // Neither another session's events nor ones that never were.
    let other = app.session(REVISION).await;
    for (session, id) in [
        (&other, &*first),
        (&session, "0000000000000000-0"),
        (&session, "nonsense"),
        (&session, ""),
    ] {
        assert_eq!(app.send(last(session, id)).await.status, 400, "{id}");
    }
    assert_eq!(
        app.send(last(
            &session,
            &format!("{}-99", first.split('-').next().expect("a stream"))
        ))
        .await
        .status,
        400
    );
}

// The session's own stream: a client that comes back takes over from the connection that it lost.
#[tokio::test]
async fn the_stream_of_the_session_is_resumed() {
    let app = App::new();
    let session = app.session(REVISION).await;
    let mut stream = app.open(Req::get(&session)).await;
    let id = priming(&mut stream).await;
    app.handle.notify_tools_changed();
    let seen = stream.event().await.expect("a change");

    let mut resumed = app.open(last(&session, &id)).await;
    assert_eq!(resumed.event().await, Some(seen));
    let lost = stream.events().await;
    assert_eq!(lost.len(), 1, "the connection that was lost ends: {lost:?}");
    assert_eq!((lost[0].retry, &*lost[0].data), (Some(30_000), ""), "DEC-3");
    app.handle.notify_tools_changed();
    assert_eq!(
        resumed.event().await.expect("a change").method(),
        "notifications/tools/list_changed"
    );
    // DEC-3: the newest reads, whether it resumes or not.
    let newest = app.open(Req::get(&session)).await;
    assert_eq!(resumed.events().await[0].retry, Some(30_000));
    app.send(Req::delete(&session)).await;
    let ended = newest.events().await;
    assert!(
        ended.iter().all(|event| event.retry == Some(1000)),
        "{ended:?}"
    );
}

// A reader that takes over a call's stream ends the other connection.
#[tokio::test]
async fn one_reader_a_stream() {
    let app = App::new();
    let session = app.session(REVISION).await;
    let mut stream = app.open(Req::call(&session, "1", "talk", "{}")).await;
    let id = priming(&mut stream).await;
    app.director.begun().await;
    let resumed = app.open(last(&session, &id)).await;
    let lost = stream.events().await;
    app.director.open();
    assert!(lost.len() <= 2);
    assert_eq!(lost.last().expect("an event").retry, Some(30_000), "DEC-3");
    assert_eq!(
        texts(&resumed.events().await),
        ["progress 1", "progress 2", "done"]
    );
}

// DEC-3, F-15: a stream of the session and a resumed stream of a call leave each other alone; of two that resume the same stream the
// newer wins; no message goes to two streams.
#[tokio::test]
async fn resumed_streams_and_the_stream_of_the_session() {
    let app = App::new();
    let session = app.session(REVISION).await;
    let mut call = app.open(Req::call(&session, "1", "talk", "{}")).await;
    let id = priming(&mut call).await;
    app.director.begun().await;
    drop(call);

    let mut standing = app.open(Req::get(&session)).await;
    priming(&mut standing).await;
    let mut first = app.open(last(&session, &id)).await;
    assert_eq!(
        texts(&[first.event().await.expect("progress")]),
        ["progress 1"]
    );
    let mut second = app.open(last(&session, &id)).await;
    assert_eq!(
        texts(&[second.event().await.expect("progress")]),
        ["progress 1"]
    );
    let replaced = first.events().await;
    assert_eq!(replaced.len(), 1, "{replaced:?}");
    assert_eq!((replaced[0].retry, &*replaced[0].data), (Some(30_000), ""));

    // Opening the other one once more does not end the call's.
    let mut again = app.open(Req::get(&session)).await;
    priming(&mut again).await;
    assert_eq!(standing.events().await[0].retry, Some(30_000));
    app.handle.notify_tools_changed();
    app.director.open();
    assert_eq!(texts(&second.events().await), ["progress 2", "done"]);
    assert_eq!(
        again.event().await.expect("a change").method(),
        "notifications/tools/list_changed"
    );
    app.send(Req::delete(&session)).await;
    assert_eq!(again.events().await, [], "one copy");
}

// F-11: not before 2025-11-25, and not without a store.
#[tokio::test]
async fn where_nothing_is_kept() {
    let without = App::with(HttpConfig::default().event_store(None));
    for (app, revision) in [(&App::new(), "2025-06-18"), (&without, REVISION)] {
        let session = app.session(revision).await;
        let (events, ()) = tokio::join!(
            async {
                app.open(Req::call(&session, "1", "part", "{}"))
                    .await
                    .events()
                    .await
            },
            async {
                app.director.begun().await;
                app.director.open();
            }
        );
        assert_eq!(
            texts(&events),
            ["progress 1", "back"],
            "the stream cannot be ended early"
        );
        assert!(events.iter().all(|event| event.id.is_none()));
        assert_eq!(
            app.send(last(&session, "0000000000000001-0")).await.status,
            400
        );
    }
}

// Bounded: what was dropped cannot be resumed from, and says so.
#[tokio::test]
async fn what_is_kept_is_bounded() {
    let store = Arc::new(MemoryEventStore::new().session_events(3));
    let app = App::with(HttpConfig::default().event_store(Some(store.clone())));
    let session = app.session(REVISION).await;
    let mut stream = app
        .open(Req::call(&session, "1", "flood", r#"{"count":10}"#))
        .await;
    let first = priming(&mut stream).await;
    let events = stream.events().await;
    assert_eq!(events.len(), 11);
    assert_eq!(app.send(last(&session, &first)).await.status, 400);
    let recent = events[9].id.as_deref().expect("an id");
    assert_eq!(
        app.open(last(&session, recent)).await.events().await,
        events[10..]
    );
    assert!(store.bytes() < 5000);
    assert_eq!(app.send(Req::delete(&session)).await.status, 204);
    assert_eq!(store.bytes(), 0, "an ended session keeps nothing");
}

// A session that ends in another way than by DELETE keeps nothing either.
#[tokio::test]
async fn a_session_that_makes_room() {
    let store = Arc::new(MemoryEventStore::new());
    let app = App::with(
        HttpConfig::default()
            .event_store(Some(store.clone()))
            .session_idle(Duration::from_secs(1))
            .max_sessions(1),
    );
    let session = app.session(REVISION).await;
    app.open(Req::call(&session, "1", "flood", r#"{"count":10}"#))
        .await
        .events()
        .await;
    assert!(0 < store.bytes());
    let initialize = Req::post(crate::support::initialize(REVISION)[0].clone());
    while app.send(initialize.clone()).await.status == 503 {
        tokio::task::yield_now().await;
    }
    while 0 < store.bytes() {
        tokio::task::yield_now().await;
    }
}
