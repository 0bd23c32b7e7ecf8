//! Answers that clients do not read: all of them together are bounded (issue 8, Y-6).

use std::future::Future;

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket},
};
use trueform::prelude::*;

use super::support::{App, Got, Opened, Req};
use crate::{
    support::{initialize, legacy, soon},
    unread::large,
};

/// Longer than any answer of these tests but those that are meant.
const LARGE: usize = 1 << 20;

/// More than two sockets keep.
const MORE: usize = 24 << 20;

/// Reports progress, and answers with a long text.
#[tool]
fn talks(context: Context, bytes: usize) -> String {
    context.progress(1.0, None, None);
    "x".repeat(bytes)
}

fn server(most: usize) -> Server {
    Server::new("t", "1")
        .tools(tools![large, talks])
        .max_unread(most)
}

fn call(tool: &str, bytes: usize) -> Req {
    let params = format!(r#","name":"{tool}","arguments":{{"bytes":{bytes}}}"#);
    Req::modern("7", "tools/call", &params)
}

fn only_events(request: Req) -> Req {
    request.header("accept", "text/event-stream")
}

fn assert_refused(got: &Got, what: &str) {
    assert_eq!(
        (got.status, got.header("retry-after"), got.code()),
        (503, Some("1"), -32603),
        "{what}: {}",
        got.body
    );
    assert_eq!(got.header("content-type"), Some("application/json"));
    assert_eq!(got.json()["id"], 7, "{what}");
    assert!(got.body.contains("`max_unread`"), "{what}: {}", got.body);
}

/// The first refusal, and the answers that were not read before it. What is kept for a client that does not read may be there
/// only after its request.
async fn filled<F: Future<Output = Opened>>(app: &App, open: impl Fn() -> F) -> (Got, Vec<Opened>) {
    let mut unread = Vec::new();
    soon(async {
        loop {
            let got = app.send(call("large", 1)).await;
            if got.status != 200 {
                return (got, unread);
            }
            if unread.len() < 3 {
                unread.push(open().await);
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

#[tokio::test]
async fn however_they_are_sent() {
    let app = App::serving(server(LARGE + LARGE / 2));
    let session = app.session("2025-03-26").await;
    let resumable = app.session("2025-11-25").await;
    let batch = |id: u32| {
        let call = format!(
            r#"{{"name":"large","arguments":{{"bytes":{}}}}}"#,
            LARGE / 2
        );
        let calls = [id, id + 1].map(|id| legacy(&id.to_string(), "tools/call", &call));
        Req::post(format!("[{}]", calls.join(","))).session(&session)
    };
    let arguments = format!(r#"{{"bytes":{LARGE}}}"#);
    for (what, request) in [
        ("JSON", call("large", LARGE)),
        ("one event", only_events(call("large", LARGE))),
        ("a batch", batch(10)),
        ("a batch as events", only_events(batch(20))),
        ("a stream", call("talks", LARGE)),
        (
            "a legacy stream",
            Req::call(&session, "30", "talks", &arguments),
        ),
        (
            "a resumable stream",
            Req::call(&resumable, "40", "talks", &arguments),
        ),
    ] {
        let (refused, mut unread) = filled(&app, || app.open(request.clone())).await;
        assert_refused(&refused, what);
        assert_eq!(unread.len(), 2, "{what}");
        // What frees the server, and what costs nothing, passes.
        let ping = app.send(Req::legacy(&session, "9", "ping", "{}")).await;
        assert_eq!((ping.status, ping.code()), (200, 0), "{what}");
        let [hello, _] = initialize("2025-06-18");
        assert_eq!(app.send(Req::post(hello)).await.status, 200, "{what}");
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        let cancelled = app.send(Req::post(cancel).session(&session)).await;
        assert_eq!(cancelled.status, 202, "{what}");

        // One that is read at last makes room, and so does one whose client has gone.
        let read = soon(unread.remove(0).whole()).await;
        assert_eq!(read.status, 200, "{what}");
        assert!(LARGE < read.body.len(), "{what}: {}", read.body.len());
        assert_eq!(app.send(call("large", 1)).await.text(), "x", "{what}");
        let (refused, again) = filled(&app, || app.open(request.clone())).await;
        assert_refused(&refused, what);
        for opened in unread.into_iter().chain(again) {
            soon(opened.whole()).await;
        }
        assert_eq!(app.send(call("large", 1)).await.text(), "x", "{what}");
    }
}

// A long page of a list is an answer as well; a short one passes.
#[tokio::test]
async fn lists_that_are_long() {
    for (tools, refused) in [(1, false), (100, true)] {
        let mut set = tools![large];
        for at in 1..tools {
            let schema = json!({ "type": "object" });
            set.extend(DynamicTool::new(format!("tool{at}"), schema).handler(|_, _| async {}));
        }
        let app = App::serving(Server::new("t", "1").tools(set).max_unread(1));
        let unread = app.open(call("large", LARGE)).await;
        assert_refused(&app.send(call("large", 1)).await, "a call");
        let list = app.send(Req::modern("7", "tools/list", "")).await;
        match refused {
            true => assert_refused(&list, "a list"),
            false => assert_eq!(list.status, 200),
        }
        soon(unread.whole()).await;
        assert_eq!(
            app.send(Req::modern("7", "tools/list", "")).await.status,
            200
        );
    }
}

// On sockets: what the library below has taken is not yet written.
#[tokio::test]
async fn on_sockets() {
    let service = server(MORE).build().expect("the tool is fine");
    let handle = service.handle();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let serving = tokio::spawn(async move { service.serve_http_on(listener).await });
    let ask = async |request: Req| {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(4096).expect("a small buffer");
        let mut stream = soon(socket.connect(address)).await.expect("it listens");
        let request = request.header("connection", "close");
        soon(stream.write_all(&request.wire())).await.expect("sent");
        let mut head = [0; 12];
        soon(stream.read_exact(&mut head)).await.expect("a status");
        (String::from_utf8_lossy(&head).into_owned(), stream)
    };
    let (status, mut unread) = ask(call("large", MORE)).await;
    assert_eq!(status, "HTTP/1.1 200");
    let (status, mut refused) = ask(call("large", 1)).await;
    assert_eq!(status, "HTTP/1.1 503");
    let mut rest = String::new();
    soon(refused.read_to_string(&mut rest)).await.expect("text");
    assert!(
        rest.contains("retry-after: 1") && rest.contains("`max_unread`"),
        "{rest}"
    );

    let mut body = Vec::new();
    soon(unread.read_to_end(&mut body))
        .await
        .expect("the answer");
    assert!(MORE < body.len(), "{}", body.len());
    let (status, _) = ask(call("large", 1)).await;
    assert_eq!(status, "HTTP/1.1 200");
    // One whose client goes away without reading.
    let (_, gone) = ask(call("large", MORE)).await;
    let (status, _) = ask(call("large", 1)).await;
    assert_eq!(status, "HTTP/1.1 503");
    drop(gone);
    soon(async {
        while ask(call("large", 1)).await.0 != "HTTP/1.1 200" {
            tokio::task::yield_now().await;
        }
    })
    .await;
    handle.shut_down();
    soon(serving).await.expect("no panic").expect("no error");
}

// What a GET replays waits for its reader as an answer does.
#[tokio::test]
async fn replays() {
    let app = App::serving(server(LARGE));
    let session = app.session("2025-11-25").await;
    let called = Req::call(&session, "5", "talks", r#"{"bytes":1}"#);
    let answered = app.send(called).await;
    let id = answered
        .body
        .lines()
        .find_map(|line| line.strip_prefix("id: "));
    let id = id.expect("the stream can be resumed").to_owned();
    let resume = || Req::get(&session).header("last-event-id", &id);
    let unread = app.open(call("large", LARGE)).await;
    let refused = app.send(resume()).await;
    assert_eq!(
        (refused.status, refused.code()),
        (503, -32603),
        "{refused:?}"
    );
    assert!(refused.body.contains("`max_unread`"), "{refused:?}");
    soon(unread.whole()).await;
    let resumed = app.send(resume()).await;
    assert_eq!(resumed.status, 200, "{resumed:?}");
    assert!(resumed.body.contains(r#""id":5,"result""#), "{resumed:?}");
}
