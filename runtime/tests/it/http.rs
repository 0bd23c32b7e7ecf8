//! Streamable HTTP, both eras: what a client sees of one endpoint.

mod admission;
#[cfg(feature = "ask")]
mod asking;
mod asks;
#[cfg(feature = "ask")]
mod bad_asks;
mod bad_input;
mod bounds;
mod composed;
mod cut_asks;
mod features;
mod frames;
#[cfg(feature = "testing")]
mod in_process;
#[cfg(feature = "tracing-log")]
mod logs;
mod modern;
mod no_room;
#[cfg(feature = "testing")]
mod quick;
mod races;
#[cfg(feature = "testing")]
mod recorded;
mod repeated;
mod resources;
mod resume;
mod serve;
mod sessions;
mod shared;
mod streams;
pub(crate) mod support;
mod unread;
