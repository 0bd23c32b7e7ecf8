//! The methods of tasks that 2025-11-25 has in its core.

use std::{
    fmt,
    sync::{Arc, LazyLock},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use trueform_schema::{Conform, ErrorObject, GetTaskPayloadResult, ListTasksResult};

use super::{
    room::{Tasks, store_failed},
    state::millis,
    wire::Seen,
};
use crate::{
    exchange::{Context, Exchange, apart::idle},
    feature::{
        call::{Conditions, run},
        callable::{Callable, Step},
        failure::ToolError,
        job::Called,
        layer::Layers,
    },
    gate::Outgoing,
    jsonrpc::{self, ErrorDetail},
    signal::Fired,
};

/// A request about tasks.
#[derive(Debug)]
pub(crate) enum CoreRequest {
    Get(String),
    Result(String),
    Cancel(String),
    /// `tasks/list`, with a cursor.
    List(Option<String>),
}

type Output = Box<dyn Conform + Send>;

/// A method of tasks, as a callable.
struct CoreMethod {
    tasks: Arc<Tasks>,
    name: &'static str,
}

impl Tasks {
    /// Answers `request`, which belongs to `exchange`. Call layers do not see it: they see the call of the task.
    pub(crate) fn answer(
        self: &Arc<Self>,
        request: CoreRequest,
        exchange: Arc<Exchange>,
        conditions: &Conditions<'_>,
    ) -> Called {
        static NO_LAYERS: LazyLock<Arc<Layers>> = LazyLock::new(|| Vec::new().into());
        let method = Arc::new(CoreMethod {
            tasks: self.clone(),
            name: exchange.method,
        });
        let conditions = Conditions {
            layers: &NO_LAYERS,
            sight: None,
            ..*conditions
        };
        run(&method, Context(exchange), request, &conditions)
    }

    async fn answered(
        self: &Arc<Self>,
        exchange: &Arc<Exchange>,
        request: CoreRequest,
    ) -> Result<Output, ErrorObject> {
        let poll = self.settings.poll_interval;
        Ok(match request {
            CoreRequest::Get(id) => Box::new(self.find(exchange, &id).await?.got(poll)),
            CoreRequest::Result(id) => Box::new(self.result(exchange, &id).await?),
            CoreRequest::Cancel(id) => {
                let seen = self.find(exchange, &id).await?;
                let status = seen.state.status;
                match self.cancel(seen).await? {
                    Some(cancelled) => Box::new(cancelled.cancelled(poll)),
                    None => return Err(ended(status.as_str())),
                }
            }
            CoreRequest::List(cursor) => Box::new(self.list(exchange, cursor.as_deref()).await?),
        })
    }

    /// Waits until the task `id` has ended, at the latest when its time to live is over. Returns the outcome of its call (W-6).
    async fn result(
        self: &Arc<Self>,
        exchange: &Arc<Exchange>,
        id: &str,
    ) -> Result<GetTaskPayloadResult, ErrorObject> {
        loop {
            // Before the store is read: a task that is not live then has ended in the store, or runs elsewhere.
            let live = self.live(id);
            let seen = self.find(exchange, id).await?;
            if seen.state.status.is_end() {
                return seen.payload();
            }
            let _waiting = live.as_ref().map(|task| task.waiting.enter(exchange));
            match live {
                Some(task) => idle(exchange, Fired::new(task, |task| &task.ended)).await,
                None => idle(exchange, tokio::time::sleep(self.settings.poll_interval)).await,
            }
        }
    }

    /// Returns the page of the caller's tasks for `cursor` (W-10, W-11).
    async fn list(
        &self,
        exchange: &Exchange,
        cursor: Option<&str>,
    ) -> Result<ListTasksResult, ErrorObject> {
        let after = cursor.map(position).transpose()?;
        let Some(owner) = Self::owner(exchange)? else {
            return Ok(ListTasksResult::new(Vec::new()));
        };
        let after = after.as_ref().map(|(created, id)| (*created, &**id));
        let store = &self.settings.store;
        let found = store.list(&owner, after, self.page_size.saturating_add(1));
        let mut records = found.await.map_err(|error| store_failed(&error))?;
        let has_more = self.page_size < records.len();
        records.truncate(self.page_size);
        let last = records.last().filter(|_| has_more);
        let next = last.map(|last| {
            let position = format!("{} {}", millis(last.created), last.id);
            URL_SAFE_NO_PAD.encode(position)
        });
        let mut tasks = Vec::with_capacity(records.len());
        for record in records {
            let seen = Seen::new(record)?;
            if seen.state.is_of(exchange.revision()) {
                tasks.push(seen.task(self.settings.poll_interval));
            }
        }
        let mut page = ListTasksResult::new(tasks);
        page.next_cursor = next;
        Ok(page)
    }
}

/// Decodes the place in a list from `cursor`.
///
/// # Errors
/// -32602 for a text that no list has returned (W-9).
fn position(cursor: &str) -> Result<(SystemTime, String), ErrorObject> {
    let read = || {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (created, id) = text.split_once(' ')?;
        let created = Duration::from_millis(created.parse().ok()?);
        let created = SystemTime::UNIX_EPOCH.checked_add(created)?;
        Some((created, id.to_owned()))
    };
    read().ok_or_else(|| {
        let expected = "the `nextCursor` of a page of this list";
        let found = format!("string of {} bytes", cursor.len() + 2);
        jsonrpc::invalid_params(
            format!("unknown cursor `{}`", jsonrpc::shortened(cursor)),
            &ErrorDetail::new("/params/cursor", "known-cursor", expected, found),
        )
    })
}

/// Returns the error for the cancellation of a task that has ended (W-9).
#[cold]
fn ended(before: &str) -> ErrorObject {
    let expected = "the id of a task that has not ended";
    let detail = ErrorDetail::new(
        "/params/taskId",
        "running-task",
        expected,
        "one that has ended",
    );
    let problem = match before {
        "working" | "input_required" => "the task has ended meanwhile".to_owned(),
        status => format!("the task has ended already: its status is `{status}`"),
    };
    jsonrpc::invalid_params(problem, &detail)
}

impl Callable for CoreMethod {
    type Params = CoreRequest;
    type Output = Output;

    fn name(&self) -> &str {
        self.name
    }

    fn place(&self) -> &dyn fmt::Display {
        &"tasks"
    }

    fn call(
        self: &Arc<Self>,
        cx: &Context,
        request: CoreRequest,
    ) -> Step<Result<Output, ToolError>> {
        let (this, exchange) = (self.clone(), cx.0.clone());
        Step::Later(Box::pin(async move {
            let answered = this.tasks.answered(&exchange, request).await;
            answered.map_err(ToolError::protocol)
        }))
    }

    fn respond(
        &self,
        cx: &Context,
        outcome: Result<Output, ToolError>,
    ) -> Result<Outgoing, ErrorObject> {
        let output = outcome.map_err(|error| self.error(error))?;
        cx.0.result(self.name, &*output)
    }
}
