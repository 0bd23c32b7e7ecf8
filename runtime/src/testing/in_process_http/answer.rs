//! An HTTP response as messages for the client.

use std::pin::Pin;

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{StatusCode, header};
use http_body::Body as _;
use serde_json::{Value, json};

use super::InProcessHttp;
use crate::{jsonrpc, testing::recorder::EventReader};

/// Most characters of a body that is not a message which an error repeats.
const SHOWN: usize = 200;

/// Whether a response is an event stream.
pub(super) fn is_events(response: &Response) -> bool {
    let media = response.headers().get(header::CONTENT_TYPE);
    let media = media.and_then(|media| media.to_str().ok());
    let media = media.and_then(|media| media.split(';').next());
    media.is_some_and(|media| media.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// Why a body cannot be read to its end.
pub(super) type Unread = String;

/// The next bytes of a body; `None` at its end.
pub(super) async fn next(body: &mut Body) -> Option<Result<Bytes, Unread>> {
    loop {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
        match frame.map(http_body::Frame::into_data) {
            Ok(Ok(bytes)) => return Some(Ok(bytes)),
            // Trailers.
            Ok(Err(_)) => {}
            Err(error) => return Some(Err(format!("the body broke off: {error}"))),
        }
    }
}

/// The whole body.
pub(super) async fn whole(mut body: Body) -> Result<Vec<u8>, Unread> {
    let mut text = Vec::new();
    while let Some(bytes) = next(&mut body).await {
        text.extend_from_slice(&bytes?);
        if InProcessHttp::MAX_RESPONSE < text.len() {
            return Err(too_long("the body"));
        }
    }
    Ok(text)
}

/// Event by event of a stream.
pub(super) struct Events {
    body: Body,
    reader: EventReader,
}

impl Events {
    pub(super) fn new(body: Body) -> Self {
        Self {
            body,
            reader: EventReader::new(),
        }
    }

    /// The next messages, at least one; `None` at the end of the stream.
    pub(super) async fn next(&mut self) -> Option<Result<Vec<Vec<u8>>, Unread>> {
        let mut messages = Vec::new();
        while messages.is_empty() {
            let bytes = match next(&mut self.body).await? {
                Ok(bytes) => bytes,
                Err(problem) => return Some(Err(problem)),
            };
            self.reader.take(&bytes, |event| messages.push(event.data));
            if InProcessHttp::MAX_RESPONSE < self.reader.held() {
                return Some(Err(too_long("an event")));
            }
        }
        Some(Ok(messages))
    }
}

fn too_long(what: &str) -> Unread {
    format!("{what} has more than {} bytes", InProcessHttp::MAX_RESPONSE)
}

/// The body of a response to the request `id`, as the answer. A refusal over HTTP need not have the id: the exchange has it.
pub(super) fn answer(id: &Value, status: StatusCode, body: &[u8]) -> Value {
    let body = jsonrpc::without_mark(body);
    match serde_json::from_slice::<Value>(body) {
        Ok(mut message) if is_answer(&message) => {
            if message["id"].is_null() && message.get("error").is_some() {
                message["id"] = id.clone();
            }
            match message["id"] == *id {
                true => message,
                // The client would wait for an answer that never comes.
                false => {
                    let other: String = message["id"].to_string().chars().take(SHOWN).collect();
                    failed(
                        id,
                        status,
                        &format!("the body answers another request, `{other}`"),
                    )
                }
            }
        }
        _ => {
            let text = String::from_utf8_lossy(body);
            let text: String = text.trim().chars().take(SHOWN).collect();
            match text.is_empty() {
                true => failed(id, status, "the response has no body"),
                false => failed(id, status, &text),
            }
        }
    }
}

fn is_answer(message: &Value) -> bool {
    message.get("result").is_some() || message.get("error").is_some()
}

/// Whether `message` answers the request `id`.
pub(super) fn answers(message: &Value, id: &Value) -> bool {
    is_answer(message) && message.get("id") == Some(id)
}

/// The error of a request whose response has no answer.
pub(super) fn failed(id: &Value, status: StatusCode, problem: &str) -> Value {
    let message = format!("HTTP {status}: {problem}");
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": status.as_u16(), "message": message } })
}

/// `message` as one line.
pub(super) fn line(mut message: Vec<u8>) -> Vec<u8> {
    // Outside of strings line ends are white space, and inside of them JSON has none.
    for byte in &mut message {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    message.push(b'\n');
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_body_answers() {
        let id = json!(7);
        let refused = |code: u16, message: &str| json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": code, "message": message } });
        let long = "é".repeat(SHOWN + 1);
        for (status, body, expected) in [
            (
                200,
                r#"{"id":7,"result":{}}"#,
                json!({"id": 7, "result": {}}),
            ),
            (
                200,
                "\u{feff}{\"id\":7,\"result\":{}}",
                json!({"id": 7, "result": {}}),
            ),
            (
                400,
                r#"{"error":{"code":-32600}}"#,
                json!({"error": {"code": -32600}, "id": 7}),
            ),
            (
                400,
                r#"{"id":null,"error":{}}"#,
                json!({"id": 7, "error": {}}),
            ),
            // An answer to something else, which nobody waits for, and to nothing.
            (
                200,
                r#"{"id":8,"result":{}}"#,
                refused(200, "HTTP 200 OK: the body answers another request, `8`"),
            ),
            (
                200,
                r#"{"id":"7","error":{}}"#,
                refused(
                    200,
                    "HTTP 200 OK: the body answers another request, `\"7\"`",
                ),
            ),
            (
                200,
                r#"{"result":{}}"#,
                refused(200, "HTTP 200 OK: the body answers another request, `null`"),
            ),
            // Not an answer.
            (
                401,
                "",
                refused(401, "HTTP 401 Unauthorized: the response has no body"),
            ),
            (
                404,
                " not here\n",
                refused(404, "HTTP 404 Not Found: not here"),
            ),
            (200, "[]", refused(200, "HTTP 200 OK: []")),
            (
                500,
                &long,
                refused(
                    500,
                    &format!("HTTP 500 Internal Server Error: {}", "é".repeat(SHOWN)),
                ),
            ),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(answer(&id, status, body.as_bytes()), expected, "{body}");
        }
    }
}
