//! Questions to clients of 2026-07-28 over HTTP.

use serde_json::{Value, json};
use trueform::{HttpConfig, prelude::*};

use super::support::{App, Got, Req};
use crate::asking::{accept, keys, state, text};

/// Reports, asks, and reports again.
#[tool]
async fn transfer(context: Context, amount: u32) -> Result<String, ToolError> {
    context.progress(1.0, None, None);
    tokio::task::yield_now().await;
    let sure = context.ask::<bool>("sure", "Sure?").await?;
    context.progress(2.0, None, None);
    Ok(format!("{amount} {sure:?}"))
}

/// Says back what it is called with.
#[tool]
fn silent(amount: u32) -> u32 {
    amount
}

fn app() -> App {
    let server = Server::new("bank", "1").tools(tools![transfer, silent]);
    App::serving(server.http(HttpConfig::default()))
}

/// A call of `tool` by `principal`, with what `more` adds to the params.
fn call(tool: &str, capabilities: &Value, more: &Value, principal: Option<&str>) -> Req {
    let mut params = json!({
        "name": tool,
        "arguments": { "amount": 5 },
        "_meta": {
            "progressToken": "p",
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        },
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    Req::post(request.to_string())
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .principal(principal)
}

fn form() -> Value {
    json!({ "elicitation": {} })
}

fn yes(asked: &Value) -> Value {
    json!({
        "requestState": state(asked),
        "inputResponses": { "sure": accept(json!({ "answer": true })) },
    })
}

/// The events of a response that is a stream.
fn events(got: &Got) -> Vec<Value> {
    let data = got
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data:"));
    let data = data.map(str::trim).filter(|data| !data.is_empty());
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

// T-13, F-32: what was reported comes before the questions, and nothing after them.
#[tokio::test]
async fn the_questions_are_the_end() {
    let app = app();
    let got = app.send(call("transfer", &form(), &json!({}), None)).await;
    let events_of_first = events(&got);
    let [progress, asked] = &events_of_first[..] else {
        panic!("{got:?}");
    };
    assert_eq!(progress["method"], "notifications/progress");
    assert_eq!(keys(asked), ["sure"]);
    let got = app.send(call("transfer", &form(), &yes(asked), None)).await;
    let events_of_second = events(&got);
    let last = events_of_second.last().unwrap();
    assert_eq!(text(last), "5 Accepted(true)");
}

// C-10: the status of what the client did not declare, unless the stream has begun.
#[tokio::test]
async fn undeclared_capabilities() {
    let app = app();
    let mut quiet = call("transfer", &json!({}), &json!({}), None);
    let body = String::from_utf8(quiet.body).unwrap();
    quiet.body = body.replace(r#""progressToken":"p","#, "").into_bytes();
    let got = app.send(quiet).await;
    assert_eq!((got.status, got.code()), (400, -32021), "{got:?}");
    assert_eq!(
        got.json()["error"]["data"]["requiredCapabilities"],
        json!({ "elicitation": {} })
    );
}

// T-9, R-14: a state is its caller's.
#[tokio::test]
async fn states_of_other_callers() {
    let app = app();
    for (asker, other) in [
        (Some("ann"), Some("eve")),
        (Some("ann"), None),
        (None, Some("eve")),
        // Subjects that look like no caller, and like the parts of another binding.
        (None, Some("")),
        (Some("nobody"), None),
    ] {
        let got = app.send(call("transfer", &form(), &json!({}), asker)).await;
        let asked = events(&got).pop().unwrap();
        let refused = app
            .send(call("transfer", &form(), &yes(&asked), other))
            .await;
        assert_eq!(
            (refused.status, refused.code()),
            (200, -32602),
            "{refused:?}"
        );
        assert_eq!(
            refused.json()["error"]["data"]["pointer"],
            "/params/requestState"
        );
        let silent = app.send(call("silent", &form(), &json!({}), other)).await;
        assert_eq!(silent.text(), "5");
        let done = app
            .send(call("transfer", &form(), &yes(&asked), asker))
            .await;
        assert_eq!(text(&events(&done).pop().unwrap()), "5 Accepted(true)");
    }
}

// DEC-10: a byte order mark hides nothing of an answer.
#[tokio::test]
async fn a_mark_before_the_answer() {
    let app = app();
    let got = app.send(call("transfer", &form(), &json!({}), None)).await;
    let asked = events(&got).pop().unwrap();
    let mut again = call("transfer", &form(), &yes(&asked), None);
    again.body.splice(0..0, *b"\xef\xbb\xbf");
    let done = app.send(again).await;
    assert_eq!(text(&events(&done).pop().unwrap()), "5 Accepted(true)");
}
