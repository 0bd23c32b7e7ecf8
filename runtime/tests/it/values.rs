//! Values as peers send them, where the published schemas mislead: unknown members, unions, numbers, what one revision dropped.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use trueform::{
    Policy,
    client::{Answering, ClientError, ClientHandler, ClientOptions},
    prelude::*,
    schema::{
        At, CallToolOutcome, CallToolResult, ClientCapabilities, Conform, ElicitResult,
        InputRequiredResult, Meta, ReadResourceOutcome, ServerCapabilities, Tool, decode,
    },
};

use crate::{
    client::{against, discovered, play_legacy},
    support::{Collected, conversation, initialize, joined, log, service, soon},
};

fn of<T: DeserializeOwned>(value: &Value) -> T {
    decode::from_str(&value.to_string()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

fn at<T: Conform>(value: &T, revision: Revision) -> Value {
    At::new(value, revision).to_json().to_value()
}

// A-19: members that nobody knows come out as they went in, where objects are open.
#[test]
fn unknown_members_are_kept() {
    fn kept<T: DeserializeOwned + Conform>(value: Value) {
        for revision in Revision::ALL {
            let written = at(&of::<T>(&value), revision);
            assert_eq!(
                written["com.example/new"], value["com.example/new"],
                "{revision}"
            );
        }
    }
    let new = json!({ "deep": [1, null, 0.5, { "a": "b" }] });
    kept::<CallToolResult>(json!({ "content": [], "com.example/new": new }));
    kept::<ServerCapabilities>(json!({ "com.example/new": new }));
    kept::<ClientCapabilities>(json!({ "com.example/new": new }));
    let meta = json!({ "com.example/new": new });
    let result = of::<CallToolResult>(&json!({ "content": [], "_meta": meta }));
    for revision in Revision::ALL {
        assert_eq!(at(&result, revision)["_meta"], meta, "{revision}");
    }
    let read: Meta = of(&meta);
    assert_eq!(read.get("com.example/new").unwrap().to_value(), new);
}

// TRAP-01: `resultType` decides, whatever else a result has; the union's first alternative would match nearly anything.
#[test]
fn the_result_type_decides() {
    let both = |kind: &str| json!({ "resultType": kind, "content": [], "inputRequests": {}, "requestState": "s" });
    assert!(matches!(
        of::<CallToolOutcome>(&both("complete")),
        CallToolOutcome::Complete(_)
    ));
    assert!(matches!(
        of::<CallToolOutcome>(&both("input_required")),
        CallToolOutcome::InputRequired(InputRequiredResult { request_state: Some(state), .. }) if state == "s"
    ));
    // Neither of the two that it looks like.
    let error = decode::from_str::<CallToolOutcome>(&both("later").to_string()).unwrap_err();
    assert_eq!(error.pointer(), "/resultType", "{error}");
    // The specification's own example lacks `ttlMs`, and is a result all the same.
    let example =
        json!({ "resultType": "complete", "contents": [{ "uri": "file:///a", "text": "x" }] });
    assert!(matches!(
        of::<ReadResourceOutcome>(&example),
        ReadResourceOutcome::Complete(read) if read.contents.len() == 1
    ));
}

// TRAP-02: numbers are numbers, and settings are any JSON, although one of the two published schemas says less.
#[test]
fn numbers_that_the_schema_forgot() {
    for number in [json!(0.5), json!(-2.25), json!(3)] {
        let entered = json!({ "action": "accept", "content": { "n": number } });
        let read: ElicitResult = of(&entered);
        for revision in [
            Revision::V2025_06_18,
            Revision::V2025_11_25,
            Revision::LATEST,
        ] {
            let written = At::new(&read, revision);
            assert!(written.conform().is_ok(), "{number} at {revision}");
            let written = &written.to_json().to_value()["content"]["n"];
            assert_eq!(written.as_f64(), number.as_f64(), "{revision}");
        }
    }
    let settings =
        json!({ "extensions": { "com.example/own": { "share": 0.5, "none": null, "count": 3 } } });
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let client: ClientCapabilities = of(&settings);
        assert!(At::new(&client, revision).conform().is_ok(), "{revision}");
        assert_eq!(at(&client, revision)["extensions"], settings["extensions"]);
        let server: ServerCapabilities = of(&settings);
        assert_eq!(at(&server, revision)["extensions"], settings["extensions"]);
    }
}

// I-16: `execution` was for the tasks of one revision, and the newest one does not have it.
#[test]
fn execution_of_one_revision() {
    let tool: Tool = of(&json!({
        "name": "t", "inputSchema": { "type": "object" }, "execution": { "taskSupport": "optional" },
    }));
    for revision in Revision::ALL {
        let expected = match revision {
            Revision::V2025_11_25 => json!({ "taskSupport": "optional" }),
            _ => Value::Null,
        };
        assert_eq!(at(&tool, revision)["execution"], expected, "{revision}");
    }
}

// I-16: a call may end in a question, at the newest revision only.
#[tokio::test]
async fn a_question_in_place_of_a_result() {
    let asked = json!({ "resultType": "input_required", "requestState": "s" });
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let asked = asked.clone();
        let (connecting, playing) =
            against(ClientOptions::at(revision), move |mut mock| async move {
                let opening = mock.next().await.unwrap();
                if opening["method"] == "server/discover" {
                    mock.result(&opening, discovered(&["2026-07-28"])).await;
                } else {
                    play_legacy(&mut mock, &opening).await;
                }
                let first = mock.next().await.unwrap();
                mock.result(&first, asked).await;
                let Some(again) = mock
                    .next()
                    .await
                    .filter(|next| next["method"] == "tools/call")
                else {
                    return false;
                };
                assert_eq!(again["params"]["requestState"], "s");
                let done = json!({ "resultType": "complete", "content": [] });
                mock.result(&again, done).await;
                true
            });
        let client = connecting.await.unwrap();
        let called = soon(async { client.call_tool("t", ()).await }).await;
        drop(client);
        let repeated = soon(playing).await.unwrap();
        if revision == Revision::LATEST {
            assert!(called.is_ok() && repeated, "{called:?}");
        } else {
            assert!(matches!(called, Err(ClientError::Local(_))), "{called:?}");
            assert!(!repeated);
        }
    }
}

/// Notes what it is asked, and agrees.
struct Agrees(Arc<Collected<String>>);

impl ClientHandler for Agrees {
    fn answer(&self, method: &str, _: Option<trueform::schema::Json>) -> Answering<'_> {
        self.0.push(method.to_owned());
        Box::pin(std::future::ready(Ok(json!({ "action": "cancel" }).into())))
    }
}

// B-12: what only one revision requires is missed at that revision, from a client and from a server.
#[tokio::test]
async fn what_one_revision_requires() {
    let params = json!({ "mode": "url", "message": "m", "url": "https://example.com" });
    let mut whole = params.clone();
    whole["elicitationId"] = "7".into();
    for (params, is_asked) in [(params, false), (whole, true)] {
        let asked = Arc::<Collected<String>>::default();
        let declared = serde_json::from_value(json!({ "elicitation": { "url": {} } })).unwrap();
        let options = ClientOptions::at(Revision::V2025_11_25)
            .capabilities(declared)
            .handler(Agrees(asked.clone()));
        let (connecting, playing) = against(options, move |mut mock| async move {
            let opening = mock.next().await.unwrap();
            play_legacy(&mut mock, &opening).await;
            let ask = json!({ "jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params });
            mock.send(ask).await;
            mock.next().await.unwrap()
        });
        let client = connecting.await.unwrap();
        let answer = soon(playing).await.unwrap();
        drop(client);
        if is_asked {
            assert_eq!(answer["result"]["action"], "cancel", "{answer}");
        } else {
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
            let data = &answer["error"]["data"];
            assert_eq!(data["pointer"], "/params/elicitationId", "{answer}");
            assert_eq!(data["rule"], "missing", "{answer}");
        }
        assert_eq!(asked.take().len(), usize::from(is_asked));
    }

    // Without the id a cancellation is one of a task, which the other revisions do not have.
    for (revision, is_fine) in [
        ("2024-11-05", false),
        ("2025-03-26", false),
        ("2025-06-18", false),
        ("2025-11-25", true),
    ] {
        let logged = log();
        let mut lines = initialize(revision).to_vec();
        lines.push(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"r"}}"#
                .to_owned(),
        );
        conversation(&service(), joined(lines)).await;
        let logged = logged.take();
        let line = logged
            .iter()
            .any(|line| line.contains("/params/requestId") && line.contains("missing"));
        assert_eq!(line, !is_fine, "{revision}: {logged:#?}");
    }
}

// A result that its revision does not allow is what the policy makes of it, and is logged.
#[tokio::test]
async fn results_under_each_policy() {
    let content = json!([{ "type": "text", "text": "t", "annotations": { "priority": 5 } }]);
    for (policy, is_error, is_logged) in [
        (Policy::Enforce, true, true),
        (Policy::Warn, false, true),
        (Policy::Off, false, false),
    ] {
        let options = ClientOptions::at(Revision::V2025_11_25).incoming(policy);
        let content = content.clone();
        let (connecting, playing) = against(options, move |mut mock| async move {
            let opening = mock.next().await.unwrap();
            play_legacy(&mut mock, &opening).await;
            let call = mock.next().await.unwrap();
            mock.result(&call, json!({ "content": content })).await;
            mock
        });
        let client = connecting.await.unwrap();
        let logged = log();
        let called = soon(async { client.call_tool("t", ()).await }).await;
        drop(soon(playing).await.unwrap());
        match called {
            Ok(result) => {
                let priority =
                    &at(&result, Revision::V2025_11_25)["content"][0]["annotations"]["priority"];
                assert_eq!(
                    (priority.as_f64(), is_error),
                    (Some(5.0), false),
                    "{policy:?}"
                );
            }
            Err(error) => {
                let place = error
                    .to_string()
                    .contains("/content/0/annotations/priority");
                assert!(place && is_error, "{policy:?}: {error}");
            }
        }
        let logged = logged.take();
        let line = logged.iter().any(|line| {
            line.starts_with("WARN") && line.contains("/content/0/annotations/priority")
        });
        assert_eq!(line, is_logged, "{policy:?}: {logged:#?}");
    }
}
