//! What is repeated of a peer's text: short, on one line and without characters that change what others look like, wherever a
//! client can name something.

use serde_json::{Value, json};
use trueform::{Service, prelude::*};

use crate::support::{self, conversation, joined};

/// Characters that must not get into a line of a log or a message.
fn is_disturbing(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200f}' | '\u{feff}')
}

/// Most characters that are repeated of one text.
const MOST: usize = 200;

/// Texts that clients may name things by.
pub(crate) fn texts() -> [String; 3] {
    [
        "\u{1b}[2Jq\r\nq\u{2028}q\u{2029}q\u{85}q\u{202e}q\u{2066}q\u{feff}q\0".to_owned(),
        "q".repeat(1 << 20),
        "\u{1b}".repeat(1000),
    ]
}

#[track_caller]
pub(crate) fn assert_plain(what: &str, text: &str, may_have_lines: bool) {
    let found = text
        .chars()
        .find(|letter| is_disturbing(*letter) && !(may_have_lines && *letter == '\n'));
    let start: String = text.chars().take(500).collect();
    assert_eq!(found, None, "{what}: {start:?}");
    assert!(!text.contains(&"q".repeat(MOST + 1)), "{what}: {start}");
    assert!(
        !text.contains(&"\\u{1b}".repeat(MOST / 6 + 1)),
        "{what}: {start}"
    );
}

/// Messages in which the client names something by `text`.
fn messages(text: &str) -> Vec<Value> {
    let short: String = text.chars().take(200).collect();
    let meta = |version: &str| {
        json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        })
    };
    let modern = |id: Value, method: &str, more: Value| {
        let mut params = json!({ "_meta": meta("2026-07-28") });
        for (name, value) in more.as_object().into_iter().flatten() {
            match name.as_str() {
                "_meta" => {
                    for (name, value) in value.as_object().into_iter().flatten() {
                        params["_meta"][name] = value.clone();
                    }
                }
                _ => params[name] = value.clone(),
            }
        }
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    };
    let call = |arguments: Value| {
        modern(
            json!(1),
            "tools/call",
            json!({ "name": "typed", "arguments": arguments }),
        )
    };
    vec![
        modern(json!(1), text, json!({})),
        modern(json!(short), "tools/nothing", json!({})),
        modern(json!(text), "tools/list", json!({ "cursor": 7 })),
        modern(json!(1), "tools/call", json!({ "name": text })),
        modern(json!(1), "tools/list", json!({ "cursor": text })),
        modern(json!(1), "tools/list", json!({ text: { text: text } })),
        modern(json!(1), "tools/list", json!({ "_meta": { text: text } })),
        modern(
            json!(1),
            "tools/list",
            json!({ "_meta": { "progressToken": text } }),
        ),
        modern(
            json!(1),
            "tools/list",
            json!({ "_meta": { "io.modelcontextprotocol/logLevel": text } }),
        ),
        modern(
            json!(1),
            "tools/list",
            json!({ "_meta": { "io.modelcontextprotocol/clientInfo": { "name": text } } }),
        ),
        modern(
            json!(1),
            "subscriptions/listen",
            json!({ "notifications": { text: text } }),
        ),
        call(json!({ text: text })),
        call(json!({ "number": text })),
        call(json!({ "number": 1, "choice": text })),
        call(json!({ "number": 1, "choice": short })),
        call(json!({ "number": 1, "nested": { text: [text] } })),
        call(json!({ "number": 1, "nested": { "inner": text } })),
        call(json!({ "number": 1, "wide": format!("1{text}") })),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta(text) } }),
        json!({ "jsonrpc": text, "id": 1, "method": "ping" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", text: text }),
        json!({ "jsonrpc": "2.0", "id": { text: text }, "method": "ping" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": text }),
        json!({ "jsonrpc": "2.0", "id": short, "result": { text: text } }),
        json!({ "jsonrpc": "2.0", "id": short, "error": { "code": 1, "message": text } }),
        json!({ "jsonrpc": "2.0", "method": text, "params": { text: text } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": short, "reason": text } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": { text: text } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": text, "progress": text } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized", "params": { text: text } }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": { "level": text } }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": text, "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": text, "capabilities": { text: text }, "clientInfo": { "name": text, "version": text },
        } }),
    ]
}

#[derive(serde::Deserialize, trueform::schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Choice {
    One,
    Two,
}

#[derive(serde::Deserialize, trueform::schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nested {
    inner: Choice,
}

/// Takes arguments of several types.
#[tool]
fn typed(
    number: i64,
    choice: Option<Choice>,
    nested: Option<Nested>,
    wide: Option<u128>,
) -> String {
    let choice = choice.map_or(0, |choice| choice as u8);
    let nested = nested.map_or(0, |nested| nested.inner as u8);
    format!("{number} {choice} {nested} {wide:?}")
}

fn server() -> Server {
    Server::new("t", "1").tools(tools![typed])
}

fn services() -> [Service; 2] {
    let strict = server().lenient(trueform::Leniencies::NONE);
    let warning = server().incoming(trueform::Policy::Warn);
    [
        strict.build().expect("the tool is fine"),
        warning.build().expect("the tool is fine"),
    ]
}

/// The texts of an answer that people and models read.
fn assert_answer(what: &str, answer: &Value) {
    if let Some(message) = answer["error"]["message"].as_str() {
        assert_plain(what, message, false);
    }
    for block in answer["result"]["content"].as_array().into_iter().flatten() {
        assert_plain(what, block["text"].as_str().unwrap_or_default(), true);
    }
}

// Issue 8: one function writes a client's text into logs and messages.
#[tokio::test]
async fn on_a_byte_stream() {
    for service in services() {
        for text in texts() {
            let lines = messages(&text)
                .into_iter()
                .map(|message| message.to_string());
            let mut inputs: Vec<String> = lines.collect();
            // Not JSON at all.
            inputs.extend([
                text.replace('\n', ""),
                format!("{{\"{}\":", text.replace(['\n', '\0'], "")),
            ]);
            let told = support::log();
            #[cfg(feature = "http")]
            support::keep_spans();
            for input in inputs {
                let what: String = input.chars().take(300).collect();
                for opens in [false, true] {
                    if !opens && input.len() > 1 << 20 {
                        // Once is enough for the long ones.
                        continue;
                    }
                    let first = opens.then(|| support::initialize("2025-11-25").join("\n"));
                    let input = joined(first.into_iter().chain([input.clone()]));
                    for line in conversation(&service, input).await {
                        let answer: Value = serde_json::from_str(&line).expect("JSON");
                        assert_answer(&what, &answer);
                    }
                    for line in told.take() {
                        assert_plain(&what, &line, false);
                    }
                    #[cfg(feature = "http")]
                    for (name, value) in support::spans().into_iter().flatten() {
                        assert_plain(&format!("{name} of {what}"), &value, false);
                    }
                }
            }
        }
    }
}
