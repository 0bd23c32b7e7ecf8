//! Answers that another client takes: they arrive as the server wrote them, and what was not sent is not cancelled.

use std::{
    future::IntoFuture,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::sync::{Notify, mpsc};
use trueform::{
    Client,
    client::{
        ClientError, ClientOptions, HttpEndpoint, HttpSession, LocalError, RetryPolicy, StrayKind,
    },
    schema::{InitializeResult, Revision},
};

use super::{
    call, connect, old,
    server::{self, Scripted, called, event, legacy},
};
use crate::support::soon;

/// A client of the session `s`, which another client opened.
async fn join(server: &Scripted) -> Client {
    join_at(server, Revision::V2025_11_25).await
}

async fn join_at(server: &Scripted, revision: Revision) -> Client {
    let mut opened: InitializeResult = serde_json::from_value(server::initialized()).unwrap();
    opened.protocol_version = revision.as_str().to_owned();
    let endpoint = HttpEndpoint::new(&*server.url).session(HttpSession::new("s", opened));
    soon(endpoint.connect_as(ClientOptions::at(revision)))
        .await
        .unwrap()
}

/// A server whose stream after the event `e` brings `rest`.
async fn bringing(rest: &'static [&'static str]) -> Scripted {
    Scripted::start(move |asked, mut answer| async move {
        if asked.header("last-event-id").is_none() {
            return answer.reply("405 Method Not Allowed", "", "").await;
        }
        answer.events().await;
        for message in rest {
            answer.write(format!("data: {message}\n\n")).await;
        }
    })
    .await
}

/// The digits of numbers, and the order of members.
#[tokio::test]
async fn a_resumed_answer_is_as_it_was_written() {
    let server = bringing(&[
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":4,"progress":1,"_meta":{"b":1e2,"a":12345678901234567890123}}}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{"content":[],"structuredContent":{"z":12345678901234567890123,"a":1e2}}}"#,
    ])
    .await;
    let client = join(&server).await;
    let (report, mut reports) = mpsc::unbounded_channel();
    let rest = client
        .call_tool("x", ())
        .on_progress(move |progress| {
            let meta = serde_json::to_string(&progress.meta).unwrap();
            report.send(meta).unwrap();
        })
        .resume_from("e");
    let result = soon(rest.into_future()).await.unwrap();
    let content = result.structured_content.unwrap();
    assert_eq!(content.get(), r#"{"z":12345678901234567890123,"a":1e2}"#);
    let meta = soon(reports.recv()).await.unwrap();
    assert!(
        meta.contains(r#""b":1e2,"a":12345678901234567890123"#),
        "{meta}"
    );
}

// A-10, F-34: 2025-03-26 has batches, on resumed streams as well; the revisions after it refuse them, which ends the request.
#[tokio::test]
async fn a_resumed_answer_in_a_batch() {
    let server = bringing(&[
        r#"[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":4,"progress":1}},{"jsonrpc":"2.0","id":4,"result":{"content":[],"_meta":{"a":1e2}}}]"#,
    ])
    .await;
    let client = join_at(&server, Revision::V2025_03_26).await;
    let (report, mut reports) = mpsc::unbounded_channel();
    let rest = client
        .call_tool("x", ())
        .on_progress(move |progress| report.send(progress.progress).unwrap())
        .resume_from("e");
    let result = soon(rest.into_future()).await.unwrap();
    assert!(
        serde_json::to_string(&result)
            .unwrap()
            .contains(r#""a":1e2"#)
    );
    assert_eq!(soon(reports.recv()).await, Some(1.0));
    assert_eq!(client.stray_count(StrayKind::UnknownId), 0);

    let client = join_at(&server, Revision::V2025_06_18).await;
    let rest = client.call_tool("x", ()).resume_from("e");
    let error = soon(rest.into_future()).await.unwrap_err().to_string();
    assert!(error.contains("has no batches"), "{error}");
}

// DEC-5: an answer with a member twice is refused like one that came at once.
#[tokio::test]
async fn a_resumed_answer_with_a_member_twice() {
    let twice = r#"{"jsonrpc":"2.0","id":4,"result":{"content":[]},"result":{"content":[]}}"#;
    let server = Scripted::start(move |asked, mut answer| async move {
        let twice = match asked.what() {
            "tools/call" => twice.replacen('4', &asked.id().to_string(), 1),
            _ if asked.header("last-event-id").is_some() => twice.to_owned(),
            _ => return answer.reply("405 Method Not Allowed", "", "").await,
        };
        answer.events().await;
        answer.write(format!("data: {twice}\n\n")).await;
    })
    .await;
    let client = join(&server).await;
    let at_once = soon(client.call_tool("x", ()).into_future()).await;
    let resumed = client.call_tool("x", ()).resume_from("e");
    let resumed = soon(resumed.into_future()).await;
    let [at_once, resumed] = [at_once, resumed].map(|outcome| match outcome {
        Err(error @ ClientError::Local(LocalError::Decode(_))) => error.to_string(),
        other => panic!("expected an answer that is refused, found {other:?}"),
    });
    assert_eq!(at_once, resumed);
}

/// The server knows the request under an id that this client does not have: none is cancelled, but the stream ends.
#[tokio::test]
async fn a_resumed_request_that_is_given_up() {
    for dropped in [true, false] {
        let (note, mut noted) = mpsc::unbounded_channel();
        let server = Scripted::start(move |asked, mut answer| {
            let note = note.clone();
            async move {
                match asked.header("last-event-id") {
                    Some(_) => {
                        answer.events().await;
                        answer.write(": here\n\n").await;
                        note.send("open").unwrap();
                        answer.closed().await;
                        note.send("closed").unwrap();
                    }
                    None => answer.reply("405 Method Not Allowed", "", "").await,
                }
            }
        })
        .await;
        let client = join(&server).await;
        let rest = client.call_tool("x", ()).resume_from("e");
        match dropped {
            true => {
                let calling = tokio::spawn(rest.into_future());
                assert_eq!(soon(noted.recv()).await, Some("open"));
                calling.abort();
            }
            false => {
                let rest = rest.timeout(Duration::from_millis(50));
                match soon(rest.into_future()).await {
                    Err(ClientError::Local(LocalError::TimedOut(_))) => {}
                    other => panic!("expected no answer, found {other:?}"),
                }
                assert_eq!(soon(noted.recv()).await, Some("open"));
            }
        }
        assert_eq!(soon(noted.recv()).await, Some("closed"));
        soon(client.leave()).await.unwrap();
        assert_eq!(server.all("notifications/cancelled").len(), 0, "{dropped}");
    }
}

/// A request whose tokens are wanted is sent again like any other, and the tokens of each attempt are reported.
#[tokio::test]
async fn tokens_and_retries() {
    let reads = Arc::new(AtomicUsize::new(0));
    let server = Scripted::start(move |asked, answer| {
        let reads = reads.clone();
        async move {
            let Some((asked, mut answer)) = legacy(asked, answer, "s").await else {
                return;
            };
            if asked.what() != "resources/read" {
                return answer.reply("405 Method Not Allowed", "", "").await;
            }
            if reads.fetch_add(1, Ordering::SeqCst) == 0 {
                return answer.reply("503 Service Unavailable", "", "").await;
            }
            let contents = json!([{ "uri": "a://b", "text": "read" }]);
            let body =
                json!({ "jsonrpc": "2.0", "id": asked.id(), "result": { "contents": contents } });
            answer.events().await;
            answer.write("id: e-1\ndata: \n\n").await;
            answer.write(event(body)).await;
        }
    })
    .await;
    let policy = RetryPolicy::attempts(2).wait(Duration::from_millis(1));
    let client = connect(&server, old().retry(policy)).await;
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let tokens = seen.clone();
    let read = client
        .read_resource("a://b")
        .on_resumption_token(move |token| tokens.lock().unwrap().push(token.to_owned()));
    soon(read.into_future()).await.unwrap();
    assert_eq!(server.all("resources/read").len(), 2);
    assert_eq!(*seen.lock().unwrap(), ["e-1"]);
    // A resumed one is taken from one stream, once.
    let rest = client.read_resource("a://b").resume_from("gone");
    soon(rest.into_future()).await.unwrap_err();
    let resumed = server.all("GET").into_iter();
    let resumed = resumed.filter(|asked| asked.header("last-event-id").is_some());
    assert_eq!(resumed.count(), 1);
}

/// While a session is opened in place of another, the client is left: the new one is what it leaves.
#[tokio::test]
async fn the_session_that_is_left() {
    for leaves in [true, false] {
        let sessions = Arc::new(AtomicUsize::new(0));
        let (go, opening) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (going, begun) = (go.clone(), opening.clone());
        let server = Scripted::start(move |asked, answer| {
            let (sessions, go, opening) = (sessions.clone(), going.clone(), begun.clone());
            async move {
                if asked.what() == "initialize" && sessions.fetch_add(1, Ordering::SeqCst) == 1 {
                    opening.notify_one();
                    go.notified().await;
                }
                let session = format!("s-{}", sessions.load(Ordering::SeqCst));
                let Some((asked, answer)) = legacy(asked, answer, &session).await else {
                    return;
                };
                match (asked.what(), asked.header("mcp-session-id")) {
                    ("tools/call", Some("s-1")) => answer.reply("404 Not Found", "", "").await,
                    ("tools/call", _) => answer.result(&asked, called("done")).await,
                    _ => answer.reply("405 Method Not Allowed", "", "").await,
                }
            }
        })
        .await;
        let client = connect(&server, old()).await;
        let calling = tokio::spawn(client.call_tool("x", ()).into_future());
        soon(opening.notified()).await;
        let closing = async {
            match leaves {
                true => client.leave().await,
                false => {
                    client.close().await;
                    None
                }
            }
        };
        let released = async {
            tokio::task::yield_now().await;
            go.notify_one();
        };
        let (left, ()) = soon(async { tokio::join!(closing, released) }).await;
        let left = left.map(|session| session.session_id);
        assert_eq!(left.as_deref(), leaves.then_some("s-2"));
        let ended = server.all("DELETE");
        let ended: Vec<_> = ended
            .iter()
            .map(|asked| asked.header("mcp-session-id").unwrap())
            .collect();
        let expected: &[&str] = if leaves { &[] } else { &["s-2"] };
        assert_eq!(ended, expected);
        let _ = soon(calling).await.unwrap();
    }
}

// O-2: which answers a client that joined has not asked for.
#[tokio::test]
async fn answers_that_a_joined_client_did_not_ask_for() {
    let server = Scripted::start(|asked, mut answer| async move {
        if asked.what() != "tools/call" {
            return answer.reply("405 Method Not Allowed", "", "").await;
        }
        let answers = |id| event(json!({ "jsonrpc": "2.0", "id": id, "result": called("done") }));
        answer.events().await;
        let others = answers(json!(4)) + &answers(json!(1_i64 << 40));
        answer.write(others + &answers(asked.id().clone())).await;
        answer.write(answers(asked.id().clone())).await;
    })
    .await;
    let client = join(&server).await;
    let mut strays = client.strays();
    assert_eq!(call(&client, "x").await.unwrap(), "done");
    let mut kinds = Vec::new();
    for _ in 0..3 {
        kinds.push(soon(strays.next()).await.unwrap().kind);
    }
    let expected = [
        StrayKind::UnknownId,
        StrayKind::UnknownId,
        StrayKind::LateAnswer,
    ];
    assert_eq!(kinds, expected);
}

/// A call is given up while it opens a session in place of one that ended: the session is opened all the same, once, and used.
#[tokio::test]
async fn a_call_that_is_given_up_meanwhile() {
    let sessions = Arc::new(AtomicUsize::new(0));
    let (go, opening) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (going, begun) = (go.clone(), opening.clone());
    let server = Scripted::start(move |asked, answer| {
        let (sessions, go, opening) = (sessions.clone(), going.clone(), begun.clone());
        async move {
            let is_opening = asked.what() == "initialize";
            if is_opening && sessions.fetch_add(1, Ordering::SeqCst) == 1 {
                opening.notify_one();
                go.notified().await;
            }
            let session = format!("s-{}", sessions.load(Ordering::SeqCst));
            let Some((asked, answer)) = legacy(asked, answer, &session).await else {
                return;
            };
            match (asked.what(), asked.header("mcp-session-id")) {
                ("tools/call", Some("s-1")) => answer.reply("404 Not Found", "", "").await,
                ("tools/call", _) => answer.result(&asked, called("done")).await,
                ("notifications/cancelled", _) => answer.reply("202 Accepted", "", "").await,
                _ => answer.reply("405 Method Not Allowed", "", "").await,
            }
        }
    })
    .await;
    let client = connect(&server, old()).await;
    let given_up = tokio::spawn(client.call_tool("x", ()).into_future());
    soon(opening.notified()).await;
    given_up.abort();
    soon(given_up).await.unwrap_err();
    let next = tokio::spawn(client.call_tool("y", ()).into_future());
    let cancelled = async {
        while server.all("tools/call").len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    soon(cancelled).await;
    go.notify_one();
    assert_eq!(soon(next).await.unwrap().unwrap().text(), "done");
    soon(client.close()).await;
    assert_eq!(server.all("initialize").len(), 2, "{:?}", server.whats());
    let ended = server.all("DELETE");
    assert_eq!(ended[0].header("mcp-session-id"), Some("s-2"));
}
