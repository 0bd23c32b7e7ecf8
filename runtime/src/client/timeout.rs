//! Which request had no answer within its time, and what set the time.

use std::{fmt, time::Duration};

use crate::jsonrpc::shortened;

/// A request that had no answer within its time; in [`LocalError::TimedOut`](super::LocalError::TimedOut).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestTimeout {
    method: String,
    name: Option<String>,
    limit: Duration,
    setting: &'static str,
}

/// [`ClientOptions::timeout`](super::ClientOptions::timeout).
pub(super) const OF_CLIENT: &str = "ClientOptions::timeout";
/// [`ClientOptions::reset_by_progress`](super::ClientOptions::reset_by_progress).
pub(super) const LONGEST_OF_CLIENT: &str = "ClientOptions::reset_by_progress";
/// The option of one call.
pub(super) const OF_CALL: &str = "timeout";
/// The same for the longest time.
pub(super) const LONGEST_OF_CALL: &str = "reset_by_progress";

impl RequestTimeout {
    pub(super) fn new(method: &str, limit: Duration, setting: &'static str) -> Self {
        Self {
            method: method.to_owned(),
            name: None,
            limit,
            setting,
        }
    }

    /// The same for a request of the tool or the prompt `name`.
    pub(super) fn named(mut self, name: Option<String>) -> Self {
        self.name = name;
        self
    }

    /// The method of the request. A task that did not end has `tools/call`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The tool or the prompt of the request.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The time that was set.
    #[must_use]
    pub fn limit(&self) -> Duration {
        self.limit
    }
}

impl fmt::Display for RequestTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            method,
            name,
            limit,
            setting,
        } = self;
        write!(f, "no answer to `{}`", shortened(method))?;
        if let Some(name) = name {
            write!(f, " of `{}`", shortened(name))?;
        }
        write!(f, " within {limit:?}, which `{setting}`")?;
        if matches!(*setting, OF_CALL | LONGEST_OF_CALL) {
            f.write_str(" of the request")?;
        }
        f.write_str(" sets; set a longer time, or see what the server does")
    }
}
