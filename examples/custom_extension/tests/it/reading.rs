//! An extension of 2025-11-25, where both sides send requests. A client declares the extension at `initialize`.

use std::future::IntoFuture;

use serde_json::json;
use tokio::sync::mpsc;
use trueform::{
    AskError, Client, Context, Server, Service,
    client::{Answering, ClientError, ClientHandler, LocalError},
    schema::{
        ErrorObject, Json, Revision,
        ext::tasks::{self, GetTaskRequestParams, GetTaskResult},
    },
};

use crate::support::{BOTH, Over, connect, next, options, raw, soon};

/// The generated bindings of `com.example/reading`.
#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "not all of it is tested"
)]
mod binding {
    include!(concat!(env!("OUT_DIR"), "/reading.rs"));
}

use binding::{
    ConfirmRequestParams, IDENTIFIER, LendRequestParams, LendResult, LentNotificationParams,
    ReturnedNotificationParams,
    handler::{self, ServerHandler},
    methods::{Confirm, Lend, Lent},
};

/// Lends books to readers that confirm that they want them.
struct Library(mpsc::UnboundedSender<String>);

impl ServerHandler for Library {
    type Context = Context;

    async fn lend(
        &self,
        cx: &Context,
        params: LendRequestParams,
    ) -> Result<LendResult, ErrorObject> {
        let title = params.title;
        let asked = cx.request::<Confirm>(ConfirmRequestParams::new(&*title));
        match asked.await {
            Ok(answer) if answer.agreed => {}
            Ok(_) => return Err(ErrorObject::new(1001, "not agreed")),
            Err(problem) => return Err(ErrorObject::new(1002, problem.to_string())),
        }
        let lent = cx.notify::<Lent>(&LentNotificationParams::new(title));
        lent.map_err(|problem| ErrorObject::new(1003, problem.to_string()))?;
        Ok(LendResult::new(14))
    }

    async fn returned(&self, cx: &Context, params: ReturnedNotificationParams) {
        let asked = cx
            .request::<Confirm>(ConfirmRequestParams::new(&*params.title))
            .await;
        let asked = asked.map_or_else(
            |problem| problem.to_string(),
            |answer| answer.agreed.to_string(),
        );
        let notified = cx.notify::<Lent>(&LentNotificationParams::new(params.title));
        let notified =
            notified.map_or_else(|problem| problem.to_string(), |()| "notified".to_owned());
        let report = format!("{}: {asked}, {notified}", cx.method());
        self.0.send(report).expect("the test listens");
    }
}

fn library() -> (Service, mpsc::UnboundedReceiver<String>) {
    let (sender, reports) = mpsc::unbounded_channel();
    let server = Server::new("library", "1").extension(handler::Server(Library(sender)));
    (server.build().unwrap(), reports)
}

/// A client that opened a session at `revision` and declared `extensions`.
async fn opened(service: &Service, over: Over, revision: &str, extensions: &str) -> Client {
    let client = connect(service, over, raw()).await;
    client
        .send_raw(format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{"extensions":{extensions}}},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
        ))
        .unwrap();
    assert_eq!(next(&client).await["result"]["protocolVersion"], revision);
    client
        .send_raw(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .unwrap();
    client
}

const DECLARED: &str = r#"{"com.example/reading":{}}"#;

fn lend(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"reading/lend","params":{{"title":"A"}}}}"#)
}

/// Answers the server's question with `answer`, which is a `result` or an `error`.
async fn answer(client: &Client, answer: &str) {
    let asked = next(client).await;
    assert_eq!(asked["method"], "reading/confirm", "{asked}");
    assert_eq!(asked["params"], json!({ "title": "A" }), "{asked}");
    let id = &asked["id"];
    client
        .send_raw(format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#))
        .unwrap();
}

#[tokio::test]
async fn both_sides_send_requests_and_notifications() {
    for over in BOTH {
        let (service, _told) = library();
        let client = opened(&service, over, "2025-11-25", DECLARED).await;
        client.send_raw(lend(1)).unwrap();
        answer(&client, r#""result":{"agreed":true}"#).await;
        let lines = [
            soon(client.next_message()).await,
            soon(client.next_message()).await,
        ];
        let expected = [
            r#"{"jsonrpc":"2.0","method":"notifications/reading/lent","params":{"title":"A"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"days":14}}"#,
        ];
        assert_eq!(lines.map(Option::unwrap), expected, "{over:?}");
    }
}

/// Wants every book.
struct Reader;

impl ClientHandler for Reader {
    fn answer(&self, method: &str, params: Option<Json>) -> Answering<'_> {
        let asked = (method, params.map(|params| params.to_value()));
        assert_eq!(asked, ("reading/confirm", Some(json!({ "title": "A" }))));
        let agreed = Json::from(json!({ "agreed": true }));
        Box::pin(std::future::ready(Ok(agreed)))
    }
}

// GAP-12
#[tokio::test]
async fn a_typed_client_announces_the_extension_and_uses_it() {
    for over in BOTH {
        let (service, _told) = library();
        let reader = options(Revision::V2025_11_25, &[IDENTIFIER]).handler(Reader);
        let client = connect(&service, over, reader).await;
        let offered = serde_json::to_value(client.server_capabilities()).unwrap();
        assert_eq!(offered["extensions"], json!({ IDENTIFIER: {} }), "{over:?}");

        let mut notifications = client.notifications();
        let lend = client.request::<Lend>(LendRequestParams::new("A"));
        let lent = soon(lend.into_future()).await.unwrap();
        assert_eq!(lent.days, 14, "{over:?}");
        let heard = soon(notifications.next_of::<Lent>()).await.unwrap();
        assert_eq!(heard.title, "A", "{over:?}");
    }
}

#[tokio::test]
async fn a_typed_client_without_the_extension_is_refused() {
    for over in BOTH {
        let (service, _told) = library();
        let client = connect(&service, over, options(Revision::V2025_11_25, &[])).await;
        let lend = client.request::<Lend>(LendRequestParams::new("A"));
        let refused = soon(lend.into_future()).await.unwrap_err();
        assert_eq!(refused.code(), Some(-32602), "{over:?}: {refused}");
    }

    let service = Server::new("plain", "1").build().unwrap();
    let reader = options(Revision::V2025_11_25, &[IDENTIFIER]);
    let client = connect(&service, Over::Stream, reader).await;
    let lend = client.request::<Lend>(LendRequestParams::new("A"));
    let refused = soon(lend.into_future()).await;
    assert!(
        matches!(
            refused,
            Err(ClientError::Local(LocalError::NotDeclared(IDENTIFIER)))
        ),
        "{refused:?}"
    );
}

/// Serves the tasks extension without any tasks.
struct NoTasks;

impl tasks::handler::ServerHandler for NoTasks {
    type Context = Context;

    async fn get_task(
        &self,
        _: &Context,
        _: GetTaskRequestParams,
    ) -> Result<GetTaskResult, ErrorObject> {
        Err(ErrorObject::new(1004, "there are no tasks"))
    }
}

/// A library that has tasks too.
fn library_with_tasks() -> Service {
    let (sender, _) = mpsc::unbounded_channel();
    let server = Server::new("library", "1")
        .extension(handler::Server(Library(sender)))
        .extension(tasks::handler::Server(NoTasks));
    server.build().unwrap()
}

#[tokio::test]
async fn the_server_announces_the_extensions_that_its_client_can_use() {
    for (revision, expected) in [
        (Revision::V2024_11_05, json!(null)),
        (Revision::V2025_03_26, json!(null)),
        (Revision::V2025_06_18, json!(null)),
        (Revision::V2025_11_25, json!({ IDENTIFIER: {} })),
        (Revision::V2026_07_28, json!({ tasks::IDENTIFIER: {} })),
    ] {
        for over in BOTH {
            let client = connect(&library_with_tasks(), over, options(revision, &[])).await;
            let offered = serde_json::to_value(client.server_capabilities()).unwrap();
            assert_eq!(offered["extensions"], expected, "{over:?} {revision}");
        }
    }
}

// The core of 2025-11-25 has tasks of its own, under another capability, which this server does not have.
#[tokio::test]
async fn the_extension_of_tasks_does_not_work_in_a_session() {
    let declared = r#"{"com.example/reading":{},"io.modelcontextprotocol/tasks":{}}"#;
    for over in BOTH {
        let client = opened(&library_with_tasks(), over, "2025-11-25", declared).await;
        for (id, method) in ["tasks/get", "tasks/update", "tasks/cancel"]
            .into_iter()
            .enumerate()
        {
            let id = id + 1;
            let params = r#"{"taskId":"7","inputResponses":{}}"#;
            client
                .send_raw(format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
                ))
                .unwrap();
            let answer = next(&client).await;
            assert_eq!(
                answer["error"]["code"], -32601,
                "{over:?} {method}: {answer}"
            );
        }
    }
}

#[tokio::test]
async fn what_the_client_answers_is_checked() {
    for over in BOTH {
        let (service, _told) = library();
        let client = opened(&service, over, "2025-11-25", DECLARED).await;
        for (reply, code, message) in [
            (r#""result":{"agreed":false}"#, 1001, "not agreed"),
            (
                r#""result":{"agreed":"yes"}"#,
                1002,
                "the client's answer is malformed: ",
            ),
            (
                r#""error":{"code":-32601,"message":"never heard"}"#,
                1002,
                "the client answered with error -32601: never heard",
            ),
        ] {
            client.send_raw(lend(1)).unwrap();
            answer(&client, reply).await;
            let error = next(&client).await["error"].take();
            assert_eq!(error["code"], code, "{over:?}: {error}");
            let found = error["message"].as_str().unwrap();
            assert!(found.starts_with(message), "{over:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_session_without_the_extension_is_refused() {
    for over in BOTH {
        let (service, _told) = library();
        let client = opened(&service, over, "2025-11-25", "{}").await;
        client.send_raw(lend(1)).unwrap();
        let error = next(&client).await["error"].take();
        assert_eq!(error["code"], -32602, "{over:?}: {error}");
        assert_eq!(error["data"]["rule"], "capability", "{over:?}: {error}");
        let expected = r#"a client that declared `extensions["com.example/reading"]`"#;
        assert_eq!(error["data"]["expected"], expected, "{over:?}: {error}");

        for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
            let client = opened(&service, over, revision, DECLARED).await;
            client.send_raw(lend(1)).unwrap();
            let answer = next(&client).await;
            assert_eq!(
                answer["error"]["code"], -32601,
                "{over:?} {revision}: {answer}"
            );
        }
    }
}

// Over HTTP a notification is answered by a status alone, so its handler cannot send messages.
#[tokio::test]
async fn the_handler_of_a_notification_reaches_its_client_where_there_is_a_way() {
    let returned =
        r#"{"jsonrpc":"2.0","method":"notifications/reading/returned","params":{"title":"A"}}"#;
    let gone = AskError::Gone;
    let unreached = format!("notifications/reading/returned: {gone}, {gone}");
    for (over, expected) in [
        (
            Over::Stream,
            "notifications/reading/returned: true, notified",
        ),
        (Over::Http, &*unreached),
    ] {
        let (service, mut reports) = library();
        let client = opened(&service, over, "2025-11-25", DECLARED).await;
        client.send_raw(returned).unwrap();
        if over == Over::Stream {
            answer(&client, r#""result":{"agreed":true}"#).await;
        }
        assert_eq!(soon(reports.recv()).await.unwrap(), expected);
    }
}

// C-14
#[tokio::test]
async fn notifications_of_a_client_that_did_not_declare_the_extension_are_dropped() {
    let (service, mut heard) = library();
    let client = opened(&service, Over::Stream, "2025-11-25", "{}").await;
    client
        .send_raw(
            r#"{"jsonrpc":"2.0","method":"notifications/reading/returned","params":{"title":"A"}}"#,
        )
        .unwrap();
    client
        .send_raw(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
        .unwrap();
    assert_eq!(next(&client).await["id"], 1);
    soon(client.close()).await;
    drop(service);
    // The handler has gone, and sent nothing.
    assert_eq!(soon(heard.recv()).await, None);
}
