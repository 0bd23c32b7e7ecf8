//! The made-up revisions 2027-01-01 and 2027-07-01 and earlier revisions, as clients see them.

mod support;

use serde_json::{Value, json};
use support::{BEFORE, FIRST, SECOND, both, http, logged, next_event, post, request, soon, stream};
use trueform::{
    Service,
    client::ClientOptions,
    prelude::*,
    schema::{
        CallToolResult, ContentBlock, NotesViewedNotificationParams, RequestMetaObject, Revision,
        SearchNotesRequestParams, TextContent,
    },
};

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

fn revision(name: &str) -> Revision {
    Revision::from_wire(name).expect("a revision")
}

#[tokio::test]
async fn discover_lists_them() {
    for asked in [FIRST, SECOND, BEFORE] {
        let discover = request(asked, "server/discover", json!({}));
        let answer = both(&service(), discover, 200).await;
        let versions = &answer["result"]["supportedVersions"];
        let versions = versions.as_array().expect("a list");
        assert_eq!(versions[..3], [json!(SECOND), json!(FIRST), json!(BEFORE)]);
    }
}

#[tokio::test]
async fn a_new_member_reaches_those_who_know_it() {
    for (revision, trace) in [
        (FIRST, json!("t-1")),
        (SECOND, json!("t-1")),
        (BEFORE, Value::Null),
    ] {
        let params = json!({ "name": "traced", "arguments": {} });
        let answer = both(&service(), request(revision, "tools/call", params), 200).await;
        assert_eq!(answer["result"]["content"][0]["text"], "here", "{answer}");
        assert_eq!(answer["result"]["traceId"], trace, "{answer}");
    }
}

#[tokio::test]
async fn legacy_clients_do_not_get_it() {
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": FIRST, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    }});
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "traced" } });
    let answers = stream(&service(), &[initialize, initialized, call]).await;
    // TRAP-06: a handshake never ends at a modern revision.
    let negotiated = &answers[0]["result"]["protocolVersion"];
    assert_eq!(negotiated, "2025-11-25", "{answers:?}");
    let result = &answers[1]["result"];
    assert_eq!(result["content"][0]["text"], "here", "{answers:?}");
    assert!(result.get("traceId").is_none(), "{answers:?}");
}

/// The message of the error -32601, on both transports.
async fn not_found(revision: &str, method: &str, params: Value) -> String {
    let answer = both(&service(), request(revision, method, params), 404).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let message = answer["error"]["message"].as_str();
    message.expect("a message").to_owned()
}

#[tokio::test]
async fn a_removed_method_is_unknown() {
    let params = json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" } });
    for revision in [FIRST, SECOND] {
        let message = not_found(revision, "completion/complete", params.clone()).await;
        assert!(
            message.contains("unknown") && message.contains(revision),
            "{message}"
        );
    }
    // At that revision it is a method whose capability this server does not have.
    let message = not_found(BEFORE, "completion/complete", params).await;
    assert!(message.contains("completions"), "{message}");
}

#[tokio::test]
async fn a_removed_method_is_served_where_it_was() {
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let acknowledged = "notifications/subscriptions/acknowledged";
    for revision in [BEFORE, FIRST] {
        let listen = request(revision, "subscriptions/listen", params.clone());
        let answers = stream(&service(), std::slice::from_ref(&listen)).await;
        assert_eq!(answers[0]["method"], acknowledged, "{answers:?}");
        assert_eq!(answers[1]["id"], 1, "{answers:?}");

        let response = post(&service(), Some(revision), None, &listen).await;
        assert_eq!(response.status(), 200);
        let first = next_event(&mut response.into_body()).await;
        assert_eq!(first["method"], acknowledged, "{first}");
    }
    let message = not_found(SECOND, "subscriptions/listen", params).await;
    assert!(
        message.contains("unknown") && message.contains(SECOND),
        "{message}"
    );
}

/// The log lines about the notification `notifications/notes/viewed`.
fn logged_about_viewed() -> Vec<String> {
    let lines = logged().into_iter();
    lines.filter(|line| line.contains("notes/viewed")).collect()
}

#[tokio::test]
async fn a_new_notification_reaches_the_server() {
    logged();
    let service = service();
    let viewed = json!({ "jsonrpc": "2.0", "method": "notifications/notes/viewed", "params": { "noteId": "n" } });
    // Nothing else names a revision there, so it is the newest.
    assert_eq!(stream(&service, &[viewed.clone()]).await, [] as [Value; 0]);
    let logged = logged_about_viewed();
    assert!(
        logged.len() == 1 && logged[0].contains("notification ignored"),
        "{logged:?}"
    );
    for (version, is_known) in [(FIRST, true), (SECOND, true), (BEFORE, false)] {
        let answer = http(&service, Some(version), &viewed).await;
        assert_eq!(answer, (202, Value::Null));
        let logged = logged_about_viewed();
        let expected = match is_known {
            true => "notification ignored",
            false => "an unknown notification was dropped",
        };
        assert!(
            logged.len() == 1 && logged[0].contains(expected),
            "{version}: {logged:?}"
        );
    }
    let mut malformed = viewed;
    malformed["params"] = json!({ "noteId": 5 });
    stream(&service, &[malformed]).await;
    let logged = logged_about_viewed();
    assert!(logged[0].contains("a notification was dropped"), "{logged:?}");
}

#[tokio::test]
async fn headers_name_the_same_revision_as_the_body() {
    let discover = request(FIRST, "server/discover", json!({}));
    for version in [None, Some(BEFORE), Some(SECOND)] {
        let (status, answer) = http(&service(), version, &discover).await;
        let code = &answer["error"]["code"];
        assert_eq!((status, code), (400, &json!(-32020)), "{answer}");
    }
}

#[tokio::test]
async fn servers_choose_what_they_serve() {
    for (served, asked) in [(FIRST, BEFORE), (BEFORE, FIRST), (SECOND, FIRST)] {
        let server = Server::new("test", "1.0.0").tools(tools![traced]);
        let service = server.revisions([revision(served)]).build();
        let service = service.expect("the tool is fine");
        both(&service, request(served, "server/discover", json!({})), 200).await;
        let answer = both(&service, request(asked, "server/discover", json!({})), 400).await;
        assert_eq!(answer["error"]["code"], -32022, "{answer}");
        let supported = &answer["error"]["data"]["supported"];
        assert_eq!(supported, &json!([served]), "{answer}");
    }
}

#[tokio::test]
async fn a_new_method_is_served() {
    for revision in [FIRST, SECOND] {
        let params = json!({ "topic": "birds" });
        let answer = both(&service(), request(revision, "notes/search", params), 200).await;
        assert_eq!(answer["result"]["notes"], json!(["birds"]), "{answer}");
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
        let params = json!({ "topic": 5 });
        let answer = both(&service(), request(revision, "notes/search", params), 200).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let pointer = &answer["error"]["data"]["pointer"];
        assert_eq!(pointer, "/params/topic", "{answer}");
    }
    not_found(BEFORE, "notes/search", json!({})).await;
    let message = not_found(FIRST, "notes/list", json!({})).await;
    assert!(message.contains("capability `notes`"), "{message}");
}

#[tokio::test]
async fn the_client_speaks_them() {
    let viewed = NotesViewedNotificationParams::new("n");
    for (options, expected) in [
        (ClientOptions::new(), SECOND),
        (ClientOptions::at(revision(FIRST)), FIRST),
    ] {
        let client = soon(service().connect_as(options)).await;
        let client = client.expect("it connects");
        assert_eq!(client.revision().as_str(), expected);
        let result = soon(client.call_tool("traced", json!({}))).await;
        let result = result.expect("a result");
        assert_eq!(result.trace_id.as_deref(), Some("t-1"));
        let params = SearchNotesRequestParams::new(RequestMetaObject::new());
        let found = soon(client.notes_search(params)).await;
        assert_eq!(found.expect("a result").notes, ["all"]);
        let sent = client.notifications_notes_viewed(&viewed);
        sent.expect("it is sent");
    }

    let options = ClientOptions::at(revision(BEFORE));
    let client = soon(service().connect_as(options)).await;
    let client = client.expect("it connects");
    let result = soon(client.call_tool("traced", json!({}))).await;
    assert_eq!(result.expect("a result").trace_id, None);
    let sent = client.notifications_notes_viewed(&viewed);
    sent.expect_err("that revision does not have it");
}
