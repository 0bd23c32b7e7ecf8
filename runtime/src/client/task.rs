//! Calls that run as tasks: the core tasks of 2025-11-25 and the extension `io.modelcontextprotocol/tasks` of 2026-07-28, behind one
//! handle.

use std::{
    collections::HashSet,
    future::{Future, IntoFuture},
    pin::Pin,
    time::Duration,
};

use tokio::{runtime::Handle, time::Instant};
use trueform_schema::{
    CallToolOutcome, CallToolResult, CancelTaskRequestParams, CreateTaskResult, DecodeError, Era,
    GetTaskPayloadRequestParams, GetTaskRequestParams, InputRequest, InputRequiredResult, Json,
    JsonObject, Map, Method, Revision, TaskMetadata, TaskStatus,
    ext::tasks,
    methods::{self, AnyRequest},
};

use super::{
    Client, ToolCall,
    call::{Begun, ServerReply, answers},
    call_options::RequestOptions,
    deadline::deadline,
    error::{ClientError, LocalError},
    gate::ClientCall,
    link::LastingProgress,
    timeout::{self, RequestTimeout},
};
use crate::needs::declares_extension;

/// The method of calls of tools.
pub(super) const CALL_TOOL: &str = <methods::CallTool as AnyRequest>::METHOD;

/// How long is waited at least between two polls of a task, whatever interval the server names: 20 ms.
const LEAST_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long is waited between two polls of a task for which the server names no interval: 500 ms.
pub const DEFAULT_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// A call of a tool that is to run as a task; made by [`ToolCall::as_task`], sent when it is awaited.
#[must_use = "a call is sent when it is awaited"]
#[derive(Debug)]
pub struct TaskCall {
    call: ToolCall,
    ttl: Option<Duration>,
}

/// A call of a tool that may run as a task. The server decides: it may also have answered at once.
///
/// If this is dropped, the task goes on, and can be polled as long as the server keeps it. If it is awaited, as by
/// [`result`](Self::result), it returns the result of the call. While it waits, it polls the task at the interval that the server names,
/// but not more often than every 20 ms, or each [`DEFAULT_POLL_INTERVAL`]. The client's [`handler`](super::ClientOptions::handler) answers
/// the questions of the task.
#[derive(Debug)]
pub struct ToolTask {
    client: Client,
    state: State,
    /// Reports progress of the task until it is dropped.
    progress: Option<LastingProgress>,
}

#[derive(Debug)]
enum State {
    /// The server answered at once.
    Done(Box<CallToolResult>),
    Task(StartedTask),
}

/// What the server said of a task when it began.
#[derive(Clone, Debug)]
pub struct StartedTask {
    id: String,
    status: TaskStatus,
    poll_interval: Option<i64>,
}

/// What a poll found.
enum Polled {
    Waits(StartedTask),
    Asks(StartedTask, Map<InputRequest>),
    Done(Box<CallToolResult>),
    /// The result is to be fetched (2025-11-25).
    Fetch,
}

impl ToolCall {
    /// Runs the call as a task, if the server does so. Await the returned value to get a [`ToolTask`].
    ///
    /// At 2025-11-25 the call asks for a task, which the server must have declared. At 2026-07-28 the server decides, and the client
    /// must have [declared](super::ClientOptions::capabilities) the extension `io.modelcontextprotocol/tasks`; a client that did so
    /// gets the result of a task also from an awaited [`Client::call_tool`], which waits for it. Older revisions have no tasks
    /// ([`LocalError::Unavailable`]).
    // W-2
    pub fn as_task(self) -> TaskCall {
        TaskCall {
            call: self,
            ttl: None,
        }
    }
}

impl TaskCall {
    /// How long the server should keep the task, from its creation on; the server may decide otherwise. At 2026-07-28 it always
    /// decides by itself.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use trueform::client::{Client, ToolTask};
    ///
    /// # async fn start(client: &Client) -> Result<ToolTask, Box<dyn std::error::Error>> {
    /// let task = client.call_tool("report", ()).as_task().ttl(Duration::from_secs(600)).await?;
    /// # Ok(task)
    /// # }
    /// ```
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    async fn run(self) -> Result<ToolTask, ClientError> {
        let Self { mut call, ttl } = self;
        let client = call.client().clone();
        let revision = client.revision();
        match revision.era() {
            Era::Legacy if revision < Revision::V2025_11_25 => {
                return Err(LocalError::Unavailable("a task", revision).into());
            }
            Era::Legacy => {
                let mut task = TaskMetadata::new();
                task.ttl = ttl.map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX));
                call.ask_for_task(task);
            }
            Era::Modern if !client.takes_tasks() => {
                let problem = format!(
                    "a task needs the extension `{}` among the capabilities of the client",
                    tasks::IDENTIFIER
                );
                return Err(LocalError::NotAllowed(problem).into());
            }
            Era::Modern => {}
        }
        let (state, progress) = match call.begin().await? {
            Begun::Complete(result) => (State::Done(Box::new(result)), None),
            Begun::Task(started, progress) => (State::Task(started), progress),
        };
        Ok(ToolTask {
            client,
            state,
            progress,
        })
    }
}

impl IntoFuture for TaskCall {
    type Output = Result<ToolTask, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl ToolTask {
    /// The id of the task; `None` if the server answered at once.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        match &self.state {
            State::Done(_) => None,
            State::Task(task) => Some(&task.id),
        }
    }

    /// The status that was seen last. [`poll`](Self::poll) asks the server for the current one.
    #[must_use]
    pub fn status(&self) -> TaskStatus {
        match &self.state {
            State::Done(_) => TaskStatus::Completed,
            State::Task(task) => task.status.clone(),
        }
    }

    /// Looks at the task once (`tasks/get`), and returns its status.
    ///
    /// # Errors
    /// Those of any request; a task that failed, at 2026-07-28 ([`ClientError::Remote`]); one that was cancelled
    /// ([`LocalError::TaskCancelled`]).
    pub async fn poll(&mut self) -> Result<TaskStatus, ClientError> {
        if let State::Task(task) = &self.state {
            match task.poll(&self.client).await? {
                Polled::Waits(task) | Polled::Asks(task, _) => self.state = State::Task(task),
                Polled::Done(result) => {
                    self.progress = None;
                    self.state = State::Done(result);
                }
                Polled::Fetch => return Ok(TaskStatus::Completed),
            }
        }
        Ok(self.status())
    }

    /// Waits for the end of the task, at most for the time that [`ClientOptions::reset_by_progress`](super::ClientOptions::reset_by_progress)
    /// sets as the longest, [`DEFAULT_LONGEST`](super::ClientOptions::DEFAULT_LONGEST) unless it is called.
    ///
    /// # Errors
    /// As [`poll`](Self::poll); [`LocalError::TimedOut`].
    pub async fn result(self) -> Result<CallToolResult, ClientError> {
        match self.state {
            State::Done(result) => Ok(*result),
            State::Task(task) => task.wait(&self.client).await,
        }
    }

    /// Cancels the task (`tasks/cancel`). Does nothing if the server answered at once.
    ///
    /// # Errors
    /// Those of any request; the server refuses it for a task that has ended, at 2025-11-25.
    // O-5
    pub async fn cancel(&self) -> Result<(), ClientError> {
        match &self.state {
            State::Done(_) => Ok(()),
            State::Task(task) => task.cancel(&self.client).await,
        }
    }
}

impl IntoFuture for ToolTask {
    type Output = Result<CallToolResult, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.result())
    }
}

impl From<CreateTaskResult> for StartedTask {
    fn from(created: CreateTaskResult) -> Self {
        let task = created.task;
        Self {
            id: task.task_id,
            status: task.status,
            poll_interval: task.poll_interval,
        }
    }
}

impl From<tasks::CreateTaskResult> for StartedTask {
    fn from(created: tasks::CreateTaskResult) -> Self {
        Self {
            id: created.task_id,
            status: created.status.as_str().into(),
            poll_interval: created.poll_interval_ms,
        }
    }
}

impl StartedTask {
    fn interval(&self) -> Duration {
        let named = self.poll_interval.map(u64::try_from);
        let named = named.map_or(DEFAULT_POLL_INTERVAL, |named| {
            Duration::from_millis(named.unwrap_or_default())
        });
        named.max(LEAST_POLL_INTERVAL)
    }

    /// Waits for the end of a task that its caller did not ask for. If the wait is given up, the task is cancelled.
    pub(super) async fn awaited(self, client: Client) -> Result<CallToolResult, ClientError> {
        let mut guard = CancelsTask(Some((client, self)));
        let Some((client, task)) = &guard.0 else {
            unreachable!("it was put in there");
        };
        let ended = task.clone().wait(client).await;
        let timed_out = matches!(ended, Err(ClientError::Local(LocalError::TimedOut(_))));
        if !timed_out {
            guard.0 = None;
        }
        ended
    }

    // W-8, W-14, W-19
    async fn wait(mut self, client: &Client) -> Result<CallToolResult, ClientError> {
        let longest = client.inner.options.longest;
        let until = deadline(Instant::now(), longest);
        // W-17: a key is used once, so that what was answered need not be asked again.
        let mut answered = HashSet::new();
        let waiting = async {
            loop {
                tokio::time::sleep(self.interval()).await;
                match self.poll(client).await? {
                    Polled::Waits(task) => self = task,
                    Polled::Asks(task, questions) => {
                        self = task;
                        self.answer(client, questions, &mut answered).await?;
                    }
                    Polled::Done(result) => return Ok(*result),
                    Polled::Fetch => return self.fetch(client, until).await,
                }
            }
        };
        let ended = tokio::time::timeout_at(until, waiting).await;
        ended.unwrap_or_else(|_| {
            let method = Method::CallTool.as_str();
            let timeout = RequestTimeout::new(method, longest, timeout::LONGEST_OF_CLIENT);
            Err(LocalError::TimedOut(Box::new(timeout)).into())
        })
    }

    async fn poll(&self, client: &Client) -> Result<Polled, ClientError> {
        match client.revision().era() {
            Era::Legacy => self.poll_core(client).await,
            Era::Modern => self.poll_extension(client).await,
        }
    }

    async fn poll_core(&self, client: &Client) -> Result<Polled, ClientError> {
        let params = GetTaskRequestParams::new(&*self.id);
        let found = client.request::<methods::GetTask>(params).await?;
        let task = Self {
            id: self.id.clone(),
            status: found.status,
            poll_interval: found.poll_interval.or(self.poll_interval),
        };
        match &task.status {
            TaskStatus::Working => Ok(Polled::Waits(task)),
            TaskStatus::Cancelled => Err(LocalError::TaskCancelled(task.id).into()),
            // W-8: what it asks comes as requests of the server while the result is waited for.
            TaskStatus::InputRequired | TaskStatus::Completed | TaskStatus::Failed => {
                Ok(Polled::Fetch)
            }
            other => Err(unknown(other.as_str())),
        }
    }

    async fn poll_extension(&self, client: &Client) -> Result<Polled, ClientError> {
        let params = tasks::GetTaskRequestParams::new(&*self.id);
        let call = ClientCall::of_request::<tasks::methods::GetTask>(client.revision());
        let plan = RequestOptions::default();
        let text = client.exchange(&call, &params, plan).await?;
        let text = as_complete(text);
        let method = <tasks::methods::GetTask as AnyRequest>::METHOD;
        let found: tasks::GetTaskResult = client.received(method, &text)?;
        let task = Self {
            id: self.id.clone(),
            status: found.status.as_str().into(),
            poll_interval: found.poll_interval_ms.or(self.poll_interval),
        };
        match found.status {
            tasks::TaskStatus::Working => Ok(Polled::Waits(task)),
            tasks::TaskStatus::InputRequired => {
                Ok(Polled::Asks(task, found.input_requests.unwrap_or_default()))
            }
            tasks::TaskStatus::Completed => {
                let result = found.result.ok_or_else(|| lacks("result"))?;
                tool_result(client, &result).map(|result| Polled::Done(Box::new(result)))
            }
            tasks::TaskStatus::Failed => Err(found
                .error
                .map_or_else(|| lacks("error"), ClientError::Remote)),
            tasks::TaskStatus::Cancelled => Err(LocalError::TaskCancelled(task.id).into()),
            other => Err(unknown(other.as_str())),
        }
    }

    /// Answers those of `questions` that were not answered yet (`tasks/update`).
    async fn answer(
        &self,
        client: &Client,
        questions: Map<InputRequest>,
        answered: &mut HashSet<Box<str>>,
    ) -> Result<(), ClientError> {
        let mut open = Map::new();
        for (key, question) in questions {
            if answered.insert(key.clone()) {
                open.insert(key, question);
            }
        }
        if open.is_empty() {
            return Ok(());
        }
        let mut asked = InputRequiredResult::default();
        asked.input_requests = Some(open);
        let (responses, _) = answers(client, asked).await?;
        let params = tasks::UpdateTaskRequestParams::new(responses.unwrap_or_default(), &*self.id);
        client
            .request::<tasks::methods::UpdateTask>(params)
            .await
            .map(|_| ())
    }

    /// The result of the call (`tasks/result`), which the server holds back until the task has ended.
    // W-6
    async fn fetch(&self, client: &Client, until: Instant) -> Result<CallToolResult, ClientError> {
        let params = GetTaskPayloadRequestParams::new(&*self.id);
        let call = ClientCall::of_request::<methods::GetTaskPayload>(client.revision());
        let plan = RequestOptions {
            timeout: Some(until.saturating_duration_since(Instant::now())),
            ..RequestOptions::default()
        };
        let text = client.exchange(&call, &params, plan).await?;
        client.received(CALL_TOOL, &text)
    }

    // O-5
    async fn cancel(&self, client: &Client) -> Result<(), ClientError> {
        match client.revision().era() {
            Era::Legacy => {
                let params = CancelTaskRequestParams::new(&*self.id);
                client
                    .request::<methods::CancelTask>(params)
                    .await
                    .map(|_| ())
            }
            Era::Modern => {
                let params = tasks::CancelTaskRequestParams::new(&*self.id);
                client
                    .request::<tasks::methods::CancelTask>(params)
                    .await
                    .map(|_| ())
            }
        }
    }
}

/// Cancels the task when it is dropped.
struct CancelsTask(Option<(Client, StartedTask)>);

impl Drop for CancelsTask {
    fn drop(&mut self) {
        let Some((client, task)) = self.0.take() else {
            return;
        };
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        runtime.spawn(async move {
            if let Err(error) = task.cancel(&client).await {
                tracing::debug!(%error, "a task was not cancelled");
            }
        });
    }
}

impl Client {
    /// Whether the server may answer calls of tools with tasks.
    // W-12
    pub(super) fn takes_tasks(&self) -> bool {
        let declared = self.inner.options.capabilities.extensions.as_ref();
        self.revision().era() == Era::Modern && declares_extension(declared, tasks::IDENTIFIER)
    }

    /// The reply to a call of a tool by a client that declared the extension.
    // W-14
    pub(super) fn reply_with_tasks(
        &self,
        text: &Json,
    ) -> Result<ServerReply<CallToolResult>, ClientError> {
        let outcome: tasks::CallToolOutcome = self.received(CALL_TOOL, text)?;
        Ok(match outcome {
            tasks::CallToolOutcome::Complete(result) => ServerReply::Complete(result),
            tasks::CallToolOutcome::InputRequired(asked) => {
                ServerReply::InputRequired(Box::new(asked))
            }
            tasks::CallToolOutcome::Task(created) => ServerReply::Task(created.into()),
            _ => ServerReply::Unknown,
        })
    }
}

/// The result of a tool within the result of `tasks/get`.
fn tool_result(client: &Client, result: &JsonObject) -> Result<CallToolResult, ClientError> {
    let text = Json::from(result.clone());
    match client.received(CALL_TOOL, &text)? {
        CallToolOutcome::Complete(result) => Ok(result),
        _ => Err(DecodeError::new("/result", "it is not the result of a tool").into()),
    }
}

/// `text` with `complete` as its `resultType`, if that is `task`: examples of the extension have it so.
// GAP-11
fn as_complete(text: Json) -> Json {
    let members: Result<Map<Json>, _> = text.parse();
    match members {
        Ok(mut members)
            if members
                .get("resultType")
                .is_some_and(|kind| kind.get() == r#""task""#) =>
        {
            members.insert("resultType", Json::from(serde_json::json!("complete")));
            Json::from_value(&members).unwrap_or(text)
        }
        _ => text,
    }
}

fn lacks(member: &str) -> ClientError {
    DecodeError::new(format!("/{member}"), "the status of the task requires it").into()
}

fn unknown(status: &str) -> ClientError {
    let status = crate::jsonrpc::shortened(status);
    DecodeError::new("/status", format!("`{status}` is not a status of a task")).into()
}
