//! The rows.

mod envelopes;
mod first;
mod offers;
mod stateless;

use super::{Answer, Door, Row, Serves, modern};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const VERSION_AT: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
const CAPABILITIES_AT: &str = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";

/// A row of a server of all revisions that answers with a result.
fn row(name: &str, door: Door, message: impl Into<Vec<u8>>) -> Row {
    Row {
        name: name.to_owned(),
        serves: Serves::All,
        door,
        message: message.into(),
        headers: Vec::new(),
        answer: Answer::Result,
        status: 200,
        over_http: None,
    }
}

/// A request in a session.
fn asks(name: &str, method: &str, params: &str) -> Row {
    row(name, Door::Session, request(method, params))
}

/// A request with all that 2026-07-28 wants; `params` are members after `_meta`.
fn modern_asks(name: &str, method: &str, params: &str) -> Row {
    row(name, Door::Stateless, modern("1", method, params))
}

/// A request with a `_meta` of its own.
fn with_meta(name: &str, meta: &str) -> Row {
    row(
        name,
        Door::Stateless,
        request("tools/list", &format!(r#"{{"_meta":{meta}}}"#)),
    )
}

fn request(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

fn meta(version: &str) -> String {
    format!(r#"{{"{VERSION}":{version},"{CAPABILITIES}":{{}}}}"#)
}

impl Row {
    fn serves(mut self, serves: Serves) -> Self {
        self.serves = serves;
        self
    }

    fn header(mut self, name: &'static str, value: Option<&'static str>) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Refused with this code; for -32600 and -32602 that says nothing of the place.
    fn error(self, code: i64) -> Self {
        self.answered(Answer::Error(code, None))
    }

    fn error_at(self, code: i64, pointer: &'static str) -> Self {
        self.answered(Answer::Error(code, Some(pointer)))
    }

    /// Not answered, and over HTTP accepted.
    fn silence(self) -> Self {
        self.answered(Answer::Silence).status(202)
    }

    fn answered(mut self, answer: Answer) -> Self {
        self.answer = answer;
        self
    }

    fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Over HTTP the specification demands another answer.
    fn over_http(mut self, requirement: &'static str, status: u16, answer: Answer) -> Self {
        self.over_http = Some((answer, requirement));
        self.status(status)
    }
}

pub(super) fn rows() -> Vec<Row> {
    let lists = [
        session(),
        envelopes::batches(),
        stateless::stateless(),
        first::cold(),
        first::one_era(),
    ];
    let envelopes = [Door::Session, Door::Stateless]
        .into_iter()
        .flat_map(envelopes::envelopes);
    let lists = lists.into_iter().flatten();
    lists.chain(envelopes).chain(offers::offers()).collect()
}

/// Requests, notifications and responses in a session.
fn session() -> Vec<Row> {
    vec![
        asks("ping", "ping", "{}"),
        asks("list", "tools/list", "{}"),
        row(
            "list without params",
            Door::Session,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        ),
        asks("list with null params", "tools/list", "null"),
        asks("params are an array", "tools/list", "[]").error_at(-32602, "/params"),
        asks("params are a string", "tools/list", r#""x""#).error_at(-32602, "/params"),
        asks("cursor of another", "tools/list", r#"{"cursor":"nope"}"#)
            .error_at(-32602, "/params/cursor"),
        asks("cursor is a number", "tools/list", r#"{"cursor":5}"#)
            .error_at(-32602, "/params/cursor"),
        asks(
            "call",
            "tools/call",
            r#"{"name":"add","arguments":{"a":2,"b":3}}"#,
        ),
        asks(
            "call with wrong arguments",
            "tools/call",
            r#"{"name":"add","arguments":{"a":"x"}}"#,
        ),
        asks("call without arguments", "tools/call", r#"{"name":"add"}"#),
        asks(
            "call of a tool that needs more",
            "tools/call",
            r#"{"name":"needy"}"#,
        ),
        asks(
            "arguments are an array",
            "tools/call",
            r#"{"name":"add","arguments":[1]}"#,
        )
        .error_at(-32602, "/params/arguments"),
        asks("unknown tool", "tools/call", r#"{"name":"ad"}"#).error_at(-32602, "/params/name"),
        asks("no name", "tools/call", "{}").error_at(-32602, "/params/name"),
        asks("name is a number", "tools/call", r#"{"name":5}"#).error_at(-32602, "/params/name"),
        asks(
            "progress token is an object",
            "tools/call",
            r#"{"name":"add","arguments":{"a":2,"b":3},"_meta":{"progressToken":{}}}"#,
        )
        .error_at(-32602, "/params/_meta/progressToken"),
        asks("meta is a string", "tools/list", r#"{"_meta":"x"}"#)
            .error_at(-32602, "/params/_meta"),
        asks("level", "logging/setLevel", r#"{"level":"info"}"#),
        asks("unknown level", "logging/setLevel", r#"{"level":"loud"}"#)
            .error_at(-32602, "/params/level"),
        asks("no level", "logging/setLevel", "{}").error_at(-32602, "/params/level"),
        asks("unknown method", "nope", "{}").error(-32601),
        asks("method of the other era", "server/discover", "{}").error(-32601),
        asks(
            "method of a feature that is not declared",
            "prompts/list",
            "{}",
        )
        .error(-32601),
        asks("its params are bad too", "prompts/get", r#"{"name":5}"#).error(-32601),
        asks("method of tasks", "tasks/get", r#"{"taskId":"t"}"#).error(-32601),
        asks("request of servers", "sampling/createMessage", "{}").error(-32601),
        asks(
            "notification as a request",
            "notifications/initialized",
            "{}",
        )
        .error(-32601),
        row(
            "notification",
            Door::Session,
            notification("notifications/roots/list_changed", "{}"),
        )
        .silence(),
        row(
            "unknown notification",
            Door::Session,
            notification("notifications/nonsense", "{}"),
        )
        .silence(),
        row(
            "cancelled, of no call",
            Door::Session,
            notification("notifications/cancelled", r#"{"requestId":99}"#),
        )
        .silence(),
        row(
            "cancelled, with bad params",
            Door::Session,
            notification("notifications/cancelled", r#"{"requestId":{}}"#),
        )
        .silence(),
        row(
            "cancelled, without params",
            Door::Session,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        )
        .silence(),
        row(
            "progress of nothing",
            Door::Session,
            notification(
                "notifications/progress",
                r#"{"progressToken":1,"progress":1}"#,
            ),
        )
        .silence(),
        row(
            "request without id",
            Door::Session,
            notification("tools/call", r#"{"name":"add"}"#),
        )
        .silence(),
        row(
            "response to nothing",
            Door::Session,
            r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
        )
        .silence()
        .over_http("DEC-8", 400, Answer::Error(-32600, Some("/id"))),
        row(
            "error to nothing",
            Door::Session,
            r#"{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"x"}}"#,
        )
        .silence()
        .over_http("DEC-8", 400, Answer::Error(-32600, Some("/id"))),
    ]
}
