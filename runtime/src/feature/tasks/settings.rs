//! How a server keeps and limits its tasks.

use std::{fmt, sync::Arc, time::Duration};

use crate::store::{MemoryTaskStore, TaskStore};

/// How long a task is kept, from its creation, unless its client asks for another time or [`TaskSettings::default_ttl`] sets it: 1 h.
pub const DEFAULT_TASK_TTL: Duration = Duration::from_secs(3600);

/// The longest time that a client can have a task kept for, unless [`TaskSettings::max_ttl`] sets another one: 24 h.
pub const DEFAULT_MAX_TASK_TTL: Duration = Duration::from_secs(24 * 3600);

/// How long clients are asked to wait between two looks at a task, unless [`TaskSettings::poll_interval`] sets another time: 1 s.
pub const DEFAULT_TASK_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Tasks that may run at once, unless [`TaskSettings::max_running`] sets another number.
pub const DEFAULT_MAX_RUNNING_TASKS: usize = 256;

/// Tasks of one caller that may run at once, unless [`TaskSettings::max_running`] sets another number.
pub const DEFAULT_MAX_RUNNING_TASKS_OF_ONE: usize = 64;

/// How long tasks go on when the server stops, unless [`TaskSettings::drain`] sets another time: 4 s.
pub const DEFAULT_TASK_DRAIN: Duration = Duration::from_secs(4);

/// How a server keeps and limits its tasks, for [`Server::tasks`](crate::Server::tasks).
///
/// ```
/// use std::time::Duration;
/// use trueform::{prelude::*, task::TaskSettings};
///
/// let settings = TaskSettings::new().default_ttl(Duration::from_secs(600)).max_running(32, 4);
/// let server = Server::new("reports", "1.0.0").tasks(settings);
/// # drop(server);
/// ```
#[derive(Clone)]
#[must_use = "settings do nothing until a server has them"]
pub struct TaskSettings {
    pub(super) default_ttl: Duration,
    pub(super) max_ttl: Duration,
    pub(super) poll_interval: Duration,
    pub(super) max_running: usize,
    pub(super) max_running_of_one: usize,
    pub(super) drain: Duration,
    pub(super) store: Arc<dyn TaskStore>,
}

impl Default for TaskSettings {
    fn default() -> Self {
        Self::new()
    }
}

/// The shortest life of a task and the shortest interval, and the unit in which they are reported.
const MILLISECOND: Duration = Duration::from_millis(1);

impl TaskSettings {
    /// Creates the default settings, with a new [`MemoryTaskStore`].
    pub fn new() -> Self {
        Self {
            default_ttl: DEFAULT_TASK_TTL,
            max_ttl: DEFAULT_MAX_TASK_TTL,
            poll_interval: DEFAULT_TASK_POLL_INTERVAL,
            max_running: DEFAULT_MAX_RUNNING_TASKS,
            max_running_of_one: DEFAULT_MAX_RUNNING_TASKS_OF_ONE,
            drain: DEFAULT_TASK_DRAIN,
            store: Arc::new(MemoryTaskStore::new()),
        }
    }

    /// Sets how long a task is kept, from its creation, if its client asks for nothing else: at least 1 ms, and at most the
    /// [maximum](Self::max_ttl). A task that still runs then is cancelled and forgotten. Default: [`DEFAULT_TASK_TTL`]. A second call
    /// replaces the first, as for the other settings here.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::task::TaskSettings;
    ///
    /// let settings = TaskSettings::new().default_ttl(Duration::from_secs(600));
    /// ```
    pub fn default_ttl(mut self, ttl: Duration) -> Self {
        self.default_ttl = ttl;
        self
    }

    /// Sets the longest time that a client can have a task kept for, at least 1 ms. One that asks for more gets this. Default:
    /// [`DEFAULT_MAX_TASK_TTL`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::task::TaskSettings;
    ///
    /// let settings = TaskSettings::new().max_ttl(Duration::from_secs(7200));
    /// ```
    pub fn max_ttl(mut self, ttl: Duration) -> Self {
        self.max_ttl = ttl;
        self
    }

    /// Sets how long clients are asked to wait between two looks at a task, at least 1 ms. A task that runs here is looked up in a
    /// store that other processes [share](TaskStore::is_shared) as often. Default: [`DEFAULT_TASK_POLL_INTERVAL`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::task::TaskSettings;
    ///
    /// let settings = TaskSettings::new().poll_interval(Duration::from_secs(5));
    /// ```
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// Sets how many tasks may run at once in this process, `in_all` and `of_one_caller`: an authenticated caller, or else a session
    /// of 2025-11-25. One more call is refused (-32603). Callers of 2026-07-28 that are not authenticated cannot be distinguished, so only the
    /// first number bounds their tasks. A task of a `blocking` tool that is cancelled or has expired counts until its function returns, which
    /// [`Context::is_cancelled`](crate::Context::is_cancelled) lets it do early. Default: [`DEFAULT_MAX_RUNNING_TASKS`] and [`DEFAULT_MAX_RUNNING_TASKS_OF_ONE`].
    ///
    /// ```
    /// use trueform::task::TaskSettings;
    ///
    /// let settings = TaskSettings::new().max_running(32, 4);
    /// ```
    pub fn max_running(mut self, in_all: usize, of_one_caller: usize) -> Self {
        (self.max_running, self.max_running_of_one) = (in_all, of_one_caller);
        self
    }

    /// Sets how long tasks go on when the server is asked to stop. Those that run on after that are cancelled; their status says so, and
    /// that the server stopped. Keep it shorter than the transports drain, or the process may end before. Default:
    /// [`DEFAULT_TASK_DRAIN`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::task::TaskSettings;
    ///
    /// let settings = TaskSettings::new().drain(Duration::from_secs(2));
    /// ```
    // DEC-11
    pub fn drain(mut self, time: Duration) -> Self {
        self.drain = time;
        self
    }

    /// Sets the store of the tasks. Default: a [`MemoryTaskStore`], whose tasks end with the process.
    ///
    /// ```
    /// use trueform::{store::MemoryTaskStore, task::TaskSettings};
    ///
    /// let settings = TaskSettings::new().store(MemoryTaskStore::new().max_tasks(100));
    /// ```
    pub fn store(mut self, store: impl TaskStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Returns problems for settings with which no task could run or be useful to its client.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        let times = [
            ("default_ttl", self.default_ttl),
            ("max_ttl", self.max_ttl),
            ("poll_interval", self.poll_interval),
        ];
        let short = times.into_iter().filter(|(_, time)| *time < MILLISECOND);
        let short = short.map(|(setting, time)| {
            format!("`TaskSettings::{setting}` is {time:?}; expected at least 1 ms")
        });
        let none = [self.max_running, self.max_running_of_one].contains(&0);
        short.chain(none.then(|| {
            "a number of `TaskSettings::max_running` is zero; expected at least 1 task".to_owned()
        }))
    }

    /// Returns how long a task is kept if its client asks for `asked` milliseconds.
    pub(super) fn life(&self, asked: Option<u64>) -> Duration {
        let life = asked.map_or(self.default_ttl, Duration::from_millis);
        // Written in milliseconds, as integers that every reader of JSON can hold.
        const LONGEST: Duration = Duration::from_millis((1 << 53) - 1);
        let life = life.min(self.max_ttl).min(LONGEST);
        Duration::from_millis(u64::try_from(life.as_millis()).unwrap_or(u64::MAX))
    }
}

impl fmt::Debug for TaskSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskSettings")
            .field("default_ttl", &self.default_ttl)
            .field("max_ttl", &self.max_ttl)
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // W-4: the receiver may override the requested time.
    #[test]
    fn lives() {
        let settings = TaskSettings::new()
            .default_ttl(Duration::from_secs(2))
            .max_ttl(Duration::from_secs(3));
        let life = |asked| settings.life(asked).as_millis();
        assert_eq!(
            [life(None), life(Some(1)), life(Some(4000))],
            [2000, 1, 3000]
        );
        let endless = TaskSettings::new().max_ttl(Duration::MAX);
        let longest = endless.life(Some(u64::MAX)).as_millis();
        assert_eq!(longest, (1 << 53) - 1);
        let short = TaskSettings::new().max_ttl(Duration::from_secs(1));
        assert_eq!(short.life(None).as_millis(), 1000);
    }
}
