//! A user's extension: its bindings as its author uses them, and its server as clients see it, over a byte stream and
//! over HTTP.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod bindings;
mod bookmarks;
mod faults;
mod reading;
mod support;
