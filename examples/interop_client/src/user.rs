//! The user at the client.

use std::path::Path;

use serde_json::{Map, Value, json};
use trueform::{
    client::{Answering, ClientHandler},
    schema::{ErrorObject, Json},
};

/// What the user's model says.
pub(crate) const SAID: &str = "hello from the model";

/// Accepts every form, as Ada, with the defaults of the other fields; has a model, and one root.
#[derive(Clone)]
pub(crate) struct User {
    root: String,
}

impl User {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: format!("file://{}", root.display()),
        }
    }
}

impl ClientHandler for User {
    fn answer(&self, method: &str, params: Option<Json>) -> Answering<'_> {
        let params = params.map_or(Value::Null, |params| params.to_value());
        let answer = match method {
            "elicitation/create" if params["mode"] == "url" => Ok(json!({ "action": "accept" })),
            "elicitation/create" => {
                Ok(json!({ "action": "accept", "content": filled_in(&params) }))
            }
            "sampling/createMessage" => Ok(json!({
                "role": "assistant",
                "model": "interop",
                "content": { "type": "text", "text": SAID },
            })),
            "roots/list" => Ok(json!({ "roots": [{ "uri": self.root, "name": "the root" }] })),
            other => Err(ErrorObject::new(
                -32601,
                format!("the user does not handle `{other}`"),
            )),
        };
        Box::pin(std::future::ready(answer.map(Json::from)))
    }
}

fn filled_in(params: &Value) -> Map<String, Value> {
    let fields = params.pointer("/requestedSchema/properties");
    let fields = fields.and_then(Value::as_object).into_iter().flatten();
    fields
        .filter_map(|(name, field)| match name.as_str() {
            "name" => Some((name.clone(), json!("Ada"))),
            _ => Some((name.clone(), field.get("default")?.clone())),
        })
        .collect()
}
