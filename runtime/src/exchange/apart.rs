//! Requests whose work continues separately, as a task. Features define what a task is.

use std::{
    any::Any,
    future::{Future, poll_fn},
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use trueform_schema::{Era, Extras, Json, NotificationMetaObject};

use super::{Exchange, MessageSink};

/// The member of `_meta` that names the task a message belongs to.
// W-7
pub(crate) const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// What is kept of a request whose work may continue separately.
#[derive(Default)]
pub(crate) struct Apart {
    /// What the work may become. Type-erased, because features define it.
    offer: OnceLock<Arc<dyn Any + Send + Sync>>,
    handover: Mutex<Handover>,
    /// The id of the task that the work has become.
    task: OnceLock<Arc<str>>,
    /// The threads that the work holds, if they are counted.
    threads: OnceLock<Arc<HeldThreads>>,
    is_set: AtomicBool,
    /// Where the messages of the request go after it was separated. `None` if they still go to its transport.
    sink: OnceLock<MessageSink>,
}

#[derive(Default)]
struct Handover {
    /// What takes the work over.
    taker: Option<Box<dyn Any + Send>>,
    /// Wakes the work, which waits until it is taken over.
    waiting: Option<Waker>,
}

/// How many threads the work of a request holds. A function that blocks cannot be dropped: it holds its thread until it returns, even if its
/// task has ended.
#[derive(Debug, Default)]
pub(crate) struct HeldThreads(AtomicUsize);

impl HeldThreads {
    pub(crate) fn any(&self) -> bool {
        self.0.load(Ordering::SeqCst) != 0
    }
}

/// One held thread, or one that the work waits for.
pub(crate) struct HeldThread(Arc<HeldThreads>);

impl Drop for HeldThread {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl std::fmt::Debug for Apart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Apart")
            .field("task", &self.task)
            .finish_non_exhaustive()
    }
}

impl Exchange {
    /// Separates this request, which has not begun yet, from its transport. Its id is free again after its response, and its messages are
    /// sent with those of its session. A request without a session sends nothing.
    // The log of clients may already refer to the request, so this takes a shared reference.
    pub(crate) fn set_apart(&self) {
        let apart = &self.later().apart;
        apart.is_set.store(true, Ordering::SeqCst);
        match &self.session {
            Some(session) if self.caller.revision.era() == Era::Legacy => {
                let _ = apart.sink.set(MessageSink::Link(session.outbox.clone()));
            }
            _ => self.finished.store(true, Ordering::SeqCst),
        }
    }

    /// Returns whether the request was separated.
    pub(super) fn is_apart(&self) -> bool {
        let later = self.later.get();
        later.is_some_and(|later| later.apart.is_set.load(Ordering::SeqCst))
    }

    /// Returns where messages of the request go.
    #[inline]
    pub(crate) fn sink(&self) -> &MessageSink {
        let later = self.later.get();
        later
            .and_then(|later| later.apart.sink.get())
            .unwrap_or(&self.own_sink)
    }

    /// Lets the work become what `offer` says. Only the first call counts.
    pub(crate) fn offer(&self, offer: Arc<dyn Any + Send + Sync>) {
        let _ = self.later().apart.offer.set(offer);
    }

    /// Returns what the work may become, if it is a `T`.
    pub(crate) fn offered<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let offer = self.later.get()?.apart.offer.get()?;
        offer.clone().downcast().ok()
    }

    /// Asks for the work to be taken over by `taker` as soon as it waits.
    pub(crate) fn hand_over(&self, taker: Box<dyn Any + Send>) {
        self.handover().taker = Some(taker);
    }

    /// Returns whether the work waits to be taken over.
    #[inline]
    pub(crate) fn has_handover(&self) -> bool {
        self.later.get().is_some_and(|later| {
            let handover = later.apart.handover.lock();
            let handover = handover.unwrap_or_else(PoisonError::into_inner);
            handover.taker.is_some()
        })
    }

    /// Is ready after the work was taken over.
    pub(crate) fn poll_taken_over(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut handover = self.handover();
        if handover.taker.is_none() {
            return Poll::Ready(());
        }
        handover.waiting = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Returns what takes the work over. The work continues at its next poll.
    pub(crate) fn take_over(&self) -> Option<Box<dyn Any + Send>> {
        let mut handover = self.handover();
        let (taker, waiting) = (handover.taker.take(), handover.waiting.take());
        drop(handover);
        if let Some(waiting) = waiting {
            waiting.wake();
        }
        taker
    }

    fn handover(&self) -> MutexGuard<'_, Handover> {
        let handover = self.later().apart.handover.lock();
        handover.unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the work is the task `id`. Only the first call counts.
    pub(crate) fn set_task(&self, id: Arc<str>) {
        let _ = self.later().apart.task.set(id);
    }

    /// Counts the threads that the work holds in `threads`. Only the first call counts.
    pub(crate) fn set_threads(&self, threads: Arc<HeldThreads>) {
        let _ = self.later().apart.threads.set(threads);
    }

    /// Counts one thread until the returned value is dropped, if threads are counted.
    pub(crate) fn hold_thread(&self) -> Option<HeldThread> {
        let threads = self.later.get()?.apart.threads.get()?.clone();
        threads.0.fetch_add(1, Ordering::SeqCst);
        Some(HeldThread(threads))
    }

    /// Returns the members of `_meta` for messages of this request. They name the task, if there is one.
    pub(super) fn related_task(&self) -> Option<Extras> {
        let id = self.later.get()?.apart.task.get()?;
        (self.revision().era() == Era::Legacy).then(|| related(id))
    }

    /// Returns the `_meta` of a notification about this request.
    pub(super) fn notification_meta(&self) -> Option<NotificationMetaObject> {
        let mut meta = NotificationMetaObject::new();
        *meta.extras_mut() = self.related_task()?;
        Some(meta)
    }
}

/// Returns the member that names the task `id`.
pub(crate) fn related(id: &str) -> Extras {
    let mut extras = Extras::default();
    extras.insert(
        RELATED_TASK,
        Json::from(serde_json::json!({ "taskId": id })),
    );
    extras
}

/// Waits for `future`. Meanwhile the request `exchange` releases what it occupies in its transport.
pub(crate) async fn idle<F: Future>(exchange: &Arc<Exchange>, future: F) -> F::Output {
    let mut idle = Idle {
        exchange,
        has_released: false,
    };
    let mut future = pin!(future);
    poll_fn(|cx| {
        let polled = future.as_mut().poll(cx);
        if polled.is_pending() {
            idle.release();
        }
        polled
    })
    .await
}

/// A request that only waits.
struct Idle<'e> {
    exchange: &'e Arc<Exchange>,
    has_released: bool,
}

impl Idle<'_> {
    /// At its first poll a request occupies nothing yet.
    fn release(&mut self) {
        if !self.has_released
            && let Some(occupied) = self.exchange.occupied()
        {
            self.has_released = true;
            if self.exchange.later().asks.fetch_add(1, Ordering::Relaxed) == 0 {
                occupied.release();
            }
        }
    }
}

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        if self.has_released
            && self.exchange.later().asks.fetch_sub(1, Ordering::Relaxed) == 1
            && let Some(occupied) = self.exchange.occupied()
        {
            occupied.regain();
        }
    }
}
