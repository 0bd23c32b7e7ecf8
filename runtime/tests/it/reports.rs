//! What users of other libraries reported does not happen here, and what the conformance suite does not look at is looked at here:
//! `reports.toml` and `uncovered.toml` name the tests, and this checks that they are there.

use std::{collections::BTreeMap, path::Path};

use futures_util::{StreamExt, stream};
use trueform::prelude::*;

/// Each entry has its tests, or says why it has none.
#[test]
fn each_report_has_its_tests() {
    each_has_its_tests("runtime/tests/reports.toml", 50);
}

// What the official suite does not cover has tests of its own.
#[test]
fn what_the_suite_does_not_cover_has_tests() {
    each_has_its_tests("runtime/tests/uncovered.toml", 29);
}

/// The list `file` has so many entries, with what each of them names.
fn each_has_its_tests(file: &str, entries: u32) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let table = std::fs::read_to_string(root.join(file)).unwrap();
    let table: toml::Table = table.parse().unwrap();
    let mut found = BTreeMap::new();
    for (number, entry) in &table {
        let number: u32 = number.parse().expect("the number of an entry");
        assert!(
            entry["symptom"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
        let tests = entry.get("tests").map(|tests| tests.as_array().unwrap());
        let reason = entry.get("none").map(|reason| reason.as_str().unwrap());
        let step = entry.get("step").map(|step| step.as_str().unwrap());
        if let Some(step) = step {
            let run = std::fs::read_to_string(root.join(".ci/run")).unwrap();
            let begin = format!("step {step} ");
            let is_run = run.lines().any(|line| line.trim().starts_with(&begin));
            assert!(is_run, "{number}: `.ci/run` has no step `{step}`");
        }
        match (tests, reason) {
            (None, None) if step.is_some() => {}
            (Some(tests), None) => {
                assert!(!tests.is_empty(), "{number}: no tests");
                for test in tests {
                    check(root, number, test.as_str().unwrap());
                }
            }
            (None, Some(reason)) => assert!(reason.len() > 10, "{number}: no reason"),
            _ => panic!("{number}: either `tests`, or a `step`, or `none`"),
        }
        found.insert(number, ());
    }
    assert!(found.into_keys().eq(1..=entries), "an entry is missing");
}

/// `test` is a file, or a file, `::` and the name of a test function in it.
fn check(root: &Path, number: u32, test: &str) {
    let (file, function) = match test.split_once("::") {
        Some((file, function)) => (file, Some(function)),
        None => (test, None),
    };
    let text = std::fs::read_to_string(root.join(file))
        .unwrap_or_else(|error| panic!("{number}: `{file}`: {error}"));
    let Some(function) = function else {
        // The compiler's answers are all that such a file is for.
        assert!(
            file.starts_with("macros/tests/ui/fail/"),
            "{number}: `{file}` names no test"
        );
        assert!(root.join(file).with_extension("stderr").exists());
        return;
    };
    assert!(
        is_test(&text, function) || is_case(file, &text, function),
        "{number}: `{file}` has no test `{function}`"
    );
}

/// Whether `function` is a case of a program that tests a process: such a program has no harness, and lists its cases.
fn is_case(file: &str, text: &str, function: &str) -> bool {
    let listed = format!("\"{function}\",");
    file == "runtime/tests/process.rs" && text.contains(&listed)
}

/// Whether `function` is marked as a test in `text`: `#[test]`, a longer path, or a parameter of a macro that says so.
fn is_test(text: &str, function: &str) -> bool {
    let head = format!("fn {function}(");
    text.match_indices(&head).any(|(at, _)| {
        let attributes = text[..at].rsplit(['}', ';']).next().unwrap_or_default();
        ["#[test]", "#[tokio::test"]
            .iter()
            .any(|mark| attributes.contains(mark))
    })
}

#[test]
fn what_counts_as_a_test() {
    for (text, expected) in [
        ("#[test]\nfn a() {}", true),
        ("#[tokio::test(start_paused = true)]\nasync fn a() {}", true),
        ("/// One.\n#[cfg(unix)]\n#[test]\nfn a() {}", true),
        ("fn a() {}", false),
        ("#[test]\nfn b() {}\nfn a() {}", false),
        ("#[test]\nfn ab() {}", false),
        ("// #[test] fn a", false),
    ] {
        assert_eq!(is_test(text, "a"), expected, "{text}");
    }
}

// Report 13: what a later version adds to a public type breaks nobody. Each public enumeration, and each structure that can be written
// down member by member, is marked `#[non_exhaustive]`, but these, which are complete by what they mean.
#[test]
fn public_types_can_grow() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut closed = Vec::new();
    let mut folders = vec![source.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                closed.extend(closed_types(&text));
            }
        }
    }
    closed.sort();
    expect_test::expect![[r#"
        enum Argument
        enum Asked
        enum Attributed
        enum Injected
        enum Position
        enum Profile
        enum ServerReply
        enum Severity
        enum Side
        enum Step
        enum StoreFuture
        enum TaskMode
        enum Whole
        struct Args
        struct Blocking
        struct EventId
        struct Extension
        struct Field
        struct Json
        struct McpTransports
        struct State
        struct StoredEvent"#]]
    .assert_eq(&closed.join("\n"));
}

/// The public types of a source file that a later version cannot add to: each has its kind and its name.
fn closed_types(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut closed = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((kind, rest)) = ["enum", "struct"].iter().find_map(|kind| {
            let rest = line.strip_prefix("pub ")?.strip_prefix(kind)?;
            Some((kind, rest.strip_prefix(' ')?))
        }) else {
            continue;
        };
        let above = lines[..at].iter().rev();
        let mut above = above.take_while(|line| !line.is_empty() && !line.starts_with('}'));
        if above.any(|line| line.trim() == "#[non_exhaustive]") {
            continue;
        }
        let name = rest.split(|c: char| !c.is_alphanumeric()).next();
        let members = lines[at + 1..]
            .iter()
            .take_while(|line| !line.starts_with('}'));
        let mut members = members.filter(|line| line.starts_with("    ") && line.contains(": "));
        let mut members = members.by_ref().filter(|line| {
            let member = line.trim_start();
            !member.starts_with('#') && !member.starts_with("//")
        });
        let is_closed = *kind == "enum"
            || rest.contains("(pub ")
            || rest.ends_with('{') && {
                let all: Vec<_> = members.by_ref().collect();
                !all.is_empty() && all.iter().all(|line| line.starts_with("    pub "))
            };
        if is_closed {
            closed.push(format!("{kind} {}", name.unwrap_or_default()));
        }
    }
    closed
}

// Report 45: what opens a connection may have a span of its own, which is over when the connection is open. While it lasts, no span of
// this library is open but those of requests that are not answered.
#[tokio::test]
async fn no_span_lasts_as_long_as_a_connection() {
    crate::support::subscribe();
    let service = Server::new("spans", "1")
        .tools(tools![doubles])
        .build()
        .unwrap();
    let start = tracing::info_span!("start");
    let client = tracing::Instrument::instrument(service.connect(), start).await;
    let client = client.unwrap();
    for _ in 0..3 {
        let doubled = client.call_tool("doubles", serde_json::json!({ "numbers": [1, 2] }));
        let doubled = doubled.into_future();
        let doubled = tracing::Instrument::instrument(doubled, tracing::info_span!("call"));
        assert_eq!(doubled.await.unwrap().text(), "6");
    }
    crate::support::soon(async {
        while !crate::support::open_spans().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // The connection was open all the time.
    client
        .call_tool("doubles", serde_json::json!({ "numbers": [] }))
        .await
        .unwrap();
}

#[test]
fn what_counts_as_an_open_span() {
    crate::support::subscribe();
    let kept = tracing::info_span!("start").in_scope(tracing::Span::current);
    assert_eq!(crate::support::open_spans(), ["start"]);
    let other = kept.clone();
    drop(kept);
    assert_eq!(crate::support::open_spans(), ["start"]);
    drop(other);
    assert!(crate::support::open_spans().is_empty());
}

/// Awaits several futures at once that borrow its arguments. They are collected first: the compiler cannot prove that a stream is
/// `Send` which holds the closure that makes them.
#[tool]
async fn doubles(numbers: Vec<i64>) -> i64 {
    let doubled: Vec<_> = numbers
        .iter()
        .map(|number| async move { number * 2 })
        .collect();
    let mut doubled = stream::iter(doubled).buffer_unordered(4);
    let mut sum = 0;
    while let Some(number) = doubled.next().await {
        sum += number;
    }
    sum
}

struct Doubler;

#[server]
impl Doubler {
    /// The same in a method.
    #[tool]
    async fn doubles_too(&self, numbers: Vec<i64>) -> i64 {
        let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let lengths: Vec<_> = words
            .iter()
            .map(|word| async move { word.len() as i64 })
            .collect();
        let mut lengths = stream::iter(lengths).buffer_unordered(4);
        let mut sum = 0;
        while let Some(length) = lengths.next().await {
            sum += length;
        }
        sum
    }
}

/// Entry 2.
#[tokio::test]
async fn borrowing_streams_are_tools() {
    let server = Server::new("streams", "1")
        .tools(tools![doubles])
        .tools(Doubler);
    let client = server.connect().await.unwrap();
    let arguments = serde_json::json!({ "numbers": [1, 20, 300] });
    for (tool, expected) in [("doubles", "642"), ("doubles_too", "6")] {
        let said = client.call_tool(tool, &arguments).await.unwrap();
        assert_eq!(said.text(), expected, "{tool}");
    }
}

/// Entry 40: schemas belong to their server, and headers are compared by the schema of the moment.
#[cfg(feature = "http")]
#[tokio::test]
async fn schemas_are_shared_by_nobody() {
    use crate::{
        extended::{WAYS, headers_of},
        parity::post,
    };

    fn tool(argument: &str, kind: &str) -> DynamicTool {
        let schema = serde_json::json!({ "type": "object", "additionalProperties": false, "required": [argument],
            "properties": { argument: { "type": kind, "x-mcp-header": argument } } });
        DynamicTool::new("of", schema).handler(|_, arguments| async move { arguments.to_string() })
    }

    let service = |tool| Server::new("s", "1").tools(tool).build().unwrap();
    let (first, second) = (
        service(tool("Team", "string")),
        service(tool("Floor", "integer")),
    );
    let handle = second.handle();
    let (http_first, http_second) = (
        first.into_http_service().unwrap(),
        second.into_http_service().unwrap(),
    );
    let call = async |http: &_, argument: &str, value: &str, header: Option<(&str, &str)>| {
        let params = format!(r#""name":"of","arguments":{{"{argument}":{value}}}"#);
        let message = WAYS[3].request("1", "tools/call", &params);
        let mut headers = headers_of(&message);
        headers.extend(header.map(|(name, value)| (format!("mcp-param-{name}"), value.to_owned())));
        let answer = post(http, &headers, message.into_bytes()).await.2.unwrap();
        let text = answer["result"]["content"][0]["text"].as_str();
        (answer["error"]["code"].as_i64(), text.map(str::to_owned))
    };
    let team = Some(("team", "red"));
    let floor = Some(("floor", "3"));
    for _ in 0..2 {
        for (http, argument, value, header, other) in [
            (&http_first, "Team", r#""red""#, team, floor),
            (&http_second, "Floor", "3", floor, team),
        ] {
            let (code, text) = call(http, argument, value, header).await;
            assert_eq!(
                (code, text),
                (None, Some(format!(r#"{{"{argument}":{value}}}"#)))
            );
            assert_eq!(
                call(http, argument, value, None).await.0,
                Some(-32020),
                "{argument}"
            );
            assert_eq!(
                call(http, argument, value, other).await.0,
                Some(-32020),
                "{argument}"
            );
        }
    }
    // One server's tool becomes that of the other; the first server is as before.
    assert!(handle.remove_tool("of"));
    handle.add_tools(tool("Team", "string")).unwrap();
    assert_eq!(
        call(&http_second, "Floor", "3", floor)
            .await
            .1
            .map(|text| text.contains("Floor: ")),
        Some(true)
    );
    assert_eq!(
        call(&http_second, "Team", r#""red""#, None).await.0,
        Some(-32020)
    );
    for http in [&http_first, &http_second] {
        assert_eq!(call(http, "Team", r#""red""#, team).await.0, None);
    }
}
