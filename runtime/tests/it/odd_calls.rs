//! Calls that are written in odd ways: a server that reads quickly answers and logs what one does that reads carefully.

use std::panic::catch_unwind;

use trueform::testing::fuzz;

use crate::support::initialize;

const VERSION: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
const CAPABILITIES: &str = r#""io.modelcontextprotocol/clientCapabilities":{}"#;

fn request(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
}

/// A call of the tool `name`, with a `_meta` of the members `meta`.
fn call(id: &str, name: &str, meta: &str) -> String {
    let params = format!(r#""name":"{name}","_meta":{{{meta}}}"#);
    request(id, "tools/call", &params)
}

/// A stateless `_meta` with the members `more`, which begin with a comma.
fn meta(client: &str, more: &str) -> String {
    format!(
        r#"{VERSION},"io.modelcontextprotocol/clientInfo":{{"name":"{client}","version":"1"}},{CAPABILITIES}{more}"#
    )
}

/// Sends `line` to both servers: alone, in a session, and after a call of a client that is remembered.
#[track_caller]
fn same(line: &str) {
    let session = initialize("2025-11-25").join("\n");
    for before in ["", &session, &call("\"known\"", "who", &meta("c", ""))] {
        // By the number of bytes the input decides which policy the servers have.
        for end in ["", "\n"] {
            let input = format!("{before}\n{line}{end}");
            let compared = catch_unwind(|| {
                fuzz::quick(line.as_bytes());
                fuzz::quick_answers(input.as_bytes());
            });
            assert!(compared.is_ok(), "{before:.200}\n{line:.2000}");
        }
    }
}

// A-2, GAP-7
#[test]
fn ids_and_tokens() {
    let long = |length| format!("\"{}\"", "x".repeat(length));
    let digits = [18, 19, 64, 65].map(|count| "9".repeat(count));
    let longs = [long(1024), long(1025), format!("\"{}\"", "é".repeat(513))];
    let others = [
        "0",
        "-0",
        "00",
        "-1",
        "01",
        "1.0",
        "1.5",
        "1e2",
        "1e400",
        "null",
        "true",
        "{}",
        "[]",
        "\"\"",
        "\"1\"",
        r#""\u0031""#,
        r#""\ud800""#,
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "\"\u{7f}\"",
        "\"\u{1}\"",
        "+1",
        "1 ",
    ]
    .map(str::to_owned);
    for value in digits.into_iter().chain(longs).chain(others) {
        same(&call(&value, "who", &meta("c", "")));
        let token = format!(r#","progressToken":{value}"#);
        same(&call("1", "tells", &meta("c", &token)));
        same(&call("1", "tells", &token[1..]));
    }
}

// A-5, A-6
#[test]
fn arguments() {
    let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    let deep = [98, 99, 100, 124, 125, 126, 127, 200].map(nested);
    let long = format!("{{\"{}\":1}}", "x".repeat(1 << 12));
    // A server would prepare it on a thread of its own, so that the order of events would differ.
    let longest = format!(
        r#""name":"add","arguments":{{"{0}":"{0}"}},"_meta":{{{1}}}"#,
        "x".repeat(1 << 20),
        meta("c", "")
    );
    assert!(fuzz::quick(request("1", "tools/call", &longest).as_bytes()));
    let others = [
        "{}",
        "[]",
        "null",
        "5",
        "\"\"",
        r#"{"a":"\ud800"}"#,
        r#"{"\ud800":1}"#,
        r#"{"a":1,"a":2}"#,
        r#"{"a":1,"\u0061":2}"#,
        r#"{"a":9007199254740993,"b":-9007199254740993}"#,
        r#"{"a":1e400,"b":-0}"#,
        r#"{"a":1000000000000000000000000000000,"b":-0.0}"#,
        r#"{"":""}"#,
        r#"{"a":1.0,"b":1}"#,
        r#"{"a":"\u0000"}"#,
        r#"{"a":1,}"#,
        r#"{"a":01}"#,
        r#"{"name":"x"}"#,
        r#"{"name":"\ud83d\ude00"}"#,
        r#"{"name":"\ud83d"}"#,
        r#"{"name":1}"#,
        r#"{"name":"x","name":"y"}"#,
        r#"{"name":null}"#,
    ]
    .map(str::to_owned);
    for value in deep.into_iter().chain([long]).chain(others) {
        for (method, name) in [
            ("tools/call", "echo"),
            ("tools/call", "add"),
            ("prompts/get", "greet"),
        ] {
            for meta in ["", &format!(r#","_meta":{{{}}}"#, meta("c", ""))] {
                let params = format!(r#""name":"{name}","arguments":{value}{meta}"#);
                same(&request("1", method, &params));
            }
        }
    }
}

#[test]
fn what_clients_say_of_themselves() {
    let filled = |length: usize| {
        let rest = meta("", "").len() + 2;
        meta(&"x".repeat(length - rest), "")
    };
    let again = meta("other", "");
    for meta in [
        String::new(),
        VERSION.to_owned(),
        CAPABILITIES.to_owned(),
        filled(2047),
        filled(2048),
        filled(2049),
        again.clone(),
        format!("{again},{VERSION}"),
        format!("{again},{CAPABILITIES}"),
        meta(
            "c",
            r#","io.modelcontextprotocol/clientInfo":{"name":"d","version":"1"}"#,
        ),
        meta(
            "c",
            r#","io.modelcontextprotocol\/clientInfo":{"name":"d","version":"1"}"#,
        ),
        meta("c", r#","progressToken":1,"progressToken":1"#),
        meta("c", r#","progressToken":1,"progress\u0054oken":2"#),
        meta("c", r#","progress\u0054oken":2"#),
        meta("c", r#","progressToken":1,"#),
        meta("c", r#","":1"#),
        meta("c", r#","traceparent":"x""#),
        meta(r"\ud800", ""),
        meta("c\",\"name\":\"d", ""),
        meta("c\",\"websiteUrl\":\"no uri", ""),
        meta("c\",\"icons\":[{\"src\":\"x\"}],\"x\":\"", ""),
        meta("c", "").replace(":{}", r#":{"roots":{"listChanged":true},"x":1}"#),
        meta("c", "").replace(":{}", r#":{"roots":1}"#),
        meta("c", "").replace("2026-07-28", "2025-11-25"),
        meta("c", "").replace("2026-07-28", "2027-01-01"),
    ] {
        same(&call("1", "who", &meta));
        same(&call(
            "1",
            "tells",
            &format!("{meta},\"progressToken\":\"é\""),
        ));
    }
}

#[test]
fn envelopes() {
    let plain = call("1", "who", &meta("c", ""));
    let other = |from: &str, to: &str| plain.replacen(from, to, 1);
    for line in [
        format!("\u{feff}{plain}"),
        format!(" \t{plain} \t\r"),
        format!("{plain}\0"),
        format!("{plain}{plain}"),
        format!("[{plain},{plain}]"),
        other("\"2.0\"", "\"1.0\""),
        other("\"2.0\"", r#""2\u002e0""#),
        other("\"id\":1", r#""id":1,"id":1"#),
        other("\"id\":1", r#""id":1,"\u0069d":2"#),
        other("\"id\":1,", ""),
        other("{", r#"{"result":{},"#),
        other("{", r#"{"x":1,"#),
        other("\"params\":", r#""params":null,"params":"#),
        other("\"who\"", "\"\""),
        other("\"who\"", "\"wh\u{0}o\""),
        other("\"who\"", r#""\u0077ho""#),
        other("\"who\"", "\"nobody\""),
        other("\"who\"", r#""who","name":"add""#),
        other("\"who\"", r#""who","uri":"bench://note""#),
        other("\"who\"", r#""who","task":{}"#),
        other("\"who\"", &format!("\"{}\"", "x".repeat(1 << 18))),
        other("tools/call", "tools/cal"),
        other("tools/call", "initialize"),
        other("tools/call", "resources/read"),
        other("tools/call", "prompts/get"),
    ] {
        same(&line);
    }
    let long = "bench://".to_owned() + &"x".repeat(1 << 16);
    for uri in [
        "bench://note",
        "bench://notes/a%20b",
        "bench://notes/%ff",
        "",
        "no uri",
        "bench://notes/é",
        "BENCH://note",
        &long,
    ] {
        for meta in ["", &format!(r#","_meta":{{{}}}"#, meta("c", ""))] {
            same(&request(
                "1",
                "resources/read",
                &format!(r#""uri":"{uri}"{meta}"#),
            ));
        }
    }
}
