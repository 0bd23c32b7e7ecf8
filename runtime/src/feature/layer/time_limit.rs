//! A layer that limits how long calls take.

use std::time::Duration;

use super::{ByName, CallInfo, CallLayer, CallScope};
use crate::feature::failure::ToolError;

/// Limits how long each call may take, including its wait in layers such as [`ConcurrencyLimit`](super::ConcurrencyLimit).
///
/// A call that takes longer is abandoned: a tool returns a result with `isError`, everything else returns -32603. The shorter of this limit
/// and the call's own limit applies. Progress reports do not extend it. Code that does not await is not interrupted: the thread of a
/// blocking function continues until the function returns, and the time of a call that ends without an await is not measured.
///
/// ```
/// use std::time::Duration;
/// use trueform::{prelude::*, layer::TimeLimit};
///
/// /// Never comes back.
/// #[tool]
/// async fn fetch() -> String {
///     std::future::pending().await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limit = TimeLimit::new(Duration::from_millis(10)).named("report", Duration::from_secs(60));
/// let client = Server::new("web", "1.0.0").tools(tools![fetch]).layer(limit).connect().await?;
/// let result = client.call_tool("fetch", ()).await?;
/// assert_eq!(result.is_error, Some(true));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TimeLimit(ByName<Duration>);

impl TimeLimit {
    /// Limits each call to `limit`, unless [`named`](Self::named) sets another limit for its name.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        Self(ByName::new(Some(limit)))
    }

    /// Limits only calls with a limit of their own, which [`named`](Self::named) sets.
    #[must_use]
    pub fn only_named() -> Self {
        Self(ByName::new(None))
    }

    /// Sets the limit for calls of `name`, which may be longer or shorter than the general limit. `name` is what [`CallInfo::name`]
    /// returns.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::{layer::TimeLimit, prelude::*};
    ///
    /// let limit = TimeLimit::new(Duration::from_secs(5)).named("export", Duration::from_secs(60));
    /// let server = Server::new("reports", "1.0.0").layer(limit);
    /// # assert!(server.build().is_ok());
    /// ```
    #[must_use]
    pub fn named(mut self, name: impl Into<String>, limit: Duration) -> Self {
        self.0.set(name.into(), limit);
        self
    }
}

impl CallLayer for TimeLimit {
    fn begin(&self, call: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError> {
        let limit = self.0.of(call.name());
        Ok(limit.map(|limit| Box::new(TimeLimited(limit)) as Box<dyn CallScope>))
    }

    fn problem(&self) -> Option<String> {
        let calls = self.0.unusable(|limit| limit.is_zero())?;
        Some(format!(
            "the `TimeLimit` of {calls} is zero; expected a longer time"
        ))
    }
}

struct TimeLimited(Duration);

impl CallScope for TimeLimited {
    fn time_limit(&self) -> Option<Duration> {
        Some(self.0)
    }
}
