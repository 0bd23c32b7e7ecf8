//! Extensions of the protocol: modules of their own that reuse every core type whose definition is the same.

/// `io.modelcontextprotocol/tasks`: requests that answer with a task, which the client then asks about.
#[cfg(not(feature = "generate"))]
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    clippy::needless_pass_by_value,
    reason = "generated: one form for all types"
)]
#[path = "generated/tasks.rs"]
pub mod tasks;

/// `io.modelcontextprotocol/tasks`: requests that answer with a task, which the client then asks about.
#[cfg(feature = "generate")]
#[allow(
    clippy::large_enum_variant,
    clippy::needless_pass_by_value,
    reason = "generated: one form for all types"
)]
pub mod tasks {
    include!(concat!(env!("OUT_DIR"), "/generated/tasks.rs"));
}
