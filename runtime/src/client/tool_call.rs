//! Calling a tool: arguments from any serialisable value, answers to the server's questions on the way.

use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
    time::Duration,
};

use trueform_schema::{
    CallToolOutcome, CallToolRequestParams, CallToolResult, DecodeError, Era, InputRequiredResult,
    InputResponse, Json, JsonObject, LoggingLevel, Map, Method, ProgressNotificationParams,
    Revision, decode,
};

use super::{
    Client,
    error::{ClientError, LocalError},
    gate::ClientCall,
    request::RequestOptions,
};

/// Most times a server is given the input it asks for within one call.
const MOST_ROUNDS: u32 = 16;

/// A tool call that is sent when awaited, and cancelled when its future is dropped before the answer came.
#[must_use = "a call is sent when it is awaited"]
pub struct ToolCall {
    client: Client,
    params: Result<CallToolRequestParams, ClientError>,
    plan: RequestOptions,
}

impl ToolCall {
    pub(super) fn new(
        client: Client,
        name: String,
        arguments: Result<Json, serde_json::Error>,
    ) -> Self {
        let params = CallToolRequestParams::new(name);
        let params = match arguments
            .map(|arguments| (arguments.is_null(), JsonObject::try_from(arguments)))
        {
            Ok((true, _)) => Ok(params),
            Ok((false, Ok(arguments))) => Ok(params.with_arguments(arguments)),
            Ok((false, Err(error))) => {
                Err(LocalError::Encode(format!("arguments: {error}")).into())
            }
            Err(error) => Err(LocalError::Encode(format!("arguments: {error}")).into()),
        };
        Self {
            client,
            params,
            plan: RequestOptions::default(),
        }
    }

    /// Longest wait for the answer, instead of the client's.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.plan.timeout = Some(timeout);
        self
    }

    /// Asks for progress and calls `report` with each report that arrives before the answer, in order.
    pub fn on_progress(
        mut self,
        report: impl FnMut(ProgressNotificationParams) + Send + 'static,
    ) -> Self {
        self.plan.on_progress(report);
        self
    }

    /// Asks for log messages of at least this level; see [`Request::log_level`](super::Request::log_level).
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.plan.log_level = Some(level);
        self
    }

    async fn run(self) -> Result<CallToolResult, ClientError> {
        let Self {
            client,
            params,
            mut plan,
        } = self;
        let mut params = params?;
        let call = ClientCall::of(Method::CallTool, client.revision());
        for _ in 0..MOST_ROUNDS {
            let round = RequestOptions {
                timeout: plan.timeout,
                on_progress: plan.on_progress.take(),
                log_level: plan.log_level.clone(),
            };
            let result = client.send(&call, &params, round)?.await?;
            match client.received(Method::CallTool.as_str(), &result)? {
                CallToolOutcome::Complete(result) => return Ok(result),
                // T-5, T-6, T-7: the same params, the answers, the state as it came, a new id.
                CallToolOutcome::InputRequired(asked) => {
                    check_asked(&asked, client.revision())?;
                    let (responses, state) = answers(&client, asked).await?;
                    params.input_responses = responses;
                    params.request_state = state;
                }
                CallToolOutcome::Task(_) => {
                    let problem = "the call became a task, which it did not ask for";
                    return Err(DecodeError::new("", problem).into());
                }
                _ => {
                    let revision = client.revision();
                    return Err(LocalError::Unavailable("a result of this kind", revision).into());
                }
            }
        }
        Err(LocalError::TooManyRounds(MOST_ROUNDS).into())
    }
}

/// Whether `asked` is something that a call can be repeated with, whatever the policy lets in: a call that is not wanted
/// again may be one that must not happen twice.
// T-2
fn check_asked(asked: &InputRequiredResult, revision: Revision) -> Result<(), ClientError> {
    let problem = if revision.era() == Era::Legacy {
        format!("no result asks for input at {revision}")
    } else if asked.input_requests.as_ref().is_none_or(Map::is_empty)
        && asked.request_state.is_none()
    {
        "a result that asks for input needs `inputRequests`, `requestState`, or both".to_owned()
    } else {
        return Ok(());
    };
    tracing::warn!(problem, "a call is not repeated");
    Err(DecodeError::new("", problem).into())
}

type Answers = (Option<Map<InputResponse>>, Option<String>);

/// What the client's handler answers to everything that is asked.
async fn answers(client: &Client, asked: InputRequiredResult) -> Result<Answers, ClientError> {
    #[derive(serde::Deserialize)]
    struct Question {
        method: String,
        #[serde(default)]
        params: Option<Json>,
    }
    let encode =
        |error: serde_json::Error| ClientError::from(LocalError::Encode(error.to_string()));
    let Some(questions) = asked.input_requests else {
        return Ok((None, asked.request_state));
    };
    let questions: Map<Question> = Json::from_value(&questions)
        .and_then(|json| json.parse())
        .map_err(encode)?;
    let mut answers = Map::new();
    for (key, question) in questions {
        // GAP-8: there is no way to send a failure, so the call ends here.
        let asked = question.params.as_ref().map(Json::raw);
        if let Some(missing) = client.inner.link.gate.withheld(&question.method, asked) {
            let problem = format!("`{}` of the server, which needs {missing}", question.method);
            return Err(LocalError::NotAllowed(problem).into());
        }
        let answer = client
            .handler()
            .answer(&question.method, question.params)
            .await
            .map_err(|error| {
                LocalError::Encode(format!(
                    "the server's `{}` was not answered: {}",
                    question.method, error.message
                ))
            })?;
        answers.insert(key, answer);
    }
    let answers = Json::from_value(&answers).map_err(encode)?;
    Ok((Some(decode::from_str(answers.get())?), asked.request_state))
}

impl IntoFuture for ToolCall {
    type Output = Result<CallToolResult, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}
