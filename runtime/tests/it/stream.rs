//! Lines in, lines out: framing, eras, order (E-1, E-11, D-1 to D-4, B-10).

use expect_test::{Expect, expect};
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use trueform::{
    Principal, Server, client::Client, schema::Revision, tool, tools, transport::StreamSettings,
};

use crate::support::{
    conversation, conversation_with, initialize, joined, legacy, modern, service, soon, staged,
};

async fn check<T: AsRef<str>>(lines: impl IntoIterator<Item = T>, expected: Expect) {
    expected.assert_eq(&joined(conversation(&service(), joined(lines)).await));
}

fn add(id: &str) -> String {
    modern(
        id,
        "tools/call",
        r#","name":"add","arguments":{"a":2,"b":3}"#,
    )
}

// E-1
#[tokio::test]
async fn line_ends_of_all_kinds() {
    let input = format!("{}\r\n\n  \n{}\n{}", add("1"), add("2"), add("3"));
    let output = conversation(&service(), input).await;
    assert_eq!(output.len(), 3, "{output:?}");
    for (line, id) in output.iter().zip(1..) {
        assert!(
            line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)),
            "{line}"
        );
    }
}

// DEC-10
#[tokio::test]
async fn a_byte_order_mark_before_the_first_line() {
    let strict = trueform::Server::new("strict", "1.0.0")
        .tools(trueform::tools![crate::support::add])
        .lenient(trueform::Leniencies::NONE)
        .build()
        .unwrap();
    for service in [service(), strict] {
        let input = format!("\u{feff}{}\n\u{feff}{}\n{}", add("1"), add("2"), add("3"));
        let output = conversation(&service, input).await;
        let answers: Vec<_> = output
            .iter()
            .map(|line| {
                let answer: serde_json::Value = serde_json::from_str(line).unwrap();
                (answer["id"].clone(), answer["error"]["code"].as_i64())
            })
            .collect();
        let expected = [
            (1.into(), None),
            (serde_json::Value::Null, Some(-32700)),
            (3.into(), None),
        ];
        assert_eq!(answers, expected);
    }
}

// Y-6: a peer that reads nothing for the write timeout is given up; one that reads a little now and then is not.
#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read() {
    let limit = StreamSettings::DEFAULT_WRITE_TIMEOUT;
    assert_eq!(limit.as_secs(), 60);
    let serve = |settings: StreamSettings| {
        let (near, far) = tokio::io::duplex(64);
        let service = service();
        let input = std::io::Cursor::new(joined((0..5).map(|id| add(&id.to_string()))));
        let serving = tokio::spawn(async move {
            let output = far;
            service.serve_stream_with(input, output, settings).await
        });
        (near, serving)
    };
    // The drain is over earlier, but for this.
    let settings = StreamSettings::new().drain(limit * 100);
    let begun = tokio::time::Instant::now();
    let (_unread, serving) = serve(settings.clone());
    let error = serving.await.unwrap().unwrap_err().to_string();
    assert_eq!(begun.elapsed(), limit);
    assert!(error.contains("write_timeout"), "{error}");

    let (mut near, serving) = serve(settings.clone());
    let mut read = 0;
    while !serving.is_finished() {
        tokio::time::sleep(limit - std::time::Duration::from_secs(1)).await;
        read += near.read(&mut [0; 64]).await.unwrap();
    }
    serving.await.unwrap().unwrap();
    near.read_to_end(&mut Vec::new()).await.unwrap();
    assert!(600 < read, "{read}");

    // A slow reader gets all of what its closed input asked for, however short the drain is.
    let drain = std::time::Duration::from_secs(5);
    let (mut near, serving) = serve(settings.clone().drain(drain));
    let mut text = Vec::new();
    while !serving.is_finished() {
        tokio::time::sleep(drain - std::time::Duration::from_secs(1)).await;
        let mut part = [0; 64];
        let count = near.read(&mut part).await.unwrap();
        text.extend_from_slice(&part[..count]);
    }
    serving.await.unwrap().unwrap();
    near.read_to_end(&mut text).await.unwrap();
    let answers = text.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(answers, 5, "{}", String::from_utf8_lossy(&text));

    let begun = tokio::time::Instant::now();
    let (_unread, serving) = serve(settings.write_timeout(std::time::Duration::ZERO));
    serving.await.unwrap().unwrap();
    assert_eq!(
        begun.elapsed(),
        limit * 100,
        "no limit but that of the drain"
    );
}

// Y-6
#[tokio::test]
async fn long_lines_are_refused_and_the_next_one_served() {
    // Answers, the fourth to sixth, are not answered however long they are.
    let long = "x".repeat(300_000);
    let input = [
        modern(
            r#""a""#,
            "tools/call",
            &format!(r#","name":"echo","arguments":{{"text":"{long}"}}"#),
        ),
        format!(r#"{{"params":"{long}","id":5}}"#),
        long.clone(),
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"a":"{long}"}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":1,"message":"{long}"}}}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{}{}}}"#,
            "[".repeat(500),
            "]".repeat(500)
        ),
        add("1"),
        format!(r#"{{"jsonrpc":"2.0","id":6,"method":"{long}"#),
    ];
    let settings = StreamSettings::new().max_line(200_000);
    let output = conversation_with(&service(), input.join("\n"), settings).await;
    expect![[r#"
        {"jsonrpc":"2.0","id":"a","error":{"code":-32600,"data":{"pointer":"","rule":"size","expected":"at most 200000 bytes","found":"more"},"message":"invalid request: a message longer than 200000 bytes"}}
        {"jsonrpc":"2.0","error":{"code":-32600,"data":{"pointer":"","rule":"size","expected":"at most 200000 bytes","found":"more"},"message":"invalid request: a message longer than 200000 bytes"}}
        {"jsonrpc":"2.0","error":{"code":-32600,"data":{"pointer":"","rule":"size","expected":"at most 200000 bytes","found":"more"},"message":"invalid request: a message longer than 200000 bytes"}}
        {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}},"content":[{"type":"text","text":"5"}]}}
        {"jsonrpc":"2.0","id":6,"error":{"code":-32600,"data":{"pointer":"","rule":"size","expected":"at most 200000 bytes","found":"more"},"message":"invalid request: a message longer than 200000 bytes"}}
    "#]].assert_eq(&joined(output));
}

#[tokio::test]
async fn a_message_as_long_as_the_limit_passes_both_ways() {
    let text = "x".repeat(10_000_000);
    let call = modern(
        "1",
        "tools/call",
        &format!(r#","name":"echo","arguments":{{"text":"{text}"}}"#),
    );
    let output = conversation(&service(), call + "\n").await;
    assert_eq!(output.len(), 1);
    assert!(output[0].contains(&text));
}

// Y-6: a line may have exactly as many bytes as the limit says, and not one more. Each comes twice, because the second is read in one pass.
#[tokio::test]
async fn a_line_of_the_limit_and_one_byte_more() {
    let (call, more) = (add("1"), add("10"));
    let settings = StreamSettings::new().max_line(call.len());
    for end in ["\n", ""] {
        let input = format!("{call}\n{call}\n{more}\n{more}\n{call}\n{more}{end}");
        let output = conversation_with(&service(), input, settings.clone()).await;
        let found: Vec<_> = output
            .iter()
            .map(|line| {
                let answer: serde_json::Value = serde_json::from_str(line).unwrap();
                (
                    answer["id"].as_i64(),
                    answer["error"]["data"]["rule"].clone(),
                )
            })
            .collect();
        let (served, refused) = (
            (Some(1), serde_json::Value::Null),
            (Some(10), "size".into()),
        );
        let expected = [&served, &served, &refused, &refused, &served, &refused];
        assert!(found.iter().eq(expected), "{found:?}");
    }
}

fn wait(id: &str) -> String {
    modern(
        id,
        "tools/call",
        r#","name":"wait","arguments":{"label":"x"}"#,
    )
}

fn cancelled(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

/// The ids of the answers to `lines`, which are read at once. What waits may go on as soon as it has begun.
async fn answered<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> Vec<serde_json::Value> {
    let (service, director) = staged();
    let begun = async {
        assert_eq!(director.begun().await, "x");
        director.open();
    };
    let (output, ()) = tokio::join!(conversation(&service, joined(lines)), begun);
    output
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].clone())
        .collect()
}

// A-3, GAP-17: an id is taken while its call runs, also by a call in the same read.
#[tokio::test]
async fn an_id_twice_in_one_read() {
    let call = add("1");
    let served = conversation(&service(), joined([&call, &call, &call])).await;
    assert_eq!(served.len(), 3, "each is done before the next begins");
    let found = answered([&*add("0"), &wait("1"), &add("1"), &wait("1"), &add("2")]).await;
    assert_eq!(found, [0, 2, 1]);
}

// O-2: a cancellation that comes before its call is one of no call.
#[tokio::test]
async fn a_cancellation_before_its_call_in_one_read() {
    let found = answered([
        &*add("0"),
        &cancelled("1"),
        &add("1"),
        &cancelled("2"),
        &wait("2"),
    ])
    .await;
    assert_eq!(found, [0, 1, 2]);
}

// O-2
#[tokio::test]
async fn a_cancellation_behind_its_call_in_one_read() {
    let found = answered([&*add("0"), &wait("1"), &cancelled("1"), &add("2")]).await;
    assert_eq!(found, [0, 2]);
}

// A-2, A-5
#[tokio::test]
async fn ids_come_back_as_they_were_written() {
    let ids = [
        "1",
        "0",
        "-7",
        "1.0",
        "1e3",
        "18446744073709551616",
        r#""""#,
        r#""a\"b""#,
        r#""1""#,
    ];
    let output = conversation(&service(), joined(ids.iter().map(|id| add(id)))).await;
    assert_eq!(output.len(), ids.len());
    for (line, id) in output.iter().zip(ids) {
        assert!(
            line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)),
            "{id}: {line}"
        );
    }
}

// D-1, D-2: both eras on one stream, interleaved.
#[tokio::test]
async fn both_eras_at_once() {
    let [first, second] = initialize("2025-06-18");
    let call = r#"{"name":"add","arguments":{"a":2,"b":3}}"#;
    check([first, second, legacy("1", "tools/call", call), add("2"), legacy("3", "tools/call", call)], expect![[r#"
        {"jsonrpc":"2.0","id":0,"result":{"capabilities":{"logging":{},"tools":{"listChanged":true}},"protocolVersion":"2025-06-18","serverInfo":{"name":"test","version":"1.0.0"}}}
        {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"5"}]}}
        {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}},"content":[{"type":"text","text":"5"}]}}
        {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"5"}]}}
    "#]]).await;
}

// D-3, D-4, B-10, C-11: era by era what the first request may be.
#[tokio::test]
async fn the_era_of_a_line() {
    let table = [
        ("cold, no `_meta`", legacy("1", "tools/list", "{}")),
        ("cold ping", legacy("1", "ping", "{}")),
        ("cold modern call", add("1")),
        ("modern `initialize`", modern("1", "initialize", "")),
        ("modern ping", modern("1", "ping", "")),
        (
            "modern, version of the other era",
            modern("1", "tools/list", "").replace("2026-07-28", "2025-06-18"),
        ),
        (
            "modern, unknown version",
            modern("1", "tools/list", "").replace("2026-07-28", "1900-01-01"),
        ),
        (
            "modern, no capabilities",
            legacy(
                "1",
                "tools/list",
                r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#,
            ),
        ),
    ];
    let mut answers = String::new();
    for (what, line) in table {
        let output = conversation(&service(), line + "\n").await;
        answers.push_str(&format!("{what}: {}\n", output.join(" | ")));
    }
    expect![[r#"
        cold, no `_meta`: {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"data":{"pointer":"/params/_meta/io.modelcontextprotocol~1protocolVersion","rule":"missing","expected":"a protocol version, or `initialize` before","found":"nothing"},"message":"`tools/list` before `initialize`, and without `_meta` that names a protocol version"}}
        cold ping: {"jsonrpc":"2.0","id":1,"result":{}}
        cold modern call: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}},"content":[{"type":"text","text":"5"}]}}
        modern `initialize`: {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method `initialize` is unknown at 2026-07-28"}}
        modern ping: {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method `ping` is unknown at 2026-07-28"}}
        modern, version of the other era: {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2025-06-18"},"message":"protocol version `2025-06-18` is not served here"}}
        modern, unknown version: {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"1900-01-01"},"message":"protocol version `1900-01-01` is not served here"}}
        modern, no capabilities: {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"data":{"pointer":"/params/_meta/io.modelcontextprotocol~1clientCapabilities","rule":"missing","expected":"an object","found":"nothing"},"message":"`params._meta` lacks `io.modelcontextprotocol/clientCapabilities`"}}
    "#]].assert_eq(&answers);
}

// A-10
#[tokio::test]
async fn batches_exist_at_one_revision() {
    let call = |id: &str| {
        legacy(
            id,
            "tools/call",
            r#"{"name":"steps","arguments":{"steps":2}}"#,
        )
    };
    let batch = format!(
        r#"[{},{{"jsonrpc":"2.0","method":"notifications/initialized"}},{},5,{}]"#,
        call("1"),
        legacy("2", "ping", "{}"),
        legacy("3", "initialize", "{}"),
    );
    let mut answers = String::new();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let [first, second] = initialize(revision);
        let output = conversation(&service(), joined([&first, &second, &batch])).await;
        answers.push_str(&format!("{revision}:\n{}", joined(&output[1..])));
    }
    let silent = format!("[{}]", initialize("")[1]);
    let [first, second] = initialize("2025-03-26");
    assert_eq!(
        conversation(&service(), joined([&first, &second, &silent]))
            .await
            .len(),
        1
    );
    expect![[r#"
        2024-11-05:
        {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"data":{"pointer":"","rule":"type","expected":"an object","found":"an array"},"message":"invalid request: an array is not a message here; batches exist only in a session of 2025-03-26"}}
        2025-03-26:
        {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"step 1","level":"info"}}
        {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"step 2","level":"info"}}
        [{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"2"}]}},{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"data":{"pointer":"","rule":"type","expected":"an object","found":"number of 1 byte"},"message":"invalid request: a message is an object"}},{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"data":{"pointer":"/method","rule":"phase","expected":"`initialize` by itself","found":"it in a batch"},"message":"invalid request: `initialize` may not be part of a batch"}}]
        2025-06-18:
        {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"data":{"pointer":"","rule":"type","expected":"an object","found":"an array"},"message":"invalid request: an array is not a message here; batches exist only in a session of 2025-03-26"}}
        2025-11-25:
        {"jsonrpc":"2.0","error":{"code":-32600,"data":{"pointer":"","rule":"type","expected":"an object","found":"an array"},"message":"invalid request: an array is not a message here; batches exist only in a session of 2025-03-26"}}
    "#]].assert_eq(&answers);
}

/// #941 of the peers: many pipelined calls with large answers, all answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_under_load() {
    let text = "x".repeat(64 << 10);
    let quick = (0..200).map(|id| {
        modern(
            &id.to_string(),
            "tools/call",
            &format!(r#","name":"echo","arguments":{{"text":"{text}"}}"#),
        )
    });
    let slow = (200..400).map(|id| {
        modern(
            &id.to_string(),
            "tools/call",
            r#","name":"steps","arguments":{"steps":3}"#,
        )
    });
    let output = conversation(&service(), joined(quick.chain(slow))).await;
    assert_eq!(output.len(), 400);
    for id in 0..400 {
        let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#);
        assert_eq!(
            output.iter().filter(|line| line.starts_with(&head)).count(),
            1,
            "{id}"
        );
    }
}

// N-3: many calls at once, each one's reports before its answer and in order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn order_holds_within_each_call() {
    let call = |id: u32| {
        modern(
            &id.to_string(),
            "tools/call",
            r#","name":"steps","arguments":{"steps":5}"#,
        )
        .replace("{}}", &format!(r#"{{}},"progressToken":{id}}}"#))
    };
    let output = conversation(&service(), joined((0..100).map(call))).await;
    assert_eq!(output.len(), 600);
    let mut seen = vec![0; 100];
    for line in output {
        let message: serde_json::Value = serde_json::from_str(&line).unwrap();
        match message["params"]["progressToken"].as_u64() {
            Some(token) => {
                let seen = &mut seen[usize::try_from(token).unwrap()];
                *seen += 1;
                assert_eq!(message["params"]["progress"], *seen);
            }
            None => assert_eq!(
                seen[usize::try_from(message["id"].as_u64().unwrap()).unwrap()],
                5
            ),
        }
    }
}

// Y-6: a client that sends and does not read is not read from, and gets everything in the end.
#[tokio::test]
async fn a_client_that_reads_late_misses_nothing() {
    let (near, far) = tokio::io::duplex(4096);
    let (reader, writer) = tokio::io::split(far);
    let service = service();
    let serving = tokio::spawn(async move { service.serve_stream(reader, writer).await });
    let (mut reader, mut writer) = tokio::io::split(near);
    let lines = joined((0..20_000).map(|id| legacy(&id.to_string(), "ping", "{}")));
    let writing = tokio::spawn(async move {
        writer.write_all(lines.as_bytes()).await.unwrap();
        writer.shutdown().await.unwrap();
    });
    // Everything stands still until the client reads.
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert!(!writing.is_finished());
    let mut text = String::new();
    soon(reader.read_to_string(&mut text)).await.unwrap();
    assert_eq!(text.lines().count(), 20_000);
    soon(serving).await.unwrap().unwrap();
}

// E-11
#[cfg(unix)]
#[tokio::test]
async fn sockets_carry_the_same_lines() {
    let (near, far) = tokio::net::UnixStream::pair().unwrap();
    let service = service();
    let (reader, writer) = far.into_split();
    let serving = tokio::spawn(async move { service.serve_stream(reader, writer).await });
    let (reader, writer) = near.into_split();
    let client = trueform::Client::over(reader, writer, trueform::client::ClientOptions::new())
        .await
        .unwrap();
    assert!(!client.list_tools().await.unwrap().is_empty());
    soon(client.close()).await;
    soon(serving).await.unwrap().unwrap();
}

/// A framing accident: any bytes at all, or a good conversation with some bytes changed, cut or doubled.
fn accident() -> impl Strategy<Value = Vec<u8>> {
    let good = {
        let [first, second] = initialize("2025-03-26");
        let call = legacy(
            "5",
            "tools/call",
            r#"{"name":"echo","arguments":{"text":"a\u00e9\n"}}"#,
        );
        let batch = format!("[{},{}]", legacy("6", "ping", "{}"), call.replace('5', "7"));
        joined([
            first,
            second,
            call,
            batch,
            add("8"),
            modern("9", "subscriptions/listen", r#","notifications":{}"#),
        ])
    };
    let damage = (
        0..good.len(),
        0..40_usize,
        proptest::collection::vec(any::<u8>(), 0..20),
    );
    let damaged = proptest::collection::vec(damage, 1..4).prop_map(move |all| {
        let mut bytes = good.clone().into_bytes();
        for (at, length, by) in all {
            let at = at.min(bytes.len());
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, by);
        }
        bytes
    });
    prop_oneof![1 => proptest::collection::vec(any::<u8>(), 0..300), 4 => damaged]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_accident_ends_a_stream(mut input in accident()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        input.extend_from_slice(format!("\n{}", add(r#""last""#)).as_bytes());
        let output = runtime.block_on(conversation(&service(), input));
        for line in &output {
            prop_assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{}", line);
        }
        let last = r#"{"jsonrpc":"2.0","id":"last","result":"#;
        prop_assert_eq!(output.iter().filter(|line| line.starts_with(last)).count(), 1, "{:?}", output);
    }
}

/// Says who calls.
#[tool]
fn caller(caller: Option<Principal>) -> String {
    caller.map_or_else(|| "nobody".to_owned(), |caller| caller.subject().to_owned())
}

// Issue 9: the server's side says who the peer of a stream is, in both eras.
#[tokio::test]
async fn the_caller_of_a_stream() {
    use trueform::client::ClientOptions;
    for revision in [Revision::V2025_06_18, Revision::LATEST] {
        let service = Server::new("test", "1").tools(tools![caller]).build();
        let service = service.expect("the tool is fine");
        let settings = StreamSettings::new().principal(Principal::new("ada"));
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        let served = service.clone();
        let serving =
            tokio::spawn(async move { served.serve_stream_with(reader, writer, settings).await });
        let (reader, writer) = tokio::io::split(near);
        // What a client says of itself over a stream proves nothing.
        let eve = ClientOptions::at(revision).principal(Principal::new("eve"));
        let client = Client::over(reader, writer, eve.clone()).await;
        let client = client.expect("it connects");
        let result = client.call_tool("caller", ()).await.expect("it answers");
        assert_eq!(result.text(), "ada");
        let eve = service.connect_as(eve).await.expect("it connects");
        let result = eve.call_tool("caller", ()).await.expect("it answers");
        assert_eq!(result.text(), "eve", "within the process the test decides");
        drop(client);
        soon(serving).await.expect("no panic").expect("no error");
    }
}

// A-1: a form feed is not white space of JSON, so a line with one is not JSON.
#[tokio::test]
async fn a_form_feed_is_not_white_space() {
    let add = add("1");
    check(
        [
            format!("\u{c}{add}"),
            format!("{add}\u{c}"),
            "\u{c}".to_owned(),
            format!("\t {add} \r"),
        ],
        expect![[r#"
            {"jsonrpc":"2.0","error":{"code":-32700,"message":"parse error: expected value at line 1 column 1"}}
            {"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"parse error: trailing characters at line 1 column 210"}}
            {"jsonrpc":"2.0","error":{"code":-32700,"message":"parse error: expected value at line 1 column 1"}}
            {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}},"content":[{"type":"text","text":"5"}]}}
        "#]],
    )
    .await;
}
