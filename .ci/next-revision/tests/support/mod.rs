//! How the tests talk to a server: over a byte stream and over HTTP, each test with a time limit.

use std::{cell::RefCell, fmt, sync::Once, time::Duration};

use axum::{body::Body, http::Response};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;
use trueform::Service;

/// The made-up revisions, and the one before them.
pub const FIRST: &str = "2027-01-01";
pub const SECOND: &str = "2027-07-01";
pub const BEFORE: &str = "2026-07-28";

/// The output of `future`; panics if it takes too long.
pub async fn soon<F: IntoFuture>(future: F) -> F::Output {
    let limited = tokio::time::timeout(Duration::from_secs(20), future.into_future()).await;
    limited.expect("it ends within 20 s")
}

/// A request of the modern era at a revision; `params` are members beside `_meta`.
pub fn request(revision: &str, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// The responses on a stream to these messages, until its input has ended.
pub async fn stream(service: &Service, messages: &[Value]) -> Vec<Value> {
    let lines = messages.iter().map(|message| format!("{message}\n"));
    let input = std::io::Cursor::new(lines.collect::<String>().into_bytes());
    let (output, mut from_server) = tokio::io::duplex(1 << 20);
    let mut text = String::new();
    let reading = tokio::io::AsyncReadExt::read_to_string(&mut from_server, &mut text);
    let both = async { tokio::join!(service.serve_stream(input, output), reading) };
    let (served, read) = soon(both).await;
    served.expect("a stream in memory does not fail");
    read.expect("the server writes UTF-8");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// The HTTP request with one message. `name` is the header `Mcp-Name`.
pub fn http_request(
    version: Option<&str>,
    name: Option<&str>,
    message: &Value,
) -> axum::http::Request<Body> {
    let headers = [("mcp-protocol-version", version), ("mcp-name", name)];
    let mut request = axum::http::Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-method", message["method"].as_str().expect("a method"));
    for (header, value) in headers {
        if let Some(value) = value {
            request = request.header(header, value);
        }
    }
    let body = Body::from(message.to_string());
    request.body(body).expect("a request")
}

/// The HTTP response to one message, with an unread body. `name` is the header `Mcp-Name`.
pub async fn post(
    service: &Service,
    version: Option<&str>,
    name: Option<&str>,
    message: &Value,
) -> Response<Body> {
    let request = http_request(version, name, message);
    let served = service.clone().into_http_service();
    let served = served.expect("the settings are fine");
    let response = soon(served.oneshot(request)).await;
    response.expect("it does not fail").map(Body::new)
}

/// The next message of a stream of server-sent events.
pub async fn next_event(body: &mut Body) -> Value {
    loop {
        let frame = soon(body.frame()).await.expect("more events");
        let data = frame.expect("it does not fail").into_data();
        let text = String::from_utf8(data.expect("data").to_vec()).expect("UTF-8");
        let data = text.lines().find_map(|line| line.strip_prefix("data:"));
        if let Some(message) = data.map(str::trim).filter(|data| !data.is_empty()) {
            return serde_json::from_str(message).expect("JSON");
        }
    }
}

/// The HTTP response to one message: the status, and the message if there is one.
pub async fn http(service: &Service, version: Option<&str>, message: &Value) -> (u16, Value) {
    let name = message["params"]["name"].as_str();
    let response = post(service, version, name, message).await;
    let status = response.status().as_u16();
    let kind = response.headers().get("content-type").cloned();
    let mut body = response.into_body();
    if kind.is_some_and(|kind| kind == "text/event-stream") {
        return (status, next_event(&mut body).await);
    }
    let body = soon(body.collect()).await.expect("a body").to_bytes();
    let message = match body.is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(&body).expect("JSON"),
    };
    (status, message)
}

/// The response on a stream. Asserts that HTTP gives the same, with this status.
pub async fn both(service: &Service, message: Value, status: u16) -> Value {
    let version = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    let mut answers = stream(service, std::slice::from_ref(&message)).await;
    assert_eq!(answers.len(), 1, "{answers:?}");
    let answer = answers.remove(0);
    let over_http = http(service, version, &message).await;
    assert_eq!(over_http, (status, answer.clone()));
    answer
}

thread_local! {
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// The log lines of this thread since the last call.
pub fn logged() -> Vec<String> {
    static ONCE: Once = Once::new();
    // One subscriber for all threads: `tracing` caches whether a call site is enabled, and a thread without a subscriber would
    // disable it for all.
    ONCE.call_once(|| tracing::subscriber::set_global_default(Log).expect("no other subscriber is set"));
    LOG.take()
}

struct Log;

struct Line(String);

impl tracing::field::Visit for Line {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn fmt::Debug) {
        self.0.push_str(&format!("{field}={value:?} "));
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::DEBUG
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        LOG.with_borrow_mut(|log| log.push(line.0));
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
