//! What a handler can know of the request it serves, and say while it works.

use std::{any::Any, fmt, future::Future, sync::Arc};

use serde::Serialize;
use trueform_schema::{
    ClientCapabilities, Implementation, Json, LoggingLevel, RequestId, Revision,
};

use super::{Exchange, Sent};
use crate::{principal::Principal, signal::Fired, trace::TraceContext};

/// The request that a tool, or the handler of an extension, serves.
///
/// A parameter of this type is injected; it is neither an argument nor part of the tool's schema. Clones are cheap and refer
/// to the same request.
///
/// ```
/// use trueform::prelude::*;
///
/// /// Counts to `n` and reports its progress.
/// #[tool]
/// async fn count(context: Context, n: u32) -> u32 {
///     for i in 1..=n {
///         context.progress(f64::from(i), Some(f64::from(n)), None);
///     }
///     n
/// }
/// ```
#[derive(Clone)]
pub struct Context(pub(crate) Arc<Exchange>);

impl Context {
    /// The revision of the specification that this request is made at.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.0.revision()
    }

    /// The method of the request, such as `tools/call`, or of the notification of an extension that a handler takes note of.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.0.method
    }

    /// The id of the request. The notification of an extension has no id: there it is 0 and identifies nothing.
    #[must_use]
    pub fn request_id(&self) -> &RequestId {
        &self.0.id
    }

    /// What the client calls itself. Always there in the legacy era, optional in the modern one; never to be trusted.
    #[must_use]
    pub fn client_info(&self) -> Option<&Implementation> {
        self.0.peer().client_info.as_ref()
    }

    /// What the client declared it can do, with this request or at `initialize`.
    #[must_use]
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        &self.0.peer().capabilities
    }

    /// The authenticated caller, where a layer in front of the server set one.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.0.transport.principal.as_ref()
    }

    /// The id of the legacy HTTP session. An address, not a proof of identity.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        self.0.session.as_ref()?.id()
    }

    /// Data of the transport: over HTTP the `http::request::Parts` of the request.
    #[must_use]
    pub fn extension<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.transport.extension.as_deref()?.downcast_ref()
    }

    /// The value that [`Server::state`](crate::Server::state) registered for `T`.
    #[must_use]
    pub fn state<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.host.state()
    }

    /// The member `key` of the request's `_meta`, such as a key of an extension. Members that the protocol
    /// defines are not among them: [`progress`](Self::progress) and [`log`](Self::log) use the progress token and the log level,
    /// and [`client_info`](Self::client_info) and [`client_capabilities`](Self::client_capabilities) return what the client says
    /// of itself.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// Says which batch of the client's the call belongs to.
    /// #[tool]
    /// fn batch(context: Context) -> Option<String> {
    ///     context.meta("com.example/batch")?.parse().ok()
    /// }
    /// ```
    #[must_use]
    pub fn meta(&self, key: &str) -> Option<&Json> {
        self.0.caller.meta.as_ref()?.get(key)
    }

    /// The trace that the request belongs to, if its `_meta` names one by a valid `traceparent`.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// Says which trace the call belongs to.
    /// #[tool]
    /// fn trace(context: Context) -> Option<String> {
    ///     Some(context.trace_context()?.trace_id().to_owned())
    /// }
    /// ```
    // SEP-414
    #[must_use]
    pub fn trace_context(&self) -> Option<TraceContext> {
        TraceContext::of(self.0.caller.meta.as_ref()?)
    }

    /// Adds a member to the `_meta` of the result, whatever the handler returns. A later call with the same key replaces the
    /// value; a member that the handler itself puts into its result wins.
    ///
    /// Keys that are reserved for the protocol, or are not of the form that the specification gives them, keep the result back:
    /// the client gets -32603, and the log says why. A value that serde cannot write as JSON is left out, and the log says so.
    /// A response that is a JSON-RPC error has no `_meta`.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::prelude::*;
    ///
    /// /// Says how long it took.
    /// #[tool]
    /// fn look(context: Context) -> &'static str {
    ///     context.set_result_meta("com.example/took-ms", 3);
    ///     "there"
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = Server::new("eyes", "1.0.0").tools(tools![look]).connect().await?;
    /// let result = serde_json::to_value(client.call_tool("look", ()).await?)?;
    /// assert_eq!(result["_meta"]["com.example/took-ms"], json!(3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_result_meta(&self, key: impl Into<String>, value: impl Serialize) {
        match Json::from_value(&value) {
            Ok(value) => self.0.set_result_meta(key.into(), value),
            Err(error) => {
                tracing::warn!(%error, "a value that is not JSON was left out of `_meta`")
            }
        }
    }

    /// Reports progress to the client: `progress` of `total` in any unit, and `message` where the revision has it.
    ///
    /// Does nothing if the client did not ask for progress, or if `progress` is not above what was reported before. The report
    /// is queued at once; when a client reads too slowly, a newer one takes its place. With an await a handler waits for its
    /// client instead, see [`Sent`].
    #[expect(clippy::must_use_candidate, reason = "called for what it does")]
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> Sent<'_> {
        self.0.report_progress(progress, total, message)
    }

    /// Sends a log message to the client, if it wants messages of that level.
    ///
    /// Meant for people who look after the client, not for the model. Must not hold secrets. The message is queued at once; when
    /// a client reads too slowly, messages are lost. With an await a handler waits for its client instead, see [`Sent`].
    pub fn log(&self, level: LoggingLevel, data: impl Serialize) -> Sent<'_> {
        match Json::from_value(&data) {
            Ok(data) => self.0.log(level, None, data),
            Err(error) => {
                tracing::warn!(%error, "a log message that is not JSON was dropped");
                Sent::nothing(&self.0)
            }
        }
    }

    /// Whether the client no longer wants the answer.
    ///
    /// An async tool is dropped at its next await when that happens; blocking code can look here.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.is_fired()
    }

    /// Completes when the client no longer wants the answer.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        Fired::new(self.0.clone(), |exchange: &Exchange| &exchange.cancelled)
    }

    /// Ends the response stream now and goes on working; the client fetches the answer by resuming.
    ///
    /// Has an effect only over Streamable HTTP at 2025-11-25, where the client was given an event id to resume from.
    pub fn close_stream(&self) {
        self.0.close_stream();
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("id", &self.0.id)
            .field("method", &self.0.method)
            .field("revision", &self.0.revision())
            .finish_non_exhaustive()
    }
}
