//! An answer whose first part one client took, and the rest another one of the same session.

use std::{
    future::IntoFuture,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use tokio::sync::{Notify, mpsc};
use trueform::{
    HttpConfig,
    client::{ClientError, ClientOptions, HttpEndpoint, HttpErrorKind, HttpSession, LocalError},
    prelude::*,
    schema::methods,
};

use super::{
    call, connect, failed, new, old,
    server::{self, Scripted, called, event, legacy},
};
use crate::support::soon;

/// Waits for `go` between two reports of progress.
#[tool]
async fn long(context: Context, go: State<Arc<Notify>>) -> String {
    context.progress(1.0, None, None).await;
    go.notified().await;
    context.progress(2.0, None, None).await;
    "all of it".to_owned()
}

// G-7: a client takes the rest of an answer after the one that made the call has ended, and the call is made once.
#[tokio::test]
async fn the_rest_of_an_answer() {
    let go = Arc::new(Notify::new());
    let service = Server::new("long", "1.0.0")
        .tools(tools![long])
        .state(go.clone())
        .http(HttpConfig::default())
        .build()
        .unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let handle = service.handle();
    let serving = tokio::spawn(async move { service.serve_http_on(listener).await });

    let client = soon(HttpEndpoint::new(&*url).connect_as(old()))
        .await
        .unwrap();
    let (token, mut tokens) = mpsc::unbounded_channel();
    let (report, mut reports) = mpsc::unbounded_channel();
    let call = client
        .call_tool("long", ())
        .on_progress(move |progress| report.send(progress.progress).unwrap())
        .on_resumption_token(move |id| token.send(id.to_owned()).unwrap());
    let calling = tokio::spawn(call.into_future());
    assert_eq!(soon(reports.recv()).await, Some(1.0));
    // That of the event before the first message, and that of the report.
    soon(tokens.recv()).await.unwrap();
    let token = soon(tokens.recv()).await.unwrap();
    let session = soon(client.leave()).await.expect("a session");
    match soon(calling).await.unwrap() {
        Err(ClientError::Local(LocalError::Closed)) => {}
        other => panic!("expected the call to end with its client, found {other:?}"),
    }

    let stored = serde_json::to_string(&session).unwrap();
    let session: HttpSession = serde_json::from_str(&stored).unwrap();
    let shown = format!("{session:?}");
    assert!(!shown.contains(&session.session_id), "{shown}");
    let endpoint = HttpEndpoint::new(&*url).session(session.clone());
    let client = soon(endpoint.connect_as(old())).await.unwrap();
    assert_eq!(client.revision(), Revision::V2025_11_25);
    assert_eq!(client.server_info().unwrap().name, "long");
    let (report, mut reports) = mpsc::unbounded_channel();
    let rest = client
        .call_tool("long", ())
        .on_progress(move |progress| report.send(progress.progress).unwrap())
        .resume_from(token);
    let rest = tokio::spawn(rest.into_future());
    go.notify_one();
    assert_eq!(soon(rest).await.unwrap().unwrap().text(), "all of it");
    assert_eq!(soon(reports.recv()).await, Some(2.0));
    assert_eq!(soon(reports.recv()).await, None);
    // The session is that of both: others are made in it.
    assert_eq!(
        client.http_session().unwrap().session_id,
        session.session_id
    );
    assert_eq!(soon(client.list_tools()).await.unwrap().len(), 1);
    soon(client.close()).await;
    handle.shut_down();
    soon(serving).await.unwrap().unwrap();
}

/// What is sent: the GET that names the event, and no POST; the answer has another id, and comes once.
#[tokio::test]
async fn what_is_sent_to_resume() {
    let server = Scripted::start(|asked, answer| async move {
        let Some((asked, mut answer)) = legacy(asked, answer, "s").await else {
            return;
        };
        match asked.header("last-event-id") {
            Some("e-7") => {
                answer.events().await;
                let other =
                    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
                answer
                    .write(format!("id: e-8\nretry: 0\n{}", event(other)))
                    .await;
            }
            Some("e-8") => {
                answer.events().await;
                let rest = json!({ "jsonrpc": "2.0", "id": 4, "result": called("the rest") });
                answer.write(format!("id: e-9\n{}", event(rest))).await;
            }
            Some(_) => answer.reply("404 Not Found", "", "").await,
            None => answer.reply("405 Method Not Allowed", "", "").await,
        }
    })
    .await;
    let opened = serde_json::from_value(server::initialized()).unwrap();
    let endpoint = HttpEndpoint::new(&*server.url).session(HttpSession::new("s", opened));
    let client = soon(endpoint.connect_as(old())).await.unwrap();
    let mut notifications = client.notifications();
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let tokens = seen.clone();
    let call = client
        .call_tool("x", ())
        .resume_from("e-7")
        .on_resumption_token(move |token| tokens.lock().unwrap().push(token.to_owned()));
    assert_eq!(soon(call.into_future()).await.unwrap().text(), "the rest");
    assert_eq!(*seen.lock().unwrap(), ["e-8"], "none after the answer");
    assert!(
        notifications
            .try_next()
            .unwrap()
            .is::<methods::ToolListChanged>()
    );

    // A token that the server does not know: an error, and neither a call nor a new session.
    let lost = client.call_tool("x", ()).resume_from("gone");
    let error = failed(soon(lost.into_future()).await);
    assert_eq!(error.kind(), HttpErrorKind::StreamEnded);
    let text = error.to_string();
    assert!(text.starts_with("GET http://127.0.0.1:"), "{text}");
    assert!(
        text.contains("cannot be resumed: HTTP 404 Not Found"),
        "{text}"
    );
    soon(client.leave()).await.unwrap();
    let whats = server.whats();
    assert_eq!(whats, ["GET"; 4], "no handshake, no call, no DELETE");
    for asked in server.all("GET") {
        assert_eq!(asked.header("mcp-session-id"), Some("s"));
        assert_eq!(asked.header("mcp-protocol-version"), Some("2025-11-25"));
    }
}

/// Requests of a client that joins have ids that the session has not seen, and a session that is gone is not opened again.
#[tokio::test]
async fn a_session_that_is_joined() {
    let server = Scripted::start(|asked, answer| async move {
        match (asked.what(), asked.body["params"]["name"].as_str()) {
            ("tools/call", Some("x")) => answer.result(&asked, called("done")).await,
            ("tools/call", _) => answer.reply("404 Not Found", "", "").await,
            _ => answer.reply("405 Method Not Allowed", "", "").await,
        }
    })
    .await;
    let opened = || serde_json::from_value(server::initialized()).unwrap();
    let endpoint = HttpEndpoint::new(&*server.url).session(HttpSession::new("s", opened()));
    let client = soon(endpoint.connect_as(old())).await.unwrap();
    assert_eq!(call(&client, "x").await.unwrap(), "done");
    let id = server.all("tools/call")[0].id().as_i64().unwrap();
    assert!(id > 1 << 40, "{id}");
    let error = failed(call(&client, "gone").await);
    assert_eq!(error.kind(), HttpErrorKind::SessionLost);
    assert_eq!(server.all("initialize").len(), 0);

    // What cannot be joined, before anything is sent.
    let asked = server.whats().len();
    let mut newest: trueform::schema::InitializeResult = opened();
    newest.protocol_version = "2026-07-28".to_owned();
    for (session, options, expected) in [
        (HttpSession::new("", opened()), old(), "session id"),
        (HttpSession::new("a b", opened()), old(), "session id"),
        (
            HttpSession::new("s", newest),
            ClientOptions::new(),
            "no common protocol version",
        ),
        (
            HttpSession::new("s", opened()),
            new(),
            "no common protocol version",
        ),
    ] {
        let endpoint = HttpEndpoint::new(&*server.url).session(session);
        let error = soon(endpoint.connect_as(options))
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(server.whats().len(), asked);
}

/// Where there are no tokens, the request is refused before it is sent.
#[tokio::test]
async fn where_nothing_can_be_resumed() {
    let server = Server::new("s", "1.0.0").tools(tools![long]);
    let service = server.state(Arc::new(Notify::new())).build().unwrap();
    let refused = async |client: &Client, expected: &str| {
        for resumes in [true, false] {
            let call = client.call_tool("x", ()).timeout(Duration::from_secs(5));
            let call = match resumes {
                true => call.resume_from("e"),
                false => call.on_resumption_token(|_| {}),
            };
            let error = soon(call.into_future()).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    };
    let client = soon(service.connect_as(old())).await.unwrap();
    refused(&client, "only Streamable HTTP has them").await;

    let modern = Scripted::start(|asked, answer| async move {
        server::modern(asked, answer).await;
    })
    .await;
    let client = connect(&modern, new()).await;
    refused(
        &client,
        "the resumption of a request does not exist at revision 2026-07-28",
    )
    .await;
    assert_eq!(modern.whats(), ["server/discover"]);

    let legacy = Scripted::start(|asked, answer| async move {
        if let Some((_, answer)) = legacy(asked, answer, "s").await {
            answer.reply("405 Method Not Allowed", "", "").await;
        }
    })
    .await;
    let client = connect(&legacy, old()).await;
    for token in [String::new(), "a\nb".to_owned(), "x".repeat(4097)] {
        let call = client.call_tool("x", ()).resume_from(token);
        let error = soon(call.into_future()).await.unwrap_err().to_string();
        assert!(
            error.contains("expected a resumption token of 1 to 4096 bytes"),
            "{error}"
        );
    }
    assert_eq!(legacy.all("tools/call").len(), 0);
}
