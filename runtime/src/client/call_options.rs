//! What a caller can decide about one request, and the methods that all requests have for it.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use trueform_schema::{LoggingLevel, ProgressNotificationParams, RequestId, methods};

use super::{
    link::{Busy, OnProgress},
    notified::Notified,
    resumption::Resumption,
};
use crate::{contained::contained, jsonrpc};

/// What a caller can decide about one request.
#[derive(Default)]
pub(super) struct RequestOptions {
    pub(super) timeout: Option<Duration>,
    /// Longest wait in all, if progress resets the clock.
    pub(super) longest: Option<Duration>,
    pub(super) on_progress: Option<OnProgress>,
    pub(super) log_level: Option<LoggingLevel>,
    /// The id of the request, if its progress callback is registered under it already.
    pub(super) id: Option<RequestId>,
    /// Where to note that the server is busy.
    pub(super) busy: Option<Busy>,
    /// What the first request of the call does with event ids.
    pub(super) resumption: Option<Box<Resumption>>,
}

impl RequestOptions {
    pub(super) fn on_progress(
        &mut self,
        mut report: impl FnMut(ProgressNotificationParams) + Send + 'static,
    ) {
        self.on_progress = Some(Box::new(move |notified: Notified| match notified
            .get::<methods::Progress>()
        {
            Ok(Some(params)) => report(params),
            Ok(None) => {}
            Err(error) => {
                let error = error.to_string();
                tracing::warn!(
                    error = &*jsonrpc::sentence(&error),
                    "a progress report does not have its form"
                );
            }
        }));
    }

    pub(super) fn resumption(&mut self) -> &mut Resumption {
        self.resumption.get_or_insert_default()
    }

    /// Whether the answer to another client's request is taken.
    pub(super) fn resumes(&self) -> bool {
        let resumption = self.resumption.as_ref();
        resumption.is_some_and(|resumption| resumption.event().is_some())
    }

    /// The same options for one more request of a call.
    pub(super) fn again(&mut self, on_progress: Option<OnProgress>) -> Self {
        Self {
            timeout: self.timeout,
            longest: self.longest,
            on_progress,
            log_level: self.log_level.clone(),
            id: None,
            busy: None,
            resumption: self.resumption.take(),
        }
    }
}

/// A progress callback for all requests that a call takes.
pub(super) struct SharedProgress(Arc<Slot>);

#[derive(Default)]
struct Slot(Mutex<Option<OnProgress>>);

impl SharedProgress {
    pub(super) fn new(callback: OnProgress) -> Self {
        Self(Arc::new(Slot(Mutex::new(Some(callback)))))
    }

    /// The callback for one of the requests.
    pub(super) fn callback(&self) -> OnProgress {
        let slot = self.0.clone();
        Box::new(move |notified| {
            // It is taken out while it runs, so one that panics is not called again.
            let callback = slot.lock().take();
            if let Some(mut callback) = callback {
                callback(notified);
                *slot.lock() = Some(callback);
            }
        })
    }
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<OnProgress>> {
        // Nothing that can panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the callback holds belongs to the caller, and may panic when it is dropped.
impl Drop for Slot {
    fn drop(&mut self) {
        let callback = self.lock().take();
        contained("a progress callback", move || drop(callback));
    }
}

/// Gives a type with a `plan` of [`RequestOptions`] the methods that set them.
macro_rules! call_options {
    (impl[$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// Sets the longest wait for the answer, instead of the client's [`timeout`](crate::client::ClientOptions::timeout); zero: no wait.
            /// When it is over, the server is notified that the request is cancelled, unless it is [resumed](Self::resume_from), and the call
            /// ends with
            /// [`LocalError::TimedOut`](crate::client::LocalError::TimedOut).
            ///
            /// ```
            /// use std::time::Duration;
            /// use trueform::prelude::*;
            ///
            /// /// Add two numbers.
            /// #[tool]
            /// fn add(a: i64, b: i64) -> i64 {
            ///     a + b
            /// }
            ///
            /// # #[tokio::main(flavor = "current_thread")]
            /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
            /// let client = Server::new("calc", "1.0.0").tools(tools![add]).connect().await?;
            /// let arguments = serde_json::json!({ "a": 2, "b": 3 });
            /// let sum = client.call_tool("add", arguments).timeout(Duration::from_secs(5)).await?;
            /// assert_eq!(sum.text(), "5");
            /// # Ok(())
            /// # }
            /// ```
            pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
                self.plan.timeout = Some(timeout);
                self
            }

            /// Starts the clock anew whenever progress is reported, up to `longest` in all, instead of what the client's
            /// [`reset_by_progress`](crate::client::ClientOptions::reset_by_progress) says. Asks for progress.
            ///
            /// ```
            /// use std::time::Duration;
            /// use trueform::prelude::*;
            ///
            /// /// Add two numbers.
            /// #[tool]
            /// fn add(a: i64, b: i64) -> i64 {
            ///     a + b
            /// }
            ///
            /// # #[tokio::main(flavor = "current_thread")]
            /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
            /// let client = Server::new("calc", "1.0.0").tools(tools![add]).connect().await?;
            /// let arguments = serde_json::json!({ "a": 2, "b": 3 });
            /// let sum = client.call_tool("add", arguments).reset_by_progress(Duration::from_secs(600)).await?;
            /// assert_eq!(sum.text(), "5");
            /// # Ok(())
            /// # }
            /// ```
            pub fn reset_by_progress(mut self, longest: std::time::Duration) -> Self {
                self.plan.longest = Some(longest);
                self
            }

            /// Asks for progress and calls `report` with each report that arrives before the answer, in order. A call that
            /// runs [as a task](crate::client::ToolCall::as_task) of 2025-11-25 is reported on until the task has ended or its
            /// [`ToolTask`](crate::client::ToolTask) is dropped.
            ///
            /// ```
            /// use trueform::prelude::*;
            ///
            /// /// Add two numbers.
            /// #[tool]
            /// fn add(a: i64, b: i64) -> i64 {
            ///     a + b
            /// }
            ///
            /// # #[tokio::main(flavor = "current_thread")]
            /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
            /// let client = Server::new("calc", "1.0.0").tools(tools![add]).connect().await?;
            /// let arguments = serde_json::json!({ "a": 2, "b": 3 });
            /// let sum = client.call_tool("add", arguments).on_progress(|report| println!("{}", report.progress)).await?;
            /// assert_eq!(sum.text(), "5");
            /// # Ok(())
            /// # }
            /// ```
            pub fn on_progress(
                mut self,
                report: impl FnMut(trueform_schema::ProgressNotificationParams) + Send + 'static,
            ) -> Self {
                self.plan.on_progress(report);
                self
            }

            /// Asks for log messages of at least this level with this request; without it a modern server sends none. Has no
            /// effect in the legacy era, where `logging/setLevel` decides.
            ///
            /// ```
            /// use trueform::prelude::*;
            ///
            /// /// Add two numbers.
            /// #[tool]
            /// fn add(a: i64, b: i64) -> i64 {
            ///     a + b
            /// }
            ///
            /// # #[tokio::main(flavor = "current_thread")]
            /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
            /// let client = Server::new("calc", "1.0.0").tools(tools![add]).connect().await?;
            /// let arguments = serde_json::json!({ "a": 2, "b": 3 });
            /// let sum = client.call_tool("add", arguments).log_level(LoggingLevel::Warning).await?;
            /// assert_eq!(sum.text(), "5");
            /// # Ok(())
            /// # }
            /// ```
            pub fn log_level(mut self, level: trueform_schema::LoggingLevel) -> Self {
                self.plan.log_level = Some(level);
                self
            }

            /// Calls `report` with a token after each event of the answer's stream. If this client ends before the answer arrives,
            /// another client can get the rest of the answer with the last token: see [`resume_from`](Self::resume_from). The token is
            /// the id of the event. If the server gives its events no ids, `report` is not called.
            ///
            /// Only the first request of a call has tokens, each time that it is sent. Only Streamable HTTP has them, up to 2025-11-25: elsewhere the call ends with
            /// [`LocalError::NoResumption`](crate::client::LocalError::NoResumption) or
            /// [`LocalError::Unavailable`](crate::client::LocalError::Unavailable), and nothing is sent.
            ///
            /// ```
            /// use std::sync::{Arc, Mutex};
            /// use trueform::{client::ClientError, prelude::*};
            ///
            /// /// Calls a tool that takes long, and keeps in `last` what another client needs to take the answer.
            /// async fn report(client: &Client, last: Arc<Mutex<String>>) -> Result<String, ClientError> {
            ///     let call = client.call_tool("report", ()).on_resumption_token(move |token| {
            ///         *last.lock().unwrap() = token.to_owned();
            ///     });
            ///     Ok(call.await?.text())
            /// }
            /// ```
            pub fn on_resumption_token(mut self, report: impl FnMut(&str) + Send + 'static) -> Self {
                self.plan.resumption().on_token(report);
                self
            }

            /// Does not send the request, but gets the rest of the answer to the same request of an earlier client, from the event after
            /// `token`. Earlier parts of the stream, such as progress reports, are not repeated. The client must continue the session of
            /// the earlier client: see `HttpEndpoint::session`. A token belongs to one request; the params given here are not sent.
            ///
            /// A resumed request is not sent again by a [`RetryPolicy`](crate::client::RetryPolicy). One that is dropped or runs out of time is
            /// not cancelled: the server knows the request under the id that the earlier client gave it. A token has 1 to 4,096 bytes and no
            /// control characters. Where there are no tokens, the call ends as
            /// [`on_resumption_token`](Self::on_resumption_token) says.
            ///
            /// ```
            /// use trueform::{client::ClientError, prelude::*};
            ///
            /// /// Takes the answer to a call that an earlier client of the same session made.
            /// async fn rest_of_report(client: &Client, token: &str) -> Result<String, ClientError> {
            ///     Ok(client.call_tool("report", ()).resume_from(token).await?.text())
            /// }
            /// ```
            pub fn resume_from(mut self, token: impl Into<String>) -> Self {
                self.plan.resumption().resume_from(token.into());
                self
            }
        }
    };
}
pub(super) use call_options;
