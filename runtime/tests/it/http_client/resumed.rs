//! Streams that end before their time: resumed where the era and the server allow it, and else a clear error.

use std::{
    future::IntoFuture,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::json;
use trueform::{
    client::{HttpEndpoint, HttpErrorKind},
    schema::methods::ResourceListChanged,
};

use super::{
    call, connect, failed, new, old,
    server::{Answer, Asked, Scripted, called, event, legacy, modern},
};
use crate::support::soon;

// G-7: the stream asks for 150 ms, ends, and the answer comes over the GET that names its last event.
#[tokio::test]
async fn the_servers_delay_is_kept() {
    let ended = Arc::new(Mutex::new(None));
    let resumed = Arc::new(Mutex::new(None));
    let (when, then) = (ended.clone(), resumed.clone());
    let server = Scripted::start(move |asked, answer| {
        let (when, then) = (when.clone(), then.clone());
        async move {
            let Some((asked, mut answer)) = legacy(asked, answer, "s").await else {
                return;
            };
            match (asked.what(), asked.header("last-event-id")) {
                ("tools/call", _) => {
                    answer.events().await;
                    answer.write("id: e-1\nretry: 150\ndata: \n\n").await;
                    *when.lock().unwrap() = Some((Instant::now(), asked.id().clone()));
                }
                ("GET", Some("e-1")) => {
                    let (_, id) = when.lock().unwrap().clone().unwrap();
                    *then.lock().unwrap() = Some(Instant::now());
                    answer.events().await;
                    answer
                        .write(event(
                            json!({ "jsonrpc": "2.0", "id": id, "result": called("at last") }),
                        ))
                        .await;
                }
                _ => answer.reply("405 Method Not Allowed", "", "").await,
            }
        }
    })
    .await;
    let client = connect(&server, old()).await;
    assert_eq!(call(&client, "x").await.unwrap(), "at last");
    let waited = resumed.lock().unwrap().unwrap() - ended.lock().unwrap().clone().unwrap().0;
    assert!(Duration::from_millis(150) <= waited, "{waited:?}");
    let get = server.all("GET").pop().unwrap();
    assert_eq!(get.header("mcp-session-id"), Some("s"));
}

// G-7, G-12
#[tokio::test]
async fn what_cannot_be_resumed() {
    for (options, stream, on_get, expected, gets) in [
        // Without an id there is no place to resume from.
        (
            old(),
            "data: {\n",
            "405 Method Not Allowed",
            "the stream ended before the answer; the server gave no event id",
            1,
        ),
        (
            old(),
            "id: e\ndata: \n\nid:\ndata: \n\n",
            "405 Method Not Allowed",
            "the server gave no event id",
            1,
        ),
        (
            old(),
            "id: e\nretry: 0\ndata: \n\n",
            "405 Method Not Allowed",
            "and cannot be resumed: HTTP 405 Method Not Allowed",
            2,
        ),
        (
            old(),
            "id: e\nretry: 0\ndata: \n\n",
            "404 Not Found",
            "and cannot be resumed: HTTP 404 Not Found",
            2,
        ),
        (
            old(),
            "id: e\nretry: 0\ndata: \n\n",
            "503 Service Unavailable",
            "the stream cannot be resumed: HTTP 503 Service Unavailable, 5 times in a row",
            6,
        ),
        // The modern era has no ids.
        (
            new(),
            "id: e\nretry: 0\ndata: \n\n",
            "405 Method Not Allowed",
            "the stream ended before the answer; make the call again",
            0,
        ),
    ] {
        let server = Scripted::start(move |asked, answer| async move {
            let is_own_stream = asked.what() == "GET" && asked.header("last-event-id").is_none();
            let left = match modern(asked, answer).await {
                Some((asked, answer)) => legacy(asked, answer, "s").await,
                None => None,
            };
            let Some((asked, mut answer)) = left else {
                return;
            };
            match asked.what() {
                "tools/call" => {
                    answer.events().await;
                    answer.write(stream).await;
                }
                _ if is_own_stream => answer.reply("405 Method Not Allowed", "", "").await,
                _ => answer.reply(on_get, "", "").await,
            }
        })
        .await;
        let client = connect(&server, options).await;
        let error = failed(call(&client, "x").await);
        assert_eq!(error.kind(), HttpErrorKind::StreamEnded, "{stream:?}");
        assert!(
            error.to_string().contains(expected),
            "{stream:?} {on_get}: {error}"
        );
        assert_eq!(
            server.all("GET").len(),
            gets,
            "{stream:?} {on_get}: {:?}",
            server.whats()
        );
    }
}

// A server that is gone is what the error reports, not the status of the stream that broke off.
#[tokio::test]
async fn a_server_that_is_gone() {
    let called = Arc::new(tokio::sync::Notify::new());
    let begun = called.clone();
    let server = Scripted::start(move |asked, answer| {
        let begun = begun.clone();
        async move {
            let Some((asked, mut answer)) = legacy(asked, answer, "s").await else {
                return;
            };
            if asked.what() != "tools/call" {
                return answer.reply("405 Method Not Allowed", "", "").await;
            }
            answer.events().await;
            answer.write("id: e\nretry: 0\ndata: \n\n").await;
            begun.notify_one();
            std::future::pending().await
        }
    })
    .await;
    let client = connect(&server, old()).await;
    let gone = async {
        soon(called.notified()).await;
        drop(server);
    };
    let (outcome, ()) = tokio::join!(call(&client, "x"), gone);
    let error = failed(outcome);
    assert_eq!(error.kind(), HttpErrorKind::StreamEnded);
    assert_eq!(error.status(), None);
    let error = error.to_string();
    assert!(
        error.contains("/mcp: the stream ended before the answer, and the server cannot be reached: ")
            && error.ends_with(
                ", 5 times in a row; check that the server is running; whether the call was made is not known"
            ),
        "{error}"
    );
}

// G-6, DEC-3: the session's own stream is opened again, from its last event.
#[tokio::test]
async fn the_sessions_own_stream_comes_back() {
    let (open, mut opened) = tokio::sync::watch::channel(0_usize);
    let count = Arc::new(open);
    let server = Scripted::start(move |asked, answer| {
        let count = count.clone();
        async move {
            let Some((asked, mut answer)) = legacy(asked, answer, "s").await else {
                return;
            };
            let mut time = 0;
            count.send_modify(|count| {
                time = *count;
                *count += 1;
            });
            let last = time.checked_sub(1).map(|last| format!("e-{last}"));
            assert_eq!(asked.header("last-event-id"), last.as_deref());
            if time == 3 {
                return answer.reply("405 Method Not Allowed", "", "").await;
            }
            answer.events().await;
            let changed =
                json!({ "jsonrpc": "2.0", "method": "notifications/resources/list_changed" });
            answer
                .write(format!("id: e-{time}\nretry: 0\n{}", event(changed)))
                .await;
        }
    })
    .await;
    let endpoint = HttpEndpoint::new(&*server.url);
    let client = soon(endpoint.connect_as(old())).await.unwrap();
    for _ in 0..3 {
        let message = soon(client.next_message()).await.unwrap();
        assert!(message.contains("resources/list_changed"), "{message}");
    }
    soon(opened.wait_for(|count| *count == 4)).await.unwrap();
    soon(client.close()).await;
    assert_eq!(server.all("GET").len(), 4);
}

/// Answers a call by three events with ids, of which the connection brings the first `cut` bytes. A GET brings what follows the event
/// that it names.
async fn cut_at(cut: usize, asked: Asked, mut answer: Answer, call_id: &Mutex<serde_json::Value>) {
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/resources/list_changed" });
    let all = |id: &serde_json::Value| {
        let result = json!({ "jsonrpc": "2.0", "id": id, "result": called("done") });
        [
            "id: 0\nretry: 0\ndata: \n\n".to_owned(),
            format!("id: 1\nevent: message\n{}", event(changed.clone())),
            format!("id: 2\r\n{}", event(changed.clone())),
            format!("id: 3\n{}", event(result)),
        ]
    };
    answer.events().await;
    match asked.header("last-event-id") {
        None => {
            *call_id.lock().unwrap() = asked.id().clone();
            let whole = all(asked.id()).concat();
            answer
                .write(&whole.as_bytes()[..cut.min(whole.len())])
                .await;
        }
        Some(last) => {
            let id = call_id.lock().unwrap().clone();
            let after: usize = last.parse::<usize>().unwrap() + 1;
            answer.write(all(&id)[after..].concat()).await;
        }
    }
}

/// At least the length of the answer of [`cut_at`].
const WHOLE: usize = 340;

// Cut at every byte, no message is lost, and none comes twice; before the first id the error is clear.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_at_every_byte() {
    let mut cuts = tokio::task::JoinSet::new();
    for cut in 0..=WHOLE {
        if cuts.len() == 16 {
            cuts.join_next().await.unwrap().unwrap();
        }
        cuts.spawn(soon(async move {
            let call_id = Arc::<Mutex<serde_json::Value>>::default();
            let server = Scripted::start(move |asked, answer| {
                let call_id = call_id.clone();
                async move {
                    let Some((asked, answer)) = legacy(asked, answer, "s").await else {
                        return;
                    };
                    match (asked.what(), asked.header("last-event-id")) {
                        ("GET", None) => answer.reply("405 Method Not Allowed", "", "").await,
                        _ => cut_at(cut, asked, answer, &call_id).await,
                    }
                }
            })
            .await;
            let client = connect(&server, old()).await;
            let mut notifications = client.notifications();
            let outcome = client.call_tool("x", ()).into_future().await;
            let mut changes = 0;
            while let Some(notified) = notifications.try_next() {
                changes += usize::from(notified.is::<ResourceListChanged>());
            }
            let posts = server.all("tools/call").len();
            assert_eq!(posts, 1, "cut at {cut}: a call is made once");
            if cut == WHOLE {
                assert_eq!(server.all("GET").len(), 1, "nothing was cut");
            }
            match outcome {
                Ok(result) => assert_eq!(
                    (result.text(), changes),
                    ("done".to_owned(), 2),
                    "cut at {cut}"
                ),
                Err(error) => {
                    let error = failed::<()>(Err(error));
                    assert_eq!(
                        error.kind(),
                        HttpErrorKind::StreamEnded,
                        "cut at {cut}: {error}"
                    );
                    assert!(
                        cut < "id: 0\nretry: 0\ndata: \n\n".len(),
                        "cut at {cut}: {error}"
                    );
                }
            }
        }));
    }
    cuts.join_all().await;
}
