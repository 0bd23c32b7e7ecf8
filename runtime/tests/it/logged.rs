//! What the log says of what goes wrong, and what the peer is told of it: places and rules in the one, no more than it needs
//! in the other.

use std::fmt;

use serde_json::{Value, json};
use trueform::{
    Policy,
    client::{ClientError, ClientOptions, LocalError},
    prelude::*,
    schema::{ImageContent, ProgressNotificationParams, RequestId, SetLevelRequestParams, methods},
    schemars::JsonSchema,
};

use crate::{
    client::{against, play_legacy},
    support::{conversation, initialize, joined, legacy, log, modern, raw, service, soon, staged},
};

/// The one line of the log that has all of `parts`, and how it begins.
#[track_caller]
pub(crate) fn assert_logged(told: &[String], level: &str, parts: &[&str]) {
    let lines = told
        .iter()
        .filter(|line| parts.iter().all(|part| line.contains(part)));
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines.len(), 1, "{parts:?} in {told:#?}");
    assert!(
        lines[0].starts_with(&format!("{level} ")),
        "{level}: {}",
        lines[0]
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_runs_out_of_time() {
    let told = log();
    let client = service().connect().await.unwrap();
    for tool in ["overruns", "overruns_blocking"] {
        client.call_tool(tool, json!({})).await.unwrap();
        let name = format!(r#"name="{tool}""#);
        assert_logged(
            &told.take(),
            "WARN",
            &["a call ran out of time", &name, "limit=1s"],
        );
    }
}

/// Logs more than may wait, without waiting for the reader.
#[tool]
fn floods(context: Context) {
    for line in 0..3000 {
        context.log(LoggingLevel::Info, line);
    }
}

// Issue 8 §3: what is lost is reported once for each call.
#[tokio::test]
async fn messages_that_are_lost_are_reported_once() {
    let told = log();
    let server = Server::new("t", "1").tools(tools![floods]);
    let service = server.build().unwrap();
    let calls = ["1", "2"].map(|id| {
        modern(id, "tools/call", r#","name":"floods","arguments":{}"#).replacen(
            r#""_meta":{"#,
            r#""_meta":{"io.modelcontextprotocol/logLevel":"info","#,
            1,
        )
    });
    let said = conversation(&service, joined(calls)).await;
    assert!(said.len() < 6002, "some are lost: {}", said.len());
    let told = told.take();
    for id in ["1", "2"] {
        let id = format!("id={id}");
        assert_logged(&told, "WARN", &["messages of a call are lost", &id]);
    }
}

#[derive(serde::Serialize, JsonSchema)]
struct Reading {
    #[schemars(range(max = 10))]
    level: i64,
}

/// Returns what its schema forbids.
#[tool]
fn lies() -> Json<Reading> {
    Json(Reading { level: 4711 })
}

// I-7
#[tokio::test]
async fn a_result_that_its_schema_forbids() {
    for revision in Revision::ALL {
        let told = log();
        let server = Server::new("t", "1").tools(tools![lies]);
        let client = server
            .connect_as(trueform::client::ClientOptions::at(revision))
            .await
            .unwrap();
        let error = client.call_tool("lies", json!({})).await.unwrap_err();
        let remote = error.remote().expect("an error of the server's");
        assert_eq!(remote.code, -32603);
        for hidden in ["4711", "level", "maximum"] {
            assert!(
                !remote.message.contains(hidden),
                "{hidden}: {}",
                remote.message
            );
        }
        let parts = [
            "forbids was held back",
            r#"tool="lies""#,
            "logged.rs",
            "/level: expected at most 10",
        ];
        assert_logged(&told.take(), "ERROR", &parts);
    }
}

/// Returns a picture with malformed data.
#[tool]
fn broken() -> ContentBlock {
    ImageContent::new("no base64!", "image/png").into()
}

#[tokio::test]
async fn a_message_that_its_revision_forbids() {
    for revision in Revision::ALL {
        for (policy, held_back) in [
            (Policy::Enforce, Some(true)),
            (Policy::Warn, Some(false)),
            (Policy::Off, None),
        ] {
            let told = log();
            let server = Server::new("t", "1").tools(tools![broken]).outgoing(policy);
            let client = server
                .connect_as(trueform::client::ClientOptions::at(revision))
                .await
                .unwrap();
            let answer = client.call_tool("broken", json!({})).await;
            assert_eq!(answer.is_err(), policy == Policy::Enforce, "{answer:?}");
            let told = told.take();
            let Some(held_back) = held_back else {
                assert!(
                    !told.iter().any(|line| line.contains("pointer=")),
                    "{told:#?}"
                );
                continue;
            };
            let parts = [
                r#"what="broken""#,
                &format!("revision={revision}"),
                r#"pointer="/content/0/data""#,
                r#"rule="format""#,
                &format!("held_back={held_back}"),
            ];
            assert_logged(&told, "ERROR", &parts);
        }
    }
}

// GAP-17
#[tokio::test]
async fn a_request_with_the_id_of_another() {
    let told = log();
    let (service, director) = staged();
    let client = raw(&service).await;
    let wait = modern(
        "7",
        "tools/call",
        r#","name":"wait","arguments":{"label":"x"}"#,
    );
    client.send_raw(wait).unwrap();
    director.begun().await;
    client.send_raw(modern("7", "tools/list", "")).unwrap();
    client
        .send_raw(r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#)
        .unwrap();
    client.send_raw(modern("8", "tools/list", "")).unwrap();
    let answer = soon(client.next_message()).await.unwrap();
    assert!(answer.contains(r#""id":8"#), "{answer}");
    let told = told.take();
    assert_logged(
        &told,
        "WARN",
        &["was dropped", "id=7", r#"method="tools/list""#],
    );
    assert_logged(
        &told,
        "WARN",
        &[
            "with the id of a running call was dropped",
            "id=7",
            r#"method="a malformed message""#,
        ],
    );
    director.open();
}

#[tokio::test]
async fn a_malformed_message() {
    for (line, parts) in [
        ("{", ["malformed message", "-32700"]),
        (
            r#"{"jsonrpc":"2.0","id":1}"#,
            ["malformed message", "`method` is missing"],
        ),
        (
            r#"{"jsonrpc":"2.0","method":7}"#,
            ["malformed message", "`method` must be a string"],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":1}"#,
            ["malformed message", "`result` must be an object"],
        ),
    ] {
        let told = log();
        conversation(&service(), format!("{line}\n")).await;
        assert_logged(&told.take(), "DEBUG", &parts);
    }
}

#[tokio::test]
async fn a_request_that_is_refused() {
    let told = log();
    let mut lines = initialize("2025-06-18").to_vec();
    lines.push(legacy("1", "tools/frob", "{}"));
    lines.push(modern("2", "tools/frob", ""));
    conversation(&service(), joined(lines)).await;
    let told = told.take();
    let refused = told
        .iter()
        .filter(|line| line.contains("refused") && line.contains("-32601"));
    assert_eq!(refused.count(), 2, "{told:#?}");
}

#[derive(Debug)]
struct Connecting(std::io::Error);

impl fmt::Display for Connecting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("connecting to db-7.internal")
    }
}

impl std::error::Error for Connecting {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// Fails for reasons that are nobody's business.
#[tool]
fn secretive() -> Result<String, ToolError> {
    Err(ToolError::internal(Connecting(std::io::Error::other(
        "password hunter2",
    ))))
}

/// Fails for a reason that has another.
#[tool]
fn open_about_it() -> Result<String, ToolError> {
    Err(Connecting(std::io::Error::other("password hunter2")))?;
    Ok(String::new())
}

#[tokio::test]
async fn why_a_tool_failed() {
    let service = Server::new("t", "1")
        .tools(tools![secretive, open_about_it])
        .build()
        .unwrap();
    for (tool, on_the_wire, off_the_wire) in [
        ("secretive", "internal error", &["hunter2", "db-7"][..]),
        ("open_about_it", "connecting to db-7.internal", &["hunter2"]),
    ] {
        let told = log();
        let client = service.connect().await.unwrap();
        let result = client.call_tool(tool, json!({})).await.unwrap();
        let text = serde_json::to_string(&result).unwrap();
        assert!(
            result.is_error == Some(true) && text.contains(on_the_wire),
            "{text}"
        );
        for secret in off_the_wire {
            assert!(!text.contains(secret), "{text}");
        }
        let name = format!(r#"tool="{tool}""#);
        let parts = [
            "a tool failed",
            &name,
            "logged.rs",
            "connecting to db-7.internal: password hunter2",
        ];
        assert_logged(&told.take(), "WARN", &parts);
    }
}

/// Says something of a level that there is not, and then something of one that there is.
#[tool]
fn mutters(context: Context) -> &'static str {
    context.log(LoggingLevel::Other("loud".into()), "unheard");
    context.log(LoggingLevel::Debug, "heard");
    "said"
}

#[tokio::test]
async fn a_notification_that_its_revision_forbids() {
    for revision in Revision::ALL {
        for (policy, held_back) in [
            (Policy::Enforce, Some(true)),
            (Policy::Warn, Some(false)),
            (Policy::Off, None),
        ] {
            let told = log();
            let server = Server::new("t", "1")
                .tools(tools![mutters])
                .outgoing(policy);
            // What is held back would not be a message to this client either.
            let options = ClientOptions::at(revision).incoming(Policy::Off);
            let client = server.connect_as(options).await.unwrap();
            if revision < Revision::V2026_07_28 {
                let level = SetLevelRequestParams::new(LoggingLevel::Debug);
                client.request::<methods::SetLevel>(level).await.unwrap();
            }
            let mut notifications = client.notifications();
            for _ in 0..2 {
                // The connection lives on.
                let call = client.call_tool("mutters", ());
                call.log_level(LoggingLevel::Debug).await.unwrap();
            }
            let told = told.take();
            let is_heard = held_back != Some(true);
            for expected in ["unheard", "heard", "unheard", "heard"] {
                if expected == "unheard" && !is_heard {
                    continue;
                }
                let got = soon(notifications.next()).await.expect("a message");
                let params = got.get::<methods::LoggingMessage>().unwrap().unwrap();
                assert_eq!(params.data.to_value(), expected, "{policy:?} at {revision}");
            }
            let lines: Vec<_> = told
                .iter()
                .filter(|line| line.contains("pointer="))
                .collect();
            assert_eq!(
                lines.len(),
                if held_back.is_some() { 2 } else { 0 },
                "{told:#?}"
            );
            for line in lines {
                for part in [
                    "ERROR ",
                    r#"what="notifications/message""#,
                    &format!("revision={revision}"),
                    r#"pointer="/level""#,
                    r#"rule="unknown""#,
                    &format!("held_back={}", held_back == Some(true)),
                ] {
                    assert!(line.contains(part), "{part} in {line}");
                }
            }
        }
    }
}

/// The same on the client's side: it does not leave, its author is told, and the connection lives on.
#[tokio::test]
async fn a_notification_of_a_client_that_its_revision_forbids() {
    let params = ProgressNotificationParams::new(f64::INFINITY, RequestId::from("t"));
    for policy in [Policy::Enforce, Policy::Warn, Policy::Off] {
        let told = log();
        let options = ClientOptions::at(Revision::V2025_06_18).outgoing(policy);
        let (client, playing) = against(options, |mut mock| async move {
            let request = mock.next().await.unwrap();
            play_legacy(&mut mock, &request).await;
            let mut methods = Vec::new();
            while let Some(message) = mock.next().await {
                methods.push(message["method"].as_str().unwrap().to_owned());
            }
            methods
        });
        let client = client.await.unwrap();
        let sent = client.notify::<methods::Progress>(&params);
        let fine = ProgressNotificationParams::new(1.0, RequestId::from("t"));
        client.notify::<methods::Progress>(&fine).unwrap();
        soon(client.close()).await;
        let left = soon(playing).await.unwrap().len();
        let told = told.take();
        let lines = told.iter().filter(|line| line.contains("pointer=")).count();
        if policy == Policy::Enforce {
            let problem = sent.unwrap_err();
            assert!(
                matches!(&problem, ClientError::Local(LocalError::NotAllowed(why)) if why.contains("/progress")),
                "{problem}"
            );
            assert_eq!((left, lines), (1, 1), "{told:#?}");
        } else {
            sent.unwrap();
            assert_eq!(
                (left, lines),
                (2, usize::from(policy == Policy::Warn)),
                "{told:#?}"
            );
        }
        if policy != Policy::Off {
            let parts = [
                r#"what="notifications/progress""#,
                "revision=2025-06-18",
                r#"pointer="/progress""#,
                r#"rule="finite""#,
            ];
            assert_logged(&told, "ERROR", &parts);
        }
    }
}

/// What a client refuses or drops is in its log as the server's log has it: with what it says left out.
#[tokio::test]
async fn what_a_client_refuses() {
    let unfit: [(Value, &str, &[&str], &str); 5] = [
        (
            json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": 5, "data": "hunter2" } }),
            "WARN",
            &[
                "a notification that its revision does not allow",
                r#"method="notifications/message""#,
                "dropped=true",
            ],
            r#"raw={"jsonrpc":<3 bytes>,"method":"notifications/message","params":{"level":<1 bytes>,"data":<7 bytes>}}"#,
        ),
        (
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized", "params": { "x": "hunter2" } }),
            "WARN",
            &[
                "a notification that its revision does not allow",
                "no server sends it",
            ],
            r#""params":{"x":<7 bytes>}}"#,
        ),
        (
            json!({ "jsonrpc": "2.0", "id": "q", "method": "roots/list", "params": { "x": "hunter2" } }),
            "WARN",
            &[
                "a request that its revision does not allow",
                r#"method="roots/list""#,
                "code=-32601",
            ],
            r#""id":"q","#,
        ),
        (
            json!({ "jsonrpc": "1.0", "id": "q", "method": "hunter", "params": ["hunter2"] }),
            "WARN",
            &["the server sent something malformed"],
            r#""params":[<7 bytes>]}"#,
        ),
        (
            json!({ "jsonrpc": "1.0", "method": "hunter", "params": vec!["x"; 500] }),
            "WARN",
            &["the server sent something malformed"],
            "…",
        ),
    ];
    for (message, level, parts, raw) in unfit {
        let told = log();
        let options = ClientOptions::at(Revision::V2025_06_18);
        let (client, playing) = against(options, |mut mock| async move {
            let request = mock.next().await.unwrap();
            play_legacy(&mut mock, &request).await;
            mock.send(message).await;
            let request = loop {
                let message = mock.next().await.unwrap();
                if message["method"] == "tools/list" {
                    break message;
                }
            };
            mock.result(&request, json!({ "tools": "hunter2", "id": "hunter2" }))
                .await;
            mock
        });
        let client = client.await.unwrap();
        client.list_tools().await.unwrap_err();
        drop(soon(playing).await.unwrap());
        let told = told.take();
        assert_logged(&told, level, parts);
        assert_logged(&told, "DEBUG", &["this was refused", raw]);
        // The answer as well.
        let parts = [
            "a result that its revision does not allow",
            "method=tools/list",
            r#"pointer="/tools""#,
        ];
        assert_logged(&told, "WARN", &parts);
        let whole = r#"raw={"result":{"#;
        assert_logged(
            &told,
            "DEBUG",
            &[
                "this was refused",
                whole,
                r#""tools":<7 bytes>"#,
                r#""id":<7 bytes>"#,
            ],
        );
        assert!(
            !told.iter().any(|line| line.contains("hunter2")),
            "{told:#?}"
        );
    }
}

// D-3: on a byte stream what comes before any handshake may belong to the modern era, which has none. What only the legacy era
// has comes too early.
#[tokio::test]
async fn notifications_before_any_handshake() {
    for (method, message) in [
        ("notifications/none", "an unknown notification was dropped"),
        (
            "notifications/initialized",
            "outside of an open session was dropped",
        ),
    ] {
        let told = log();
        let line = json!({ "jsonrpc": "2.0", "method": method });
        let answers = conversation(&service(), line.to_string()).await;
        assert!(answers.is_empty(), "{answers:?}");
        assert_logged(&told.take(), "DEBUG", &[message, method]);
    }
}

// A byte stream is a session without an id, and the log shows no empty one.
#[tokio::test]
async fn a_session_of_a_byte_stream() {
    let told = log();
    conversation(&service(), joined(initialize("2025-06-18"))).await;
    let told = told.take();
    assert_logged(
        &told,
        "INFO",
        &["session opened on a byte stream", "2025-06-18"],
    );
    let has_id = |line: &&String| line.contains("session opened") && line.contains("session=");
    assert_eq!(told.iter().find(has_id), None);
}
