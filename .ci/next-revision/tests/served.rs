//! What clients see of the made-up revision 2027-01-01, and what clients of the revisions before it see.

use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;
use trueform::{
    Service,
    client::ClientOptions,
    prelude::*,
    schema::{
        CallToolResult, ContentBlock, ListNotesRequestParams, NotesViewedNotificationParams,
        RequestMetaObject, Revision, TextContent, methods,
    },
};

const NEW: &str = "2027-01-01";
const BEFORE: &str = "2026-07-28";

/// Sets the member that is new.
#[tool]
fn traced() -> CallToolResult {
    let text = ContentBlock::Text(TextContent::new("here"));
    CallToolResult::new(vec![text]).with_trace_id("t-1")
}

fn service() -> Service {
    let server = Server::new("test", "1.0.0").tools(tools![traced]);
    server.build().expect("the tool is fine")
}

/// A request of the modern era at a revision; `params` are members beside `_meta`.
fn request(revision: &str, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// What a stream answers to these messages.
async fn stream(service: &Service, messages: &[Value]) -> Vec<Value> {
    let service = service.clone();
    let input: String = messages
        .iter()
        .map(|message| format!("{message}\n"))
        .collect();
    let (output, mut from_server) = tokio::io::duplex(1 << 20);
    let serving = service.serve_stream(std::io::Cursor::new(input.into_bytes()), output);
    let mut text = String::new();
    let reading = tokio::io::AsyncReadExt::read_to_string(&mut from_server, &mut text);
    let (served, read) = tokio::join!(serving, reading);
    served.expect("a stream in memory does not fail");
    read.expect("the server writes UTF-8");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// What HTTP answers to one message: the status, and the message if there is any.
async fn http(service: &Service, version: Option<&str>, message: &Value) -> (u16, Value) {
    let mut request = axum::http::Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-method", message["method"].as_str().expect("a method"));
    if let Some(version) = version {
        request = request.header("mcp-protocol-version", version);
    }
    if let Some(name) = message["params"]["name"].as_str() {
        request = request.header("mcp-name", name);
    }
    let request = request
        .body(Body::from(message.to_string()))
        .expect("a request");
    let served = service
        .clone()
        .into_http_service()
        .expect("the settings are fine");
    let response = served.oneshot(request).await.expect("it does not fail");
    let status = response.status().as_u16();
    let body = response
        .into_body()
        .collect()
        .await
        .expect("a body")
        .to_bytes();
    let message = match body.is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(&body).expect("JSON"),
    };
    (status, message)
}

/// The answer on a stream, which HTTP must give as well, with this status.
async fn both(service: &Service, message: Value, status: u16) -> Value {
    let version = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    let answers = stream(service, std::slice::from_ref(&message)).await;
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(
        http(service, version, &message).await,
        (status, answers[0].clone())
    );
    answers.into_iter().next().expect("one")
}

#[tokio::test]
async fn discover_lists_it() {
    let answer = both(&service(), request(NEW, "server/discover", json!({})), 200).await;
    let versions = answer["result"]["supportedVersions"]
        .as_array()
        .expect("a list");
    assert!(
        versions.contains(&json!(NEW)) && versions.contains(&json!(BEFORE)),
        "{answer}"
    );
}

#[tokio::test]
async fn a_new_member_reaches_those_who_know_it() {
    for (revision, trace) in [(NEW, json!("t-1")), (BEFORE, Value::Null)] {
        let call = request(
            revision,
            "tools/call",
            json!({ "name": "traced", "arguments": {} }),
        );
        let answer = both(&service(), call, 200).await;
        assert_eq!(answer["result"]["content"][0]["text"], "here", "{answer}");
        assert_eq!(answer["result"]["traceId"], trace, "{answer}");
    }
}

#[tokio::test]
async fn legacy_clients_do_not_get_it() {
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": NEW, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    }});
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "traced" } });
    let answers = stream(&service(), &[initialize, initialized, call]).await;
    // TRAP-06: a handshake never ends at a modern revision.
    assert_eq!(
        answers[0]["result"]["protocolVersion"], "2025-11-25",
        "{answers:?}"
    );
    assert_eq!(
        answers[1]["result"]["content"][0]["text"], "here",
        "{answers:?}"
    );
    assert!(answers[1]["result"].get("traceId").is_none(), "{answers:?}");
}

#[tokio::test]
async fn a_removed_method_is_unknown() {
    let params = json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" } });
    let answer = both(
        &service(),
        request(NEW, "completion/complete", params.clone()),
        404,
    )
    .await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let told = answer["error"]["message"].as_str().expect("a message");
    assert!(told.contains("unknown") && told.contains(NEW), "{told}");
    // There it is a method, of a capability that this server does not have.
    let answer = both(
        &service(),
        request(BEFORE, "completion/complete", params),
        404,
    )
    .await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let told = answer["error"]["message"].as_str().expect("a message");
    assert!(told.contains("completions"), "{told}");
}

#[tokio::test]
async fn a_new_notification_is_taken() {
    let viewed = json!({ "jsonrpc": "2.0", "method": "notifications/notes/viewed", "params": { "noteId": "n" } });
    let discover = request(NEW, "server/discover", json!({}));
    let answers = stream(&service(), &[viewed.clone(), discover]).await;
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(
        http(&service(), Some(NEW), &viewed).await,
        (202, Value::Null)
    );
}

#[tokio::test]
async fn headers_name_the_same_revision_as_the_body() {
    let discover = request(NEW, "server/discover", json!({}));
    for version in [None, Some(BEFORE)] {
        let (status, answer) = http(&service(), version, &discover).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (400, &json!(-32020)),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn servers_choose_what_they_serve() {
    let only = |revision| {
        let server = Server::new("test", "1.0.0").tools(tools![traced]);
        server
            .revisions([revision])
            .build()
            .expect("the tool is fine")
    };
    for (served, asked) in [(NEW, BEFORE), (BEFORE, NEW)] {
        let service = only(Revision::from_wire(served).expect("a revision"));
        both(&service, request(served, "server/discover", json!({})), 200).await;
        let answer = both(&service, request(asked, "server/discover", json!({})), 400).await;
        assert_eq!(answer["error"]["code"], -32022, "{answer}");
        assert_eq!(
            answer["error"]["data"]["supported"],
            json!([served]),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn a_new_method_is_served() {
    let answer = both(
        &service(),
        request(NEW, "notes/list", json!({ "topic": "birds" })),
        200,
    )
    .await;
    assert_eq!(answer["result"]["notes"], json!(["birds"]), "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    let answer = both(
        &service(),
        request(NEW, "notes/list", json!({ "topic": 5 })),
        200,
    )
    .await;
    assert_eq!(
        answer["error"]["data"]["pointer"], "/params/topic",
        "{answer}"
    );
    let answer = both(&service(), request(BEFORE, "notes/list", json!({})), 404).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}

#[tokio::test]
async fn the_client_speaks_it() {
    let client = service().connect().await.expect("it connects");
    assert_eq!(client.revision().as_str(), NEW);
    let result = client
        .call_tool("traced", json!({}))
        .await
        .expect("a result");
    assert_eq!(result.trace_id.as_deref(), Some("t-1"));
    let params = ListNotesRequestParams::new(RequestMetaObject::new());
    let listed = client
        .request::<methods::ListNotes>(params)
        .await
        .expect("a result");
    assert_eq!(listed.notes, ["all"]);

    let viewed = NotesViewedNotificationParams::new("n");
    client
        .notify::<methods::NotesViewed>(&viewed)
        .expect("it is sent");

    let before = Revision::from_wire(BEFORE).expect("a revision");
    let client = service()
        .connect_as(ClientOptions::at(before))
        .await
        .expect("it connects");
    let result = client
        .call_tool("traced", json!({}))
        .await
        .expect("a result");
    assert_eq!(result.trace_id, None);
    client
        .notify::<methods::NotesViewed>(&viewed)
        .expect_err("that revision does not have it");
}
