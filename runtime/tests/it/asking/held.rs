//! Answers to the low-level forms of questions, which the author wrote: held to the revision's schema and to what the question says,
//! whatever the server lets in elsewhere.

use serde_json::{Value, json};
use trueform::{
    AskError, Leniencies, Leniency, Policy, Service,
    prelude::*,
    schema::{
        CreateMessageRequestParams, ElicitOutcome, ElicitRequest, ElicitRequestParams,
        InputResponse,
        methods::{CreateMessage, Elicit, ListRoots},
    },
};

use super::legacy::{answer, call, next, opened, text};
#[cfg(feature = "ask")]
use super::{Peer, keys};

fn form() -> ElicitRequestParams {
    let form = json!({
        "message": "Who?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "username": { "type": "string" },
                "email": { "type": "string", "format": "email" },
            },
            "required": ["username"],
        },
    });
    serde_json::from_value(form).unwrap()
}

/// The JSON of an answer, or what is wrong with it.
fn said(answer: Result<Value, AskError>) -> String {
    match answer {
        Ok(answer) => answer.to_string(),
        Err(AskError::Malformed(error)) => format!("malformed at {}", error.pointer()),
        Err(error) => error.to_string(),
    }
}

/// Asks for a form by a request.
#[tool]
async fn requested(context: Context) -> String {
    let answer = context.request::<Elicit>(form()).await;
    said(answer.map(|outcome| match outcome {
        ElicitOutcome::Complete(answer) => serde_json::to_value(answer).unwrap(),
        other => json!(format!("{other:?}")),
    }))
}

/// Asks for a form by a question.
#[tool]
async fn questioned(context: Context) -> String {
    let answer = context.question("form", ElicitRequest::new(form())).await;
    said(answer.map(|answer| match answer {
        InputResponse::Elicit(answer) => serde_json::to_value(answer).unwrap(),
        other => json!(format!("{other:?}")),
    }))
}

/// Asks the model by a request.
#[tool]
async fn sampled(context: Context) -> String {
    let params: CreateMessageRequestParams =
        serde_json::from_value(json!({ "messages": [], "maxTokens": 1 })).unwrap();
    let answer = context.request::<CreateMessage>(params).await;
    said(answer.map(|outcome| serde_json::to_value(outcome).unwrap()["role"].clone()))
}

/// Asks for the roots by a request.
#[tool]
async fn rooted(context: Context) -> String {
    let answer = context.request::<ListRoots>(Default::default()).await;
    said(answer.map(|result| json!(result.roots.len())))
}

/// Asks for a form that nothing can be held to.
#[tool]
async fn unheld(context: Context) -> String {
    let mut form = serde_json::to_value(form()).unwrap();
    form["requestedSchema"]["properties"]["username"]["pattern"] = "(".into();
    let form: ElicitRequestParams = serde_json::from_value(form).unwrap();
    let requested = context.request::<Elicit>(form.clone()).await;
    let questioned = context.question("form", ElicitRequest::new(form)).await;
    match (requested, questioned) {
        (Err(AskError::NotAllowed(one)), Err(AskError::NotAllowed(other))) if one == other => one,
        other => format!("{other:?}"),
    }
}

fn services() -> Vec<(String, Service)> {
    let settings = [
        (Policy::Enforce, Leniencies::ALL),
        (
            Policy::Enforce,
            Leniencies::NONE
                .with(Leniency::UnknownValues)
                .with(Leniency::Formats),
        ),
        (Policy::Warn, Leniencies::ALL),
        (Policy::Off, Leniencies::ALL),
    ];
    let built = settings.map(|(policy, leniencies)| {
        let server = Server::new("held", "1")
            .tools(tools![requested, questioned, sampled, rooted, unheld])
            .incoming(policy)
            .lenient(leniencies);
        (
            format!("{policy:?} {leniencies:?}"),
            server.build().unwrap(),
        )
    });
    built.into()
}

const CAPABILITIES: &str = r#"{"elicitation":{},"sampling":{},"roots":{}}"#;

/// Answers to the form, and what is wrong with them.
fn elicited() -> Vec<(Value, Option<&'static str>)> {
    let accept = |content: Value| json!({ "action": "accept", "content": content });
    vec![
        (accept(json!({ "username": "Ann" })), None),
        (json!({ "action": "maybe" }), Some("/action")),
        (
            json!({ "action": "maybe", "content": { "username": "Ann" } }),
            Some("/action"),
        ),
        (accept(json!({ "username": 5 })), Some("/content/username")),
        (accept(json!({})), Some("/content/username")),
        (json!({ "action": "accept" }), Some("/content/username")),
        (
            accept(json!({ "username": "Ann", "email": "no" })),
            Some("/content/email"),
        ),
    ]
}

// R-5, B-8: what an author acts on is not guessed.
#[tokio::test]
async fn requests() {
    for (settings, service) in services() {
        for revision in ["2025-06-18", "2025-11-25"] {
            let client = opened(&service, revision, CAPABILITIES).await;
            let held = async |tool: &str, result: &Value| {
                call(&client, tool);
                let asked = next(&client).await;
                answer(&client, &asked, &json!({ "result": result }));
                text(&next(&client).await).to_owned()
            };
            for (result, fault) in elicited() {
                let expected = match fault {
                    None => result.to_string(),
                    Some(pointer) => format!("malformed at {pointer}"),
                };
                let found = held("requested", &result).await;
                assert_eq!(found, expected, "{settings} {revision}: {result}");
            }
            // R-7: what comes with a refusal is not held to the form.
            let refused = json!({ "action": "decline", "content": { "username": 5 } });
            assert_eq!(held("requested", &refused).await, refused.to_string());
            let message = |role: &str| json!({ "role": role, "model": "m", "content": { "type": "text", "text": "hi" } });
            for (tool, result, expected) in [
                ("sampled", message("assistant"), "\"assistant\""),
                ("sampled", message("robot"), "malformed at /role"),
                ("rooted", json!({ "roots": [{ "uri": "file:///a" }] }), "1"),
                (
                    "rooted",
                    json!({ "roots": [{ "uri": "https://a.example" }] }),
                    "malformed at /roots/0/uri",
                ),
            ] {
                let found = held(tool, &result).await;
                assert_eq!(found, expected, "{settings} {revision}: {result}");
            }
            // W-3: a task is no answer to a question that was not asked as one.
            let task = json!({ "taskId": "t", "status": "working", "createdAt": "2026-01-01T00:00:00Z",
                "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": null });
            for tool in ["requested", "sampled"] {
                let found = held(tool, &json!({ "task": task })).await;
                assert!(found.starts_with("malformed at "), "{settings}: {found}");
            }
            call(&client, "unheld");
            let refused = next(&client).await;
            assert!(
                text(&refused).contains("/properties/username/pattern"),
                "{refused}"
            );
        }
    }
}

// R-5, R-7: a question is asked again instead.
#[cfg(feature = "ask")]
#[tokio::test]
async fn questions() {
    let right = json!({ "action": "accept", "content": { "username": "Ann" } });
    for (settings, service) in services() {
        let client = opened(&service, "2025-11-25", CAPABILITIES).await;
        let peer = Peer::able(&service).await;
        for (wrong, fault) in elicited() {
            call(&client, "questioned");
            let asked = next(&client).await;
            answer(&client, &asked, &json!({ "result": wrong }));
            let first = peer.call("questioned", json!({})).await;
            let second = json!({ "form": wrong });
            let second = peer.again("questioned", json!({}), &first, second).await;
            if fault.is_none() {
                let found = next(&client).await;
                assert_eq!(text(&found), wrong.to_string(), "{settings}");
                assert_eq!(super::text(&second), wrong.to_string(), "{settings}");
                continue;
            }
            let again = next(&client).await;
            assert_eq!(again["params"], asked["params"], "{settings}: {wrong}");
            answer(&client, &again, &json!({ "result": right }));
            assert_eq!(text(&next(&client).await), right.to_string());
            assert_eq!(keys(&second), ["form"], "{settings}: {wrong}");
            let third = json!({ "form": right });
            let third = peer.again("questioned", json!({}), &second, third).await;
            assert_eq!(super::text(&third), right.to_string());
        }
        call(&client, "questioned");
        let asked = next(&client).await;
        let refused = json!({ "action": "cancel", "content": 5 });
        answer(&client, &asked, &json!({ "result": refused }));
        assert_eq!(text(&next(&client).await), r#"{"action":"cancel"}"#);
    }
}
