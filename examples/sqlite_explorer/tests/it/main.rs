//! The server as its clients see it.

mod calls;
mod offered;
mod refused;
mod stdio;
mod stopped;
mod support;
mod written;
