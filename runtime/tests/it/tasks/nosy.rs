//! Tasks that ask for ever.

use serde_json::{Value, json};
use trueform::{Service, client::ClientOptions, prelude::*, task::TaskStart};

use super::support::{EXTENSION, Peer, text};

/// Asks for ever.
#[tool(task = optional)]
async fn nosy(context: Context) -> Result<String, ToolError> {
    for number in 0.. {
        let _: Asked<bool> = context.ask(format!("more {number}"), "More?").await?;
    }
    Ok(String::new())
}

/// Asks before its task begins, and then for ever.
#[tool(task = required)]
async fn nosy_early(context: Context, start: TaskStart) -> Result<String, ToolError> {
    let _: Asked<bool> = context.ask("early", "More?").await?;
    start.begin().await?;
    for number in 0.. {
        let _: Asked<bool> = context.ask(format!("more {number}"), "More?").await?;
    }
    Ok(String::new())
}

const ROUNDS: u32 = 3;

fn service() -> Service {
    let server = Server::new("nosy", "1.0.0").tools(tools![nosy, nosy_early]);
    server.ask_rounds(ROUNDS).build().unwrap()
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "answer": true } })
}

#[track_caller]
fn gave_up(result: &Value) {
    assert_eq!(result["isError"], true, "{result}");
    let expected = format!("asked {ROUNDS} times in this call");
    assert!(text(result).contains(&expected), "{result}");
}

/// Answers what the task `id` asks, `rounds` times. Returns its result.
async fn answered(peer: &mut Peer, id: &str, rounds: u32) -> Value {
    for number in 0..rounds {
        let task = peer.until(id, "input_required").await;
        let key = format!("more {number}");
        assert!(task["inputRequests"][&key].is_object(), "{task}");
        let params = json!({ "taskId": id, "inputResponses": { key: yes() } });
        peer.request("tasks/update", params).await;
    }
    peer.until(id, "completed").await["result"].clone()
}

// T-11, W-15
#[tokio::test]
async fn with_the_state() {
    let service = service();
    let declared = json!({ "elicitation": {}, "extensions": { EXTENSION: {} } });
    let mut peer = Peer::modern_as(&service, ClientOptions::new(), &declared).await;
    let id = peer.start("nosy", json!({})).await;
    gave_up(&answered(&mut peer, &id, ROUNDS).await);
}

// T-11, W-17: the rounds before the task began count.
#[cfg(feature = "ask")]
#[tokio::test]
async fn before_it_begins() {
    let service = service();
    let declared = json!({ "elicitation": {}, "extensions": { EXTENSION: {} } });
    let mut peer = Peer::modern_as(&service, ClientOptions::new(), &declared).await;
    let first = peer.call("nosy_early", json!({})).await["result"].clone();
    let second = json!({
        "name": "nosy_early", "arguments": {}, "requestState": first["requestState"],
        "inputResponses": { "early": yes() },
    });
    let created = peer.request("tools/call", second).await["result"].clone();
    let id = created["taskId"].as_str().unwrap().to_owned();
    gave_up(&answered(&mut peer, &id, ROUNDS - 1).await);
}

// T-11, W-8
#[tokio::test]
async fn as_requests() {
    let service = service();
    let mut peer = Peer::legacy_with(&service, &json!({ "elicitation": {} })).await;
    for tool in ["nosy", "nosy_early"] {
        let id = peer.start(tool, json!({})).await;
        let waiting = peer.send("tasks/result", json!({ "taskId": id }));
        for _ in 0..ROUNDS {
            let question = peer.other_of("elicitation/create").await;
            peer.respond(&question["id"], yes());
        }
        gave_up(&peer.answer(waiting).await["result"]);
    }
}
