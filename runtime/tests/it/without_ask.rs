//! Without the feature `ask`: clients until 2025-11-25 are asked as with it, those of 2026-07-28 only within tasks.

use serde_json::{Value, json};
use trueform::{
    InputRequired, Service,
    client::Client,
    prelude::*,
    schema::{CallToolResult, ListRootsRequest},
    tool::IntoToolResult,
};

use crate::{
    asks::initialize,
    support::{legacy, raw, soon},
};

/// Asks for a name.
#[tool]
async fn greet(context: Context) -> Result<String, ToolError> {
    let name = context.ask::<String>("name", "Who?").await?;
    Ok(name.accepted().unwrap_or_else(|| "nobody".to_owned()))
}

/// Does a step.
#[tool]
async fn step(context: Context) -> Result<u8, ToolError> {
    Ok(context.once("step", async { 7 }).await?)
}

/// Asks within its result.
#[tool]
fn low_level() -> Result<CallToolResult, ToolError> {
    InputRequired::new()
        .question("roots", ListRootsRequest::default())
        .into_tool_result()
}

/// Asks for a topic.
#[prompt]
async fn topic(context: Context) -> Result<String, ToolError> {
    let topic = context.ask::<String>("topic", "About what?").await?;
    Ok(topic.accepted().unwrap_or_default())
}

/// Asks within a task.
#[tool(task = required)]
async fn confirm(context: Context) -> Result<String, ToolError> {
    let sure: Asked<bool> = context.ask("confirm", "Sure?").await?;
    Ok(format!("{sure:?}"))
}

fn service() -> Service {
    Server::new("without", "1")
        .tools(tools![greet, step, low_level, confirm])
        .prompts(prompts![topic])
        .build()
        .unwrap()
}

async fn next(client: &Client) -> Value {
    let line = soon(client.next_message()).await;
    serde_json::from_str(&line.expect("the server goes on")).unwrap()
}

/// The response to a request of a client of 2026-07-28 that can be asked anything.
async fn sent(client: &Client, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": {}, "sampling": {}, "roots": {},
            "extensions": { "io.modelcontextprotocol/tasks": {} },
        },
    });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    client.send_raw(request.to_string()).unwrap();
    next(client).await
}

fn text(response: &Value) -> &str {
    let text = response["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{response}"))
}

// A-18: nobody is asked, and the caller reads why; nothing else is lost.
#[tokio::test]
async fn clients_of_the_newest_revision() {
    let service = service();
    let client = raw(&service).await;
    let call = |name: &str| json!({ "name": name, "arguments": {} });
    let refused = sent(&client, "tools/call", call("greet")).await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(
        text(&refused).contains("with the feature `ask`"),
        "{refused}"
    );
    let refused = sent(&client, "prompts/get", json!({ "name": "topic" })).await;
    let error = &refused["error"];
    assert!(
        error["code"].is_i64() && error["message"].as_str().unwrap().contains("`ask`"),
        "{refused}"
    );
    let refused = sent(&client, "tools/call", call("low_level")).await;
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    let done = sent(&client, "tools/call", call("step")).await;
    assert_eq!(text(&done), "7");
}

// T-8: a state that this server cannot have made is refused, and answers alone are no state.
#[tokio::test]
async fn states_and_answers() {
    let service = service();
    let client = raw(&service).await;
    for state in ["", "AAAA", "a state"] {
        let params = json!({ "name": "step", "arguments": {}, "requestState": state });
        let refused = sent(&client, "tools/call", params).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert_eq!(refused["error"]["data"]["pointer"], "/params/requestState");
    }
    let name = json!({ "action": "accept", "content": { "answer": "Ann" } });
    let params = json!({ "name": "greet", "arguments": {}, "inputResponses": { "name": name } });
    assert_eq!(text(&sent(&client, "tools/call", params).await), "Ann");
}

// W-15: a task keeps its future, so nothing has to be sealed.
#[tokio::test]
async fn tasks() {
    let service = service();
    let client = raw(&service).await;
    let created = sent(
        &client,
        "tools/call",
        json!({ "name": "confirm", "arguments": {} }),
    )
    .await;
    let id = &created["result"]["taskId"];
    assert!(id.is_string(), "{created}");
    let until = async |status: &str| {
        soon(async {
            loop {
                let task = sent(&client, "tasks/get", json!({ "taskId": id })).await;
                if task["result"]["status"] == status {
                    return task;
                }
                assert!(task["result"]["status"].is_string(), "{task}");
                tokio::task::yield_now().await;
            }
        })
        .await
    };
    let asking = until("input_required").await;
    assert!(
        asking["result"]["inputRequests"]["confirm"].is_object(),
        "{asking}"
    );
    let yes = json!({ "confirm": { "action": "accept", "content": { "answer": true } } });
    sent(
        &client,
        "tasks/update",
        json!({ "taskId": id, "inputResponses": yes }),
    )
    .await;
    let task = until("completed").await;
    assert_eq!(
        task["result"]["result"]["content"][0]["text"],
        "Accepted(true)"
    );
}

// Q-1: as with the feature.
#[tokio::test]
async fn older_clients() {
    let service = service();
    for revision in ["2025-06-18", "2025-11-25"] {
        let client = raw(&service).await;
        for line in initialize(revision, r#"{"elicitation":{}}"#) {
            client.send_raw(line).unwrap();
        }
        next(&client).await;
        let call = legacy("9", "tools/call", r#"{"name":"greet","arguments":{}}"#);
        client.send_raw(call).unwrap();
        let asked = next(&client).await;
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        let answer = json!({ "action": "accept", "content": { "answer": "Ann" } });
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer });
        client.send_raw(answer.to_string()).unwrap();
        assert_eq!(text(&next(&client).await), "Ann", "{revision}");
    }
}
