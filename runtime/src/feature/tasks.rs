//! Tasks: calls of tools that go on after they are answered, and whose results clients fetch later.
//!
//! A tool marked `#[tool(task = optional)]` or `#[tool(task = required)]` is an ordinary tool, and its calls run as tasks where the
//! client can have them:
//!
//! * at 2025-11-25, where tasks belong to the core, if the call asks for it;
//! * at 2026-07-28, if the client declares the extension `io.modelcontextprotocol/tasks` with the call;
//! * at older revisions never.
//!
//! Other calls of a tool with `task = optional` are answered in place. See [`TaskMode`] for what becomes of those of `required`.
//!
//! A task runs apart from the request that made it, and goes on when the connection is closed. It ends when the tool returns, fails,
//! panics or overruns its `timeout`, when the client cancels it, when the time is over for which it is [kept](TaskSettings::default_ttl),
//! and when the server [stops](TaskSettings::drain). Its state and its result are kept in a [`TaskStore`](crate::store::TaskStore), in
//! memory unless another one is set. A synchronous tool runs in one go on a thread of the runtime; mark it `blocking` if that takes long.
//! Call [layers](crate::layer) see the call when its task begins, and what they refuse is the error of the task.
//!
//! A task belongs to the authenticated caller that made it, or at 2025-11-25 to the session of a call without one. At 2026-07-28 everybody who
//! knows the id of a task without an authenticated caller can ask for it; ids have 128 random bits. To all others a task is unknown.
//!
//! How many tasks run at once is bounded, in all and for each caller. Clients of 2026-07-28 without an authenticated caller cannot be
//! distinguished, so they share one bound, and one of them can use it up: see [`TaskSettings::max_running`].
//!
//! At 2025-11-25 progress is reported with the token of the call until the task ends, and log messages go on as well. At 2026-07-28 a task
//! sends neither.
//!
//! ```
//! use serde_json::json;
//! use trueform::{client::ClientOptions, prelude::*};
//!
//! /// Makes a report.
//! #[tool(task = optional, timeout = "10m")]
//! async fn report(year: u16) -> String {
//!     tokio::task::yield_now().await; // Work that takes a while.
//!     format!("the report of {year}")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::new("reports", "1.0.0").tools(tools![report]);
//! let client = server.connect_as(ClientOptions::at(Revision::V2025_11_25)).await?;
//! let task = client.call_tool("report", json!({ "year": 1999 })).as_task().await?;
//! assert!(task.id().is_some(), "the server may also answer at once");
//! // The task goes on here, and would if the connection ended.
//! let result = task.await?;
//! assert_eq!(result.text(), "the report of 1999");
//!
//! // At 2026-07-28 a client declares the extension.
//! let options = ClientOptions::new().extension("io.modelcontextprotocol/tasks");
//! # let server = Server::new("reports", "1.0.0").tools(tools![report]);
//! let client = server.connect_as(options).await?;
//! let task = client.call_tool("report", json!({ "year": 1999 })).as_task().await?;
//! assert_eq!(task.await?.text(), "the report of 1999");
//! # Ok(())
//! # }
//! ```
//!
//! A client looks after a task as often as [`TaskSettings::poll_interval`] says: set a short one in tests.
// [W] One room serves both forms. The store keeps the states; a task that runs in this process is a `LiveTask` besides.

use trueform_schema::{TaskSupport, ToolExecution};

mod asker;
mod begin;
mod core;
mod extension;
mod id;
mod listeners;
mod live;
mod questions;
mod room;
mod settings;
mod start;
mod state;
mod wire;

pub(crate) use self::{
    begin::{Asked, call},
    core::CoreRequest,
    extension::registered,
    listeners::ListenedTasks,
    room::Tasks,
};
pub use self::{
    listeners::MAX_LISTENED_TASKS,
    settings::{
        DEFAULT_MAX_RUNNING_TASKS, DEFAULT_MAX_RUNNING_TASKS_OF_ONE, DEFAULT_MAX_TASK_TTL,
        DEFAULT_TASK_DRAIN, DEFAULT_TASK_POLL_INTERVAL, DEFAULT_TASK_TTL, TaskSettings,
    },
    start::TaskStart,
};

/// Whether the calls of a tool run as tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskMode {
    /// A call runs as a task if its client wants that: at 2025-11-25 the client says so call by call, at 2026-07-28 by declaring the
    /// extension `io.modelcontextprotocol/tasks` with the call. Other calls are answered in place.
    Optional,
    /// Every call runs as a task where the revision has tasks: other calls are refused there, with -32601 at 2025-11-25, with -32021 at
    /// 2026-07-28. Older revisions have none, and their clients could not know: calls are answered in place, however long that takes.
    // W-3, W-18
    Required,
}

impl TaskMode {
    /// As `tools/list` shows it at 2025-11-25 (W-2).
    pub(crate) fn execution(self) -> ToolExecution {
        ToolExecution::new().with_task_support(match self {
            Self::Optional => TaskSupport::Optional,
            Self::Required => TaskSupport::Required,
        })
    }
}
