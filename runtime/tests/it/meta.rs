//! What a tool reads of the request's `_meta`, what it adds to that of its result, and what it sends besides.

use serde_json::{Value, json};
use trueform::{
    AskError, Service,
    prelude::*,
    schema::{
        Json as RawJson, LoggingMessageNotificationParams, NotificationParams,
        ProgressNotificationParams, ProgressToken, ResourceUpdatedNotificationParams,
        ext::tasks,
        methods::{AnyNotification, Initialized, LoggingMessage, Progress, ResourceUpdated},
    },
};

use crate::{
    asks::LEGACY,
    support::{conversation, initialize, joined, legacy, modern},
};

/// Repeats a member of the request's `_meta` in that of the result.
#[tool]
fn repeat(context: Context, key: String) -> String {
    if let Some(value) = context.meta(&key) {
        context.set_result_meta("com.example/first", "replaced");
        context.set_result_meta("com.example/first", value);
    }
    context.method().to_owned()
}

/// Puts `key` into the `_meta` of the result.
#[tool]
fn put(context: Context, key: String) -> &'static str {
    context.set_result_meta(key, true);
    "secret"
}

/// A result that has a `_meta` of its own.
#[tool]
fn own(context: Context) -> CallToolResult {
    context.set_result_meta("com.example/a", 1);
    context.set_result_meta("com.example/b", 2);
    serde_json::from_value(json!({ "content": [], "_meta": { "com.example/a": 0 } })).unwrap()
}

/// Fails, and says more in the `_meta` of the result.
#[tool]
fn fail(context: Context) -> Result<(), ToolError> {
    context.set_result_meta("com.example/a", 1);
    Err(ToolError::new("failed"))
}

fn became<N: AnyNotification>(context: &Context, params: N::Params) -> String {
    match context.notify::<N>(&params) {
        Ok(()) => "sent".to_owned(),
        Err(AskError::NotAtThisRevision) => "not at this revision".to_owned(),
        Err(problem) => problem.to_string(),
    }
}

/// Sends notifications of several kinds, and says what became of them.
#[tool]
fn notify(context: Context) -> String {
    let updated = |uri| ResourceUpdatedNotificationParams::new(uri);
    let value = RawJson::from(json!("x"));
    let token: ProgressToken = serde_json::from_value(json!(1)).unwrap();
    let task = serde_json::from_value(json!({
        "taskId": "1",
        "status": "working",
        "createdAt": "2026-07-28T00:00:00Z",
        "lastUpdatedAt": "2026-07-28T00:00:00Z",
        "ttlMs": null,
    }));
    [
        became::<ResourceUpdated>(&context, updated("file:///a")),
        became::<ResourceUpdated>(&context, updated("no uri")),
        became::<Initialized>(&context, NotificationParams::default()),
        became::<LoggingMessage>(
            &context,
            LoggingMessageNotificationParams::new(value, LoggingLevel::Error),
        ),
        became::<Progress>(&context, ProgressNotificationParams::new(1.0, token)),
        became::<tasks::methods::TaskUpdated>(&context, task.unwrap()),
    ]
    .join("; ")
}

fn service() -> Service {
    let server = Server::new("meta", "1").tools(tools![repeat, put, own, fail, notify]);
    server.build().unwrap()
}

/// What the server says to a call of `tool` at `revision`, its handshake left out.
async fn call(revision: &str, tool: &str, arguments: Value, meta: &str) -> Vec<Value> {
    let params = format!(r#""name":"{tool}","arguments":{arguments}"#);
    let lines = match revision {
        "2026-07-28" => {
            let request = modern("1", "tools/call", &format!(",{params}"));
            let comma = if meta.is_empty() { "" } else { "," };
            let meta = format!(r#""_meta":{{{meta}{comma}"#);
            vec![request.replacen(r#""_meta":{"#, &meta, 1)]
        }
        _ => {
            let params = format!(r#"{{"_meta":{{{meta}}},{params}}}"#);
            let [initialize, initialized] = initialize(revision);
            vec![initialize, initialized, legacy("1", "tools/call", &params)]
        }
    };
    let answers = conversation(&service(), joined(&lines)).await;
    let answers = answers
        .iter()
        .map(|line| serde_json::from_str(line).unwrap());
    let skipped = usize::from(revision != "2026-07-28");
    answers.skip(skipped).collect()
}

fn all() -> impl Iterator<Item = &'static str> {
    LEGACY.into_iter().chain(["2026-07-28"])
}

#[tokio::test]
async fn meta_comes_in_and_goes_out_at_every_revision() {
    for revision in all() {
        let key = json!({ "key": "com.example/told" });
        let told = r#""com.example/told":{"deep":[1.0,null]}"#;
        let answers = call(revision, "repeat", key.clone(), told).await;
        let [answer] = &answers[..] else {
            panic!("{revision}: {answers:?}");
        };
        let result = &answer["result"];
        assert_eq!(result["content"][0]["text"], "tools/call", "{revision}");
        let meta = &result["_meta"]["com.example/first"];
        assert_eq!(
            *meta,
            json!({ "deep": [1.0, null] }),
            "{revision}: {answer}"
        );

        let answers = call(revision, "repeat", key, "").await;
        let meta = &answers[0]["result"]["_meta"]["com.example/first"];
        assert_eq!(*meta, Value::Null, "{revision}");
    }
}

// What the protocol defines has methods of its own.
#[tokio::test]
async fn members_of_the_protocol_are_not_among_the_meta() {
    for revision in all() {
        for key in [
            "progressToken",
            "io.modelcontextprotocol/protocolVersion",
            "io.modelcontextprotocol/clientCapabilities",
        ] {
            let answers = call(
                revision,
                "repeat",
                json!({ "key": key }),
                r#""progressToken":1"#,
            );
            let meta = &answers.await[0]["result"]["_meta"]["com.example/first"];
            assert_eq!(*meta, Value::Null, "{revision} {key}");
        }
    }
}

#[tokio::test]
async fn keys_that_a_result_may_not_have_keep_it_back() {
    for revision in all() {
        for key in [
            "io.modelcontextprotocol/serverInfo",
            "com.mcp/x",
            "a b",
            "/x",
        ] {
            let answers = call(revision, "put", json!({ "key": key }), "").await;
            let answer = &answers[0];
            assert_eq!(
                answer["error"]["code"], -32603,
                "{revision} `{key}`: {answer}"
            );
            assert!(!answer.to_string().contains("secret"), "{revision} `{key}`");
        }
        let answers = call(revision, "put", json!({ "key": "com.example/x" }), "").await;
        let meta = &answers[0]["result"]["_meta"]["com.example/x"];
        assert_eq!(*meta, true, "{revision}");
    }
}

#[tokio::test]
async fn a_result_keeps_its_own_meta_and_so_does_a_failure() {
    for revision in all() {
        let meta = call(revision, "own", json!({}), "").await[0]["result"]["_meta"].take();
        let own = [&meta["com.example/a"], &meta["com.example/b"]];
        assert_eq!(own, [0, 2], "{revision}: {meta}");
        let result = call(revision, "fail", json!({}), "").await[0]["result"].take();
        assert_eq!(result["isError"], true, "{revision}");
        assert_eq!(result["_meta"]["com.example/a"], 1, "{revision}: {result}");
    }
}

#[tokio::test]
async fn a_tool_sends_the_notifications_that_belong_to_requests() {
    for revision in all() {
        let mut answers = call(revision, "notify", json!({}), r#""progressToken":1"#).await;
        let answer = answers.pop().unwrap();
        let told = answer["result"]["content"][0]["text"].as_str().unwrap();
        let told: Vec<_> = told.split("; ").collect();
        let is_legacy = revision != "2026-07-28";
        let expected = match is_legacy {
            true => [
                "`notifications/resources/updated` is not sent with a request: it goes to all clients that may hear of the change",
                "`notifications/resources/updated` is not sent with a request: it goes to all clients that may hear of the change",
                "not at this revision",
                "`notifications/message` is not sent with a request: `Context::log` sends it",
                "`notifications/progress` is not sent with a request: `Context::progress` sends it",
                "not at this revision",
            ],
            false => [
                "`notifications/resources/updated` is not sent with a request: it goes to subscriptions",
                "`notifications/resources/updated` is not sent with a request: it goes to subscriptions",
                "not at this revision",
                "`notifications/message` is not sent with a request: `Context::log` sends it",
                "`notifications/progress` is not sent with a request: `Context::progress` sends it",
                "the client did not declare the extension `io.modelcontextprotocol/tasks`",
            ],
        };
        assert_eq!(told.len(), expected.len(), "{revision}: {told:?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.starts_with(expected), "{revision}: {told}\n{expected}");
        }
        // B-8: this server did not declare that its resources can change.
        assert!(answers.is_empty(), "{revision}: {answers:?}");
    }
}

// GAP-2
#[tokio::test]
async fn a_protocol_version_of_another_type() {
    for (version, found) in [("5", "number"), ("{}", "object"), ("[1]", "array")] {
        let message = modern("1", "tools/list", "").replace(r#""2026-07-28""#, version);
        let answer = conversation(&service(), message + "\n").await;
        let answer: Value = serde_json::from_str(&answer[0]).unwrap();
        let data = &answer["error"]["data"];
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let pointer = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
        assert_eq!(
            (&data["pointer"], &data["rule"]),
            (&json!(pointer), &json!("type"))
        );
        assert_eq!(data["expected"], "a string");
        let text = data["found"].as_str().unwrap();
        assert!(text.contains(found), "{text}");
    }
}

// A-17: an extension's type need not know of `resultType`; what leaves at a revision that requires it has one.
#[cfg(feature = "http")]
#[tokio::test]
async fn results_of_extensions_say_that_they_are_complete() {
    use crate::extended::{Own, WAYS};

    let service = trueform::Server::new("t", "1")
        .extension(Own)
        .build()
        .unwrap();
    for way in WAYS {
        for (result, modern, legacy) in [
            (r#"{}"#, r#"{"resultType":"complete"}"#, r#"{}"#),
            (
                r#"{"a":{"resultType":"x"}}"#,
                r#"{"a":{"resultType":"x"},"resultType":"complete"}"#,
                r#"{"a":{"resultType":"x"}}"#,
            ),
            (
                r#"{"resultType":"task","a":1}"#,
                r#"{"resultType":"task","a":1}"#,
                r#"{"resultType":"task","a":1}"#,
            ),
        ] {
            let expected = if way.modern { modern } else { legacy };
            let mut expected: serde_json::Value = serde_json::from_str(expected).unwrap();
            for adds in ["", r#","adds":true"#] {
                let params = format!(r#""result":{result}{adds}"#);
                let request = way.request("1", "own/typed", &params);
                let answers = way.answers(&service, &[request]).await;
                if !adds.is_empty() {
                    expected["_meta"]["com.example/added"] = 1.into();
                }
                assert_eq!(
                    answers.last().unwrap()["result"],
                    expected,
                    "{way:?} {params}"
                );
            }
        }
    }
}
