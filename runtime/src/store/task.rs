//! Tasks that outlive the request that created them: the record of a task, and the trait of the store that keeps it.

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
    /// The id by which clients refer to it, unguessable and unique.
    pub id: Arc<str>,
    /// The owner whose list of tasks contains it. `None` for callers that cannot be distinguished: such a task is not listed.
    // W-10
    pub owner: Option<Box<str>>,
    /// When it was created.
    pub created: SystemTime,
    /// How long it is kept, from its creation on.
    pub life: Duration,
    /// Counts its changes. A later state has a higher number.
    pub version: u64,
    /// Whether the task has ended: then it does not change any more.
    pub has_ended: bool,
    /// The state, as JSON text.
    pub state: Arc<str>,
}

impl TaskRecord {
    /// Creates a record of version 0 of a task that has not ended and has no owner.
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

    /// Sets the owner whose list contains it. A second call replaces the first, as for the other setters here.
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

    /// Sets the state, and whether the task has ended. The version increases by one.
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
/// The process that runs a task writes its states. Any process with the same store answers requests about it. If another process cancels a
/// task, the task ends in the store at once. The process that runs it checks the store in each
/// [poll interval](crate::task::TaskSettings::poll_interval), and then stops it. Input that a task waits for must reach the process that
/// runs it.
///
/// A record expires when its [`life`](TaskRecord::life) is over, whether its task has ended or not.
pub trait TaskStore: fmt::Debug + Send + Sync + 'static {
    /// Keeps `record`, a new task. Returns `false` if there is no room for one more.
    fn create(&self, record: TaskRecord) -> StoreFuture<'_, Result<bool, StoreError>>;

    /// Keeps `record` in place of the earlier one. Returns `false` if nothing was replaced: the task is unknown or expired, it has ended,
    /// or its version is not lower. The check and the change are one step, so that of two ends only one counts.
    ///
    /// Fails if there is no room for the state.
    // W-5
    fn update(&self, record: TaskRecord) -> StoreFuture<'_, Result<bool, StoreError>>;

    /// Returns whether other processes may change the tasks. If not, the server does not check the store again and again for the tasks that
    /// it runs. Default: `true`.
    fn is_shared(&self) -> bool {
        true
    }

    /// Returns the task `id`, unless it is unknown or expired.
    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Result<Option<TaskRecord>, StoreError>>;

    /// Returns at most `most` tasks of `owner`, ordered by their creation and, if created at the same time, by their ids. Contains only
    /// tasks after the time and the id in `after`.
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(SystemTime, &'a str)>,
        most: usize,
    ) -> StoreFuture<'a, Result<Vec<TaskRecord>, StoreError>>;
}
