//! A third way to ask the client, beside the two ways of a call: the way of a task, whose future stays alive while it asks.

use std::{future::Future, pin::Pin};

use trueform_schema::{InputRequest, Json};

use super::AskError;

/// Receives the questions that are not asked within a call.
///
/// Nothing is replayed: the future that asks stays alive and gets the answer.
pub(crate) trait Asker: Send + Sync {
    /// Asks the client `question` under `key` and waits for the unchecked answer. It is called again with the same key if the answer does
    /// not fit.
    fn ask(
        &self,
        key: &str,
        question: &InputRequest,
    ) -> Pin<Box<dyn Future<Output = Result<Json, AskError>> + Send + '_>>;
}
