//! How events leave: one frame of the body is one event, so that it is one write on a socket, and silence is broken.

use std::time::Duration;

use http_body_util::BodyExt;
use trueform::HttpConfig;

use super::support::{App, Opened, Req};
use crate::support::soon;

/// The next frame of the body, whatever is in it.
async fn frame(stream: &mut Opened) -> Option<String> {
    let frame = soon(stream.body.frame()).await?;
    let data = frame
        .expect("the body does not fail")
        .into_data()
        .expect("no trailers");
    Some(String::from_utf8(data.to_vec()).expect("UTF-8"))
}

async fn frames(mut stream: Opened) -> Vec<String> {
    assert!(stream.is_stream(), "{stream:?}");
    let mut frames = Vec::new();
    while let Some(frame) = frame(&mut stream).await {
        frames.push(frame);
    }
    frames
}

// Findings 1: also of events that are ready at the same time.
#[tokio::test]
async fn one_event_is_one_frame() {
    let app = App::new();
    let mut streams = Vec::new();
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let session = app.session(revision).await;
        streams.push(
            app.open(Req::call(&session, "1", "flood", r#"{"count":3}"#))
                .await,
        );
    }
    let request = Req::modern(
        "1",
        "tools/call",
        r#","name":"flood","arguments":{"count":3}"#,
    );
    let body = String::from_utf8(request.body.clone()).expect("UTF-8");
    let asking = body.replace(r#""_meta":{"#, r#""_meta":{"progressToken":"p1","#);
    streams.push(
        app.open(Req {
            body: asking.into(),
            ..request
        })
        .await,
    );
    for stream in streams {
        let frames = frames(stream).await;
        let events = frames
            .iter()
            .filter(|frame| frame.contains("data: {"))
            .count();
        assert_eq!(events, 4, "{frames:?}");
        for frame in frames {
            assert_eq!(frame.matches("\n\n").count(), 1, "{frame:?}");
            assert!(
                frame.ends_with("\n\n") && frame.contains("data: "),
                "{frame:?}"
            );
        }
    }
}

// F-31, G-13: streams of calls, of sessions and of subscriptions.
#[tokio::test(start_paused = true)]
async fn silence_is_broken() {
    let app = App::with(
        HttpConfig::default()
            .sse_after(Duration::ZERO)
            .keep_alive(Duration::from_secs(7))
            .event_store(None),
    );
    let session = app.session("2025-06-18").await;
    let arguments = r#","name":"wait","arguments":{"label":"x"}"#;
    for request in [
        Req::call(&session, "1", "wait", r#"{"label":"x"}"#),
        Req::modern("1", "tools/call", arguments),
        Req::get(&session),
        Req::modern("2", "subscriptions/listen", r#","notifications":{}"#),
    ] {
        let subscribes = String::from_utf8_lossy(&request.body).contains("listen");
        let mut stream = app.open(request).await;
        assert!(stream.is_stream(), "{stream:?}");
        if subscribes {
            let acknowledged = frame(&mut stream).await.expect("it goes on");
            assert!(acknowledged.contains("acknowledged"), "{acknowledged}");
        }
        let begun = tokio::time::Instant::now();
        for times in [1, 2] {
            assert_eq!(frame(&mut stream).await.as_deref(), Some(":\n\n"));
            assert_eq!(begun.elapsed().as_secs(), times * 7);
        }
    }
}
