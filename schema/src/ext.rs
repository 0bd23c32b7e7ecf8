//! Extensions of the protocol: modules of their own that reuse every core type whose definition is the same.

/// `io.modelcontextprotocol/tasks`: requests that answer with a task, which the client then asks about.
#[rustfmt::skip]
#[allow(
    clippy::large_enum_variant,
    clippy::needless_pass_by_value,
    reason = "generated: one form for all types"
)]
#[path = "generated/tasks.rs"]
pub mod tasks;
