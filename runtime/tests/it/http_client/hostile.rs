//! Servers that mean a client over HTTP harm, or might as well.

use std::{
    future::IntoFuture,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use trueform::{
    client::{ClientError, HttpErrorKind, LocalError, StrayKind},
    schema::methods::ToolListChanged,
};

use super::{
    call, connect, failed, new, old,
    server::{Answer, Asked, Scripted, called, event, legacy, modern},
};
use crate::support::soon;

/// A modern server whose calls `answer` answers.
async fn calls<F>(answer: impl Fn(Asked, Answer) -> F + Clone + Send + Sync + 'static) -> Scripted
where
    F: Future<Output = ()> + Send + 'static,
{
    Scripted::start(move |asked, socket| {
        let answer = answer.clone();
        async move {
            if let Some((asked, socket)) = modern(asked, socket).await {
                answer(asked, socket).await;
            }
        }
    })
    .await
}

// Y-6: what has no end is given up, within the bounds that the client set.
#[tokio::test]
async fn what_has_no_end() {
    let server = calls(|asked, mut answer| async move {
        let kind = asked.body["params"]["name"].as_str().unwrap().to_owned();
        let head = match &*kind {
            "body" => "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n[",
            _ => "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
        };
        answer.write(head).await;
        let piece = match &*kind {
            "lines" => format!("data: {}\n", "x".repeat(1000)),
            "ids" => format!("id: {}", "x".repeat(1000)),
            "event" => format!("data: {}", "x".repeat(1000)),
            _ => "x".repeat(1000),
        };
        while answer.write(&piece).await {}
    })
    .await;
    let client = connect(&server, new().max_message(100_000)).await;
    for (name, expected) in [
        ("body", "the body has more than 100000 bytes"),
        ("lines", "an event has more than 100000 bytes"),
        ("ids", "an event has more than 100000 bytes"),
        ("event", "an event has more than 100000 bytes"),
    ] {
        let error = failed(call(&client, name).await);
        assert_eq!(error.kind(), HttpErrorKind::TooLarge, "{name}: {error}");
        assert!(error.to_string().contains(expected), "{name}: {error}");
    }
}

// A refusal without end is cut, and one that drips is not waited for longer than the call lasts.
#[tokio::test]
async fn drips_and_floods() {
    let server = calls(|asked, mut answer| async move {
        let kind = asked.body["params"]["name"].as_str().unwrap().to_owned();
        match &*kind {
            "refusal" => {
                answer
                    .write("HTTP/1.1 500 Oops\r\ncontent-type: text/plain\r\n\r\n")
                    .await;
                while answer.write("x".repeat(1000)).await {}
            }
            "comments" | "drip" => {
                answer.events().await;
                let piece = if kind == "drip" {
                    "d"
                } else {
                    ": still here\n\n"
                };
                while answer.write(piece).await {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
            // 100,000 notifications, and the answer.
            "bomb" => {
                answer.events().await;
                let piece = event(json!({ "jsonrpc": "2.0", "method": "notifications/of/nobody" }))
                    .repeat(1000);
                for _ in 0..100 {
                    answer.write(&piece).await;
                }
                answer
                    .write(event(
                        json!({ "jsonrpc": "2.0", "id": asked.id(), "result": called("after it") }),
                    ))
                    .await;
            }
            _ => answer.result(&asked, called("fine")).await,
        }
    })
    .await;
    let client = connect(&server, new()).await;
    let error = failed(call(&client, "refusal").await);
    assert_eq!(error.status(), Some(500));
    assert!(error.to_string().len() < 1000, "{error}");
    for name in ["comments", "drip"] {
        let calling = client
            .call_tool(name, ())
            .timeout(Duration::from_millis(200));
        let outcome = soon(calling.into_future()).await;
        assert!(
            matches!(outcome, Err(ClientError::Local(LocalError::TimedOut(_)))),
            "{name}: {outcome:?}"
        );
    }
    assert_eq!(call(&client, "bomb").await.unwrap(), "after it");
    assert_eq!(call(&client, "fine").await.unwrap(), "fine");
}

// 10,000 notifications a second: each is reported, in order.
#[tokio::test]
async fn many_notifications_a_second() {
    const MANY: u32 = 20_000;
    let server = calls(|asked, mut answer| async move {
        let token = &asked.body["params"]["_meta"]["progressToken"];
        answer.events().await;
        let mut clock = tokio::time::interval(Duration::from_millis(10));
        for hundred in 0..MANY / 100 {
            clock.tick().await;
            let reports = (1..=100).map(|number| {
                let params = json!({ "progressToken": token, "progress": hundred * 100 + number });
                event(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))
            });
            answer.write(reports.collect::<String>()).await;
        }
        let result = json!({ "jsonrpc": "2.0", "id": asked.id(), "result": called("after them") });
        answer.write(event(result)).await;
    })
    .await;
    let client = connect(&server, new()).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let all = seen.clone();
    let calling = client
        .call_tool("x", ())
        .on_progress(move |report| all.lock().unwrap().push(report.progress));
    let result = soon(calling.into_future()).await.unwrap();
    assert_eq!(result.text(), "after them");
    let seen = seen.lock().unwrap();
    let expected: Vec<f64> = (1..=MANY).map(f64::from).collect();
    assert!(*seen == expected, "{} of {MANY}", seen.len());
}

// A-5, O-2: an answer is taken once, and only by the request that it answers. What follows it in the same response is not lost.
#[tokio::test]
async fn answers_to_others() {
    let server = calls(|asked, mut answer| async move {
        let kind = asked.body["params"]["name"].as_str().unwrap().to_owned();
        let result = |id: &serde_json::Value, text: &str| {
            event(json!({ "jsonrpc": "2.0", "id": id, "result": called(text) }))
        };
        let changed = event(
            json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {} }),
        );
        answer.events().await;
        match &*kind {
            "wrong" => {
                answer
                    .write(result(&json!(asked.id().to_string()), "as text"))
                    .await;
                answer.write(result(&json!(99), "of nobody")).await;
                answer
                    .write(event(
                        json!({ "jsonrpc": "2.0", "result": called("no id") }),
                    ))
                    .await;
                answer.write(result(asked.id(), "right")).await;
            }
            "twice" => {
                answer
                    .write([result(asked.id(), "first"), result(asked.id(), "second")].concat())
                    .await;
                answer.write(result(asked.id(), "third")).await;
                answer.write(&changed).await;
            }
            // A request of the server, which the modern era does not have.
            _ => {
                answer
                    .write(event(
                        json!({ "jsonrpc": "2.0", "id": 1, "method": "roots/list" }),
                    ))
                    .await;
                answer.write(result(asked.id(), "asked")).await;
            }
        }
    })
    .await;
    let client = connect(&server, new()).await;
    let mut strays = client.strays();
    let mut notifications = client.notifications();
    assert_eq!(call(&client, "wrong").await.unwrap(), "right");
    let mut kinds = Vec::new();
    for _ in 0..3 {
        kinds.push(soon(strays.next()).await.unwrap().kind);
    }
    assert_eq!(
        kinds,
        [
            StrayKind::UnknownId,
            StrayKind::UnknownId,
            StrayKind::Malformed
        ]
    );
    assert_eq!(call(&client, "twice").await.unwrap(), "first");
    for _ in 0..2 {
        let late = soon(strays.next()).await.unwrap();
        assert_eq!(late.kind, StrayKind::LateAnswer, "{late:?}");
    }
    let changed = soon(notifications.next()).await.unwrap();
    assert!(changed.is::<ToolListChanged>(), "{changed:?}");
    assert_eq!(client.stray_count(StrayKind::LateAnswer), 2);
    assert_eq!(call(&client, "asks").await.unwrap(), "asked");
    let kept = async {
        let mut kept = Vec::new();
        loop {
            let message = client.next_message().await.unwrap();
            let is_last = message.contains("roots/list");
            kept.push(message);
            if is_last {
                return kept.join("\n");
            }
        }
    };
    let kept = soon(kept).await;
    for text in ["of nobody", "second", "third"] {
        assert!(kept.contains(text), "{text}: {kept}");
    }
    assert!(
        server
            .asked
            .lock()
            .unwrap()
            .iter()
            .all(|asked| asked.body.get("result").is_none()),
        "A-18"
    );
}

// A stream that goes on for ever after the answer does not keep its connection, nor the client from closing.
#[tokio::test]
async fn one_that_goes_on_after_the_answer() {
    let (ended, mut end) = tokio::sync::mpsc::unbounded_channel();
    let server = calls(move |asked, mut answer| {
        let ended = ended.clone();
        async move {
            answer.events().await;
            let result = json!({ "jsonrpc": "2.0", "id": asked.id(), "result": called("first") });
            answer.write(event(result.clone())).await;
            while answer.write(event(result.clone())).await {}
            ended.send(()).unwrap();
        }
    })
    .await;
    let client = connect(&server, new()).await;
    assert_eq!(call(&client, "x").await.unwrap(), "first");
    soon(end.recv()).await.unwrap();
    assert!(client.stray_count(StrayKind::LateAnswer) > 0);
    soon(client.close()).await;
}

// What a server gives to be sent back cannot become a header of its own, or a very long one.
#[tokio::test]
async fn what_is_sent_back() {
    let long = "x".repeat(10_000);
    for (session, sent) in [
        ("s-1".to_owned(), Some("s-1")),
        ("with space".to_owned(), None),
        ("caf\u{e9}".to_owned(), None),
        (long.clone(), None),
    ] {
        let server = Scripted::start(move |asked, answer| {
            let session = session.clone();
            async move {
                let Some((asked, mut answer)) = legacy(asked, answer, &session).await else {
                    return;
                };
                if asked.what() == "tools/call" {
                    answer.events().await;
                    answer.write("id: a\u{1}\nretry: 0\ndata: \n\n").await;
                } else {
                    answer.reply("405 Method Not Allowed", "", "").await;
                }
            }
        })
        .await;
        let client = connect(&server, old()).await;
        let error = failed(call(&client, "x").await);
        assert!(error.to_string().contains("no event id"), "{error}");
        assert_eq!(server.all("tools/call")[0].header("mcp-session-id"), sent);
    }
    // The id of an event, as long as it is.
    let server = Scripted::start(move |asked, answer| {
        let long = long.clone();
        async move {
            let Some((asked, mut answer)) = legacy(asked, answer, "s").await else {
                return;
            };
            if asked.what() == "tools/call" {
                answer.events().await;
                answer
                    .write(format!("id: {long}\nretry: 0\ndata: \n\n"))
                    .await;
            } else {
                answer.reply("405 Method Not Allowed", "", "").await;
            }
        }
    })
    .await;
    let client = connect(&server, old()).await;
    let error = failed(call(&client, "x").await);
    assert!(error.to_string().contains("no event id"), "{error}");
}

// The number of open responses is bounded; what waits is sent when there is room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_at_once() {
    const CALLS: usize = 300;
    const MOST: usize = 256;
    let (arrive, mut arrived) = tokio::sync::mpsc::unbounded_channel();
    let permits = Arc::new(tokio::sync::Semaphore::new(0));
    // Permits that have been given out, or will be at once.
    let given = Arc::new(AtomicUsize::new(0));
    let most_open = Arc::new(AtomicUsize::new(0));
    let count = Arc::<AtomicUsize>::default();
    let state = (permits.clone(), given.clone(), most_open.clone());
    let server = calls(move |asked, answer| {
        let (permits, given, most_open) = state.clone();
        let (arrive, count) = (arrive.clone(), count.clone());
        async move {
            let arrivals = count.fetch_add(1, Ordering::SeqCst) + 1;
            let open = arrivals.saturating_sub(given.load(Ordering::SeqCst));
            most_open.fetch_max(open, Ordering::SeqCst);
            let _ = arrive.send(());
            if let Ok(permit) = permits.acquire().await {
                permit.forget();
            }
            answer.result(&asked, called("done")).await;
        }
    })
    .await;
    let client = connect(&server, new()).await;
    let mut calling = tokio::task::JoinSet::new();
    for _ in 0..CALLS {
        calling.spawn(client.call_tool("x", ()).into_future());
    }
    for _ in 0..MOST {
        soon(arrived.recv()).await.unwrap();
    }
    // Each answer makes room for one more call.
    for _ in MOST..CALLS {
        given.fetch_add(1, Ordering::SeqCst);
        permits.add_permits(1);
        soon(arrived.recv()).await.unwrap();
    }
    given.fetch_add(MOST, Ordering::SeqCst);
    permits.add_permits(MOST);
    for outcome in soon(calling.join_all()).await {
        assert_eq!(outcome.unwrap().text(), "done");
    }
    assert_eq!(most_open.load(Ordering::SeqCst), MOST);
}

// A server that takes connections and reads nothing from them.
#[tokio::test]
async fn one_that_never_reads() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let (first, _) = listener.accept().await.unwrap();
        let (asked, answer) = super::server::read(first).await.unwrap();
        assert!(modern(asked, answer).await.is_none());
        let mut unread = Vec::new();
        while let Ok((socket, _)) = listener.accept().await {
            unread.push(socket);
        }
    });
    let endpoint = trueform::client::HttpEndpoint::new(url);
    let client = soon(endpoint.connect_as(new())).await.unwrap();
    // More than the buffers of the system take.
    let large = json!({ "text": "x".repeat(32 << 20) });
    let calling = client
        .call_tool("x", large)
        .timeout(Duration::from_millis(200));
    let outcome = soon(calling.into_future()).await;
    assert!(
        matches!(outcome, Err(ClientError::Local(LocalError::TimedOut(_)))),
        "{outcome:?}"
    );
    soon(client.close()).await;
    serving.abort();
}
