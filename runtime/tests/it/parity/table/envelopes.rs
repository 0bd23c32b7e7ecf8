//! Input that is not a message, and batches.

use super::{Answer, Door, Row, modern, request, row};

/// Input that is not a message, in both eras: the envelope has none. HTTP refuses each with a status (F-5).
pub(super) fn envelopes(door: Door) -> impl Iterator<Item = Row> {
    let deep = "[".repeat(150) + &"]".repeat(150);
    let deep = request("ping", &deep);
    // Answered on a stream as well: it may have been meant as a request.
    let refused = [
        ("not JSON", &b"hello"[..], -32700, None),
        (
            "cut off",
            br#"{"jsonrpc":"2.0","id":1,"method":"pi"#,
            -32700,
            None,
        ),
        (
            "more after it",
            br#"{"jsonrpc":"2.0","id":1,"method":"ping"} x"#,
            -32700,
            None,
        ),
        (
            "not UTF-8",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
            -32700,
            None,
        ),
        ("nothing of it is UTF-8", b"\xff\xfe", -32700, None),
        ("too deep", deep.as_bytes(), -32600, Some("")),
        ("null", b"null", -32600, Some("")),
        ("a number", b"5", -32600, Some("")),
        ("a string", br#""x""#, -32600, Some("")),
        ("an empty batch", b"[]", -32600, Some("")),
        ("an empty object", b"{}", -32600, Some("/jsonrpc")),
        (
            "no version of JSON-RPC",
            br#"{"id":1,"method":"ping"}"#,
            -32600,
            Some("/jsonrpc"),
        ),
        (
            "JSON-RPC 1.0",
            br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            -32600,
            Some("/jsonrpc"),
        ),
        (
            "id is null",
            br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            -32600,
            Some("/id"),
        ),
        (
            "id is a fraction",
            br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            -32600,
            Some("/id"),
        ),
        (
            "id is an object",
            br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            -32600,
            Some("/id"),
        ),
        (
            "id is true",
            br#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
            -32600,
            Some("/id"),
        ),
        (
            "two ids",
            br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
            -32600,
            Some("/id"),
        ),
        (
            "two methods",
            br#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
            -32600,
            Some("/method"),
        ),
        (
            "two params",
            br#"{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}"#,
            -32600,
            Some("/params"),
        ),
        (
            "method is a number",
            br#"{"jsonrpc":"2.0","id":1,"method":5}"#,
            -32600,
            Some("/method"),
        ),
        (
            "only an id",
            br#"{"jsonrpc":"2.0","id":1}"#,
            -32600,
            Some("/method"),
        ),
    ];
    // Notifications and responses are not answered on a stream (A-8).
    let dropped = [
        (
            "notification of JSON-RPC 1.0",
            r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
            "/jsonrpc",
        ),
        (
            "method of a notification is a number",
            r#"{"jsonrpc":"2.0","method":5}"#,
            "/method",
        ),
        (
            "result and error",
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#,
            "",
        ),
        (
            "result is a number",
            r#"{"jsonrpc":"2.0","id":1,"result":5}"#,
            "/result",
        ),
        (
            "error without code",
            r#"{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}"#,
            "/error/code",
        ),
    ];
    let named = move |name: &str, message: &[u8]| row(&format!("{name}, {door:?}"), door, message);
    let refused = refused.map(|(name, message, code, pointer)| {
        named(name, message)
            .answered(Answer::Error(code, pointer))
            .status(400)
    });
    let dropped = dropped.map(|(name, message, pointer)| {
        let answer = Answer::Error(-32600, Some(pointer));
        named(name, message.as_bytes())
            .silence()
            .over_http("F-5", 400, answer)
    });
    refused.into_iter().chain(dropped)
}

// A-10, A-11
pub(super) fn batches() -> Vec<Row> {
    let ping = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
    let modern = format!("[{}]", modern("1", "tools/list", ""));
    vec![
        row("a batch", Door::Session, ping)
            .error_at(-32600, "")
            .status(400),
        row("a modern batch", Door::Stateless, modern.clone())
            .error_at(-32600, "")
            .status(400),
        row("a cold batch", Door::Cold, ping)
            .error_at(-32600, "")
            .status(400),
        row(
            "a batch of a modern request in a session",
            Door::Session,
            modern,
        )
        .error_at(-32600, "")
        .status(400),
        row(
            "a batch of notifications",
            Door::OldSession,
            r#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#,
        )
        .silence(),
    ]
}
