//! What a server does that a user builds, with the features that a user's build has.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, duplex};
use trueform::{client::ClientOptions, prelude::*, schema::Revision};
use trueform_outside::server;

/// Doubles as their shortest text: what a parser without `float_roundtrip` gets wrong, subnormals, and the ends.
const DOUBLES: [&str; 14] = [
    "959.5082037471863",
    "0.1",
    "-2.2250738585072014e-308",
    "5e-324",
    "2.2250738585072011e-308",
    "1.7976931348623157e308",
    "0.30000000000000004",
    "-123456.78901234567",
    "8.881784197001252e-16",
    "9007199254740992.0",
    "7243816442868929.0",
    "1816189213876457.0",
    "1e16",
    "9223372036854775808.0",
];

/// Random doubles of all magnitudes, the same in each run.
fn doubles() -> impl Iterator<Item = f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some(f64::from_bits(state))
    })
    .filter(|double| double.is_finite())
}

/// Doubles such as people write, of up to 17 digits.
fn usual_doubles() -> impl Iterator<Item = f64> {
    doubles().map(|double| {
        let unit = f64::from_bits(double.to_bits() >> 12 | 0x3ff0_0000_0000_0000) - 1.0;
        unit * 10_f64.powi((double.to_bits() % 20) as i32)
    })
}

fn initialize(revision: &str) -> String {
    format!(
        "{}\n{}\n",
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": revision,
            "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
    )
}

/// A line of a request; `params` are members beside `_meta`. Text, so that numbers go out as they are written here.
fn line(revision: &str, id: usize, method: &str, params: &str) -> String {
    let meta = match revision {
        "2026-07-28" => {
            r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#
        }
        _ => r#""_meta":{}"#,
    };
    let comma = if params.is_empty() { "" } else { "," };
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{meta}{comma}{params}}}}}"#
    ) + "\n"
}

/// What the server says to all of the input, one message a line, without the answer to `initialize`.
async fn answers(revision: &str, lines: &str) -> Vec<String> {
    let mut input = String::new();
    if revision != "2026-07-28" {
        input += &initialize(revision);
    }
    input += lines;
    let service = server().build().expect("the tools are right");
    let (output, mut from_server) = duplex(1 << 20);
    let mut text = String::new();
    let (served, read) = tokio::join!(
        service.serve_stream(std::io::Cursor::new(input), output),
        from_server.read_to_string(&mut text)
    );
    served.expect("a stream in memory does not fail");
    read.expect("UTF-8");
    let mut answers: Vec<_> = text.lines().map(str::to_owned).collect();
    answers.retain(|answer| !answer.contains(r#""id":0,"#));
    // Calls may end in another order.
    answers.sort_by_key(|answer| {
        let answer: Value = serde_json::from_str(answer).expect("JSON");
        answer["id"].as_u64()
    });
    answers
}

fn call(revision: &str, id: usize, tool: &str, arguments: &str) -> String {
    let params = format!(r#""name":"{tool}","arguments":{arguments}"#);
    line(revision, id, "tools/call", &params)
}

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Lists and calls, in both eras, over a stream.
#[tokio::test]
async fn lists_and_calls() {
    for revision in REVISIONS {
        let lines = line(revision, 1, "tools/list", "")
            + &call(revision, 2, "add", r#"{"a":2,"b":3}"#)
            + &call(revision, 3, "divide", r#"{"a":1.0,"b":4.0}"#)
            + &call(revision, 4, "divide", r#"{"a":1,"b":0}"#);
        let answers = answers(revision, &lines).await;
        assert_eq!(answers.len(), 4, "{revision}: {answers:#?}");
        let list: Value = serde_json::from_str(&answers[0]).expect("JSON");
        let tools = list["result"]["tools"].as_array().expect("tools");
        assert_eq!(tools.len(), 6);
        for tool in tools {
            assert!(tool["inputSchema"]["properties"].is_object(), "{tool}");
        }
        // Members stay in the order of the declaration.
        assert!(
            answers[0].contains(
                r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}"#
            ),
            "{}",
            answers[0]
        );
        assert!(
            answers[0]
                .contains(r#"{"type":"object","properties":{},"additionalProperties":false}"#)
        );
        assert!(
            answers[1].contains(r#""content":[{"type":"text","text":"5"}]"#),
            "{}",
            answers[1]
        );
        assert!(
            answers[2].contains(r#""structuredContent":{"quotient":0.25}"#),
            "{}",
            answers[2]
        );
        assert!(
            answers[3].contains(r#""isError":true"#) && answers[3].contains("/b: "),
            "{}",
            answers[3]
        );
    }
}

/// Every number that enters leaves unchanged.
#[tokio::test]
async fn numbers_are_echoed() {
    let random = doubles().take(500).chain(usual_doubles().take(500));
    let random = random.map(|double| format!("{double:?}"));
    let texts: Vec<String> = DOUBLES
        .iter()
        .map(|&text| text.to_owned())
        .chain(random)
        .collect();
    for revision in REVISIONS {
        for tool in ["echo_double", "echo_any"] {
            let lines: String = texts
                .iter()
                .enumerate()
                .map(|(id, text)| call(revision, id + 1, tool, &format!(r#"{{"value":{text}}}"#)))
                .collect();
            let answers = answers(revision, &lines).await;
            assert_eq!(answers.len(), texts.len());
            let mut changed = Vec::new();
            for (text, answer) in texts.iter().zip(&answers) {
                let start = answer
                    .find(r#""structuredContent":{"value":"#)
                    .unwrap_or_else(|| panic!("{answer}"));
                let value = &answer[start + r#""structuredContent":{"value":"#.len()..];
                let value = &value[..value.find('}').expect("an end")];
                // By the standard library's parser, which is exact.
                let sent: f64 = text.parse().expect("a number");
                let got: f64 = value.parse().expect("a number");
                if sent.to_bits() != got.to_bits() {
                    changed.push(format!("{text} became {value}"));
                }
            }
            assert!(
                changed.is_empty(),
                "{tool} at {revision}: {} of {} changed: {changed:#?}",
                changed.len(),
                texts.len()
            );
        }
    }
}

/// Through the client in the same process too.
#[tokio::test]
async fn numbers_are_echoed_to_a_client() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let service = server().build().expect("the tools are right");
        let client = service
            .connect_as(ClientOptions::at(revision))
            .await
            .expect("a client");
        for double in doubles().take(200).chain(usual_doubles().take(200)) {
            let result = client
                .call_tool("echo_double", json!({ "value": double }))
                .await
                .expect("an answer");
            let structured = result.structured_content.expect("a structured result");
            let text = structured
                .get()
                .strip_prefix(r#"{"value":"#)
                .and_then(|rest| rest.strip_suffix('}'));
            let back: f64 = text.expect("a value").parse().expect("a number");
            assert_eq!(back.to_bits(), double.to_bits(), "{double:?}");
            // What the user's own code reads from it is the same.
            let read: Value = serde_json::from_str(structured.get()).expect("JSON");
            assert_eq!(
                read["value"].as_f64().map(f64::to_bits),
                Some(double.to_bits()),
                "{double:?}"
            );
        }
    }
}

/// A number on the bound passes, its neighbour does not: of `maximum`, `minimum`, `const`, `enum`, `uniqueItems`.
#[tokio::test]
async fn verdicts_are_exact() {
    let next = |double: f64| f64::from_bits(double.to_bits() + 1);
    for bound in usual_doubles().filter(|double| *double != 0.0).take(300) {
        let (on, off) = (bound, next(bound));
        let schema = json!({
            "type": "object",
            "properties": {
                "maximum": {"maximum": on},
                "minimum": {"minimum": off},
                "const": {"const": on},
                "enum": {"enum": [on, "other"]},
                "unique": {"uniqueItems": true},
            },
            "additionalProperties": false,
        });
        let tool = DynamicTool::new("t", schema)
            .handler(|_, arguments| async move { arguments.to_string() });
        let client = Server::new("s", "1")
            .tools(tool)
            .connect()
            .await
            .expect("a client");
        for (arguments, fits) in [
            (json!({ "maximum": on }), true),
            (json!({ "maximum": off }), false),
            (json!({ "minimum": off }), true),
            (json!({ "minimum": on }), false),
            (json!({ "const": on }), true),
            (json!({ "const": off }), false),
            (json!({ "enum": on }), true),
            (json!({ "enum": off }), false),
            (json!({ "unique": [on, off] }), true),
            (json!({ "unique": [on, on] }), false),
        ] {
            let result = client
                .call_tool("t", arguments.clone())
                .await
                .expect("an answer");
            assert_eq!(result.is_error != Some(true), fits, "{arguments}");
        }
    }
}

/// Models write 30.0 for 30. Exact below 2^53; from there on what is written so is refused with what to do.
#[tokio::test]
async fn integers_written_as_floats() {
    let mut whole: Vec<i64> = vec![
        0,
        1,
        -30,
        1_816_189_213_876_457,
        7_243_816_442_868_929,
        (1 << 53) - 1,
        1 - (1 << 53),
    ];
    whole.extend(
        doubles()
            .take(300)
            .map(|double| (double.to_bits() >> 11) as i64 - (1 << 52)),
    );
    for revision in REVISIONS {
        let lines: String = whole
            .iter()
            .enumerate()
            .map(|(id, integer)| {
                call(
                    revision,
                    id + 1,
                    "echo_integer",
                    &format!(r#"{{"value":{integer}.0}}"#),
                )
            })
            .collect();
        let answers = answers(revision, &lines).await;
        assert_eq!(answers.len(), whole.len());
        for (integer, answer) in whole.iter().zip(answers) {
            assert!(
                answer.contains(&format!(r#""structuredContent":{{"value":{integer}}}"#)),
                "{integer}: {answer}"
            );
        }
    }
}

/// The listed exceptions.
#[tokio::test]
async fn integers_beyond_what_their_type_holds() {
    for revision in REVISIONS {
        let range = "/value: expected an integer from -9223372036854775808 to 9223372036854775807";
        let digits = format!("{range}, written in digits alone from ±2^53 on");
        for (text, told) in [
            ("1e16", format!("{digits}, found 1e+16")),
            (
                "9007199254740993.0",
                format!("{digits}, found 9007199254740992"),
            ),
            (
                "9007199254740994.0",
                format!("{digits}, found 9007199254740994"),
            ),
            (
                "18446744073709551616",
                format!("{digits}, found 1.8446744073709552e+19"),
            ),
            (
                "9223372036854775808",
                format!("{range}, found 9223372036854775808"),
            ),
            (
                "-9223372036854775809",
                format!("{digits}, found -9.223372036854776e+18"),
            ),
        ] {
            let answers = answers(
                revision,
                &call(
                    revision,
                    1,
                    "echo_integer",
                    &format!(r#"{{"value":{text}}}"#),
                ),
            )
            .await;
            assert!(answers[0].contains(&told), "{text}: {}", answers[0]);
        }
        // Without a fraction everything that 64 bits hold is exact.
        for integer in [i64::MAX, i64::MIN, (1 << 53) + 1] {
            let answers = answers(
                revision,
                &call(
                    revision,
                    1,
                    "echo_integer",
                    &format!(r#"{{"value":{integer}}}"#),
                ),
            )
            .await;
            assert!(
                answers[0].contains(&format!(r#""structuredContent":{{"value":{integer}}}"#)),
                "{}",
                answers[0]
            );
        }
    }
}
