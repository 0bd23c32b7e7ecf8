//! What a message must satisfy before anything else looks at it: which era it belongs to, whether its headers and its
//! required `_meta` agree with it.
//!
//! Checks run in the order of GAP-2: envelope, era, headers, version, required `_meta`, method, capability, params.
//! Knows no tools and no transport; headers come through [`Headers`].

mod era;
mod headers;
mod outbound;
mod peek;

pub use self::outbound::Policy;
pub(crate) use self::{
    era::{PostEra, era_of_post},
    headers::{HeaderValue, Headers, check_param_headers, check_standard_headers, missing_meta},
    outbound::{check, error_at},
    peek::{Peek, peek},
};

/// Header that names the protocol version of an HTTP request.
pub(crate) const VERSION_HEADER: &str = "mcp-protocol-version";
/// Header that carries the id of a legacy session.
pub(crate) const SESSION_HEADER: &str = "mcp-session-id";
/// Header that repeats the method of a modern request.
pub(crate) const METHOD_HEADER: &str = "mcp-method";
/// Header that repeats what a modern request names: a tool, a prompt, a resource, a task.
pub(crate) const NAME_HEADER: &str = "mcp-name";
/// Prefix of the headers that repeat arguments marked `x-mcp-header`.
pub(crate) const PARAM_HEADER_PREFIX: &str = "mcp-param-";
