//! The user at the client.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use trueform::{
    client::{Answering, Client, ClientHandler},
    schema::{ErrorObject, Json},
};

/// Accepts every form, with its default values. A flag without a default is set.
#[derive(Clone, Default)]
pub(crate) struct User {
    /// The client of the user, once it is connected.
    client: Arc<Mutex<Option<Client>>>,
}

impl User {
    pub(crate) fn knows(&self, client: &Client) {
        *self.lock() = Some(client.clone());
    }

    /// Gives the client back, so that it can be closed.
    pub(crate) fn forget(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Client>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientHandler for User {
    fn answer(&self, method: &str, params: Option<Json>) -> Answering<'_> {
        let simple = match method {
            "elicitation/create" => None,
            "roots/list" => Some(Ok(json!({ "roots": [] }))),
            "sampling/createMessage" => Some(Err("the user rejected the request")),
            _ => Some(Err("the method is not handled")),
        };
        if let Some(answer) = simple {
            let answer = answer.map(Json::from);
            let answer = answer.map_err(|problem| ErrorObject::new(-1, problem));
            return Box::pin(std::future::ready(answer));
        }
        let client = self.lock().clone();
        Box::pin(async move {
            // A scenario expects another call between a question and its answer: the question must not appear in that call.
            if let Some(client) = client.filter(|_| is_of_mrtr()) {
                let called = client.call_tool("test_mrtr_unrelated", ()).await;
                called.map_err(|error| ErrorObject::new(-32603, error.to_string()))?;
            }
            let params = params.map_or(Value::Null, |params| params.to_value());
            Ok(Json::from(
                json!({ "action": "accept", "content": filled(&params) }),
            ))
        })
    }
}

fn is_of_mrtr() -> bool {
    std::env::var("MCP_CONFORMANCE_SCENARIO").is_ok_and(|name| name.starts_with("sep-2322"))
}

/// The fields of a form with their defaults.
fn filled(params: &Value) -> Map<String, Value> {
    let fields = params.pointer("/requestedSchema/properties");
    let fields = fields.and_then(Value::as_object).into_iter().flatten();
    fields
        .filter_map(|(name, field)| {
            let value = match (field.get("default"), field["type"].as_str()) {
                (Some(default), _) => default.clone(),
                (None, Some("boolean")) => Value::Bool(true),
                _ => return None,
            };
            Some((name.clone(), value))
        })
        .collect()
}
