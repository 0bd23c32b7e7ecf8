//! The point in a tool's code at which a call becomes a task.

use std::{
    any::{TypeId, type_name},
    fmt,
    future::poll_fn,
    sync::Arc,
};

use tokio::sync::OnceCell;
use trueform_schema::ErrorObject;

use super::{begin, live::RunningTask, room::Tasks};
use crate::{
    exchange::{Context, Exchange},
    feature::{
        failure::ToolError,
        function::{FromContext, RequiredState},
        job::{Called, Handover, RunApart},
    },
};

/// Marks where in a tool its task begins. A parameter of this type is injected into async tools marked `#[tool(task = optional)]` or
/// `#[tool(task = required)]`.
///
/// Without this parameter, a call is a task from the first line of the tool on. With it, the code before [`begin`](Self::begin) belongs to
/// the ordinary call: if `begin` is not reached, the response is what the tool returns.
///
/// ```
/// use trueform::{prelude::*, task::TaskStart};
///
/// /// Makes a report.
/// #[tool(task = optional)]
/// async fn report(year: u16, start: TaskStart) -> Result<String, ToolError> {
///     if year < 1970 {
///         return Err(ToolError::new("there are reports since 1970"));
///     }
///     start.begin().await?;
///     Ok(format!("the report of {year}"))
/// }
/// # let server = Server::new("reports", "1.0.0").tools(tools![report]);
/// # assert!(server.build().is_ok());
/// ```
pub struct TaskStart(Context);

impl TaskStart {
    /// Makes the call a task: the client gets its id as the response, and the code after this continues separately from the request.
    ///
    /// Returns at once if the call already is a task, as at 2025-11-25, where a task begins with its request, and if it cannot become one:
    /// for clients without tasks, and if this was called before. Await it in the tool's own future, not in a task that the tool spawns.
    ///
    /// # Errors
    /// The call cannot become a task: the maximum number of tasks runs already, or the task store fails. With `?`, the client gets this
    /// error (-32603).
    // W-4
    pub async fn begin(&self) -> Result<(), ToolError> {
        let exchange = &self.0.0;
        let Some(offer) = exchange.offered::<Offer>() else {
            return Ok(());
        };
        let begun = offer.begun.get_or_try_init(|| offer.begin(exchange)).await;
        begun.map_err(ToolError::protocol)?;
        poll_fn(|cx| exchange.poll_taken_over(cx)).await;
        Ok(())
    }

    /// Returns whether a parameter that needs `state` is this one.
    pub(crate) fn is(state: &RequiredState) -> bool {
        state.id == TypeId::of::<Self>()
    }
}

impl FromContext for TaskStart {
    fn from_context(context: &Context) -> Result<Self, ToolError> {
        Ok(Self(context.clone()))
    }

    fn require(needed: &mut Vec<RequiredState>) {
        needed.push(RequiredState {
            id: TypeId::of::<Self>(),
            name: type_name::<Self>(),
        });
    }
}

impl fmt::Debug for TaskStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskStart").finish_non_exhaustive()
    }
}

/// What a call needs to become a task.
pub(super) struct Offer {
    tasks: Arc<Tasks>,
    run_apart: RunApart,
    begun: OnceCell<()>,
}

impl Offer {
    pub(super) fn new(tasks: Arc<Tasks>, run_apart: RunApart) -> Self {
        Self {
            tasks,
            run_apart,
            begun: OnceCell::new(),
        }
    }

    /// Creates the task, and asks for the call to be taken over.
    async fn begin(&self, exchange: &Arc<Exchange>) -> Result<(), ErrorObject> {
        // Checked before the response is sent.
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(begin::no_runtime());
        }
        let running = self.tasks.admit(exchange, None)?;
        let (running, response) = begin::created(exchange.clone(), running).await?;
        let asker = running.asker();
        let run_apart = self.run_apart;
        let go_on = move |job| go_on(running, job, run_apart);
        exchange.hand_over(Box::new(Handover {
            response,
            go_on: Box::new(go_on),
        }));
        // After that: a waiting question now becomes a question of the task, which continues.
        exchange.replay().set_asker(asker);
        Ok(())
    }
}

fn go_on(running: RunningTask, job: Box<dyn crate::feature::job::Job>, run_apart: RunApart) {
    let exchange = job.exchange().clone();
    if !run_apart(begin::work(exchange, running, move || Called::Running(job))) {
        // The task is cancelled when the abandoned call is dropped.
        let _ = begin::no_runtime();
    }
}
