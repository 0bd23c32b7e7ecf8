//! Lists that a client reads by pages, and what it keeps of the tools: the schemas that their results are held to.

use std::{future::IntoFuture, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use trueform::{
    Policy,
    client::{Client, ClientError, ClientOptions, LocalError},
    prelude::*,
    schema::{Task, Tool},
};

use crate::{
    client::{Mock, against, play_legacy},
    support::soon,
};

#[derive(Debug, Deserialize, PartialEq)]
struct Sum {
    sum: i64,
}

fn tools(sum: &str) -> Value {
    let schema =
        json!({ "type": "object", "properties": { "sum": { "type": sum } }, "required": ["sum"] });
    json!({ "tools": [{ "name": "add", "inputSchema": { "type": "object" }, "outputSchema": schema }] })
}

fn sum(sum: Value) -> Value {
    json!({ "content": [], "structuredContent": { "sum": sum } })
}

/// A server of 2025-06-18 that answers so, in this order; before an answer that is an array it sends the elements but the last.
async fn playing(
    options: ClientOptions,
    script: Vec<(&'static str, Value)>,
) -> (Client, JoinHandle<()>) {
    let (connecting, playing) = against(options, |mut mock: Mock| async move {
        let request = mock.next().await.unwrap();
        play_legacy(&mut mock, &request).await;
        for (method, answer) in script {
            let request = mock.next().await.unwrap();
            assert_eq!(request["method"], method);
            let result = match answer {
                Value::Array(mut messages) => {
                    let result = messages.pop().unwrap();
                    for message in messages {
                        mock.send(message).await;
                    }
                    result
                }
                result => result,
            };
            mock.result(&request, result).await;
        }
        assert_eq!(mock.next().await, None, "nothing more is asked");
    });
    (connecting.await.unwrap(), playing)
}

fn at() -> ClientOptions {
    ClientOptions::at(Revision::V2025_06_18)
}

async fn add(client: &Client) -> Result<Sum, ClientError> {
    let call = client.call_tool("add", json!({})).output::<Sum>();
    soon(call.into_future()).await
}

fn changed() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })
}

// I-8: results are held to the schema that is listed; the list is read once, again after a change, and again before a result is refused.
#[tokio::test]
async fn outputs_are_held_to_their_schemas() {
    let (client, playing) = playing(
        at(),
        vec![
            ("tools/list", tools("integer")),
            ("tools/call", sum(json!(5))),
            ("tools/call", sum(json!(6))),
            // The server did not say so, but it allows more now.
            ("tools/call", sum(json!(7.0e0))),
            ("tools/call", json!([changed(), sum(json!(8))])),
            ("tools/list", tools("integer")),
            ("tools/call", sum(json!("nine"))),
            ("tools/list", tools("integer")),
            ("tools/call", json!({ "content": [] })),
            ("tools/list", tools("integer")),
        ],
    )
    .await;
    for expected in [5, 6, 7, 8] {
        match add(&client).await {
            Ok(Sum { sum }) => assert_eq!(sum, expected),
            // 7.0 is an integer for the schema, not for the type.
            Err(error @ ClientError::Local(LocalError::OutputType { .. })) => {
                assert_eq!(expected, 7);
                let error = error.to_string();
                assert!(
                    error.starts_with("the structured content of the tool `add` is not of the type `")
                        && error.contains("::Sum`, which `output` was called with: /structuredContent/sum: invalid type: "),
                    "{error}"
                );
            }
            Err(error) => panic!("{error}"),
        }
    }
    for expected in [
        r#"the result of the tool `add` does not fit its output schema: in /structuredContent: /sum: expected integer, found string "nine""#,
        "the result of the tool `add` does not fit its output schema: /structuredContent: missing, and the output schema requires it",
    ] {
        let error = add(&client).await.unwrap_err();
        assert!(
            matches!(error, ClientError::Local(LocalError::Output { .. })),
            "{error}"
        );
        assert_eq!(error.to_string(), expected);
    }
    soon(client.close()).await;
    soon(playing).await.unwrap();
}

// I-8: a schema that has changed without notice is read anew before a result is refused for it.
#[tokio::test]
async fn a_schema_that_has_changed() {
    let (client, playing) = playing(
        at(),
        vec![
            ("tools/list", tools("string")),
            ("tools/call", sum(json!(5))),
            ("tools/list", tools("integer")),
            ("tools/call", sum(json!(6))),
        ],
    )
    .await;
    assert_eq!(add(&client).await.unwrap(), Sum { sum: 5 });
    assert_eq!(add(&client).await.unwrap(), Sum { sum: 6 });
    soon(client.close()).await;
    soon(playing).await.unwrap();
}

// I-8: what is let in is what the policy says; a tool that fails has no output.
#[tokio::test]
async fn outputs_that_are_let_in() {
    let failed = json!({ "content": [{ "type": "text", "text": "no numbers" }], "isError": true });
    let (client, playing) = playing(
        at().incoming(Policy::Warn),
        vec![
            ("tools/list", tools("string")),
            ("tools/call", sum(json!(5))),
            ("tools/list", tools("string")),
            ("tools/call", failed),
        ],
    )
    .await;
    assert_eq!(add(&client).await.unwrap(), Sum { sum: 5 });
    let error = add(&client).await.unwrap_err();
    assert_eq!(error.to_string(), "the tool failed: no numbers");
    match error {
        ClientError::Local(LocalError::ToolFailed(result)) => {
            assert_eq!(result.text(), "no numbers");
        }
        other => panic!("{other}"),
    }
    soon(client.close()).await;
    soon(playing).await.unwrap();
}

// P-2, TRAP-19: page by page, empty ones included; after an error the page is asked for again.
#[tokio::test(start_paused = true)]
async fn lists_by_pages() {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let (connecting, playing) = against(at(), move |mut mock: Mock| async move {
        let request = mock.next().await.unwrap();
        play_legacy(&mut mock, &request).await;
        for (cursor, answer) in [
            (
                None,
                Some(json!({ "tools": [tool("a"), tool("a"), tool("b")], "nextCursor": "" })),
            ),
            (Some(""), None),
            (Some(""), Some(json!({ "tools": [], "nextCursor": "2" }))),
            (Some("2"), Some(json!({ "tools": [tool("c")] }))),
        ] {
            let request = mock.next().await.unwrap();
            assert_eq!(request["params"]["cursor"].as_str(), cursor);
            match answer {
                Some(page) => mock.result(&request, page).await,
                None => assert_eq!(
                    mock.next().await.unwrap()["method"],
                    "notifications/cancelled"
                ),
            }
        }
        assert_eq!(mock.next().await, None, "nothing more is asked");
    });
    let client = connecting.await.unwrap();
    let mut pages = client.pages::<Tool>().timeout(Duration::from_secs(1));
    let mut read = Vec::new();
    loop {
        match pages.next().await {
            Ok(Some(page)) => {
                read.push(
                    page.into_iter()
                        .map(|tool| tool.name)
                        .collect::<Vec<_>>()
                        .join(" "),
                );
            }
            Ok(None) => break,
            Err(ClientError::Local(LocalError::TimedOut(_))) => read.push("late".to_owned()),
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(read, ["a b", "late", "", "c"]);
    assert!(pages.next().await.unwrap().is_none());
    client.close().await;
    playing.await.unwrap();
}

// P-1, B-8: every list has pages; one that the revision does not have is not asked for.
#[tokio::test]
async fn a_list_that_the_revision_does_not_have() {
    let (client, playing) = playing(at(), vec![]).await;
    let error = client.pages::<Task>().next().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "tasks/list does not exist at revision 2025-06-18"
    );
    client.close().await;
    playing.await.unwrap();
}
