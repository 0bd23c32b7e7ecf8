//! Calling a tool, getting a prompt, reading a resource: arguments from any serialisable value, answers to the server's questions on
//! the way.

use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
};

use trueform_schema::{
    CallToolOutcome, CallToolRequestParams, CallToolResult, DecodeError, Era, GetPromptOutcome,
    GetPromptRequestParams, GetPromptResult, InputRequiredResult, InputResponse, Json, JsonObject,
    Map, Method, ReadResourceOutcome, ReadResourceRequestParams, ReadResourceResult, Revision,
    TaskMetadata, decode, methods,
};

use super::{
    Client,
    call_options::{RequestOptions, SharedProgress, call_options},
    error::{ClientError, LocalError},
    gate::ClientCall,
    link::LastingProgress,
    outcome::complete_first,
    task::StartedTask,
};

/// Most times a server is given the input it asks for within one call.
const MOST_ROUNDS: u32 = 16;

/// A call that is sent when awaited (`.await` returns the result, which has functions such as `text`), and cancelled when its future is dropped before the answer came. While the server asks for input,
/// the client's [`handler`](super::ClientOptions::handler) answers and the call is repeated.
#[must_use = "a call is sent when it is awaited"]
pub struct RepeatableCall<M: Repeatable> {
    client: Client,
    params: Result<M::Params, ClientError>,
    plan: RequestOptions,
    /// Whether it asks for a task of 2025-11-25.
    asks_for_task: bool,
}

/// A call of a tool.
pub type ToolCall = RepeatableCall<methods::CallTool>;
/// A request for a prompt.
pub type PromptCall = RepeatableCall<methods::GetPrompt>;
/// A request for a resource.
pub type ResourceCall = RepeatableCall<methods::ReadResource>;

/// A request to which a server may reply with questions. Not to be implemented elsewhere.
pub trait Repeatable: methods::Request<Params: Send, Result: Send> {
    /// What the request is for.
    type Output: Send + 'static;

    #[doc(hidden)]
    fn outcome(result: Self::Result) -> ServerReply<Self::Output>;

    /// What `text` replies.
    #[doc(hidden)]
    fn reply(client: &Client, text: &Json) -> Result<ServerReply<Self::Output>, ClientError> {
        client.outcome::<Self>(text).map(Self::outcome)
    }

    /// The outcome that `text` is.
    #[doc(hidden)]
    fn decode(text: &str) -> Result<Self::Result, DecodeError>;

    /// The end of the task that the request became.
    #[doc(hidden)]
    #[must_use]
    fn awaited(client: Client, task: StartedTask) -> Awaited<Self::Output> {
        drop((client, task));
        Box::pin(std::future::ready(Err(not_asked_for())))
    }

    #[doc(hidden)]
    fn repeat(
        params: &mut Self::Params,
        responses: Option<Map<InputResponse>>,
        state: Option<String>,
    );
}

/// The wait for the end of a task.
type Awaited<T> = Pin<Box<dyn Future<Output = Result<T, ClientError>> + Send>>;

/// What became of a call.
pub(super) enum Begun<T> {
    Complete(T),
    Task(StartedTask, Option<LastingProgress>),
}

fn not_asked_for() -> ClientError {
    let problem = "the call became a task, which it did not ask for";
    DecodeError::new("", problem).into()
}

/// What a server may reply.
#[derive(Debug)]
pub enum ServerReply<T> {
    Complete(T),
    InputRequired(Box<InputRequiredResult>),
    Task(StartedTask),
    Unknown,
}

macro_rules! repeatable {
    ($($method:ident, $outcome:ident, $result:ident $(, $task:ident)? $({ $($more:item)* })?;)*) => {$(
        impl Repeatable for methods::$method {
            type Output = $result;

            fn outcome(result: $outcome) -> ServerReply<$result> {
                match result {
                    $outcome::Complete(result) => ServerReply::Complete(result),
                    $outcome::InputRequired(asked) => ServerReply::InputRequired(Box::new(asked)),
                    $($outcome::$task(task) => ServerReply::Task(task.into()),)?
                    _ => ServerReply::Unknown,
                }
            }

            $($($more)*)?

            fn decode(text: &str) -> Result<$outcome, DecodeError> {
                complete_first::<$result, $outcome>(text)
            }

            fn repeat(
                params: &mut Self::Params,
                responses: Option<Map<InputResponse>>,
                state: Option<String>,
            ) {
                params.input_responses = responses;
                params.request_state = state;
            }
        }
    )*};
}

repeatable! {
    CallTool, CallToolOutcome, CallToolResult, Task {
        fn reply(client: &Client, text: &Json) -> Result<ServerReply<CallToolResult>, ClientError> {
            match client.takes_tasks() {
                true => client.reply_with_tasks(text),
                false => client.outcome::<Self>(text).map(Self::outcome),
            }
        }

        fn awaited(client: Client, task: StartedTask) -> Awaited<CallToolResult> {
            // W-12: a client that did not declare tasks does not get any.
            match client.takes_tasks() {
                true => Box::pin(task.awaited(client)),
                false => Box::pin(std::future::ready(Err(not_asked_for()))),
            }
        }
    };
    GetPrompt, GetPromptOutcome, GetPromptResult;
    ReadResource, ReadResourceOutcome, ReadResourceResult;
}

impl ToolCall {
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// The name of the tool; `None` if the arguments could not be encoded.
    pub(super) fn tool(&self) -> Option<&str> {
        let params = self.params.as_ref().ok()?;
        Some(&params.name)
    }

    /// Makes the call run as a task of 2025-11-25.
    pub(super) fn ask_for_task(&mut self, task: TaskMetadata) {
        self.asks_for_task = true;
        if let Ok(params) = &mut self.params {
            params.task = Some(task);
        }
    }

    pub(super) fn of_tool(
        client: Client,
        name: String,
        arguments: Result<Json, serde_json::Error>,
    ) -> Self {
        let params = object(arguments).map(|arguments| {
            let mut params = CallToolRequestParams::new(name);
            params.arguments = arguments;
            params
        });
        Self::new(client, params)
    }
}

impl PromptCall {
    pub(super) fn of_prompt(
        client: Client,
        name: String,
        arguments: Result<Json, serde_json::Error>,
    ) -> Self {
        let arguments = object(arguments).and_then(|arguments| arguments.map(texts).transpose());
        let params = arguments.map(|arguments| {
            let mut params = GetPromptRequestParams::new(name);
            params.arguments = arguments;
            params
        });
        Self::new(client, params)
    }
}

impl ResourceCall {
    pub(super) fn of_resource(client: Client, uri: String) -> Self {
        Self::new(client, Ok(ReadResourceRequestParams::new(uri)))
    }
}

/// Arguments as an object; `None` for nothing.
fn object(arguments: Result<Json, serde_json::Error>) -> Result<Option<JsonObject>, ClientError> {
    let encode = |error: &dyn fmt::Display| LocalError::Encode(format!("arguments: {error}"));
    let arguments = arguments.map_err(|error| encode(&error))?;
    if arguments.is_null() {
        return Ok(None);
    }
    let object = JsonObject::try_from(arguments).map_err(|error| encode(&error))?;
    Ok(Some(object))
}

/// The members of `arguments` as texts (K-3). Numbers and flags become what they are written as; `null` is left out.
fn texts(arguments: JsonObject) -> Result<Map<String>, ClientError> {
    let mut texts = Map::new();
    let members: Map<Json> = Json::from(arguments)
        .parse()
        .map_err(|error| LocalError::Encode(format!("arguments: {error}")))?;
    for (name, value) in members {
        let text = match value.to_value() {
            serde_json::Value::Null => continue,
            serde_json::Value::String(text) => text,
            serde_json::Value::Number(_) | serde_json::Value::Bool(_) => value.get().to_owned(),
            serde_json::Value::Array(_) | serde_json::Value::Object(_) => {
                let problem = format!("arguments: `{name}` of a prompt is not a text");
                return Err(LocalError::Encode(problem).into());
            }
        };
        texts.insert(name, text);
    }
    Ok(texts)
}

call_options!(impl[M: Repeatable] RepeatableCall<M>);

impl<M: Repeatable> RepeatableCall<M> {
    fn new(client: Client, params: Result<M::Params, ClientError>) -> Self {
        Self {
            client,
            params,
            plan: RequestOptions::default(),
            asks_for_task: false,
        }
    }

    async fn run(self) -> Result<M::Output, ClientError> {
        let client = self.client.clone();
        match self.begin().await? {
            Begun::Complete(result) => Ok(result),
            Begun::Task(task, _) => M::awaited(client, task).await,
        }
    }

    /// Sends the call, and repeats it while the server asks for input.
    pub(super) async fn begin(self) -> Result<Begun<M::Output>, ClientError> {
        let Self {
            client,
            params,
            mut plan,
            asks_for_task,
        } = self;
        let mut params = params?;
        let mut lasting = None;
        let mut progress = None;
        match plan.on_progress.take() {
            // N-4: the token stands for the task as well.
            Some(report) if asks_for_task => {
                lasting = Some(client.inner.link.report_on(report));
            }
            report => progress = report.map(SharedProgress::new),
        }
        let call = ClientCall::of(M::METHOD, client.revision());
        for _ in 0..MOST_ROUNDS {
            let mut round = plan.again(progress.as_ref().map(SharedProgress::callback));
            round.id = lasting.as_ref().map(LastingProgress::token);
            let result = client.exchange(&call, &params, round).await?;
            match M::reply(&client, &result)? {
                ServerReply::Complete(result) => return Ok(Begun::Complete(result)),
                // T-5, T-6, T-7: the same params, the answers, the state as it came, a new id.
                ServerReply::InputRequired(asked) => {
                    check_asked(&asked, client.revision())?;
                    let (responses, state) = answers(&client, *asked).await?;
                    M::repeat(&mut params, responses, state);
                }
                ServerReply::Task(task) => return Ok(Begun::Task(task, lasting)),
                ServerReply::Unknown => {
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
pub(super) async fn answers(
    client: &Client,
    asked: InputRequiredResult,
) -> Result<Answers, ClientError> {
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
        let core = Method::from_wire(&question.method);
        if let Some(core) = core {
            let gate = &client.inner.link.gate;
            gate.check_question(core, question.params.as_ref())
                .map_err(|fault| {
                    LocalError::NotAllowed(format!("`{}` of the server: {fault}", question.method))
                })?;
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
        if let Some(core) = core {
            let gate = &client.inner.link.gate;
            gate.check_answer(core, &answer).map_err(|problem| {
                LocalError::NotAllowed(format!("the answer to `{}`: {problem}", question.method))
            })?;
        }
        answers.insert(key, answer);
    }
    let answers = Json::from_value(&answers).map_err(encode)?;
    Ok((Some(decode::from_str(answers.get())?), asked.request_state))
}

impl<M: Repeatable> IntoFuture for RepeatableCall<M> {
    type Output = Result<M::Output, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M: Repeatable> fmt::Debug for RepeatableCall<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("method", &M::METHOD)
            .finish_non_exhaustive()
    }
}
