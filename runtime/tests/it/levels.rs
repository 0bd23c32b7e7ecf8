//! Which log messages a client gets: by the session's level, by the request's, and never by another's.

use serde_json::Value;

use crate::support::{conversation, initialize, joined, legacy, modern, service};

/// Levels of the log messages in `output`, in order.
fn levels(output: &[String]) -> Vec<String> {
    let messages = output
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    messages
        .filter(|message| message["method"] == "notifications/message")
        .map(|message| message["params"]["level"].as_str().unwrap().to_owned())
        .collect()
}

/// A call of a tool that logs one message, at info.
const STEPS: &str = r#"{"name":"steps","arguments":{"steps":1}}"#;

fn modern_steps(id: &str, level: Option<&str>) -> String {
    let line = modern(
        id,
        "tools/call",
        r#","name":"steps","arguments":{"steps":1}"#,
    );
    match level {
        Some(level) => line.replace(
            r#"{}}"#,
            &format!(r#"{{}},"io.modelcontextprotocol/logLevel":"{level}"}}"#),
        ),
        None => line,
    }
}

async fn said(lines: Vec<String>) -> Vec<String> {
    let output = conversation(&service(), joined(lines)).await;
    assert!(
        output.iter().all(|line| !line.contains(r#""error""#)),
        "{output:?}"
    );
    levels(&output)
}

// M-2
#[tokio::test]
async fn a_session_sets_its_level() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        for (level, expected) in [
            (None, 1),
            (Some("debug"), 1),
            (Some("info"), 1),
            (Some("notice"), 0),
            (Some("error"), 0),
            (Some("emergency"), 0),
        ] {
            let mut lines = initialize(revision).to_vec();
            lines.extend(level.map(|level| {
                legacy(
                    "1",
                    "logging/setLevel",
                    &format!(r#"{{"level":"{level}"}}"#),
                )
            }));
            lines.push(legacy("2", "tools/call", STEPS));
            assert_eq!(said(lines).await.len(), expected, "{revision}, {level:?}");
        }
    }
}

// M-2: and again, for what comes after.
#[tokio::test]
async fn a_level_holds_until_the_next() {
    let mut lines = initialize("2025-06-18").to_vec();
    for (id, level) in [(10, "error"), (20, "info"), (30, "error")] {
        lines.push(legacy(
            &id.to_string(),
            "logging/setLevel",
            &format!(r#"{{"level":"{level}"}}"#),
        ));
        lines.push(legacy(&(id + 1).to_string(), "tools/call", STEPS));
    }
    assert_eq!(said(lines).await, ["info"]);
}

// D-14, M-4: a session's level is nothing to modern requests on the same stream, nor theirs to it.
#[tokio::test]
async fn eras_keep_their_levels() {
    for (session, request, expected) in [
        ("debug", None, 0),
        ("emergency", Some("info"), 1),
        ("debug", Some("error"), 0),
    ] {
        let mut lines = initialize("2025-11-25").to_vec();
        lines.push(legacy(
            "1",
            "logging/setLevel",
            &format!(r#"{{"level":"{session}"}}"#),
        ));
        lines.push(modern_steps("2", request));
        assert_eq!(said(lines).await.len(), expected, "{session}, {request:?}");
    }
    let mut lines = initialize("2025-11-25").to_vec();
    lines.push(modern_steps("1", Some("emergency")));
    lines.push(legacy("2", "tools/call", STEPS));
    assert_eq!(said(lines).await, ["info"]);
}

// A connection's level is its own.
#[tokio::test]
async fn connections_keep_their_levels() {
    let service = service();
    let mut first = initialize("2025-06-18").to_vec();
    first.push(legacy("1", "logging/setLevel", r#"{"level":"error"}"#));
    conversation(&service, joined(first)).await;
    let mut second = initialize("2025-06-18").to_vec();
    second.push(legacy("1", "tools/call", STEPS));
    assert_eq!(
        levels(&conversation(&service, joined(second)).await),
        ["info"]
    );
}
