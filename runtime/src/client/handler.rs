//! Answers to what the server asks of the client.

use std::{future::Future, pin::Pin};

use trueform_schema::{ErrorObject, Json};

use crate::jsonrpc::code;

/// The future of an answer.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Json, ErrorObject>> + Send + 'a>>;

/// Answers the server's questions: `sampling/createMessage`, `elicitation/create`, `roots/list`.
///
/// The same handler serves both eras: in the legacy era the questions are requests, in the modern one they arrive in an
/// `input_required` result and the client retries the call with the answers. `ping` is answered by the client itself.
///
/// ```
/// use trueform::client::{Answering, ClientHandler};
/// use trueform::schema::{ErrorObject, Json};
///
/// struct NoRoots;
///
/// impl ClientHandler for NoRoots {
///     fn answer(&self, method: &str, _: Option<Json>) -> Answering<'_> {
///         let answer = match method {
///             "roots/list" => Ok(Json::from(serde_json::json!({ "roots": [] }))),
///             other => Err(ErrorObject::new(-32601, format!("method `{other}` is not handled by this client"))),
///         };
///         Box::pin(std::future::ready(answer))
///     }
/// }
/// ```
pub trait ClientHandler: Send + Sync {
    /// Answers `method`. The result must have the form that the specification gives it.
    ///
    /// Runs in a task of its own, so it may take long. In the legacy era, the server may cancel its request: then the future is dropped,
    /// and no response is sent. If the future panics, the response is error -32603. At most
    /// [`ClientOptions::MOST_QUESTIONS`](super::ClientOptions::MOST_QUESTIONS) run at once.
    fn answer(&self, method: &str, params: Option<Json>) -> Answering<'_> {
        let _ = params;
        let error = ErrorObject::new(
            code::METHOD_NOT_FOUND,
            format!("method `{method}` is not handled by this client"),
        );
        Box::pin(std::future::ready(Err(error)))
    }
}

/// Knows no method.
#[derive(Debug)]
pub(super) struct NoHandler;

impl ClientHandler for NoHandler {}
