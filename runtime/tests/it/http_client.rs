//! The client over Streamable HTTP, on loopback sockets: what it sends, and what it makes of answers.

mod authorized;
mod bad_input;
mod entry;
mod faults;
mod handshakes;
mod hostile;
mod order;
mod rejoined;
mod remembered;
mod renewals;
mod resumed;
mod retried;
mod runtimes;
mod server;
mod sessions;
mod taken_over;

use std::future::IntoFuture;

use serde_json::{Value, json};
use trueform::{
    Client, Policy,
    client::{ClientError, ClientOptions, HttpEndpoint, HttpError, LocalError},
    prelude::*,
    schema::methods::RootsListChanged,
};

use self::server::{Scripted, called, event, legacy, modern};
use crate::support::soon;

pub(crate) fn old() -> ClientOptions {
    ClientOptions::at(Revision::V2025_11_25)
}

pub(crate) fn new() -> ClientOptions {
    ClientOptions::at(Revision::V2026_07_28)
}

pub(crate) async fn connect(server: &Scripted, options: ClientOptions) -> Client {
    let connecting = HttpEndpoint::new(&*server.url).connect_as(options);
    soon(connecting).await.expect("a connection")
}

pub(crate) async fn call(client: &Client, name: &str) -> Result<String, ClientError> {
    let called = soon(client.call_tool(name, ()).into_future()).await;
    called.map(|result| result.text())
}

/// The HTTP error that an outcome is.
#[track_caller]
pub(crate) fn failed<T: std::fmt::Debug>(outcome: Result<T, ClientError>) -> HttpError {
    match outcome {
        Err(ClientError::Local(LocalError::Http(error))) => *error,
        other => panic!("expected an error of HTTP, found {other:?}"),
    }
}

// G-1, G-2, G-4, G-5, G-6: a session from beginning to end, with an answer of either kind.
#[tokio::test]
async fn a_session() {
    let server = Scripted::start(|asked, answer| async move {
        let Some((asked, mut answer)) = legacy(asked, answer, "s-1").await else {
            return;
        };
        match asked.body["params"]["name"].as_str() {
            Some("json") => answer.result(&asked, called("as json")).await,
            Some("events") => {
                answer.events().await;
                let body =
                    json!({ "jsonrpc": "2.0", "id": asked.id(), "result": called("as events") });
                answer
                    .write(format!(": hello\r\n\r\n{}", event(body)))
                    .await;
            }
            _ => answer.reply("405 Method Not Allowed", "", "").await,
        }
    })
    .await;
    let client = connect(&server, old()).await;
    assert_eq!(call(&client, "json").await.unwrap(), "as json");
    assert_eq!(call(&client, "events").await.unwrap(), "as events");
    soon(client.close()).await;

    let asked = server.asked.lock().unwrap().clone();
    let whats: Vec<_> = asked.iter().map(server::Asked::what).collect();
    let expected = [
        "initialize",
        "notifications/initialized",
        "GET",
        "tools/call",
        "tools/call",
        "DELETE",
    ];
    assert_eq!(whats, expected);
    for asked in &asked {
        let what = asked.what();
        let is_first = what == "initialize";
        assert_eq!(
            asked.header("mcp-session-id"),
            (!is_first).then_some("s-1"),
            "{what}"
        );
        assert_eq!(
            asked.header("mcp-protocol-version"),
            (!is_first).then_some("2025-11-25"),
            "{what}"
        );
        let accept = match &*asked.method {
            "POST" => Some("application/json, text/event-stream"),
            "GET" => Some("text/event-stream"),
            _ => Some("*/*"),
        };
        assert_eq!(asked.header("accept"), accept, "{what}");
        for modern in ["mcp-method", "mcp-name", "last-event-id", "accept-encoding"] {
            assert_eq!(asked.header(modern), None, "{what} {modern}");
        }
    }
}

// G-8, G-9, G-10, GAP-4, TRAP-15, TRAP-16
#[tokio::test]
async fn headers_of_the_modern_era() {
    let server = Scripted::start(|asked, answer| async move {
        let Some((asked, answer)) = modern(asked, answer).await else {
            return;
        };
        let annotated = |property: Value| json!({ "type": "object", "properties": property });
        let text = |name: &str| json!({ "type": "string", "x-mcp-header": name });
        let tools = json!([
            { "name": "good", "inputSchema": annotated(json!({
                "a": text("A"), "n": { "type": "integer", "x-mcp-header": "N" }, "b": { "type": "boolean", "x-mcp-header": "B" },
                "deep": { "type": "object", "properties": { "c": text("C") } }, "plain": { "type": "string" },
            })) },
            { "name": "number", "inputSchema": annotated(json!({ "a": { "type": "number", "x-mcp-header": "A" } })) },
            { "name": "empty", "inputSchema": annotated(json!({ "a": text("") })) },
            { "name": "twice", "inputSchema": annotated(json!({ "a": text("A"), "b": text("a") })) },
        ]);
        match asked.what() {
            "tools/list" => {
                let result = json!({ "tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
                answer.result(&asked, result).await;
            }
            "tools/call" => answer.result(&asked, called("done")).await,
            _ => answer.reply("202 Accepted", "", "").await,
        }
    })
    .await;
    let client = connect(&server, new().outgoing(Policy::Off)).await;
    let tools = soon(client.list_tools()).await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["good"]);
    let sent = json!({ "a": "caf\u{e9}", "n": 42, "b": false, "deep": { "c": "" }, "plain": "x" });
    soon(client.call_tool("good", sent).into_future())
        .await
        .unwrap();
    let null = json!({ "a": "=?base64?x?=", "n": null, "deep": { "c": " y" } });
    soon(client.call_tool("good", null).into_future())
        .await
        .unwrap();
    soon(client.call_tool("h\u{f6}", ()).into_future())
        .await
        .unwrap();
    client
        .notify::<RootsListChanged>(&Default::default())
        .unwrap();
    soon(client.close()).await;

    let asked = server.asked.lock().unwrap().clone();
    for asked in &asked {
        assert_eq!(
            asked.header("mcp-protocol-version"),
            Some("2026-07-28"),
            "{}",
            asked.what()
        );
        assert_eq!(asked.header("mcp-method"), Some(asked.what()));
        assert_eq!(asked.header("mcp-session-id"), None);
    }
    let whats: Vec<_> = asked.iter().map(server::Asked::what).collect();
    let expected = [
        "server/discover",
        "tools/list",
        "tools/call",
        "tools/call",
        "tools/call",
        "notifications/roots/list_changed",
    ];
    assert_eq!(whats, expected, "neither GET nor DELETE");
    for (at, name, params) in [
        (
            2,
            "good",
            [
                Some("=?base64?Y2Fmw6k=?="),
                Some("42"),
                Some("false"),
                Some(""),
            ],
        ),
        (
            3,
            "good",
            [
                Some("=?base64?PT9iYXNlNjQ/eD89?="),
                None,
                None,
                Some("=?base64?IHk=?="),
            ],
        ),
        (4, "=?base64?aMO2?=", [None; 4]),
    ] {
        assert_eq!(asked[at].header("mcp-name"), Some(name));
        let found = ["a", "n", "b", "c"].map(|name| asked[at].header(&format!("mcp-param-{name}")));
        assert_eq!(found, params, "{name}");
        assert_eq!(asked[at].header("mcp-param-plain"), None);
    }
}

// O-3: the modern era cancels by closing the stream, the legacy one by a message.
#[tokio::test]
async fn cancellation() {
    for (options, is_modern) in [(old(), false), (new(), true)] {
        let (begun, mut began) = tokio::sync::mpsc::unbounded_channel();
        let server = Scripted::start(move |asked, answer| {
            let begun = begun.clone();
            async move {
                let left = match is_modern {
                    true => modern(asked, answer).await,
                    false => legacy(asked, answer, "s").await,
                };
                let Some((asked, mut answer)) = left else {
                    return;
                };
                match asked.what() {
                    "tools/call" => {
                        begun.send("called").unwrap();
                        answer.events().await;
                        answer.closed().await;
                        begun.send("closed").unwrap();
                    }
                    "notifications/cancelled" => {
                        answer.reply("202 Accepted", "", "").await;
                        begun.send("cancelled").unwrap();
                    }
                    _ => answer.reply("405 Method Not Allowed", "", "").await,
                }
            }
        })
        .await;
        let client = connect(&server, options).await;
        let calling = tokio::spawn(client.call_tool("x", ()).into_future());
        assert_eq!(soon(began.recv()).await, Some("called"));
        calling.abort();
        let mut after = vec![soon(began.recv()).await.unwrap()];
        if !is_modern {
            after.push(soon(began.recv()).await.unwrap());
        }
        after.sort_unstable();
        let expected = if is_modern {
            &["closed"][..]
        } else {
            &["cancelled", "closed"]
        };
        assert_eq!(after, expected);
        soon(client.close()).await;
        assert_eq!(
            server.all("notifications/cancelled").len(),
            usize::from(!is_modern)
        );
        for cancelled in server.all("notifications/cancelled") {
            assert_eq!(
                &cancelled.body["params"]["requestId"],
                server.all("tools/call")[0].id()
            );
        }
    }
}

// D-8, D-9, D-12, TRAP-05: what the answer to the probe says of the era.
#[tokio::test]
async fn which_era() {
    let error = |code: i64| {
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": "no" } })
            .to_string()
    };
    for (status, body, is_legacy) in [
        ("400 Bad Request", String::new(), true),
        ("400 Bad Request", error(-32000), true),
        ("404 Not Found", error(-32601), true),
        ("404 Not Found", "not here".to_owned(), true),
        ("405 Method Not Allowed", String::new(), true),
        ("406 Not Acceptable", String::new(), true),
        ("400 Bad Request", error(-32020), false),
        ("400 Bad Request", error(-32021), false),
        ("400 Bad Request", error(-32022), false),
        ("401 Unauthorized", String::new(), false),
        ("403 Forbidden", String::new(), false),
        ("429 Too Many Requests", String::new(), false),
        ("500 Internal Server Error", String::new(), false),
        ("503 Service Unavailable", String::new(), false),
    ] {
        let refusal = body.clone();
        let server = Scripted::start(move |asked, answer| {
            let refusal = refusal.clone();
            async move {
                if let Some((asked, answer)) = legacy(asked, answer, "s").await {
                    match asked.what() {
                        "server/discover" => {
                            answer
                                .reply(status, "content-type: application/json\r\n", refusal)
                                .await
                        }
                        _ => answer.reply("405 Method Not Allowed", "", "").await,
                    }
                }
            }
        })
        .await;
        let connected = soon(Client::connect(&*server.url)).await;
        assert_eq!(
            connected.is_ok(),
            is_legacy,
            "{status} {body}: {connected:?}"
        );
        assert_eq!(
            server.all("initialize").len(),
            usize::from(is_legacy),
            "{status} {body}"
        );
    }
}

// F-15: what belongs to no request arrives, as soon as the client is connected.
#[tokio::test]
async fn the_sessions_own_stream() {
    let server = Scripted::start(|asked, answer| async move {
        if let Some((asked, mut answer)) = legacy(asked, answer, "s").await {
            assert_eq!(asked.what(), "GET");
            answer.events().await;
            let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            let ping = json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" });
            answer.write(event(ping)).await;
            tokio::task::yield_now().await;
            answer.write(event(changed)).await;
            answer.closed().await;
        }
    })
    .await;
    let client = connect(&server, old()).await;
    let messages = async {
        loop {
            let message = client.next_message().await.expect("a message");
            if message.contains("list_changed") {
                break;
            }
        }
    };
    soon(messages).await;
    // The answer to the server's question is a message of its own.
    let answered = async {
        while server
            .asked
            .lock()
            .unwrap()
            .iter()
            .all(|asked| *asked.id() != json!("p"))
        {
            tokio::task::yield_now().await;
        }
    };
    soon(answered).await;
    soon(client.close()).await;
}
