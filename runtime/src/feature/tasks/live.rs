//! A task that runs in this process, and the end that it comes to whatever happens.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use serde::Deserialize;
use trueform_schema::{Era, ErrorObject, Json};

use super::{
    questions::Questions,
    room::Tasks,
    state::{Change, Outcome, Status},
    wire::Seen,
};
use crate::{
    exchange::Exchange,
    feature::job::ApartEnd,
    gate::{self, Outgoing},
    jsonrpc,
    signal::Signal,
};

/// A task that runs in this process.
pub(super) struct LiveTask {
    pub(super) exchange: Arc<Exchange>,
    current: Mutex<Seen>,
    pub(super) questions: Questions,
    /// Fired when it has ended, and its store knows that.
    pub(super) ended: Signal,
}

impl LiveTask {
    pub(super) fn new(exchange: Arc<Exchange>, seen: Seen) -> Self {
        Self {
            exchange,
            current: Mutex::new(seen),
            questions: Questions::default(),
            ended: Signal::default(),
        }
    }

    pub(super) fn current(&self) -> MutexGuard<'_, Seen> {
        // Nothing that can panic runs under the lock.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn id(&self) -> Arc<str> {
        self.current().record.id.clone()
    }
}

/// The right to run a task: dropped without an end, the task is cancelled.
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

    /// Takes note of the end of the call.
    pub(super) async fn settle(mut self, end: ApartEnd) {
        self.is_settled = true;
        let change = match end {
            ApartEnd::Response(response) => ended(&response, self.live.exchange.revision().era()),
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

/// What the response of a call says about its task. `isError` is a failure in the legacy era (W-11) and a result in the modern one
/// (W-15).
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

/// Work that was begun.
pub(super) enum Begun<T> {
    Done(T),
    /// It goes on by itself, whether it is waited for or not.
    Alone(tokio::task::JoinHandle<T>),
    /// It cannot go on: there is no runtime.
    Lost,
}

/// Begins `work`, and lets a task of the runtime go on with what has to wait: half of it is never done.
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
