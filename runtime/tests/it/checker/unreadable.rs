//! What not everybody can read: numbers beyond all bounds, halves of characters, bytes that are not text. It is reported once,
//! and nothing is concluded from it.
//!
//! The tables keep one transcript to a line or few, which rustfmt would not.

use trueform::testing::Checker;

const MODERN: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
const SERVER: &str = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}"#;

#[track_caller]
fn check(checker: Checker, name: &str, lines: &[String], expected: &[(&str, &str)]) {
    let transcript = lines.join("\n");
    let findings = checker.check(&transcript).unwrap();
    let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let fits = findings.len() == expected.len()
        && findings
            .iter()
            .zip(expected)
            .all(|(finding, (place, says))| {
                let found = format!("{} {}", finding.line, finding.requirements.join(" "));
                found == *place && finding.message.contains(says)
            });
    assert!(
        fits,
        "{name}: {shown:#?}\nexpected {expected:?}\n{transcript}"
    );
}

fn c(message: &str) -> String {
    format!(r#"{{"from":"client","message":{message}}}"#)
}

fn s(message: &str) -> String {
    format!(r#"{{"from":"server","message":{message}}}"#)
}

fn session(server: &str, lines: Vec<String>) -> Vec<String> {
    let mut all = vec![
        c(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        ),
        s(&format!(
            r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-06-18","capabilities":{server},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
        )),
        c(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
    ];
    all.extend(lines);
    all
}

fn call(arguments: &str) -> String {
    c(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments},{MODERN}}}}}"#
    ))
}

fn answer(members: &str) -> String {
    s(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete",{members},{SERVER}}}}}"#
    ))
}

/// A-1, GAP-14
#[rustfmt::skip]
#[test]
fn numbers_and_halves_of_characters() {
    const NUMBER: &str = "A-1";
    const HALF: &str = "A-1 GAP-14";
    let ping = |params: &str| c(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#));
    let at = |line: usize, what: &str| format!("{line} {what}");
    type Expected = Vec<(String, &'static str)>;
    let table: Vec<(&str, Vec<String>, Expected)> = vec![
        ("a number in arguments", vec![call(r#"{"a":[0,1e999]}"#), answer(r#""content":[]"#)], vec![(at(1, NUMBER), "params/arguments/a/1 is `1e999`")]),
        ("a negative one in structured content", vec![call("{}"), answer(r#""content":[],"structuredContent":{"a":-1E+999}"#)], vec![(at(2, NUMBER), "result/structuredContent/a is `-1E+999`")]),
        ("half a character in arguments", vec![call(r#"{"a":"x\ud800"}"#), answer(r#""content":[]"#)], vec![(at(1, HALF), "params/arguments/a ")]),
        ("half a character as a name", vec![call(r#"{"a\udc00/b":{"c":1e999}}"#), answer(r#""content":[]"#)], vec![(at(1, NUMBER), "is `1e999`"), (at(1, HALF), "params/arguments has a name")]),
        ("half a character in text", vec![call("{}"), answer(r#""content":[{"type":"text","text":"\ud800"}]"#)], vec![(at(2, HALF), "result/content/0/text ")]),
        ("what else is wrong is told", vec![call("{}"), answer(r#""content":[{"type":"text"}],"structuredContent":1e999"#)], vec![(at(2, NUMBER), "result/structuredContent "), ("2 I-4 B-12".to_owned(), "text")]),
        ("no conclusions from it", vec![call("{}"), answer(r#""content":[{"type":"image","data":"\ud800","mimeType":"image/png"}]"#)], vec![(at(2, HALF), "result/content/0/data ")]),
        ("in a notification", session(r#"{"logging":{}}"#, vec![s(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1e999}}"#)]), vec![(at(4, NUMBER), "params/data ")]),
        ("a token", session(r#"{"tools":{}}"#, vec![
            c(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"\ud800"}}}"#),
            s(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"\uD800","progress":1}}"#),
            s(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#),
        ]), vec![(at(4, HALF), "progressToken"), (at(5, HALF), "progressToken")]),
        ("data of an error", vec![call("{}"), s(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"","data":{"supported":[],"requested":"\ud800"}}}"#)], vec![(at(2, HALF), "error/data/requested ")]),
        ("message of an error", vec![ping("{}"), s(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"\ud800"}}"#)], vec![(at(2, HALF), "/error/message ")]),
        ("a method", vec![c(r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#), s(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":""}}"#)], vec![(at(1, HALF), "/method ")]),
        ("an output schema", session(r#"{"tools":{}}"#, vec![
            c(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#),
            s(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"a":{"const":1e999}}}}]}}"#),
            c(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}"#),
            s(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":{"a":1}}}"#),
        ]), vec![(at(5, NUMBER), "/tools/0/outputSchema/properties/a/const ")]),
        ("content of a schema", session(r#"{"tools":{}}"#, vec![
            c(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#),
            s(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"a":{"maximum":5}}}}]}}"#),
            c(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}"#),
            s(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":{"a":1e999}}}"#),
        ]), vec![(at(7, NUMBER), "/structuredContent/a ")]),
    ];
    for (name, lines, expected) in table {
        let expected: Vec<(&str, &str)> = expected.iter().map(|(place, says)| (&**place, *says)).collect();
        check(Checker::new(), name, &lines, &expected);
    }
}

/// What nests too deep is told as that, whatever is in it.
#[test]
fn depth() {
    let deep = format!("{}1e999{}", "[".repeat(200), "]".repeat(200));
    let lines = [call(&deep)];
    check(
        Checker::new(),
        "deep",
        &lines,
        &[("1 A-1", "nests too deep")],
    );
}

/// Bytes that are not text (A-1).
#[rustfmt::skip]
#[test]
fn no_text() {
    let bytes = |from: &str, message: &str| format!(r#"{{"from":"{from}","bytes":{}}}"#, serde_json::Value::from(message));
    let asked = |text: &str| bytes("client", &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{text}",{MODERN}}}}}"#));
    let error = |code: i64| s(&format!(r#"{{"jsonrpc":"2.0","error":{{"code":{code},"message":""}}}}"#));
    let ping = s(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    type Expected = &'static [(&'static str, &'static str)];
    let table: Vec<(&str, Vec<String>, Expected)> = vec![
        ("refused", vec![asked("%ff"), error(-32700)], &[("1 A-1", "not UTF-8 at byte ")]),
        ("refused by its id", vec![asked("%ff"), s(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":""}}"#)], &[("1 A-1", "not UTF-8")]),
        ("refused as something else", vec![asked("%ff"), error(-32602)], &[("1 A-1", "not UTF-8"), ("2 A-9", "not UTF-8")]),
        ("accepted", vec![asked("%ff"), answer(r#""content":[]"#)], &[("1 A-1", "not UTF-8"), ("2 A-9 A-1", "not UTF-8")]),
        ("nonsense", vec![bytes("client", "%ff{"), error(-32700)], &[("1 A-1", "not UTF-8 at byte 0")]),
        ("an answer", session("{}", vec![ping, bytes("client", r#"{"jsonrpc":"2.0","id":1,"result":{"a":"%c3"}}"#)]), &[("5 A-1", "not UTF-8")]),
        ("a notification", session("{}", vec![bytes("client", r#"{"jsonrpc":"2.0","method":"x/%ff"}"#), error(-32700)]), &[("4 A-1", "not UTF-8"), ("5 A-7 A-8", "without id")]),
    ];
    for (name, lines, expected) in table {
        check(Checker::new(), name, &lines, expected);
    }
}
