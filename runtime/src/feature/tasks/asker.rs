//! Questions of a task to its client. The future that asks stays alive, and nothing runs twice.
//!
//! At 2026-07-28 the client reads the questions with the state of the task, and sends the answers with `tasks/update`. At 2025-11-25, the
//! client sees that the task needs input, calls `tasks/result`, and gets the questions as requests while it waits there (W-7, W-8).

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

/// Asks the questions of a task.
pub(super) struct TaskAsker {
    tasks: Arc<Tasks>,
    /// Weak, because the task owns this asker. It is gone when the task has ended.
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
            // The status only says that there is a question. The request contains it, and is checked then.
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
                    // This only receives errors: the client answers the request.
                    refused = answered => refused.unwrap_or(Err(AskError::Gone)),
                    answer = requested(&task, &question) => answer,
                }
            }
        }
    }
}

/// Sends `question` to a client that waits for the result of `task`, as soon as there is one.
async fn requested(task: &LiveTask, question: &InputRequest) -> Result<Json, AskError> {
    // Weak, because a request that was skipped may end before the question.
    let mut passed_over: Vec<Weak<Exchange>> = Vec::new();
    loop {
        let waiting = task.waiting.one(&passed_over).await;
        let is_own = match (&waiting.session, &task.session) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        match Context(waiting.clone()).request_question(question).await {
            // Another request may wait later.
            Err(AskError::Gone) => task.waiting.remove(&waiting),
            // Or a session that can be asked this may send one. The error for the session of the task is final.
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

/// An open question. Dropping it closes it.
struct OpenQuestion<'t> {
    tasks: &'t Arc<Tasks>,
    task: &'t Arc<LiveTask>,
    key: Box<str>,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        // A question that was answered at 2026-07-28 is closed already.
        if self.task.questions.close(&self.key) {
            let (tasks, task) = (self.tasks.clone(), self.task.clone());
            drop(begun(async move { tasks.asked(&task).await }));
        }
    }
}

/// Returns `question` with the members `related` in its `_meta`.
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
        // No code that can panic runs under the lock.
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds `exchange` to them until the returned value is dropped.
    pub(super) fn enter(self: &Arc<Self>, exchange: &Arc<Exchange>) -> Entered {
        self.lock().push(exchange.clone());
        self.came.notify_waiters();
        Entered(self.clone(), exchange.clone())
    }

    /// Waits for a request that is not in `passed_over`, and returns the newest one.
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
