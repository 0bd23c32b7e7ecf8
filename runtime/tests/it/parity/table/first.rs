//! What comes first: from clients that say nothing of their era, and to servers of one era.

use super::{Answer, Door, Row, Serves, VERSION_AT, asks, modern_asks, notification, request, row};

/// The first message of a client that says nothing of its era.
pub(super) fn cold() -> Vec<Row> {
    let no_session = || Answer::Error(-32600, Some(""));
    let params = |version: &str| {
        format!(
            r#"{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"t","version":"1"}}}}"#
        )
    };
    vec![
        row(
            "cold initialize",
            Door::Cold,
            request("initialize", &params("2025-11-25")),
        ),
        row(
            "cold initialize at a version of nobody",
            Door::Cold,
            request("initialize", &params("1999-01-01")),
        ),
        row(
            "cold initialize at a modern version",
            Door::Cold,
            request("initialize", &params("2026-07-28")),
        ),
        row(
            "cold initialize without params",
            Door::Cold,
            request("initialize", "{}"),
        )
        .error_at(-32602, "/params/capabilities"),
        row(
            "cold initialize without client info",
            Door::Cold,
            request(
                "initialize",
                r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#,
            ),
        )
        .error_at(-32602, "/params/clientInfo"),
        row("cold list", Door::Cold, request("tools/list", "{}"))
            .error_at(-32602, VERSION_AT)
            .over_http("F-20", 400, no_session()),
        row("cold unknown method", Door::Cold, request("nope", "{}"))
            .error_at(-32602, VERSION_AT)
            .over_http("F-20", 400, no_session()),
        row(
            "cold list with the header of 2026-07-28",
            Door::Cold,
            request("tools/list", "{}"),
        )
        .header("mcp-protocol-version", Some("2026-07-28"))
        .header("mcp-method", Some("tools/list"))
        .error_at(-32602, VERSION_AT)
        .over_http("D-3, D-4", 400, Answer::Error(-32602, Some(VERSION_AT))),
        row(
            "cold notification",
            Door::Cold,
            notification("notifications/cancelled", r#"{"requestId":1}"#),
        )
        .silence()
        .over_http("F-20", 400, no_session()),
        row(
            "cold notification with the header of 2026-07-28",
            Door::Cold,
            notification("notifications/cancelled", r#"{"requestId":1}"#),
        )
        .header("mcp-protocol-version", Some("2026-07-28"))
        .silence(),
    ]
}

/// Servers of one era.
pub(super) fn one_era() -> Vec<Row> {
    let initialize = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#;
    vec![
        modern_asks(
            "modern only: call",
            "tools/call",
            r#","name":"add","arguments":{"a":2,"b":3}"#,
        )
        .serves(Serves::Modern),
        modern_asks("modern only: ping", "ping", "")
            .serves(Serves::Modern)
            .error(-32601)
            .status(404),
        row(
            "modern only: cold list",
            Door::Cold,
            request("tools/list", "{}"),
        )
        .serves(Serves::Modern)
        .error_at(-32602, VERSION_AT)
        .over_http("F-24, GAP-2", 400, Answer::Error(-32020, None)),
        row("modern only: cold ping", Door::Cold, request("ping", "{}"))
            .serves(Serves::Modern)
            .error_at(-32602, VERSION_AT)
            .over_http("F-24, GAP-2", 400, Answer::Error(-32020, None)),
        row(
            "modern only: cold list with the header of 2026-07-28",
            Door::Cold,
            request("tools/list", "{}"),
        )
        .serves(Serves::Modern)
        .header("mcp-protocol-version", Some("2026-07-28"))
        .header("mcp-method", Some("tools/list"))
        .error_at(-32602, VERSION_AT)
        .status(400),
        row(
            "modern only: cold list with a legacy header",
            Door::Cold,
            request("tools/list", "{}"),
        )
        .serves(Serves::Modern)
        .header("mcp-protocol-version", Some("2025-11-25"))
        .header("mcp-method", Some("tools/list"))
        .error_at(-32602, VERSION_AT)
        .status(400),
        row(
            "modern only: initialize",
            Door::Cold,
            request("initialize", initialize),
        )
        .serves(Serves::Modern)
        .error(-32022)
        .status(400),
        row(
            "modern only: a batch",
            Door::Cold,
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        )
        .serves(Serves::Modern)
        .error_at(-32600, "")
        .status(400),
        row(
            "modern only: notification",
            Door::Cold,
            notification("notifications/initialized", "{}"),
        )
        .serves(Serves::Modern)
        .silence(),
        asks("legacy only: list", "tools/list", "{}").serves(Serves::Legacy),
        asks(
            "legacy only: unknown tool",
            "tools/call",
            r#"{"name":"ad"}"#,
        )
        .serves(Serves::Legacy)
        .error_at(-32602, "/params/name"),
        modern_asks("legacy only: discover", "server/discover", "")
            .serves(Serves::Legacy)
            .error(-32022)
            .status(400),
        modern_asks(
            "legacy only: modern call",
            "tools/call",
            r#","name":"add","arguments":{"a":2,"b":3}"#,
        )
        .serves(Serves::Legacy)
        .error(-32022)
        .status(400),
        row(
            "legacy only: cold list",
            Door::Cold,
            request("tools/list", "{}"),
        )
        .serves(Serves::Legacy)
        .error_at(-32602, VERSION_AT)
        .over_http("F-20", 400, Answer::Error(-32600, Some(""))),
        row(
            "legacy only: a batch",
            Door::Session,
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        )
        .serves(Serves::Legacy)
        .error_at(-32600, "")
        .status(400),
    ]
}
