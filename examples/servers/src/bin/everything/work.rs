//! Long-running tools: log messages, progress and cancellation.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::sleep;
use trueform::prelude::*;

const STEP: Duration = Duration::from_millis(50);

/// How many calls of `wait_for_cancel` were cancelled.
#[derive(Default)]
pub(crate) struct CancelledCalls(AtomicU64);

/// Sends three log messages while it works.
#[tool(read_only)]
pub(crate) async fn test_tool_with_logging(context: Context) -> &'static str {
    context.log(LoggingLevel::Info, "Tool execution started");
    sleep(STEP).await;
    context.log(LoggingLevel::Info, "Tool processing data");
    sleep(STEP).await;
    context.log(LoggingLevel::Info, "Tool execution completed");
    "Logged three messages."
}

/// Sends a log message to clients that ask for them.
#[tool(read_only)]
pub(crate) fn test_logging_tool(context: Context) -> &'static str {
    context.log(
        LoggingLevel::Info,
        "A message for clients that ask for messages",
    );
    "Logged a message, if you wanted one."
}

/// Reports progress three times while it works.
#[tool(read_only)]
pub(crate) async fn test_tool_with_progress(context: Context) -> &'static str {
    for percent in [0.0, 50.0, 100.0] {
        context.progress(percent, Some(100.0), None);
        sleep(STEP).await;
    }
    "Done."
}

/// Ends the response stream before its answer, so that the client has to come back for it.
#[tool(read_only)]
pub(crate) async fn test_reconnection(context: Context) -> &'static str {
    context.close_stream();
    sleep(2 * STEP).await;
    "Reconnection worked: this answer was fetched by resuming the stream."
}

/// Reports progress once, then does nothing until it is cancelled, for a minute at most.
#[tool(read_only)]
pub(crate) async fn wait_for_cancel(
    context: Context,
    calls: State<CancelledCalls>,
) -> Result<(), ToolError> {
    // A cancelled tool is dropped where it waits, together with its values.
    let mut waiting = Waiting {
        calls: calls.0,
        cancelled: true,
    };
    context.progress(1.0, None, None);
    sleep(Duration::from_secs(60)).await;
    waiting.cancelled = false;
    Err(ToolError::new(
        "this call was not cancelled within a minute",
    ))
}

struct Waiting {
    calls: Arc<CancelledCalls>,
    cancelled: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.cancelled {
            self.calls.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Result of `cancelled_calls`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Count {
    /// Calls since the server started.
    count: u64,
}

/// Returns how many calls of `wait_for_cancel` were cancelled.
#[tool(read_only)]
pub(crate) fn cancelled_calls(calls: State<CancelledCalls>) -> Json<Count> {
    Json(Count {
        count: calls.0.0.load(Ordering::SeqCst),
    })
}

/// Notifies clients that the list of tools changed.
#[tool]
pub(crate) fn test_trigger_tool_change(context: Context) -> &'static str {
    context.server().notify_tools_changed();
    "Notified every client that listens."
}
