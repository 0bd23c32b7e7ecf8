//! Handlers of an extension that misbehave, and how the server contains them.

use std::{sync::Arc, time::Duration};

use custom_extension::bookmarks::{
    AddBookmarkRequestParams, AddBookmarkResult, Bookmark, BookmarkVisitedNotificationParams,
    IDENTIFIER, ListBookmarksRequestParams, ListBookmarksResult,
    handler::{self, ServerHandler},
    methods::{AddBookmark, BookmarkVisited, ListBookmarks},
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{Notify, mpsc},
};
use trueform::{
    Context, HttpConfig, Server, Service, ToolError,
    client::{ClientError, LocalError},
    layer::{CallEnd, CallInfo, CallLayer, CallOutcome, CallScope},
    schema::{
        DecodeError, ErrorObject, Json, Method, NotificationParams, Revision,
        methods::{Decoded, Methods, Response, Rules},
    },
};

use crate::support::{BOTH, Over, connect, modern, next, options, raw, serve_http, soon};

const NOW: Revision = Revision::V2026_07_28;
const DECLARED: &str = r#"{"com.example/bookmarks":{}}"#;

/// Performs the action that the title of a bookmark names, and reports it.
struct Rogue {
    events: mpsc::UnboundedSender<String>,
    released: Arc<Notify>,
}

/// The test's side: the reports of the handlers, and their release.
struct Director {
    events: mpsc::UnboundedReceiver<String>,
    released: Arc<Notify>,
}

impl Director {
    async fn next_event(&mut self) -> String {
        soon(self.events.recv()).await.expect("the server is there")
    }
}

/// Reports that it was dropped.
struct Dropped(mpsc::UnboundedSender<String>);

impl Drop for Dropped {
    fn drop(&mut self) {
        // The test may be over.
        let _ = self.0.send("dropped".to_owned());
    }
}

impl Rogue {
    fn report(&self, what: &str) {
        // The test may be over.
        let _ = self.events.send(what.to_owned());
    }
}

impl ServerHandler for Rogue {
    type Context = Context;

    async fn add_bookmark(
        &self,
        cx: &Context,
        params: AddBookmarkRequestParams,
    ) -> Result<AddBookmarkResult, ErrorObject> {
        let mut result = AddBookmarkResult::new("1");
        match &*params.bookmark.title {
            "panic" => panic!("meant to"),
            "panic later" => {
                tokio::task::yield_now().await;
                panic!("meant to")
            }
            "wait" => {
                let _dropped = Dropped(self.events.clone());
                self.report(cx.method());
                std::future::pending::<()>().await;
            }
            "reserved" => cx.set_result_meta("io.modelcontextprotocol/serverInfo", "me"),
            "no key" => cx.set_result_meta("a b", 1),
            "own" => {
                let meta = Json::from(json!({ "com.example/a": 1 }));
                result.extras_mut().insert("_meta", meta);
                cx.set_result_meta("com.example/a", 2);
                cx.set_result_meta("com.example/b", 3);
            }
            _ => {}
        }
        Ok(result)
    }

    async fn list_bookmarks(
        &self,
        _: &Context,
        _: ListBookmarksRequestParams,
    ) -> Result<ListBookmarksResult, ErrorObject> {
        Ok(ListBookmarksResult::new([Bookmark::new(
            "secret",
            "not a uri",
        )]))
    }

    async fn bookmark_visited(&self, cx: &Context, params: BookmarkVisitedNotificationParams) {
        if params.id == "panic" {
            panic!("meant to");
        }
        self.report(&format!("{} {}", cx.method(), params.id));
        self.released.notified().await;
        self.report("done");
    }
}

fn rogue() -> (Server, Director) {
    let (sender, events) = mpsc::unbounded_channel();
    let released = Arc::new(Notify::new());
    let rogue = Rogue {
        events: sender,
        released: released.clone(),
    };
    let server = Server::new("rogue", "1").extension(handler::Server(rogue));
    (server, Director { events, released })
}

fn add(title: &str) -> AddBookmarkRequestParams {
    AddBookmarkRequestParams::new(Bookmark::new(title, "https://a.example"))
}

#[tokio::test]
async fn panics_are_contained() {
    for over in BOTH {
        let (server, _director) = rogue();
        let service = server.build().unwrap();
        let client = connect(&service, over, options(NOW, &[IDENTIFIER])).await;
        for title in ["panic", "panic later"] {
            let failed = soon(client.request::<AddBookmark>(add(title)).into_future()).await;
            let error = failed.unwrap_err();
            let error = error.remote().unwrap();
            assert_eq!(
                (error.code, &*error.message),
                (-32603, "internal error"),
                "{over:?}"
            );
        }
        let fine = soon(client.request::<AddBookmark>(add("fine")).into_future()).await;
        assert_eq!(fine.unwrap().id, "1", "{over:?}");
    }
}

#[tokio::test]
async fn an_illegal_result_is_not_sent() {
    for over in BOTH {
        let (server, _director) = rogue();
        let service = server.build().unwrap();
        let client = connect(&service, over, raw()).await;
        client
            .send_raw(modern(1, "bookmarks/list", DECLARED, ""))
            .unwrap();
        let answer = next(&client).await;
        assert_eq!(answer["error"]["code"], -32603, "{over:?}: {answer}");
        assert!(!answer.to_string().contains("secret"), "{over:?}: {answer}");
    }
}

#[tokio::test]
async fn members_of_the_result_s_meta_are_held_to_its_rules() {
    for over in BOTH {
        let (server, _director) = rogue();
        let service = server.build().unwrap();
        let client = connect(&service, over, options(NOW, &[IDENTIFIER])).await;
        for title in ["reserved", "no key"] {
            let failed = soon(client.request::<AddBookmark>(add(title)).into_future()).await;
            assert_eq!(failed.unwrap_err().code(), Some(-32603), "{over:?} {title}");
        }
        let own = soon(client.request::<AddBookmark>(add("own")).into_future()).await;
        let own = own.unwrap();
        let meta = own.extras().get("_meta").unwrap().to_value();
        let expected = json!({ "com.example/a": 1, "com.example/b": 3 });
        assert_eq!(meta, expected, "{over:?}");
    }
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_dropped() {
    let (server, mut director) = rogue();
    let service = server.build().unwrap();
    let client = connect(&service, Over::Stream, options(NOW, &[IDENTIFIER])).await;
    let waiting = tokio::spawn(client.request::<AddBookmark>(add("wait")).into_future());
    assert_eq!(director.next_event().await, "bookmarks/add");
    waiting.abort();
    assert_eq!(director.next_event().await, "dropped");

    let short = client
        .request::<AddBookmark>(add("wait"))
        .timeout(Duration::from_millis(20));
    let timed_out = soon(short.into_future()).await;
    assert!(
        matches!(timed_out, Err(ClientError::Local(LocalError::TimedOut(_)))),
        "{timed_out:?}"
    );
    assert_eq!(director.next_event().await, "bookmarks/add");
    assert_eq!(director.next_event().await, "dropped");
}

// In the modern era closing the connection cancels what it waits for.
#[tokio::test]
async fn a_call_whose_connection_closes_is_dropped() {
    let (server, mut director) = rogue();
    let address = serve_http(&server.build().unwrap()).await;
    let params = r#","bookmark":{"title":"wait","uri":"https://a.example"}"#;
    let connection = send(address, &modern(1, "bookmarks/add", DECLARED, params)).await;
    assert_eq!(director.next_event().await, "bookmarks/add");
    drop(connection);
    assert_eq!(director.next_event().await, "dropped");
}

/// Limits calls to its time limit, and reports their outcome.
struct Watch {
    limit: Duration,
    events: mpsc::UnboundedSender<(String, CallOutcome)>,
}

struct Watched {
    limit: Duration,
    name: String,
    events: mpsc::UnboundedSender<(String, CallOutcome)>,
}

impl CallLayer for Watch {
    fn begin(&self, call: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError> {
        assert_eq!(
            call.method(),
            call.name(),
            "a method of an extension is called by its name"
        );
        if call.name() == "bookmarks/list" {
            let error = ErrorObject::new(1001, "closed");
            return Err(ToolError::protocol(error));
        }
        Ok(Some(Box::new(Watched {
            limit: self.limit,
            name: call.name().to_owned(),
            events: self.events.clone(),
        })))
    }
}

impl CallScope for Watched {
    fn time_limit(&self) -> Option<Duration> {
        Some(self.limit)
    }

    fn ended(self: Box<Self>, end: &CallEnd) {
        self.events
            .send((self.name, end.outcome))
            .expect("the test listens");
    }
}

#[tokio::test]
async fn layers_see_calls_limit_and_refuse_them() {
    for over in BOTH {
        let (server, mut director) = rogue();
        let (events, mut ends) = mpsc::unbounded_channel();
        let limit = Duration::from_millis(20);
        let service = server.layer(Watch { limit, events }).build().unwrap();
        let client = connect(&service, over, options(NOW, &[IDENTIFIER])).await;

        let added = soon(client.request::<AddBookmark>(add("fine")).into_future()).await;
        assert_eq!(added.unwrap().id, "1", "{over:?}");
        let end = soon(ends.recv()).await.unwrap();
        let name = "bookmarks/add".to_owned();
        assert_eq!(end, (name.clone(), CallOutcome::Result), "{over:?}");

        let late = soon(client.request::<AddBookmark>(add("wait")).into_future()).await;
        let error = late.unwrap_err();
        let error = error.remote().unwrap();
        let message = "`bookmarks/add` did not finish within 20ms";
        assert_eq!((error.code, &*error.message), (-32603, message), "{over:?}");
        assert_eq!(director.next_event().await, "bookmarks/add");
        assert_eq!(director.next_event().await, "dropped");
        let end = soon(ends.recv()).await.unwrap();
        assert_eq!(end, (name, CallOutcome::Error(-32603)), "{over:?}");

        let listed = client.request::<ListBookmarks>(ListBookmarksRequestParams::new());
        let refused = soon(listed.into_future()).await;
        assert_eq!(refused.unwrap_err().code(), Some(1001), "{over:?}");
    }
}

/// Asserts that handlers received the notifications `ids`, in this order.
async fn visited(director: &mut Director, ids: &[&str]) {
    for id in ids {
        let expected = format!("notifications/bookmarks/visited {id}");
        assert_eq!(director.next_event().await, expected);
    }
}

#[tokio::test]
async fn handlers_of_notifications_are_bounded_on_a_stream() {
    let (server, mut director) = rogue();
    let service = server.max_in_flight(2).build().unwrap();
    let client = connect(&service, Over::Stream, options(NOW, &[IDENTIFIER])).await;
    let visit = |id: &str| {
        let params = BookmarkVisitedNotificationParams::new(id);
        client.notify::<BookmarkVisited>(&params).unwrap();
    };
    for id in ["panic", "1", "2", "3", "4"] {
        visit(id);
    }
    // Its response shows that all earlier messages were read.
    let added = soon(client.request::<AddBookmark>(add("fine")).into_future()).await;
    assert_eq!(added.unwrap().id, "1");
    visited(&mut director, &["1", "2"]).await;
    director.released.notify_waiters();
    for _ in 0..2 {
        assert_eq!(director.next_event().await, "done");
    }
    // The third and the fourth were dropped, and there is room again.
    let added = soon(client.request::<AddBookmark>(add("fine")).into_future()).await;
    assert_eq!(added.unwrap().id, "1");
    visit("5");
    visited(&mut director, &["5"]).await;
}

#[tokio::test]
async fn handlers_of_notifications_are_bounded_over_http() {
    let (server, mut director) = rogue();
    let config = HttpConfig::default().max_in_flight(2);
    let address = serve_http(&server.http(config).build().unwrap()).await;
    let visit = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/bookmarks/visited","params":{{"id":"{id}"}}}}"#
        )
    };
    for id in ["1", "2"] {
        assert_eq!(status(address, &visit(id)).await, 202);
        visited(&mut director, &[id]).await;
    }
    assert_eq!(status(address, &visit("3")).await, 503);
    director.released.notify_waiters();
    for _ in 0..2 {
        assert_eq!(director.next_event().await, "done");
    }
    // The permit is given back a moment after the handler has ended.
    soon(async {
        while status(address, &visit("4")).await != 202 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    visited(&mut director, &["4"]).await;
}

/// Serves one notification at every revision of the core: its handler waits to be released.
struct Slow(Rogue);

impl Methods<Context> for Slow {
    fn identifier(&self) -> Option<&'static str> {
        Some("com.example/slow")
    }

    fn names(&self) -> &'static [&'static str] {
        &["notifications/slow"]
    }

    fn rules(&self, method: &str, revision: Revision) -> Option<&'static Rules> {
        (method == self.names()[0]).then(|| Method::Initialized.rules(revision))?
    }

    fn request(
        self: Arc<Self>,
        _: Revision,
        method: &str,
        _: Option<&str>,
    ) -> Result<Decoded<Context, Response>, DecodeError> {
        Err(DecodeError::new("", method))
    }

    fn notification(
        self: Arc<Self>,
        _: Revision,
        _: &str,
        _: Option<&str>,
    ) -> Result<Decoded<Context, ()>, DecodeError> {
        let params = NotificationParams::default();
        Ok(Decoded::new(self, params, |slow, _: Context, _| {
            Box::pin(async move {
                slow.0.report("begun");
                slow.0.released.notified().await;
                slow.0.report("done");
            })
        }))
    }
}

// Only 2025-03-26 has batches.
#[tokio::test]
async fn a_batch_does_not_wait_for_its_notifications() {
    for over in BOTH {
        batches_with_notifications(over).await;
    }
}

async fn batches_with_notifications(over: Over) {
    let (sender, events) = mpsc::unbounded_channel();
    let released = Arc::new(Notify::new());
    let slow = Slow(Rogue {
        events: sender,
        released: released.clone(),
    });
    let mut director = Director { events, released };
    let server = Server::new("slow", "1")
        .extension(slow)
        .max_in_flight(1)
        .http(HttpConfig::default().max_in_flight(1));
    let service = server.build().unwrap();
    let client = connect(&service, over, raw()).await;
    client
        .send_raw(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"extensions":{"com.example/slow":{}}},"clientInfo":{"name":"t","version":"1"}}}"#)
        .unwrap();
    assert_eq!(next(&client).await["id"], 0);
    client
        .send_raw(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .unwrap();
    let batch = |id: u32| {
        format!(
            r#"[{{"jsonrpc":"2.0","method":"notifications/slow"}},{{"jsonrpc":"2.0","id":"b{id}","method":"ping"}}]"#
        )
    };
    for id in 1..=3 {
        client.send_raw(batch(id)).unwrap();
        let answer = next(&client).await;
        let expected = json!([{ "jsonrpc": "2.0", "id": format!("b{id}"), "result": {} }]);
        assert_eq!(answer, expected);
    }
    // The second and the third were dropped.
    assert_eq!(director.next_event().await, "begun");
    director.released.notify_waiters();
    assert_eq!(director.next_event().await, "done");
    assert!(director.events.try_recv().is_err());
}

/// Posts `body`, a message of the modern era, on a connection of its own.
async fn send(address: std::net::SocketAddr, body: &str) -> TcpStream {
    let message: serde_json::Value = serde_json::from_str(body).unwrap();
    let method = message["method"].as_str().unwrap();
    let mut connection = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    connection.write_all(body.as_bytes()).await.unwrap();
    connection
}

/// The status of the response to `body`.
async fn status(address: std::net::SocketAddr, body: &str) -> u16 {
    let mut connection = send(address, body).await;
    let mut answer = String::new();
    soon(connection.read_to_string(&mut answer)).await.unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// The methods of an extension that serves nothing.
struct Named(Option<&'static str>, &'static [&'static str]);

impl Methods<Context> for Named {
    fn identifier(&self) -> Option<&'static str> {
        self.0
    }

    fn names(&self) -> &'static [&'static str] {
        self.1
    }

    fn rules(&self, method: &str, revision: Revision) -> Option<&'static Rules> {
        self.1
            .contains(&method)
            .then(|| Method::CallTool.rules(revision))?
    }

    fn request(
        self: Arc<Self>,
        _: Revision,
        method: &str,
        _: Option<&str>,
    ) -> Result<Decoded<Context, Response>, DecodeError> {
        Err(DecodeError::new("", method))
    }

    fn notification(
        self: Arc<Self>,
        _: Revision,
        method: &str,
        _: Option<&str>,
    ) -> Result<Decoded<Context, ()>, DecodeError> {
        Err(DecodeError::new("", method))
    }
}

#[test]
fn extensions_that_cannot_be_served_are_refused_together() {
    let server = Server::new("many", "1")
        .extension(Named(Some("com.example/a"), &["a/x", "a/y"]))
        .extension(Named(Some("com.example/b"), &["a/y"]))
        .extension(Named(Some("com.example/c"), &["tools/call"]))
        .extension(Named(Some("com.example/a"), &[]))
        .extension(Named(Some("no prefix"), &[]))
        .extension(Named(None, &[]));
    let problems = server.build().map(|_: Service| ()).unwrap_err().to_string();
    for expected in [
        "the extensions `com.example/a` and `com.example/b` both have the method `a/y`",
        "the extension `com.example/c` has the method `tools/call` at a revision whose core has it too",
        "the extension `com.example/a` was registered twice",
        "`no prefix` cannot be the identifier of an extension",
        "`Server::extension` takes the methods of an extension, and these are the core's",
    ] {
        assert!(problems.contains(expected), "{expected}\nin\n{problems}");
    }
    let merged = Server::new("one", "1").extension(Named(Some("com.example/a"), &["a/x"]));
    let other = Server::new("two", "1").extension(Named(Some("com.example/b"), &["a/x"]));
    let problems = merged
        .merge(other)
        .build()
        .map(|_: Service| ())
        .unwrap_err();
    assert!(
        problems.to_string().contains("both have the method `a/x`"),
        "{problems}"
    );
}
