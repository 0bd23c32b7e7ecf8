//! A layer that writes an audit log.

use std::{fmt, time::Duration, time::Instant};

use super::{CallEnd, CallInfo, CallLayer, CallScope};
use crate::{feature::failure::ToolError, jsonrpc::shortened};

/// Logs every call with one [`tracing`] event of level `INFO` and target [`AuditLog::TARGET`], when the call has ended.
///
/// | field | meaning |
/// | --- | --- |
/// | `principal` | the subject of the [`Principal`](crate::Principal); absent for a caller without one |
/// | `client` | the client's name and version; absent if the client does not send them; not to be trusted |
/// | `method` | the method of the request, such as `tools/call` |
/// | `name` | what was called, as [`CallInfo::name`] returns it |
/// | `outcome` | `ok`, `tool error`, `error` with the code, or `given up` for a call that was cancelled or dropped |
/// | `micros` | how long the call took, in microseconds |
/// | `bytes` | the size of the response; 0 without a response |
///
/// Arguments and results are never logged. Texts that a client may have chosen are escaped to one line, and truncated after
/// [`MAX_REPEATED`](crate::jsonrpc::MAX_REPEATED) characters.
///
/// If an outer layer refuses a call, the call does not reach this layer, so add this layer first to log every call. Requests that are
/// refused before anything is called, such as requests of unknown names, are not calls; the library logs them under its own targets.
///
/// ```
/// use trueform::{prelude::*, layer::AuditLog};
///
/// /// Add two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Server::new("calc", "1.0.0").tools(tools![add]).layer(AuditLog).connect().await?;
/// // INFO trueform::audit: client="trueform" method="tools/call" name="add" outcome="ok" micros=83 bytes=112
/// client.call_tool("add", serde_json::json!({ "a": 2, "b": 3 })).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditLog;

/// The value of [`AuditLog::TARGET`], which the macros of `tracing` cannot refer to.
const TARGET: &str = "trueform::audit";

impl AuditLog {
    /// The target of the events: `trueform::audit`.
    pub const TARGET: &str = TARGET;
}

impl CallLayer for AuditLog {
    fn begin(&self, call: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError> {
        let context = call.context();
        let subject = context.principal().map(|principal| principal.subject());
        let client = context.client_info().map(|client| &*client.name);
        Ok(Some(Box::new(AuditRecord {
            principal: subject.map(|text| shortened(text).into()),
            client: client.map(|text| shortened(text).into()),
            method: call.method(),
            name: shortened(call.name()).into(),
            begun: Instant::now(),
            is_logged: false,
        })))
    }
}

struct AuditRecord {
    principal: Option<Box<str>>,
    client: Option<Box<str>>,
    method: &'static str,
    name: Box<str>,
    begun: Instant,
    is_logged: bool,
}

impl AuditRecord {
    fn log(&mut self, outcome: &str, ran: Duration, bytes: usize) {
        self.is_logged = true;
        tracing::info!(
            target: TARGET,
            principal = self.principal.as_deref(),
            client = self.client.as_deref(),
            method = self.method,
            name = &*self.name,
            outcome,
            micros = u64::try_from(ran.as_micros()).unwrap_or(u64::MAX),
            bytes,
        );
    }
}

impl CallScope for AuditRecord {
    fn ended(mut self: Box<Self>, end: &CallEnd) {
        self.log(&end.outcome.to_string(), end.ran, end.response_bytes);
    }
}

impl Drop for AuditRecord {
    fn drop(&mut self) {
        if !self.is_logged {
            self.log("given up", self.begun.elapsed(), 0);
        }
    }
}

impl fmt::Debug for AuditRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("method", &self.method)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
