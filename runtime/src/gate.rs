//! The checks of a message before anything else reads it, and before it is sent: which era it belongs to, whether its headers and its
//! required `_meta` agree with it, and whether its revision allows its content.
//!
//! Checks run in the order of GAP-2: envelope, era, headers, version, required `_meta`, method, capability, params. Outgoing messages have
//! one check, of the whole message. Lists of tools were checked when the tools were registered. Messages of the library that never change
//! (`list_changed`, the end of a subscription) are not checked each time. This module does not depend on tools or transports; it reads
//! headers through [`Headers`].

mod claims;
mod codes;
mod headers;
mod inbound;
mod keys;
mod leniency;
mod loss;
mod outbound;
mod questions;
mod quick;
mod redact;
#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "only HTTP turns requests away")
)]
mod refusal;
mod remembered;
mod session;
#[cfg(feature = "client")]
mod to_server;
mod unread;
mod version;

#[cfg(feature = "testing")]
pub(crate) use self::codes::{Standing, lacking, standing};
#[cfg(feature = "http")]
pub(crate) use self::outbound::OutKind;
#[cfg(feature = "http")]
pub(crate) use self::refusal::{HOSTS_VARIABLE, ORIGINS_VARIABLE};
pub(crate) use self::{
    claims::{Claims, Read, member_text},
    headers::{
        HeaderValue, Headers, check_standard_headers, decode_header, missing_meta, missing_version,
    },
    inbound::{Inbound, unfit_answer},
    keys::{is_extension_identifier, is_illegal_meta_key, is_meta_key, is_reserved},
    loss::{log_loss, losses, shown},
    outbound::{Checked, CheckedParams, NotificationKind, Outcome, Outgoing, Stage},
    questions::{check_answer, let_question_out},
    quick::{Quick, QuickCall},
    redact::{Redacted, log_raw},
    refusal::Refusal,
    remembered::{PeerFacts, Remembered, Stated},
    session::{session_header_unusable, session_missing, session_unknown, session_version_unknown},
    unread::{Unread, UnreadBytes},
    version::VersionHeader,
};
#[cfg(feature = "client")]
pub(crate) use self::{
    outbound::holds_back,
    questions::{QuestionFault, check_question},
    to_server::ToServer,
};
use trueform_schema::Revision;

pub use self::{
    leniency::{Leniencies, Leniency},
    outbound::Policy,
};

/// Header that names the protocol version of an HTTP request.
pub(crate) const VERSION_HEADER: &str = "mcp-protocol-version";
/// Header that carries the id of a legacy session.
#[cfg(any(feature = "http", feature = "client-http"))]
pub(crate) const SESSION_HEADER: &str = "mcp-session-id";
/// Header that repeats the method of a modern request.
pub(crate) const METHOD_HEADER: &str = "mcp-method";
/// Header that repeats what a modern request names: a tool, a prompt, a resource, a task.
pub(crate) const NAME_HEADER: &str = "mcp-name";
/// Prefix of the headers that repeat arguments marked `x-mcp-header`.
pub(crate) const PARAM_HEADER_PREFIX: &str = "mcp-param-";

/// Returns whether messages may be sent in arrays at `revision`.
pub(crate) const fn has_batches(revision: Revision) -> bool {
    matches!(revision, Revision::V2025_03_26)
}
