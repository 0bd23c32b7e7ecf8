//! What is wrong deep inside a message: in what a server asks for, in what a client says of itself, and in metadata.
//!
//! The tables keep one transcript to a line or few, which rustfmt would not.

use serde_json::{Value, json};

use super::bad::{
    Line, after, c, call, check_link, complete, error, handshake, modern, modern_with, note,
    progress, request, result, s,
};

/// A call of a client that can do everything, and an answer that asks for input.
fn asked(members: Value) -> Vec<Line> {
    let able = json!({ "io.modelcontextprotocol/clientCapabilities": {
        "roots": {}, "sampling": { "tools": {} }, "elicitation": { "form": {}, "url": {} },
    } });
    let mut answer = complete(1, members);
    answer["result"]["resultType"] = "input_required".into();
    vec![
        c(modern_with(1, "tools/call", json!({ "name": "t" }), able)),
        s(answer),
    ]
}

/// T-2, T-3, C-13
#[rustfmt::skip]
#[test]
fn what_is_asked_for() {
    let wanting = |request: Value| json!({ "inputRequests": { "k": request } });
    let sampling = |params: Value| wanting(json!({ "method": "sampling/createMessage", "params": params }));
    let form = |params: Value| wanting(json!({ "method": "elicitation/create", "params": params }));
    let table: Vec<(&str, Value, &[&str])> = vec![
        ("fine", form(json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} } })), &[]),
        ("roots need no params", wanting(json!({ "method": "roots/list" })), &[]),
        ("state alone", json!({ "requestState": "x" }), &[]),
        ("params are a number", form(json!(5)), &["2 T-3 C-13"]),
        ("no params", wanting(json!({ "method": "elicitation/create" })), &["2 T-3 C-13"]),
        ("no message", form(json!({ "requestedSchema": { "type": "object", "properties": {} } })), &["2 T-3 C-13"]),
        ("messages are text", sampling(json!({ "messages": "no", "maxTokens": 1 })), &["2 T-3 C-13"]),
        ("maxTokens is text", sampling(json!({ "messages": [], "maxTokens": "many" })), &["2 T-3 C-13"]),
        ("deeper", sampling(json!({ "messages": [{ "role": "user", "content": { "type": "text" } }], "maxTokens": 1 })), &["2 T-3 C-13"]),
        ("a malformed URL", form(json!({ "mode": "url", "message": "m", "url": "no URL", "elicitationId": "e" })), &["2 T-3 C-13"]),
        ("state is a number", json!({ "requestState": 7, "inputRequests": {} }), &["2 T-2 C-13"]),
        ("requests are a list", json!({ "inputRequests": [], "requestState": "s" }), &["2 T-3 C-13"]),
    ];
    for (name, members, expected) in table {
        check_link(name, &asked(members), expected);
    }
    let mut lines = asked(json!({ "requestState": "s" }));
    lines[1].1["result"]["_meta"]["io.modelcontextprotocol/serverInfo"] = "me".into();
    check_link("serverInfo is text", &lines, &["2 C-13"]);
    lines[1].1["result"]["_meta"] = 5.into();
    check_link("`_meta` is a number", &lines, &["2 C-4", "2 C-13"]);
}

/// B-1
#[rustfmt::skip]
#[test]
fn what_a_client_says_of_itself() {
    let told = |revision: &str, capabilities: Value, info: Value| {
        let mut lines = handshake(revision, capabilities, json!({}));
        lines[0].1["params"]["clientInfo"].as_object_mut().unwrap().extend(info.as_object().unwrap().clone());
        lines
    };
    let table: Vec<(&str, Vec<Line>, &[&str])> = vec![
        ("all of it", told("2025-11-25", json!({ "roots": { "listChanged": true }, "sampling": { "tools": {} }, "x": 5 }), json!({ "icons": [{ "src": "https://example.com/i.png" }], "title": "T" })), &[]),
        ("what older revisions do not know", told("2025-06-18", json!({ "tasks": {} }), json!({ "icons": [] })), &[]),
        ("roots are text", told("2025-11-25", json!({ "roots": "yes", "sampling": 5 }), json!({})), &["1 B-1"]),
        ("elicitation is a list", told("2025-06-18", json!({ "elicitation": [] }), json!({})), &["1 B-1"]),
        ("listChanged is text", told("2024-11-05", json!({ "roots": { "listChanged": "yes" } }), json!({})), &["1 B-1"]),
        ("title is a number", told("2025-06-18", json!({}), json!({ "title": 5 })), &["1 B-1"]),
        ("an icon without a source", told("2025-11-25", json!({}), json!({ "icons": [{}] })), &["1 B-1"]),
    ];
    for (name, lines, expected) in table {
        check_link(name, &lines, expected);
    }
}

/// O-1, N-2, B-12
#[rustfmt::skip]
#[test]
fn notifications_that_are_not_of_the_revision() {
    let cancel = |params: Value| c(note("notifications/cancelled", params));
    let tracked = || c(request(1, "tools/call", json!({ "name": "t", "_meta": { "progressToken": "p" } })));
    let told = |more: Value| {
        let mut message = progress("p", 1.0);
        message["params"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        vec![tracked(), s(message)]
    };
    let table: Vec<(&str, Vec<Line>, &[&str])> = vec![
        ("cancels nothing, 2024-11-05", after("2024-11-05", vec![cancel(json!({}))]), &["4 B-8 B-12"]),
        ("cancels nothing, 2025-06-18", after("2025-06-18", vec![cancel(json!({ "reason": "r" }))]), &["4 B-8 B-12"]),
        ("cancels nothing, 2025-11-25", after("2025-11-25", vec![cancel(json!({}))]), &[]),
        ("cancels without params, 2025-11-25", after("2025-11-25", vec![c(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }))]), &["4 O-1 B-12"]),
        ("null for params", after("2025-11-25", vec![cancel(Value::Null), c(request(1, "tools/list", Value::Null))]), &["4 A-1", "4 O-1 B-12", "5 A-1"]),
        ("null for params that are needed", after("2025-06-18", vec![cancel(Value::Null), c(request(1, "tools/call", Value::Null))]), &["4 A-1", "5 A-1"]),
        ("cancels an object", after("2025-06-18", vec![cancel(json!({ "requestId": { "a": 1 } }))]), &["4 B-8 B-12"]),
        ("cancels an object, 2025-11-25", after("2025-11-25", vec![cancel(json!({ "requestId": { "a": 1 } }))]), &["4 B-8 B-12"]),
        ("a server cancels a fraction", after("2025-11-25", vec![s(note("notifications/cancelled", json!({ "requestId": 1.5 })))]), &["4 B-8 B-12"]),
        ("cancels nothing, 2026-07-28", vec![c(modern(1, "tools/list", json!({}))), cancel(json!({}))], &["2 C-13"]),
        ("total is text", after("2024-11-05", told(json!({ "total": "all" }))), &["5 B-8 B-12"]),
        ("no progress", after("2024-11-05", vec![tracked(), s(note("notifications/progress", json!({ "progressToken": "p" })))]), &["5 B-8 B-12"]),
        ("progress is text", after("2024-11-05", told(json!({ "progress": "1" }))), &["5 B-8 B-12"]),
        ("a message too early", after("2024-11-05", told(json!({ "message": "m" }))), &["5 N-2"]),
        ("total and a message too early", after("2024-11-05", told(json!({ "message": "m", "total": [] }))), &["5 N-2", "5 B-8 B-12"]),
    ];
    for (name, lines, expected) in table {
        check_link(name, &lines, expected);
    }
}

/// Z-10, Z-11
#[rustfmt::skip]
#[test]
fn keys_of_metadata() {
    let answered = |revision: &str, result_of_call: Value| after(revision, vec![c(call(1)), s(result(1, result_of_call))]);
    let meta = |key: &str| json!({ "content": [], "_meta": { key: 1 } });
    let block = |key: &str| json!({ "content": [{ "type": "text", "text": "x", "_meta": { key: 1 } }] });
    let table: Vec<(&str, Vec<Line>, &[&str])> = vec![
        ("plain", answered("2025-06-18", meta("key")), &[]),
        ("prefixed", answered("2025-11-25", meta("com.example-1.a/b_c.d")), &[]),
        ("only a prefix", answered("2025-11-25", meta("com.example/")), &[]),
        ("a blank", answered("2025-06-18", meta("a b")), &["5 Z-10"]),
        ("a blank before there were rules", answered("2025-03-26", meta("a b")), &[]),
        ("a label that begins with a digit", answered("2025-11-25", meta("1com.example/a")), &["5 Z-10"]),
        ("two slashes", answered("2025-11-25", meta("a/b/c")), &["5 Z-10"]),
        ("of a block", answered("2025-11-25", block("-")), &["5 Z-10"]),
        ("reserved", answered("2025-11-25", meta("io.modelcontextprotocol/own")), &["5 Z-10 Z-11"]),
        ("reserved in another place", answered("2025-11-25", meta("dev.mcp.tools/own")), &["5 Z-10 Z-11"]),
        ("not reserved as the last label but one was", answered("2025-11-25", meta("com.example.mcp/own")), &[]),
        ("reserved until then", answered("2025-06-18", meta("mcp.dev/own")), &["5 Z-10 Z-11"]),
        ("free until then", answered("2025-06-18", meta("io.modelcontextprotocol/own")), &[]),
        ("the protocol's own", answered("2025-11-25", meta("io.modelcontextprotocol/related-task")), &[]),
        ("params", after("2025-11-25", vec![c(request(1, "tools/list", json!({ "_meta": { "a b": 1 } })))]), &["4 Z-10"]),
        ("params of the modern era", vec![c(modern_with(1, "tools/list", json!({}), json!({ "a b": 1 })))], &["1 Z-10"]),
        ("a notification", after("2025-11-25", vec![c(note("notifications/cancelled", json!({ "_meta": { "a b": 1 } })))]), &["4 Z-10"]),
        ("arguments are free", after("2025-11-25", vec![c(request(1, "tools/call", json!({ "name": "t", "arguments": { "_meta": { "a b": 1 } } })))]), &[]),
        ("structured content is free", answered("2025-11-25", json!({ "content": [], "structuredContent": { "_meta": { "a b": 1 } } })), &[]),
    ];
    for (name, lines, expected) in table {
        check_link(name, &lines, expected);
    }
    let mut lines = asked(json!({ "requestState": "s" }));
    lines[1].1["result"]["_meta"]["a b"] = 1.into();
    check_link("an answer that asks for input", &lines, &["2 Z-10"]);
}

/// Who does not know what `server/discover` is may answer it with anything (A-13, A-15, C-2).
#[rustfmt::skip]
#[test]
fn a_probe_that_is_refused() {
    let probe = || c(modern("d", "server/discover", json!({})));
    for code in [-32000, -32001, -32002, -32019, -32042, -32050, -32600, -32601, -32700, 5] {
        let mut lines = vec![probe(), s(error("d", code))];
        lines.extend(after("2025-06-18", vec![]));
        check_link(&format!("refused with {code}"), &lines, &[]);
    }
    let list = json!({ "tools": [], "ttlMs": 0, "cacheScope": "private" });
    let known = || vec![c(modern(1, "tools/list", json!({}))), s(complete(1, list.clone())), probe()];
    for (code, expected) in [(-32001, "4 A-13"), (-32002, "4 A-15"), (-32050, "4 A-12")] {
        let mut lines = known();
        lines.push(s(error("d", code)));
        check_link(&format!("{code} of who knows it"), &lines, &[expected]);
    }
}
