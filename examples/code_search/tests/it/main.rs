//! The server as its clients see it, in this process and as a process of its own, over folders that the tests make.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod contract;
mod files;
mod process;
mod search;
mod support;
