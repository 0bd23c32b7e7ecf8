//! The client against servers that are not ours: scripted lines (A-17, A-20, D-5 to D-7, T-5 to T-7, U-3 to U-6).

use std::{future::IntoFuture, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    task::JoinHandle,
};
use trueform::{
    Leniencies, Policy,
    client::{
        Answering, Client, ClientError, ClientHandler, ClientOptions, LocalError, Negotiation,
    },
    prelude::*,
    schema::{ClientCapabilities, Implementation, methods::Ping},
};

use crate::support::{Collected, service, soon};

/// A server of the test's own.
pub(crate) struct Mock {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
}

impl Mock {
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    pub(crate) async fn send(&mut self, message: Value) {
        let mut line = message.to_string();
        line.push('\n');
        // The client may have gone.
        let _ = self.out.write_all(line.as_bytes()).await;
    }

    pub(crate) async fn result(&mut self, request: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
            .await;
    }

    pub(crate) async fn error(&mut self, request: &Value, code: i64, data: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "error": { "code": code, "message": "no", "data": data } })).await;
    }
}

/// A client of a mock that `script` plays.
pub(crate) fn against<F, T>(
    options: ClientOptions,
    script: impl FnOnce(Mock) -> F,
) -> (
    impl Future<Output = Result<Client, ClientError>>,
    JoinHandle<T>,
)
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, out) = tokio::io::split(far);
    let playing = tokio::spawn(script(Mock {
        lines: BufReader::new(reader).lines(),
        out,
    }));
    let (reader, writer) = tokio::io::split(near);
    (soon(Client::over(reader, writer, options)), playing)
}

pub(crate) async fn play_legacy(mock: &mut Mock, request: &Value) {
    assert_eq!(request["method"], "initialize");
    let result = json!({
        "protocolVersion": request["params"]["protocolVersion"],
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "mock", "version": "1" },
    });
    mock.result(request, result).await;
    assert_eq!(
        mock.next().await.unwrap()["method"],
        "notifications/initialized"
    );
}

pub(crate) fn discovered(versions: &[&str]) -> Value {
    json!({ "resultType": "complete", "supportedVersions": versions, "capabilities": { "tools": {} }, "ttlMs": 0, "cacheScope": "private" })
}

// D-5, D-6
#[tokio::test(start_paused = true)]
async fn anything_but_a_modern_answer_means_legacy() {
    for code in [Some(-32601), Some(-32602), Some(-32000), Some(1), None] {
        let (connecting, playing) = against(ClientOptions::new(), move |mut mock| async move {
            let probe = mock.next().await.unwrap();
            assert_eq!(probe["method"], "server/discover");
            let meta = &probe["params"]["_meta"];
            assert_eq!(
                meta["io.modelcontextprotocol/protocolVersion"],
                "2026-07-28"
            );
            assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());
            if let Some(code) = code {
                mock.error(&probe, code, Value::Null).await;
            }
            let mut next = mock.next().await.unwrap();
            if code.is_none() {
                assert_eq!(next["method"], "notifications/cancelled");
                next = mock.next().await.unwrap();
            }
            play_legacy(&mut mock, &next).await;
        });
        let client = connecting.await.unwrap();
        assert_eq!(client.revision(), Revision::V2025_11_25);
        assert_eq!(client.server_info().unwrap().name, "mock");
        soon(playing).await.unwrap();
    }
}

// DEC-10
#[tokio::test]
async fn a_server_that_begins_with_a_byte_order_mark() {
    let (connecting, playing) = against(ClientOptions::new(), |mut mock| async move {
        let probe = mock.next().await.unwrap();
        mock.out.write_all("\u{feff}".as_bytes()).await.unwrap();
        mock.result(&probe, discovered(&["2026-07-28"])).await;
        mock
    });
    let client = connecting.await.unwrap();
    assert_eq!(client.revision(), Revision::V2026_07_28);
    soon(playing).await.unwrap();
}

// D-7, C-8
#[tokio::test]
async fn a_modern_error_means_modern() {
    let (connecting, playing) = against(ClientOptions::new(), |mut mock| async move {
        let probe = mock.next().await.unwrap();
        mock.error(
            &probe,
            -32022,
            json!({ "supported": ["2031-01-01"], "requested": "2026-07-28" }),
        )
        .await;
        mock.next().await
    });
    match connecting.await.unwrap_err() {
        ClientError::Local(LocalError::Version(offered)) => assert_eq!(offered, ["2031-01-01"]),
        other => panic!("{other}"),
    }
    assert_eq!(soon(playing).await.unwrap(), None);
}

// GAP-3
#[tokio::test]
async fn a_modern_server_that_only_shares_a_legacy_version() {
    let (connecting, playing) = against(ClientOptions::new(), |mut mock| async move {
        let probe = mock.next().await.unwrap();
        mock.error(
            &probe,
            -32022,
            json!({ "supported": ["2031-01-01", "2025-06-18"], "requested": "2026-07-28" }),
        )
        .await;
        let next = mock.next().await.unwrap();
        play_legacy(&mut mock, &next).await;
    });
    assert_eq!(connecting.await.unwrap().revision(), Revision::V2025_11_25);
    soon(playing).await.unwrap();
}

// B-4
#[tokio::test]
async fn an_unknown_counter_offer_is_left() {
    let (connecting, playing) = against(
        ClientOptions::at(Revision::V2025_06_18),
        |mut mock| async move {
            let request = mock.next().await.unwrap();
            assert!(request["params"].get("_meta").is_none());
            let result = json!({ "protocolVersion": "2199-01-01", "capabilities": {}, "serverInfo": { "name": "m", "version": "1" } });
            mock.result(&request, result).await;
            mock.next().await
        },
    );
    assert!(matches!(
        connecting.await.unwrap_err(),
        ClientError::Local(LocalError::Version(_))
    ));
    assert_eq!(soon(playing).await.unwrap(), None, "nothing more is sent");
}

// C-1, C-3, A-17, A-20
#[tokio::test]
async fn answers_that_do_not_fit_are_local_errors() {
    let (connecting, playing) = against(ClientOptions::new(), |mut mock| async move {
        let probe = mock.next().await.unwrap();
        mock.result(&probe, discovered(&["2026-07-28"])).await;
        while let Some(request) = mock.next().await {
            let meta = &request["params"]["_meta"];
            assert_eq!(
                meta["io.modelcontextprotocol/protocolVersion"],
                "2026-07-28"
            );
            assert_eq!(
                meta["io.modelcontextprotocol/clientInfo"]["name"],
                "trueform-client"
            );
            match request["params"]["name"].as_str().unwrap() {
                "weird" => mock.result(&request, json!({ "resultType": "weird", "content": [] })).await,
                "absent" => mock.result(&request, json!({ "content": [] })).await,
                "broken" => mock.result(&request, json!({ "resultType": "complete", "content": 5 })).await,
                "both" => mock.send(json!({ "jsonrpc": "2.0", "id": request["id"], "result": {}, "error": { "code": 1, "message": "x" } })).await,
                "error" => mock.error(&request, -32001, json!({ "a": 1 })).await,
                other => panic!("{other}"),
            }
        }
    });
    let client = connecting.await.unwrap();
    for tool in ["weird", "broken", "both"] {
        let error = client.call_tool(tool, ()).await.unwrap_err();
        assert!(
            matches!(error, ClientError::Local(LocalError::Decode(_))),
            "{tool}: {error}"
        );
    }
    assert!(client.call_tool("absent", ()).await.is_ok());
    let error = client.call_tool("error", ()).await.unwrap_err();
    assert_eq!(
        (
            error.code(),
            error.remote().unwrap().data.as_ref().unwrap().get()
        ),
        (Some(-32001), r#"{"a":1}"#)
    );
    let error = client.call_tool("list", [1, 2]).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Local(LocalError::Encode(_))),
        "{error}"
    );
    client.close().await;
    soon(playing).await.unwrap();
}

// A-3, A-4, O-1, O-3
#[tokio::test(start_paused = true)]
async fn unanswered_requests_time_out_and_are_cancelled() {
    let options = ClientOptions::at(Revision::V2025_06_18).timeout(Duration::from_secs(3));
    let (connecting, playing) = against(options, |mut mock| async move {
        let request = mock.next().await.unwrap();
        play_legacy(&mut mock, &request).await;
        let call = mock.next().await.unwrap();
        let cancelled = mock.next().await.unwrap();
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], call["id"]);
        // A late answer is ignored.
        mock.result(&call, json!({ "content": [] })).await;
        let second = mock.next().await.unwrap();
        assert_ne!(second["id"], call["id"]);
        mock.result(&second, json!({ "content": [] })).await;
    });
    let client = connecting.await.unwrap();
    let error = client.call_tool("slow", ()).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Local(LocalError::TimedOut(_))),
        "{error}"
    );
    client.call_tool("quick", ()).await.unwrap();
    soon(playing).await.unwrap();
    assert!(matches!(
        client.call_tool("gone", ()).await.unwrap_err(),
        ClientError::Local(LocalError::Closed)
    ));
}

// O-6: progress resets the clock, but only so often.
#[tokio::test(start_paused = true)]
async fn progress_keeps_a_request_alive_up_to_the_longest_wait() {
    let options = ClientOptions::at(Revision::V2025_06_18)
        .timeout(Duration::from_secs(2))
        .reset_by_progress(Duration::from_secs(9));
    let (connecting, playing) = against(options, |mut mock| async move {
        let request = mock.next().await.unwrap();
        play_legacy(&mut mock, &request).await;
        let call = mock.next().await.unwrap();
        let token = &call["params"]["_meta"]["progressToken"];
        for progress in 1..100 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            mock.send(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": token, "progress": progress } })).await;
        }
    });
    let client = connecting.await.unwrap();
    let begun = tokio::time::Instant::now();
    let error = client.call_tool("spam", ()).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Local(LocalError::TimedOut(_))),
        "{error}"
    );
    assert_eq!(begun.elapsed().as_secs(), 9);
    playing.abort();
}

/// Answers what is asked, and notes it.
pub(crate) struct Answers(pub(crate) Arc<Collected<String>>);

impl ClientHandler for Answers {
    fn answer(&self, method: &str, _: Option<trueform::schema::Json>) -> Answering<'_> {
        self.0.push(method.to_owned());
        let answer = json!({ "roots": [{ "uri": "file:///tmp" }] });
        Box::pin(std::future::ready(Ok(answer.into())))
    }
}

pub(crate) fn with_roots() -> ClientCapabilities {
    serde_json::from_value(json!({ "roots": {} })).unwrap()
}

// GAP-12
#[tokio::test]
async fn initialize_announces_extensions_that_the_revision_can_have() {
    for (revision, declared, expected) in [
        (
            Revision::V2025_11_25,
            json!({ "com.example/own": { "a": 1 }, "io.modelcontextprotocol/tasks": {} }),
            json!({ "extensions": { "com.example/own": { "a": 1 } } }),
        ),
        (
            Revision::V2025_11_25,
            json!({ "io.modelcontextprotocol/tasks": {} }),
            json!({}),
        ),
        (
            Revision::V2025_06_18,
            json!({ "com.example/own": {} }),
            json!({}),
        ),
    ] {
        let declared = serde_json::from_value(json!({ "extensions": declared })).unwrap();
        let options = ClientOptions::at(revision).capabilities(declared);
        let (connecting, playing) = against(options, |mut mock| async move {
            let request = mock.next().await.unwrap();
            play_legacy(&mut mock, &request).await;
            request["params"]["capabilities"].clone()
        });
        connecting.await.unwrap();
        assert_eq!(soon(playing).await.unwrap(), expected, "{revision}");
    }
}

#[tokio::test]
async fn requests_of_the_server_are_answered() {
    let asked = Arc::new(Collected::default());
    let options = ClientOptions::at(Revision::V2025_06_18)
        .capabilities(with_roots())
        .handler(Answers(asked.clone()));
    let (connecting, playing) = against(options, |mut mock| async move {
        let request = mock.next().await.unwrap();
        play_legacy(&mut mock, &request).await;
        mock.send(json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" }))
            .await;
        assert_eq!(
            mock.next().await.unwrap(),
            json!({ "jsonrpc": "2.0", "id": "p", "result": {} })
        );
        mock.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "roots/list" }))
            .await;
        let answer = mock.next().await.unwrap();
        assert_eq!(answer["result"]["roots"][0]["uri"], "file:///tmp");
    });
    let client = connecting.await.unwrap();
    soon(playing).await.unwrap();
    assert_eq!(asked.take(), ["roots/list"]);
    drop(client);
}

// B-8
#[tokio::test]
async fn requests_that_a_client_cannot_be_sent_are_refused() {
    let asked = Arc::new(Collected::default());
    let options = ClientOptions::at(Revision::V2025_06_18)
        .capabilities(
            serde_json::from_value(json!({ "roots": {}, "elicitation": { "form": {} } })).unwrap(),
        )
        .handler(Answers(asked.clone()));
    let (connecting, playing) = against(options, |mut mock| async move {
        let request = mock.next().await.unwrap();
        play_legacy(&mut mock, &request).await;
        for (method, params, code, why) in [
            // R-2
            (
                "elicitation/create",
                json!({ "mode": "url" }),
                -32602,
                "`elicitation.url`",
            ),
            ("sampling/createMessage", json!({}), -32601, "`sampling`"),
            ("tools/list", json!({}), -32601, "is not sent by a server"),
            ("roots/list", json!([]), -32602, "/params"),
        ] {
            mock.send(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
                .await;
            let answer = mock.next().await.unwrap();
            assert_eq!(answer["error"]["code"], code, "{answer}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains(why), "{message}");
        }
        // What the handler makes of this is not a result of the method.
        mock.send(json!({ "jsonrpc": "2.0", "id": 2, "method": "extension/method" }))
            .await;
        assert!(mock.next().await.unwrap()["result"]["roots"].is_array());
    });
    let client = connecting.await.unwrap();
    soon(playing).await.unwrap();
    assert_eq!(asked.take(), ["extension/method"]);
    drop(client);
}

/// Answers every request with a value that is not a result of any method.
struct Nonsense;

impl ClientHandler for Nonsense {
    fn answer(&self, _: &str, _: Option<trueform::schema::Json>) -> Answering<'_> {
        Box::pin(std::future::ready(Ok(
            json!({ "roots": [{ "uri": 5 }] }).into()
        )))
    }
}

#[tokio::test]
async fn answers_that_are_none_do_not_leave() {
    let options = ClientOptions::at(Revision::V2025_06_18)
        .capabilities(with_roots())
        .handler(Nonsense);
    let (connecting, playing) = against(options, |mut mock| async move {
        let request = mock.next().await.unwrap();
        play_legacy(&mut mock, &request).await;
        mock.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "roots/list" }))
            .await;
        let answer = mock.next().await.unwrap();
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
    });
    let client = connecting.await.unwrap();
    soon(playing).await.unwrap();
    drop(client);
}

// B-10: the client itself answers a ping, before the handshake ends and under every policy. The default handler would refuse it.
#[tokio::test]
async fn a_ping_is_answered_under_every_policy() {
    for policy in [Policy::Enforce, Policy::Warn, Policy::Off] {
        let options = ClientOptions::at(Revision::V2025_06_18).incoming(policy);
        let (connecting, playing) = against(options, |mut mock| async move {
            let ping = |id| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
            let request = mock.next().await.unwrap();
            mock.send(ping(1)).await;
            let early = mock.next().await.unwrap();
            play_legacy(&mut mock, &request).await;
            mock.send(ping(2)).await;
            [early, mock.next().await.unwrap()]
        });
        let client = connecting.await.unwrap();
        for answer in soon(playing).await.unwrap() {
            assert_eq!(answer["result"], json!({}), "{policy:?}: {answer}");
        }
        drop(client);
    }
}

// E-3
#[tokio::test]
async fn a_modern_server_is_not_answered() {
    let (connecting, playing) = against(ClientOptions::new(), |mut mock| async move {
        let probe = mock.next().await.unwrap();
        mock.result(&probe, discovered(&["2026-07-28"])).await;
        for method in ["ping", "roots/list", "extension/method"] {
            mock.send(json!({ "jsonrpc": "2.0", "id": method, "method": method }))
                .await;
        }
        let request = mock.next().await.unwrap();
        assert_eq!(request["method"], "tools/call", "the first that comes");
        mock.result(&request, json!({ "resultType": "complete", "content": [] }))
            .await;
    });
    let client = connecting.await.unwrap();
    for _ in ["ping", "roots/list", "extension/method"] {
        soon(client.next_message()).await.unwrap();
    }
    client.call_tool("any", ()).await.unwrap();
    soon(playing).await.unwrap();
}

/// A notification that the revision does not have is not heard of.
#[tokio::test]
async fn unfit_notifications_are_dropped() {
    let (connecting, playing) = against(
        ClientOptions::at(Revision::V2025_06_18),
        |mut mock| async move {
            let request = mock.next().await.unwrap();
            play_legacy(&mut mock, &request).await;
            let list = mock.next().await.unwrap();
            for (method, params) in [
                (
                    "notifications/elicitation/complete",
                    json!({ "elicitationId": "x" }),
                ),
                (
                    "notifications/progress",
                    json!({ "progressToken": {}, "progress": 1 }),
                ),
                ("notifications/initialized", json!({})),
                (
                    "notifications/message",
                    json!({ "level": "loud", "data": 1 }),
                ),
                ("notifications/of/nobody", json!([])),
                ("notifications/tools/list_changed", json!({})),
            ] {
                mock.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }))
                    .await;
            }
            mock.result(&list, json!({ "content": [] })).await;
        },
    );
    let client = connecting.await.unwrap();
    let mut heard = client.notifications();
    client.call_tool("any", ()).await.unwrap();
    let mut methods = Vec::new();
    // They came before the answer.
    while let Some(notified) = heard.try_next() {
        methods.push(notified.method().to_owned());
    }
    // A level that nobody knows is let in by name, and params that are not an object make a message invalid.
    assert_eq!(
        methods,
        ["notifications/message", "notifications/tools/list_changed"]
    );
    soon(playing).await.unwrap();
}

// T-5, T-6, T-7
#[tokio::test]
async fn input_that_a_modern_server_asks_for_is_given() {
    let asked = Arc::new(Collected::default());
    let options = ClientOptions::new()
        .capabilities(with_roots())
        .handler(Answers(asked.clone()));
    let (connecting, playing) = against(options, |mut mock| async move {
        let probe = mock.next().await.unwrap();
        mock.result(&probe, discovered(&["2026-07-28"])).await;
        let first = mock.next().await.unwrap();
        let ask = json!({ "resultType": "input_required", "inputRequests": { "k": { "method": "roots/list" } }, "requestState": "s\u{e9}" });
        mock.result(&first, ask).await;
        let second = mock.next().await.unwrap();
        assert_ne!(first["id"], second["id"]);
        assert_eq!(second["params"]["arguments"], json!({ "a": 1 }));
        assert_eq!(second["params"]["requestState"], "s\u{e9}");
        assert_eq!(
            second["params"]["inputResponses"]["k"]["roots"][0]["uri"],
            "file:///tmp"
        );
        mock.result(&second, json!({ "resultType": "complete", "content": [] }))
            .await;
        let third = mock.next().await.unwrap();
        assert!(third["params"].get("requestState").is_none());
        mock.result(&third, json!({ "resultType": "complete", "content": [] }))
            .await;
    });
    let client = connecting.await.unwrap();
    client.call_tool("asks", json!({ "a": 1 })).await.unwrap();
    client.call_tool("does not", ()).await.unwrap();
    soon(playing).await.unwrap();
    assert_eq!(asked.take(), ["roots/list"]);
}

// B-8
#[tokio::test]
async fn what_a_modern_server_asks_beyond_what_was_declared() {
    for (policy, answered) in [
        (Policy::Enforce, false),
        (Policy::Warn, true),
        (Policy::Off, true),
    ] {
        let asked = Arc::new(Collected::default());
        let options = ClientOptions::new()
            .incoming(policy)
            .handler(Answers(asked.clone()));
        let (connecting, playing) = against(options, |mut mock| async move {
            let probe = mock.next().await.unwrap();
            mock.result(&probe, discovered(&["2026-07-28"])).await;
            let first = mock.next().await.unwrap();
            let ask = json!({ "resultType": "input_required", "inputRequests": { "k": { "method": "roots/list" } } });
            mock.result(&first, ask).await;
            if let Some(second) = mock.next().await {
                mock.result(&second, json!({ "resultType": "complete", "content": [] }))
                    .await;
            }
        });
        let client = connecting.await.unwrap();
        let called = client.call_tool("asks", ()).await;
        assert_eq!(called.is_ok(), answered, "{policy:?}: {called:?}");
        assert_eq!(asked.take().len(), usize::from(answered), "{policy:?}");
        drop(client);
        soon(playing).await.unwrap();
    }
}

// TRAP-19
#[tokio::test]
async fn lists_are_read_to_their_end() {
    #[tool]
    /// First.
    fn one() {}
    #[tool]
    /// Second.
    fn two() {}
    #[tool]
    /// Third.
    fn three() {}
    let client = Server::new("paged", "1")
        .tools(tools![one, two, three])
        .page_size(1)
        .connect()
        .await
        .unwrap();
    let names: Vec<_> = client
        .list_tools()
        .await
        .unwrap()
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["one", "two", "three"]);
}

// A-10: only 2025-03-26 has batches.
#[tokio::test]
async fn batches_where_there_are_none() {
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
    ] {
        for policy in [Policy::Enforce, Policy::Warn] {
            let options = ClientOptions::at(revision).incoming(policy);
            let (connecting, playing) = against(options, |mut mock| async move {
                let request = mock.next().await.unwrap();
                play_legacy(&mut mock, &request).await;
                let ping = mock.next().await.unwrap();
                let answer = json!({ "jsonrpc": "2.0", "id": ping["id"], "result": {} });
                let asked = json!({ "jsonrpc": "2.0", "id": "s", "method": "ping" });
                mock.send(json!([answer, asked])).await;
                mock.next().await.unwrap()
            });
            let client = connecting.await.unwrap();
            let answer = soon(client.request::<Ping>(Default::default()).into_future()).await;
            let answered = soon(playing).await.unwrap();
            assert_eq!(answered["id"], "s");
            if revision == Revision::V2025_03_26 || policy == Policy::Warn {
                answer.unwrap();
                assert_eq!(answered["result"], json!({}), "{revision}");
            } else {
                let told = answer.unwrap_err().to_string();
                assert!(told.contains("has no batches"), "{told}");
                assert_eq!(answered["error"]["code"], -32600, "{revision}");
            }
        }
    }
}

// A-7: what an error says beside the three members that it has is let through, if that is not switched off.
#[tokio::test]
async fn members_that_no_error_has() {
    for strict in [false, true] {
        let leniencies = match strict {
            true => Leniencies::NONE,
            false => Leniencies::ALL,
        };
        let options = ClientOptions::at(Revision::V2025_06_18).lenient(leniencies);
        let (connecting, playing) = against(options, |mut mock| async move {
            let request = mock.next().await.unwrap();
            play_legacy(&mut mock, &request).await;
            let ping = mock.next().await.unwrap();
            let error = json!({ "code": 7, "message": "no", "reason": "none" });
            mock.send(json!({ "jsonrpc": "2.0", "id": ping["id"], "error": error }))
                .await;
        });
        let client = connecting.await.unwrap();
        let answer = soon(client.request::<Ping>(Default::default()).into_future()).await;
        soon(playing).await.unwrap();
        let error = answer.unwrap_err();
        assert_eq!(error.code(), (!strict).then_some(7), "{error}");
        assert_eq!(
            error.to_string().contains("/error/reason"),
            strict,
            "{error}"
        );
    }
}

// B-12, C-4: what a client says of itself goes with its handshake or with every request.
#[tokio::test]
async fn what_a_client_says_of_itself() {
    let info = || Implementation::new("t", "1").with_website_url("no address");
    for (revision, place) in [
        (Revision::V2026_07_28, Some("`clientInfo`: `/websiteUrl`")),
        (Revision::V2025_11_25, Some("`/clientInfo/websiteUrl`")),
        // It has no such member yet.
        (Revision::V2025_06_18, None),
    ] {
        let connected = service()
            .connect_as(ClientOptions::at(revision).info(info()))
            .await;
        match place {
            None => _ = connected.unwrap(),
            Some(place) => {
                let told = connected.unwrap_err().to_string();
                assert!(told.contains(place), "{told}");
            }
        }
    }
}

// B-12: an answer of the handler that the revision does not allow stays here.
#[tokio::test]
async fn answers_that_a_revision_does_not_allow() {
    struct Always(Value);
    impl ClientHandler for Always {
        fn answer(&self, _: &str, _: Option<trueform::schema::Json>) -> Answering<'_> {
            let answer = self.0.clone().into();
            Box::pin(std::future::ready(Ok(answer)))
        }
    }
    let forbidden = json!({ "roots": [{ "uri": "no address" }] });
    let formless = json!({ "roots": "none" });
    for (policy, result, leaves) in [
        (Policy::Enforce, &forbidden, false),
        (Policy::Enforce, &formless, false),
        (Policy::Warn, &forbidden, true),
        (Policy::Warn, &formless, true),
        (Policy::Off, &forbidden, true),
        (Policy::Off, &formless, true),
    ] {
        let capabilities = serde_json::from_value(json!({ "roots": {} })).unwrap();
        let options = ClientOptions::at(Revision::V2025_06_18)
            .capabilities(capabilities)
            .handler(Always(result.clone()))
            .outgoing(policy);
        let (connecting, playing) = against(options, |mut mock| async move {
            let request = mock.next().await.unwrap();
            play_legacy(&mut mock, &request).await;
            mock.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "roots/list" }))
                .await;
            mock.next().await.unwrap()
        });
        let client = connecting.await.unwrap();
        let answer = soon(playing).await.unwrap();
        assert_eq!(answer.get("result"), leaves.then_some(result), "{answer}");
        assert_eq!(answer["error"]["code"] == -32603, !leaves, "{answer}");
        drop(client);
    }
}

// TRAP-19: a server whose pages lead back to each other keeps nobody.
#[tokio::test]
async fn lists_that_never_end_are_left() {
    let options = ClientOptions::at(Revision::V2025_06_18);
    let (connecting, playing) = against(options, |mut mock| async move {
        let request = mock.next().await.unwrap();
        play_legacy(&mut mock, &request).await;
        for next in ["a", "b", "a"] {
            let request = mock.next().await.unwrap();
            let tool = json!({ "name": next, "inputSchema": { "type": "object" } });
            mock.result(&request, json!({ "tools": [tool], "nextCursor": next }))
                .await;
        }
        mock.next().await
    });
    let client = connecting.await.unwrap();
    // Each once.
    assert_eq!(soon(client.list_tools()).await.unwrap().len(), 2);
    soon(client.close()).await;
    assert_eq!(soon(playing).await.unwrap(), None, "nothing more is asked");
}

// E-8, U-4, U-6, U-10
#[tokio::test]
async fn subscriptions_are_told_apart_and_end_with_their_owner() {
    let service = service();
    let client = service.connect().await.unwrap();
    let mut tools = trueform::schema::SubscriptionFilter::default();
    tools.tools_list_changed = Some(true);
    let mut first = client.listen(tools.clone()).await.unwrap();
    let mut second = client.listen(Default::default()).await.unwrap();
    let mut third = client.listen(tools).await.unwrap();
    assert_eq!(second.honoured().tools_list_changed, None);
    drop(first.next());
    service.handle().notify_tools_changed();
    assert!(first.next().await.is_some() && third.next().await.is_some());
    drop(first);
    // A request after the cancellation shows that it has arrived.
    client.list_tools().await.unwrap();
    service.handle().notify_tools_changed();
    assert!(third.next().await.is_some());
    service.handle().shut_down();
    assert!(second.next().await.is_none() && third.next().await.is_none());
    let legacy = service
        .connect_as(ClientOptions::at(Revision::V2025_06_18))
        .await;
    drop(legacy);
}

#[tokio::test]
async fn a_raw_client_says_only_what_it_is_told() {
    let service = service();
    let client = service
        .connect_as(ClientOptions::new().negotiation(Negotiation::Nothing))
        .await
        .unwrap();
    client.send_raw("nonsense").unwrap();
    assert!(
        soon(client.next_message())
            .await
            .unwrap()
            .contains("-32700")
    );
    // Typed requests are encoded without `_meta`, so the server does not know the era.
    assert_eq!(client.list_tools().await.unwrap_err().code(), Some(-32602));
    client.close_sending();
    assert_eq!(soon(client.next_message()).await, None);
}

/// The ids of the two sides are apart: a malformed request fails no request of the client, and is answered with an error.
#[tokio::test]
async fn a_malformed_request_of_the_server() {
    let options = ClientOptions::at(Revision::V2025_11_25);
    let (connecting, playing) = against(options, |mut mock| async move {
        let opening = mock.next().await.unwrap();
        play_legacy(&mut mock, &opening).await;
        let call = mock.next().await.unwrap();
        assert_eq!(call["method"], "tools/call");
        let malformed = json!({ "jsonrpc": "2.0", "id": call["id"], "method": 5 });
        mock.send(malformed).await;
        let refusal = mock.next().await.unwrap();
        assert_eq!(
            (&refusal["id"], &refusal["error"]["code"]),
            (&call["id"], &json!(-32600))
        );
        mock.result(&call, json!({ "content": [] })).await;
        // What may have been the answer still ends the waiting.
        let call = mock.next().await.unwrap();
        mock.send(json!({ "jsonrpc": "2.0", "id": call["id"] }))
            .await;
        mock
    });
    let client = connecting.await.unwrap();
    soon(async { client.call_tool("t", ()).await })
        .await
        .unwrap();
    let error = soon(async { client.call_tool("t", ()).await })
        .await
        .unwrap_err();
    assert!(
        matches!(error, ClientError::Local(LocalError::Decode(_))),
        "{error:?}"
    );
    drop(playing.await.unwrap());
}
