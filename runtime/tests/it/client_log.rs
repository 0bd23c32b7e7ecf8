//! Events of `tracing` that go to the client of the request in which they happen.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    sync::{Notify, mpsc},
};
use tracing::{Instrument, Level, subscriber::DefaultGuard};
use tracing_subscriber::{filter::LevelFilter, prelude::*};
use trueform::{ClientLog, MAX_CLIENT_EVENT, OUTBOX_LIMIT, prelude::*};

use crate::support::{
    Director, Stage, conversation, initialize, joined, legacy, log, modern, soon, stage,
};

/// Sends the events of requests on this thread to their clients.
fn sending(layer: ClientLog) -> DefaultGuard {
    // With one subscriber alone, what a thread without any does first decides for all.
    drop(log());
    tracing_subscriber::registry().with(layer).set_default()
}

/// Logs at each level.
#[tool]
async fn speaks(label: String) -> &'static str {
    tracing::error!(label, code = -7, "went wrong");
    tracing::warn!(target: "other", ratio = 0.5, ok = true);
    tracing::info!("for your information: {label}");
    tokio::task::yield_now().await;
    tracing::debug!(label = ?Some(&label), "a detail");
    tracing::trace!("more");
    "done"
}

fn served() -> trueform::Service {
    Server::new("logs", "1")
        .tools(tools![speaks, fails])
        .build()
        .unwrap()
}

fn asking(id: &str, level: &str, tool: &str) -> String {
    modern(
        id,
        "tools/call",
        &format!(r#","name":"{tool}","arguments":{{"label":"l{id}"}}"#),
    )
    .replace(
        "{}}",
        &format!(r#"{{}},"io.modelcontextprotocol/logLevel":"{level}"}}"#),
    )
}

/// Level, logger and data of the log messages, and `id` of the responses.
fn shown(output: &[String]) -> Vec<Value> {
    let parsed = output
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    parsed
        .map(|message| match message["method"].as_str() {
            Some("notifications/message") => {
                let params = &message["params"];
                json!([params["level"], params["logger"], params["data"]])
            }
            _ => message["id"].clone(),
        })
        .collect()
}

fn of(level: &str, id: &str) -> Value {
    let own = "it::client_log";
    match level {
        "error" => json!(["error", own, { "message": "went wrong", "label": id, "code": -7 }]),
        "warning" => json!(["warning", "other", { "ratio": 0.5, "ok": true }]),
        "info" => json!(["info", own, { "message": format!("for your information: {id}") }]),
        _ => json!(["debug", own, { "message": "a detail", "label": format!("Some({id:?})") }]),
    }
}

// M-1, M-4: by the level that the request asks for, before its response, and nothing where nothing is asked for.
#[tokio::test]
async fn by_the_level_of_the_request() {
    let _sending = sending(ClientLog::new().max_level(Level::DEBUG));
    let service = served();
    for (level, expected) in [
        ("debug", &["error", "warning", "info", "debug"][..]),
        ("info", &["error", "warning", "info"]),
        ("notice", &["error", "warning"]),
        ("error", &["error"]),
        ("critical", &[]),
    ] {
        let output = conversation(&service, asking("3", level, "speaks")).await;
        let mut all: Vec<_> = expected.iter().map(|level| of(level, "l3")).collect();
        all.push(json!(3));
        assert_eq!(shown(&output), all, "{level}");
    }
    let silent = modern(
        "4",
        "tools/call",
        r#","name":"speaks","arguments":{"label":"x"}"#,
    );
    assert_eq!(shown(&conversation(&service, silent).await), [json!(4)]);
}

// M-2: by the level of the session, which is `info` at first.
#[tokio::test]
async fn by_the_level_of_the_session() {
    let _sending = sending(ClientLog::new().max_level(Level::TRACE));
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let call = |id: &str| {
            legacy(
                id,
                "tools/call",
                r#"{"name":"speaks","arguments":{"label":"s"}}"#,
            )
        };
        let [first, second] = initialize(revision);
        let level =
            |id, level| legacy(id, "logging/setLevel", &format!(r#"{{"level":"{level}"}}"#));
        let lines = [
            first,
            second,
            call("1"),
            level("2", "error"),
            call("3"),
            level("4", "debug"),
            call("5"),
        ];
        let mut shown = shown(&conversation(&served(), joined(lines)).await);
        // The calls do not wait for each other: what belongs to each is told by its order.
        let responses = shown.iter().filter(|one| !one.is_array()).cloned();
        assert_eq!(Vec::from_iter(responses).len(), 6, "{revision}");
        shown.retain(Value::is_array);
        let levels = Vec::from_iter(shown.iter().map(|one| one[0].as_str().unwrap()));
        assert_eq!(
            levels.iter().filter(|level| **level == "warning").count(),
            2,
            "{revision}: {levels:?}"
        );
        assert_eq!(
            levels.iter().filter(|level| **level == "error").count(),
            3,
            "{revision}: {levels:?}"
        );
        // `DEBUG` and `TRACE`.
        assert_eq!(
            levels.iter().filter(|level| **level == "debug").count(),
            2,
            "{revision}: {levels:?}"
        );
    }
}

/// Fails in ways that the library logs.
#[tool]
fn fails(context: Context, label: String) -> Result<(), ToolError> {
    // Not JSON: the library logs that.
    context.set_result_meta("x", std::collections::HashMap::from([(vec![1], 1)]));
    tracing::info!(target: "trueform::mine", "as the library");
    tracing::info!(target: "trueform_apart", "another crate");
    Err(ToolError::internal(std::io::Error::other(label)))
}

// M-5: what the library logs is for the operator, not for the client.
#[tokio::test]
async fn the_library_does_not_speak_to_clients() {
    let _sending = sending(ClientLog::new().max_level(Level::TRACE));
    let output = conversation(&served(), asking("1", "debug", "fails")).await;
    let apart = json!(["info", "trueform_apart", { "message": "another crate" }]);
    assert_eq!(shown(&output), [apart, json!(1)]);
}

// M-5: libraries put what is of use to attackers into `DEBUG`; it stays here unless the author lets it out.
#[tokio::test]
async fn no_details_by_default() {
    let _sending = sending(ClientLog::new());
    let output = conversation(&served(), asking("1", "debug", "speaks")).await;
    assert_eq!(shown(&output).len(), 4, "{output:?}");
    drop(_sending);

    let _sending = sending(ClientLog::new().max_level(Level::ERROR));
    let output = conversation(&served(), asking("1", "debug", "speaks")).await;
    assert_eq!(shown(&output), [of("error", "l1"), json!(1)]);
}

/// Logs what is nobody's business.
#[tool]
fn leaks(size: usize) {
    tracing::info!(
        user_password = "hunter2",
        AccessToken = 5,
        apiKey = "k",
        "x-api-key" = "k",
        private.key = "k",
        keyboard = "qwerty",
        user = "ada",
        "signed in"
    );
    tracing::info!(text = "ü".repeat(size), after = 1, "long");
    tracing::info!("{}", "x".repeat(size));
}

// M-5
#[tokio::test]
async fn secrets_stay_and_length_is_bounded() {
    let service = || {
        Server::new("logs", "1")
            .tools(tools![leaks])
            .build()
            .unwrap()
    };
    let line = modern(
        "1",
        "tools/call",
        r#","name":"leaks","arguments":{"size":9000}"#,
    )
    .replace("{}}", r#"{},"io.modelcontextprotocol/logLevel":"info"}"#);
    let _sending = sending(ClientLog::new());
    let output = shown(&conversation(&service(), &line).await);
    assert_eq!(
        output[0][2],
        json!({ "message": "signed in", "user_password": "[redacted]", "AccessToken": "[redacted]", "apiKey": "[redacted]",
            "x-api-key": "[redacted]", "private.key": "[redacted]", "keyboard": "qwerty", "user": "ada" })
    );
    let text = output[1][2]["text"].as_str().unwrap();
    assert!(text.ends_with("ü…"), "cut between characters");
    let names = "textmessagelong".len();
    assert!(
        (MAX_CLIENT_EVENT - names - 4..=MAX_CLIENT_EVENT + 3).contains(&text.len()),
        "{}",
        text.len()
    );
    assert_eq!(output[1][2]["truncated"], true);
    assert_eq!(output[1][2].get("after"), None);
    let message = output[2][2]["message"].as_str().unwrap();
    assert_eq!(
        message.len(),
        MAX_CLIENT_EVENT - "message".len() + "…".len()
    );
    drop(_sending);

    let _sending = sending(ClientLog::new().redact(|mut event| {
        tracing::warn!("a redaction that logs does not go round in circles");
        let message = event.data["message"].as_str().unwrap().len();
        assert!(
            message < 1000,
            "a redaction that fails keeps the event back"
        );
        event.data.remove("user");
        event.logger = "l".to_owned();
        (event.data["message"] != "long").then_some(event)
    }));
    let output = shown(&conversation(&service(), &line).await);
    let expected = json!({ "message": "signed in", "user_password": "[redacted]", "AccessToken": "[redacted]", "apiKey": "[redacted]",
        "x-api-key": "[redacted]", "private.key": "[redacted]", "keyboard": "qwerty" });
    assert_eq!(output, [json!(["info", "l", expected]), json!(1)]);
}

/// Logs as the `log` crate does, whose events have their target in a field, and control characters.
#[tool]
fn relays(size: usize) {
    let target = "t".repeat(size);
    tracing::info!(log.target = &*target, log.line = 7, "relayed");
    tracing::info!(text = "\u{1b}[31m\r\n\0\u{2028}", "controls");
}

// M-5: no part of a message is without a bound, and each message stays one line.
#[tokio::test]
async fn loggers_are_bounded_and_controls_escaped() {
    let service = Server::new("logs", "1")
        .tools(tools![relays])
        .build()
        .unwrap();
    let line = modern(
        "1",
        "tools/call",
        r#","name":"relays","arguments":{"size":1000000}"#,
    )
    .replace("{}}", r#"{},"io.modelcontextprotocol/logLevel":"info"}"#);
    let _sending = sending(ClientLog::new());
    let lines = conversation(&service, &line).await;
    let output = shown(&lines);
    let logger = output[0][1].as_str().unwrap();
    assert_eq!(logger.len(), MAX_CLIENT_EVENT + "…".len());
    assert!(logger.ends_with("t…"));
    assert_eq!(
        output[0][2],
        json!({ "message": "relayed", "truncated": true })
    );
    assert_eq!(
        output[1][2],
        json!({ "message": "controls", "text": "\u{1b}[31m\r\n\0\u{2028}" })
    );
    assert!(!lines.concat().contains(|one: char| one.is_control()));
}

/// Logs in a task that has the span of the call, in one that has not, and in one that outlives the call.
#[tool]
async fn spawns(context: Context, late: State<Late>) -> &'static str {
    tokio::spawn(async { tracing::warn!("without the span") })
        .await
        .unwrap();
    let inner = tracing::info_span!("inner");
    let spawned = async { tracing::warn!("with the span") };
    tokio::spawn(spawned.instrument(inner)).await.unwrap();
    let Late(go, gone) = (*late).clone();
    let after = async move {
        go.notified().await;
        tracing::warn!("after the answer");
        gone.send(context.is_cancelled()).unwrap();
    };
    drop(tokio::spawn(after.in_current_span()));
    "done"
}

#[derive(Clone)]
struct Late(Arc<Notify>, mpsc::UnboundedSender<bool>);

// M-4: what a request spawns belongs to it as long as it is not answered.
#[tokio::test]
async fn what_is_spawned() {
    let _sending = sending(ClientLog::new());
    let (gone, mut went) = mpsc::unbounded_channel();
    let go = Arc::new(Notify::new());
    let service = Server::new("logs", "1")
        .tools(tools![spawns])
        .state(Late(go.clone(), gone))
        .build()
        .unwrap();
    let client = crate::support::raw(&service).await;
    let line = modern("1", "tools/call", r#","name":"spawns","arguments":{}"#)
        .replace("{}}", r#"{},"io.modelcontextprotocol/logLevel":"info"}"#);
    client.send_raw(line).unwrap();
    let mut seen = Vec::new();
    for _ in 0..2 {
        seen.push(soon(client.next_message()).await.unwrap());
    }
    go.notify_one();
    soon(went.recv()).await.unwrap();
    client.send_raw(modern("2", "tools/list", "")).unwrap();
    seen.push(soon(client.next_message()).await.unwrap());
    let with = json!(["warning", "it::client_log", { "message": "with the span" }]);
    assert_eq!(shown(&seen), [with, json!(1), json!(2)]);
}

/// Waits in the middle of what it says.
#[tool]
async fn pauses(stage: State<Stage>, label: String) -> String {
    tracing::info!("{label} begins");
    stage.hold(&label).await;
    tracing::info!("{label} ends");
    label
}

fn staged() -> (trueform::Service, Director) {
    let (stage, director) = stage();
    let server = Server::new("logs", "1").tools(tools![pauses]).state(stage);
    (server.build().unwrap(), director)
}

// M-4: never the events of other requests, though they run at once.
#[tokio::test]
async fn each_request_hears_its_own_events() {
    let _sending = sending(ClientLog::new());
    let (service, director) = staged();
    let mut clients = Vec::new();
    for label in ["a", "b", "c"] {
        let client = crate::support::raw(&service).await;
        let arguments = format!(r#","name":"pauses","arguments":{{"label":"{label}"}}"#);
        let line = modern("1", "tools/call", &arguments);
        // The client `c` asks for nothing.
        let line = match label {
            "c" => line,
            _ => line.replace("{}}", r#"{},"io.modelcontextprotocol/logLevel":"info"}"#),
        };
        client.send_raw(line).unwrap();
        director.begun().await;
        clients.push((label, client));
    }
    director.open();
    for (label, client) in clients {
        let mut seen = Vec::new();
        while !seen
            .last()
            .is_some_and(|line: &String| line.contains("\"result\""))
        {
            seen.push(soon(client.next_message()).await.unwrap());
        }
        let says =
            |what| json!(["info", "it::client_log", { "message": format!("{label} {what}") }]);
        let expected = match label {
            "c" => vec![json!(1)],
            _ => vec![says("begins"), says("ends"), json!(1)],
        };
        assert_eq!(shown(&seen), expected);
    }
}

/// Logs far more than may wait.
#[tool]
fn floods(done: State<mpsc::UnboundedSender<()>>) -> &'static str {
    for at in 0..100_000 {
        tracing::info!(at, "flood");
    }
    let _ = done.send(());
    "done"
}

// M-5: a client that does not read holds nothing up, and costs no more than its outbox.
#[tokio::test]
async fn a_client_that_does_not_read() {
    let _sending = sending(ClientLog::new());
    let (sender, mut done) = mpsc::unbounded_channel::<()>();
    let service = Server::new("logs", "1")
        .tools(tools![floods])
        .state(sender)
        .build()
        .unwrap();
    let (near, far) = tokio::io::duplex(64);
    let (reader, writer) = tokio::io::split(far);
    let serving = tokio::spawn(async move { service.serve_stream(reader, writer).await });
    let (reader, mut writer) = tokio::io::split(near);
    let line = modern("1", "tools/call", r#","name":"floods","arguments":{}"#)
        .replace("{}}", r#"{},"io.modelcontextprotocol/logLevel":"info"}"#);
    writer
        .write_all(format!("{line}\n").as_bytes())
        .await
        .unwrap();
    soon(done.recv()).await.unwrap();
    let mut lines = BufReader::new(reader).lines();
    let mut read = 0;
    loop {
        let line = soon(lines.next_line()).await.unwrap().unwrap();
        if line.contains("\"id\":1") {
            break;
        }
        read += 1;
    }
    assert!(read <= OUTBOX_LIMIT, "{read}");
    drop((writer, lines));
    soon(serving).await.unwrap().unwrap();
}

// Behind a filter, beside another layer, and twice: as layers are used.
#[tokio::test]
async fn among_other_layers() {
    drop(log());
    let filtered = ClientLog::new().with_filter(LevelFilter::INFO);
    let _sending = tracing_subscriber::registry()
        .with(filtered)
        .with(Some(ClientLog::new().max_level(Level::ERROR)))
        .set_default();
    let output = shown(&conversation(&served(), asking("1", "debug", "speaks")).await);
    let count = |level: &str| output.iter().filter(|one| one[0] == level).count();
    assert_eq!((count("error"), count("warning"), count("info")), (2, 1, 1));

    // A filter that hides the span of requests hides what belongs to them.
    let _sending = tracing_subscriber::registry()
        .with(ClientLog::new().with_filter(LevelFilter::WARN))
        .set_default();
    let output = shown(&conversation(&served(), asking("1", "debug", "speaks")).await);
    assert_eq!(output, [json!(1)]);
}

/// Is a task where the client can have one.
#[tool(task = required)]
fn later() -> &'static str {
    "later"
}

// W-4, W-12: the layer knows the request by then, and the request goes its way apart from its transport all the same.
#[tokio::test]
async fn a_request_that_becomes_a_task() {
    let _sending = sending(ClientLog::new());
    let service = Server::new("logs", "1")
        .tools(tools![later])
        .build()
        .unwrap();
    let [first, second] = initialize("2025-11-25");
    let call = legacy("7", "tools/call", r#"{"name":"later","task":{}}"#);
    let output = conversation(&service, joined([first, second, call])).await;
    let created = output.iter().find(|line| line.contains(r#""id":7"#));
    let created: Value = serde_json::from_str(created.expect("an answer")).unwrap();
    assert_eq!(created["result"]["task"]["status"], "working", "{created}");
    let call = modern("8", "tools/call", r#","name":"later","arguments":{}"#).replace(
        r#"clientCapabilities":{}"#,
        r#"clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#,
    );
    let output = conversation(&service, call).await;
    let created: Value = serde_json::from_str(&output[0]).unwrap();
    assert_eq!(created["result"]["resultType"], "task", "{output:?}");
    assert_eq!(output.len(), 1, "{output:?}");
}
