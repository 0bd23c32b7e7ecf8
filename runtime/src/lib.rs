//! A framework for Model Context Protocol servers. It checks every message before it sends it.
//!
//! Annotate functions, collect them, run:
//!
//! ```no_run
//! use trueform::prelude::*;
//!
//! /// Add two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! #[tokio::main]
//! async fn main() -> trueform::Result {
//!     Server::new("calc", "1.0.0").tools(tools![add]).run().await
//! }
//! ```
//!
//! The signature is the schema: a parameter whose type implements [`FromContext`] is injected, every other parameter is an argument,
//! and doc comments are descriptions. One server serves clients of every [revision](guide::revisions) of the specification at once.
//! [`schema`] has the generated message types.
//!
//! # Where to read on
//!
//! The [guide] has a chapter for each task. The pages of the attributes list everything that they accept.
//!
//! | task | chapter | reference |
//! | --- | --- | --- |
//! | a tool, its arguments and results | [tools](guide::tools), [results and errors](guide::results) | [`#[tool]`](macro@tool), [`DynamicTool`], [`ToolError`] |
//! | state that several functions share | [state](guide::state) | [`#[server]`](macro@server), [`State`] |
//! | progress, cancellation | [progress](guide::progress) | [`Context::progress`], [`Context::cancelled`] |
//! | a prompt, a resource, a folder of files, completion | [prompts and resources](guide::prompts_and_resources) | [`#[prompt]`](macro@prompt), [`#[resource]`](macro@resource), [`resource::Folder`], [`completion`] |
//! | a question to the user, the client's model, its roots | [asking](guide::asking) | [`Context::ask`], [`Context::ask_url`], [`Context::sample`], [`Context::roots`], [`Context::once`], [`Askable`] |
//! | work that outlives its request | [asking and tasks](guide::asking#tasks) | [`task`] |
//! | tests | [testing](guide::testing) | [`Server::connect`], `testing` |
//! | HTTP, authentication, an application of your own | [HTTP](guide::http), [deploying](guide::deploying) | `HttpConfig`, [`Principal`], [`visibility`], [`layer`] |
//! | logs | [logging](guide::logging) | [`Context::log`] |
//! | a client | [client](guide::client) | [`client`], [`acp`] |
//! | known clients, and what they accept | [clients](guide::clients) | [`lint`], [`Profile`] |
//! | the features of each revision | [revisions](guide::revisions), [regenerating](guide::regenerating) | [`schema`], [`projection`] |
//! | an extension | [extensions](guide::extensions) | [`Server::extension`] |
//! | checks, limits, speed | [checks](guide::checks), [limits](guide::limits), [speed](guide::speed) | [`check`], [`Policy`], [`Leniencies`] |
//! | an error message | [errors you may meet](guide::errors) | |
//! | a server written with another framework | [rmcp](guide::from_rmcp), [FastMCP](guide::from_fastmcp) | |
//!
//! # Features
//!
//! | feature | default? | what it adds |
//! | --- | --- | --- |
//! | `ask` | yes | questions to clients of 2026-07-28, whose state is sealed: [`Context::ask`], [`Context::sample`] and the like; without it, only clients of older revisions can be asked |
//! | `client` | yes | [`Client`], and [`Server::connect`] for tests; a server without it compiles less code: `default-features = false, features = ["ask"]` |
//! | `client-process` | no | `Client::spawn`: a client that starts its server as a child process |
//! | `http` | no | Streamable HTTP on axum: `Server::serve_http`, `Server::into_router` |
//! | `client-http` | no | clients over Streamable HTTP, on reqwest: `Client::connect`, `client::HttpEndpoint` |
//! | `client-http-tls` | no | the same, and `https` with rustls and the certificates of the system |
//! | `json-schema` | no | tool schemas with `unevaluatedProperties`, `$dynamicRef`, `$id` below the root, look-around in patterns, or of draft 2019-09, draft-06 or draft-04; the `jsonschema` crate checks them. [`check`] checks all other schemas without this feature |
//! | `tracing-log` | no | `ClientLog`, a `tracing` layer that sends the events of a request to its client as log messages |
//! | `testing` | no | module `testing`, for `[dev-dependencies]`: a checker of recorded traffic, recorders, contract snapshots, a scripted user and, with `http`, a client of an axum `Router` without a socket |

// `::trueform` must name this crate in the expansions that its own tests and examples contain.
#[allow(unused_extern_crates, reason = "used by expansions only")]
extern crate self as trueform;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod acp;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "tracing-log")]
mod client_log;
mod contained;
mod drive;
mod engine;
mod error;
mod exchange;
mod feature;
mod gate;
// For readers only. Its snippets need these features, and are not tested without them.
#[cfg(any(
    all(doc, not(doctest)),
    all(
        doctest,
        feature = "client-process",
        feature = "http",
        feature = "testing"
    )
))]
pub mod guide;
mod host;
pub mod jsonrpc;
pub mod lint;
mod needs;
mod peer;
pub mod prelude;
mod principal;
pub mod projection;
mod seal;
mod server;
mod signal;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod trace;
pub mod transport;

#[doc(inline)]
pub use feature::{
    completion, layer, prompts as prompt, resources as resource, tasks as task, tools as tool,
    visibility,
};
pub use schemars;
pub use serde;
pub use trueform_check as check;
#[doc = include_str!("feature/prompts/prompt.md")]
#[doc(inline)]
pub use trueform_macros::prompt;
#[doc = include_str!("feature/resources/resource.md")]
#[doc(inline)]
pub use trueform_macros::resource;
#[doc = include_str!("feature/tools/server.md")]
#[doc(inline)]
pub use trueform_macros::server;
#[doc = include_str!("feature/tools/tool.md")]
#[doc(inline)]
pub use trueform_macros::tool;
pub use trueform_schema as schema;

#[cfg(feature = "client")]
#[doc(inline)]
pub use self::client::Client;
#[doc(inline)]
pub use self::{
    drive::{MAX_BLOCKING_QUEUE, MAX_BLOCKING_THREADS},
    error::{Error, Result},
    exchange::{AskError, Asked, Context, InputRequired, MAX_SILENCE, Sent},
    feature::{
        asking::VisitedUrl,
        failure::ToolError,
        form::Askable,
        prompts::DynamicPrompt,
        resources::{DynamicResource, DynamicTemplate},
        subscriptions::MAX_SUBSCRIPTIONS,
        tools::{Args, DynamicTool, FromContext, Json, State},
    },
    gate::{Leniencies, Leniency, Policy},
    lint::Profile,
    needs::RequiredCapabilities,
    peer::{
        DEFAULT_LOG_LEVEL, MAX_CLIENT_NAME, MAX_RESOURCE_SUBSCRIPTION_BYTES,
        MAX_RESOURCE_SUBSCRIPTION_BYTES_IN_ALL, MAX_RESOURCE_SUBSCRIPTIONS, MAX_SESSION_FACTS,
        OUTBOX_BYTES, OUTBOX_LIMIT,
    },
    principal::Principal,
    server::{
        DEFAULT_ASK_EXPIRY, DEFAULT_ASK_ROUNDS, DEFAULT_ASK_STATE, DEFAULT_ASK_TIMEOUT,
        DEFAULT_MAX_ASKS, DEFAULT_MAX_CHECK_STEPS, DEFAULT_MAX_IN_FLIGHT, DEFAULT_MAX_SESSION_ASKS,
        DEFAULT_MAX_UNREAD, DEFAULT_PAGE_SIZE, DefinitionName, LintFinding, Loss, LossRule, Plugin,
        Server, ServerHandle, Service,
    },
    trace::TraceContext,
};

#[cfg(feature = "tracing-log")]
#[doc(inline)]
pub use self::client_log::{ClientEvent, ClientLog, MAX_CLIENT_EVENT, REDACTED_FIELDS};

#[cfg(feature = "http")]
#[doc(inline)]
pub use self::transport::http::HttpConfig;

/// The examples of the README, as doctests. Two of them use these features.
#[cfg(all(doctest, feature = "client-process", feature = "http"))]
#[doc = include_str!("../../README.md")]
struct Readme;
