//! A whole link: arbitrary lines to a server in memory.

use std::collections::HashMap;

use serde_json::{Value, json, value::RawValue};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use trueform_schema::{LoggingLevel, RequestId};

use super::id_text;
use crate::{
    Json, Leniencies, Policy, Server, Service,
    feature::{
        prompts::DynamicPrompt,
        resources::{DynamicResource, DynamicTemplate},
        tools::DynamicTool,
    },
    jsonrpc::{self, Incoming, Message},
    testing::{Checker, Recorder, Side},
};

/// The id of the request that comes after everything.
const LAST: &str = "the last request";

/// Sends any bytes as lines to a server. Checks that the server writes lines of JSON, answers an id no more often than it was requested,
/// answers the last request, and does nothing that the specification forbids.
///
/// # Panics
/// If the server violates this, and if called within a Tokio runtime, because it creates its own.
pub fn link(bytes: &[u8]) {
    let mut input = bytes.to_owned();
    let last = format!(
        "\n{}\n",
        json!({"jsonrpc": "2.0", "id": LAST, "method": "tools/call", "params": {"name": "echo",
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}})
    );
    input.extend_from_slice(last.as_bytes());
    // Once all lines at once, and once each line after the previous one was handled: only the latter shows the order of events.
    let at_once = served(input.clone(), false, &Recorder::new());
    promises(bytes, &input, &at_once);
    let recorder = Recorder::new();
    let in_turn = served(input.clone(), true, &recorder);
    promises(bytes, &input, &in_turn);
    // If two requests have the same id, a response cannot be attributed to either.
    let is_clear = asked(&input).values().all(|times| *times == 1);
    let lines = jsonrpc::without_mark(&input);
    if !is_clear || !lines.split(|byte| *byte == b'\n').all(is_shown) {
        return;
    }
    let transcript = recorder.transcript();
    let findings = Checker::new()
        .check(&transcript)
        .expect("a recorder writes transcripts");
    let found: Vec<String> = findings
        .iter()
        .filter(|finding| finding.side == Side::Server)
        .map(ToString::to_string)
        .collect();
    assert!(found.is_empty(), "{}\n\n{transcript}", found.join("\n"));
}

/// Returns whether a transcript contains `line` unchanged: it is text, and if it is JSON, a tree can represent it.
fn is_shown(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else {
        return false;
    };
    serde_json::from_str::<&RawValue>(text).is_err() || serde_json::from_str::<Value>(text).is_ok()
}

/// Checks the properties of `output` that do not depend on the specification.
fn promises(bytes: &[u8], input: &[u8], output: &str) {
    let mut open = asked(input);
    for line in output.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            panic!("no JSON: {line}");
        };
        let each = message
            .as_array()
            .map_or(std::slice::from_ref(&message), Vec::as_slice);
        for message in each {
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if message.get("method").is_none() {
                answered(&mut open, &message["id"], line);
            }
        }
    }
    assert!(
        output.contains(&format!(r#""id":"{LAST}","result""#)) || uses_last(bytes),
        "the last request was not answered: {output}"
    );
}

/// Returns whether the input itself uses the last id.
fn uses_last(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).contains(LAST)
}

fn answered(open: &mut HashMap<String, usize>, id: &Value, line: &str) {
    if id.is_null() {
        return;
    }
    let left = RequestId::from_json(&id.to_string())
        .ok()
        .and_then(|id| open.get_mut(&key(&id)));
    match left {
        Some(left) if *left > 0 => *left -= 1,
        _ => panic!("answers what was not asked, or once too often: {line}"),
    }
}

/// Returns how often each id may be answered.
fn asked(input: &[u8]) -> HashMap<String, usize> {
    let mut open = HashMap::new();
    let mut ask = |id: Option<RequestId>| {
        if let Some(id) = id {
            *open.entry(key(&id)).or_default() += 1;
        }
    };
    for line in jsonrpc::without_mark(input).split(|byte| *byte == b'\n') {
        match jsonrpc::parse(line) {
            Ok(Incoming::Single(Message::Request { id, .. })) => ask(Some(id)),
            Ok(Incoming::Single(_)) => {}
            Ok(Incoming::Batch(messages)) => {
                messages.into_iter().for_each(|message| match message {
                    Ok(Message::Request { id, .. }) => ask(Some(id)),
                    Ok(_) => {}
                    Err(malformed) => ask(malformed.id),
                })
            }
            Err(malformed) => ask(malformed.id),
        }
    }
    open
}

/// Normalises numbers to their value, because they are echoed in their original notation.
fn key(id: &RequestId) -> String {
    let text = id_text(id);
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => value.to_string(),
        Err(_) => text,
    }
}

/// Number of yields to other tasks per line, if lines are sent one by one.
const TURNS: usize = 64;

/// Returns the output of the server for `input`.
fn served(input: Vec<u8>, in_turn: bool, recorder: &Recorder) -> String {
    // Every other input goes to a server that accepts nothing which the specification forbids.
    let leniencies = match input.len() % 2 {
        0 => Leniencies::ALL,
        _ => Leniencies::NONE,
    };
    output(service(leniencies), input, in_turn, recorder)
}

/// Returns the output of a server for `input`, one line after the other. `is_careful` selects its reader.
pub(super) fn answers(input: &[u8], policy: Policy, is_careful: bool) -> String {
    let greet = DynamicPrompt::new("greet")
        .argument("name", "Who is greeted.", false)
        .handler(|_, arguments| async move { format!("Hello, {arguments:?}!") });
    let note = DynamicResource::new("bench://note", "note").handler(|_| async { "A note." });
    let notes = DynamicTemplate::new("bench://notes/{about}", "notes")
        .handler(|_, variables| async move { variables["about"].to_owned() });
    let who = DynamicTool::new("who", json!({"type": "object"})).handler(|context, _| async move {
        format!(
            "{:?} {:?} {:?}",
            context.client_info(),
            context.client_capabilities(),
            context.revision()
        )
    });
    let server = server(Leniencies::ALL)
        .tools(who)
        .prompts(greet)
        .resources(note)
        .resources(notes)
        .incoming(policy)
        .carefully(is_careful);
    let service = server.build().expect("the features are fine");
    output(service, input.to_owned(), true, &Recorder::new())
}

/// Returns the output of `service` for `input`.
fn output(service: Service, input: Vec<u8>, in_turn: bool, recorder: &Recorder) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime of one thread");
    runtime.block_on(async {
        let (mut to_server, reader) = tokio::io::duplex(1 << 16);
        let (writer, mut output) = tokio::io::duplex(1 << 16);
        let (reader, writer) = recorder.around_server(reader, writer);
        let serving = async move {
            let served = service.serve_stream(reader, writer).await;
            served.expect("a stream in memory does not fail");
        };
        let writing = async move {
            if !in_turn {
                // Fails when the server has ended; the caller checks its output.
                let _ = to_server.write_all(&input).await;
                return;
            }
            for line in input.split_inclusive(|byte| *byte == b'\n') {
                let _ = to_server.write_all(line).await;
                for _ in 0..TURNS {
                    tokio::task::yield_now().await;
                }
            }
        };
        let reading = async move {
            let mut text = String::new();
            let read = output.read_to_string(&mut text).await;
            read.expect("the server writes UTF-8");
            text
        };
        tokio::join!(serving, writing, reading).2
    })
}

fn service(leniencies: Leniencies) -> Service {
    server(leniencies).build().expect("the tools are fine")
}

fn server(leniencies: Leniencies) -> Server {
    let echo = DynamicTool::new("echo", json!({"type": "object"}))
        .output_schema(json!({}))
        .handler(|_, arguments| async move { Json(arguments.to_value()) });
    let add = DynamicTool::new(
        "add",
        json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}),
    )
    .title("Add")
    .handler(|_, arguments| async move { arguments.get().len() as u64 });
    let tells = DynamicTool::new(
        "tells",
        json!({"type": "object", "properties": {"any": true}}),
    )
    .output_schema(json!({"type": "array"}))
    .handler(|context, _| async move {
        for step in 1..=3 {
            context.progress(f64::from(step), Some(3.0), Some("on it"));
            context.log(LoggingLevel::Info, "a step");
            tokio::task::yield_now().await;
        }
        Json(vec![1, 2, 3])
    });
    Server::new("fuzzed", "1")
        .instructions("None.")
        .tools(echo)
        .tools(add)
        .tools(tells)
        .lenient(leniencies)
        .page_size(2)
}
