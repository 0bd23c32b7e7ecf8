//! Tasks that outlive the request that made them: what is known of one, and the trait of what keeps it.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::{StoreError, StoreFuture};

/// A task as a store keeps it. The state is opaque: status, questions and result, written by one version of this library for the
/// same version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskRecord {
    /// The id that clients name, unguessable and unique.
    pub id: Arc<str>,
    /// Among whose tasks it is listed. `None` for callers that cannot be distinguished: such a task is not listed.
    // W-10
    pub owner: Option<Box<str>>,
    /// When it was created.
    pub created: SystemTime,
    /// How long it is kept, counted from then.
    pub life: Duration,
    /// Counts its changes. A later state has a higher number.
    pub version: u64,
    /// Whether the task has ended: then it does not change any more.
    pub has_ended: bool,
    /// JSON text.
    pub state: Arc<str>,
}

impl TaskRecord {
    /// A record of version 0 of a task that has not ended and has no owner.
    #[must_use]
    pub fn new(
        id: impl Into<Arc<str>>,
        created: SystemTime,
        life: Duration,
        state: impl Into<Arc<str>>,
    ) -> Self {
        Self {
            id: id.into(),
            owner: None,
            created,
            life,
            version: 0,
            has_ended: false,
            state: state.into(),
        }
    }

    /// Sets among whose tasks it is listed. A second call replaces the first, as for the other members here.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use trueform::store::TaskRecord;
    ///
    /// let record = TaskRecord::new("7", SystemTime::now(), Duration::from_secs(60), "{}").with_owner(Some("ada".into()));
    /// assert_eq!(record.owner.as_deref(), Some("ada"));
    /// ```
    #[must_use]
    pub fn with_owner(mut self, owner: Option<Box<str>>) -> Self {
        self.owner = owner;
        self
    }

    /// Sets the state, and whether the task has ended. The version is the next one.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use trueform::store::TaskRecord;
    ///
    /// let record = TaskRecord::new("7", SystemTime::now(), Duration::from_secs(60), "{}");
    /// let ended = record.changed(r#"{"status":"completed"}"#, true);
    /// assert_eq!((ended.version, ended.has_ended), (1, true));
    /// ```
    #[must_use]
    pub fn changed(mut self, state: impl Into<Arc<str>>, has_ended: bool) -> Self {
        self.state = state.into();
        self.has_ended = has_ended;
        self.version += 1;
        self
    }
}

/// Keeps tasks and their results until they expire.
///
/// The process that runs a task writes its states; any process with the same store answers for it. A task that another process
/// cancels ends in the store at once; the process that runs it looks into the store in each
/// [poll interval](crate::task::TaskSettings::poll_interval), and gives it up then. Input that a task waits for has to reach the process
/// that runs it.
///
/// A record expires when its [`life`](TaskRecord::life) is over, whether its task has ended or not.
pub trait TaskStore: fmt::Debug + Send + Sync + 'static {
    /// Keeps `record`, a new task. Returns `false` if there is no room for one more.
    fn create(&self, record: TaskRecord) -> StoreFuture<'_, Result<bool, StoreError>>;

    /// Keeps `record` in place of the earlier one. Returns `false` if nothing was replaced: the task is unknown or expired, it has
    /// ended, or its version is not lower. The look and the change are one step, so that of two ends only one counts.
    ///
    /// An error if there is no room for the state.
    // W-5
    fn update(&self, record: TaskRecord) -> StoreFuture<'_, Result<bool, StoreError>>;

    /// Whether other processes may change what it keeps. Where none does, the tasks that run here are not looked up again and again.
    /// Default: `true`.
    fn is_shared(&self) -> bool {
        true
    }

    /// The task `id`, unless it is unknown or expired.
    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Result<Option<TaskRecord>, StoreError>>;

    /// At most `most` tasks of `owner`, in the order of their creation and, of those created at the same time, of their ids; only
    /// those that come after the time and the id in `after`.
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(SystemTime, &'a str)>,
        most: usize,
    ) -> StoreFuture<'a, Result<Vec<TaskRecord>, StoreError>>;
}
