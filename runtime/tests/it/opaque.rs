//! What a client must not read into what a server sends: cursors, codes, and objects that look like others.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use trueform::{
    client::{Answering, ClientError, ClientHandler, ClientOptions, LocalError},
    prelude::*,
    schema::{ClientCapabilities, Json as Text},
};

use crate::{
    client::{against, discovered},
    support::soon,
};

// P-2: whatever a cursor says, the empty one too; only its absence ends the list. Pages have any size.
#[tokio::test]
async fn cursors() {
    let options = ClientOptions::at(Revision::LATEST);
    let (connecting, playing) = against(options, |mut mock| async move {
        let probe = mock.next().await.unwrap();
        mock.result(&probe, discovered(&["2026-07-28"])).await;
        let mut sent = Vec::new();
        for (names, next) in [
            (&["a"] as &[_], Some("")),
            (&["b", "c", "d"], Some("\u{0} {\"page\":9} ä")),
            (&[], Some("0")),
            (&["e"], None),
        ] {
            let request = mock.next().await.unwrap();
            sent.push(request["params"]["cursor"].clone());
            let tools: Vec<Value> = names
                .iter()
                .map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }))
                .collect();
            let mut page = json!({ "resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private" });
            if let Some(next) = next {
                page["nextCursor"] = next.into();
            }
            mock.result(&request, page).await;
        }
        sent
    });
    let client = connecting.await.unwrap();
    let tools = soon(client.list_tools()).await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
    let expected = json!([null, "", "\u{0} {\"page\":9} ä", "0"]);
    assert_eq!(Value::from(soon(playing).await.unwrap()), expected);
}

// A-14, TRAP-07: the codes of drafts and of other SDKs mean nothing; they reach the caller as they came, and nothing is done.
#[tokio::test]
async fn codes_without_a_meaning() {
    const CODES: [i64; 6] = [-32000, -32001, -32003, -32004, -32010, -32019];
    let (connecting, playing) =
        against(ClientOptions::at(Revision::LATEST), |mut mock| async move {
            let probe = mock.next().await.unwrap();
            mock.result(&probe, discovered(&["2026-07-28"])).await;
            for code in CODES {
                let request = mock.next().await.unwrap();
                assert_eq!(request["method"], "tools/call");
                // What the newest code of that name would have there.
                let data =
                    json!({ "supported": ["2025-11-25"], "requiredCapabilities": { "roots": {} } });
                let error = json!({ "code": code, "message": "m", "data": data });
                mock.send(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }))
                    .await;
            }
            mock.next().await
        });
    let client = connecting.await.unwrap();
    for code in CODES {
        let error = soon(async { client.call_tool("t", ()).await })
            .await
            .unwrap_err();
        let remote = error.remote().unwrap_or_else(|| panic!("{code}: {error}"));
        assert_eq!((remote.code, &*remote.message), (code, "m"));
        assert!(remote.data.is_some());
    }
    assert_eq!(client.revision(), Revision::LATEST);
    drop(client);
    assert_eq!(soon(playing).await.unwrap(), None, "nothing else is sent");
}

/// Answers everything with the same object, which fits the results of several methods.
struct Ambiguous(Arc<Mutex<Vec<String>>>);

impl ClientHandler for Ambiguous {
    fn answer(&self, method: &str, _: Option<Text>) -> Answering<'_> {
        self.0.lock().unwrap().push(method.to_owned());
        Box::pin(std::future::ready(Ok(ambiguous().into())))
    }
}

/// A result of `roots/list`, of `sampling/createMessage` and of `elicitation/create`.
fn ambiguous() -> Value {
    json!({
        "roots": [],
        "role": "assistant", "model": "m", "content": { "type": "text", "text": "x" },
        "action": "cancel",
    })
}

// T-12: a question is what its `method` says, its answer goes under its key as it is, and there is an end to rounds.
#[tokio::test]
async fn questions_are_told_apart_by_their_method() {
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let declared: ClientCapabilities =
        serde_json::from_value(json!({ "roots": {}, "elicitation": {}, "sampling": {} })).unwrap();
    let options = ClientOptions::at(Revision::LATEST)
        .capabilities(declared)
        .handler(Ambiguous(asked.clone()));
    let (connecting, playing) = against(options, |mut mock| async move {
        let probe = mock.next().await.unwrap();
        mock.result(&probe, discovered(&["2026-07-28"])).await;
        let mut rounds = 0;
        while let Some(request) = mock.next().await {
            if rounds > 0 {
                let responses = &request["params"]["inputResponses"];
                assert_eq!(responses.as_object().unwrap().len(), 3, "{responses}");
                for key in ["one", "two", "three"] {
                    assert_eq!(responses[key]["roots"], json!([]), "{responses}");
                    assert_eq!(responses[key]["action"], "cancel", "{responses}");
                }
            }
            rounds += 1;
            // Each has what the others need.
            let params = json!({
                "message": "?", "requestedSchema": { "type": "object", "properties": {} },
                "messages": [{ "role": "user", "content": { "type": "text", "text": "x" } }], "maxTokens": 1,
            });
            let questions = json!({
                "one": { "method": "elicitation/create", "params": params },
                "two": { "method": "roots/list" },
                "three": { "method": "sampling/createMessage", "params": params },
            });
            let ask = json!({ "resultType": "input_required", "inputRequests": questions });
            mock.result(&request, ask).await;
        }
        rounds
    });
    let client = connecting.await.unwrap();
    let error = soon(async { client.call_tool("t", ()).await })
        .await
        .unwrap_err();
    let ClientError::Local(LocalError::TooManyRounds(most)) = error else {
        panic!("{error}");
    };
    drop(client);
    assert_eq!(soon(playing).await.unwrap(), most);
    let asked = asked.lock().unwrap();
    let expected = ["elicitation/create", "roots/list", "sampling/createMessage"];
    assert_eq!(asked.len(), 3 * most as usize);
    assert!(asked.chunks(3).all(|round| round == expected), "{asked:?}");
}
