//! What a message must satisfy before anything else looks at it, and before it leaves: which era it belongs to, whether its
//! headers and its required `_meta` agree with it, whether its revision allows what it says.
//!
//! Checks run in the order of GAP-2: envelope, era, headers, version, required `_meta`, method, capability, params. On the
//! way out there is one check, of the whole message; lists of tools were checked when the tools were registered, and what the
//! library says by itself, always in the same words (`list_changed`, the end of a subscription), is not checked each time.
//! Knows no tools and no transport; headers come through [`Headers`].

mod codes;
#[cfg(feature = "http")]
mod era;
mod headers;
mod inbound;
mod leniency;
mod outbound;
mod peek;
mod redact;

#[cfg(feature = "testing")]
pub(crate) use self::codes::{Standing, lacking, standing};
#[cfg(feature = "http")]
pub(crate) use self::era::{PostEra, era_of_post};
#[cfg(any(feature = "http", feature = "testing"))]
pub(crate) use self::headers::HeaderValue;
pub(crate) use self::{
    headers::{
        Headers, check_param_headers, check_standard_headers, missing_meta, missing_version,
    },
    inbound::{Inbound, decoded_params},
    outbound::{check, error_at, holds_back, tell_loss},
    peek::{Peek, peek},
    redact::{Redacted, log_raw},
};
pub use self::{
    leniency::{Leniencies, Leniency},
    outbound::Policy,
};

/// Header that names the protocol version of an HTTP request.
pub(crate) const VERSION_HEADER: &str = "mcp-protocol-version";
/// Header that carries the id of a legacy session.
#[cfg(feature = "http")]
pub(crate) const SESSION_HEADER: &str = "mcp-session-id";
/// Header that repeats the method of a modern request.
pub(crate) const METHOD_HEADER: &str = "mcp-method";
/// Header that repeats what a modern request names: a tool, a prompt, a resource, a task.
pub(crate) const NAME_HEADER: &str = "mcp-name";
/// Prefix of the headers that repeat arguments marked `x-mcp-header`.
pub(crate) const PARAM_HEADER_PREFIX: &str = "mcp-param-";
