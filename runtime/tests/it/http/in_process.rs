//! The typed client of a router, without a socket: `testing::InProcessHttp`.

mod elsewhere;
mod renewed;
mod scripted;

use std::{
    future::IntoFuture,
    sync::{Arc, Mutex},
    time::Instant,
};

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use trueform::{
    client::{Answering, Client, ClientError, ClientHandler, ClientOptions, LocalError},
    prelude::*,
    schema::{ClientCapabilities, Era, ErrorObject, Json as Text, SubscriptionFilter},
    testing::{Checker, Event, InProcessHttp, Recorder, Side},
};

use super::support::App;
use crate::{
    asks::roots,
    support::{Director, add, soon, stage, wait},
};

/// Reports progress, and ends once the test lets it.
#[tool]
async fn talk(context: Context, stage: State<crate::support::Stage>) -> &'static str {
    context.progress(1.0, None, None);
    stage.hold("talk").await;
    "done"
}

/// Says who calls.
#[tool]
fn whoami(caller: Principal, headers: HeaderMap) -> String {
    format!("{} {:?}", caller.subject(), headers.get("x-test"))
}

struct Home;

impl ClientHandler for Home {
    fn answer(&self, _: &str, _: Option<Text>) -> Answering<'_> {
        let roots = json!({ "roots": [{ "uri": "file:///home" }] });
        Box::pin(std::future::ready(Ok::<_, ErrorObject>(Text::from(roots))))
    }
}

async fn authenticate(mut request: Request, next: Next) -> Response {
    if request.headers().get(header::AUTHORIZATION) != Some(&token()) {
        return (StatusCode::UNAUTHORIZED, "who are you?").into_response();
    }
    request.extensions_mut().insert(Principal::new("ada"));
    next.run(request).await
}

fn token() -> HeaderValue {
    HeaderValue::from_static("Bearer secret")
}

/// A server behind a layer that wants a token. All that passes is held to the rules of the specification in the end.
fn app() -> App {
    let (stage, director) = stage();
    let server = Server::new("app", "1")
        .tools(tools![add, talk, wait, roots, whoami])
        .state(stage)
        .build()
        .expect("the tools are fine");
    let handle = server.handle();
    let router = server.into_router().expect("the settings are fine");
    let router = router.layer(from_fn(authenticate));
    App::over(router, director, handle, &Recorder::new())
}

fn authorized(router: Router) -> InProcessHttp {
    InProcessHttp::new(router).header(header::AUTHORIZATION, token())
}

/// No finding about either side.
#[track_caller]
fn assert_clean(app: &App, context: impl std::fmt::Display) {
    let transcript = app.recorder.transcript();
    let findings = Checker::http().check(&transcript).expect("just written");
    assert_eq!(findings, [], "{context}\n{transcript}");
}

/// How often the client ended its session.
fn ended(app: &App) -> usize {
    let records = app.recorder.records();
    let of_client = records.iter().filter(|record| {
        record.from == Side::Client && record.event == Event::Closed && record.stream.is_none()
    });
    of_client.count()
}

async fn cancelled(client: &Client, director: &Director) {
    let mut call = Box::pin(
        client
            .call_tool("wait", json!({ "label": "w" }))
            .into_future(),
    );
    tokio::select! {
        _ = &mut call => panic!("nobody let it go on"),
        label = director.begun() => assert_eq!(label, "w"),
    }
    drop(call);
    // TRAP-04: by a notification in the legacy era, by the end of the response in the modern one.
    assert_eq!(director.begun().await, "dropped w");
}

async fn everything(revision: Revision) {
    let app = app();
    let mut capabilities = ClientCapabilities::default();
    capabilities.roots = Some(Default::default());
    let options = ClientOptions::at(revision)
        .capabilities(capabilities)
        .handler(Home);
    let client = authorized(app.router.clone()).connect_as(options).await;
    let client = client.expect("the layer lets it in");
    assert_eq!(client.revision(), revision);
    let mut notifications = client.notifications();

    assert_eq!(client.list_tools().await.unwrap().len(), 5);
    let sum = client.call_tool("add", json!({ "a": 2, "b": 3 })).await;
    assert_eq!(sum.unwrap().text(), "5");
    assert_eq!(
        client.call_tool("whoami", ()).await.unwrap().text(),
        "ada None"
    );
    let wrong = client.call_tool("add", json!({ "a": "x" })).await.unwrap();
    assert_eq!(wrong.is_error, Some(true));
    let unknown = client.call_tool("unknown", ()).await.unwrap_err();
    assert_eq!(unknown.code(), Some(-32602));

    // Events arrive before the stream ends.
    let (sender, mut reported) = tokio::sync::mpsc::unbounded_channel();
    let talk = client.call_tool("talk", ()).on_progress(move |_| {
        sender.send(()).expect("the test listens");
    });
    let listening = async {
        reported.recv().await.expect("a report");
        assert_eq!(app.director.begun().await, "talk");
        app.director.open();
    };
    let (said, ()) = tokio::join!(async { talk.await.unwrap() }, listening);
    assert_eq!(said.text(), "done");
    app.director.close();

    cancelled(&client, &app.director).await;
    if revision.era() == Era::Modern {
        let mut filter = SubscriptionFilter::default();
        filter.tools_list_changed = Some(true);
        let mut subscription = client.listen(filter).await.unwrap();
        app.handle.notify_tools_changed();
        assert!(subscription.next().await.is_some());
        // One that is still open does not hold the end up.
        let begun = Instant::now();
        client.close().await;
        assert!(begun.elapsed() < InProcessHttp::CLOSE_WITHIN);
        assert!(subscription.next().await.is_none());
    } else {
        // A request of the server, on the stream of the call, and what belongs to no call, on the session's own.
        let told = client.call_tool("roots", ()).await.unwrap();
        assert_eq!(told.text(), "roots: file:///home");
        app.handle.notify_tools_changed();
        let changed = "notifications/tools/list_changed";
        while notifications.next().await.expect("it is open").method() != changed {}
        client.close().await;
    }
    assert_eq!(ended(&app), usize::from(revision.era() == Era::Legacy));
    assert_clean(&app, revision);
}

// F-23: the header exists from 2025-06-18 on, and the client does not yet know the revision when it initializes.
#[tokio::test]
async fn requests_say_their_revision() {
    for revision in Revision::ALL {
        let seen = Arc::<Mutex<Vec<Option<HeaderValue>>>>::default();
        let seeing = seen.clone();
        let app = app();
        let router = app
            .router
            .clone()
            .layer(from_fn(move |request: Request, next: Next| {
                let version = request.headers().get("mcp-protocol-version");
                seeing.lock().unwrap().push(version.cloned());
                next.run(request)
            }));
        let options = ClientOptions::at(revision);
        let client = authorized(router).connect_as(options).await.unwrap();
        client.list_tools().await.unwrap();
        soon(client.close()).await;
        let has_header = Revision::V2025_06_18 <= revision;
        let header = has_header.then(|| HeaderValue::from_static(revision.as_str()));
        let expected = match revision.era() {
            // initialize, initialized, GET, tools/list, DELETE
            Era::Legacy => vec![None, header.clone(), header.clone(), header.clone(), header],
            // server/discover, tools/list
            Era::Modern => vec![header.clone(), header],
        };
        assert_eq!(*seen.lock().unwrap(), expected, "{revision}");
    }
}

// Issue 9, §3; F-1, F-23, F-28, B-11, O-3.
#[tokio::test]
async fn every_revision_through_a_layer() {
    for revision in Revision::ALL {
        soon(everything(revision)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_at_once() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let app = app();
        let options = ClientOptions::at(revision);
        let client = authorized(app.router.clone())
            .connect_as(options)
            .await
            .unwrap();
        let calls = (0..100).map(|i| {
            let call = client.call_tool("add", json!({ "a": i, "b": 1 }));
            tokio::spawn(async move { (i, call.await) })
        });
        for call in calls.collect::<Vec<_>>() {
            let (i, sum) = soon(call).await.unwrap();
            assert_eq!(sum.unwrap().text(), (i + 1).to_string());
        }
        soon(client.close()).await;
        assert_clean(&app, revision);
    }
}

/// The code and the message of what a server refused.
#[track_caller]
fn refusal<T: std::fmt::Debug>(outcome: Result<T, ClientError>) -> (i64, String) {
    match outcome {
        Err(ClientError::Remote(error)) => (error.code, error.message.to_string()),
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn what_the_application_refuses_has_its_status() {
    let app = app();
    let refused = InProcessHttp::new(app.router.clone()).connect().await;
    let expected = "HTTP 401 Unauthorized: who are you?".to_owned();
    assert_eq!(refusal(refused), (401, expected));

    let elsewhere = authorized(Router::new()).path("/elsewhere").connect().await;
    let expected = "HTTP 404 Not Found: the response has no body".to_owned();
    assert_eq!(refusal(elsewhere), (404, expected));

    // The endpoint's own refusals are messages: `Host` is checked.
    let host = HeaderValue::from_static("evil.example");
    let host = authorized(app.router.clone()).header(header::HOST, host);
    let (code, message) = refusal(host.connect().await);
    assert!((-32768..=-32000).contains(&code), "{code}");
    assert!(message.contains("Host"), "{message}");

    for path in ["mcp", "http://localhost/mcp", "/a b"] {
        let outcome = authorized(app.router.clone()).path(path).connect().await;
        let error = outcome.expect_err("not a path");
        assert!(
            matches!(&error, ClientError::Local(LocalError::Io(_))),
            "{error}"
        );
        assert!(error.to_string().contains(path), "{error}");
    }
}

#[tokio::test]
async fn the_principal_of_the_options_is_who_calls() {
    let service = Server::new("app", "1").tools(tools![whoami]);
    let router = service.into_router().unwrap();
    let ada = ClientOptions::new().principal(Principal::new("eve"));
    let test = HeaderValue::from_static("seen");
    let client = InProcessHttp::new(router)
        .header("x-test".parse().unwrap(), test)
        .connect_as(ada)
        .await
        .unwrap();
    let said = client.call_tool("whoami", ()).await.unwrap();
    assert_eq!(said.text(), r#"eve Some("seen")"#);
}

// F-28, TRAP-16
#[tokio::test]
async fn headers_repeat_names_and_arguments() {
    let schema = json!({ "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" },
        "deep": { "type": "object", "properties": { "size": { "type": "integer", "x-mcp-header": "Size" } } },
        "fast": { "type": "boolean", "x-mcp-header": "Fast" },
    } });
    let tool = DynamicTool::new("where", schema)
        .description("Says where.")
        .handler(|_, arguments| async move { arguments.to_string() });
    let router = Server::new("app", "1").tools(tool).into_router().unwrap();
    let client = InProcessHttp::new(router).connect().await.unwrap();
    client.list_tools().await.unwrap();
    for region in ["eu", " eu ", "Zürich\n", "=?base64?ZXU=?=", ""] {
        let arguments = json!({ "region": region, "deep": { "size": -3 }, "fast": true });
        let said = client.call_tool("where", &arguments).await.unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&said.text()).unwrap(),
            arguments
        );
    }
    // What is not there, or null, has no header.
    for arguments in [json!({}), json!({ "region": null, "deep": {} })] {
        let said = client.call_tool("where", arguments).await.unwrap();
        assert_eq!(said.is_error, None, "{said:?}");
    }
    // Names that no header holds as they are: the tool is unknown, and no header is wrong.
    let unknown = refusal(client.call_tool("Größe", ()).await);
    assert!(unknown.1.contains("Größe"), "{unknown:?}");
    assert_eq!(unknown.0, -32602);
}
