//! What a peer sees of a server, over bytes.

mod bad_input;
mod calls;
mod client;
#[cfg(feature = "http")]
mod http;
mod lifecycle;
mod stream;
mod support;
mod tools;
