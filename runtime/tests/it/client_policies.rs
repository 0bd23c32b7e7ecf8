//! What a client does by itself if its options say so: sending again, keeping results; and what it reports of messages nobody waits for.

use std::{future::IntoFuture, time::Duration};

use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::Instant};
use trueform::{
    client::{
        CacheLimits, Client, ClientError, ClientOptions, LocalError, Negotiation, RetryPolicy,
        StrayKind,
    },
    prelude::*,
};

use crate::{
    client::{Mock, against},
    support::soon,
};

/// A server at `revision` that does with each request what `answer` says: the result, the error, or nothing.
async fn answering(
    options: ClientOptions,
    revision: Revision,
    answer: impl Fn(usize, &Value) -> Option<Result<Value, Value>> + Send + 'static,
) -> (Client, JoinHandle<Vec<String>>) {
    let options = options.negotiation(Negotiation::Exactly(revision));
    let (connecting, playing) = against(options, move |mut mock: Mock| async move {
        let request = mock.next().await.unwrap();
        let version = revision.as_str();
        let capabilities = json!({ "tools": {}, "prompts": {}, "resources": {} });
        if request["method"] == "initialize" {
            mock.result(&request, json!({ "protocolVersion": version, "capabilities": capabilities, "serverInfo": { "name": "mock", "version": "1" } })).await;
            mock.next().await.unwrap();
        } else {
            mock.result(&request, json!({ "resultType": "complete", "supportedVersions": [version], "capabilities": capabilities, "ttlMs": 0, "cacheScope": "private" })).await;
        }
        let mut asked = Vec::new();
        while let Some(request) = mock.next().await {
            let method = request["method"].as_str().unwrap().to_owned();
            if method == "notifications/cancelled" {
                continue;
            }
            let number = asked.len();
            asked.push(method);
            match answer(number, &request) {
                Some(Ok(Value::Array(mut messages))) => {
                    let result = messages.pop().unwrap();
                    for message in messages {
                        mock.send(message).await;
                    }
                    mock.result(&request, result).await;
                }
                Some(Ok(result)) => mock.result(&request, result).await,
                Some(Err(error)) => {
                    mock.send(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }))
                        .await;
                }
                None => {}
            }
        }
        asked
    });
    (connecting.await.unwrap(), playing)
}

const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;

fn tool(name: &str, annotations: Value) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": annotations })
}

// Only what is safe is sent again, so often, after such waits.
#[tokio::test(start_paused = true)]
async fn what_is_sent_again() {
    let policy = RetryPolicy::attempts(3)
        .wait(Duration::from_millis(300))
        .longest_wait(Duration::from_millis(500))
        .codes([-32603]);
    let options = ClientOptions::new()
        .timeout(Duration::from_secs(1))
        .retry(policy);
    let (client, playing) = answering(options, LEGACY, |_, request| {
        let failed = || Some(Err(json!({ "code": -32603, "message": "busy" })));
        match request["method"].as_str().unwrap() {
            "tools/list" => {
                let tools = json!([
                    tool("reads", json!({ "readOnlyHint": true })),
                    tool(
                        "sets",
                        json!({ "idempotentHint": true, "destructiveHint": true })
                    ),
                    tool("adds", json!({ "readOnlyHint": false })),
                ]);
                Some(Ok(json!({ "tools": tools })))
            }
            "resources/read" => None,
            "prompts/get" => Some(Err(json!({ "code": -32602, "message": "no such prompt" }))),
            "logging/setLevel" | "tools/call" => failed(),
            other => panic!("{other}"),
        }
    })
    .await;
    let begun = Instant::now();
    let error = client.read_resource("a:b").await.unwrap_err();
    assert!(
        matches!(error, ClientError::Local(LocalError::TimedOut(_))),
        "{error}"
    );
    // By chance a wait is up to a half shorter.
    let waited = begun.elapsed().as_millis() - 3 * 1000;
    assert!((150 + 250..=300 + 500).contains(&waited), "{waited}");
    assert_eq!(
        client.get_prompt("p", ()).await.unwrap_err().code(),
        Some(-32602)
    );
    for tool in ["adds", "reads", "sets"] {
        let error = client.call_tool(tool, ()).await.unwrap_err();
        assert_eq!(error.code(), Some(-32603), "{tool}");
    }
    client.close().await;
    let asked = playing.await.unwrap();
    assert_eq!(
        asked,
        [
            vec!["resources/read"; 3],
            vec!["prompts/get"],
            vec!["tools/call", "tools/list"],
            vec!["tools/call"; 6],
        ]
        .concat()
    );
}

// Without a policy nothing is sent again.
#[tokio::test]
async fn nothing_is_sent_again_by_default() {
    let (client, playing) = answering(ClientOptions::new(), LEGACY, |_, _| {
        Some(Err(json!({ "code": -32603, "message": "busy" })))
    })
    .await;
    assert!(soon(client.list_tools()).await.is_err());
    soon(client.close()).await;
    assert_eq!(soon(playing).await.unwrap(), ["tools/list"]);
}

fn listed(ttl: Value, cursor: Option<&str>) -> Value {
    let mut page =
        json!({ "resultType": "complete", "tools": [], "ttlMs": ttl, "cacheScope": "private" });
    if let Some(cursor) = cursor {
        page["nextCursor"] = cursor.into();
    }
    page
}

fn read(uri: &Value, ttl: i64) -> Value {
    json!({ "resultType": "complete", "contents": [{ "uri": uri, "text": uri }], "ttlMs": ttl, "cacheScope": "public" })
}

fn changed(of: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": format!("notifications/{of}") })
}

// V-2, V-3, V-6: a result is used again while it is fresh, for the same params, until the server says that it has changed.
#[tokio::test(start_paused = true)]
async fn results_that_are_kept() {
    let options = ClientOptions::new().cache(CacheLimits::new().entries(2));
    let (client, playing) = answering(options, MODERN, |number, request| {
        let uri = &request["params"]["uri"];
        match request["method"].as_str().unwrap() {
            "tools/list" => Some(Ok(listed(json!(5000), None))),
            "tools/call" => Some(Ok(json!([
                changed("tools/list_changed"),
                { "resultType": "complete", "content": [] },
            ]))),
            "resources/read" if uri == "a:stale" => Some(Ok(read(uri, 0))),
            "resources/read" => Some(Ok(read(uri, 60_000 + i64::try_from(number).unwrap()))),
            other => panic!("{other}"),
        }
    })
    .await;
    let pause = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
    for _ in 0..2 {
        client.list_tools().await.unwrap();
    }
    pause(6).await;
    client.list_tools().await.unwrap();
    client.call_tool("changes", ()).await.unwrap();
    for _ in 0..2 {
        client.list_tools().await.unwrap();
    }
    for uri in ["a:1", "a:2", "a:1", "a:stale", "a:stale"] {
        let result = client.read_resource(uri).await.unwrap();
        assert_eq!(result.text(), uri);
    }
    // Two are kept: a third one has taken the place of the oldest.
    for uri in ["a:3", "a:2", "a:1"] {
        client.read_resource(uri).await.unwrap();
    }
    client.close().await;
    let expected = [
        vec!["tools/list"; 2],
        vec!["tools/call", "tools/list"],
        vec!["resources/read"; 4],
        vec!["resources/read"; 2],
    ];
    assert_eq!(playing.await.unwrap(), expected.concat());
}

// V-4, V-9: what answered questions is not kept; a refused cursor drops the pages. By default, and in the legacy era, nothing is kept.
#[tokio::test]
async fn results_that_are_not_kept() {
    let pages = |number: usize, request: &Value| match &request["params"]["cursor"] {
        Value::Null => Some(Ok(listed(json!(60_000), Some("2")))),
        _ if number == 3 => Some(Err(json!({ "code": -32602, "message": "what cursor" }))),
        _ => Some(Ok(listed(json!(0), None))),
    };
    let cached = || ClientOptions::new().cache(CacheLimits::new());
    let (client, playing) = answering(cached(), MODERN, pages).await;
    // The first page is kept, the second is not, and is refused the third time.
    for is_listed in [true, true, false, true] {
        assert_eq!(soon(client.list_tools()).await.is_ok(), is_listed);
    }
    soon(client.close()).await;
    assert_eq!(soon(playing).await.unwrap().len(), 2 + 1 + 1 + 2);

    for (options, revision) in [(ClientOptions::new(), MODERN), (cached(), LEGACY)] {
        let keeps = |_: usize, _: &Value| Some(Ok(listed(json!(60_000), None)));
        let (client, playing) =
            answering(options.lenient(trueform::Leniencies::ALL), revision, keeps).await;
        for _ in 0..2 {
            soon(client.list_tools()).await.unwrap();
        }
        soon(client.close()).await;
        assert_eq!(soon(playing).await.unwrap().len(), 2, "{revision}");
    }

    let options = cached()
        .capabilities(crate::client::with_roots())
        .handler(crate::client::Answers(std::sync::Arc::default()));
    let (client, playing) = answering(options, MODERN, |_, request| {
        let params = &request["params"];
        Some(Ok(match &params["inputResponses"] {
            Value::Null => json!({ "resultType": "input_required", "inputRequests": { "a": { "method": "roots/list" } }, "ttlMs": 60_000 }),
            _ => read(&params["uri"], 60_000),
        }))
    })
    .await;
    for _ in 0..2 {
        soon(client.read_resource("a:1").into_future())
            .await
            .unwrap();
    }
    soon(client.close()).await;
    assert_eq!(soon(playing).await.unwrap().len(), 4);
}

// A handler that no server asks is reported, and so is what a server says about it.
#[tokio::test(start_paused = true)]
async fn a_handler_without_capabilities() {
    let log = crate::support::log();
    let handler = crate::client::Answers(std::sync::Arc::default());
    let refused = |_, _: &Value| {
        let error = json!({ "code": -32021, "message": "`elicitation` is needed", "data": { "requiredCapabilities": {} } });
        Some(Err(error))
    };
    let (client, playing) = answering(ClientOptions::new().handler(handler), MODERN, refused).await;
    let warned =
        |line: &&String| line.starts_with("WARN") && line.contains("`ClientOptions::capabilities`");
    assert_eq!(log.take().iter().filter(warned).count(), 1);
    let error = client.call_tool("x", ()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server answered with error -32021: `elicitation` is needed; declare it by `ClientOptions::capabilities`, and answer by \
         `ClientOptions::handler`"
    );
    client.close().await;
    playing.await.unwrap();

    let (client, playing) = answering(ClientOptions::new(), MODERN, |_, _| None).await;
    assert_eq!(log.take().iter().filter(warned).count(), 0);
    client.close().await;
    playing.await.unwrap();
}

// A-17, O-2: what nothing waits for is counted, logged and handed to those who listen, without its values.
#[tokio::test(start_paused = true)]
async fn messages_that_nothing_waits_for() {
    let (client, playing) = answering(ClientOptions::new(), LEGACY, |number, request| {
        let done = json!({ "content": [] });
        match number {
            0 => None,
            _ => Some(Ok(json!([
                { "jsonrpc": "2.0", "id": 2, "result": { "late": true } },
                { "jsonrpc": "2.0", "id": "mine", "result": { "secret": "hidden" } },
                { "jsonrpc": "2.0", "id": 99, "result": {} },
                { "jsonrpc": "1.0", "method": "odd" },
                { "jsonrpc": "2.0", "method": "notifications/new", "params": { "secret": "hidden" } },
                { "jsonrpc": "2.0", "method": "notifications/initialized" },
                { "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": 2, "progress": 1 } },
                { "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": 3, "progress": 1 } },
                { "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": 99, "progress": 1 } },
                { "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": "hidden", "progress": 1 } },
                { "request": request, "content": done["content"] },
            ]))),
        }
    })
    .await;
    let mut strays = client.strays();
    let late = client.call_tool("late", ()).timeout(Duration::from_secs(1));
    assert!(late.await.is_err());
    client.call_tool("next", ()).await.unwrap();
    let mut heard = Vec::new();
    while let Some(stray) = strays.try_next() {
        assert!(!stray.redacted.contains("hidden"), "{stray:?}");
        assert!(stray.redacted.contains("jsonrpc"), "{stray:?}");
        heard.push(stray.kind);
    }
    let expected = [
        StrayKind::LateAnswer,
        StrayKind::UnknownId,
        StrayKind::UnknownId,
        StrayKind::Malformed,
        StrayKind::UnknownNotification,
        StrayKind::NotAllowed,
        // The token 3 is that of the call that is under way.
        StrayKind::LateProgress,
        StrayKind::UnknownProgress,
        StrayKind::UnknownProgress,
    ];
    assert_eq!(heard, expected);
    assert_eq!(client.stray_count(StrayKind::UnknownProgress), 2);
    assert_eq!(client.stray_count(StrayKind::UnknownId), 2);
    assert_eq!(client.stray_count(StrayKind::LateAnswer), 1);
    client.close().await;
    playing.await.unwrap();
    assert!(strays.next().await.is_none());
}
