//! States that were changed, or made for something else, and answers of the wrong form: each is refused or asked for again, and other
//! calls go on.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use trueform::prelude::*;

use super::{Peer, accept, keys, state, text};

/// Transfers an amount.
#[tool]
async fn transfer(context: Context, amount: f64) -> Result<String, ToolError> {
    let sure = context.ask::<bool>("sure", "Sure?").await?;
    Ok(format!("{amount} {sure:?}"))
}

/// Asks under the same key.
#[tool]
async fn other(context: Context, amount: f64) -> Result<String, ToolError> {
    let sure = context.ask::<bool>("sure", "Sure?").await?;
    Ok(format!("other {amount} {sure:?}"))
}

/// Never asks.
#[tool]
fn silent(amount: f64) -> String {
    format!("silent {amount}")
}

/// Asks, too.
#[prompt]
async fn asking(context: Context) -> Result<String, ToolError> {
    let topic = context.ask::<String>("sure", "About what?").await?;
    Ok(format!("{topic:?}"))
}

/// A tool with the name and the params of the prompt.
#[tool(name = "asking")]
async fn asking_tool(context: Context) -> Result<String, ToolError> {
    let sure = context.ask::<bool>("sure", "Sure?").await?;
    Ok(format!("{sure:?}"))
}

/// Asks for ever.
#[tool]
async fn nosy(context: Context) -> Result<String, ToolError> {
    for number in 0.. {
        let _: Asked<bool> = context.ask(format!("more {number}"), "More?").await?;
    }
    Ok(String::new())
}

/// Asks for a text.
#[tool]
async fn essay(context: Context) -> Result<String, ToolError> {
    let essay: Asked<String> = context.ask("essay", "Write.").await?;
    let title: Asked<String> = context.ask("title", "And the title?").await?;
    Ok(format!(
        "{} {title:?}",
        essay.accepted().unwrap_or_default().len()
    ))
}

fn server() -> Server {
    Server::new("bank", "1")
        .tools(tools![transfer, other, asking_tool, silent, nosy, essay])
        .prompts(prompts![asking])
}

fn service(keys: &[[u8; 32]]) -> trueform::Service {
    let server = server().ask_keys(keys.iter().copied());
    server.build().unwrap()
}

const OLD: [u8; 32] = [1; 32];
const NEW: [u8; 32] = [2; 32];

fn yes() -> Value {
    json!({ "sure": accept(json!({ "answer": true })) })
}

/// Sends `params` with answers and `state`; returns the refusal's rule after checking its form.
async fn refused(peer: &Peer, method: &str, mut params: Value, state: &str) -> String {
    params["inputResponses"] = yes();
    params["requestState"] = state.into();
    let refused = peer.send(method, params).await;
    let error = &refused["error"];
    assert_eq!(error["code"], -32602, "{refused}");
    assert_eq!(
        error["data"]["pointer"], "/params/requestState",
        "{refused}"
    );
    // Other calls go on.
    assert_eq!(
        text(&peer.call("silent", json!({ "amount": 1 })).await),
        "silent 1"
    );
    error["data"]["rule"].as_str().unwrap().to_owned()
}

// T-8: cut, changed, lengthened, of another kind.
#[tokio::test]
async fn changed_states() {
    let peer = Peer::able(&service(&[OLD])).await;
    let call = json!({ "name": "transfer", "arguments": { "amount": 5 } });
    let asked = peer.send("tools/call", call.clone()).await;
    let sealed = state(&asked);
    let mut flipped = sealed.to_owned().into_bytes();
    let middle = flipped.len() / 2;
    flipped[middle] = if flipped[middle] == b'A' { b'B' } else { b'A' };
    for changed in [
        String::from_utf8(flipped).unwrap(),
        sealed[..sealed.len() - 1].to_owned(),
        sealed[1..].to_owned(),
        sealed[..middle].to_owned(),
        format!("{sealed}-TAMPERED"),
        format!("{sealed}="),
        format!(" {sealed}"),
        format!("{sealed}{sealed}"),
        String::new(),
        "state".to_owned(),
        "A".repeat(1 << 20),
    ] {
        let rule = refused(&peer, "tools/call", call.clone(), &changed).await;
        assert_eq!(rule, "sealed");
    }
    // As it came, it is fine.
    let done = peer
        .again("transfer", json!({ "amount": 5 }), &asked, yes())
        .await;
    assert_eq!(text(&done), "5 Accepted(true)");
}

// T-9: for other params, another tool, another method.
#[tokio::test]
async fn states_of_other_requests() {
    let peer = Peer::able(&service(&[OLD])).await;
    let asked = peer.call("transfer", json!({ "amount": 5 })).await;
    for (method, params) in [
        (
            "tools/call",
            json!({ "name": "transfer", "arguments": { "amount": 6 } }),
        ),
        (
            "tools/call",
            json!({ "name": "transfer", "arguments": { "amount": 5, "more": 1 } }),
        ),
        ("tools/call", json!({ "name": "transfer" })),
        (
            "tools/call",
            json!({ "name": "other", "arguments": { "amount": 5 } }),
        ),
        (
            "tools/call",
            json!({ "name": "silent", "arguments": { "amount": 5 } }),
        ),
        ("prompts/get", json!({ "name": "asking" })),
        ("prompts/get", json!({ "name": "asking", "arguments": {} })),
    ] {
        assert_eq!(
            refused(&peer, method, params, state(&asked)).await,
            "sealed"
        );
    }
    // Only the method differs.
    let named = json!({ "name": "asking" });
    let by_tool = peer.send("tools/call", named.clone()).await;
    assert_eq!(
        refused(&peer, "prompts/get", named, state(&by_tool)).await,
        "sealed"
    );
    // Another spelling of the same params is the same.
    let same = json!({ "amount": 5.0 });
    assert_eq!(
        text(&peer.again("transfer", same, &asked, yes()).await),
        "5 Accepted(true)"
    );
    // A state does not let anything be asked that was not declared, nor does it stand in for what was (C-6).
    let asked = peer.call("transfer", json!({ "amount": 5 })).await;
    let params = json!({
        "name": "transfer", "arguments": { "amount": 5 }, "requestState": state(&asked),
    });
    let undeclared = peer.send_as(&json!({}), "tools/call", params).await;
    assert_eq!(undeclared["error"]["code"], -32021, "{undeclared}");
}

/// Asks whether a value is right; types read repeated members in their own way.
#[tool]
async fn checked(context: Context, value: Value) -> Result<String, ToolError> {
    let sure = context.ask::<bool>("sure", "Sure?").await?;
    Ok(format!("{value} {sure:?}"))
}

// T-9: two texts that the code may read in two ways are different params.
#[tokio::test]
async fn repeated_members() {
    let service = Server::new("bank", "1").tools(tools![checked]);
    let peer = Peer::able(&service.ask_keys([OLD]).build().unwrap()).await;
    let call = |value: &str, more: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"checked","arguments":{{"value":{value}}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{"elicitation":{{}}}}}}{more}}}}}"#
        )
    };
    let asked = peer.send_text(call(r#"{"amount":5}"#, "")).await;
    let more = format!(
        r#","requestState":"{}","inputResponses":{{"sure":{{"action":"accept","content":{{"answer":true}}}}}}"#,
        state(&asked)
    );
    for other in [
        r#"{"amount":6,"amount":5}"#,
        r#"{"amount":5,"amount":5}"#,
        r#"{"amount":5,"a\u006dount":6}"#,
    ] {
        let refused = peer.send_text(call(other, &more)).await;
        assert_eq!(
            refused["error"]["data"]["pointer"], "/params/requestState",
            "{refused}"
        );
    }
    let done = peer.send_text(call(r#"{ "amount": 5.0 }"#, &more)).await;
    assert!(text(&done).ends_with("Accepted(true)"), "{done}");
}

// T-8, T-9: of another server, with another key, with an older one.
#[tokio::test]
async fn states_of_other_servers() {
    let call = json!({ "name": "transfer", "arguments": { "amount": 5 } });
    let peer = Peer::able(&service(&[OLD])).await;
    let asked = peer.send("tools/call", call.clone()).await;
    // Any replica with the key goes on; a deploy may change the version.
    let replica = Server::new("bank", "2").tools(tools![transfer, silent]);
    let replica = replica.ask_keys([NEW, OLD]).build().unwrap();
    let replica = Peer::able(&replica).await;
    let done = replica
        .again("transfer", json!({ "amount": 5 }), &asked, yes())
        .await;
    assert_eq!(text(&done), "5 Accepted(true)");
    let newer = replica.send("tools/call", call.clone()).await;
    assert_eq!(
        refused(&peer, "tools/call", call.clone(), state(&newer)).await,
        "sealed"
    );
    // The old key is gone.
    let later = Peer::able(&service(&[NEW])).await;
    assert_eq!(
        refused(&later, "tools/call", call.clone(), state(&asked)).await,
        "sealed"
    );
    let named = Server::new("other bank", "1").tools(tools![transfer, silent]);
    let named = Peer::able(&named.ask_keys([OLD]).build().unwrap()).await;
    assert_eq!(
        refused(&named, "tools/call", call.clone(), state(&asked)).await,
        "sealed"
    );
    // Without keys each process has its own.
    let drawn = Peer::able(&server().build().unwrap()).await;
    assert_eq!(
        refused(&drawn, "tools/call", call.clone(), state(&asked)).await,
        "sealed"
    );
    let asked = drawn.send("tools/call", call.clone()).await;
    let done = drawn
        .again("transfer", json!({ "amount": 5 }), &asked, yes())
        .await;
    assert_eq!(text(&done), "5 Accepted(true)");
}

// T-9
#[tokio::test]
async fn expired_states() {
    let server = server()
        .ask_expiry(Duration::from_nanos(1))
        .build()
        .unwrap();
    let peer = Peer::able(&server).await;
    let call = json!({ "name": "transfer", "arguments": { "amount": 5 } });
    let asked = peer.send("tools/call", call.clone()).await;
    assert_eq!(
        refused(&peer, "tools/call", call, state(&asked)).await,
        "expired"
    );
}

// Two replicas behind a round-robin: each round goes to the other one.
#[tokio::test]
async fn replicas_share_a_key() {
    let replicas = [service(&[OLD]), service(&[OLD])];
    let peers = [
        Peer::able(&replicas[0]).await,
        Peer::able(&replicas[1]).await,
    ];
    let first = peers[0].call("essay", json!({})).await;
    let answer = json!({ "essay": accept(json!({ "answer": "long" })) });
    let second = peers[1].again("essay", json!({}), &first, answer).await;
    assert_eq!(keys(&second), ["title"]);
    let answer = json!({ "title": accept(json!({ "answer": "short" })) });
    let third = peers[0].again("essay", json!({}), &second, answer).await;
    assert_eq!(text(&third), "4 Accepted(\"short\")");
}

// T-11: a handler that asks for ever, and a client that never answers.
#[tokio::test]
async fn rounds_are_bounded() {
    for rounds in [1, 3] {
        let service = server().ask_rounds(rounds).build().unwrap();
        let peer = Peer::able(&service).await;
        for answers in [true, false] {
            let mut response = peer.call("nosy", json!({})).await;
            for round in 1..rounds {
                let key = keys(&response)[0].to_owned();
                let expected = if answers { round - 1 } else { 0 };
                assert_eq!(key, format!("more {expected}"));
                let answer = match answers {
                    true => json!({ key: accept(json!({ "answer": true })) }),
                    false => json!({}),
                };
                response = peer.again("nosy", json!({}), &response, answer).await;
            }
            let key = keys(&response)[0].to_owned();
            let answer = match answers {
                true => json!({ key: accept(json!({ "answer": true })) }),
                false => json!({}),
            };
            let last = peer.again("nosy", json!({}), &response, answer).await;
            assert_eq!(last["result"]["isError"], true, "{last}");
            assert!(
                text(&last).contains(&format!("asked {rounds} times")),
                "{last}"
            );
        }
    }
}

// An answer that does not fit into the state is refused; the call that it completes has no need of one.
#[tokio::test]
async fn large_answers() {
    let service = service(&[OLD]);
    let peer = Peer::able(&service).await;
    let asked = peer.call("essay", json!({})).await;
    let long = json!({ "essay": accept(json!({ "answer": "x".repeat(10 << 20) })) });
    let refused = peer.again("essay", json!({}), &asked, long).await;
    let error = &refused["error"];
    assert_eq!(error["code"], -32602, "{error}");
    assert_eq!(
        error["data"]["pointer"], "/params/inputResponses/essay",
        "{error}"
    );
    assert_eq!(error["data"]["rule"], "size", "{error}");
    assert_eq!(
        text(&peer.call("silent", json!({ "amount": 1 })).await),
        "silent 1"
    );
    // Those to questions that nobody asked are ignored, however large.
    let other = json!({ "other": accept(json!({ "answer": "x".repeat(10 << 20) })) });
    assert_eq!(
        keys(&peer.again("essay", json!({}), &asked, other).await),
        ["essay"]
    );
    let most = 1 << 20;
    let both = json!({
        "essay": accept(json!({ "answer": "x".repeat(most) })),
        "title": accept(json!({ "answer": "t" })),
    });
    let done = peer.again("essay", json!({}), &asked, both).await;
    assert_eq!(text(&done), format!("{most} Accepted(\"t\")"));
}

// T-11: an abandoned call leaves nothing behind.
#[tokio::test]
async fn abandoned_calls() {
    let held = Arc::new(());
    let service = Server::new("bank", "1")
        .tools(tools![held_by])
        .state(held.clone())
        .build()
        .unwrap();
    let peer = Peer::able(&service).await;
    let before = Arc::strong_count(&held);
    for _ in 0..3 {
        keys(&peer.call("held_by", json!({})).await);
        assert_eq!(Arc::strong_count(&held), before, "the future is dropped");
    }
}

/// Holds something while it asks.
#[tool]
async fn held_by(context: Context, held: State<Arc<()>>) -> Result<String, ToolError> {
    let held = held.0.clone();
    tokio::task::yield_now().await;
    let answer: Asked<bool> = context.ask("a", "A?").await?;
    drop(held);
    Ok(format!("{answer:?}"))
}
