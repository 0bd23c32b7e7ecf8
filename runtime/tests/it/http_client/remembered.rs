//! What a client remembers of a server: its era between connections, and what headers its tools ask for until it is refused.

use std::{
    future::IntoFuture,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};
use trueform::{
    client::{ClientError, ClientOptions, HttpEndpoint, ServerProfile},
    prelude::*,
};

use super::{
    connect, new,
    server::{Answer, Asked, Scripted, called, legacy, modern},
};
use crate::support::soon;

// D-10
#[tokio::test]
async fn the_second_connection_needs_no_probe() {
    let server = Scripted::start(|asked, answer| async move {
        if let Some((_, answer)) = legacy(asked, answer, "s").await {
            answer.reply("405 Method Not Allowed", "", "").await;
        }
    })
    .await;
    // The session's own stream may not have been opened yet when the client is closed.
    let asked = || {
        let mut asked = server.whats();
        asked.retain(|what| what != "GET");
        asked
    };
    let client = connect(&server, ClientOptions::new()).await;
    let stored = serde_json::to_string(&client.profile()).unwrap();
    soon(client.close()).await;
    let first = [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "DELETE",
    ];
    assert_eq!(asked(), first);

    let profile: ServerProfile = serde_json::from_str(&stored).unwrap();
    let client = connect(&server, ClientOptions::new().profile(profile)).await;
    assert_eq!(client.revision(), Revision::V2025_11_25);
    soon(client.close()).await;
    assert_eq!(asked()[first.len()..], first[1..]);
}

// D-10: what was remembered no longer holds.
#[tokio::test]
async fn a_server_that_was_renewed() {
    let server = Scripted::start(|asked, answer| async move {
        if let Some((asked, answer)) = modern(asked, answer).await {
            let error = json!({ "code": -32601, "message": "no such method" });
            let body = json!({ "jsonrpc": "2.0", "id": asked.id(), "error": error });
            answer.json("404 Not Found", body).await;
        }
    })
    .await;
    let profile = ServerProfile::new(Revision::V2025_11_25);
    let endpoint = HttpEndpoint::new(&*server.url);
    let connecting = endpoint.connect_as(ClientOptions::new().profile(profile));
    let client = soon(connecting).await.unwrap();
    assert_eq!(client.revision(), Revision::V2026_07_28);
    assert_eq!(server.whats(), ["initialize", "server/discover"]);
}

async fn mismatch(asked: Asked, answer: Answer) {
    let error = json!({ "code": -32020, "message": "the headers do not fit" });
    let body = json!({ "jsonrpc": "2.0", "id": asked.id(), "error": error });
    answer.json("400 Bad Request", body).await;
}

/// A server whose tool asks for the header `Mcp-Param-Region` at its `lists[n]`-th list, and takes calls only with it.
async fn renewed(lists: &'static [bool]) -> Scripted {
    let listed = Arc::new(AtomicUsize::new(0));
    Scripted::start(move |asked, answer| {
        let listed = listed.clone();
        async move {
            let Some((asked, answer)) = modern(asked, answer).await else {
                return;
            };
            match asked.what() {
                "tools/list" => {
                    let at = listed.fetch_add(1, Ordering::SeqCst);
                    let asks = lists[at.min(lists.len() - 1)];
                    let mut region = json!({ "type": "string" });
                    if asks {
                        region["x-mcp-header"] = "Region".into();
                    }
                    let schema = json!({ "type": "object", "properties": { "region": region } });
                    // On the second of two pages.
                    let first = asked.body["params"]["cursor"].is_null();
                    let result = match first && at > 0 {
                        true => json!({
                            "tools": [], "nextCursor": "2", "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                        }),
                        false => json!({
                            "tools": [{ "name": "run", "inputSchema": schema }],
                            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                        }),
                    };
                    answer.result(&asked, result).await;
                }
                "tools/call" if asked.header("mcp-param-region") == Some("north") => {
                    answer.result(&asked, called("done")).await;
                }
                _ => mismatch(asked, answer).await,
            }
        }
    })
    .await
}

async fn run(server: &Scripted, lists: bool) -> Result<String, ClientError> {
    let client = connect(server, new()).await;
    if lists {
        soon(client.list_tools()).await.unwrap();
    }
    let calling = client.call_tool("run", json!({ "region": "north" }));
    soon(calling.into_future())
        .await
        .map(|result| result.text())
}

// G-11
#[tokio::test]
async fn a_tool_that_asks_for_another_header_now() {
    for lists in [true, false] {
        let server = renewed(&[false, true]).await;
        // Without a list there is no schema, so the first call has no header of the tool's.
        let server = if lists {
            server
        } else {
            renewed(&[true]).await
        };
        assert_eq!(run(&server, lists).await.unwrap(), "done", "{lists}");
        let calls = server.all("tools/call");
        assert_eq!(calls.len(), 2);
        assert_eq!(calls[0].header("mcp-param-region"), None);
        assert_eq!(calls[1].header("mcp-param-region"), Some("north"));
        assert_eq!(calls[0].body["params"], calls[1].body["params"]);
        let mut ids: Vec<Value> = server
            .asked
            .lock()
            .unwrap()
            .iter()
            .map(|asked| asked.id().clone())
            .collect();
        let all = ids.len();
        ids.sort_by_key(Value::to_string);
        ids.dedup();
        assert_eq!(ids.len(), all, "A-3");
        let list = server.all("tools/list").pop().unwrap();
        assert_eq!(list.header("mcp-method"), Some("tools/list"));
        let meta = &list.body["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
    }
}

// G-11: one more try, and none where the tool asks for the same as before.
#[tokio::test]
async fn a_tool_that_nobody_can_call() {
    let server = renewed(&[false]).await;
    let error = run(&server, true).await.unwrap_err();
    assert_eq!(error.code(), Some(-32020), "{error}");
    assert_eq!(server.all("tools/call").len(), 1);

    let server = Scripted::start(|asked, answer| async move {
        let Some((asked, answer)) = modern(asked, answer).await else {
            return;
        };
        if asked.what() != "tools/list" {
            return mismatch(asked, answer).await;
        }
        let region = json!({ "type": "string", "x-mcp-header": "Region" });
        let schema = json!({ "type": "object", "properties": { "region": region } });
        let result = json!({
            "tools": [{ "name": "run", "inputSchema": schema }], "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        });
        answer.result(&asked, result).await;
    })
    .await;
    let error = run(&server, false).await.unwrap_err();
    assert_eq!(error.code(), Some(-32020), "{error}");
    assert_eq!(server.all("tools/call").len(), 2);
}

// G-11: the call that is made anew is answered by something that is not well-formed, or in a batch, which the revision does not have.
#[tokio::test]
async fn a_bad_answer_to_a_call_made_anew() {
    for (answer, expected) in [
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{},}"#,
            "not well-formed",
        ),
        (
            r#"[{"jsonrpc":"2.0","id":ID,"result":{}}]"#,
            "has no batches",
        ),
    ] {
        let server = Scripted::start(move |asked, socket| async move {
            let Some((asked, socket)) = modern(asked, socket).await else {
                return;
            };
            if asked.header("mcp-param-region").is_some() {
                let body = answer.replace("ID", &asked.id().to_string());
                return socket
                    .reply("200 OK", "content-type: application/json\r\n", body)
                    .await;
            }
            if asked.what() != "tools/list" {
                return mismatch(asked, socket).await;
            }
            let region = json!({ "type": "string", "x-mcp-header": "Region" });
            let schema = json!({ "type": "object", "properties": { "region": region } });
            let result = json!({
                "tools": [{ "name": "run", "inputSchema": schema }], "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            });
            socket.result(&asked, result).await;
        })
        .await;
        let error = run(&server, false).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(server.all("tools/call").len(), 2);
    }
}
