//! What tests of calls share: an extension, and a server that both transports reach in both eras.

use std::sync::Arc;

use serde_json::Value;
use trueform::{
    Context, Service,
    schema::{
        Conform, DecodeError, EmptyResult, ErrorObject, Method, RequestParams, Revision,
        methods::{BoxFuture, Decoded, Methods, Response, Rules},
    },
};

use crate::{
    parity::post,
    support::{Stage, conversation, initialize, joined, legacy, modern},
};

/// Methods that end in different ways.
pub(crate) struct Own;

const NAMES: &[&str] = &[
    "own/ok",
    "own/fails",
    "own/panics",
    "own/waits",
    "notifications/own/held",
    "own/typed",
];

impl Methods<Context> for Own {
    fn identifier(&self) -> Option<&'static str> {
        Some("com.example/own")
    }

    fn names(&self) -> &'static [&'static str] {
        NAMES
    }

    // Those of a request or a notification of clients in every revision.
    fn rules(&self, method: &str, revision: Revision) -> Option<&'static Rules> {
        let like = match method.starts_with("notifications/") {
            true => Method::Cancelled,
            false => Method::ListTools,
        };
        like.rules(revision).filter(|_| NAMES.contains(&method))
    }

    fn request(
        self: Arc<Self>,
        _: Revision,
        method: &str,
        params: Option<&str>,
    ) -> Result<Decoded<Context, Response>, DecodeError> {
        let params: RequestParams = match params {
            Some(params) => serde_json::from_str(params).expect("the tests send objects"),
            None => RequestParams::default(),
        };
        type Answer = fn(Arc<Own>, Context, RequestParams) -> BoxFuture<'static, Response>;
        let answer: Answer = match method {
            "own/ok" => |_, _, _| Box::pin(async { ok() }),
            "own/fails" => |_, _, _| Box::pin(async { Err(ErrorObject::new(7, "no")) }),
            "own/typed" => |_, cx, params| Box::pin(async move { typed(&cx, &params) }),
            "own/panics" => |_, _, _| Box::pin(async { panic!("meant to") }),
            _ => |_, cx, _| {
                Box::pin(async move {
                    cx.state::<Stage>().expect("a stage").hold("own").await;
                    ok()
                })
            },
        };
        Ok(Decoded::new(self, params, answer))
    }

    fn notification(
        self: Arc<Self>,
        _: Revision,
        _: &str,
        _: Option<&str>,
    ) -> Result<Decoded<Context, ()>, DecodeError> {
        Ok(Decoded::new(
            self,
            RequestParams::default(),
            |_, cx: Context, _| {
                Box::pin(async move { cx.state::<Stage>().expect("a stage").hold("noted").await })
            },
        ))
    }
}

/// The member `result` of `params`, with a `_meta` of its handler if they have a member `adds`.
fn typed(cx: &Context, params: &RequestParams) -> Response {
    let given = |key| params.extras().get(key);
    if given("adds").is_some() {
        cx.set_result_meta("com.example/added", 1);
    }
    let result = given("result").expect("the test sends one");
    Ok(Box::new(result.clone()) as Box<dyn Conform + Send>)
}

fn ok() -> Response {
    Ok(Box::new(EmptyResult::default()) as Box<dyn Conform + Send>)
}

/// A way to a server: a transport and an era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) http: bool,
    pub(crate) modern: bool,
}

/// Every way.
pub(crate) const WAYS: [Way; 4] = [
    Way {
        http: false,
        modern: false,
    },
    Way {
        http: false,
        modern: true,
    },
    Way {
        http: true,
        modern: false,
    },
    Way {
        http: true,
        modern: true,
    },
];

impl Way {
    pub(crate) fn revision(self) -> &'static str {
        match self.modern {
            true => "2026-07-28",
            false => "2025-11-25",
        }
    }

    /// `initialize` where there is one, of a client that declares the extension.
    pub(crate) fn opening(self) -> Vec<String> {
        match self.modern {
            true => Vec::new(),
            false => initialize(self.revision())
                .map(|line| {
                    line.replace(
                        r#""capabilities":{}"#,
                        r#""capabilities":{"extensions":{"com.example/own":{}}}"#,
                    )
                })
                .to_vec(),
        }
    }

    /// A request of a client that declares the extension; `params` are members, such as `"name":"add"`.
    pub(crate) fn request(self, id: &str, method: &str, params: &str) -> String {
        if !self.modern {
            return legacy(id, method, &format!("{{{params}}}"));
        }
        let comma = if params.is_empty() { "" } else { "," };
        modern(id, method, &format!("{comma}{params}")).replace(
            r#"clientCapabilities":{}"#,
            r#"clientCapabilities":{"extensions":{"com.example/own":{}}}"#,
        )
    }

    /// Sends each of the messages when the one before is answered; what the server answers, by the ids. On a stream all come
    /// at once.
    pub(crate) async fn answers(self, service: &Service, messages: &[String]) -> Vec<Value> {
        let mut answers: Vec<Value> = Vec::new();
        if self.http {
            let http = service
                .clone()
                .into_http_service()
                .expect("the settings are fine");
            let mut headers = Vec::new();
            for opening in self.opening() {
                let (_, session, message) = post(&http, &headers, opening.into_bytes()).await;
                answers.extend(message);
                if let Some(session) = session {
                    headers.push(("mcp-session-id".to_owned(), session));
                    headers.push((
                        "mcp-protocol-version".to_owned(),
                        self.revision().to_owned(),
                    ));
                }
            }
            for message in messages {
                let mut headers = headers.clone();
                if self.modern {
                    headers.extend(headers_of(message));
                }
                let (_, _, message) = post(&http, &headers, message.clone().into_bytes()).await;
                answers.extend(message);
            }
        } else {
            let lines = joined(self.opening()) + &joined(messages);
            let lines = conversation(service, lines).await;
            answers.extend(
                lines
                    .iter()
                    .map(|line| serde_json::from_str::<Value>(line).unwrap()),
            );
        }
        answers.retain(|answer| answer["id"] != 0);
        answers.sort_by_key(|answer| answer["id"].as_u64());
        answers
    }
}

/// The headers that repeat a modern message.
pub(crate) fn headers_of(message: &str) -> Vec<(String, String)> {
    let message: Value = serde_json::from_str(message).unwrap();
    let params = &message["params"];
    let name = params.get("uri").unwrap_or(&params["name"]);
    let members = [("mcp-method", &message["method"]), ("mcp-name", name)];
    let repeated = members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned())));
    repeated
        .chain([("mcp-protocol-version".to_owned(), "2026-07-28".to_owned())])
        .collect()
}
