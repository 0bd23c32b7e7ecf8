//! Tasks [W]: calls of tools that go on after they are answered, in both of their forms.

mod asking;
mod bounds;
mod core;
mod extension;
#[cfg(feature = "http")]
mod http;
mod nosy;
mod outlive;
mod registered;
mod start;
mod support;
