//! Layers around calls. A layer is code that runs before and after every call of a tool, a prompt, a resource, a completion or an
//! extension's method. Lists are not calls, so layers do not see them.
//!
//! This module has five layers. [`CallMetrics`] counts and times calls. [`AuditLog`] logs them. [`ConcurrencyLimit`] limits how many run
//! at once, [`TimeLimit`] how long they take, and [`ResponseLimit`] how much they return.
//!
//! A [`CallLayer`] is shared by all calls; what it [begins](CallLayer::begin) for one call is a [`CallScope`]. With no layer
//! registered a call pays one comparison.
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
    /// Looks at a call before it runs. `None` if this layer has nothing more to do with it.
    ///
    /// # Errors
    /// The call does not run. A tool answers with a result that has `isError`, a method of an extension with -32603 and the
    /// message. An error made by [`ToolError::protocol`] is answered as it is, by both. Layers that began before see the end.
    fn begin(&self, call: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError>;

    /// What is wrong with the settings of this layer, as a sentence: [`Server::build`](crate::Server::build) reports it with all other
    /// problems. Default: `None`.
    fn problem(&self) -> Option<String> {
        None
    }
}

/// What a [`CallLayer`] keeps of one call. Dropped without [`ended`](Self::ended), the call was given up before it ended: it
/// was cancelled, or the server was stopped.
pub trait CallScope: Send {
    /// Ready when the call may run: limits on concurrency wait here, at most as long as the call's own time limit lets them.
    fn poll_admitted(&mut self, cx: &mut task::Context<'_>) -> Poll<()> {
        let _ = cx;
        Poll::Ready(())
    }

    /// How long the call may take, its waiting included; the shortest of this and the call's own limit counts.
    fn time_limit(&self) -> Option<Duration> {
        None
    }

    /// Most bytes that the response may have, as a whole JSON-RPC message; the smallest of all layers counts. A larger one is not
    /// sent: a tool answers with a result that has `isError`, everything else with -32603, and both give the size and the limit.
    fn max_response_bytes(&self) -> Option<usize> {
        None
    }

    /// The call ended and its response is written.
    fn ended(self: Box<Self>, end: &CallEnd) {
        let _ = end;
    }
}

/// What is called.
#[derive(Clone, Copy)]
pub struct CallInfo<'a> {
    pub(crate) context: &'a Context,
    pub(crate) name: &'a str,
    pub(crate) annotations: Option<&'a ToolAnnotations>,
}

impl<'a> CallInfo<'a> {
    /// The name of what is called, as it is listed, with the prefix of [`Server::nest`](crate::Server::nest): that of the tool or the prompt, the URI of the resource or its URI template,
    /// the prompt or the URI template whose argument is completed, the method of the extension.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The method of the request, such as `tools/call`.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.context.method()
    }

    /// The hints of the tool, if it has any.
    #[must_use]
    pub fn annotations(&self) -> Option<&'a ToolAnnotations> {
        self.annotations
    }

    /// The request: its principal, its revision, what the client said of itself, the transport's data with the headers.
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

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallEnd {
    /// What the client got.
    pub outcome: CallOutcome,
    /// How long the call took, from the moment it was looked at.
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
