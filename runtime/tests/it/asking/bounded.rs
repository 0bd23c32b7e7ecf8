//! How often one call may ask: the same bound in both eras, whichever way it asks.

use serde_json::json;
use trueform::{
    AskError,
    prelude::*,
    schema::{ElicitRequestParams, methods::Elicit},
};

#[cfg(feature = "ask")]
use super::keys;
use super::{
    accept,
    legacy::{answer, call, next, opened, text},
};

/// Asks for ever.
#[tool]
async fn nosy(context: Context) -> Result<String, ToolError> {
    for number in 0.. {
        let _: Asked<bool> = context.ask(format!("more {number}"), "More?").await?;
    }
    Ok(String::new())
}

/// Asks for ever by requests.
#[tool]
async fn pushy(context: Context) -> Result<String, ToolError> {
    let form: ElicitRequestParams = serde_json::from_value(
        json!({ "message": "More?", "requestedSchema": { "type": "object", "properties": {} } }),
    )?;
    for number in 0.. {
        match context.request::<Elicit>(form.clone()).await {
            Err(AskError::TooManyRounds(limit)) => return Ok(format!("{number} of {limit}")),
            other => drop(other?),
        }
    }
    Ok(String::new())
}

/// Asks for ever, and gives each question up at once.
#[tool]
async fn fickle(context: Context) -> Result<String, ToolError> {
    for number in 0.. {
        let question = context.ask::<bool>(format!("more {number}"), "More?");
        tokio::select! {
            biased;
            answer = question => drop(answer?),
            () = tokio::task::yield_now() => {}
        }
    }
    Ok(String::new())
}

/// Asks two things after each other, and two others beside them.
#[tool]
async fn pairs(context: Context) -> Result<String, ToolError> {
    let pair = async |name: &str| -> Result<(), AskError> {
        let _: Asked<bool> = context.ask(format!("{name} first"), "More?").await?;
        let _: Asked<bool> = context.ask(format!("{name} second"), "More?").await?;
        Ok(())
    };
    let (one, other) = tokio::join!(pair("one"), pair("other"));
    one.and(other)?;
    Ok("four answers".to_owned())
}

/// Tries to ask until there is room, and there never is.
#[tool]
async fn patient(context: Context) -> Result<String, ToolError> {
    for _ in 0..20 {
        match context.ask::<bool>("sure", "Sure?").await {
            Err(AskError::TooMany(_)) => tokio::task::yield_now().await,
            other => drop(other?),
        }
    }
    Ok("no room".to_owned())
}

// T-11: a question that was not sent is not a round.
#[tokio::test]
async fn questions_without_room() {
    let server = Server::new("bounded", "1").tools(tools![patient]);
    let service = server.max_asks(0, 0).ask_rounds(3).build().unwrap();
    let client = opened(&service, "2025-11-25", r#"{"elicitation":{}}"#).await;
    call(&client, "patient");
    assert_eq!(text(&next(&client).await), "no room");
}

fn server(rounds: u32) -> trueform::Service {
    let server = Server::new("bounded", "1").tools(tools![nosy, pushy, fickle, pairs]);
    server.ask_rounds(rounds).build().unwrap()
}

// T-11: in the legacy era, where no result of the call counts the rounds.
#[tokio::test]
async fn requests() {
    for rounds in [1, 3] {
        let service = server(rounds);
        for revision in ["2025-06-18", "2025-11-25"] {
            let client = opened(&service, revision, r#"{"elicitation":{}}"#).await;
            let right = json!({ "result": accept(json!({ "answer": true })) });
            for tool in ["nosy", "pushy"] {
                call(&client, tool);
                for _ in 0..rounds {
                    let asked = next(&client).await;
                    assert_eq!(asked["method"], "elicitation/create", "{asked}");
                    answer(&client, &asked, &right);
                }
                let last = next(&client).await;
                match tool {
                    "pushy" => assert_eq!(text(&last), format!("{rounds} of {rounds}")),
                    _ => {
                        assert_eq!(last["result"]["isError"], true, "{last}");
                        let expected = format!("asked {rounds} times in this call");
                        assert!(text(&last).contains(&expected), "{last}");
                    }
                }
            }
            call(&client, "fickle");
            for _ in 0..rounds {
                assert_eq!(next(&client).await["method"], "elicitation/create");
                assert_eq!(next(&client).await["method"], "notifications/cancelled");
            }
            assert!(text(&next(&client).await).contains("times in this call"));
        }
    }
}

// T-11: what waits at the same time is one round, in both eras.
#[cfg(feature = "ask")]
#[tokio::test]
async fn questions_at_once() {
    for (rounds, is_enough) in [(1, false), (2, true)] {
        let service = server(rounds);
        let right = accept(json!({ "answer": true }));
        let client = opened(&service, "2025-11-25", r#"{"elicitation":{}}"#).await;
        call(&client, "pairs");
        let [one, other] = [next(&client).await, next(&client).await];
        for asked in [one, other] {
            answer(&client, &asked, &json!({ "result": right }));
        }
        if is_enough {
            for _ in 0..2 {
                let asked = next(&client).await;
                answer(&client, &asked, &json!({ "result": right }));
            }
        }
        let last = next(&client).await;
        assert_eq!(last["result"]["isError"] != true, is_enough, "{last}");

        let peer = super::Peer::able(&service).await;
        let mut last = peer.call("pairs", json!({})).await;
        for _ in 0..rounds {
            assert_eq!(keys(&last).len(), 2, "{last}");
            let answers = keys(&last)
                .into_iter()
                .map(|key| (key.to_owned(), right.clone()));
            let answers = answers.collect::<serde_json::Map<_, _>>().into();
            last = peer.again("pairs", json!({}), &last, answers).await;
        }
        assert_eq!(last["result"]["isError"] != true, is_enough, "{last}");
    }
}

// T-11: a call that brings answers without a state is in its first round, whatever the answers are.
#[cfg(feature = "ask")]
#[tokio::test]
async fn answers_without_a_state() {
    let right = accept(json!({ "answer": true }));
    for (rounds, given, expected) in [
        (1, json!({ "more 0": right }), None),
        (1, json!({ "unknown": right }), None),
        (
            1,
            json!({ "more 0": { "action": "accept", "content": {} } }),
            None,
        ),
        // Without an answer it is a call like any other.
        (1, json!({}), Some("more 0")),
        (1, json!({ "more 0": null }), Some("more 0")),
        (2, json!({ "more 0": right }), Some("more 1")),
        (
            2,
            json!({ "more 0": right, "more 1": right }),
            Some("more 2"),
        ),
    ] {
        let peer = super::Peer::able(&server(rounds)).await;
        let first = json!({ "name": "nosy", "arguments": {}, "inputResponses": given });
        for _ in 0..2 {
            let response = peer.send("tools/call", first.clone()).await;
            match expected {
                Some(key) => assert_eq!(keys(&response), [key], "{rounds} {given}"),
                None => {
                    assert_eq!(response["result"]["isError"], true, "{given}: {response}");
                    let words = format!("asked {rounds} times in this call");
                    assert!(super::text(&response).contains(&words), "{response}");
                }
            }
        }
    }
    // The rounds of the state that follows count from there.
    let peer = super::Peer::able(&server(2)).await;
    let first = json!({ "name": "nosy", "arguments": {}, "inputResponses": { "more 0": right } });
    let second = peer.send("tools/call", first).await;
    let answer = json!({ "more 1": right });
    let last = peer.again("nosy", json!({}), &second, answer).await;
    assert_eq!(last["result"]["isError"], true, "{last}");
}
