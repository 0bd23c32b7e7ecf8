//! Sessions between this crate's client and server, recorded: nothing in them is a finding (B-12, and all of the checker's).

use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    task::JoinHandle,
};
use trueform::{
    Service,
    client::{Answering, Client, ClientHandler, ClientOptions},
    prelude::*,
    schema::{
        ClientCapabilities, Icon, PromptReference, ResourceTemplateReference,
        SubscribeRequestParams, SubscriptionFilter, ToolAnnotations, UnsubscribeRequestParams,
        methods::{Subscribe, Unsubscribe},
    },
    testing::{Checker, Recorder, Side},
};

use crate::support::{Director, add, echo, overruns, panics, soon, stage, steps, wait};

/// A point, of which older revisions see less.
#[derive(serde::Serialize, trueform::schemars::JsonSchema)]
#[schemars(crate = "trueform::schemars")]
struct Point {
    x: f64,
    y: f64,
}

/// Says where.
#[tool]
fn whereabouts() -> Json<Point> {
    Json(Point { x: 1.5, y: -2.0 })
}

/// Lists an item that is not an object.
#[tool]
fn numbers() -> Json<Vec<u32>> {
    Json(vec![1, 2, 3])
}

/// Says nothing of note.
#[tool]
fn nothing() -> Json<Option<u32>> {
    Json(None)
}

/// Returns every kind of content.
#[tool]
fn all_content() -> Vec<ContentBlock> {
    let text = trueform::schema::TextContent::new("text");
    let audio = trueform::schema::AudioContent::new("UklGRg==", "audio/wav");
    let image = trueform::schema::ImageContent::new("iVBORw==", "image/png");
    let link = trueform::schema::ResourceLink::new("notes", "file:///notes.txt");
    vec![text.into(), image.into(), audio.into(), link.into()]
}

/// Asks for a word.
#[prompt(title = "Word")]
fn word(#[arg(complete = ["one", "two"])] about: String) -> Vec<trueform::schema::PromptMessage> {
    let content = all_content().into_iter();
    let messages = content.map(trueform::prompt::user);
    messages
        .chain([trueform::prompt::assistant(about)])
        .collect()
}

/// A note.
#[resource("notes:all", ttl = "60s", public, size = 4)]
fn note() -> &'static str {
    "note"
}

/// Some bytes.
#[resource("notes:bytes/{length}", mime_type = "x/y")]
fn bytes(#[arg(complete = ["1", "2"])] length: u8) -> Option<Vec<u8>> {
    (length < 9).then(|| vec![length; length.into()])
}

fn server() -> (Server, Director) {
    let (stage, director) = stage();
    let all = tools![
        add,
        echo,
        wait,
        panics,
        overruns,
        steps,
        whereabouts,
        numbers,
        nothing,
        all_content
    ];
    let icon = Icon::new("https://example.com/icon.png");
    let dressed = DynamicTool::new(
        "dressed",
        json!({"type": "object", "properties": {"any": true, "none": false}}),
    )
    .title("Dressed")
    .description("Has everything that a tool may have.")
    .icons([icon.clone()])
    .annotations(
        ToolAnnotations::default()
            .with_read_only_hint(true)
            .with_title("Hint"),
    )
    .output_schema(json!({"anyOf": [{"type": "string"}, {"type": "null"}]}))
    .meta("example.com/key", json!(1))
    .handler(|_, _| async { Json("worn") });
    let server = Server::new("recorded", "1.0.0")
        .title("Recorded")
        .icons([icon])
        .website_url("https://example.com");
    let server = server
        .instructions("Use it.")
        .tools(all)
        .tools(dressed)
        .state(stage)
        .page_size(4);
    (server, director)
}

/// A client, what was recorded between it and the server, and the server's task.
async fn recorded(
    service: &Service,
    side: Side,
    options: ClientOptions,
) -> (Client, Recorder, JoinHandle<trueform::Result>) {
    let recorder = Recorder::new();
    let (near, far) = tokio::io::duplex(1 << 16);
    let (near_reader, near_writer) = tokio::io::split(near);
    let (far_reader, far_writer) = tokio::io::split(far);
    let service = service.clone();
    // Both ends of the stream are worth recording: each sees its own order.
    let (client, serving) = match side {
        Side::Client => {
            let (reader, writer) = recorder.around_client(near_reader, near_writer);
            let serving =
                tokio::spawn(async move { service.serve_stream(far_reader, far_writer).await });
            (Client::over(reader, writer, options).await, serving)
        }
        Side::Server => {
            let (reader, writer) = recorder.around_server(far_reader, far_writer);
            let serving = tokio::spawn(async move { service.serve_stream(reader, writer).await });
            (
                Client::over(near_reader, near_writer, options).await,
                serving,
            )
        }
    };
    (client.unwrap(), recorder, serving)
}

#[track_caller]
fn assert_clean(recorder: &Recorder, what: &str) {
    let findings = Checker::new().check(&recorder.transcript()).unwrap();
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(
        findings.is_empty(),
        "{what}:\n{}\n\n{}",
        findings.join("\n"),
        recorder.transcript()
    );
}

struct Answers;

impl ClientHandler for Answers {
    fn answer(&self, _method: &str, _params: Option<trueform::schema::Json>) -> Answering<'_> {
        Box::pin(async { Ok(json!({ "roots": [] }).into()) })
    }
}

/// Prompts, resources and completion: lists, results and errors.
async fn offers(client: &Client) {
    assert_eq!(client.list_prompts().await.unwrap().len(), 1);
    assert_eq!(client.list_resources().await.unwrap().len(), 1);
    assert_eq!(client.list_resource_templates().await.unwrap().len(), 1);
    let got = client.get_prompt("word", json!({ "about": "x" })).await;
    assert_eq!(got.unwrap().messages.len(), all_content().len() + 1);
    assert!(client.get_prompt("word", ()).await.is_err());
    for uri in ["notes:all", "notes:bytes/3"] {
        client.read_resource(uri).await.unwrap();
    }
    for uri in ["notes:none", "notes:bytes/9", "notes:bytes/x"] {
        assert!(client.read_resource(uri).await.is_err(), "{uri}");
    }
    let prompt = PromptReference::new("word");
    let found = client.complete(prompt, "about", "t").await.unwrap();
    assert_eq!(found.values, ["two"]);
    let template = ResourceTemplateReference::new("notes:bytes/{length}");
    let found = client.complete(template, "length", "").await.unwrap();
    assert_eq!(found.values, ["1", "2"]);
    let unknown = PromptReference::new("unknown");
    assert!(client.complete(unknown, "about", "").await.is_err());
}

async fn talk(service: &Service, director: &Director, side: Side, revision: Revision) {
    let mut roots = ClientCapabilities::default();
    roots.roots = Some(Default::default());
    let options = ClientOptions::at(revision)
        .capabilities(roots)
        .handler(Answers);
    let (client, recorder, serving) = recorded(service, side, options).await;
    assert_eq!(client.revision(), revision);
    assert_eq!(client.list_tools().await.unwrap().len(), 11);
    let named = [
        "whereabouts",
        "numbers",
        "nothing",
        "all_content",
        "dressed",
    ];
    for name in named {
        client.call_tool(name, ()).await.unwrap();
    }
    client
        .call_tool("add", json!({ "a": 2, "b": 3 }))
        .await
        .unwrap();
    // Errors of all kinds.
    assert_eq!(
        client
            .call_tool("add", json!({ "a": "x" }))
            .await
            .unwrap()
            .is_error,
        Some(true)
    );
    assert!(client.call_tool("unknown", ()).await.is_err());
    assert_eq!(
        client.call_tool("panics", ()).await.unwrap().is_error,
        Some(true)
    );
    offers(&client).await;
    // Progress and log messages, of two calls at once.
    let call = || {
        client
            .call_tool("steps", json!({ "steps": 5 }))
            .on_progress(|_| {})
            .log_level(LoggingLevel::Info)
    };
    let (first, second) = tokio::join!(async { call().await }, async { call().await });
    first.unwrap();
    second.unwrap();
    // A cancelled call.
    let waiting = client
        .call_tool("wait", json!({ "label": "w" }))
        .into_future();
    let mut waiting = Box::pin(waiting);
    tokio::select! {
        _ = &mut waiting => panic!("nobody let it go on"),
        label = director.begun() => assert_eq!(label, "w"),
    }
    drop(waiting);
    assert_eq!(director.begun().await, "dropped w");
    // Changes of the list.
    if revision == Revision::V2026_07_28 {
        let mut filter = SubscriptionFilter::default();
        filter.tools_list_changed = Some(true);
        filter.prompts_list_changed = Some(true);
        filter.resource_subscriptions = Some(vec!["notes:all".to_owned()]);
        let mut subscription = client.listen(filter).await.unwrap();
        service.handle().notify_prompts_changed();
        assert!(soon(subscription.next()).await.is_some());
        service.handle().resource_updated("notes:all");
        assert!(soon(subscription.next()).await.is_some());
        let other = client.listen(SubscriptionFilter::default()).await.unwrap();
        service.handle().notify_tools_changed();
        assert!(soon(subscription.next()).await.is_some());
        drop(other);
    } else {
        let params = SubscribeRequestParams::new("notes:all");
        client.request::<Subscribe>(params).await.unwrap();
        let mut notifications = client.notifications();
        service.handle().notify_tools_changed();
        assert!(soon(notifications.next()).await.is_some());
        service.handle().notify_prompts_changed();
        assert!(soon(notifications.next()).await.is_some());
        service.handle().resource_updated("notes:all");
        assert!(soon(notifications.next()).await.is_some());
        let params = UnsubscribeRequestParams::new("notes:all");
        client.request::<Unsubscribe>(params).await.unwrap();
    }
    client.list_tools().await.unwrap();
    soon(client.close()).await;
    soon(serving).await.unwrap().unwrap();
    assert_clean(&recorder, &format!("{revision}, seen by the {side}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_of_every_revision() {
    let (server, director) = server();
    let server = server.prompts(prompts![word]);
    let service = server.resources(resources![note, bytes]).build().unwrap();
    for revision in Revision::ALL {
        for side in [Side::Client, Side::Server] {
            talk(&service, &director, side, revision).await;
        }
    }
}

/// D-2: both eras on one stream, some of it wrong; what the server makes of it is never a finding of its own.
#[tokio::test]
async fn both_eras_on_one_link_and_nonsense() {
    use crate::support::{initialize, joined, legacy, modern};
    let [first, second] = initialize("2025-06-18");
    let lines = [
        "nonsense".to_owned(),
        r#"{"jsonrpc":"1.0","id":"v","method":"ping"}"#.to_owned(),
        modern("1", "tools/list", ""),
        first,
        second,
        legacy(
            "2",
            "tools/call",
            r#"{"name":"steps","arguments":{"steps":3},"_meta":{"progressToken":"t"}}"#,
        ),
        modern(
            "3",
            "tools/call",
            r#","name":"steps","arguments":{"steps":3}"#,
        ),
        modern("4", "ping", ""),
        legacy("5", "ping", "{}"),
        legacy("6", "logging/setLevel", r#"{"level":"error"}"#),
        modern("7", "tools/list", "").replace("2026-07-28", "1900-01-01"),
        legacy(
            "8",
            "tools/list",
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#,
        ),
        "[]".to_owned(),
        legacy("9", "prompts/list", "{}"),
    ];
    let (server, _director) = server();
    let service = server.build().unwrap();
    let recorder = Recorder::new();
    let (near, far) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(far);
    let (reader, writer) = recorder.around_server(reader, writer);
    let serving = tokio::spawn(async move { service.serve_stream(reader, writer).await });
    let (reader, mut writer) = tokio::io::split(near);
    let (before, after) = lines.split_at(4);
    writer.write_all(joined(before).as_bytes()).await.unwrap();
    // The handshake is answered before anything is asked in its session.
    let mut answers = BufReader::new(reader).lines();
    while !soon(answers.next_line())
        .await
        .unwrap()
        .unwrap()
        .contains(r#""id":0,"#)
    {}
    writer.write_all(joined(after).as_bytes()).await.unwrap();
    writer.shutdown().await.unwrap();
    while soon(answers.next_line()).await.unwrap().is_some() {}
    soon(serving).await.unwrap().unwrap();
    let findings = Checker::new().check(&recorder.transcript()).unwrap();
    let server: Vec<String> = findings
        .iter()
        .filter(|finding| finding.side == Side::Server)
        .map(ToString::to_string)
        .collect();
    assert!(
        server.is_empty(),
        "{}\n\n{}",
        server.join("\n"),
        recorder.transcript()
    );
    let client: Vec<&str> = findings
        .iter()
        .map(|finding| finding.requirements[0])
        .collect();
    assert_eq!(
        client,
        ["A-1", "A-1", "C-11", "C-1", "A-11", "B-8"],
        "{findings:#?}"
    );
}
