//! What stays within the server: nothing internal reaches a client, in results, errors or log messages.

use serde_json::json;
use trueform::{completion::CompletionQuery, prelude::*, schema::Completion};

use crate::support::{conversation, initialize, joined, legacy, modern};

const SECRET: &str = "password=hunter2";

fn leak() -> ToolError {
    ToolError::internal(SECRET)
}

/// Fails.
#[tool]
async fn fails(context: Context) -> Result<String, ToolError> {
    context.log(LoggingLevel::Debug, "begun");
    Err(leak())
}

/// Fails with a source.
#[tool]
fn fails_with_source() -> Result<String, ToolError> {
    Err(ToolError::new("no connection").with_source(SECRET))
}

/// Panics.
#[tool]
fn panics() -> String {
    panic!("{SECRET}")
}

/// Fails.
#[prompt]
fn prompt_fails() -> Result<String, ToolError> {
    Err(leak())
}

/// Panics.
#[prompt]
fn prompt_panics(#[arg(complete = suggest)] about: String) -> String {
    panic!("{SECRET} {about}")
}

fn suggest(query: CompletionQuery) -> Result<Completion, ToolError> {
    match query.value() {
        "panic" => panic!("{SECRET}"),
        _ => Err(leak()),
    }
}

/// Fails.
#[resource("secret://fails")]
fn resource_fails() -> Result<String, ToolError> {
    Err(leak())
}

/// Panics.
#[resource("secret://panics/{name}")]
fn resource_panics(name: String) -> String {
    panic!("{SECRET} {name}")
}

// M-5: what an author's error hides, a panic's text and an error's sources are for the log of the server. A client that asks for
// all log messages gets those that the author sent it, and no others.
#[tokio::test]
async fn nothing_internal_reaches_clients() {
    let service = Server::new("secrets", "1.0.0")
        .tools(tools![fails, fails_with_source, panics])
        .prompts(prompts![prompt_fails, prompt_panics])
        .resources(resources![resource_fails, resource_panics])
        .build()
        .unwrap();
    let reference = json!({"type": "ref/prompt", "name": "prompt_panics"});
    let requests = [
        ("tools/call", json!({"name": "fails"})),
        ("tools/call", json!({"name": "fails_with_source"})),
        ("tools/call", json!({"name": "panics"})),
        ("prompts/get", json!({"name": "prompt_fails"})),
        (
            "prompts/get",
            json!({"name": "prompt_panics", "arguments": {"about": "x"}}),
        ),
        ("resources/read", json!({"uri": "secret://fails"})),
        ("resources/read", json!({"uri": "secret://panics/x"})),
        (
            "completion/complete",
            json!({"ref": reference, "argument": {"name": "about", "value": ""}}),
        ),
        (
            "completion/complete",
            json!({"ref": reference, "argument": {"name": "about", "value": "panic"}}),
        ),
    ];
    let mut old: Vec<String> = initialize("2025-11-25").into();
    old.push(legacy("1", "logging/setLevel", r#"{"level":"debug"}"#));
    let mut new = Vec::new();
    for (at, (method, params)) in requests.iter().enumerate() {
        let id = (at + 10).to_string();
        old.push(legacy(&id, method, &params.to_string()));
        let members = params.to_string();
        let members = format!(",{}", &members[1..members.len() - 1]);
        let logged = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/logLevel":"debug""#;
        let request = modern(&id, method, &members);
        new.push(request.replace(
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#,
            logged,
        ));
    }
    for (lines, besides) in [(old, 2), (new, 0)] {
        let answers = conversation(&service, joined(&lines)).await;
        let logged = |line: &&String| line.contains("notifications/message");
        assert_eq!(answers.iter().filter(logged).count(), 1, "{answers:#?}");
        assert_eq!(answers.len(), requests.len() + 1 + besides, "{answers:#?}");
        for answer in answers {
            assert!(!answer.contains("hunter2"), "{answer}");
        }
    }
}
