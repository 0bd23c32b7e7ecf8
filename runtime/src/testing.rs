//! Tools for testing servers and clients, besides [`client`](crate::client): a recorder of traffic, a checker of recorded traffic,
//! a snapshot of a server's contract, a user with scripted answers, and a client of an axum application without a socket.
//!
//! A server in production does not need this module. So it needs the feature `testing`; enable it only in `[dev-dependencies]`.
//!
//! ```
//! use trueform::{client::{Client, ClientOptions}, prelude::*, testing::{Checker, Recorder}};
//!
//! /// Add two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let service = Server::new("calc", "1.0.0").tools(tools![add]).build()?;
//! let (near, far) = tokio::io::duplex(4096);
//! let (reader, writer) = tokio::io::split(far);
//! tokio::spawn(async move { service.serve_stream(reader, writer).await });
//!
//! let recorder = Recorder::new();
//! let (reader, writer) = tokio::io::split(near);
//! let (reader, writer) = recorder.around_client(reader, writer);
//! let client = Client::over(reader, writer, ClientOptions::new()).await?;
//! client.call_tool("add", serde_json::json!({ "a": 2, "b": 3 })).await?;
//! client.close().await;
//!
//! assert_eq!(Checker::new().check(&recorder.transcript())?, []);
//! # Ok(())
//! # }
//! ```

mod checker;
mod contract;
#[doc(hidden)]
pub mod fuzz;
#[cfg(feature = "http")]
mod in_process_http;
mod recorder;
mod scripted_user;
mod transcript;

#[cfg(feature = "http")]
pub use self::in_process_http::InProcessHttp;
#[cfg(feature = "http")]
pub use self::recorder::{RecordedBody, RecordedResponse, RecordedService, RecorderLayer};
pub use self::{
    checker::{Checker, Severity, TrafficFinding},
    contract::{Change, Impact, assert_contract, changes, contract},
    recorder::{Recorded, Recorder},
    scripted_user::{Question, ScriptedUser, When},
    transcript::{Event, Record, Side, TranscriptError},
};
