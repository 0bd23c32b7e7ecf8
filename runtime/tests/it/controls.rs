//! The layers that are shipped: time limits, limits on concurrency, the audit log, limits of the size of responses.

mod concurrency;
mod kinds;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use trueform::{
    Service,
    client::{Client, ClientOptions, Negotiation},
    jsonrpc::MAX_REPEATED,
    layer::{
        AuditLog, CallEnd, CallInfo, CallLayer, CallOutcome, CallScope, ResponseLimit, TimeLimit,
    },
    prelude::*,
    prompt::DynamicPrompt,
    schema::ErrorObject,
};

use crate::{
    around::{built, server as tools_and_extension},
    extended::{WAYS, Way},
    support::{self, Collected, Director, initialize, legacy, raw, soon},
};

const CANCELLED: &str = "notifications/cancelled";

/// Returns `bytes` bytes, and as many in `_meta`.
#[tool]
fn large(context: Context, bytes: usize, meta: usize) -> String {
    if meta != 0 {
        context.set_result_meta("com.example/large", "m".repeat(meta));
    }
    "x".repeat(bytes)
}

/// Fails with `bytes` bytes.
#[tool]
fn large_error(bytes: usize) -> Result<(), ToolError> {
    Err(ToolError::protocol(ErrorObject::new(7, "x".repeat(bytes))))
}

/// Returns numbers.
#[tool]
fn numbers(count: usize) -> Vec<usize> {
    (0..count).collect()
}

/// Prompts whose names are those of tools: one that is as large as its argument says, one that never ends, as its completion.
fn prompts() -> [DynamicPrompt; 2] {
    let large = DynamicPrompt::new("large")
        .argument("bytes", "How large.", true)
        .complete("bytes", |_| ["1".repeat(100)])
        .handler(|_, arguments| async move {
            let bytes = arguments.get("bytes").unwrap().parse().unwrap();
            "x".repeat(bytes)
        });
    let wait = DynamicPrompt::new("wait")
        .argument("label", "What it is called.", true)
        .complete("label", async |_| {
            std::future::pending::<Vec<String>>().await
        })
        .handler(|_, _| std::future::pending::<String>());
    [large, wait]
}

fn server() -> (Server, Director) {
    let (server, director) = tools_and_extension();
    let server = server.tools(tools![large, large_error, numbers]);
    let server = prompts().into_iter().fold(server, Server::prompts);
    let large = DynamicResource::new("note://large", "large").handler(async |_| "x".repeat(2000));
    let wait = DynamicResource::new("note://wait", "wait")
        .handler(async |_| std::future::pending::<String>().await);
    let server = server.resources(large).resources(wait);
    (server, director)
}

/// The params of a call of a tool or a prompt.
fn named(name: &str, arguments: &Value) -> String {
    format!(r#""name":"{name}","arguments":{arguments}"#)
}

/// The params of the completion of an argument of a prompt.
fn completing(prompt: &str, argument: &str) -> String {
    format!(
        r#""ref":{{"type":"ref/prompt","name":"{prompt}"}},"argument":{{"name":"{argument}","value":""}}"#
    )
}

async fn answer(way: Way, service: &Service, method: &str, params: &str) -> Value {
    let mut answers = way
        .answers(service, &[way.request("1", method, params)])
        .await;
    answers.pop().expect("an answer")
}

/// The text of a result with `isError`.
#[track_caller]
fn tool_error(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

/// The message of an internal error.
#[track_caller]
fn internal(answer: &Value) -> &str {
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    answer["error"]["message"].as_str().unwrap()
}

async fn opened(service: &Service) -> Client {
    let client = raw(service).await;
    for line in initialize("2025-11-25") {
        client.send_raw(line).unwrap();
    }
    client.next_message().await.unwrap();
    client
}

fn waits(client: &Client, id: u32) {
    let params = format!("{{{}}}", named("wait", &json!({ "label": id.to_string() })));
    let line = legacy(&id.to_string(), "tools/call", &params);
    client.send_raw(line).unwrap();
}

fn cancel(client: &Client, id: u32) {
    let line =
        format!(r#"{{"jsonrpc":"2.0","method":"{CANCELLED}","params":{{"requestId":{id}}}}}"#);
    client.send_raw(line).unwrap();
}

async fn next(client: &Client) -> Value {
    serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap()
}

// One limit for each call, another one for a name, for every kind of call.
#[tokio::test(start_paused = true)]
async fn time_limits() {
    let ms = Duration::from_millis;
    let by_name = || TimeLimit::new(ms(20)).named("overruns", ms(5000));
    let only = || TimeLimit::only_named().named("overruns", ms(30));
    for way in WAYS {
        let (server, _director) = self::server();
        let service = built(server.layer(by_name()));
        let hold = named("wait", &json!({"label": "x"}));
        for (method, params, expected) in [
            (
                "tools/call",
                &*hold,
                "tool `wait` did not finish within 20ms",
            ),
            // The tool's own limit is shorter.
            (
                "tools/call",
                r#""name":"overruns""#,
                "tool `overruns` did not finish within 1s",
            ),
        ] {
            let answer = answer(way, &service, method, params).await;
            assert_eq!(tool_error(&answer), expected, "{way:?}");
        }
        for (method, params, expected) in [
            ("prompts/get", &*hold, "`wait` did not finish within 20ms"),
            (
                "completion/complete",
                &*completing("wait", "label"),
                "`wait` did not finish within 20ms",
            ),
            (
                "resources/read",
                r#""uri":"note://wait""#,
                "`note://wait` did not finish within 20ms",
            ),
            ("own/waits", "", "`own/waits` did not finish within 20ms"),
        ] {
            let answer = answer(way, &service, method, params).await;
            assert_eq!(internal(&answer), expected, "{way:?}");
        }
        let (server, _director) = self::server();
        let service = built(server.layer(only()).layer(TimeLimit::only_named()));
        let answer = answer(way, &service, "tools/call", r#""name":"overruns""#).await;
        assert_eq!(
            tool_error(&answer),
            "tool `overruns` did not finish within 30ms"
        );
    }
}

/// What was audited, without the durations.
fn audited(told: &Collected<String>) -> Vec<String> {
    let lines = told.take().into_iter();
    let lines = lines.filter_map(|line| {
        let rest = line.strip_prefix("INFO target=trueform::audit ")?;
        let (before, micros) = rest.split_once("micros=")?;
        let (micros, bytes) = micros.split_once(' ')?;
        assert!(micros.parse::<u64>().is_ok(), "{line}");
        Some(format!("{before}{bytes}"))
    });
    lines.collect()
}

// One event for each call of every kind, whoever calls, and never an argument or a result.
#[tokio::test(start_paused = true)]
async fn audit_log() {
    for way in WAYS {
        let told = support::log();
        let service = built(
            server()
                .0
                .layer(AuditLog)
                .layer(TimeLimit::new(Duration::from_secs(2))),
        );
        let secret = json!({"bytes": 3, "meta": 0, "hunter2": "hunter2"});
        for (method, params, what, outcome) in [
            (
                "tools/call",
                named("add", &json!({"a": 77001, "b": 1})),
                "add",
                "ok",
            ),
            ("tools/call", named("large", &secret), "large", "tool error"),
            (
                "tools/call",
                named("refuses", &json!({})),
                "refuses",
                "error 5",
            ),
            (
                "tools/call",
                named("panics", &json!({})),
                "panics",
                "tool error",
            ),
            (
                "tools/call",
                named("overruns", &json!({})),
                "overruns",
                "tool error",
            ),
            (
                "prompts/get",
                named("large", &json!({"bytes": "77001"})),
                "large",
                "ok",
            ),
            (
                "prompts/get",
                named("wait", &json!({"label": "hunter2"})),
                "wait",
                "error -32603",
            ),
            (
                "completion/complete",
                completing("large", "bytes"),
                "large",
                "ok",
            ),
            (
                "resources/read",
                r#""uri":"note://large""#.to_owned(),
                "note://large",
                "ok",
            ),
            ("own/fails", String::new(), "own/fails", "error 7"),
        ] {
            let mut answer = answer(way, &service, method, &params).await;
            let bytes = std::mem::take(&mut answer).to_string().len();
            let client = if way.modern { "" } else { r#"client="t" "# };
            let expected = format!(
                r#"{client}method="{method}" name="{what}" outcome="{outcome}" bytes={bytes}"#
            );
            let lines = audited(&told);
            assert_eq!(lines, [expected], "{way:?}");
            for line in lines {
                assert!(
                    !line.contains("hunter2") && !line.contains("77001"),
                    "{line}"
                );
            }
        }
        // What is not a call.
        for (method, params) in [("tools/list", ""), ("tools/call", r#""name":"none""#)] {
            answer(way, &service, method, params).await;
            assert_eq!(audited(&told), [""; 0], "{way:?} {params}");
        }
    }
}

// A call that is given up is audited too. A name that is hostile or long does no harm.
#[tokio::test]
async fn audit_log_of_hostile_names() {
    let told = support::log();
    let (server, director) = server();
    let service = built(server.layer(AuditLog));
    let long = "x".repeat(MAX_REPEATED + 1);
    let options = ClientOptions::new()
        .negotiation(Negotiation::Nothing)
        .principal(Principal::new(format!("ann\n\u{1b}[31m{long}")));
    let client = service.connect_as(options).await.unwrap();
    let [initialize, initialized] = initialize("2025-11-25");
    let name = r#""name":"t\u2028\r\nINFO forged""#;
    client
        .send_raw(initialize.replace(r#""name":"t""#, name))
        .unwrap();
    client.send_raw(initialized).unwrap();
    client.next_message().await.unwrap();
    waits(&client, 1);
    assert_eq!(director.begun().await, "1");
    cancel(&client, 1);
    assert_eq!(director.begun().await, "dropped 1");
    client.send_raw(legacy("2", "ping", "{}")).unwrap();
    next(&client).await;
    let lines = soon(async {
        loop {
            let lines = audited(&told);
            if !lines.is_empty() {
                return lines;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    let shown = format!(r"ann\n\u{{1b}}[31m{}…", &long[..MAX_REPEATED - 15]);
    let expected = format!(
        r#"principal="{shown}" client="t\u{{2028}}\r\nINFO forged" method="tools/call" name="wait" outcome="given up" bytes=0"#
    );
    assert_eq!(lines, [expected]);
}

// A response that is larger than its limit is not sent, whatever it is; the answer gives both sizes.
#[tokio::test]
async fn response_limits() {
    for way in WAYS {
        let free = built(server().0);
        let service = built(
            server()
                .0
                .layer(ResponseLimit::new(2000).named("own/ok", 1)),
        );
        let sizes = |bytes: usize| format!("has {bytes} bytes; at most 2000 are allowed");
        for (method, params) in [
            (
                "tools/call",
                named("large", &json!({"bytes": 2000, "meta": 0})),
            ),
            (
                "tools/call",
                named("large", &json!({"bytes": 1, "meta": 2000})),
            ),
            ("tools/call", named("large_error", &json!({"bytes": 2000}))),
            ("tools/call", named("numbers", &json!({"count": 1000}))),
            ("prompts/get", named("large", &json!({"bytes": "2000"}))),
            ("resources/read", r#""uri":"note://large""#.to_owned()),
        ] {
            let whole = answer(way, &free, method, &params).await.to_string();
            let cut = answer(way, &service, method, &params).await;
            let message = match method {
                "tools/call" => tool_error(&cut),
                _ => internal(&cut),
            };
            assert!(
                message.ends_with(&sizes(whole.len())),
                "{way:?} {params}: {message}"
            );
            assert!(cut.to_string().len() < 600, "{way:?} {params}: {cut}");
        }
        let tiny = answer(way, &service, "own/ok", "").await;
        assert!(
            internal(&tiny).starts_with("the response of `own/ok` has "),
            "{tiny}"
        );
        assert!(
            internal(&tiny).ends_with(" bytes; at most 1 are allowed"),
            "{tiny}"
        );
        // What fits is sent as it is.
        for (method, params) in [
            (
                "tools/call",
                named("large", &json!({"bytes": 1000, "meta": 0})),
            ),
            ("prompts/get", named("large", &json!({"bytes": "1000"}))),
            ("completion/complete", completing("large", "bytes")),
            ("own/fails", String::new()),
        ] {
            let whole = answer(way, &free, method, &params).await;
            assert_eq!(
                answer(way, &service, method, &params).await,
                whole,
                "{way:?}"
            );
        }
    }
}

/// Collects the ends of calls.
struct Ends(Arc<Collected<CallEnd>>);

impl CallLayer for Ends {
    fn begin(&self, _: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError> {
        Ok(Some(Box::new(Self(self.0.clone()))))
    }
}

impl CallScope for Ends {
    fn ended(self: Box<Self>, end: &CallEnd) {
        self.0.push(*end);
    }
}

// The limit is the last size that fits, the smallest of several counts, and the layers see what the client gets.
#[tokio::test]
async fn the_smallest_response_limit() {
    let params = named("large", &json!({"bytes": 1000, "meta": 0}));
    for way in WAYS {
        let free = built(server().0);
        let size = answer(way, &free, "tools/call", &params)
            .await
            .to_string()
            .len();
        for (limits, fits) in [
            ([size, size + 1], true),
            ([size - 1, size], false),
            ([size + 1, size - 1], false),
        ] {
            let ends = Arc::<Collected<CallEnd>>::default();
            let server = server().0.layer(Ends(ends.clone()));
            let server = limits
                .map(ResponseLimit::new)
                .into_iter()
                .fold(server, Server::layer);
            let service = built(server.layer(ResponseLimit::only_named().named("add", 1)));
            let answer = answer(way, &service, "tools/call", &params).await;
            assert_eq!(
                answer["result"]["isError"] != true,
                fits,
                "{way:?} {limits:?}"
            );
            let outcome = match fits {
                true => CallOutcome::Result,
                false => CallOutcome::ToolError,
            };
            let sent = answer.to_string().len();
            let seen: Vec<_> = ends
                .take()
                .iter()
                .map(|end| (end.outcome, end.response_bytes))
                .collect();
            assert_eq!(seen, [(outcome, sent)], "{way:?} {limits:?}");
        }
    }
}
