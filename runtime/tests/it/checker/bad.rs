//! Transcripts with one thing wrong each: every rule of the checker is seen red, alone and at the right line.
//!
//! The tables keep one transcript to a line or few, which rustfmt would not.

use serde_json::{Value, json};
use trueform::testing::Checker;

/// A line of a transcript; lines are a second apart.
pub(super) type Line = (&'static str, Value);

pub(super) fn c(message: Value) -> Line {
    ("client", message)
}

pub(super) fn s(message: Value) -> Line {
    ("server", message)
}

pub(super) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// A request of the modern era.
pub(super) fn modern(id: impl Into<Value>, method: &str, params: Value) -> Value {
    modern_with(id, method, params, json!({}))
}

/// The same, with more members in `_meta`.
pub(super) fn modern_with(
    id: impl Into<Value>,
    method: &str,
    mut params: Value,
    meta: Value,
) -> Value {
    let mut all = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (key, value) in meta.as_object().unwrap() {
        all[key] = value.clone();
    }
    params["_meta"] = all;
    request(id, method, params)
}

pub(super) fn note(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

pub(super) fn result(id: impl Into<Value>, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "result": result })
}

/// A complete result of the modern era.
pub(super) fn complete(id: impl Into<Value>, mut members: Value) -> Value {
    members["resultType"] = "complete".into();
    members["_meta"]["io.modelcontextprotocol/serverInfo"] = json!({ "name": "s", "version": "1" });
    result(id, members)
}

pub(super) fn error(id: impl Into<Value>, code: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "error": { "code": code, "message": "no" } })
}

fn bare_error(code: i64) -> Value {
    json!({ "jsonrpc": "2.0", "error": { "code": code, "message": "no" } })
}

/// A handshake, three lines long, with these capabilities of client and server.
pub(super) fn handshake(revision: &str, client: Value, server: Value) -> Vec<Line> {
    vec![
        c(request(
            0,
            "initialize",
            json!({ "protocolVersion": revision, "capabilities": client, "clientInfo": { "name": "c", "version": "1" } }),
        )),
        s(result(
            0,
            json!({ "protocolVersion": revision, "capabilities": server, "serverInfo": { "name": "s", "version": "1" } }),
        )),
        c(note("notifications/initialized", json!({}))),
    ]
}

fn r4() -> Vec<Line> {
    handshake("2025-11-25", json!({}), json!({ "tools": {} }))
}

/// `lines` after a handshake at `revision` with tools.
pub(super) fn after(revision: &str, lines: Vec<Line>) -> Vec<Line> {
    let mut all = handshake(revision, json!({}), json!({ "tools": {} }));
    all.extend(lines);
    all
}

pub(super) fn call(id: impl Into<Value>) -> Value {
    request(id, "tools/call", json!({ "name": "t" }))
}

pub(super) fn modern_call(id: impl Into<Value>) -> Value {
    modern(id, "tools/call", json!({ "name": "t" }))
}

fn listen(id: impl Into<Value>) -> Value {
    modern(
        id,
        "subscriptions/listen",
        json!({ "notifications": { "toolsListChanged": true } }),
    )
}

fn acknowledged(id: impl Into<Value>) -> Value {
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": id.into() });
    note(
        "notifications/subscriptions/acknowledged",
        json!({ "_meta": meta, "notifications": { "toolsListChanged": true } }),
    )
}

fn of_subscription(id: impl Into<Value>, method: &str) -> Value {
    note(
        method,
        json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": id.into() } }),
    )
}

pub(super) fn progress(token: impl Into<Value>, progress: f64) -> Value {
    note(
        "notifications/progress",
        json!({ "progressToken": token.into(), "progress": progress }),
    )
}

fn log(level: &str) -> Value {
    note(
        "notifications/message",
        json!({ "level": level, "data": "x" }),
    )
}

fn fine() -> Value {
    json!({ "content": [] })
}

/// Checks that `lines` have these findings: line number and requirements of each.
#[track_caller]
fn check(checker: Checker, name: &str, lines: &[Value], expected: &[&str]) {
    let transcript: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let findings = checker.check(&transcript).unwrap();
    let found: Vec<String> = findings
        .iter()
        .map(|finding| format!("{} {}", finding.line, finding.requirements.join(" ")))
        .collect();
    let shown: String = findings
        .iter()
        .map(|finding| format!("{finding}\n"))
        .collect();
    assert_eq!(found, expected, "{name}:\n{shown}\n{transcript}");
}

#[track_caller]
pub(super) fn check_link(name: &str, lines: &[Line], expected: &[&str]) {
    let lines: Vec<Value> = lines
        .iter()
        .map(|(from, message)| json!({ "from": from, "message": message }))
        .collect();
    check(Checker::new(), name, &lines, expected);
}

#[rustfmt::skip]
#[test]
fn envelope() {
    let table: Vec<(&str, Vec<Line>, &[&str])> = vec![
        ("not JSON", vec![c("{".into()), s(bare_error(-32700))], &["1 A-1"]),
        ("no version", vec![c(json!({ "id": 1, "method": "ping" })), s(error(1, -32600))], &["1 A-1"]),
        ("wrong version", vec![c(json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" })), s(error(1, -32600))], &["1 A-1"]),
        ("no object", vec![c("5".into()), s(bare_error(-32600))], &["1 A-1"]),
        ("null id", vec![c(json!({ "jsonrpc": "2.0", "id": null, "method": "ping" })), s(bare_error(-32600))], &["1 A-2"]),
        ("fraction as id", vec![c(json!({ "jsonrpc": "2.0", "id": 1.5, "method": "ping" })), s(bare_error(-32600))], &["1 A-2"]),
        ("request without id", vec![c(json!({ "jsonrpc": "2.0", "method": "ping" }))], &["1 A-2"]),
        ("null id of an error", { let mut all = r4(); all.extend([c("{".into()), s(error(Value::Null, -32700))]); all }, &["4 A-1", "5 A-2 A-7"]),
        ("null id of an error, older", after("2025-06-18", vec![c("{".into()), s(error(Value::Null, -32700))]), &["4 A-1"]),
        ("both result and error", vec![c(modern_call(1)), s(json!({ "jsonrpc": "2.0", "id": 1, "result": {}, "error": {} }))], &["2 A-5"]),
        ("neither", vec![c(modern_call(1)), s(json!({ "jsonrpc": "2.0", "id": 1 }))], &["2 A-5"]),
        ("result is not an object", vec![c(modern_call(1)), s(json!({ "jsonrpc": "2.0", "id": 1, "result": [] }))], &["2 A-5"]),
        ("result without id", vec![c(modern_call(1)), s(json!({ "jsonrpc": "2.0", "result": {} }))], &["2 A-5"]),
        ("another type of id", vec![c(modern_call(1)), s(complete("1", fine()))], &["2 A-5"]),
        ("unknown id", vec![c(modern_call(1)), s(complete(2, fine()))], &["2 A-5"]),
        ("answered twice", vec![c(modern_call(1)), s(complete(1, fine())), s(complete(1, fine()))], &["3 A-5"]),
        ("code is not an integer", vec![c(modern_call(1)), s(json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": "x", "message": "" } }))], &["2 A-6"]),
        ("no message", vec![c(modern_call(1)), s(json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 1 } }))], &["2 A-6"]),
        ("error without id", vec![c(modern_call(1)), s(bare_error(-32603))], &["2 A-7 A-8"]),
        (
            "error without the id that could be read",
            vec![c(json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" })), s(bare_error(-32600))],
            &["1 A-1", "2 A-7"],
        ),
        ("answered notification", vec![c(note("notifications/unknown", json!({}))), s(bare_error(-32601))], &["2 A-7 A-8"]),
        ("notification with id", vec![c(request(1, "notifications/cancelled", json!({ "requestId": 2 })))], &["1 A-8"]),
        ("wrong code for no JSON", vec![c("{".into()), s(bare_error(-32600))], &["1 A-1", "2 A-9"]),
        ("wrong code for a bad envelope", vec![c(json!({ "id": 1, "method": "ping" })), s(error(1, -32601))], &["1 A-1", "2 A-9"]),
        ("result for a bad envelope", vec![c(json!({ "id": 1, "method": "ping" })), s(result(1, json!({})))], &["1 A-1", "2 A-9 A-1"]),
        ("wrong code for a method the revision lacks", after("2024-11-05", vec![c(request(1, "server/discover", json!({}))), s(error(1, -32602))]), &["4 B-8", "5 A-9"]),
    ];
    for (name, lines, expected) in table {
        check_link(name, &lines, expected);
    }
}

#[rustfmt::skip]
#[test]
fn ids_and_batches() {
    let batch = |lines: &[Value]| c(lines.into());
    let table: Vec<(&str, Vec<Line>, &[&str])> = vec![
        ("id used again in a session", after("2025-11-25", vec![c(call(1)), s(result(1, fine())), c(call(1)), s(result(1, fine()))]), &["6 A-3"]),
        ("id of the handshake", after("2025-11-25", vec![c(call(0))]), &["4 A-3"]),
        ("ids of another type are others", after("2025-11-25", vec![c(call(1)), c(call("1"))]), &[]),
        ("id in flight", vec![c(modern_call(1)), c(modern_call(1))], &["2 A-4"]),
        ("id after the answer", vec![c(modern_call(1)), s(complete(1, fine())), c(modern_call(1)), s(complete(1, fine()))], &[]),
        ("batch where there is one", after("2025-03-26", vec![batch(&[call(1), call(2)]), s(json!([result(1, fine()), result(2, fine())]))]), &[]),
        ("initialize in a batch", after("2025-03-26", vec![batch(&[request(1, "initialize", json!({}))])]), &["4 A-10", "4 B-1"]),
        ("empty batch", after("2025-03-26", vec![batch(&[])]), &["4 A-10"]),
        ("notification with an id", after("2025-11-25", vec![c(request(1, "notifications/initialized", json!({}))), s(error(json!(1), -32601))]), &["4 A-8"]),
        ("capabilities without a version in a session", after("2025-11-25", vec![c(request(1, "ping", json!({"_meta": {"io.modelcontextprotocol/clientCapabilities": {}}}))), s(result(1, json!({})))]), &["4 B-12 TRAP-11"]),
        ("empty batch answered", after("2025-03-26", vec![batch(&[]), s(error(Value::Null, -32600))]), &["4 A-10"]),
        ("batch at a revision without batches", after("2025-06-18", vec![batch(&[call(1)]), s(error(Value::Null, -32600))]), &["4 A-11"]),
    ];
    for (name, lines, expected) in table {
        check_link(name, &lines, expected);
    }
}

#[rustfmt::skip]
#[test]
fn stateful_lifecycle() {
    let [initialize, initialized_result, initialized] = <[Line; 3]>::try_from(r4()).unwrap();
    let offering = |version: &str| s(result(0, json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": { "name": "s", "version": "1" } })));
    let table: Vec<(&str, Vec<Line>, &[&str])> = vec![
        ("nothing before initialize", vec![c(call(1)), s(error(1, -32602))], &["1 B-1"]),
        ("but ping", vec![c(request(1, "ping", json!({}))), s(result(1, json!({})))], &[]),
        ("initialize without clientInfo", vec![c(request(0, "initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {} })))], &["1 B-1"]),
        ("initialize twice", { let mut all = r4(); all.push(c(request(1, "initialize", json!({})))); all }, &["4 B-1"]),
        ("refused, then another try", vec![initialize.clone(), s(error(0, -32602)), c(request(1, "initialize", initialize.1["params"].clone()))], &[]),
        ("no serverInfo", vec![initialize.clone(), s(result(0, json!({ "protocolVersion": "2025-11-25", "capabilities": {} })))], &["2 B-2"]),
        ("malformed capabilities", vec![initialize.clone(), s(result(0, json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": 5 }, "serverInfo": { "name": "s", "version": "1" } })))], &["2 B-2"]),
        ("counter-offer", vec![initialize.clone(), offering("2024-11-05")], &[]),
        ("unknown counter-offer", vec![initialize.clone(), offering("1999-01-01")], &["2 B-3"]),
        ("modern counter-offer", vec![initialize.clone(), offering("2026-07-28")], &["2 B-3 TRAP-06"]),
        ("request before initialized", vec![initialize.clone(), initialized_result.clone(), c(call(1))], &["3 B-5"]),
        ("initialized before the answer", vec![initialize.clone(), initialized.clone(), initialized_result.clone()], &["2 B-5"]),
        ("initialized alone", vec![initialized.clone()], &["1 B-5"]),
        ("request before the answer", vec![initialize.clone(), c(call(1)), initialized_result.clone(), initialized.clone(), s(result(1, fine()))], &["2 B-6"]),
        ("list change before initialized", vec![initialize.clone(), s(note("notifications/tools/list_changed", json!({})))], &["2 B-7"]),
        ("request before initialized, from the server", vec![initialize.clone(), initialized_result.clone(), s(request(1, "roots/list", json!({})))], &["3 B-7", "3 B-8"]),
        ("log message and ping before it", vec![
            c(request(0, "initialize", initialize.1["params"].clone())),
            s(log("info")),
            s(request("p", "ping", json!({}))),
            c(result("p", json!({}))),
        ], &[]),
        ("cancelled initialize", vec![initialize.clone(), c(note("notifications/cancelled", json!({ "requestId": 0 })))], &["2 B-11 O-1"]),
    ];
    for (name, lines, expected) in table {
        check_link(name, &lines, expected);
    }
}

#[rustfmt::skip]
#[test]
fn capabilities_and_methods_of_a_session() {
    let with = |client: Value, server: Value, lines: Vec<Line>| {
        let mut all = handshake("2025-11-25", client, server);
        all.extend(lines);
        all
    };
    let sampling = json!({ "messages": [], "maxTokens": 1 });
    let table: Vec<(&str, Vec<Line>, &[&str])> = vec![
        ("undeclared by the server", after("2025-11-25", vec![c(request(1, "prompts/list", json!({})))]), &["4 B-8"]),
        ("undeclared by the client", after("2025-11-25", vec![s(request(1, "sampling/createMessage", sampling.clone()))]), &["4 B-8"]),
        ("declared", with(json!({ "sampling": {} }), json!({}), vec![s(request(1, "sampling/createMessage", sampling))]), &[]),
        ("undeclared list change", after("2025-11-25", vec![s(note("notifications/tools/list_changed", json!({})))]), &["4 B-8"]),
        ("declared list change", with(json!({}), json!({ "tools": { "listChanged": true } }), vec![s(note("notifications/tools/list_changed", json!({})))]), &[]),
        ("undeclared by who tells", after("2025-11-25", vec![c(note("notifications/roots/list_changed", json!({})))]), &["4 B-8"]),
        ("method of a later revision", after("2025-03-26", vec![s(request(1, "elicitation/create", json!({})))]), &["4 B-8"]),
        ("method of the other side", after("2025-11-25", vec![s(request(1, "tools/list", json!({})))]), &["4 B-8"]),
        ("completions had no capability once", after("2024-11-05", vec![c(request(1, "completion/complete", json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" } })))]), &[]),
        ("custom methods are free", after("2025-11-25", vec![c(request(1, "x/y", json!({}))), s(result(1, json!({})))]), &[]),
        ("params that do not decode", after("2025-11-25", vec![c(request(1, "tools/call", json!({ "arguments": {} }))), s(error(1, -32602))]), &["4 B-8 B-12"]),
        ("ping that is not empty", after("2025-11-25", vec![c(request(1, "ping", json!({}))), s(result(1, json!({ "pong": 1 })))]), &["5 B-10"]),
        ("ping refused", after("2025-11-25", vec![s(request(1, "ping", json!({}))), c(error(1, -32601))]), &["5 B-10"]),
        ("ping never answered", after("2025-11-25", vec![s(request(1, "ping", json!({}))), c(call(1)), s(result(1, fine()))]), &["4 B-10"]),
        ("logging undeclared", after("2025-11-25", vec![s(log("info"))]), &["4 M-1"]),
        ("below the level", with(json!({}), json!({ "logging": {} }), vec![
            s(log("debug")),
            c(request(1, "logging/setLevel", json!({ "level": "error" }))),
            s(result(1, json!({}))),
            s(log("error")),
            s(log("warning")),
        ]), &["8 M-2"]),
        ("unknown level", with(json!({}), json!({ "logging": {} }), vec![c(request(1, "logging/setLevel", json!({ "level": "loud" }))), s(result(1, json!({})))]), &["4 B-8 B-12", "5 M-3"]),
        ("log messages of a client", after("2025-11-25", vec![c(log("info"))]), &["4 B-8"]),
    ];
    for (name, lines, expected) in table {
        check_link(name, &lines, expected);
    }
}

#[rustfmt::skip]
#[test]
fn stateless_lifecycle() {
    let lacking = |key: &str| {
        let mut message = modern_call(1);
        message["params"]["_meta"].as_object_mut().unwrap().remove(key);
        c(message)
    };
    let at = |version: &str| c(modern_with(1, "tools/list", json!({}), json!({ "io.modelcontextprotocol/protocolVersion": version })));
    let with_data = |code: i64, data: Value| s(json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": code, "message": "", "data": data } }));
    let list = json!({ "tools": [], "ttlMs": 0, "cacheScope": "private" });
    let table: Vec<(&str, Vec<Line>, &[&str])> = vec![
        ("no version", vec![lacking("io.modelcontextprotocol/protocolVersion"), s(error(1, -32602))], &["1 C-1"]),
        ("no capabilities", vec![lacking("io.modelcontextprotocol/clientCapabilities"), s(error(1, -32602))], &["1 C-1"]),
        ("no capabilities, and accepted", vec![lacking("io.modelcontextprotocol/clientCapabilities"), s(complete(1, fine()))], &["1 C-1", "2 C-2"]),
        ("no capabilities, wrong code", vec![lacking("io.modelcontextprotocol/clientCapabilities"), s(error(1, -32603))], &["1 C-1", "2 C-2"]),
        ("no `_meta`", vec![c(modern_call(1)), c(call(2)), s(error(2, -32602)), s(complete(1, fine()))], &["2 C-1"]),
        ("legacy version", vec![at("2025-06-18"), with_data(-32022, json!({ "supported": [], "requested": "2025-06-18" }))], &[]),
        ("legacy version, and accepted", vec![at("2025-06-18"), s(complete(1, list.clone()))], &["2 C-7"]),
        ("unsupported version, no data", vec![at("1900-01-01"), s(error(1, -32022))], &["2 C-7"]),
        ("missing capability, no data", vec![c(modern_call(1)), s(error(1, -32021))], &["2 C-10"]),
        ("missing capability", vec![c(modern_call(1)), with_data(-32021, json!({ "requiredCapabilities": { "roots": {} } }))], &[]),
        ("removed method", vec![c(modern(1, "ping", json!({}))), s(error(1, -32601))], &["1 C-11"]),
        ("removed method, and accepted", vec![c(modern(1, "ping", json!({}))), s(complete(1, json!({})))], &["1 C-11", "2 C-11 A-9"]),
        ("request of a server", vec![c(modern_call(1)), s(request(2, "roots/list", json!({})))], &["2 A-18"]),
        ("response of a client", vec![c(modern_call(1)), c(result(2, json!({})))], &["2 A-18"]),
        ("code of the specification", vec![c(modern_call(1)), s(error(1, -32050))], &["2 A-12"]),
        ("code that nobody may use", vec![c(modern_call(1)), s(error(1, -32001))], &["2 A-13"]),
        ("code of older revisions", vec![c(modern_call(1)), s(error(1, -32002))], &["2 A-15"]),
        ("no resultType", vec![c(modern_call(1)), s(result(1, json!({ "content": [], "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "s", "version": "1" } } })))], &["2 A-17"]),
        ("unknown resultType", vec![c(modern_call(1)), s({ let mut odd = complete(1, fine()); odd["result"]["resultType"] = "weird".into(); odd })], &["2 A-17"]),
        ("no serverInfo", vec![c(modern_call(1)), s(result(1, json!({ "content": [], "resultType": "complete" })))], &["2 C-4"]),
        ("no ttlMs", vec![c(modern(1, "tools/list", json!({}))), s(complete(1, json!({ "tools": [], "cacheScope": "private" })))], &["2 V-1"]),
        ("negative ttlMs", vec![c(modern(1, "tools/list", json!({}))), s(complete(1, json!({ "tools": [], "ttlMs": -1, "cacheScope": "private" })))], &["2 V-1"]),
        ("list", vec![c(modern(1, "tools/list", json!({}))), s(complete(1, list))], &[]),
        ("discovery without versions", vec![c(modern(1, "server/discover", json!({}))), s(complete(1, json!({ "capabilities": {}, "ttlMs": 0, "cacheScope": "public" })))], &["2 C-9"]),
        ("params that do not decode", vec![c(modern(1, "tools/call", json!({}))), s(error(1, -32602))], &["1 C-13"]),
        ("a task unasked", vec![c(modern_call(1)), s({ let mut task = complete(1, json!({})); task["result"]["resultType"] = "task".into(); task })], &["2 W-12 TRAP-14"]),
    ];
    for (name, lines, expected) in table {
        check_link(name, &lines, expected);
    }
}

#[rustfmt::skip]
#[test]
fn results_of_tools() {
    let listing = |revision: &str, schema: Value, lines: Vec<Line>| {
        let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": schema });
        let list = vec![c(request(1, "tools/list", json!({}))), s(result(1, json!({ "tools": [tool] }))), c(call(2))];
        after(revision, [list, lines].concat())
    };
    let object = json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] });
    let answer = |members: Value| {
        let mut all = fine();
        all.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        s(result(2, all))
    };
    let called = |revision: &str, members: Value| after(revision, vec![c(call(2)), s(result(2, members))]);
    let structured = |value: Value| json!({ "content": [], "structuredContent": value });
    let audio = json!({ "content": [{ "type": "audio", "data": "", "mimeType": "audio/wav" }] });
    let link = json!({ "content": [{ "type": "resource_link", "name": "l", "uri": "file:///l" }] });
    let table: Vec<(&str, Vec<Line>, &[&str])> = vec![
        ("no content", called("2025-11-25", json!({})), &["5 I-4"]),
        ("odd content", called("2025-11-25", json!({ "content": [5] })), &["5 I-4 B-12"]),
        ("audio too early", called("2024-11-05", audio.clone()), &["5 B-12 TRAP-11"]),
        ("audio", called("2025-03-26", audio), &[]),
        ("link too early", called("2025-03-26", link.clone()), &["5 B-12 TRAP-11"]),
        ("link", called("2025-06-18", link), &[]),
        ("structured too early", called("2025-03-26", structured(json!({}))), &["5 I-10"]),
        ("structured, no object", called("2025-11-25", structured(json!([1]))), &["5 I-10"]),
        ("structured null", called("2025-11-25", structured(Value::Null)), &["5 I-10 TRAP-03"]),
        ("modern null is a value", vec![
            c(modern(1, "tools/list", json!({}))),
            s(complete(1, json!({ "ttlMs": 0, "cacheScope": "public", "tools": [{ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": { "type": "null" } }] }))),
            c(modern_call(2)),
            s(complete(2, structured(Value::Null))),
            c(modern_call(3)),
            s(complete(3, fine())),
        ], &["6 I-7 TRAP-10"]),
        ("fits", listing("2025-11-25", object.clone(), vec![answer(json!({ "structuredContent": { "a": 1 } }))]), &[]),
        ("does not fit", listing("2025-11-25", object.clone(), vec![answer(json!({ "structuredContent": { "a": "x" } }))]), &["7 I-7"]),
        ("is not there", listing("2025-11-25", object.clone(), vec![answer(json!({}))]), &["7 I-7 TRAP-10"]),
        ("need not be there in errors", listing("2025-11-25", object.clone(), vec![answer(json!({ "isError": true }))]), &[]),
        ("schema of no object", listing("2025-11-25", json!({ "type": "array" }), vec![answer(json!({}))]), &["5 Z-6 TRAP-11"]),
        ("schema too early", listing("2025-03-26", object, vec![answer(json!({}))]), &["5 B-12 TRAP-11", "7 I-7 TRAP-10"]),
        ("unknown members are free", called("2024-11-05", json!({ "content": [], "x": 1, "_meta": { "y": 2 } })), &[]),
        ("member of a later revision", after("2025-03-26", vec![c(request(1, "tools/list", json!({}))), s(result(1, json!({ "tools": [{ "name": "t", "title": "T", "inputSchema": { "type": "object" } }] })))]), &["5 B-12 TRAP-11"]),
    ];
    for (name, lines, expected) in table {
        check_link(name, &lines, expected);
    }
}

#[rustfmt::skip]
#[test]
fn prompts_and_input() {
    let prompt = |revision: &str| {
        let messages = json!({ "messages": [{ "role": "user", "content": { "type": "audio", "data": "", "mimeType": "audio/wav" } }] });
        let mut all = handshake(revision, json!({}), json!({ "prompts": {} }));
        all.extend([c(request(1, "prompts/get", json!({ "name": "p" }))), s(result(1, messages))]);
        all
    };
    let asking = |members: Value| {
        let mut all = complete(1, members);
        all["result"]["resultType"] = "input_required".into();
        s(all)
    };
    let able = json!({ "io.modelcontextprotocol/clientCapabilities": { "roots": {} } });
    let able = |id: i64, params: Value| c(modern_with(id, "tools/call", params, able.clone()));
    let named = || json!({ "name": "t" });
    let roots = json!({ "inputRequests": { "k": { "method": "roots/list" } } });
    let state = json!({ "requestState": "abc" });
    let table: Vec<(&str, Vec<Line>, &[&str])> = vec![
        ("audio in a prompt too early", prompt("2024-11-05"), &["5 K-5 TRAP-11"]),
        ("audio in a prompt", prompt("2025-03-26"), &[]),
        ("asks", vec![able(1, named()), asking(roots.clone())], &[]),
        ("asks beyond what was declared", vec![c(modern_call(1)), asking(roots.clone())], &["2 T-4"]),
        ("asks nothing", vec![able(1, named()), asking(json!({}))], &["2 T-2"]),
        ("asks something odd", vec![able(1, named()), asking(json!({ "inputRequests": { "k": { "method": "ping" } } }))], &["2 T-3"]),
        ("asks with an id", vec![able(1, named()), asking(json!({ "inputRequests": { "k": { "method": "roots/list", "id": 1 } } }))], &["2 T-3"]),
        ("asks where it cannot", vec![c(modern(1, "tools/list", json!({}))), asking(state.clone())], &["2 T-1"]),
        ("state that was not given", vec![able(1, json!({ "name": "t", "requestState": "x" }))], &["1 T-6"]),
        ("retry", vec![able(1, named()), asking(state.clone()), able(2, json!({ "name": "t", "requestState": "abc" }))], &[]),
        ("retry with the same id", vec![able(1, named()), asking(state), able(1, json!({ "name": "t", "requestState": "abc" }))], &["3 T-7 TRAP-13"]),
    ];
    for (name, lines, expected) in table {
        check_link(name, &lines, expected);
    }
}

#[rustfmt::skip]
#[test]
fn progress_cancellation_and_logs() {
    let tracked = |id: i64| c(request(id, "tools/call", json!({ "name": "t", "_meta": { "progressToken": "p" } })));
    let modern_tracked = |id: i64, meta: Value| c(modern_with(id, "tools/call", json!({ "name": "t" }), meta));
    let token = || json!({ "progressToken": "p" });
    let cancel = |id: i64| c(note("notifications/cancelled", json!({ "requestId": id })));
    let level = |name: &str| json!({ "io.modelcontextprotocol/logLevel": name });
    let table: Vec<(&str, Vec<Line>, &[&str])> = vec![
        ("token of a wrong type", vec![modern_tracked(1, json!({ "progressToken": 1.5 })), s(error(1, -32602))], &["1 N-1", "1 C-13"]),
        ("token in use", vec![modern_tracked(1, token()), modern_tracked(2, token())], &["2 N-1"]),
        ("progress goes up", vec![modern_tracked(1, token()), s(progress("p", 1.0)), s(progress("p", 1.5)), s(complete(1, fine()))], &[]),
        ("progress stays", vec![modern_tracked(1, token()), s(progress("p", 1.0)), s(progress("p", 1.0))], &["3 N-2"]),
        ("message too early", after("2024-11-05", vec![tracked(1), s(note("notifications/progress", json!({ "progressToken": "p", "progress": 1, "message": "m" })))]), &["5 N-2"]),
        ("unknown token", vec![modern_tracked(1, token()), s(progress("q", 1.0))], &["2 N-3"]),
        ("token of another type", vec![modern_tracked(1, json!({ "progressToken": 7 })), s(progress("7", 1.0))], &["2 N-3"]),
        ("progress after the answer", after("2025-11-25", vec![tracked(1), s(result(1, fine())), s(progress("p", 1.0))]), &["6 N-3"]),
        ("progress after the cancellation", after("2025-11-25", vec![tracked(1), cancel(1), s(progress("p", 1.0))]), &["6 N-3"]),
        ("progress after the cancellation, modern", vec![modern_tracked(1, token()), cancel(1), s(progress("p", 1.0))], &["3 E-9 N-3"]),
        ("progress of a client", vec![modern_tracked(1, token()), c(progress("p", 1.0))], &["2 N-5"]),
        ("answer after the cancellation", after("2025-11-25", vec![c(call(1)), cancel(1), s(result(1, fine()))]), &["6 O-2"]),
        ("answer after the cancellation, modern", vec![c(modern_call(1)), cancel(1), s(complete(1, fine()))], &["3 E-9"]),
        ("cancels nothing", after("2025-11-25", vec![cancel(9)]), &["4 O-1"]),
        ("cancels what the other side asked", after("2025-11-25", vec![s(request("x", "ping", json!({}))), c(result("x", json!({}))), s(note("notifications/cancelled", json!({ "requestId": 1 })))]), &["6 O-1"]),
        ("cancels what is done", after("2025-11-25", vec![c(call(1)), s(result(1, fine())), cancel(1)]), &[]),
        ("malformed cancellations are ignored", after("2025-11-25", vec![c(note("notifications/cancelled", json!({})))]), &[]),
        ("a server cancels a call", vec![c(modern_call(1)), s(note("notifications/cancelled", json!({ "requestId": 1 })))], &["2 O-4"]),
        ("a server ends a subscription", vec![
            c(listen("l")), s(acknowledged("l")),
            s(complete("l", json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": "l" } }))),
            s(note("notifications/cancelled", json!({ "requestId": "l" }))),
        ], &[]),
        ("log nobody asked for", vec![c(modern_call(1)), s(log("error"))], &["2 M-4 TRAP-18"]),
        ("log as asked for", vec![modern_tracked(1, level("info")), s(log("info")), s(complete(1, fine()))], &[]),
        ("log less severe", vec![modern_tracked(1, level("error")), s(log("info"))], &["2 M-4 TRAP-18"]),
        ("log after the answer", vec![modern_tracked(1, level("info")), s(complete(1, fine())), s(log("info"))], &["3 M-4 TRAP-18"]),
        ("undeclared log", vec![
            c(modern(0, "server/discover", json!({}))),
            s(complete(0, json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} }, "ttlMs": 0, "cacheScope": "public" }))),
            modern_tracked(1, level("info")), s(log("info")),
        ], &["4 M-1"]),
    ];
    for (name, lines, expected) in table {
        check_link(name, &lines, expected);
    }
}

#[rustfmt::skip]
#[test]
fn subscriptions() {
    let changed = |id: Value| s(of_subscription(id, "notifications/tools/list_changed"));
    let ended = |meta: Value| s(complete("l", json!({ "_meta": meta })));
    let cancel = c(note("notifications/cancelled", json!({ "requestId": "l" })));
    let table: Vec<(&str, Vec<Line>, &[&str])> = vec![
        ("as it should be", vec![c(listen(1)), s(acknowledged(1)), changed(1.into())], &[]),
        ("not asked for", vec![c(listen("l")), s(acknowledged("l")), s(of_subscription("l", "notifications/prompts/list_changed"))], &["3 U-2"]),
        ("acknowledged too late", vec![c(listen("l")), changed("l".into()), s(acknowledged("l"))], &["2 U-3 TRAP-17"]),
        ("acknowledged twice", vec![c(listen("l")), s(acknowledged("l")), s(acknowledged("l"))], &["3 U-3"]),
        ("acknowledges too much", vec![
            c(modern("l", "subscriptions/listen", json!({ "notifications": {} }))), s(acknowledged("l")),
        ], &["2 U-3"]),
        ("id of another type", vec![c(listen(1)), s(acknowledged("1"))], &["2 U-4 TRAP-17"]),
        ("no subscription", vec![c(listen("l")), s(acknowledged("l")), s(note("notifications/tools/list_changed", json!({})))], &["3 U-4"]),
        ("ends well", vec![c(listen("l")), s(acknowledged("l")), ended(json!({ "io.modelcontextprotocol/subscriptionId": "l" }))], &[]),
        ("ends without its id", vec![c(listen("l")), s(acknowledged("l")), ended(json!({}))], &["3 U-4 TRAP-17", "3 C-13"]),
        ("told of after its end", vec![
            c(listen("l")), s(acknowledged("l")), ended(json!({ "io.modelcontextprotocol/subscriptionId": "l" })), changed("l".into()),
        ], &["4 U-4"]),
        ("told of after it was cancelled", vec![c(listen("l")), s(acknowledged("l")), cancel, changed("l".into())], &["4 E-9"]),
        ("log on it", vec![c(listen("l")), s(acknowledged("l")), s(note("notifications/message", json!({
            "level": "info", "data": "x", "_meta": { "io.modelcontextprotocol/subscriptionId": "l" },
        })))], &["3 U-9 TRAP-17"]),
        ("progress of it", vec![
            c(modern_with("l", "subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }), json!({ "progressToken": "p" }))),
            s(acknowledged("l")), s(progress("p", 1.0)),
        ], &["3 U-9 N-5 TRAP-17"]),
    ];
    for (name, lines, expected) in table {
        check_link(name, &lines, expected);
    }
}

#[rustfmt::skip]
#[test]
fn http_streams() {
    let on = |session: &str, stream: &str, (from, message): Line| json!({ "from": from, "session": session, "stream": stream, "message": message });
    let gone = |from: &str, stream: Option<&str>| json!({ "from": from, "session": "a", "stream": stream, "closed": true });
    let closed = |stream: &str| gone("client", Some(stream));
    let session = |revision: &str, lines: Vec<Value>| -> Vec<Value> {
        let handshake = after(revision, vec![]).into_iter().map(|line| on("a", "1", line));
        handshake.chain(lines).collect()
    };
    let tracked = |id: i64| c(modern_with(id, "tools/call", json!({ "name": "t" }), json!({ "progressToken": "p", "io.modelcontextprotocol/logLevel": "info" })));
    let table: Vec<(&str, Vec<Value>, &[&str])> = vec![
        ("the same id in two exchanges", vec![
            on("a", "1", c(modern_call(1))), on("a", "2", c(modern_call(1))), on("a", "2", s(complete(1, fine()))), on("a", "1", s(complete(1, fine()))),
        ], &[]),
        ("two sessions", vec![
            on("a", "1", r4()[0].clone()), on("b", "2", r4()[0].clone()), on("b", "2", r4()[1].clone()), on("a", "1", r4()[1].clone()),
        ], &[]),
        ("another request's answer", vec![
            on("a", "1", c(modern_call(1))), on("a", "2", c(modern_call(2))), on("a", "1", s(complete(2, fine()))),
        ], &["3 F-30 A-5"]),
        ("a server's request on the stream", vec![on("a", "1", c(modern_call(1))), on("a", "1", s(request(9, "roots/list", json!({}))))], &["2 A-18 F-30"]),
        ("progress on another stream", vec![
            on("a", "1", tracked(1)), on("a", "2", c(modern_call(2))), on("a", "2", s(progress("p", 1.0))),
        ], &["3 N-5 F-30"]),
        ("a log on another stream", vec![on("a", "1", tracked(1)), on("a", "2", c(modern_call(2))), on("a", "2", s(log("info")))], &["3 M-4 TRAP-18"]),
        ("answer after the stream was closed", vec![on("a", "1", c(modern_call(1))), closed("1"), on("a", "1", s(complete(1, fine())))], &["3 F-14 E-9"]),
        ("an error without an id, to what it does not say", vec![on("a", "1", c(modern_call(1))), on("a", "2", s(bare_error(-32600)))], &[]),
        ("the answer is missing", vec![on("a", "1", c(modern_call(1))), gone("server", Some("1"))], &["2 F-6"]),
        ("the answer is missing, but nobody waits", vec![on("a", "1", c(modern_call(1))), closed("1"), gone("server", Some("1"))], &[]),
        ("the answer of a session is missing", session("2025-06-18", vec![on("a", "2", c(call(1))), gone("server", Some("2"))]), &["5 F-9"]),
        ("the answer may come later", session("2025-11-25", vec![on("a", "2", c(call(1))), gone("server", Some("2"))]), &[]),
        ("a session that has ended", session("2025-06-18", vec![
            on("a", "2", c(call(1))), gone("client", None), gone("server", Some("2")), on("a", "3", c(call(2))), on("a", "3", s(error(2, -32600))),
        ]), &[]),
        ("served in a session that has ended", session("2025-06-18", vec![
            gone("client", None), on("a", "3", c(call(2))), on("a", "3", s(result(2, fine()))),
        ]), &["6 F-21"]),
        ("an id in flight", session("2025-06-18", vec![
            on("a", "2", c(call(1))), on("a", "3", c(call(1))), on("a", "3", s(error(1, -32600))), on("a", "2", s(result(1, fine()))),
        ]), &["5 A-3"]),
        ("a second answer", session("2025-06-18", vec![
            on("a", "2", c(call(1))), on("a", "2", s(result(1, fine()))), on("a", "2", s(result(1, fine()))),
        ]), &["6 A-5"]),
        ("a malformed response, refused", vec![
            on("a", "1", c(json!({ "jsonrpc": "2.0", "id": 1, "result": 5 }))), on("a", "1", s(bare_error(-32600))),
        ], &["1 A-5"]),
        ("a malformed request, refused without its id", vec![
            on("a", "1", c(json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }))), on("a", "1", s(bare_error(-32600))),
        ], &["1 A-1", "2 A-7"]),
        ("refused before it was read", vec![on("a", "1", s(error(1, -32600)))], &[]),
        ("cancelled by a notification", vec![
            on("a", "1", c(modern_call(1))), on("a", "1", c(note("notifications/cancelled", json!({ "requestId": 1 })))),
        ], &["2 O-3 G-12"]),
    ];
    for (name, lines, expected) in table {
        check(Checker::http(), name, &lines, expected);
    }
}

/// An answer that was on its way when the cancellation was sent is nobody's fault.
#[test]
fn what_crosses_is_no_finding() {
    let at = |at: u64, (from, message): Line| json!({ "at": at, "from": from, "message": message });
    let lines = |late: u64| {
        [
            at(0, c(modern_call(1))),
            at(
                1000,
                c(note("notifications/cancelled", json!({ "requestId": 1 }))),
            ),
            at(1000 + late, s(complete(1, fine()))),
        ]
    };
    check(Checker::new(), "soon", &lines(50), &[]);
    check(Checker::new(), "late", &lines(150), &["3 E-9"]);
    check(
        Checker::new().crossing(std::time::Duration::ZERO),
        "strict",
        &lines(1),
        &["3 E-9"],
    );
}
