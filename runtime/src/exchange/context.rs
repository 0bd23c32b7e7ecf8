//! What a handler can read about the request that it serves, and send while it works.

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
    /// Returns the revision of the specification that this request is made at.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.0.revision()
    }

    /// Returns the method of the request, such as `tools/call`, or of the notification of an extension that a handler receives.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.0.method
    }

    /// Returns the id of the request. The notification of an extension has no id: there it is 0 and identifies nothing.
    #[must_use]
    pub fn request_id(&self) -> &RequestId {
        &self.0.id
    }

    /// Returns the name and version that the client sent. Always present in the legacy era, optional in the modern era. Do not trust it.
    #[must_use]
    pub fn client_info(&self) -> Option<&Implementation> {
        self.0.peer().client_info.as_ref()
    }

    /// Returns the capabilities that the client declared with this request or at `initialize`.
    #[must_use]
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        &self.0.peer().capabilities
    }

    /// Returns the authenticated caller, if a layer in front of the server set one.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.0.transport.principal.as_ref()
    }

    /// Returns the id of the legacy HTTP session. It is an address, not a proof of identity.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        self.0.session.as_ref()?.id()
    }

    /// Returns data of the transport: over HTTP, the `http::request::Parts` of the request.
    #[must_use]
    pub fn extension<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.transport.extension.as_deref()?.downcast_ref()
    }

    /// Returns the value that [`Server::state`](crate::Server::state) registered for `T`.
    #[must_use]
    pub fn state<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.host.state()
    }

    /// Returns the member `key` of the request's `_meta`, such as a key of an extension. Members that the protocol defines are not
    /// included: [`progress`](Self::progress) and [`log`](Self::log) use the progress token and the log level, and
    /// [`client_info`](Self::client_info) and [`client_capabilities`](Self::client_capabilities) return what the client says about itself.
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

    /// Returns the trace that the request belongs to, if its `_meta` has a valid `traceparent`.
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
    /// value; a member that the handler itself puts into its result has precedence.
    ///
    /// If a key is reserved for the protocol, or does not have the form that the specification requires, the result is not sent: the client
    /// gets -32603, and the log has the reason. A value that serde cannot write as JSON is left out, and the log reports it. A response
    /// that is a JSON-RPC error has no `_meta`.
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

    /// Reports progress to the client: `progress` of `total` in any unit, and `message` if the revision has it.
    ///
    /// Does nothing if the client did not ask for progress, or if `progress` is not greater than the last reported value. The report is
    /// queued at once; if a client reads too slowly, a newer report replaces it. If the handler awaits the returned value, it waits for its
    /// client instead, see [`Sent`].
    #[expect(clippy::must_use_candidate, reason = "called for what it does")]
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> Sent<'_> {
        self.0.report_progress(progress, total, message)
    }

    /// Sends a log message to the client, if it wants messages of that level.
    ///
    /// Meant for people who operate the client, not for the model. Must not contain secrets. The message is queued at once; if a client
    /// reads too slowly, messages are lost. If the handler awaits the returned value, it waits for its client instead, see [`Sent`].
    pub fn log(&self, level: LoggingLevel, data: impl Serialize) -> Sent<'_> {
        match Json::from_value(&data) {
            Ok(data) => self.0.log(level, None, data),
            Err(error) => {
                tracing::warn!(%error, "a log message that is not JSON was dropped");
                Sent::nothing(&self.0)
            }
        }
    }

    /// Returns whether the client no longer wants the answer.
    ///
    /// An async tool is dropped at its next await when that happens; blocking code can check this.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.is_fired()
    }

    /// Completes when the client no longer wants the answer.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        Fired::new(self.0.clone(), |exchange: &Exchange| &exchange.cancelled)
    }

    /// Ends the response stream now, while the call continues. The client gets the answer when it resumes the stream.
    ///
    /// Has an effect only over Streamable HTTP at 2025-11-25, where the client has an event id to resume from.
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
