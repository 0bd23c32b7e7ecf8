//! Tasks [W]: calls of tools that go on after they are answered, in both of their forms.

#[cfg(feature = "ask")]
mod asking;
mod bounds;
mod core;
mod extension;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "ask")]
mod nosy;
mod outlive;
mod registered;
mod start;
mod support;
