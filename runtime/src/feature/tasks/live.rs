//! A task that runs in this process. It ends in every case, whatever happens.

use std::{
    borrow::Cow,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, Waker},
};

use serde::Deserialize;
use trueform_schema::{Era, ErrorObject, Json, Revision};

use super::{
    asker::{TaskAsker, Waiting},
    questions::Questions,
    room::Tasks,
    state::{Change, Outcome, Status},
    wire::Seen,
};
use crate::{
    exchange::{Exchange, apart::HeldThreads},
    feature::job::ApartEnd,
    gate::{self, Outgoing},
    host::HostRef,
    jsonrpc,
    peer::Session,
    signal::Signal,
};

/// A task that runs in this process.
pub(super) struct LiveTask {
    /// The call. Only its work keeps it alive: the handover of its work may wait in it, and ends the task when it is dropped.
    exchange: Weak<Exchange>,
    pub(super) revision: Revision,
    pub(super) session: Option<Arc<Session>>,
    pub(super) host: HostRef,
    current: Mutex<Seen>,
    pub(super) questions: Questions,
    /// The requests that wait for the result.
    pub(super) waiting: Arc<Waiting>,
    /// The threads that its functions block.
    pub(super) threads: Arc<HeldThreads>,
    /// Fired when it has ended, and its store knows that.
    pub(super) ended: Signal,
}

impl LiveTask {
    pub(super) fn new(exchange: &Arc<Exchange>, seen: Seen) -> Self {
        Self {
            exchange: Arc::downgrade(exchange),
            revision: exchange.revision(),
            session: exchange.session.clone(),
            host: exchange.host.clone(),
            current: Mutex::new(seen),
            questions: Questions::default(),
            waiting: Arc::default(),
            threads: Arc::default(),
            ended: Signal::default(),
        }
    }

    /// Notifies the work that its result is no longer needed.
    pub(super) fn give_up(&self) {
        if let Some(exchange) = self.exchange.upgrade() {
            exchange.cancelled.fire();
        }
    }

    pub(super) fn current(&self) -> MutexGuard<'_, Seen> {
        // No code that can panic runs under the lock.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn id(&self) -> Arc<str> {
        self.current().record.id.clone()
    }
}

/// The right to run a task: if it is dropped before the task has ended, the task is cancelled.
pub(super) struct RunningTask {
    pub(super) tasks: Arc<Tasks>,
    pub(super) live: Arc<LiveTask>,
    is_settled: bool,
}

impl RunningTask {
    pub(super) fn new(tasks: Arc<Tasks>, live: Arc<LiveTask>) -> Self {
        Self {
            tasks,
            live,
            is_settled: false,
        }
    }

    /// Returns the receiver of the questions of the task.
    pub(super) fn asker(&self) -> Arc<TaskAsker> {
        TaskAsker::new(&self.tasks, &self.live)
    }

    /// Records that the work of `exchange` is this task.
    pub(super) fn is_work_of(&self, exchange: &Exchange) {
        exchange.set_task(self.live.id());
        exchange.set_threads(self.live.threads.clone());
        exchange.replay().set_asker(self.asker());
    }

    /// Records the end of the call.
    pub(super) async fn settle(mut self, end: ApartEnd) {
        self.is_settled = true;
        let change = match end {
            ApartEnd::Elsewhere => return self.tasks.adopt_end(&self.live).await,
            ApartEnd::Response(response) => ended(&response, self.live.revision.era()),
            ApartEnd::Cancelled => Change::Cancelled {
                message: "the task was cancelled",
            },
            ApartEnd::Expired => Change::Cancelled {
                message: "the time for which the task is kept was over before it ended",
            },
            ApartEnd::Stopped => Change::Cancelled {
                message: "the server stopped before the task ended",
            },
        };
        self.tasks.change(&self.live, change).await;
        self.tasks.forget(&self.live);
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        let (tasks, live) = (self.tasks.clone(), self.live.clone());
        let end = async move {
            let message = "the call was dropped before it ended";
            tasks.change(&live, Change::Cancelled { message }).await;
            tasks.forget(&live);
        };
        if let Begun::Alone(_) = begun(end) {
            tracing::debug!("the end of a task is written later");
        }
    }
}

/// Returns the change of a task that the response of its call means. `isError` is a failure in the legacy era (W-11) and a result in the
/// modern one (W-15).
fn ended(response: &Outgoing, era: Era) -> Change {
    #[derive(Deserialize)]
    struct Response {
        result: Option<Json>,
        error: Option<ErrorObject>,
    }
    let has_failed = matches!(response.outcome(), Some(gate::Outcome::ToolError));
    let read: Result<Response, _> = serde_json::from_slice(response.bytes());
    let outcome = match read {
        Ok(Response {
            result: Some(result),
            ..
        }) => Outcome::Result(result),
        Ok(Response {
            error: Some(error), ..
        }) => Outcome::Error(error),
        _ => Outcome::Error(jsonrpc::internal("the call was not answered")),
    };
    // Otherwise the client would repeat a call that has ended.
    let outcome = match outcome {
        Outcome::Result(result) if asks(&result, era) => {
            tracing::error!("a task returned a result that asks the client: ask within the task");
            Outcome::Error(jsonrpc::internal("the task ended with a question"))
        }
        outcome => outcome,
    };
    let (status, message) = match &outcome {
        Outcome::Error(error) => (Status::Failed, Some(error.message.clone())),
        Outcome::Result(_) if has_failed && era == Era::Legacy => (
            Status::Failed,
            Some("the tool reported an error; the result has it".to_owned()),
        ),
        Outcome::Result(_) => (Status::Completed, None),
    };
    Change::Ended {
        status,
        message,
        outcome,
    }
}

/// Returns whether `result` asks the client for something.
fn asks(result: &Json, era: Era) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Typed<'a> {
        #[serde(borrow, default)]
        result_type: Option<Cow<'a, str>>,
    }
    let read = || serde_json::from_str::<Typed<'_>>(result.get()).ok();
    era == Era::Modern
        && read().is_some_and(|typed| typed.result_type.as_deref() == Some("input_required"))
}

/// Work that has begun.
pub(super) enum Begun<T> {
    Done(T),
    /// It continues, whether something waits for it or not.
    Alone(tokio::task::JoinHandle<T>),
    /// The task cannot continue, because no tokio runtime runs it.
    Lost,
}

/// Begins `work`. If it has to wait, a task of the runtime continues it, so that it is never left half done.
pub(super) fn begun<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Begun<T> {
    let mut work: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(work);
    if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return Begun::Done(done);
    }
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => Begun::Alone(runtime.spawn(work)),
        Err(_) => Begun::Lost,
    }
}
