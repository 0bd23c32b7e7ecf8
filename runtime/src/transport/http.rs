//! Streamable HTTP on axum: one endpoint for clients of all revisions that have it.
//!
//! [`Server::into_router`](crate::Server::into_router) returns an [`axum::Router`], for your own application and tower layers.
//! [`Server::serve_http`](crate::Server::serve_http) serves the endpoint alone, with limits on connections and a graceful shutdown.
//! [`HttpConfig`] has the settings.
//!
//! ```
//! use axum::{Router, routing::get};
//! use trueform::prelude::*;
//! use trueform::transport::http::HttpConfig;
//!
//! /// Add two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # fn main() -> trueform::Result {
//! let config = HttpConfig::default().allowed_hosts(["tools.example.com"]);
//! let server = Server::new("calc", "1.0.0").tools(tools![add]).http(config);
//! let app: Router = Router::new().route("/health", get(|| async { "ok" })).merge(server.into_router()?);
//! # drop(app);
//! # Ok(())
//! # }
//! ```
//!
//! # Tests
//!
//! With the feature `testing`, `trueform::testing::InProcessHttp` connects the typed client to such an application without a socket.
//!
//! # Behind `axum::serve`
//!
//! Event streams need `TCP_NODELAY`. `axum::serve` does not set it: set it on the listener with [`axum::serve::ListenerExt::tap_io`].
//! `serve_http` always sets it.
//!
//! # Browsers
//!
//! Pages of the endpoint's own origin and on loopback names may call. Other origins must be listed in [`HttpConfig::allowed_origins`]. A
//! browser also needs CORS headers. A layer such as `tower_http::cors` adds them: allow the methods POST, GET and DELETE, the headers
//! `content-type`, `authorization`, `mcp-protocol-version`, `mcp-session-id`, `mcp-method`, `mcp-name`, `last-event-id`, and expose
//! `mcp-session-id`.

mod body;
mod calls;
mod config;
mod connection;
mod endpoint;
mod fields;
mod head_timer;
mod limit;
mod listen;
mod live;
mod media;
mod message_body;
mod pipe;
mod policy;
mod post;
mod reply;
mod serve;
mod service;
mod sessions;
mod shared;
mod site;
mod spare;
mod sse;
mod standalone;
mod state;
mod status;
mod under_way;

use std::sync::Arc;

use axum::Router;

pub use self::{
    config::{
        DEFAULT_BODY_TIMEOUT, DEFAULT_DRAIN, DEFAULT_HEAD_TIMEOUT, DEFAULT_KEEP_ALIVE,
        DEFAULT_MAX_BODY, DEFAULT_MAX_CONNECTIONS, DEFAULT_MAX_HEAD, DEFAULT_MAX_IN_FLIGHT,
        DEFAULT_MAX_LISTENERS, DEFAULT_MAX_SESSION_BYTES, DEFAULT_MAX_SESSIONS, DEFAULT_PATH,
        DEFAULT_RETRY, DEFAULT_SESSION_IDLE, DEFAULT_SSE_AFTER, DEFAULT_WRITE_TIMEOUT, HttpConfig,
        Streams,
    },
    pipe::{PIPE_BYTES, PIPE_LIMIT},
    policy::InvalidSetting,
    service::{HttpFuture, HttpService},
    sessions::UNPROVEN_KEPT,
};
pub(crate) use self::{
    endpoint::Endpoint,
    serve::{announce, serve, with_environment},
    site::Site,
};

/// Creates a router that serves `endpoint` at its path, with and without a slash at the end, because adapters append one.
///
/// # Errors
/// The path is not valid.
pub(crate) fn mount(endpoint: &Arc<Endpoint>) -> Result<Router, InvalidSetting> {
    let bare = policy::bare_path(&endpoint.config.path)?;
    let service = HttpService::new(endpoint.clone());
    let router = Router::new().route_service(&format!("{bare}/"), service.clone());
    Ok(match bare {
        "" => router,
        _ => router.route_service(bare, service),
    })
}
