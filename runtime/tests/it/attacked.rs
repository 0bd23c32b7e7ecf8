//! What was found by attacking the server, and must not come back.

use serde_json::Value;
use trueform::{completion::CompletionQuery, prelude::*};

use crate::support::{self, conversation, initialize, joined, legacy, log, modern};

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// The answer to `line` alone, from a server whose session at 2025-03-26 is open.
async fn answer(line: &str) -> Value {
    let [first, second] = initialize("2025-03-26");
    let output = support::conversation(&support::service(), joined([&first, &second, line])).await;
    parsed(output.last().unwrap())
}

// A-3, GAP-17: neither a batch nor a malformed member gets an answer that a running call would be given.
#[tokio::test]
async fn batches_do_not_reach_running_calls() {
    let (service, director) = support::staged();
    let client = support::raw(&service).await;
    for line in initialize("2025-03-26") {
        client.send_raw(line).unwrap();
    }
    assert!(client.next_message().await.unwrap().contains("2025-03-26"));
    let wait = r#"{"name":"wait","arguments":{"label":"first"}}"#;
    client.send_raw(legacy("7", "tools/call", wait)).unwrap();
    assert_eq!(director.begun().await, "first");
    let batch = format!(
        r#"[{},{{"jsonrpc":"1.0","id":7,"method":"ping"}},{},{}]"#,
        legacy("7", "ping", "{}"),
        legacy("8", "ping", "{}"),
        legacy("8", "ping", "{}"),
    );
    client.send_raw(batch).unwrap();
    let answers = parsed(&client.next_message().await.unwrap());
    assert_eq!(answers.as_array().unwrap().len(), 1, "{answers}");
    assert_eq!(answers[0]["id"], 8);
    // The first call still owns its id: it can be cancelled, and is answered by nobody else.
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    client.send_raw(cancelled).unwrap();
    client.send_raw(legacy("9", "ping", "{}")).unwrap();
    assert_eq!(parsed(&client.next_message().await.unwrap())["id"], 9);
}

// D-3
#[tokio::test]
async fn modern_requests_do_not_come_in_batches() {
    let answers = answer(&format!("[{}]", modern("1", "tools/list", ""))).await;
    assert_eq!(answers[0]["error"]["code"], -32600, "{answers}");
}

// GAP-14
#[tokio::test]
async fn lone_surrogates_are_told_with_their_place() {
    for (params, pointer) in [
        (
            r#"{"name":"echo","arguments":{"text":"\ud800"}}"#,
            "/params/arguments/text",
        ),
        (
            r#"{"name":"echo","arguments":{"text":"x"},"_meta":{"progressToken":"\ud800"}}"#,
            "/params/_meta/progressToken",
        ),
        (
            r#"{"_meta":{"progressToken":"\ud800"},"name":"echo","arguments":{"text":"x"}}"#,
            "/params/_meta/progressToken",
        ),
    ] {
        let answer = answer(&legacy("1", "tools/call", params)).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
        assert_eq!(answer["error"]["data"]["pointer"], pointer, "{params}");
    }
}

// M-3: whichever the method.
#[tokio::test]
async fn unknown_log_levels_are_refused_everywhere() {
    for (method, more) in [
        ("server/discover", ""),
        ("tools/list", ""),
        ("subscriptions/listen", r#","notifications":{}"#),
        ("tools/call", r#","name":"echo","arguments":{"text":"x"}"#),
    ] {
        let line = modern("1", method, more).replacen(
            r#""_meta":{"#,
            r#""_meta":{"io.modelcontextprotocol/logLevel":"loud","#,
            1,
        );
        let answer = answer(&line).await;
        assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .contains("loud"),
            "{answer}"
        );
    }
}

// C-2: capabilities that are not an object count as absent.
#[tokio::test]
async fn capabilities_are_an_object() {
    for wrong in ["null", "[]", "1"] {
        let line = modern("1", "tools/list", "").replacen(
            r#"clientCapabilities":{}"#,
            &format!(r#"clientCapabilities":{wrong}"#),
            1,
        );
        let answer = answer(&line).await;
        let pointer = answer["error"]["data"]["pointer"].as_str().unwrap();
        assert!(pointer.ends_with("clientCapabilities"), "{wrong}: {answer}");
    }
}

// A client that closes its side while nothing it was sent is read takes the server with it, after the drain.
#[tokio::test(start_paused = true)]
async fn the_end_is_seen_though_nobody_reads() {
    use tokio::io::AsyncWriteExt;

    let (reader, mut input) = tokio::io::duplex(1 << 20);
    // Holds far less than the answer, and nobody reads it.
    let (_output, writer) = tokio::io::duplex(1024);
    let [first, second] = initialize("2025-11-25");
    let big = "x".repeat(300_000);
    let call = legacy(
        "1",
        "tools/call",
        &format!(r#"{{"name":"echo","arguments":{{"text":"{big}"}}}}"#),
    );
    input
        .write_all(joined([&first, &second, &call]).as_bytes())
        .await
        .unwrap();
    drop(input);
    support::service()
        .serve_stream(reader, writer)
        .await
        .unwrap();
}

/// Takes a token, and fails for a reason that is nobody's business.
#[tool]
fn logs_in(token: u8) -> Result<String, ToolError> {
    Err(ToolError::internal(format!("inner hunter2, {token}")))
}

/// Panics with what is nobody's business.
#[tool]
fn breaks() -> String {
    panic!("inner hunter2")
}

/// Takes a token too.
#[prompt]
fn asks_in(
    token: u8,
    #[arg(complete = suggests)] place: Option<String>,
) -> Result<String, ToolError> {
    Err(ToolError::internal(format!(
        "inner hunter2, {token}, {place:?}"
    )))
}

fn suggests(_: CompletionQuery) -> Result<Vec<String>, ToolError> {
    Err(ToolError::internal("inner hunter2"))
}

/// The token is in its URI.
#[resource("in://{token}")]
fn reads_in(token: u8) -> Result<String, ToolError> {
    Err(ToolError::internal(format!("inner hunter2, {token}")))
}

// M-5: clients are not sent why something failed, not as log messages either, and the log has no values that clients sent.
#[tokio::test]
async fn secrets_are_not_logged() {
    let service = Server::new("t", "1")
        .tools(tools![logs_in, breaks])
        .prompts(prompts![asks_in])
        .resources(resources![reads_in])
        .build()
        .unwrap();
    let prompt = r#"{"type":"ref/prompt","name":"asks_in"}"#;
    let requests = [
        ("logging/setLevel", r#"{"level":"debug"}"#.to_owned()),
        (
            "tools/call",
            r#"{"name":"logs_in","arguments":{"token":7}}"#.to_owned(),
        ),
        ("tools/call", r#"{"name":"breaks"}"#.to_owned()),
        (
            "tools/call",
            r#"{"name":"logs_in","arguments":{"token":"sent hunter2"}}"#.to_owned(),
        ),
        (
            "tools/call",
            r#"{"name":"logs_in","arguments":["sent hunter2"]}"#.to_owned(),
        ),
        (
            "tools/call",
            r#"{"name":"logs_in","_meta":{"progressToken":["sent hunter2"]}}"#.to_owned(),
        ),
        (
            "prompts/get",
            r#"{"name":"asks_in","arguments":{"token":"7"}}"#.to_owned(),
        ),
        (
            "prompts/get",
            r#"{"name":"asks_in","arguments":{"token":"sent hunter2"}}"#.to_owned(),
        ),
        (
            "prompts/get",
            r#"{"name":"asks_in","arguments":{"token":["sent hunter2"]}}"#.to_owned(),
        ),
        ("resources/read", r#"{"uri":"in://7"}"#.to_owned()),
        (
            "resources/read",
            r#"{"uri":"in://sent-hunter2"}"#.to_owned(),
        ),
        (
            "completion/complete",
            format!(r#"{{"ref":{prompt},"argument":{{"name":"place","value":"sent hunter2"}}}}"#),
        ),
        ("nope", r#"{"password":"sent hunter2"}"#.to_owned()),
    ];
    let [open, confirm] = initialize("2025-11-25");
    let opening = [open, confirm];
    let lines = requests.iter().enumerate();
    let lines = lines.map(|(id, (method, params))| legacy(&id.to_string(), method, params));
    let notes = log();
    let answers = conversation(&service, joined(opening.into_iter().chain(lines))).await;
    let notes = notes.take();
    assert_eq!(answers.len(), requests.len() + 1, "{answers:#?}");
    for answer in &answers {
        assert!(!answer.contains("inner hunter2"), "{answer}");
        assert!(!answer.contains("notifications/message"), "{answer}");
    }
    for note in &notes {
        let sent = note.contains("sent hunter2") || note.contains("sent-hunter2");
        assert!(!sent, "{note}");
    }
    // The author reads why.
    let why = notes.iter().filter(|note| note.contains("inner hunter2"));
    assert!(why.count() >= 4, "{notes:#?}");
}
