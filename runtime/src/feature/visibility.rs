//! Per-caller visibility: which callers see which tools, prompts and resources.
//!
//! [`Server::visible`](crate::Server::visible) sets a predicate. Items that it hides from a caller do not exist for this caller: lists
//! leave them out, and a call, a read, a completion or a cursor with their name gets the same answer as for an unknown name.
//!
//! ```
//! use trueform::{Principal, client::ClientOptions, prelude::*};
//!
//! /// Tells the time.
//! #[tool]
//! fn time() -> &'static str {
//!     "noon"
//! }
//!
//! /// Stops the clock.
//! #[tool]
//! fn admin_stop() {}
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::new("clock", "1.0.0")
//!     .tools(tools![time, admin_stop])
//!     .visible(|viewer, offer| !offer.name().starts_with("admin_") || viewer.principal().is_some());
//! let service = server.build()?;
//!
//! let anyone = service.connect().await?;
//! assert_eq!(anyone.list_tools().await?.len(), 1);
//! let refused = anyone.call_tool("admin_stop", ()).await.unwrap_err();
//! assert_eq!(refused.remote().unwrap().message, "unknown tool `admin_stop`; this server has `time`");
//!
//! let ann = service.connect_as(ClientOptions::new().principal(Principal::new("ann"))).await?;
//! assert_eq!(ann.list_tools().await?.len(), 2);
//! # Ok(())
//! # }
//! ```

use std::{borrow::Cow, fmt, sync::Arc};

use trueform_schema::Method;

use crate::{
    contained::contained,
    gate::{HeaderValue, Headers},
    principal::Principal,
};

/// The data about the caller of a request on which visibility may depend: its authorization.
///
/// It does not contain what the specification forbids as a reason: the connection, earlier requests, and the headers that repeat members of
/// the message, which the client chooses.
// I-2, Y-4
#[derive(Clone, Copy)]
pub struct Viewer<'a> {
    principal: Option<&'a Principal>,
    headers: Option<&'a dyn Headers>,
}

impl<'a> Viewer<'a> {
    pub(crate) fn new(principal: Option<&'a Principal>, headers: Option<&'a dyn Headers>) -> Self {
        Self { principal, headers }
    }

    /// Returns the authenticated caller, if a layer in front of the server set one.
    #[must_use]
    pub fn principal(&self) -> Option<&'a Principal> {
        self.principal
    }

    /// Returns the value of the HTTP header `name`, such as `authorization`, ignoring case. `None` if the header is absent, occurs twice,
    /// or has characters other than visible ASCII and spaces; on a byte stream; and for every header whose name begins with `Mcp-`.
    ///
    /// The client sends the header. It proves nothing until the predicate, or a layer in front of the server, has checked it.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let name = match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(name.to_ascii_lowercase()),
            false => Cow::Borrowed(name),
        };
        if name.starts_with("mcp-") {
            return None;
        }
        match self.headers?.get(&name) {
            HeaderValue::One(value) => Some(value),
            HeaderValue::Absent | HeaderValue::Bad => None,
        }
    }
}

/// Omits the headers, which may be secret.
impl fmt::Debug for Viewer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Viewer")
            .field("principal", &self.principal)
            .finish_non_exhaustive()
    }
}

/// The kind of an item that a server offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OfferKind {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource with its own URI.
    Resource,
    /// A resource template.
    ResourceTemplate,
    /// A kind that only a later revision of the specification has.
    Other,
}

impl OfferKind {
    /// Returns the kind that `method` lists.
    fn listed_by(method: Method) -> Self {
        match method {
            Method::ListTools => Self::Tool,
            Method::ListPrompts => Self::Prompt,
            Method::ListResources => Self::Resource,
            Method::ListResourceTemplates => Self::ResourceTemplate,
            _ => Self::Other,
        }
    }
}

/// An item that a server offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer<'a> {
    kind: OfferKind,
    name: &'a str,
}

impl<'a> Offer<'a> {
    /// Returns its kind.
    #[must_use]
    pub fn kind(&self) -> OfferKind {
        self.kind
    }

    /// Returns its key: the name of a tool or a prompt, the URI of a resource, the URI template of a resource template.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }
}

/// Whether a caller sees something.
type Predicate = dyn Fn(&Viewer<'_>, &Offer<'_>) -> bool + Send + Sync;

/// The predicates of a server. All must return `true`.
#[derive(Clone, Default)]
pub(crate) struct Visibility(Vec<Arc<Predicate>>);

impl Visibility {
    /// Adds `predicate` to those that must return `true`.
    pub(crate) fn limit(
        &mut self,
        predicate: impl Fn(&Viewer<'_>, &Offer<'_>) -> bool + Send + Sync + 'static,
    ) {
        self.0.push(Arc::new(predicate));
    }

    /// Returns whether every caller sees everything.
    #[inline]
    pub(crate) fn is_unlimited(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what `viewer` sees.
    pub(crate) fn of<'a>(&'a self, viewer: Viewer<'a>) -> Sight<'a> {
        let predicates = &self.0;
        Sight { predicates, viewer }
    }
}

impl fmt::Debug for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visibility")
            .field("predicates", &self.0.len())
            .finish()
    }
}

/// What one caller sees. In an `Option` of it, `None` means that the caller sees everything.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    predicates: &'a [Arc<Predicate>],
    viewer: Viewer<'a>,
}

impl Sight<'_> {
    /// Returns whether the caller sees the item `name` of the list that `method` asks for. A predicate that panics hides it.
    pub(crate) fn sees(&self, method: Method, name: &str) -> bool {
        let kind = OfferKind::listed_by(method);
        let offer = Offer { kind, name };
        let holds = |predicate: &Arc<Predicate>| {
            contained("a predicate of `Server::visible`", || {
                predicate(&self.viewer, &offer)
            })
        };
        self.predicates
            .iter()
            .all(|predicate| holds(predicate) == Some(true))
    }
}

impl fmt::Debug for Sight<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sight")
            .field("viewer", &self.viewer)
            .finish_non_exhaustive()
    }
}
