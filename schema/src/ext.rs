//! Extensions of the protocol: modules of their own that reuse every core type with an identical definition.

/// `io.modelcontextprotocol/tasks`: requests whose result is a task, which the client then polls.
#[cfg(not(feature = "generate"))]
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    clippy::needless_pass_by_value,
    reason = "generated: one form for all types"
)]
#[path = "generated/tasks.rs"]
pub mod tasks;

/// `io.modelcontextprotocol/tasks`: requests whose result is a task, which the client then polls.
#[cfg(feature = "generate")]
#[allow(
    clippy::large_enum_variant,
    clippy::needless_pass_by_value,
    reason = "generated: one form for all types"
)]
pub mod tasks {
    include!(concat!(env!("OUT_DIR"), "/generated/tasks.rs"));
}
