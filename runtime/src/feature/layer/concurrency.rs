//! A layer that limits how many calls run at once.

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{self, Poll},
};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use super::{CallInfo, CallLayer, CallScope};
use crate::feature::failure::ToolError;

/// How many calls may wait behind those that run, unless [`ConcurrencyLimit::queue`] sets another number.
pub const DEFAULT_QUEUE: usize = 64;

/// Limits how many calls run at once: all calls, calls [of one name](Self::per_name), or calls [of one principal](Self::per_principal).
///
/// Further calls wait, and run in the order in which they arrived. A queue has room for [`DEFAULT_QUEUE`] calls, or for the number that
/// [`queue`](Self::queue) sets. One more call is refused at once: a tool returns a result with `isError`, everything else returns -32603. A
/// call counts until it has its response, or is cancelled or dropped. The thread of a blocking function may continue after a cancellation
/// or a timeout; it no longer counts.
///
/// If you use several limits, add the narrowest one first. A call that waits at an inner limit keeps its place at the outer ones. So one
/// principal could use up an outer limit on all calls.
///
/// Only the time limit of a call limits how long it waits. A [`TimeLimit`](super::TimeLimit) sets one for every call.
///
/// ```
/// use trueform::{prelude::*, layer::ConcurrencyLimit};
///
/// /// Renders a page, which takes much memory.
/// #[tool]
/// async fn render(page: u32) -> String {
///     format!("page {page}")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::new("press", "1.0.0")
///     .tools(tools![render])
///     .layer(ConcurrencyLimit::per_principal(2).queue(8))
///     .layer(ConcurrencyLimit::new(16));
/// let client = server.connect().await?;
/// client.call_tool("render", serde_json::json!({ "page": 1 })).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ConcurrencyLimit {
    by: By,
    running: usize,
    waiting: usize,
    groups: Groups,
}

/// Which calls are counted together.
#[derive(Clone, Copy, Debug)]
enum By {
    All,
    Name,
    Principal,
}

/// The calls that are counted together. Names of different methods differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Group {
    All,
    Name(&'static str, Box<str>),
    /// Callers without a principal are one group.
    Principal(Option<Box<str>>),
}

/// The groups that have calls now. There are at most as many groups as calls.
type Groups = Arc<Mutex<HashMap<Group, Count>>>;

#[derive(Debug)]
struct Count {
    /// A permit for each call that may run. Fair: calls get permits in the order in which they arrived.
    permits: Arc<Semaphore>,
    /// Calls that run or wait.
    calls: usize,
}

impl ConcurrencyLimit {
    /// Creates a limit of `calls` calls at once, at least 1.
    #[must_use]
    pub fn new(calls: usize) -> Self {
        Self::by(By::All, calls)
    }

    /// Creates a limit of `calls` calls of each name at once, at least 1. A tool and a prompt of the same name are counted separately.
    #[must_use]
    pub fn per_name(calls: usize) -> Self {
        Self::by(By::Name, calls)
    }

    /// Creates a limit of `calls` calls of each [`Principal`](crate::Principal) at once, at least 1. All callers without a principal are
    /// counted together.
    #[must_use]
    pub fn per_principal(calls: usize) -> Self {
        Self::by(By::Principal, calls)
    }

    fn by(by: By, running: usize) -> Self {
        Self {
            by,
            running: running.min(Semaphore::MAX_PERMITS),
            waiting: DEFAULT_QUEUE,
            groups: Groups::default(),
        }
    }

    /// Sets how many calls may wait, in each group that is counted together. With 0 a call that cannot run at once is refused.
    /// Default: [`DEFAULT_QUEUE`].
    ///
    /// ```
    /// use trueform::{layer::ConcurrencyLimit, prelude::*};
    ///
    /// let limit = ConcurrencyLimit::new(4).queue(16);
    /// let server = Server::new("reports", "1.0.0").layer(limit);
    /// # assert!(server.build().is_ok());
    /// ```
    #[must_use]
    pub fn queue(mut self, calls: usize) -> Self {
        self.waiting = calls;
        self
    }

    fn group(&self, call: &CallInfo<'_>) -> Group {
        let principal = call.context().principal();
        match self.by {
            By::All => Group::All,
            By::Name => Group::Name(call.method(), call.name().into()),
            By::Principal => Group::Principal(principal.map(|one| one.subject().into())),
        }
    }
}

/// Locks the groups. No code of an author runs while they are locked.
fn locked(groups: &Groups) -> MutexGuard<'_, HashMap<Group, Count>> {
    groups.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CallLayer for ConcurrencyLimit {
    fn problem(&self) -> Option<String> {
        (self.running == 0)
            .then(|| "a `ConcurrencyLimit` is zero; expected at least 1 call".to_owned())
    }

    fn begin(&self, call: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError> {
        let group = self.group(call);
        let mut groups = locked(&self.groups);
        let count = groups.entry(group.clone()).or_insert_with(|| Count {
            permits: Arc::new(Semaphore::new(self.running)),
            calls: 0,
        });
        if self.running.saturating_add(self.waiting) <= count.calls {
            let (running, waiting) = (self.running, self.waiting);
            return Err(ToolError::new(format!(
                "`{}` did not run: {running} calls run and {waiting} wait, as many as may; try again later",
                call.name()
            )));
        }
        count.calls += 1;
        Ok(Some(Box::new(QueueSlot {
            permits: count.permits.clone(),
            turn: QueueTurn::Fresh,
            group,
            groups: self.groups.clone(),
        })))
    }
}

/// The place of a call in its group.
struct QueueSlot {
    permits: Arc<Semaphore>,
    turn: QueueTurn,
    group: Group,
    groups: Groups,
}

enum QueueTurn {
    /// The outer layers have not admitted the call. If it took a permit now, it could block the call that those layers wait for.
    Fresh,
    Waiting(Acquiring),
    Running(#[expect(dead_code, reason = "given back by its drop")] OwnedSemaphorePermit),
    Over,
}

type Acquiring = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;

impl CallScope for QueueSlot {
    fn poll_admitted(&mut self, cx: &mut task::Context<'_>) -> Poll<()> {
        if let QueueTurn::Fresh = self.turn {
            self.turn = match self.permits.clone().try_acquire_owned() {
                Ok(permit) => QueueTurn::Running(permit),
                Err(_) => QueueTurn::Waiting(Box::pin(self.permits.clone().acquire_owned())),
            };
        }
        if let QueueTurn::Waiting(acquiring) = &mut self.turn {
            let Poll::Ready(permit) = acquiring.as_mut().poll(cx) else {
                return Poll::Pending;
            };
            self.turn = QueueTurn::Running(permit.expect("the semaphore is never closed"));
        }
        Poll::Ready(())
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        // The permit is released first, because a new group starts with all permits.
        self.turn = QueueTurn::Over;
        let mut groups = locked(&self.groups);
        if let Some(count) = groups.get_mut(&self.group) {
            count.calls -= 1;
            if count.calls == 0 {
                groups.remove(&self.group);
            }
        }
    }
}

impl fmt::Debug for QueueSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("group", &self.group)
            .finish_non_exhaustive()
    }
}
