//! Requests that a tool sends to the client it serves, and what a tool needs a client to be able to do: over one stream.

use serde_json::{Value, json};
use trueform::{
    AskError,
    client::{Client, ClientOptions},
    prelude::*,
    schema::{
        CreateMessageRequestParams, ImageContent, ListRootsRequestParams, RequestParams, Revisions,
        Role, SamplingMessage, SamplingMessageContentBlock,
        methods::{CallTool, CreateMessage, ListRoots, Ping},
    },
};

use crate::support::{legacy, modern, raw, soon};

/// What became of a request to the client, in words.
fn told<T>(answer: Result<T, AskError>, say: impl FnOnce(T) -> String) -> String {
    match answer {
        Ok(result) => say(result),
        Err(AskError::NotAtThisRevision) => "not at this revision".to_owned(),
        Err(AskError::NotAllowed(problem)) => format!("not allowed: {problem}"),
        Err(AskError::NotDeclared(missing)) => format!("not declared: {missing}"),
        Err(AskError::Refused(error)) => format!("refused: {} {}", error.code, error.message),
        Err(AskError::Malformed(error)) => format!("malformed: {error}"),
        Err(AskError::Gone) => "gone".to_owned(),
        Err(other) => format!("something new: {other}"),
    }
}

/// Asks the client for its roots.
#[tool]
pub(crate) async fn roots(context: Context) -> String {
    let answer = context.request::<ListRoots>(ListRootsRequestParams::default());
    told(answer.await, |result| {
        let uris: Vec<_> = result.roots.iter().map(|root| &*root.uri).collect();
        format!("roots: {}", uris.join(", "))
    })
}

/// Asks the client whether it is there.
#[tool]
async fn ping(context: Context) -> String {
    let answer = context.request::<Ping>(RequestParams::default());
    told(answer.await, |_| "there".to_owned())
}

/// Sends the client what no client may be sent.
#[tool]
async fn sample(context: Context) -> String {
    let picture = SamplingMessageContentBlock::Image(ImageContent::new("no base64!", "image/png"));
    let message = SamplingMessage::new(picture, Role::User);
    let answer = context.request::<CreateMessage>(CreateMessageRequestParams::new(1, [message]));
    told(answer.await, |_| "sampled".to_owned())
}

/// Sends the client what only clients send.
#[tool]
async fn turned(context: Context) -> String {
    let params = trueform::schema::CallToolRequestParams::new("x");
    told(context.request::<CallTool>(params).await, |_| {
        "called".to_owned()
    })
}

/// Tells the test how a request ended whose call is given up.
#[tool(blocking)]
fn left(context: Context, ends: State<tokio::sync::mpsc::UnboundedSender<String>>) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let answer = runtime.block_on(context.request::<Ping>(RequestParams::default()));
    let _ = ends.send(told(answer, |_| "there".to_owned()));
    String::new()
}

/// Needs much of its client.
#[tool(needs(sampling, elicitation_url))]
pub(crate) fn needy() -> &'static str {
    "served"
}

fn service() -> (
    trueform::Service,
    tokio::sync::mpsc::UnboundedReceiver<String>,
) {
    let (sender, ends) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::new("asks", "1")
        .tools(tools![roots, ping, sample, turned, left, needy])
        .state(sender);
    (server.build().expect("the tools are fine"), ends)
}

/// The lines that open a session of a client that can do `capabilities`.
pub(crate) fn initialize(revision: &str, capabilities: &str) -> [String; 2] {
    let [initialize, initialized] = crate::support::initialize(revision);
    let declared = format!(r#""capabilities":{capabilities},"clientInfo""#);
    [
        initialize.replace(r#""capabilities":{},"clientInfo""#, &declared),
        initialized,
    ]
}

async fn opened(service: &trueform::Service, revision: &str, capabilities: &str) -> Client {
    let client = raw(service).await;
    for line in initialize(revision, capabilities) {
        client.send_raw(line).unwrap();
    }
    next(&client).await;
    client
}

async fn next(client: &Client) -> Value {
    let line = soon(client.next_message())
        .await
        .expect("the server goes on");
    serde_json::from_str(&line).unwrap()
}

fn call(id: u32, tool: &str) -> String {
    let params = format!(r#"{{"name":"{tool}","arguments":{{}}}}"#);
    legacy(&id.to_string(), "tools/call", &params)
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

pub(crate) const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// What a client may answer, and what the tool makes of it.
pub(crate) const ANSWERS: [(&str, &str); 6] = [
    (
        r#""result":{"roots":[{"uri":"file:///a"},{"uri":"file:///b"}]}"#,
        "roots: file:///a, file:///b",
    ),
    (
        r#""error":{"code":-32601,"message":"none here"}"#,
        "refused: -32601 none here",
    ),
    (r#""result":{"roots":[{}]}"#, "malformed: /roots/0"),
    // A-7: both at once is not an answer, but it is the only one.
    (
        r#""result":{"roots":[]},"error":{"code":1,"message":"x"}"#,
        "malformed: invalid request: a response has either",
    ),
    (
        r#""result":[]"#,
        "malformed: invalid request: `result` must be an object",
    ),
    (
        r#""error":{"message":"no code"}"#,
        "malformed: invalid request: `error`",
    ),
];

// A-1, A-7, A-9: every way in which a client can answer.
#[tokio::test]
async fn a_client_answers() {
    let (service, _ends) = service();
    for revision in LEGACY {
        let client = opened(&service, revision, r#"{"roots":{}}"#).await;
        for (id, (answer, expected)) in (1..).zip(ANSWERS) {
            client.send_raw(call(id, "roots")).unwrap();
            let asked = next(&client).await;
            assert_eq!(asked["method"], "roots/list", "{asked}");
            assert!(asked["id"].is_i64(), "{asked}");
            let line = format!(r#"{{"jsonrpc":"2.0","id":{},{answer}}}"#, asked["id"]);
            client.send_raw(line.clone()).unwrap();
            // The next thing the server says is the tool's result: a malformed answer is not itself answered.
            let result = next(&client).await;
            assert_eq!(result["id"], id, "{revision}: {result}");
            assert!(text(&result).contains(expected), "{revision}: {result}");
            // An answer that nobody waits for is nothing.
            client.send_raw(line).unwrap();
        }
    }
}

// Two calls that ask at once get each its own answer, in whatever order the client answers.
#[tokio::test]
async fn answers_find_their_request() {
    let (service, _ends) = service();
    let client = opened(&service, "2025-06-18", r#"{"roots":{}}"#).await;
    for id in [1, 2] {
        client.send_raw(call(id, "roots")).unwrap();
    }
    let (first, second) = (next(&client).await, next(&client).await);
    assert_ne!(first["id"], second["id"]);
    for (asked, name) in [(second, "second"), (first, "first")] {
        let result = json!({ "roots": [{ "uri": format!("file:///{name}") }] });
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
        client.send_raw(answer.to_string()).unwrap();
        assert_eq!(text(&next(&client).await), format!("roots: file:///{name}"));
    }
}

// B-8, A-18: nothing is sent to a client that could not answer.
#[tokio::test]
async fn what_is_not_asked() {
    let (service, _ends) = service();
    for revision in LEGACY {
        let client = opened(&service, revision, r#"{"sampling":{}}"#).await;
        for (id, (tool, expected)) in (1..).zip([
            ("roots", "not declared: `roots`"),
            ("sample", "not allowed: "),
            ("turned", "not at this revision"),
        ]) {
            client.send_raw(call(id, tool)).unwrap();
            let result = next(&client).await;
            assert_eq!(result["id"], id, "{result}");
            assert!(text(&result).starts_with(expected), "{revision}: {result}");
        }
    }
    // The modern era has no requests to clients, not even on a stream where a legacy session is open.
    let client = opened(&service, "2025-11-25", r#"{"roots":{}}"#).await;
    for (id, tool) in [("1", "ping"), ("2", "roots"), ("3", "sample")] {
        let params = format!(r#","name":"{tool}","arguments":{{}}"#);
        client.send_raw(modern(id, "tools/call", &params)).unwrap();
        assert_eq!(text(&next(&client).await), "not at this revision", "{tool}");
    }
    let modern = service
        .connect_as(ClientOptions::at(Revision::V2026_07_28))
        .await
        .unwrap();
    let result = modern.call_tool("ping", json!({})).await.unwrap();
    let result = serde_json::to_value(&result).unwrap();
    assert_eq!(result["content"][0]["text"], "not at this revision");
}

// A client that goes leaves no request waiting.
#[tokio::test]
async fn a_client_that_goes() {
    let (service, mut ends) = service();
    let client = opened(&service, "2025-06-18", "{}").await;
    client.send_raw(call(1, "left")).unwrap();
    assert_eq!(next(&client).await["method"], "ping");
    drop(client);
    assert_eq!(soon(ends.recv()).await.as_deref(), Some("gone"));
}

// Issue 9: a tool that no client could call is reported at the start.
#[test]
fn what_no_served_revision_has() {
    let built = |revisions: Revisions| {
        let server = Server::new("asks", "1").tools(tools![needy]);
        server.revisions(revisions.iter()).build().map(drop)
    };
    let before = Revisions::until(Revision::V2025_06_18);
    let problem = built(before).expect_err("no URLs").to_string();
    let expected = "needs the client capability `elicitation.url`, which no client can declare at a revision that is served";
    assert!(problem.contains(expected), "{problem}");
    built(Revisions::since(Revision::V2025_11_25)).expect("it has both");
    built(Revisions::ALL).expect("some have both");
}

// C-10: a modern client is told what to declare, each time. B-8, TRAP-08: an older one cannot know the code. R-1: `elicitation`
// without modes is not that of URLs.
#[tokio::test]
async fn what_a_tool_needs() {
    let (service, _ends) = service();
    let request = |capabilities: &str| {
        modern("1", "tools/call", r#","name":"needy","arguments":{}"#).replace(
            r#""io.modelcontextprotocol/clientCapabilities":{}"#,
            &format!(r#""io.modelcontextprotocol/clientCapabilities":{capabilities}"#),
        )
    };
    let client = raw(&service).await;
    for (capabilities, missing) in MISSING {
        client.send_raw(request(capabilities)).unwrap();
        let error = next(&client).await;
        assert_eq!(error["error"]["code"], -32021, "{error}");
        let missing: Value = serde_json::from_str(missing).unwrap();
        assert_eq!(
            error["error"]["data"],
            json!({ "requiredCapabilities": missing })
        );
    }
    // GAP-2: what is not declared is told before what is wrong with the params.
    let malformed =
        |capabilities| request(capabilities).replace(r#""arguments":{}"#, r#""arguments":5"#);
    client.send_raw(malformed("{}")).unwrap();
    assert_eq!(next(&client).await["error"]["code"], -32021);
    client.send_raw(malformed(ENOUGH)).unwrap();
    assert_eq!(next(&client).await["error"]["code"], -32602);
    client.send_raw(request(ENOUGH)).unwrap();
    assert_eq!(text(&next(&client).await), "served");

    for revision in LEGACY {
        let client = opened(&service, revision, r#"{"sampling":{}}"#).await;
        client.send_raw(call(1, "needy")).unwrap();
        // DEC-9: a model reads the result of the call, not an error of the protocol.
        let refused = next(&client).await;
        assert_eq!(refused["result"]["isError"], true, "{revision}: {refused}");
        assert_eq!(
            text(&refused),
            "tool `needy` needs the client capability `elicitation.url`, which this client did not declare"
        );
        let client = opened(&service, revision, ENOUGH).await;
        client.send_raw(call(1, "needy")).unwrap();
        assert_eq!(text(&next(&client).await), "served", "{revision}");
    }
}

// C-6: what one request declares is not there for the next on its connection.
#[tokio::test]
async fn capabilities_of_an_earlier_request() {
    let (service, _ends) = service();
    let client = raw(&service).await;
    let named = |capabilities: &str| {
        modern("1", "tools/call", r#","name":"needy","arguments":{}"#).replace(
            r#""io.modelcontextprotocol/clientCapabilities":{}"#,
            &format!(r#""io.modelcontextprotocol/clientCapabilities":{capabilities}"#),
        )
    };
    for _ in 0..2 {
        client.send_raw(named(ENOUGH)).unwrap();
        assert_eq!(text(&next(&client).await), "served");
        client.send_raw(named("{}")).unwrap();
        let refused = next(&client).await;
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
    }
    // Nor those of a session that is open on the same stream.
    let client = opened(&service, "2025-11-25", ENOUGH).await;
    client.send_raw(named("{}")).unwrap();
    let refused = next(&client).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
}

/// Declared capabilities, and what `needy` misses then.
pub(crate) const MISSING: [(&str, &str); 3] = [
    ("{}", r#"{"sampling":{},"elicitation":{"url":{}}}"#),
    (
        r#"{"sampling":{},"elicitation":{}}"#,
        r#"{"elicitation":{"url":{}}}"#,
    ),
    (r#"{"elicitation":{"url":{}}}"#, r#"{"sampling":{}}"#),
];

/// What `needy` needs.
pub(crate) const ENOUGH: &str = r#"{"sampling":{},"elicitation":{"url":{}}}"#;

// The words of errors that authors meet first say what to do.
#[test]
fn words_that_help() {
    for (error, cure) in [
        (AskError::NotAtThisRevision, "ask by `Context::ask`"),
        (AskError::Gone, "end the call"),
        (AskError::TooSoon, "`notifications/initialized`"),
    ] {
        let words = error.to_string();
        assert!(words.contains(cure), "{words}");
    }
}
