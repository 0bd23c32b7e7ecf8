//! The extension as clients see it.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod attacked;
mod bindings;
mod changes;
mod made;
mod served;
mod support;
mod wrong;
