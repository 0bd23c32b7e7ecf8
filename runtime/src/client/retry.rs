//! Sending a request again that got no answer, where that is safe.

use std::{future::Future, pin::Pin, time::Duration};

use serde::{Deserialize, de::IgnoredAny};
use trueform_schema::{At, Conform, Json, Method};

use super::{
    Client,
    call_options::{RequestOptions, SharedProgress},
    chance::{at_least, chance, doubled},
    error::{ClientError, LocalError},
    gate::ClientCall,
    link::Busy,
};

/// When and how often requests are sent again; set by [`ClientOptions::retry`](super::ClientOptions::retry).
///
/// Only these requests are sent again, because they have no effect: lists, `resources/read`, `prompts/get`, `completion/complete`,
/// `ping`, `server/discover`, `tasks/get`, and calls of tools that the server lists with `readOnlyHint` or `idempotentHint`. A call that
/// asked for input is not sent again.
///
/// They are sent again after a timeout. Over HTTP they are also sent again if there was no connection, if it broke, or if the server is
/// busy: status 408, 429, 502, 503 and 504. Each attempt has the request's whole timeout. The wait doubles with each attempt. A random
/// part of up to one half is subtracted, so that the clients of a server do not all return at once.
///
/// ```
/// use std::time::Duration;
/// use trueform::client::{ClientOptions, RetryPolicy};
///
/// let retry = RetryPolicy::attempts(3).wait(Duration::from_millis(100)).codes([-32603]);
/// let options = ClientOptions::new().retry(retry);
/// # let _ = options;
/// ```
#[derive(Clone, Debug)]
pub struct RetryPolicy {
    pub(super) attempts: u32,
    wait: Duration,
    longest_wait: Duration,
    codes: Vec<i64>,
}

impl RetryPolicy {
    /// The wait before the second attempt by default: 200 ms.
    pub const DEFAULT_WAIT: Duration = Duration::from_millis(200);
    /// The longest wait between two attempts by default: 10 s.
    pub const DEFAULT_LONGEST_WAIT: Duration = Duration::from_secs(10);

    /// Sets how many times a request is sent at most; at least 1, otherwise the client does not connect.
    #[must_use]
    pub fn attempts(attempts: u32) -> Self {
        Self {
            attempts,
            wait: Self::DEFAULT_WAIT,
            longest_wait: Self::DEFAULT_LONGEST_WAIT,
            codes: Vec::new(),
        }
    }

    /// The longest wait before the second attempt; it doubles with each further one. Zero: requests are sent again at once, unless the server
    /// asks to wait.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::client::RetryPolicy;
    ///
    /// let policy = RetryPolicy::attempts(3).wait(Duration::from_millis(100));
    /// ```
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// The longest wait between two attempts; zero: no waits. A server that asks for a longer one (`Retry-After`) does not get the request again:
    /// the error says how long it asks to wait, see [`HttpError::retry_after`](super::HttpError::retry_after).
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::client::RetryPolicy;
    ///
    /// let policy = RetryPolicy::attempts(3).longest_wait(Duration::from_secs(10));
    /// ```
    #[must_use]
    pub fn longest_wait(mut self, longest: Duration) -> Self {
        self.longest_wait = longest;
        self
    }

    /// Sends a request again also after an error of the server with one of these codes.
    ///
    /// ```
    /// use trueform::client::RetryPolicy;
    ///
    /// let policy = RetryPolicy::attempts(3).codes([-32603]);
    /// ```
    #[must_use]
    pub fn codes(mut self, codes: impl IntoIterator<Item = i64>) -> Self {
        self.codes = codes.into_iter().collect();
        self
    }

    /// Returns the wait before the next attempt, or `None` if the request is not made again. `attempt`, counted from one, has failed with
    /// `error`.
    /// `busy` is set if the server was busy.
    fn wait_after(
        &self,
        error: &ClientError,
        busy: Option<Option<Duration>>,
        attempt: u32,
        chance: f64,
    ) -> Option<Duration> {
        let asked = match error {
            ClientError::Remote(_) if busy.is_some() => busy.flatten(),
            ClientError::Remote(error) if self.codes.contains(&error.code) => None,
            ClientError::Local(LocalError::TimedOut(_)) => None,
            #[cfg(feature = "client-http")]
            ClientError::Local(LocalError::Http(error)) if error.may_pass() => error.retry_after(),
            _ => return None,
        };
        let own = doubled(self.wait, attempt - 1, self.longest_wait, chance);
        match asked {
            Some(asked) if asked > self.longest_wait => None,
            Some(asked) => Some(own.max(at_least(asked, chance))),
            None => Some(own),
        }
    }
}

/// Whether `method` has no effect, whatever its params.
fn is_read(method: Method) -> bool {
    matches!(
        method,
        Method::ListTools
            | Method::ListPrompts
            | Method::ListResources
            | Method::ListResourceTemplates
            | Method::ListTasks
            | Method::ReadResource
            | Method::GetPrompt
            | Method::Complete
            | Method::Ping
            | Method::Discover
            | Method::GetTask
    )
}

/// The future of an exchange that may take several attempts.
type Exchanging<'a> = Pin<Box<dyn Future<Output = Result<Json, ClientError>> + Send + 'a>>;

impl Client {
    /// Sends a request, again if `policy` says so.
    // Boxed: to know whether a call may be repeated, tools are listed, which is an exchange as well.
    pub(super) fn exchange_by<'a>(
        &'a self,
        policy: &'a RetryPolicy,
        call: &'a ClientCall,
        params: &'a (dyn Conform + Sync),
        mut plan: RequestOptions,
    ) -> Exchanging<'a> {
        Box::pin(async move {
            let progress = plan.on_progress.take().map(SharedProgress::new);
            let resumption = plan.resumption.take();
            let mut attempt = 1;
            loop {
                let mut one = plan.again(progress.as_ref().map(SharedProgress::callback));
                one.id = plan.id.take();
                one.resumption = resumption.as_deref().map(|tokens| Box::new(tokens.again()));
                let busy = Busy::default();
                one.busy = Some(busy.clone());
                let outcome = self.exchange_once(call, params, one).await;
                let Err(error) = &outcome else {
                    return outcome;
                };
                if attempt >= policy.attempts {
                    return outcome;
                }
                let busy = busy.get().copied();
                let wait = policy.wait_after(error, busy, attempt, chance());
                let Some(wait) = wait else {
                    return outcome;
                };
                if !self.may_repeat(call, params).await {
                    return outcome;
                }
                let error = error.to_string();
                tracing::debug!(method = call.method, %error, attempt, ?wait, "a request is sent again");
                tokio::time::sleep(wait).await;
                attempt += 1;
            }
        })
    }

    /// Whether a request may be sent again.
    async fn may_repeat(&self, call: &ClientCall, params: &(dyn Conform + Sync)) -> bool {
        /// What makes a difference.
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Sent {
            name: Option<String>,
            task: Option<IgnoredAny>,
            input_responses: Option<IgnoredAny>,
            request_state: Option<IgnoredAny>,
        }
        let sent = At::new(params, self.revision()).to_json();
        let (Some(method), Ok(sent)) = (Method::from_wire(call.method), sent.parse::<Sent>())
        else {
            return false;
        };
        if sent.task.is_some() || sent.input_responses.is_some() || sent.request_state.is_some() {
            return false;
        }
        let tool = sent.name.filter(|_| method == Method::CallTool);
        let Some(tool) = tool else {
            return is_read(method);
        };
        match self.known_tools().await {
            Ok(tools) => tools.is_repeatable(&tool),
            Err(error) => {
                tracing::debug!(%error, "the tools were not listed: the call is not sent again");
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use trueform_schema::ErrorObject;

    use super::*;
    use crate::client::timeout::{self, RequestTimeout};

    #[test]
    fn waits() {
        const ASKED: Option<Option<Duration>> = Some(Some(Duration::from_millis(1000)));
        let policy = RetryPolicy::attempts(9)
            .wait(Duration::from_millis(100))
            .longest_wait(Duration::from_millis(1500))
            .codes([7]);
        let remote = |code: i64| ClientError::Remote(ErrorObject::new(code, "no"));
        let timeout = RequestTimeout::new("ping", Duration::ZERO, timeout::OF_CLIENT);
        let timed_out = ClientError::Local(LocalError::TimedOut(Box::new(timeout)));
        for (error, busy, attempt, shortest, longest) in [
            (&timed_out, None, 1, Some(50), Some(100)),
            (&timed_out, None, 2, Some(100), Some(200)),
            (&timed_out, None, 5, Some(750), Some(1500)),
            (&timed_out, None, 100, Some(750), Some(1500)),
            (&remote(7), None, 1, Some(50), Some(100)),
            (&remote(8), None, 1, None, None),
            (&remote(8), Some(None), 1, Some(50), Some(100)),
            // Never less than what the server asks for.
            (&remote(8), ASKED, 1, Some(1000), Some(1100)),
            (&remote(7), ASKED, 9, Some(1000), Some(1500)),
            (
                &remote(8),
                Some(Some(Duration::from_secs(2))),
                1,
                None,
                None,
            ),
            (&LocalError::Closed.into(), None, 1, None, None),
        ] {
            let wait = |chance| {
                let wait = policy.wait_after(error, busy, attempt, chance);
                wait.map(|wait| wait.as_millis())
            };
            assert_eq!(
                (wait(0.0), wait(1.0)),
                (shortest, longest),
                "{error} {busy:?} {attempt}"
            );
        }
    }
}
