//! Messages that say who sends them.

use super::{
    Answer, CAPABILITIES_AT, Door, Row, VERSION_AT, meta, modern_asks, notification, request, row,
    with_meta,
};

/// Messages that say who sends them.
pub(super) fn stateless() -> Vec<Row> {
    let deep_level = "/params/_meta/io.modelcontextprotocol~1logLevel";
    let info = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":5,"version":"1"}}"#;
    let level = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"loud"}"#;
    vec![
        modern_asks("discover", "server/discover", ""),
        modern_asks("modern list", "tools/list", ""),
        modern_asks("modern call", "tools/call", r#","name":"add","arguments":{"a":2,"b":3}"#),
        modern_asks("modern call with wrong arguments", "tools/call", r#","name":"add","arguments":{"a":"x"}"#),
        modern_asks("modern call with a member more", "tools/call", r#","name":"add","arguments":{"a":2,"b":3},"x":1"#),
        modern_asks("modern arguments are an array", "tools/call", r#","name":"add","arguments":[1]"#).error_at(-32602, "/params/arguments"),
        modern_asks("modern unknown tool", "tools/call", r#","name":"ad""#).error_at(-32602, "/params/name"),
        modern_asks("modern call of a tool that needs more", "tools/call", r#","name":"needy""#).error(-32021).status(400),
        // GAP-2: the capability comes before the log level, which is one of the params.
        row(
            "modern call of a tool that needs more, with a bad log level",
            Door::Stateless,
            request("tools/call", &format!(r#"{{"name":"needy","_meta":{level}}}"#)),
        )
        .error(-32021)
        .status(400),
        // Nothing is there that `Mcp-Name` could repeat, so none is missed.
        modern_asks("modern call without a name", "tools/call", "").error_at(-32602, "/params/name"),
        modern_asks("name of a modern call is a number", "tools/call", r#","name":5"#).error_at(-32602, "/params/name"),
        modern_asks("modern cursor of another", "tools/list", r#","cursor":"nope""#).error_at(-32602, "/params/cursor"),
        modern_asks("modern cursor is a number", "tools/list", r#","cursor":5"#).error_at(-32602, "/params/cursor"),
        modern_asks("listen to nothing", "subscriptions/listen", "").error_at(-32602, "/params/notifications"),
        modern_asks("listen to a number", "subscriptions/listen", r#","notifications":5"#).error_at(-32602, "/params/notifications"),
        modern_asks("modern unknown method", "tools/nope", "").error(-32601).status(404),
        modern_asks("modern ping", "ping", "").error(-32601).status(404),
        modern_asks("modern initialize", "initialize", "").error(-32601).status(404),
        modern_asks("modern level", "logging/setLevel", r#","level":"info""#).error(-32601).status(404),
        modern_asks("modern method of a feature that is not declared", "prompts/list", "").error(-32601).status(404),
        modern_asks("modern request of servers", "sampling/createMessage", "").error(-32601).status(404),
        modern_asks("modern notification as a request", "notifications/cancelled", r#","requestId":1"#).error(-32601).status(404),
        with_meta("version of nobody", &meta(r#""v999.0.0""#)).error(-32022).status(400),
        with_meta("version of the other era", &meta(r#""2025-11-25""#)).error(-32022).status(400),
        with_meta("no capabilities", r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#).error_at(-32602, CAPABILITIES_AT).status(400),
        with_meta("capabilities are an array", r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]}"#)
            .error_at(-32602, CAPABILITIES_AT)
            .status(400),
        with_meta("capabilities come after the version", r#"{"io.modelcontextprotocol/protocolVersion":"v999.0.0"}"#).error(-32022).status(400),
        with_meta("version is a number", &meta("5")).error_at(-32602, VERSION_AT).status(400),
        // The same code at the same place. Only the header of HTTP says that the client is a modern one, so the text on a
        // stream names `initialize` as well.
        with_meta("empty meta", "{}")
            .error_at(-32602, VERSION_AT)
            .over_http("D-3, D-4", 400, Answer::Error(-32602, Some(VERSION_AT))),
        with_meta("meta of a string", r#""x""#)
            .error_at(-32602, VERSION_AT)
            .over_http("D-3, D-4", 400, Answer::Error(-32602, Some(VERSION_AT))),
        with_meta("client has no proper name", info).error_at(-32602, "/params/_meta/io.modelcontextprotocol~1clientInfo/name"),
        with_meta("modern unknown level", level).error_at(-32602, deep_level),
        row("modern notification", Door::Stateless, notification("notifications/cancelled", r#"{"requestId":1}"#)).silence(),
        row("modern unknown notification", Door::Stateless, notification("notifications/nonsense", "{}")).silence(),
        row("modern response", Door::Stateless, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
            .silence()
            .over_http("F-4", 400, Answer::Error(-32600, Some(""))),
    ]
}
