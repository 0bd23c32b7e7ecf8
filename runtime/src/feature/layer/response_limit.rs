//! A layer that limits how large responses are.

use super::{ByName, CallInfo, CallLayer, CallScope};
use crate::feature::failure::ToolError;

/// Limits how large the response to a call may be.
///
/// A larger response is not sent. Instead, a tool returns a result with `isError`, and everything else returns -32603. The message states
/// the size and the limit, so that a model can ask for less. The limit counts the bytes of the whole JSON-RPC message, also of errors. The
/// replacement of a large response is sent even if it exceeds the limit.
///
/// The response is written before it is measured, so this bounds what a client reads, not what the server has in memory.
///
/// ```
/// use trueform::{prelude::*, layer::ResponseLimit};
///
/// /// Returns the whole log.
/// #[tool]
/// fn read_log() -> String {
///     "x".repeat(100_000)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limit = ResponseLimit::new(50_000).named("export", 10_000_000);
/// let client = Server::new("logs", "1.0.0").tools(tools![read_log]).layer(limit).connect().await?;
/// let result = client.call_tool("read_log", ()).await?;
/// assert_eq!(result.is_error, Some(true));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ResponseLimit(ByName<usize>);

impl ResponseLimit {
    /// Limits each response to `bytes`, unless [`named`](Self::named) sets another limit for the name of the call.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self(ByName::new(Some(bytes)))
    }

    /// Limits only the responses to calls with a limit of their own, which [`named`](Self::named) sets.
    #[must_use]
    pub fn only_named() -> Self {
        Self(ByName::new(None))
    }

    /// Sets the limit for the responses to calls of `name`, which may be larger or smaller than the general limit. `name` is what
    /// [`CallInfo::name`] returns.
    ///
    /// ```
    /// use trueform::{layer::ResponseLimit, prelude::*};
    ///
    /// let limit = ResponseLimit::new(64 << 10).named("export", 4 << 20);
    /// let server = Server::new("reports", "1.0.0").layer(limit);
    /// # assert!(server.build().is_ok());
    /// ```
    #[must_use]
    pub fn named(mut self, name: impl Into<String>, bytes: usize) -> Self {
        self.0.set(name.into(), bytes);
        self
    }
}

impl CallLayer for ResponseLimit {
    fn begin(&self, call: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError> {
        let limit = self.0.of(call.name());
        Ok(limit.map(|limit| Box::new(SizeLimited(limit)) as Box<dyn CallScope>))
    }

    fn problem(&self) -> Option<String> {
        let calls = self.0.unusable(|bytes| bytes == 0)?;
        Some(format!(
            "the `ResponseLimit` of {calls} is zero; expected at least 1 byte"
        ))
    }
}

struct SizeLimited(usize);

impl CallScope for SizeLimited {
    fn max_response_bytes(&self) -> Option<usize> {
        Some(self.0)
    }
}
