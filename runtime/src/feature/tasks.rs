//! Tasks: calls of tools that continue after their response, and whose results clients fetch later.
//!
//! A tool marked `#[tool(task = optional)]` or `#[tool(task = required)]` is an ordinary tool. Its calls run as tasks if the client
//! supports tasks:
//!
//! * at 2025-11-25, where tasks belong to the core, if the call asks for it;
//! * at 2026-07-28, if the client declares the extension `io.modelcontextprotocol/tasks` with the call;
//! * at older revisions never.
//!
//! Other calls of a tool with `task = optional` run as ordinary calls. See [`TaskMode`] for other calls of a tool with `task = required`.
//!
//! A task runs separately from the request that created it, and continues when the connection is closed. It ends when the tool returns,
//! fails, panics or exceeds its `timeout`, when the client cancels it, when its [time to live](TaskSettings::default_ttl) is over, and when
//! the server [stops](TaskSettings::drain). Its state and its result are kept in a [`TaskStore`](crate::store::TaskStore), by default in
//! memory. A synchronous tool runs without interruption on a thread of the runtime; mark it `blocking` if that takes long. Call
//! [layers](crate::layer) see the call when its task begins. If they refuse it, the refusal is the error of the task.
//!
//! A task belongs to the authenticated caller that created it. At 2025-11-25, a task without an authenticated caller belongs to the
//! session. At 2026-07-28, every client that knows the id of such a task can ask for it; ids have 128 random bits. For all others, the task
//! is unknown.
//!
//! The number of tasks that run at once is limited, in total and for each caller. Clients of 2026-07-28 without an authenticated caller
//! cannot be distinguished, so they share one limit, and one of them can use it up: see [`TaskSettings::max_running`].
//!
//! At 2025-11-25, a task reports progress with the token of the call and sends log messages until it ends. At 2026-07-28, it sends neither.
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
//! [`TaskSettings::poll_interval`] sets how often a client polls a task: set a short interval in tests.
// [W] The same code serves both forms. The store keeps the states; a task that runs in this process also has a `LiveTask`.

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
    /// A call runs as a task if its client wants this: at 2025-11-25, the client asks for it in the call; at 2026-07-28, it declares the
    /// extension `io.modelcontextprotocol/tasks` with the call. Other calls run as ordinary calls.
    Optional,
    /// Every call runs as a task if the revision has tasks: other calls are refused, with -32601 at 2025-11-25 and with -32021 at
    /// 2026-07-28. Older revisions have no tasks: their calls run as ordinary calls, however long that takes.
    // W-3, W-18
    Required,
}

impl TaskMode {
    /// Returns the mode in the form of `tools/list` at 2025-11-25 (W-2).
    pub(crate) fn execution(self) -> ToolExecution {
        ToolExecution::new().with_task_support(match self {
            Self::Optional => TaskSupport::Optional,
            Self::Required => TaskSupport::Required,
        })
    }
}
