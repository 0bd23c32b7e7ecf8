//! Tests of the generator as its users meet it: the committed schemas, the command line, the library.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod any_schema;
mod bind;
mod bind_any;
mod bind_limits;
mod cli;
mod diff;
mod import;
mod made_up;
mod moved;
mod proof;
mod regenerate;
mod report;
mod requirements;
mod support;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "compiled here, used by a crate that a test builds"
)]
mod user_code;
mod values;
