//! What a peer sees of a server, over bytes.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "messages and expectations read better inline"
)]

mod advertised;
#[cfg(feature = "http")]
mod apart;
#[cfg(feature = "http")]
mod around;
mod asking;
mod asks;
mod attacked;
#[cfg(feature = "testing")]
mod awaited_tasks;
mod bad_input;
mod bounds;
mod calls;
#[cfg(feature = "testing")]
mod checker;
mod client;
mod client_calls;
mod client_lists;
#[cfg(feature = "tracing-log")]
mod client_log;
mod client_policies;
mod completing;
mod connecting;
#[cfg(feature = "http")]
mod controls;
mod documented;
mod enforced;
mod exotic;
#[cfg(feature = "http")]
mod extended;
mod folders;
mod foreign_streams;
mod forms;
#[cfg(feature = "testing")]
mod fuzz;
mod gate;
mod hostile;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "client-http")]
mod http_client;
mod hygiene;
mod ids;
mod inbound;
#[cfg(feature = "http")]
mod injected;
mod internals;
mod known_clients;
mod late;
mod layers;
mod levels;
mod lifecycle;
mod limits;
mod listing;
mod logged;
mod lost;
mod marked;
mod merged;
mod meta;
#[cfg(feature = "testing")]
mod newest;
mod nulls;
#[cfg(feature = "testing")]
mod odd_calls;
mod odd_servers;
mod opaque;
mod out_of_sight;
mod paced;
#[cfg(feature = "http")]
mod parity;
mod plugins;
mod portable;
mod projection;
mod prompts;
#[cfg(feature = "http")]
mod repeated;
mod reports;
mod resources;
#[cfg(feature = "http")]
mod rude;
#[cfg(feature = "testing")]
mod sampled;
#[cfg(feature = "testing")]
mod scripted;
mod stream;
mod strict;
mod support;
mod tasks;
mod tools;
#[cfg(feature = "http")]
mod trace;
mod unread;
mod updates;
mod values;
#[cfg(feature = "http")]
mod visible;
mod ways_out;
#[cfg(not(feature = "ask"))]
mod without_ask;
mod writes;
mod wrong_values;
mod zero;
