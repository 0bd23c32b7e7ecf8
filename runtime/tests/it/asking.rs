//! Questions to clients: asked within results, answered by sending the request again, and as requests in the legacy era.

#![cfg_attr(
    not(feature = "ask"),
    allow(dead_code, reason = "clients of the modern era cannot be asked")
)]

#[cfg(feature = "ask")]
mod attacked;
mod bounded;
mod held;
#[cfg(feature = "ask")]
mod interleaved;
mod legacy;
#[cfg(feature = "ask")]
mod replayed;
#[cfg(feature = "ask")]
mod rooms;
#[cfg(feature = "ask")]
mod steps;

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use trueform::{
    Service,
    client::{Answering, Client, ClientHandler},
    schema::{ErrorObject, Json as RawJson},
};

use crate::support::{raw, soon};

/// A client of the modern era that says only what the test has it say.
pub(crate) struct Peer {
    client: Client,
    next: AtomicU32,
    capabilities: Value,
}

impl Peer {
    pub(crate) async fn new(service: &Service, capabilities: Value) -> Self {
        Self {
            client: raw(service).await,
            next: AtomicU32::new(1),
            capabilities,
        }
    }

    /// One that can be asked anything.
    pub(crate) async fn able(service: &Service) -> Self {
        Self::new(service, everything()).await
    }

    /// Sends a request and returns the response to it.
    pub(crate) async fn send(&self, method: &str, params: Value) -> Value {
        self.send_as(&self.capabilities, method, params).await
    }

    /// As [`send`](Self::send), declaring `capabilities` this time (C-6).
    pub(crate) async fn send_as(
        &self,
        capabilities: &Value,
        method: &str,
        mut params: Value,
    ) -> Value {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let response = self.send_text(request.to_string()).await;
        assert_eq!(response["id"], id, "{response}");
        response
    }

    /// Sends `text` and returns what comes next.
    pub(crate) async fn send_text(&self, text: String) -> Value {
        self.client.send_raw(text).unwrap();
        self.next_message().await
    }

    pub(crate) async fn next_message(&self) -> Value {
        let line = soon(self.client.next_message()).await;
        serde_json::from_str(&line.expect("the server goes on")).unwrap()
    }

    /// Calls the tool `name`.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        self.send("tools/call", params).await
    }

    /// Calls the tool `name` again, with the state of `asked` and `answers`.
    pub(crate) async fn again(
        &self,
        name: &str,
        arguments: Value,
        asked: &Value,
        answers: Value,
    ) -> Value {
        let params = json!({
            "name": name,
            "arguments": arguments,
            "inputResponses": answers,
            "requestState": state(asked),
        });
        self.send("tools/call", params).await
    }
}

/// Capabilities of a client that can be asked anything.
pub(crate) fn everything() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} }, "roots": {} })
}

/// The state that goes with the questions of a response.
#[track_caller]
pub(crate) fn state(response: &Value) -> &str {
    assert_eq!(
        response["result"]["resultType"], "input_required",
        "{response}"
    );
    let state = response["result"]["requestState"].as_str();
    state.unwrap_or_else(|| panic!("no state: {response}"))
}

/// The keys of the questions of a response.
#[track_caller]
pub(crate) fn keys(response: &Value) -> Vec<&str> {
    assert_eq!(
        response["result"]["resultType"], "input_required",
        "{response}"
    );
    let questions = response["result"]["inputRequests"].as_object();
    let questions = questions.unwrap_or_else(|| panic!("no questions: {response}"));
    questions.keys().map(String::as_str).collect()
}

/// The text of a tool's result.
#[track_caller]
pub(crate) fn text(response: &Value) -> &str {
    let text = response["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{response}"))
}

/// An accepted form.
pub(crate) fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// Answers each elicitation with what a function makes of its message.
#[allow(dead_code, reason = "not with every feature")]
pub(crate) struct User<F>(pub(crate) F);

impl<F: Fn(&str, Value) -> Value + Send + Sync> ClientHandler for User<F> {
    fn answer(&self, method: &str, params: Option<RawJson>) -> Answering<'_> {
        let params = params.map_or(Value::Null, |params| params.to_value());
        let answer = (self.0)(method, params);
        Box::pin(std::future::ready(match answer {
            Value::Null => Err(ErrorObject::new(-1, "the user said no")),
            answer => Ok(RawJson::from(answer)),
        }))
    }
}
