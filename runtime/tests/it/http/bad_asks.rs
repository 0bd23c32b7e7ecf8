//! What no client should do in the conversation with its server, over HTTP: each gets its code, status and pointer, within its bound,
//! while other calls go on.

use std::{pin::pin, time::Duration};

use serde_json::{Value, json};
use trueform::{HttpConfig, prelude::*, task::TaskSettings};

use super::support::{App, Got, Req};
use crate::{
    asking::{accept, keys, state, text},
    support::soon,
};

const OLD: [u8; 32] = [1; 32];
const NEW: [u8; 32] = [2; 32];
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Asks once.
#[tool]
async fn transfer(context: Context, amount: u32) -> Result<String, ToolError> {
    let sure = context.ask::<bool>("sure", "Sure?").await?;
    Ok(format!("{amount} {sure:?}"))
}

/// Asks for a text, and for another one.
#[tool]
async fn essay(context: Context) -> Result<String, ToolError> {
    let essay = context.ask::<String>("essay", "Write.").await?;
    let title = context.ask::<String>("title", "And the title?").await?;
    Ok(format!("{essay:?} {title:?}"))
}

/// Asks for ever.
#[tool]
async fn nosy(context: Context) -> Result<String, ToolError> {
    for number in 0.. {
        let _: Asked<bool> = context.ask(format!("more {number}"), "More?").await?;
    }
    Ok(String::new())
}

/// Uses a key twice.
#[tool]
async fn twice(context: Context) -> Result<String, ToolError> {
    let (first, second) = tokio::join!(
        context.ask::<bool>("same", "A?"),
        context.ask::<bool>("same", "B?")
    );
    Ok(format!("{:?} {:?}", first?, second?))
}

/// Uses a key twice, too.
#[prompt]
async fn twice_in_a_prompt(context: Context) -> Result<String, ToolError> {
    let first = context.ask::<bool>("same", "A?").await?;
    let second = context.ask::<bool>("same", "B?").await?;
    Ok(format!("{first:?} {second:?}"))
}

/// A prompt with the name of a tool.
#[prompt(name = "transfer")]
async fn transfer_prompt(context: Context) -> Result<String, ToolError> {
    let sure = context.ask::<bool>("sure", "Sure?").await?;
    Ok(format!("{sure:?}"))
}

/// Never ends.
#[tool(task = optional)]
async fn endless() -> String {
    std::future::pending().await
}

/// Never asks.
#[tool]
fn silent() -> &'static str {
    "goes on"
}

/// A text.
#[resource("shop://readme")]
fn readme() -> &'static str {
    "hello"
}

fn server(config: HttpConfig) -> Server {
    Server::new("bank", "1")
        .tools(tools![transfer, essay, nosy, twice, endless, silent])
        .prompts(prompts![twice_in_a_prompt, transfer_prompt])
        .resources(resources![readme])
        .ask_keys([OLD])
        .http(config)
}

fn app() -> App {
    App::serving(server(HttpConfig::default()))
}

/// A request of a client of 2026-07-28 that can be asked anything and has tasks.
fn request(method: &str, params: Value) -> Req {
    let able = json!({ "elicitation": {}, "extensions": { TASKS: {} } });
    request_with(able, method, params)
}

fn request_with(capabilities: Value, method: &str, mut params: Value) -> Req {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let name = params["name"].as_str().or(params["taskId"].as_str());
    let name = name.map(str::to_owned);
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = Req::post(message.to_string())
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    match name {
        Some(name) => request.header("mcp-name", &name),
        None => request,
    }
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// The same with what goes with an answer.
fn again(mut params: Value, state: &str, answers: Value) -> Value {
    params["requestState"] = state.into();
    params["inputResponses"] = answers;
    params
}

fn yes() -> Value {
    json!({ "sure": accept(json!({ "answer": true })) })
}

/// Sends `request`, and shows that others are served after it.
async fn sent(app: &App, request: Req) -> Got {
    let got = app.send(request).await;
    let other = app
        .send(self::request("tools/call", call("silent", json!({}))))
        .await;
    assert_eq!(other.text(), "goes on");
    got
}

/// `request` is refused with `code` and `status`, at `pointer`.
#[track_caller]
fn refused(got: &Got, row: &str, status: u16, code: i64, pointer: &str) {
    assert_eq!((got.status, got.code()), (status, code), "{row}: {got:?}");
    let found = &got.json()["error"]["data"]["pointer"];
    assert_eq!(found, pointer, "{row}: {got:?}");
    assert!(got.body.len() < 2048, "{row}: {} bytes", got.body.len());
}

// T-4, T-8, T-9, C-10
#[tokio::test]
async fn states() {
    let app = app();
    let transfer = || call("transfer", json!({ "amount": 5 }));
    let ann = |params| request("tools/call", params).principal(Some("ann"));
    let undeclared = request_with(json!({}), "tools/call", transfer());
    let got = sent(&app, undeclared).await;
    assert_eq!((got.status, got.code()), (400, -32021), "{got:?}");
    assert_eq!(
        got.json()["error"]["data"]["requiredCapabilities"],
        json!({ "elicitation": {} })
    );

    let asked = app.send(ann(transfer())).await.json();
    let sealed = state(&asked).to_owned();
    let middle = sealed.len() / 2;
    let mut flipped = sealed.clone().into_bytes();
    flipped[middle] = if flipped[middle] == b'A' { b'B' } else { b'A' };
    let rotated = App::serving(server(HttpConfig::default()).ask_keys([NEW]));
    let of_new_key = rotated.send(ann(transfer())).await.json();
    let with = |params: Value, state: &str| again(params, state, yes());
    let rows = [
        (
            "another caller",
            request("tools/call", with(transfer(), &sealed)).principal(Some("eve")),
        ),
        (
            "no caller",
            request("tools/call", with(transfer(), &sealed)),
        ),
        (
            "another method",
            request("prompts/get", with(json!({ "name": "transfer" }), &sealed))
                .principal(Some("ann")),
        ),
        (
            "other params",
            ann(with(call("transfer", json!({ "amount": 6 })), &sealed)),
        ),
        ("cut", ann(with(transfer(), &sealed[..middle]))),
        (
            "bit-flipped",
            ann(with(transfer(), &String::from_utf8(flipped).unwrap())),
        ),
        ("another key", ann(with(transfer(), state(&of_new_key)))),
        ("large", ann(with(transfer(), &"A".repeat(1 << 20)))),
    ];
    for (row, request) in rows {
        refused(
            &sent(&app, request).await,
            row,
            200,
            -32602,
            "/params/requestState",
        );
    }
    let old = sent(&rotated, ann(with(transfer(), &sealed))).await;
    refused(&old, "an old key", 200, -32602, "/params/requestState");
    assert_eq!(old.json()["error"]["data"]["rule"], "sealed");
    let hasty = App::serving(server(HttpConfig::default()).ask_expiry(Duration::from_nanos(1)));
    let asked = hasty.send(ann(transfer())).await.json();
    let late = sent(&hasty, ann(with(transfer(), state(&asked)))).await;
    refused(&late, "expired", 200, -32602, "/params/requestState");
    assert_eq!(late.json()["error"]["data"]["rule"], "expired");
    // Unchanged, it is fine.
    let done = sent(&app, ann(with(transfer(), &sealed))).await.json();
    assert_eq!(text(&done), "5 Accepted(true)");
}

// R-5, T-10
#[tokio::test]
async fn answers() {
    let app = app();
    let essay = || call("essay", json!({}));
    let asked = app.send(request("tools/call", essay())).await.json();
    let sealed = state(&asked).to_owned();
    let answered = |answers: Value| request("tools/call", again(essay(), &sealed, answers));
    for (row, answers) in [
        (
            "to a question never asked",
            json!({ "other": accept(json!({ "answer": "a" })) }),
        ),
        (
            "malformed, to a question never asked",
            json!({ "other": 5 }),
        ),
        (
            "of the wrong form",
            json!({ "essay": accept(json!({ "answer": 5 })) }),
        ),
        (
            "to a question of another kind",
            json!({ "essay": { "roots": [] } }),
        ),
        (
            "without content",
            json!({ "essay": { "action": "accept" } }),
        ),
    ] {
        let got = sent(&app, answered(answers)).await;
        assert_eq!(got.status, 200, "{row}: {got:?}");
        assert_eq!(keys(&got.json()), ["essay"], "{row}");
    }
    let malformed = sent(&app, answered(json!({ "essay": 5 }))).await;
    refused(
        &malformed,
        "malformed",
        200,
        -32602,
        "/params/inputResponses/essay",
    );

    // 10 MB: more than a body may have, and where it may have more, more than a call keeps.
    let long = || json!({ "essay": accept(json!({ "answer": "x".repeat(10 << 20) })) });
    let got = sent(&app, answered(long())).await;
    assert_eq!(got.status, 413, "{got:?}");
    assert!(got.body.len() < 2048);
    let config = HttpConfig::default().max_body(16 << 20);
    let roomy = App::serving(server(config));
    let got = sent(&roomy, answered(long())).await;
    refused(&got, "10 MB", 200, -32602, "/params/inputResponses/essay");
    assert_eq!(got.json()["error"]["data"]["rule"], "size");
}

// T-11: a handler that asks for ever, and one that uses a key twice.
#[tokio::test]
async fn handlers() {
    let app = App::serving(server(HttpConfig::default()).ask_rounds(3));
    let nosy = || call("nosy", json!({}));
    let mut last = sent(&app, request("tools/call", nosy())).await.json();
    let mut sizes = Vec::new();
    for round in 0..3 {
        let key = format!("more {round}");
        assert_eq!(keys(&last), [&*key]);
        sizes.push(state(&last).len());
        let answers = json!({ key: accept(json!({ "answer": true })) });
        let params = again(nosy(), state(&last), answers);
        let got = sent(&app, request("tools/call", params)).await;
        assert_eq!(got.status, 200, "{got:?}");
        last = got.json();
    }
    assert_eq!(last["result"]["isError"], true, "{last}");
    assert!(text(&last).contains("asked 3 times"), "{last}");
    assert!(sizes.iter().all(|size| *size < 2048), "{sizes:?}");

    let got = sent(&app, request("tools/call", call("twice", json!({})))).await;
    assert_eq!(got.status, 200, "{got:?}");
    let got = got.json();
    assert_eq!(got["result"]["isError"], true, "{got}");
    assert!(text(&got).contains("the key `same` is used twice"), "{got}");
    let prompt = || json!({ "name": "twice_in_a_prompt" });
    let asked = sent(&app, request("prompts/get", prompt())).await.json();
    let answers = json!({ "same": accept(json!({ "answer": true })) });
    let params = again(prompt(), state(&asked), answers);
    let got = sent(&app, request("prompts/get", params)).await;
    assert_eq!((got.status, got.code()), (200, -32603), "{got:?}");
}

async fn created(app: &App, whom: Option<&str>) -> String {
    let start = request("tools/call", call("endless", json!({}))).principal(whom);
    let created = app.send(start).await.json();
    created["result"]["taskId"].as_str().unwrap().to_owned()
}

// W-16, W-18, W-20, W-21
#[tokio::test]
async fn tasks_of_2026() {
    let brief = TaskSettings::new().default_ttl(Duration::from_millis(20));
    let brief = App::serving(server(HttpConfig::default()).tasks(brief));
    let app = app();
    let about = |method: &str, id: &str, whom| {
        let mut params = json!({ "taskId": id });
        if method == "tasks/update" {
            params["inputResponses"] = json!({});
        }
        request(method, params).principal(whom)
    };
    let id = created(&app, Some("ann")).await;
    let expired = created(&brief, None).await;
    soon(async {
        while brief
            .send(about("tasks/get", &expired, None))
            .await
            .json()
            .get("error")
            .is_none()
        {
            tokio::task::yield_now().await;
        }
    })
    .await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for (row, app, id, whom) in [
            ("another caller", &app, &*id, Some("eve")),
            ("no caller", &app, &id, None),
            ("unknown", &app, "5f", Some("ann")),
            ("expired", &brief, &expired, None),
        ] {
            let got = sent(app, about(method, id, whom)).await;
            refused(
                &got,
                &format!("{method}: {row}"),
                200,
                -32602,
                "/params/taskId",
            );
        }
    }
    // There is no result before the task is ready, and no method waits for it.
    let working = sent(&app, about("tasks/get", &id, Some("ann")))
        .await
        .json();
    assert_eq!(working["result"]["status"], "working", "{working}");
    assert!(working["result"].get("result").is_none(), "{working}");
    let got = sent(&app, about("tasks/result", &id, Some("ann"))).await;
    assert_eq!((got.status, got.code()), (404, -32601), "{got:?}");
    // W-16: cancelled twice is acknowledged twice.
    for _ in 0..2 {
        let got = sent(&app, about("tasks/cancel", &id, Some("ann"))).await;
        assert_eq!(got.status, 200, "{got:?}");
        assert_eq!(got.json()["result"]["resultType"], "complete", "{got:?}");
        let task = app.send(about("tasks/get", &id, Some("ann"))).await.json();
        assert_eq!(task["result"]["status"], "cancelled", "{task}");
    }
}

// W-9, W-10
#[tokio::test]
async fn tasks_of_2025() {
    let brief = TaskSettings::new().default_ttl(Duration::from_millis(20));
    let brief = App::serving(server(HttpConfig::default()).tasks(brief));
    let app = app();
    let start = async |app: &App, session: &str| {
        let params = r#"{"name":"endless","arguments":{},"task":{}}"#;
        let created = app
            .send(Req::legacy(session, "1", "tools/call", params))
            .await
            .json();
        created["result"]["task"]["taskId"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (session, other) = (
        app.session("2025-11-25").await,
        app.session("2025-11-25").await,
    );
    let id = start(&app, &session).await;
    let short = brief.session("2025-11-25").await;
    let expired = start(&brief, &short).await;
    let about = |session: &str, method: &str, id: &str| {
        Req::legacy(session, "2", method, &json!({ "taskId": id }).to_string())
    };
    // W-6: the wait for the result ends with the task at the latest.
    let waiting = brief.send(about(&short, "tasks/result", &expired)).await;
    refused(
        &waiting,
        "a result that never came",
        200,
        -32602,
        "/params/taskId",
    );
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        for (row, app, session, id) in [
            ("another caller", &app, &other, &*id),
            ("unknown", &app, &session, "5f"),
            ("a long id", &app, &session, &"x".repeat(1 << 20)),
            ("expired", &brief, &short, &expired),
        ] {
            let row = format!("{method}: {row}");
            let got = sent(app, about(session, method, id)).await;
            refused(&got, &row, 200, -32602, "/params/taskId");
        }
    }
    // The result before it is ready: the request waits, others do not.
    let mut waiting = pin!(app.send(about(&session, "tasks/result", &id)));
    tokio::select! {
        biased;
        early = &mut waiting => panic!("{early:?}"),
        got = sent(&app, about(&session, "tasks/cancel", &id)) => {
            assert_eq!(got.json()["result"]["status"], "cancelled", "{got:?}");
        }
    }
    let got = waiting.await;
    assert!(got.json().get("error").is_some(), "{got:?}");
    let got = sent(&app, about(&session, "tasks/cancel", &id)).await;
    refused(&got, "cancelled twice", 200, -32602, "/params/taskId");
    assert_eq!(got.json()["error"]["data"]["rule"], "running-task");
}

// U-1, U-3
#[tokio::test]
async fn filters() {
    let app = app();
    let listen =
        |filter: Value| request("subscriptions/listen", json!({ "notifications": filter }));
    let mut stream = app
        .open(listen(
            json!({ "com.example/other": true, "toolsListChanged": true }),
        ))
        .await;
    assert_eq!(stream.status, 200);
    let first = soon(stream.event()).await.unwrap().json();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        first["params"]["notifications"],
        json!({ "toolsListChanged": true })
    );
    for (filter, pointer) in [
        (json!({ "toolsListChanged": "yes" }), "/toolsListChanged"),
        (
            json!({ "resourceSubscriptions": "a" }),
            "/resourceSubscriptions",
        ),
        (
            json!({ "resourceSubscriptions": ["a:b", 5] }),
            "/resourceSubscriptions/1",
        ),
        (json!([]), ""),
    ] {
        let got = sent(&app, listen(filter.clone())).await;
        let pointer = format!("/params/notifications{pointer}");
        refused(&got, &filter.to_string(), 200, -32602, &pointer);
    }
}

// U-4: a storm of 100,000 updates, and a subscriber that never reads. Calls go on meanwhile, and what waits for it is one
// update.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_updates() {
    let app = app();
    let filter = json!({ "notifications": { "resourceSubscriptions": ["shop://readme"] } });
    let mut silent = app.open(request("subscriptions/listen", filter)).await;
    let first = soon(silent.event()).await.unwrap().json();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    let handle = app.handle.clone();
    let storm = std::thread::spawn(move || {
        (0..100_000).for_each(|_| assert!(handle.resource_updated("shop://readme")));
    });
    let mut calls = 0;
    while !storm.is_finished() || calls < 20 {
        let other = app
            .send(request("tools/call", call("silent", json!({}))))
            .await;
        assert_eq!(other.text(), "goes on");
        calls += 1;
    }
    storm.join().unwrap();
    // What was kept: one update, not 100,000. The end of the server ends the stream, so that all of it is read.
    app.handle.shut_down();
    let mut waited = 0;
    while let Some(event) = soon(silent.event()).await {
        waited += event.data.len();
    }
    assert!((1..=1024).contains(&waited), "{waited} bytes waited");
}
