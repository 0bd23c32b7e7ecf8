//! Model Context Protocol types, methods and dispatch for every revision of the specification, generated from the
//! official schemas.
//!
//! One set of types, the *superset model*, serves all revisions: a member exists if any revision has it, and is optional unless every
//! revision requires it. The generated [`Encode`] implementations contain which revisions have a member, so the same value can be written
//! [`At`] each [`Revision`]:
//!
//! ```
//! use trueform_schema::{At, Revision, Tool, JsonObject};
//!
//! let tool = Tool::new(JsonObject::empty(), "add").with_title("Addition");
//! let old = At::new(&tool, Revision::V2024_11_05).to_string();
//! let new = At::new(&tool, Revision::V2026_07_28).to_string();
//! assert!(!old.contains("Addition"));
//! assert!(new.contains("Addition"));
//! ```
//!
//! The crate does not depend on transports, sessions or state of handlers. It needs only `serde` and `serde_json`.

// First: the generated code uses its macro.
#[macro_use]
mod revision;

pub mod conform;
pub mod decode;
mod encode;
pub mod ext;
#[cfg(not(feature = "generate"))]
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    clippy::needless_pass_by_value,
    reason = "generated: one form for all types"
)]
mod generated;
#[cfg(feature = "generate")]
#[allow(
    clippy::large_enum_variant,
    clippy::needless_pass_by_value,
    reason = "generated: one form for all types"
)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/generated.rs"));
}
mod id;
mod json;
mod map;
mod members;
pub mod methods;
pub mod parts;
pub mod pointer;
pub mod projection;
mod result;
pub mod rewrite;
#[doc(hidden)]
pub mod support;
pub mod types;

#[doc(inline)]
pub use self::generated::*;
pub use self::{
    conform::{Conform, Violation, conform, violations},
    decode::DecodeError,
    encode::{At, Encode, View},
    id::{ProgressToken, RequestId},
    json::{InvalidJson, Json, JsonKind, JsonObject},
    map::{Extras, Map, Meta},
    members::RawMembers,
    revision::{Era, Revisions, UnknownRevision},
};
