//! A client that awaits tasks, against servers that write every message by hand.

use std::{future::IntoFuture, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;
use trueform::{
    client::{Client, ClientError, ClientOptions, DEFAULT_POLL_INTERVAL, LocalError},
    prelude::*,
    schema::{ClientCapabilities, TaskStatus},
    testing::ScriptedUser,
};

use crate::{
    client::{Mock, against},
    client_calls::{heard, progress},
    support::soon,
};

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// What a script of a server expects of one request, and answers: the method, the params without `_meta`, result or error.
type Step = (&'static str, Value, Result<Value, Value>);

fn complete(text: &str) -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] })
}

fn created(interval: u64) -> Value {
    json!({ "resultType": "task", "taskId": "t1", "status": "working", "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": null, "pollIntervalMs": interval })
}

/// The result of `tasks/get` of the extension.
fn got(status: &str, more: Value) -> Value {
    let mut result = created(20);
    result["resultType"] = "complete".into();
    result["status"] = status.into();
    let more = more.as_object().unwrap().clone();
    result.as_object_mut().unwrap().extend(more);
    result
}

/// A task of 2025-11-25.
fn core(status: &str) -> Value {
    json!({ "taskId": "t1", "status": status, "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": 60000, "pollInterval": 20 })
}

fn call(task: Option<Value>) -> Value {
    let mut params = json!({ "name": "slow", "arguments": {} });
    if let Some(task) = task {
        params["task"] = task;
    }
    params
}

fn id() -> Value {
    json!({ "taskId": "t1" })
}

/// A connection at `revision` to a server that plays `script` and nothing else. What it returns is when each request came.
async fn playing(
    options: ClientOptions,
    revision: Revision,
    script: Vec<Step>,
) -> (Client, tokio::task::JoinHandle<Vec<Instant>>) {
    let options = options.negotiation(trueform::client::Negotiation::Exactly(revision));
    let is_modern = revision == Revision::V2026_07_28;
    let (connecting, playing) = against(options, move |mut mock: Mock| async move {
        let request = mock.next().await.unwrap();
        let version = revision.as_str();
        if is_modern {
            let capabilities = json!({ "tools": {}, "extensions": { TASKS: {} } });
            mock.result(&request, json!({ "resultType": "complete", "supportedVersions": [version], "capabilities": capabilities, "ttlMs": 0, "cacheScope": "private" })).await;
        } else {
            let tasks = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
            mock.result(&request, json!({ "protocolVersion": version, "capabilities": { "tools": {}, "tasks": tasks }, "serverInfo": { "name": "mock", "version": "1" } })).await;
            mock.next().await.unwrap();
        }
        let mut times = Vec::new();
        for (method, params, answer) in script {
            let request = mock
                .next()
                .await
                .unwrap_or_else(|| panic!("`{method}` did not come"));
            times.push(Instant::now());
            let mut sent = request["params"].clone();
            sent.as_object_mut().unwrap().remove("_meta");
            assert_eq!(
                (request["method"].as_str().unwrap(), sent),
                (method, params)
            );
            match answer {
                Ok(result) => mock.result(&request, result).await,
                Err(error) => {
                    mock.send(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }))
                        .await
                }
            }
        }
        assert_eq!(mock.next().await, None, "nothing more comes");
        times
    });
    (connecting.await.unwrap(), playing)
}

fn with_tasks() -> ClientOptions {
    let capabilities = json!({ "extensions": { TASKS: {} }, "elicitation": { "form": {} } });
    let capabilities: ClientCapabilities = serde_json::from_value(capabilities).unwrap();
    ClientOptions::new().capabilities(capabilities)
}

const MODERN: Revision = Revision::V2026_07_28;
const LEGACY: Revision = Revision::V2025_11_25;

// W-14, W-19, GAP-11: a plain call gets the result of the task that it became, and asks for it no more often than the server says.
#[tokio::test(start_paused = true)]
async fn a_call_awaits_its_task() {
    let mut odd = got("working", json!({ "pollIntervalMs": 3000 }));
    odd["resultType"] = "task".into();
    let script = vec![
        ("tools/call", call(None), Ok(created(200))),
        (
            "tasks/get",
            id(),
            Ok(got("working", json!({ "pollIntervalMs": 1000 }))),
        ),
        ("tasks/get", id(), Ok(odd)),
        (
            "tasks/get",
            id(),
            Ok(got("completed", json!({ "result": complete("done") }))),
        ),
    ];
    let (client, playing) = playing(with_tasks(), MODERN, script).await;
    let result = client.call_tool("slow", json!({})).await.unwrap();
    assert_eq!(result.text(), "done");
    client.close().await;
    let times = playing.await.unwrap();
    let waits: Vec<_> = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_millis())
        .collect();
    assert!(
        waits[0] >= 200 && waits[1] >= 1000 && waits[2] >= 3000,
        "{waits:?}"
    );
    assert!(waits.iter().sum::<u128>() < 4300, "{waits:?}");
}

// W-15: how a task may end, and an interval that the server does not name.
#[tokio::test(start_paused = true)]
async fn how_tasks_end() {
    let failure = json!({ "code": -32603, "message": "broken" });
    let tool_error = json!({ "resultType": "complete", "isError": true, "content": [] });
    let cases: Vec<(Value, &str)> = vec![
        (
            got("failed", json!({ "error": failure })),
            "the server answered with error -32603: broken",
        ),
        (got("cancelled", json!({})), "the task t1 was cancelled"),
        (got("completed", json!({ "result": tool_error })), "isError"),
        (got("completed", json!({})), "/result"),
        (
            got("completed", json!({ "result": { "content": 5 } })),
            "/content",
        ),
        (got("lost", json!({})), "/status"),
    ];
    for (answer, expected) in cases {
        let mut begun = created(0);
        begun.as_object_mut().unwrap().remove("pollIntervalMs");
        let script = vec![
            ("tools/call", call(None), Ok(begun)),
            ("tasks/get", id(), Ok(answer.clone())),
        ];
        let (client, playing) = playing(with_tasks(), MODERN, script).await;
        let before = Instant::now();
        let said = match client.call_tool("slow", json!({})).await {
            Ok(result) if result.is_error == Some(true) => "isError".to_owned(),
            Ok(result) => panic!("{result:?} of {answer}"),
            Err(error) => error.to_string(),
        };
        assert!(said.contains(expected), "{said} of {answer}");
        assert!(before.elapsed() >= DEFAULT_POLL_INTERVAL);
        client.close().await;
        playing.await.unwrap();
    }
}

fn question(message: &str) -> Value {
    json!({ "method": "elicitation/create", "params": { "mode": "form", "message": message, "requestedSchema": { "type": "object", "properties": {} } } })
}

// W-17, W-19: what a task asks is answered by the client's handler, each key once, however often it is listed.
#[tokio::test(start_paused = true)]
async fn a_task_asks() {
    let first = json!({ "inputRequests": { "a": question("first") } });
    let both = json!({ "inputRequests": { "a": question("first"), "b": question("second") } });
    let update =
        |key: &str, answer: Value| json!({ "inputResponses": { key: answer }, "taskId": "t1" });
    let done = || Ok(json!({ "resultType": "complete" }));
    let script = vec![
        ("tools/call", call(None), Ok(created(20))),
        ("tasks/get", id(), Ok(got("input_required", first.clone()))),
        (
            "tasks/update",
            update("a", json!({ "action": "accept", "content": { "n": 1 } })),
            done(),
        ),
        ("tasks/get", id(), Ok(got("input_required", first))),
        ("tasks/get", id(), Ok(got("input_required", both))),
        (
            "tasks/update",
            update("b", json!({ "action": "decline" })),
            done(),
        ),
        (
            "tasks/get",
            id(),
            Ok(got("completed", json!({ "result": complete("asked") }))),
        ),
    ];
    let user = ScriptedUser::new().accept(json!({ "n": 1 })).decline();
    let (client, playing) = playing(with_tasks().handler(user.handler()), MODERN, script).await;
    assert_eq!(
        client.call_tool("slow", json!({})).await.unwrap().text(),
        "asked"
    );
    client.close().await;
    playing.await.unwrap();
    assert_eq!(user.asked().len(), 2);
}

// O-5: a call that is given up cancels its task, and so does one that takes too long; never by `notifications/cancelled`.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_cancels_its_task() {
    let cancel = || {
        (
            "tasks/cancel",
            id(),
            Ok(json!({ "resultType": "complete" })),
        )
    };
    let script = vec![("tools/call", call(None), Ok(created(60_000))), cancel()];
    let (client, playing) = playing(with_tasks(), MODERN, script).await;
    let given_up = tokio::time::timeout(
        Duration::from_secs(5),
        client.call_tool("slow", json!({})).into_future(),
    );
    given_up.await.unwrap_err();
    tokio::time::sleep(Duration::from_secs(1)).await;
    client.close().await;
    playing.await.unwrap();

    let longest = Duration::from_secs(100);
    let script = vec![
        ("tools/call", call(None), Ok(created(60_000))),
        (
            "tasks/get",
            id(),
            Ok(got("working", json!({ "pollIntervalMs": 60_000 }))),
        ),
        cancel(),
    ];
    let options = with_tasks().reset_by_progress(longest);
    let (client, playing) = self::playing(options, MODERN, script).await;
    let error = client.call_tool("slow", json!({})).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Local(LocalError::TimedOut(ref timeout)) if timeout.limit() == longest),
        "{error:?}"
    );
    tokio::time::sleep(Duration::from_secs(1)).await;
    client.close().await;
    playing.await.unwrap();
}

// W-12: a client that did not declare the extension takes no tasks.
#[tokio::test]
async fn a_task_that_nobody_asked_for() {
    let script = vec![("tools/call", call(None), Ok(created(20)))];
    let (client, playing) = playing(ClientOptions::new(), MODERN, script).await;
    let error = soon(client.call_tool("slow", json!({})).into_future())
        .await
        .unwrap_err();
    assert!(matches!(error, ClientError::Local(_)), "{error:?}");
    let error = soon(client.call_tool("slow", json!({})).as_task().into_future())
        .await
        .unwrap_err();
    assert!(error.to_string().contains(TASKS), "{error}");
    soon(client.close()).await;
    soon(playing).await.unwrap();

    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
    ] {
        let (client, playing) = self::playing(with_tasks(), revision, vec![]).await;
        let error = soon(client.call_tool("slow", json!({})).as_task().into_future())
            .await
            .unwrap_err();
        assert!(
            matches!(
                error,
                ClientError::Local(LocalError::Unavailable("a task", _))
            ),
            "{error:?}"
        );
        soon(client.close()).await;
        soon(playing).await.unwrap();
    }
}

// W-14, O-5: the handle of a task at 2026-07-28, of one that the server answers at once as well.
#[tokio::test(start_paused = true)]
async fn a_handle() {
    let done = Ok(json!({ "resultType": "complete" }));
    let script = vec![
        ("tools/call", call(None), Ok(created(20))),
        ("tasks/get", id(), Ok(got("working", json!({})))),
        ("tasks/cancel", id(), done),
        ("tasks/get", id(), Ok(got("cancelled", json!({})))),
        ("tools/call", call(None), Ok(complete("at once"))),
    ];
    let (client, playing) = playing(with_tasks(), MODERN, script).await;
    let mut task = client.call_tool("slow", json!({})).as_task().await.unwrap();
    assert_eq!(
        (task.id(), task.status()),
        (Some("t1"), TaskStatus::Working)
    );
    assert_eq!(task.poll().await.unwrap(), TaskStatus::Working);
    task.cancel().await.unwrap();
    let error = task.result().await.unwrap_err();
    assert!(matches!(error, ClientError::Local(LocalError::TaskCancelled(id)) if id == "t1"));

    let mut task = client.call_tool("slow", json!({})).as_task().await.unwrap();
    assert_eq!(task.id(), None);
    assert_eq!(task.poll().await.unwrap(), TaskStatus::Completed);
    task.cancel().await.unwrap();
    assert_eq!(task.await.unwrap().text(), "at once");
    client.close().await;
    playing.await.unwrap();
}

// W-2, W-6, W-8, O-5: at 2025-11-25 the call asks for the task, and its result is fetched once it has ended or asks.
#[tokio::test(start_paused = true)]
async fn tasks_of_2025_11_25() {
    let started = || Ok(json!({ "task": core("working") }));
    let related = json!({ "content": [{ "type": "text", "text": "done" }], "_meta": { "io.modelcontextprotocol/related-task": { "taskId": "t1" } } });
    for status in ["completed", "input_required"] {
        let script = vec![
            ("tools/call", call(Some(json!({ "ttl": 5000 }))), started()),
            ("tasks/get", id(), Ok(core("working"))),
            ("tasks/get", id(), Ok(core(status))),
            ("tasks/result", id(), Ok(related.clone())),
        ];
        let (client, playing) = playing(ClientOptions::new(), LEGACY, script).await;
        let task = client
            .call_tool("slow", json!({}))
            .as_task()
            .ttl(Duration::from_secs(5));
        assert_eq!(task.await.unwrap().await.unwrap().text(), "done");
        client.close().await;
        playing.await.unwrap();
    }
    let failed = json!({ "code": -32000, "message": "broken" });
    let script = vec![
        ("tools/call", call(Some(json!({}))), started()),
        ("tasks/get", id(), Ok(core("failed"))),
        ("tasks/result", id(), Err(failed)),
        ("tools/call", call(Some(json!({}))), started()),
        ("tasks/cancel", id(), Ok(core("cancelled"))),
        ("tasks/get", id(), Ok(core("cancelled"))),
        // W-12: not asked for.
        ("tools/call", call(None), started()),
    ];
    let (client, playing) = playing(ClientOptions::new(), LEGACY, script).await;
    let task = client.call_tool("slow", json!({})).as_task().await.unwrap();
    assert_eq!(task.await.unwrap_err().code(), Some(-32000));
    let mut task = client.call_tool("slow", json!({})).as_task().await.unwrap();
    task.cancel().await.unwrap();
    let error = task.poll().await.unwrap_err();
    assert!(
        matches!(error, ClientError::Local(LocalError::TaskCancelled(_))),
        "{error:?}"
    );
    let error = client.call_tool("slow", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("did not ask for"), "{error}");
    client.close().await;
    playing.await.unwrap();
}

// N-4, N-5: the progress token of a call is the task's as well, until the task ends or its handle is dropped.
#[tokio::test]
async fn progress_of_a_task() {
    let options = ClientOptions::at(LEGACY);
    let (connecting, playing) = against(options, |mut mock: Mock| async move {
        let request = mock.next().await.unwrap();
        let tasks = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
        mock.result(&request, json!({ "protocolVersion": LEGACY.as_str(), "capabilities": { "tools": {}, "tasks": tasks }, "serverInfo": { "name": "mock", "version": "1" } })).await;
        mock.next().await.unwrap();
        let request = mock.next().await.unwrap();
        let token = request["params"]["_meta"]["progressToken"].clone();
        assert!(token.is_i64(), "{request}");
        mock.send(progress(&token, 1)).await;
        mock.result(&request, json!({ "task": core("working") }))
            .await;
        for (number, status) in [(2, "working"), (3, "working"), (4, "completed")] {
            mock.send(progress(&token, number)).await;
            let request = mock.next().await.unwrap();
            assert_eq!(request["method"], "tasks/get");
            mock.result(&request, core(status)).await;
        }
        let request = mock.next().await.unwrap();
        assert_eq!(request["method"], "tasks/result");
        mock.result(&request, json!({ "content": [] })).await;
        let after = mock.next().await.unwrap();
        mock.send(progress(&token, 5)).await;
        mock.result(&after, json!({ "content": [] })).await;
    });
    let client = connecting.await.unwrap();
    let (heard, hears) = heard();
    let call = client.call_tool("slow", json!({})).on_progress(hears);
    let task = soon(call.as_task().into_future()).await.unwrap();
    soon(task.into_future()).await.unwrap();
    soon(client.call_tool("after", json!({})).into_future())
        .await
        .unwrap();
    assert_eq!(heard.take(), [1.0, 2.0, 3.0, 4.0]);
    soon(playing).await.unwrap();
}

/// A server that names no wait at all is not asked without a pause, and a wait without end is one.
#[tokio::test(start_paused = true)]
async fn intervals_that_are_none() {
    for interval in [0, -1] {
        let unready = || got("working", json!({ "pollIntervalMs": interval }));
        let mut script = vec![("tools/call", call(None), Ok(created(0)))];
        script.extend((0..10).map(|_| ("tasks/get", id(), Ok(unready()))));
        let done = got("completed", json!({ "result": complete("done") }));
        script.push(("tasks/get", id(), Ok(done)));
        let options = with_tasks().reset_by_progress(Duration::MAX);
        let (client, playing) = playing(options, MODERN, script).await;
        let result = client.call_tool("slow", json!({})).await.unwrap();
        assert_eq!(result.text(), "done");
        client.close().await;
        let times = playing.await.unwrap();
        assert_eq!(times.len(), 12);
        for pair in times.windows(2) {
            assert!(pair[1] - pair[0] >= Duration::from_millis(20), "{interval}");
        }
    }
}
