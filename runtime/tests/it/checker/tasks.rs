//! Tasks of 2025-11-25: who may ask for one, and how long its progress token lives.
//!
//! The tables keep one transcript to a line or few, which rustfmt would not.

use serde_json::{Value, json};
use trueform::testing::Checker;

use super::bad::{Line, c, check_link, handshake, note, progress, request, result, s};

fn task(status: &str) -> Value {
    json!({
        "taskId": "t1", "status": status, "ttl": 60000,
        "createdAt": "2026-01-02T03:04:05Z", "lastUpdatedAt": "2026-01-02T03:04:05Z",
    })
}

fn capabilities(requests: Value) -> Value {
    json!({ "tools": {}, "sampling": {}, "elicitation": {}, "tasks": { "list": {}, "cancel": {}, "requests": requests } })
}

/// A call as a task, with the token `p`.
fn augmented(id: i64) -> Line {
    c(request(
        id,
        "tools/call",
        json!({ "name": "t", "task": { "ttl": 60000 }, "_meta": { "progressToken": "p" } }),
    ))
}

/// A session in which a call has become a task, six lines long with the first `lines`.
fn running(lines: Vec<Line>) -> Vec<Line> {
    let mut all = handshake(
        "2025-11-25",
        json!({}),
        capabilities(json!({ "tools": { "call": {} } })),
    );
    all.push(augmented(1));
    all.push(s(result(1, json!({ "task": task("working") }))));
    all.push(s(progress("p", 1.0)));
    all.extend(lines);
    all
}

/// N-1, N-3, N-4
#[rustfmt::skip]
#[test]
fn progress_lasts_as_long_as_the_task() {
    let told = |status: &str| s(note("notifications/tasks/status", task(status)));
    let of_task = |id: i64, method: &str| c(request(id, method, json!({ "taskId": "t1" })));
    let later = || s(progress("p", 2.0));
    let related = || json!({ "content": [], "_meta": { "io.modelcontextprotocol/related-task": { "taskId": "t1" } } });
    let table: Vec<(&str, Vec<Line>, &[&str])> = vec![
        ("while it works", vec![later()], &[]),
        ("while it waits for input", vec![told("input_required"), later()], &[]),
        ("once it has failed", vec![told("failed"), later()], &["8 N-4 N-3"]),
        ("once it is known to be completed", vec![of_task(2, "tasks/get"), s(result(2, task("completed"))), later()], &["9 N-4 N-3"]),
        ("once it is known to work", vec![of_task(2, "tasks/get"), s(result(2, task("working"))), later()], &[]),
        ("once it is cancelled", vec![of_task(2, "tasks/cancel"), s(result(2, task("cancelled"))), later()], &["9 N-4 N-3"]),
        ("once it is listed", vec![c(request(2, "tasks/list", json!({}))), s(result(2, json!({ "tasks": [task("completed")] }))), later()], &["9 N-4 N-3"]),
        ("before its result", vec![of_task(2, "tasks/result"), later(), s(result(2, related()))], &[]),
        ("after its result", vec![of_task(2, "tasks/result"), s(result(2, related())), later()], &["9 N-4 N-3"]),
        ("the token is in use", vec![augmented(2)], &["7 N-1"]),
        ("the token is free again", vec![told("completed"), augmented(2)], &[]),
        ("a client cannot end it", vec![c(note("notifications/tasks/status", task("completed"))), later()], &["7 B-8"]),
    ];
    for (name, lines, expected) in table {
        check_link(name, &running(lines), expected);
    }
}

/// Over HTTP what is on another stream may have been sent before.
#[test]
fn progress_on_its_way_when_the_task_ends() {
    let after = |late: u64| {
        let ended = s(note("notifications/tasks/status", task("completed")));
        let lines = running(vec![ended, s(progress("p", 2.0))]);
        let last = lines.len() as u64 - 1;
        let lines = lines.into_iter().zip(0..).map(|((from, message), index)| {
            let at = match index == last {
                true => (last - 1) * 1000 + late,
                false => index * 1000,
            };
            let line = json!({ "at": at, "from": from, "session": "1", "stream": "1", "message": message });
            format!("{line}\n")
        });
        lines.collect::<String>()
    };
    let found = |checker: Checker, late: u64| {
        let findings = checker.check(&after(late)).unwrap();
        findings
            .into_iter()
            .map(|finding| finding.requirements[0])
            .collect::<Vec<_>>()
    };
    assert_eq!(found(Checker::http(), 50), [""; 0]);
    assert_eq!(found(Checker::http(), 150), ["N-4"]);
    assert_eq!(found(Checker::new(), 50), ["N-4"]);
}

/// W-2, W-4
#[rustfmt::skip]
#[test]
fn a_task_that_was_not_offered() {
    let call = || augmented(1);
    let sampling = || s(request("q", "sampling/createMessage", json!({ "task": {}, "maxTokens": 1, "messages": [] })));
    let form = || s(request("q", "elicitation/create", json!({ "task": {}, "message": "m", "requestedSchema": { "type": "object", "properties": {} } })));
    let plain = || json!({ "tools": {}, "sampling": {}, "elicitation": {} });
    let all = || capabilities(json!({ "tools": { "call": {} }, "sampling": { "createMessage": {} }, "elicitation": { "create": {} } }));
    let table: Vec<(&str, Line, Value, &[&str])> = vec![
        ("call", call(), all(), &[]),
        ("sampling", sampling(), all(), &[]),
        ("elicitation", form(), all(), &[]),
        ("call, not offered", call(), plain(), &["4 W-2"]),
        ("call, others offered", call(), capabilities(json!({ "sampling": { "createMessage": {} } })), &["4 W-2"]),
        ("sampling, not offered", sampling(), plain(), &["4 W-2"]),
        ("elicitation, not offered", form(), plain(), &["4 W-2"]),
        ("elicitation, others offered", form(), capabilities(json!({ "sampling": { "createMessage": {} } })), &["4 W-2"]),
    ];
    for (name, line, capabilities, expected) in table {
        let mut lines = handshake("2025-11-25", capabilities.clone(), capabilities);
        lines.push(line);
        check_link(name, &lines, expected);
    }
    let mut lines = handshake("2025-11-25", json!({}), all());
    lines.push(c(request(1, "tools/call", json!({ "name": "t" }))));
    lines.push(s(result(1, json!({ "task": task("working") }))));
    check_link("a task nobody asked for", &lines, &["5 W-4"]);
}
