//! Sending a request again that got no answer, where that is safe.

use std::{future::Future, pin::Pin, time::Duration};

use serde::{Deserialize, de::IgnoredAny};
use trueform_schema::{At, Conform, Json, Method};

use super::{
    Client,
    call_options::{RequestOptions, SharedProgress},
    error::{ClientError, LocalError},
    gate::ClientCall,
};

/// When and how often requests are sent again; set by [`ClientOptions::retry`](super::ClientOptions::retry).
///
/// Only requests that have no effect are: lists, `resources/read`, `prompts/get`, `completion/complete`, `ping`, `server/discover`, `tasks/get`,
/// and calls of tools that the server lists as `readOnlyHint` or `idempotentHint`. A call that asked for input is not
/// sent again.
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
    attempts: u32,
    wait: Duration,
    longest_wait: Duration,
    codes: Vec<i64>,
}

impl RetryPolicy {
    /// The wait before the second attempt by default: 200 ms.
    pub const DEFAULT_WAIT: Duration = Duration::from_millis(200);
    /// The longest wait between two attempts by default: 10 s.
    pub const DEFAULT_LONGEST_WAIT: Duration = Duration::from_secs(10);

    /// Sends a request at most so many times in all, after it has run out of time.
    #[must_use]
    pub fn attempts(attempts: u32) -> Self {
        Self {
            attempts,
            wait: Self::DEFAULT_WAIT,
            longest_wait: Self::DEFAULT_LONGEST_WAIT,
            codes: Vec::new(),
        }
    }

    /// The wait before the second attempt; each further one is twice as long.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// The longest wait between two attempts.
    #[must_use]
    pub fn longest_wait(mut self, longest: Duration) -> Self {
        self.longest_wait = longest;
        self
    }

    /// Sends a request again also after an error of the server with one of these codes.
    #[must_use]
    pub fn codes(mut self, codes: impl IntoIterator<Item = i64>) -> Self {
        self.codes = codes.into_iter().collect();
        self
    }

    fn is_worth_it(&self, error: &ClientError) -> bool {
        match error {
            ClientError::Remote(error) => self.codes.contains(&error.code),
            ClientError::Local(error) => matches!(error, LocalError::TimedOut(_)),
        }
    }

    /// The wait after `attempt`, counted from one.
    fn wait_after(&self, attempt: u32) -> Duration {
        let factor = 2_u32.saturating_pow(attempt - 1);
        self.wait.saturating_mul(factor).min(self.longest_wait)
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
            let mut attempt = 1;
            loop {
                let mut one = plan.again(progress.as_ref().map(SharedProgress::callback));
                one.id = plan.id.take();
                let outcome = self.exchange_once(call, params, one).await;
                let Err(error) = &outcome else {
                    return outcome;
                };
                if attempt >= policy.attempts
                    || !policy.is_worth_it(error)
                    || !self.may_repeat(call, params).await
                {
                    return outcome;
                }
                let wait = policy.wait_after(attempt);
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
