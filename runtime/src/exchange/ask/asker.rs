//! Another way to the client than the two of a call: that of a task, whose future stays alive while it asks.

use std::{future::Future, pin::Pin};

use trueform_schema::{InputRequest, Json};

use super::AskError;

/// What questions go to that are not asked within a call.
///
/// Nothing is replayed then: the future that asks stays alive and gets the answer.
pub(crate) trait Asker: Send + Sync {
    /// Puts `question` to the client under `key` and waits for the answer, as it came. It is called again with the same key if the
    /// answer does not fit.
    fn ask(
        &self,
        key: &str,
        question: &InputRequest,
    ) -> Pin<Box<dyn Future<Output = Result<Json, AskError>> + Send + '_>>;
}
