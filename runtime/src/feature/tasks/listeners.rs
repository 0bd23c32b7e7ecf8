//! Streams of `subscriptions/listen` that are notified of tasks (W-21, U-2 to U-4).

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use trueform_schema::{
    Era, ErrorObject, SubscriptionFilter, decode,
    ext::tasks::{IDENTIFIER, TaskSubscriptionNotifications, methods::TaskUpdated},
};

use super::{live::LiveTask, room::Tasks, wire::Seen};
use crate::{
    exchange::Exchange,
    feature::undeclared,
    gate::NotificationKind,
    jsonrpc::{self, ErrorDetail},
    needs::{Undeclared, declares_extension},
};

/// Most tasks that one stream of `subscriptions/listen` hears of; further ones are left out of what is acknowledged.
pub const MAX_LISTENED_TASKS: usize = 1024;

/// The member of a filter that names tasks.
const TASK_IDS: &str = "taskIds";

/// The streams that are notified of tasks.
#[derive(Default)]
pub(super) struct Listeners(Mutex<Vec<Listener>>);

struct Listener {
    exchange: Weak<Exchange>,
    tasks: HashSet<Arc<str>>,
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, Vec<Listener>> {
        // No code that can panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends `seen` to the streams that listen to this task.
    pub(super) fn report(&self, seen: &Seen, poll: Duration) {
        let listening: Vec<_> = {
            let listeners = self.lock();
            let named = listeners
                .iter()
                .filter(|listener| listener.tasks.contains(seen.id()));
            named
                .filter_map(|listener| listener.exchange.upgrade())
                .collect()
        };
        for exchange in listening {
            notify(&exchange, seen, poll);
        }
    }
}

fn notify(exchange: &Exchange, seen: &Seen, poll: Duration) {
    if let Ok(params) = seen.notification(poll, &exchange.id) {
        let kind = NotificationKind::of::<TaskUpdated>(exchange.revision());
        exchange.notify(&kind, &params);
    }
}

/// The tasks that a stream listens to, each with the version that was read.
pub(crate) struct ListenedTasks(Vec<(Arc<LiveTask>, Arc<str>, u64)>);

impl Tasks {
    /// Returns the tasks in `filter` that the stream of `exchange` will be notified of: those of its caller that run in this process. Their
    /// ids replace those in `filter`. `None` if it names none.
    ///
    /// # Errors
    /// -32021 if the client did not declare the extension (W-18), -32602 if the ids are not strings.
    pub(crate) fn listened(
        &self,
        exchange: &Exchange,
        filter: &SubscriptionFilter,
    ) -> Result<Option<ListenedTasks>, ErrorObject> {
        let Some(ids) = filter.extras().get(TASK_IDS) else {
            return Ok(None);
        };
        let extensions = exchange.peer().capabilities.extensions.as_ref();
        if !declares_extension(extensions, IDENTIFIER) {
            return Err(undeclared(Era::Modern, Undeclared::extension(IDENTIFIER)));
        }
        let named = format!("{{\"{TASK_IDS}\":{}}}", ids.get());
        let named: TaskSubscriptionNotifications = decode::from_str(&named).map_err(|error| {
            let detail = ErrorDetail::of_decoding(&error, "/params/notifications");
            jsonrpc::params_error("subscriptions/listen", &detail)
        })?;
        let owner = Self::owner(exchange)?;
        let mut taken = HashSet::new();
        let ids = named.task_ids.into_iter().flatten();
        let live = ids.filter_map(|id| {
            let task = self.live(&id)?;
            let seen = task.current();
            let is_own = seen.record.owner == owner && seen.state.is_of(exchange.revision());
            let (id, version) = (seen.record.id.clone(), seen.record.version);
            drop(seen);
            (is_own && taken.insert(id.clone())).then_some((task, id, version))
        });
        Ok(Some(ListenedTasks(live.take(MAX_LISTENED_TASKS).collect())))
    }

    /// Notifies the stream of `exchange`, which is acknowledged, of `tasks` from now on.
    pub(crate) fn listen(&self, exchange: &Arc<Exchange>, tasks: ListenedTasks) {
        let mut listeners = self.listeners.lock();
        listeners.retain(|listener| listener.exchange.strong_count() > 0);
        listeners.push(Listener {
            exchange: Arc::downgrade(exchange),
            tasks: tasks.0.iter().map(|(_, id, _)| id.clone()).collect(),
        });
        drop(listeners);
        // Changes since the tasks were read were reported only to other streams.
        for (task, _, version) in tasks.0 {
            let now = task.current().clone();
            if now.record.version != version {
                notify(exchange, &now, self.settings.poll_interval);
            }
        }
    }
}

impl ListenedTasks {
    /// Adds the ids to the filter that is acknowledged.
    pub(crate) fn acknowledge(&self, filter: &mut SubscriptionFilter) {
        let ids: Vec<&str> = self.0.iter().map(|(_, id, _)| &**id).collect();
        let ids = trueform_schema::Json::from(serde_json::json!(ids));
        filter.extras_mut().insert(TASK_IDS, ids);
    }
}
