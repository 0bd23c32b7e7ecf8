//! What a task asks its client. The future that asks stays alive, and nothing is done twice.
//!
//! At 2026-07-28 the client reads the questions with the state of the task, and sends the answers with `tasks/update`. At 2025-11-25 it
//! sees that the task needs input, calls `tasks/result`, and is sent the questions as requests while it waits there (W-7, W-8).

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::Notify;
use trueform_schema::{
    At, ElicitRequestParams, Era, Extras, InputRequest, Json, RequestMetaObject,
};

use super::{
    live::{LiveTask, begun},
    room::Tasks,
};
use crate::{
    exchange::{AskError, Asker, Context, Exchange, apart::related},
    gate::CheckedParams,
};

/// Puts the questions of a task.
pub(super) struct TaskAsker {
    tasks: Arc<Tasks>,
    /// It is gone when the task has ended. The task keeps this.
    task: Weak<LiveTask>,
}

impl TaskAsker {
    pub(super) fn new(tasks: &Arc<Tasks>, task: &Arc<LiveTask>) -> Arc<Self> {
        Arc::new(Self {
            tasks: tasks.clone(),
            task: Arc::downgrade(task),
        })
    }

    async fn asked(&self, key: &str, question: InputRequest) -> Result<Json, AskError> {
        let task = self.task.upgrade().ok_or(AskError::Gone)?;
        let (revision, policy) = (task.revision, task.host.settings.outgoing);
        let written = match revision.era() {
            Era::Modern => {
                CheckedParams::new(&question, revision, policy, "an input request")
                    .map_err(|error| AskError::NotAllowed(error.message))?;
                At::new(&question, revision).to_json()
            }
            // Its status says that there is a question; the request will say which, and is checked then.
            Era::Legacy => Json::null(),
        };
        let (key, answered) = task.questions.open(key, written);
        let _open = OpenQuestion {
            tasks: &self.tasks,
            task: &task,
            key,
        };
        self.tasks.asked(&task).await;
        match revision.era() {
            Era::Modern => answered.await.unwrap_or(Err(AskError::Gone)),
            Era::Legacy => {
                let question = naming(question, &related(&task.id()));
                tokio::select! {
                    biased;
                    // Only an error comes this way: the client answers the request.
                    refused = answered => refused.unwrap_or(Err(AskError::Gone)),
                    answer = requested(&task, &question) => answer,
                }
            }
        }
    }
}

/// Sends `question` to a client that waits for the result of `task`, once there is one.
async fn requested(task: &LiveTask, question: &InputRequest) -> Result<Json, AskError> {
    // Weak, because a request that is passed over may end before the question does.
    let mut passed_over: Vec<Weak<Exchange>> = Vec::new();
    loop {
        let waiting = task.waiting.one(&passed_over).await;
        let is_own = match (&waiting.session, &task.session) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        match Context(waiting.clone()).request_question(question).await {
            // Another request may come that waits.
            Err(AskError::Gone) => task.waiting.remove(&waiting),
            // So may one of a session that can be asked this. What the session of the task says is the answer.
            Err(AskError::TooSoon | AskError::NotDeclared(_)) if !is_own => {
                passed_over.retain(|passed| passed.strong_count() != 0);
                passed_over.push(Arc::downgrade(&waiting));
            }
            answer => return answer,
        }
    }
}

impl Asker for TaskAsker {
    fn ask(
        &self,
        key: &str,
        question: &InputRequest,
    ) -> Pin<Box<dyn Future<Output = Result<Json, AskError>> + Send + '_>> {
        let (key, question) = (key.to_owned(), question.clone());
        Box::pin(async move { self.asked(&key, question).await })
    }
}

/// A question that is asked; closed when it is dropped.
struct OpenQuestion<'t> {
    tasks: &'t Arc<Tasks>,
    task: &'t Arc<LiveTask>,
    key: Box<str>,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        // One that was answered at 2026-07-28 is closed already.
        if self.task.questions.close(&self.key) {
            let (tasks, task) = (self.tasks.clone(), self.task.clone());
            drop(begun(async move { tasks.asked(&task).await }));
        }
    }
}

/// `question` with the members `related` in its `_meta`.
fn naming(mut question: InputRequest, related: &Extras) -> InputRequest {
    let add = |meta: &mut Option<RequestMetaObject>| {
        let meta = meta.get_or_insert_default();
        for (key, value) in related.iter() {
            meta.extras_mut().insert(key, value.clone());
        }
    };
    match &mut question {
        InputRequest::CreateMessage(sample) => add(&mut sample.params.meta),
        InputRequest::Elicit(elicit) => match &mut elicit.params {
            ElicitRequestParams::Form(form) => add(&mut form.meta),
            ElicitRequestParams::Url(url) => add(&mut url.meta),
            _ => {}
        },
        InputRequest::ListRoots(roots) => {
            let params = roots.params.get_or_insert_default();
            let meta = params.meta.get_or_insert_default();
            for (key, value) in related.iter() {
                meta.extras_mut().insert(key, value.clone());
            }
        }
        _ => {}
    }
    question
}

/// The requests that wait for the result of a task.
#[derive(Default)]
pub(super) struct Waiting {
    requests: Mutex<Vec<Arc<Exchange>>>,
    came: Notify,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Exchange>>> {
        // Nothing that can panic runs under the lock.
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts `exchange` among them until what is returned is dropped.
    pub(super) fn enter(self: &Arc<Self>, exchange: &Arc<Exchange>) -> Entered {
        self.lock().push(exchange.clone());
        self.came.notify_waiters();
        Entered(self.clone(), exchange.clone())
    }

    /// The one that came last of those that are not `passed_over`, once there is one.
    async fn one(&self, passed_over: &[Weak<Exchange>]) -> Arc<Exchange> {
        loop {
            let mut came = std::pin::pin!(self.came.notified());
            came.as_mut().enable();
            let is_left = |exchange: &&Arc<Exchange>| {
                let is_it = |passed: &Weak<Exchange>| passed.as_ptr() == Arc::as_ptr(exchange);
                !passed_over.iter().any(is_it)
            };
            let last = self.lock().iter().rev().find(is_left).cloned();
            match last {
                Some(exchange) => return exchange,
                None => came.await,
            }
        }
    }

    fn remove(&self, exchange: &Arc<Exchange>) {
        self.lock()
            .retain(|waiting| !Arc::ptr_eq(waiting, exchange));
    }
}

/// A request that waits.
pub(super) struct Entered(Arc<Waiting>, Arc<Exchange>);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.remove(&self.1);
    }
}
