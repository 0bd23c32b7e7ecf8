//! Layers around calls. A layer is code that runs before and after every call of a tool, a prompt, a resource, a completion or an
//! extension's method. Lists are not calls, so layers do not see them.
//!
//! This module has five layers. [`CallMetrics`] counts and times calls. [`AuditLog`] logs them. [`ConcurrencyLimit`] limits how many run
//! at once, [`TimeLimit`] how long they take, and [`ResponseLimit`] how much they return.
//!
//! All calls share a [`CallLayer`]. It [begins](CallLayer::begin) a [`CallScope`] for each call. Without layers, a call pays only one
//! comparison.
//!
//! ```
//! use std::{sync::Arc, task::{Context as Task, Poll}, time::Duration};
//! use trueform::{prelude::*, layer::{CallEnd, CallInfo, CallLayer, CallScope}};
//!
//! /// Refuses calls of tools whose name begins with `admin_` unless the caller is authenticated.
//! struct AdminsOnly;
//!
//! impl CallLayer for AdminsOnly {
//!     fn begin(&self, call: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError> {
//!         match call.name().starts_with("admin_") && call.context().principal().is_none() {
//!             true => Err(ToolError::new("this tool is for administrators")),
//!             false => Ok(None),
//!         }
//!     }
//! }
//!
//! /// Stops the clock.
//! #[tool]
//! fn admin_stop() {}
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Server::new("clock", "1.0.0").tools(tools![admin_stop]).layer(AdminsOnly).connect().await?;
//! assert_eq!(client.call_tool("admin_stop", ()).await?.is_error, Some(true));
//! # Ok(())
//! # }
//! ```

mod audit;
mod by_name;
mod concurrency;
mod metrics;
mod response_limit;
mod time_limit;

use std::{
    fmt,
    sync::Arc,
    task::{self, Poll},
    time::Duration,
};

use trueform_schema::ToolAnnotations;

use self::by_name::ByName;
pub use self::{
    audit::AuditLog,
    concurrency::{ConcurrencyLimit, DEFAULT_QUEUE},
    metrics::{CallMetrics, Measured},
    response_limit::ResponseLimit,
    time_limit::TimeLimit,
};
use super::failure::ToolError;
use crate::exchange::Context;

/// Code around every call.
pub trait CallLayer: Send + Sync + 'static {
    /// Begins a call before it runs. Returns `None` if this layer has nothing more to do with the call.
    ///
    /// # Errors
    /// The call does not run. A tool returns a result with `isError`; a method of an extension returns -32603 with the message. An error
    /// made by [`ToolError::protocol`] is returned unchanged in both cases. Layers that began before are notified of the end.
    fn begin(&self, call: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError>;

    /// Returns the problem with the settings of this layer, as a sentence. [`Server::build`](crate::Server::build) reports it with all
    /// other problems. Default: `None`.
    fn problem(&self) -> Option<String> {
        None
    }
}

/// What a [`CallLayer`] keeps for one call. If it is dropped without [`ended`](Self::ended), the call was abandoned before it ended: it was
/// cancelled, or the server was stopped.
pub trait CallScope: Send {
    /// Is ready when the call may run: limits on concurrency wait here, at most for the call's own time limit.
    fn poll_admitted(&mut self, cx: &mut task::Context<'_>) -> Poll<()> {
        let _ = cx;
        Poll::Ready(())
    }

    /// Returns how long the call may take, including its wait. The shorter of this and the call's own limit applies.
    fn time_limit(&self) -> Option<Duration> {
        None
    }

    /// Returns the maximum number of bytes of the response, as a whole JSON-RPC message. The smallest of all layers applies. A larger
    /// response is not sent: a tool returns a result with `isError`, everything else returns -32603, and both state the size and the limit.
    fn max_response_bytes(&self) -> Option<usize> {
        None
    }

    /// Called when the call has ended and its response is written.
    fn ended(self: Box<Self>, end: &CallEnd) {
        let _ = end;
    }
}

/// The call that a layer sees.
#[derive(Clone, Copy)]
pub struct CallInfo<'a> {
    pub(crate) context: &'a Context,
    pub(crate) name: &'a str,
    pub(crate) annotations: Option<&'a ToolAnnotations>,
}

impl<'a> CallInfo<'a> {
    /// Returns the name of what is called, as it is listed, with the prefix of [`Server::nest`](crate::Server::nest): the name of the tool
    /// or the prompt, the URI of the resource or its URI template, the prompt or the URI template whose argument is completed, or the
    /// method of the extension.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Returns the method of the request, such as `tools/call`.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.context.method()
    }

    /// Returns the hints of the tool, if it has any.
    #[must_use]
    pub fn annotations(&self) -> Option<&'a ToolAnnotations> {
        self.annotations
    }

    /// Returns the request: its principal, its revision, what the client sent about itself, and the transport's data with the headers.
    #[must_use]
    pub fn context(&self) -> &'a Context {
        self.context
    }
}

impl fmt::Debug for CallInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallInfo")
            .field("method", &self.method())
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallEnd {
    /// What the client got.
    pub outcome: CallOutcome,
    /// How long the call took, from [`CallLayer::begin`] on.
    pub ran: Duration,
    /// Size of the response, in bytes.
    pub response_bytes: usize,
}

/// What the client got for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallOutcome {
    /// A result.
    Result,
    /// A result with `isError`.
    ToolError,
    /// A JSON-RPC error with this code.
    Error(i64),
}

impl fmt::Display for CallOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result => f.write_str("ok"),
            Self::ToolError => f.write_str("tool error"),
            Self::Error(code) => write!(f, "error {code}"),
        }
    }
}

/// The layers of a server, outermost first.
pub(crate) type Layers = [Arc<dyn CallLayer>];
