//! What no client should send, and what it gets: everything else goes on.

use expect_test::{Expect, expect};

use crate::support::{
    conversation, initialize, joined, legacy, modern, raw, service, soon, staged,
};

/// Sends each line on a stream of its own, after `initialize`; a last request shows that the server goes on.
async fn check(lines: &[&[u8]], expected: Expect) {
    let mut answers = String::new();
    for line in lines {
        let mut input = joined(initialize("2025-11-25")).into_bytes();
        input.extend_from_slice(line);
        input.push(b'\n');
        input.extend_from_slice(legacy(r#""end""#, "ping", "{}").as_bytes());
        let output = conversation(&service(), input).await;
        let [_, between @ .., end] = &output[..] else {
            panic!("{output:?}")
        };
        assert_eq!(end, r#"{"jsonrpc":"2.0","id":"end","result":{}}"#);
        let shown: String = String::from_utf8_lossy(line).chars().take(70).collect();
        answers.push_str(&format!(
            "{shown}\n  → {}\n",
            if between.is_empty() {
                "silence".to_owned()
            } else {
                between.join(" | ")
            }
        ));
    }
    expected.assert_eq(&answers);
}

// A-1, A-2, A-7, A-9, A-11
#[tokio::test]
async fn no_message() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":4,"method":"ping","params":{}{}}}"#,
        "[".repeat(150),
        "]".repeat(150)
    );
    check(
        &[
            b"hello",
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/li"#,
            b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}",
            b"\xff\xfe",
            deep.as_bytes(),
            br#"{"id":1,"method":"ping"}"#,
            br#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
            br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            b"[]",
            b"null",
        ],
        expect![[r#"
            hello
              → {"jsonrpc":"2.0","error":{"code":-32700,"message":"parse error: expected value at line 1 column 1"}}
            {"jsonrpc":"2.0","id":1,"method":"tools/li
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"parse error: EOF while parsing a string at line 1 column 42"}}
            {"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":"�"}}
              → {"jsonrpc":"2.0","id":2,"error":{"code":-32700,"message":"parse error: not UTF-8 at byte 55"}}
            ��
              → {"jsonrpc":"2.0","error":{"code":-32700,"message":"parse error: not UTF-8 at byte 0"}}
            {"jsonrpc":"2.0","id":4,"method":"ping","params":[[[[[[[[[[[[[[[[[[[[[
              → {"jsonrpc":"2.0","id":4,"error":{"code":-32600,"data":{"pointer":"","rule":"depth","expected":"at most 128 levels of arrays and objects","found":"more"},"message":"invalid request: nested deeper than 128 levels"}}
            {"id":1,"method":"ping"}
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"data":{"pointer":"/jsonrpc","rule":"missing","expected":"\"2.0\"","found":"nothing"},"message":"invalid request: `jsonrpc` is missing; it must be \"2.0\""}}
            {"jsonrpc":"1.0","id":"a","method":"ping"}
              → {"jsonrpc":"2.0","id":"a","error":{"code":-32600,"data":{"pointer":"/jsonrpc","rule":"value","expected":"\"2.0\"","found":"string of 5 bytes"},"message":"invalid request: `jsonrpc` must be \"2.0\""}}
            {"jsonrpc":"2.0","id":null,"method":"ping"}
              → {"jsonrpc":"2.0","error":{"code":-32600,"data":{"pointer":"/id","rule":"type","expected":"a string or an integer","found":"null"},"message":"invalid request: `id`: expected a string or an integer, found null"}}
            {"jsonrpc":"2.0","id":1.5,"method":"ping"}
              → {"jsonrpc":"2.0","error":{"code":-32600,"data":{"pointer":"/id","rule":"type","expected":"a string or an integer","found":"number of 3 bytes"},"message":"invalid request: `id`: expected a string or an integer, found another number"}}
            {"jsonrpc":"2.0","id":true,"method":"ping"}
              → {"jsonrpc":"2.0","error":{"code":-32600,"data":{"pointer":"/id","rule":"type","expected":"a string or an integer","found":"boolean"},"message":"invalid request: `id`: expected a string or an integer, found boolean"}}
            {"jsonrpc":"2.0","id":{},"method":"ping"}
              → {"jsonrpc":"2.0","error":{"code":-32600,"data":{"pointer":"/id","rule":"type","expected":"a string or an integer","found":"object of 2 bytes"},"message":"invalid request: `id`: expected a string or an integer, found object"}}
            {"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"data":{"pointer":"/id","rule":"duplicate","expected":"one such member","found":"two"},"message":"invalid request: `id` occurs twice"}}
            [{"jsonrpc":"2.0","id":1,"method":"ping"}]
              → {"jsonrpc":"2.0","error":{"code":-32600,"data":{"pointer":"","rule":"type","expected":"an object","found":"an array"},"message":"invalid request: an array is not a message here; batches exist only in a session of 2025-03-26"}}
            []
              → {"jsonrpc":"2.0","error":{"code":-32600,"data":{"pointer":"","rule":"min-items","expected":"at least one message","found":"none"},"message":"invalid request: an empty batch"}}
            null
              → {"jsonrpc":"2.0","error":{"code":-32600,"data":{"pointer":"","rule":"type","expected":"an object","found":"null"},"message":"invalid request: a message is an object"}}
        "#]],
    )
    .await;
}

// A-8, GAP-17, O-2
#[tokio::test]
async fn what_is_never_answered() {
    check(
        &[
            br#"{"jsonrpc":"2.0","method":"notifications/nonsense"}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
            br#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"add"}}"#,
            br#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
            br#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#,
            br#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
            br#"{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}"#,
            br#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#,
        ],
        expect![[r#"
            {"jsonrpc":"2.0","method":"notifications/nonsense"}
              → silence
            {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"request
              → silence
            {"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}
              → silence
            {"jsonrpc":"2.0","method":"notifications/cancelled"}
              → silence
            {"jsonrpc":"2.0","method":"tools/call","params":{"name":"add"}}
              → silence
            {"jsonrpc":"1.0","method":"notifications/initialized"}
              → silence
            {"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}
              → silence
            {"jsonrpc":"2.0","id":77,"result":{}}
              → silence
            {"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}
              → silence
            {"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}
              → silence
        "#]],
    )
    .await;
}

// A-9, GAP-13, B-8, I-5
#[tokio::test]
async fn wrong_methods_and_params() {
    let modern_unknown = modern("1", "tools/nope", "");
    let modern_removed = modern("1", "logging/setLevel", r#","level":"info""#);
    let modern_prompts = modern("1", "prompts/list", "");
    let modern_nameless = modern("1", "tools/call", "");
    let modern_listen = modern("1", "subscriptions/listen", "");
    check(
        &[
            legacy("1", "nope", "{}").as_bytes(),
            legacy("1", "prompts/list", "{}").as_bytes(),
            legacy("1", "server/discover", "{}").as_bytes(),
            legacy("1", "sampling/createMessage", "{}").as_bytes(),
            legacy("1", "notifications/initialized", "{}").as_bytes(),
            legacy("1", "tools/list", "[]").as_bytes(),
            legacy("1", "tools/list", r#"{"cursor":"nope"}"#).as_bytes(),
            legacy("1", "tools/call", "{}").as_bytes(),
            legacy("1", "tools/call", r#"{"name":"add","arguments":[1,2]}"#).as_bytes(),
            legacy("1", "tools/call", r#"{"name":5}"#).as_bytes(),
            legacy("1", "tools/call", r#"{"name":"ad"}"#).as_bytes(),
            legacy("1", "tools/call", r#"{"name":"add","arguments":{"a":"x"}}"#).as_bytes(),
            legacy("1", "logging/setLevel", r#"{"level":"loud"}"#).as_bytes(),
            br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
            initialize("2025-11-25")[0].as_bytes(),
            modern_unknown.as_bytes(),
            modern_removed.as_bytes(),
            modern_prompts.as_bytes(),
            modern_nameless.as_bytes(),
            modern_listen.as_bytes(),
        ],
        expect![[r#"
            {"jsonrpc":"2.0","id":1,"method":"nope","params":{}}
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method `nope` is unknown at 2025-11-25"}}
            {"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{}}
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method `prompts/list` needs the capability `prompts`, which this server does not declare"}}
            {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method `server/discover` is unknown at 2025-11-25"}}
            {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method `sampling/createMessage` is not a request that a client sends"}}
            {"jsonrpc":"2.0","id":1,"method":"notifications/initialized","params":
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method `notifications/initialized` is not a request that a client sends"}}
            {"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"data":{"pointer":"/params","rule":"type","expected":"an object","found":"array of 2 bytes"},"message":"invalid params of `tools/list`: /params: expected an object, found array of 2 bytes"}}
            {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"nope
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"data":{"pointer":"/params/cursor","rule":"cursor","expected":"a cursor that this list gave out","found":"string of 6 bytes"},"message":"invalid cursor"}}
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"data":{"pointer":"/params/name","rule":"missing","expected":"a value","found":"nothing"},"message":"invalid params of `tools/call`: `/params/name` is missing"}}
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"data":{"pointer":"/params/arguments","rule":"type","expected":"an object","found":"array of 5 bytes"},"message":"invalid params of `tools/call`: /params/arguments: expected an object, found array of 5 bytes"}}
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"data":{"pointer":"/params/name","rule":"type","expected":"a string","found":"number of 1 byte"},"message":"invalid params of `tools/call`: /params/name: expected a string, found number of 1 byte"}}
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ad"}}
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"data":{"pointer":"/params/name","rule":"known-tool","expected":"the name of a tool","found":"string of 4 bytes"},"message":"unknown tool `ad`; did you mean `add`?"}}
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","
              → {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"the arguments of tool `add` do not fit:\n/b: expected integer, found nothing\n/a: expected integer, found string \"x\""}],"isError":true}}
            {"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"data":{"pointer":"/params/level","rule":"one-of","expected":"`debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`","found":"string of 6 bytes"},"message":"unknown log level `loud`"}}
            {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersi
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"data":{"pointer":"/params/clientInfo","rule":"missing","expected":"a value","found":"nothing"},"message":"invalid params of `initialize`: `/params/clientInfo` is missing"}}
            {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersi
              → {"jsonrpc":"2.0","id":0,"result":{"capabilities":{"logging":{},"tools":{"listChanged":true}},"protocolVersion":"2025-11-25","serverInfo":{"name":"test","version":"1.0.0"}}}
            {"jsonrpc":"2.0","id":1,"method":"tools/nope","params":{"_meta":{"io.m
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method `tools/nope` is unknown at 2026-07-28"}}
            {"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"_meta":
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method `logging/setLevel` is unknown at 2026-07-28"}}
            {"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"_meta":{"io
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method `prompts/list` needs the capability `prompts`, which this server does not declare"}}
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.m
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"data":{"pointer":"/params/name","rule":"missing","expected":"a value","found":"nothing"},"message":"invalid params of `tools/call`: `/params/name` is missing"}}
            {"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_me
              → {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"data":{"pointer":"/params/notifications","rule":"missing","expected":"a value","found":"nothing"},"message":"invalid params of `subscriptions/listen`: `/params/notifications` is missing"}}
        "#]],
    )
    .await;
}

// B-1
#[tokio::test]
async fn initialize_without_client_info() {
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
    let output = conversation(&service(), joined([line, &initialize("2025-11-25")[0]])).await;
    assert_eq!(output.len(), 2, "{output:?}");
    expect![[r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"data":{"pointer":"/params/clientInfo","rule":"missing","expected":"a value","found":"nothing"},"message":"invalid params of `initialize`: `/params/clientInfo` is missing"}}"#]].assert_eq(&output[0]);
    assert!(
        output[1].contains(r#""protocolVersion":"2025-11-25""#),
        "the second attempt succeeds: {}",
        output[1]
    );
}

// GAP-17: an answer to the second would be taken for the first one's.
#[tokio::test]
async fn an_id_in_flight_is_taken() {
    let (service, director) = staged();
    let client = raw(&service).await;
    let call = |label: &str| {
        modern(
            "7",
            "tools/call",
            &format!(r#","name":"wait","arguments":{{"label":"{label}"}}"#),
        )
    };
    client.send_raw(call("first")).unwrap();
    assert_eq!(director.begun().await, "first");
    client.send_raw(call("second")).unwrap();
    client
        .send_raw(r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#)
        .unwrap();
    client.send_raw(legacy(r#""end""#, "ping", "{}")).unwrap();
    assert_eq!(
        soon(client.next_message()).await.unwrap(),
        r#"{"jsonrpc":"2.0","id":"end","result":{}}"#
    );
    director.open();
    assert!(soon(client.next_message()).await.unwrap().contains("first"));
    // The id is free again.
    client.send_raw(call("third")).unwrap();
    assert!(soon(client.next_message()).await.unwrap().contains("third"));
    client.close_sending();
    assert_eq!(soon(client.next_message()).await, None);
}
