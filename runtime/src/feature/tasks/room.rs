//! The tasks of a server: admits, finds, changes and reports them.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use tokio::sync::Notify;
use trueform_schema::{
    Era, ErrorObject, JsonObject, Method, Revision, ServerCapabilities, ServerCapabilitiesTasks,
    ServerCapabilitiesTasksRequests, ServerCapabilitiesTasksRequestsTools,
};

use super::{
    id::new_id,
    listeners::Listeners,
    live::{Begun, LiveTask, RunningTask, begun},
    settings::TaskSettings,
    state::{Change, Outcome, Status, TaskState, millis},
    wire::Seen,
};
use crate::{
    exchange::{Exchange, apart::HeldThreads},
    feature::Room,
    gate::{NotificationKind, Outgoing},
    jsonrpc::{self, ErrorDetail},
    store::{StoreError, TaskRecord},
};

/// How often the cancellation of a task that runs in another process is repeated because its state has changed meanwhile.
const MAX_CANCEL_TRIES: usize = 16;

/// The tasks of a server.
pub(crate) struct Tasks {
    pub(super) settings: TaskSettings,
    pub(super) page_size: usize,
    /// The tasks that run in this process.
    live: Mutex<HashMap<Arc<str>, Arc<LiveTask>>>,
    /// The tasks that have ended, but whose functions continue and block a thread. Always locked after `live`.
    lingering: Mutex<Vec<Lingering>>,
    pub(super) listeners: Listeners,
    /// Notified when a task has ended.
    ended: Notify,
}

/// A task that has ended, but whose function blocks a thread until it returns.
struct Lingering {
    owner: Option<Box<str>>,
    threads: Arc<HeldThreads>,
}

/// Returns the error for a task beyond the limit.
fn too_many(limit: usize, of_one: &str) -> ErrorObject {
    jsonrpc::internal(format!(
        "too many tasks are running: this server runs {limit}{of_one} at once"
    ))
}

#[cold]
pub(super) fn store_failed(error: &StoreError) -> ErrorObject {
    tracing::error!(%error, "the store of tasks failed");
    jsonrpc::internal("the store of the tasks failed")
}

impl Tasks {
    pub(crate) fn new(settings: TaskSettings, page_size: usize) -> Arc<Self> {
        Arc::new(Self {
            settings,
            page_size: page_size.max(1),
            live: Mutex::default(),
            lingering: Mutex::default(),
            listeners: Listeners::default(),
            ended: Notify::new(),
        })
    }

    fn live_tasks(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<LiveTask>>> {
        // No code that can panic runs under the lock.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the tasks that have ended and whose functions still run.
    fn lingering(&self) -> MutexGuard<'_, Vec<Lingering>> {
        // No code that can panic runs under the lock.
        let mut lingering = self
            .lingering
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        lingering.retain(|ended| ended.threads.any());
        lingering
    }

    /// Returns the task `id`, if it runs in this process.
    pub(super) fn live(&self, id: &str) -> Option<Arc<LiveTask>> {
        self.live_tasks().get(id).cloned()
    }

    /// Returns the owner of the tasks of `exchange` (W-10, W-20): the authenticated caller, otherwise the session. `None` if callers cannot
    /// be distinguished, so that only the secret id protects a task.
    ///
    /// # Errors
    /// -32603 if the system has no randomness.
    pub(super) fn owner(exchange: &Exchange) -> Result<Option<Box<str>>, ErrorObject> {
        if let Some(principal) = &exchange.transport.principal {
            return Ok(Some(format!("principal:{}", principal.subject()).into()));
        }
        let session = exchange.session.as_ref();
        let Some(session) = session.filter(|_| exchange.revision().era() == Era::Legacy) else {
            return Ok(None);
        };
        let key = match (session.id(), session.task_owner.get()) {
            (Some(id), _) => id,
            (None, Some(key)) => key,
            (None, None) => {
                let key = new_id()?;
                session.task_owner.get_or_init(|| key.into())
            }
        };
        Ok(Some(format!("session:{key}").into()))
    }

    /// Reserves a place among the running tasks for the call `exchange`, whose client wants its task kept for `ttl` milliseconds.
    ///
    /// # Errors
    /// -32603 if the maximum number runs.
    pub(super) fn admit(
        self: &Arc<Self>,
        exchange: &Arc<Exchange>,
        ttl: Option<u64>,
    ) -> Result<RunningTask, ErrorObject> {
        let owner = Self::owner(exchange)?;
        let id: Arc<str> = new_id()?.into();
        // To the millisecond, as for clients and in cursors.
        let created = SystemTime::UNIX_EPOCH + Duration::from_millis(millis(SystemTime::now()));
        let state = TaskState::new(exchange.revision());
        let life = self.settings.life(ttl);
        let record = TaskRecord::new(id.clone(), created, life, state.to_text()).with_owner(owner);
        let mut live = self.live_tasks();
        let TaskSettings {
            max_running,
            max_running_of_one,
            ..
        } = self.settings;
        let lingering = self.lingering();
        if live.len() + lingering.len() >= max_running {
            return Err(too_many(max_running, ""));
        }
        if record.owner.is_some() {
            let own = |task: &&Arc<LiveTask>| task.current().record.owner == record.owner;
            let ended = lingering.iter().filter(|ended| ended.owner == record.owner);
            if live.values().filter(own).count() + ended.count() >= max_running_of_one {
                return Err(too_many(max_running_of_one, " of one caller"));
            }
        }
        drop(lingering);
        let task = Arc::new(LiveTask::new(exchange, Seen { record, state }));
        live.insert(id, task.clone());
        drop(live);
        Ok(RunningTask::new(self.clone(), task))
    }

    /// Stores `running`. From then on, clients can ask for it (W-13).
    ///
    /// # Errors
    /// -32603 if the store has no room for it, or fails.
    pub(super) async fn create(&self, running: &RunningTask) -> Result<Seen, ErrorObject> {
        let seen = running.live.current().clone();
        match self.settings.store.create(seen.record.clone()).await {
            Ok(true) => Ok(seen),
            Ok(false) => Err(jsonrpc::internal(
                "too many tasks are kept: this server has no room for one more",
            )),
            Err(error) => Err(store_failed(&error)),
        }
    }

    /// Returns the task `id`, if it belongs to the caller of `exchange`.
    ///
    /// # Errors
    /// -32602 if this caller has no such task (W-9, W-18), -32603 if the store fails.
    pub(super) async fn find(&self, exchange: &Exchange, id: &str) -> Result<Seen, ErrorObject> {
        let loaded = self.settings.store.load(id).await;
        let record = loaded.map_err(|error| store_failed(&error))?;
        let owner = Self::owner(exchange)?;
        if let Some(record) = record.filter(|record| record.owner == owner) {
            let seen = Seen::new(record)?;
            if seen.state.is_of(exchange.revision()) {
                return Ok(seen);
            }
        }
        Err(unknown(id))
    }

    /// Applies `change` to `task`, writes it and reports it. Returns `false` if the task has already ended, here or elsewhere. Once begun,
    /// this is completed even if nothing waits for it.
    pub(super) async fn change(self: &Arc<Self>, task: &Arc<LiveTask>, change: Change) -> bool {
        self.change_to(task, || change).await
    }

    /// Like [`change`](Self::change), with the change that `change` returns. No other change is made at the same time.
    async fn change_to(
        self: &Arc<Self>,
        task: &Arc<LiveTask>,
        change: impl FnOnce() -> Change,
    ) -> bool {
        let (seen, has_ended) = {
            let mut current = task.current();
            if !current.state.apply(change()) {
                return false;
            }
            let has_ended = current.state.status.is_end();
            current.record = current
                .record
                .clone()
                .changed(current.state.to_text(), has_ended);
            (current.clone(), has_ended)
        };
        let (this, task) = (self.clone(), task.clone());
        let written = begun(async move {
            let counts = this.write(&task, seen).await;
            if has_ended {
                this.forget(&task);
            }
            counts
        });
        match written {
            Begun::Done(counts) => counts,
            Begun::Alone(written) => written.await.unwrap_or(false),
            Begun::Lost => false,
        }
    }

    /// Writes and reports which questions of `task` are open now.
    pub(super) async fn asked(self: &Arc<Self>, task: &Arc<LiveTask>) {
        let open = || Change::Questions(task.questions.outstanding());
        self.change_to(task, open).await;
    }

    /// Writes `seen`, a new state of `task`, and reports it. Returns `false` if the task has ended elsewhere or is no longer kept.
    async fn write(&self, task: &LiveTask, mut seen: Seen) -> bool {
        let has_ended = seen.record.has_ended;
        let mut written = self.settings.store.update(seen.record.clone()).await;
        if let (Err(error), true) = (&written, has_ended) {
            // A short end instead, because a client that waits for the task must be notified.
            let error = store_failed(error);
            seen.state.status = Status::Failed;
            seen.state.message = Some("the result could not be kept".to_owned());
            seen.state.outcome = Some(Outcome::Error(error));
            seen.record = seen.record.changed(seen.state.to_text(), true);
            *task.current() = seen.clone();
            written = self.settings.store.update(seen.record.clone()).await;
        }
        let questions = || seen.state.questions.keys();
        match written {
            Ok(true) => {
                task.questions.stored(questions());
                self.report(task, &seen);
                true
            }
            Ok(false) => false,
            Err(error) => {
                tracing::error!(%error, "a change of a task was not kept");
                // The client never sees them, so they would never be answered.
                task.questions.refused(questions());
                !has_ended
            }
        }
    }

    /// Completes when the store reports that another process has ended `task`, or no longer has the task.
    pub(super) async fn ended_elsewhere(self: Arc<Self>, task: Arc<LiveTask>) {
        let store = &self.settings.store;
        if !store.is_shared() {
            return std::future::pending().await;
        }
        let id = task.id();
        loop {
            tokio::time::sleep(self.settings.poll_interval).await;
            match store.load(&id).await {
                Ok(Some(record)) if !record.has_ended => {}
                Ok(_) => return,
                Err(error) => tracing::warn!(%error, "a task could not be looked up"),
            }
        }
    }

    /// Adopts the end of `task` that another process has stored, and reports it.
    pub(super) async fn adopt_end(self: &Arc<Self>, task: &Arc<LiveTask>) {
        let loaded = self.settings.store.load(&task.id()).await;
        let loaded = loaded.unwrap_or_else(|error| {
            tracing::warn!(%error, "the end of a task could not be looked up");
            None
        });
        let seen = loaded.and_then(|record| Seen::new(record).ok());
        let is_known = task.current().state.status.is_end();
        match seen.filter(|_| !is_known) {
            Some(seen) if seen.record.has_ended => {
                *task.current() = seen.clone();
                self.report(task, &seen);
            }
            // The store was without the task for a moment. Its code no longer runs, so its state must not say that it does.
            Some(_) => {
                let message = "the store had lost the task";
                self.change(task, Change::Cancelled { message }).await;
            }
            None => {}
        }
        self.forget(task);
    }

    /// Notifies the listeners of `task`: at 2025-11-25 the session that created it, at 2026-07-28 the streams that ask for it. Clients must
    /// not rely on notifications (W-8), so they are dropped if they do not fit into a queue.
    fn report(&self, task: &LiveTask, seen: &Seen) {
        let poll = self.settings.poll_interval;
        if task.revision.era() == Era::Modern {
            self.listeners.report(seen, poll);
            return;
        }
        let session = task.session.as_ref();
        let Some(session) = session.filter(|session| session.is_confirmed()) else {
            return;
        };
        let kind = NotificationKind::core(Method::TaskStatus, task.revision);
        let policy = task.host.settings.outgoing;
        if let Some(message) = Outgoing::notification(&kind, Some(&seen.reported(poll)), policy)
            && let Err(refused) = session.outbox.push(message.counted(&task.host.unread))
        {
            tracing::debug!(?refused, "the status of a task was dropped");
        }
    }

    /// Releases the place of `task`, which has ended. While its function blocks a thread, it still counts as running.
    pub(super) fn forget(&self, task: &LiveTask) {
        let id = task.id();
        let removed = {
            let mut live = self.live_tasks();
            let removed = live.remove(&id);
            if removed.is_some() && task.threads.any() {
                self.lingering().push(Lingering {
                    owner: task.current().record.owner.clone(),
                    threads: task.threads.clone(),
                });
            }
            removed
        };
        // Dropped without the lock: it may be the last reference to a request.
        drop(removed);
        task.ended.fire();
        self.ended.notify_waiters();
    }

    /// Returns how long tasks continue when the server stops.
    pub(crate) fn drain(&self) -> Duration {
        self.settings.drain
    }

    /// Completes when no task runs in this process.
    pub(crate) async fn none_runs(&self) {
        loop {
            let mut ended = std::pin::pin!(self.ended.notified());
            ended.as_mut().enable();
            if self.live_tasks().is_empty() {
                return;
            }
            ended.await;
        }
    }

    /// Cancels the task `seen` before this returns (W-9). Returns `None` if it has already ended.
    ///
    /// # Errors
    /// -32603 if the store fails.
    pub(super) async fn cancel(
        self: &Arc<Self>,
        mut seen: Seen,
    ) -> Result<Option<Seen>, ErrorObject> {
        let change = || Change::Cancelled {
            message: "the client cancelled the task",
        };
        if let Some(task) = self.live(seen.id()) {
            let was_cancelled = self.change(&task, change()).await;
            task.give_up();
            let seen = task.current().clone();
            return Ok(was_cancelled.then_some(seen));
        }
        // It runs in another process, which checks for this.
        let store = &self.settings.store;
        for _ in 0..MAX_CANCEL_TRIES {
            if !seen.state.apply(change()) {
                return Ok(None);
            }
            seen.record = seen.record.changed(seen.state.to_text(), true);
            let written = store.update(seen.record.clone()).await;
            if written.map_err(|error| store_failed(&error))? {
                return Ok(Some(seen));
            }
            // The process that runs it has meanwhile written another state or the end.
            let loaded = store.load(&seen.record.id).await;
            match loaded.map_err(|error| store_failed(&error))? {
                Some(record) => seen = Seen::new(record)?,
                None => return Ok(None),
            }
        }
        let often = "a task changes too often to be cancelled from another process";
        Err(store_failed(&StoreError::new(often)))
    }
}

/// Returns the error for a task that the caller does not have. It is the same for a task of another caller and for an unknown id.
#[cold]
pub(super) fn unknown(id: &str) -> ErrorObject {
    let expected = "the id of a task of this caller that is kept still";
    let found = format!("string of {} bytes", id.len() + 2);
    jsonrpc::invalid_params(
        format!("there is no task `{}`", jsonrpc::shortened(id)),
        &ErrorDetail::new("/params/taskId", "known-task", expected, found),
    )
}

impl Room for Tasks {
    // W-1. The extension declares itself.
    fn declare(&self, _: Revision, capabilities: &mut ServerCapabilities) {
        let tools = ServerCapabilitiesTasksRequestsTools::new().with_call(JsonObject::empty());
        let requests = ServerCapabilitiesTasksRequests::new().with_tools(tools);
        let tasks = ServerCapabilitiesTasks::new()
            .with_cancel(JsonObject::empty())
            .with_list(JsonObject::empty())
            .with_requests(requests);
        capabilities.tasks = Some(tasks);
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
