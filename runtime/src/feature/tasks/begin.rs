//! Where a call of a tool becomes a task.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{self, Poll, Waker},
};

use trueform_schema::{Era, ErrorObject, Method, Revision, TaskMetadata, ext::tasks::IDENTIFIER};

use super::{TaskMode, live::RunningTask, room::Tasks, start::Offer};
use crate::{
    exchange::{Context, Exchange},
    feature::{
        call::{Conditions, run},
        job::{ApartWork, Called, Completion, Job, Pool, RunApart},
        layer::Layers,
        tools::ToolRoute,
        undeclared,
    },
    gate::Outgoing,
    jsonrpc::{self, ErrorDetail},
    needs::{Undeclared, declares_extension},
};

/// A call of a tool that may become a task.
pub(crate) struct Asked<'a> {
    pub(crate) tool: &'a Arc<ToolRoute>,
    /// The task that the client asks for; 2026-07-28 has no such member (W-21).
    pub(crate) task: Option<TaskMetadata>,
    pub(crate) exchange: Arc<Exchange>,
    pub(crate) arguments: Option<Box<str>>,
}

/// Makes the call a task, runs it as an ordinary call, or refuses it, as the tool and the client require [W].
///
/// # Errors
/// -32601 at 2025-11-25 for a call as a task of a tool that never runs as one, and for an ordinary call of a tool that always runs as one
/// (W-3). -32021 at 2026-07-28 for a client that did not declare the extension. -32602 for a `ttl` that is not positive. -32603 if the
/// maximum number of tasks runs.
#[cold]
pub(crate) fn call(
    asked: Asked<'_>,
    tasks: &Arc<Tasks>,
    conditions: &Conditions<'_>,
) -> Result<Called, ErrorObject> {
    let (revision, mode) = (asked.exchange.revision(), asked.tool.task());
    let is_required = mode == Some(TaskMode::Required);
    let name = asked.tool.name();
    match (revision, mode, &asked.task) {
        (Revision::V2025_11_25, None, Some(_)) => {
            let why = format!("cannot be a task of tool `{name}`: leave out `task`");
            Err(jsonrpc::method_not_found(Method::CallTool.as_str(), &why))
        }
        (Revision::V2025_11_25, Some(_), Some(task)) => {
            let ttl = ttl_of(task)?;
            begin(asked, tasks, ttl, conditions)
        }
        (Revision::V2025_11_25, _, None) if is_required => {
            let why = format!("of tool `{name}` is always a task: add `task` to its params");
            Err(jsonrpc::method_not_found(Method::CallTool.as_str(), &why))
        }
        (revision, Some(_), _) if revision.era() == Era::Modern => {
            let extensions = asked.exchange.peer().capabilities.extensions.as_ref();
            match (
                declares_extension(extensions, IDENTIFIER),
                asked.tool.starts_task(),
            ) {
                (true, false) => begin(asked, tasks, None, conditions),
                (true, true) => {
                    let offer = Offer::new(tasks.clone(), conditions.run_apart);
                    asked.exchange.offer(Arc::new(offer));
                    Ok(in_place(asked, conditions))
                }
                (false, _) if is_required => {
                    Err(undeclared(Era::Modern, Undeclared::extension(IDENTIFIER)))
                }
                (false, _) => Ok(in_place(asked, conditions)),
            }
        }
        // Older revisions have no tasks: tools that they list can still be called.
        _ => Ok(in_place(asked, conditions)),
    }
}

fn in_place(asked: Asked<'_>, conditions: &Conditions<'_>) -> Called {
    run(
        asked.tool,
        Context(asked.exchange),
        asked.arguments,
        conditions,
    )
}

/// Returns for how many milliseconds the client wants its task kept; `None` if the server decides.
fn ttl_of(task: &TaskMetadata) -> Result<Option<u64>, ErrorObject> {
    let Some(ttl) = task.ttl else {
        return Ok(None);
    };
    match u64::try_from(ttl) {
        Ok(ttl) if ttl != 0 => Ok(Some(ttl)),
        _ => Err(jsonrpc::invalid_params(
            "`task.ttl` is not a time for which a task could be kept",
            &ErrorDetail::new(
                "/params/task/ttl",
                "minimum",
                "a number of milliseconds, at least 1",
                format!("{ttl}"),
            ),
        )),
    }
}

/// Makes the call a task from its first line.
fn begin(
    asked: Asked<'_>,
    tasks: &Arc<Tasks>,
    ttl: Option<u64>,
    conditions: &Conditions<'_>,
) -> Result<Called, ErrorObject> {
    let room = conditions.unread.check();
    let room = room.and_then(|()| {
        conditions
            .capacity
            .map_or(Ok(()), |capacity| capacity.call())
    });
    if let Err(refusal) = room {
        return Ok(Called::TurnedAway(refusal));
    }
    let Asked {
        tool,
        exchange,
        arguments,
        ..
    } = asked;
    exchange.set_apart();
    let running = tasks.admit(&exchange, ttl)?;
    running.is_work_of(&exchange);
    let mut creating = Creating {
        future: Box::pin(created(exchange.clone(), running)),
        created: None,
        call: Some(Call {
            tool: tool.clone(),
            exchange: exchange.clone(),
            arguments,
            layers: conditions.layers.clone(),
            run_apart: conditions.run_apart,
        }),
        exchange,
    };
    let mut cx = task::Context::from_waker(Waker::noop());
    match creating.poll_created(&mut cx) {
        Poll::Ready(()) => creating.answer().map(Called::Ready),
        Poll::Pending => Ok(Called::Running(Box::new(creating))),
    }
}

/// Stores the task of `running`. Also returns the response to its call.
pub(super) async fn created(
    exchange: Arc<Exchange>,
    running: RunningTask,
) -> Result<(RunningTask, Outgoing), ErrorObject> {
    let tasks = &running.tasks;
    let seen = tasks.create(&running).await?;
    let result = seen.created(exchange.revision(), tasks.settings.poll_interval);
    let response = exchange.result(exchange.method, &*result)?;
    Ok((running, response))
}

/// Returns the work of a task.
pub(super) fn work(
    exchange: Arc<Exchange>,
    running: RunningTask,
    begin: impl FnOnce() -> Called + Send + 'static,
) -> ApartWork {
    let life = running.live.current().record.life;
    ApartWork {
        exchange,
        begin: Box::new(begin),
        life,
        drain: running.tasks.settings.drain,
        ended_elsewhere: Box::pin(running.tasks.clone().ended_elsewhere(running.live.clone())),
        done: Box::new(move |end| Box::pin(running.settle(end))),
    }
}

/// Returns the error for a server without a runtime that drives tasks.
#[cold]
pub(super) fn no_runtime() -> ErrorObject {
    tracing::error!("a task cannot run: the request was not read within a tokio runtime");
    jsonrpc::internal("the server cannot run tasks")
}

type Created = Result<(RunningTask, Outgoing), ErrorObject>;

/// A call whose task is being stored.
struct Creating {
    exchange: Arc<Exchange>,
    future: Pin<Box<dyn Future<Output = Created> + Send>>,
    created: Option<Created>,
    call: Option<Call>,
}

/// The call that a task runs.
struct Call {
    tool: Arc<ToolRoute>,
    exchange: Arc<Exchange>,
    arguments: Option<Box<str>>,
    layers: Arc<Layers>,
    run_apart: RunApart,
}

impl Call {
    fn begin(self) -> Called {
        let conditions = Conditions {
            layers: &self.layers,
            sight: None,
            capacity: None,
            unread: &self.exchange.host.unread,
            run_apart: self.run_apart,
            // The questions of a task are not sent in a result.
            message: &[],
        };
        let context = Context(self.exchange.clone());
        run(&self.tool, context, self.arguments, &conditions)
    }
}

impl Creating {
    fn poll_created(&mut self, cx: &mut task::Context<'_>) -> Poll<()> {
        self.future
            .as_mut()
            .poll(cx)
            .map(|created| self.created = Some(created))
    }

    /// Starts the task. Returns the response to its call.
    fn answer(&mut self) -> Result<Outgoing, ErrorObject> {
        let (Some(created), Some(call)) = (self.created.take(), self.call.take()) else {
            return Err(jsonrpc::internal("the task was not created"));
        };
        let (running, response) = created?;
        let run_apart = call.run_apart;
        match run_apart(work(self.exchange.clone(), running, move || call.begin())) {
            true => Ok(response),
            false => Err(no_runtime()),
        }
    }
}

impl Job for Creating {
    fn exchange(&self) -> &Arc<Exchange> {
        &self.exchange
    }

    fn poll(&mut self, cx: &mut task::Context<'_>, _: Pool) -> Poll<Completion> {
        self.poll_created(cx).map(|()| Completion::Returned)
    }

    fn conclude(mut self: Box<Self>, done: Completion) -> Option<Outgoing> {
        let answered = match done {
            // Dropped with the created task, which is cancelled.
            Completion::Cancelled => return None,
            Completion::Returned => self.answer(),
            Completion::Failed(_) | Completion::HandedOver => {
                Err(jsonrpc::internal("the task was not created"))
            }
        };
        let (id, revision) = (&self.exchange.id, self.exchange.revision());
        Some(answered.unwrap_or_else(|error| Outgoing::failure(id, revision, error)))
    }
}
