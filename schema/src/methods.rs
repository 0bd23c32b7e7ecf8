//! What a method is: marker types that tie name, params and result together, and the rules each revision has for it.
//!
//! The markers and the table are generated; this file holds the forms they fill.

use std::fmt;

use serde::de::DeserializeOwned;

use crate::{Conform, InputRequiredResult, Method};

#[doc(inline)]
pub use crate::generated::markers::*;

/// A request: a wrong pair of method, params and result does not compile.
///
/// ```
/// use trueform_schema::{CallToolRequestParams, Method, methods::{CallTool, Request}};
///
/// fn params_of<R: Request>(_: R::Params) -> Method { R::METHOD }
/// assert_eq!(params_of::<CallTool>(CallToolRequestParams::new("add")), Method::CallTool);
/// ```
pub trait Request: 'static {
    /// The method.
    const METHOD: Method;
    /// Its params.
    type Params: Conform + DeserializeOwned + Send + Sync + 'static;
    /// Its result; an outcome enum where there are several.
    type Result: Conform + DeserializeOwned + Send + 'static;
}

/// A notification.
pub trait Notification: 'static {
    /// The method.
    const METHOD: Method;
    /// Its params.
    type Params: Conform + DeserializeOwned + Send + Sync + 'static;
}

/// A request that may be answered with questions to the client.
pub trait MayAsk: Request {
    /// The result that asks `questions`.
    fn input_required(questions: InputRequiredResult) -> Self::Result;
}

/// Writes the name on the wire, such as `tools/call`.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who sends a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The client.
    ClientToServer,
    /// The server.
    ServerToClient,
    /// Either side.
    Both,
}

impl Direction {
    /// Whether the client may send it.
    #[must_use]
    pub const fn from_client(self) -> bool {
        matches!(self, Self::ClientToServer | Self::Both)
    }

    /// Whether the server may send it.
    #[must_use]
    pub const fn from_server(self) -> bool {
        matches!(self, Self::ServerToClient | Self::Both)
    }
}

/// What one revision says about one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// Who sends it.
    pub direction: Direction,
    /// The capability that the side which answers, or which notifies, must have declared: `tools`,
    /// `resources.subscribe`.
    pub capability: Option<&'static str>,
    /// The member of `params` that HTTP mirrors in the `Mcp-Name` header.
    pub header_name: Option<&'static str>,
    /// Whether the answer may be a request for input.
    pub input_required: bool,
    /// Whether `params` must be present.
    pub params_required: bool,
    /// Definitions the result may be; empty for notifications.
    pub results: &'static [&'static str],
}
