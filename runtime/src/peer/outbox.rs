//! Outgoing messages that are not responses: progress, log messages, list changes, server requests.
//!
//! A bounded queue with one reader. Knows neither tokio nor a transport; the transport that writes the bytes polls it.

use std::{
    collections::{HashSet, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use trueform_schema::RequestId;

use crate::gate::{NotificationKind, Outgoing};

/// Most messages that wait in one outbox.
///
/// Beyond it, or beyond [`OUTBOX_BYTES`], progress and log messages that are not awaited are lost, and the rest is refused to
/// the sender.
pub const OUTBOX_LIMIT: usize = 1024;

/// Most bytes of messages that wait in one outbox: 4 MiB, or one message if that is larger.
pub const OUTBOX_BYTES: usize = 4 << 20;

/// A bounded queue of messages. A notification for many peers is kept as its kind, and encoded when it is taken.
pub(crate) struct Outbox {
    state: Mutex<OutboxState>,
}

#[derive(Default)]
struct OutboxState {
    queue: VecDeque<Queued>,
    /// The messages of the queue that are due, so that a duplicate is found at once. `None` before the first one.
    #[expect(
        clippy::box_collection,
        reason = "each request over HTTP has an outbox, and few need this"
    )]
    due: Option<Box<HashSet<Due>>>,
    bytes: usize,
    reader: Option<Waker>,
    /// The tasks that wait for room.
    writers: Vec<Waker>,
    closed: bool,
}

enum Queued {
    Encoded {
        message: Outgoing,
        subject: Option<Subject>,
    },
    Due(Due),
}

/// A notification whose text is always the same, so that one waiting for a peer is enough.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Due {
    pub(crate) kind: NotificationKind,
    /// The subscription request that it belongs to, if any.
    pub(crate) subscription: Option<RequestId>,
    /// The resource that changed; `None` for a list.
    pub(crate) uri: Option<Arc<str>>,
}

/// The subject of a message. A newer message about the same subject makes an older one unnecessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    /// The name of the notification.
    pub(crate) method: &'static str,
    /// The address of the request that it belongs to.
    pub(crate) request: usize,
}

/// Why a message was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotQueued {
    /// Too many messages already wait.
    Full,
    /// The reader of this outbox is gone.
    Closed,
}

impl Outbox {
    pub(crate) const fn new() -> Self {
        Self {
            state: Mutex::new(OutboxState {
                queue: VecDeque::new(),
                due: None,
                bytes: 0,
                reader: None,
                writers: Vec::new(),
                closed: false,
            }),
        }
    }

    /// Appends `message`.
    pub(crate) fn push(&self, message: Outgoing) -> Result<(), NotQueued> {
        let mut message = Some(message);
        self.try_push(&mut message, None)
    }

    /// Appends the message in `message` and takes it out. The message stays there if it is refused.
    pub(crate) fn try_push(
        &self,
        message: &mut Option<Outgoing>,
        subject: Option<Subject>,
    ) -> Result<(), NotQueued> {
        let mut state = self.lock();
        if state.closed {
            return Err(NotQueued::Closed);
        }
        let Some(message) = message.take_if(|message| state.has_room_for(message.bytes().len()))
        else {
            return Err(NotQueued::Full);
        };
        state.bytes += message.bytes().len();
        state.queue.push_back(Queued::Encoded { message, subject });
        wake_reader(state);
        Ok(())
    }

    /// Appends `due` unless it already waits. So a peer that does not read costs nothing more.
    pub(crate) fn push_due(&self, due: Due) -> Result<(), NotQueued> {
        let mut state = self.lock();
        if state.closed {
            return Err(NotQueued::Closed);
        }
        let all = state.due.get_or_insert_default();
        if !all.insert(due.clone()) {
            return Ok(());
        }
        // The bounds do not apply: it takes a few bytes, and waits once for each topic, subscription and resource, whose number is bounded.
        state.queue.push_back(Queued::Due(due));
        wake_reader(state);
        Ok(())
    }

    /// Replaces the waiting message about `subject` by `message`. Returns `false` if none waits, or if there is no room for a longer
    /// message.
    pub(crate) fn replace(&self, message: Outgoing, subject: Subject) -> bool {
        let mut state = self.lock();
        let (bytes, is_alone) = (state.bytes, state.queue.len() == 1);
        let mut waiting = state.queue.iter_mut().rev();
        let older = waiting.find_map(|older| match older {
            Queued::Encoded {
                message,
                subject: Some(about),
            } if *about == subject => Some(message),
            Queued::Encoded { .. } | Queued::Due(_) => None,
        });
        let Some(older) = older else {
            return false;
        };
        let before = older.bytes().len();
        let after = message.bytes().len();
        if before < after && !is_alone && OUTBOX_BYTES < bytes - before + after {
            return false;
        }
        *older = message;
        state.bytes = state.bytes - before + after;
        true
    }

    /// Is ready when half of the outbox is free and there is room for `message`, or when it was closed.
    pub(crate) fn poll_room(&self, message: Option<&Outgoing>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        let has_room = message.is_none_or(|message| state.has_room_for(message.bytes().len()));
        if state.closed || has_room && state.is_half_empty() {
            return Poll::Ready(());
        }
        let is_known = |writer: &Waker| writer.will_wake(cx.waker());
        if !state.writers.iter().any(is_known) {
            state.writers.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Returns the next message; `None` once the outbox is closed and empty. One reader at a time.
    pub(crate) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Outgoing>> {
        let mut state = self.lock();
        if state.closed || !state.queue.is_empty() {
            return Poll::Ready(take(state));
        }
        let reader = state.reader.as_ref();
        if !reader.is_some_and(|reader| reader.will_wake(cx.waker())) {
            state.reader = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Returns the next message, if one waits already.
    pub(crate) fn try_next(&self) -> Option<Outgoing> {
        take(self.lock())
    }

    /// Returns whether no message waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().queue.is_empty()
    }

    /// Refuses all later messages; those that wait can still be read.
    pub(crate) fn close(&self) {
        let (reader, writers) = {
            let mut state = self.lock();
            state.closed = true;
            (state.reader.take(), std::mem::take(&mut state.writers))
        };
        for waker in reader.into_iter().chain(writers) {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, OutboxState> {
        // No code that can panic runs under the lock, so a poisoned one still holds a whole queue.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutboxState {
    fn has_room_for(&self, bytes: usize) -> bool {
        self.queue.is_empty()
            || self.queue.len() < OUTBOX_LIMIT && self.bytes + bytes <= OUTBOX_BYTES
    }

    fn is_half_empty(&self) -> bool {
        self.queue.len() <= OUTBOX_LIMIT / 2 && self.bytes <= OUTBOX_BYTES / 2
    }
}

fn wake_reader(mut state: MutexGuard<'_, OutboxState>) {
    let reader = state.reader.take();
    drop(state);
    // Waking runs other code, which must not run under the lock.
    if let Some(reader) = reader {
        reader.wake();
    }
}

/// Returns the next message, if there is one. Tasks that wait for room are woken without the lock.
fn take(mut state: MutexGuard<'_, OutboxState>) -> Option<Outgoing> {
    let waiting = state.queue.pop_front()?;
    match &waiting {
        Queued::Encoded { message, .. } => state.bytes -= message.bytes().len(),
        Queued::Due(due) => {
            if let Some(all) = &mut state.due {
                all.remove(due);
            }
        }
    }
    if !state.writers.is_empty() && state.is_half_empty() {
        let writers = std::mem::take(&mut state.writers);
        drop(state);
        writers.into_iter().for_each(Waker::wake);
    } else {
        drop(state);
    }
    Some(match waiting {
        Queued::Encoded { message, .. } => message,
        Queued::Due(Due {
            kind,
            subscription,
            uri,
        }) => Outgoing::fixed_notification(&kind, subscription.as_ref(), uri.as_deref()),
    })
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Outbox")
            .field("waiting", &state.queue.len())
            .field("bytes", &state.bytes)
            .field("closed", &state.closed)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        task::Wake,
    };

    use trueform_schema::{Method, Revision};

    use super::*;

    /// Counts how often it was woken.
    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn message(text: &str) -> Outgoing {
        Outgoing::unchecked(text.as_bytes().to_vec())
    }

    fn cx() -> Context<'static> {
        Context::from_waker(Waker::noop())
    }

    #[test]
    fn bounded_ordered_closable() {
        let outbox = Outbox::new();
        assert!(outbox.poll_next(&mut cx()).is_pending());
        for i in 0..OUTBOX_LIMIT {
            outbox.push(message(&i.to_string())).unwrap();
        }
        assert_eq!(outbox.push(message("")), Err(NotQueued::Full));
        assert_eq!(outbox.try_next().unwrap().bytes(), b"0");
        outbox.close();
        assert_eq!(outbox.push(message("")), Err(NotQueued::Closed));
        let next = outbox.poll_next(&mut cx());
        assert!(matches!(next, Poll::Ready(Some(next)) if next.bytes() == b"1"));
        while outbox.try_next().is_some() {}
        assert!(matches!(outbox.poll_next(&mut cx()), Poll::Ready(None)));
    }

    #[test]
    fn bounded_in_bytes() {
        let outbox = Outbox::new();
        let large = "x".repeat(OUTBOX_BYTES + 1);
        outbox.push(message(&large)).unwrap();
        assert_eq!(outbox.push(message("")), Err(NotQueued::Full));
        assert!(outbox.try_next().is_some());
        let half = &large[..OUTBOX_BYTES / 2];
        outbox.push(message(half)).unwrap();
        outbox.push(message(half)).unwrap();
        assert_eq!(outbox.push(message("x")), Err(NotQueued::Full));
        let mut waits = Some(message("x"));
        assert_eq!(outbox.try_push(&mut waits, None), Err(NotQueued::Full));
        assert!(waits.is_some(), "what is refused is given back");
        assert!(outbox.poll_room(waits.as_ref(), &mut cx()).is_pending());
        assert!(outbox.try_next().is_some());
        assert!(outbox.poll_room(waits.as_ref(), &mut cx()).is_ready());
        assert_eq!(outbox.try_push(&mut waits, None), Ok(()));
    }

    #[test]
    fn what_is_about_one_subject() {
        let outbox = Outbox::new();
        let subject = |request| Subject {
            method: "notifications/progress",
            request,
        };
        assert!(!outbox.replace(message("1"), subject(1)), "nothing waits");
        for request in [1, 2] {
            let mut first = Some(message("first"));
            outbox.try_push(&mut first, Some(subject(request))).unwrap();
        }
        assert!(outbox.replace(message("a longer one"), subject(1)));
        let texts: Vec<_> = std::iter::from_fn(|| outbox.try_next())
            .map(|message| String::from_utf8(message.into_bytes()).unwrap())
            .collect();
        assert_eq!(texts, ["a longer one", "first"]);
        assert_eq!(outbox.lock().bytes, 0, "the count is right");
    }

    // Issue 8: a task that waits for room is woken once, when half of the outbox is free.
    #[test]
    fn writers_and_the_reader_are_woken_once() {
        let woken = || {
            let woken = Arc::<Woken>::default();
            (woken.clone(), Waker::from(woken))
        };
        let times = |woken: &Woken| woken.0.load(Ordering::SeqCst);
        let outbox = Outbox::new();
        let (reader, waker) = woken();
        for _ in 0..2 {
            let next = outbox.poll_next(&mut Context::from_waker(&waker));
            assert!(next.is_pending());
        }
        for pushed in 1..=OUTBOX_LIMIT {
            outbox.push(message("m")).unwrap();
            assert_eq!(times(&reader), 1, "at message {pushed}");
        }
        let (one, waker) = woken();
        let (other, other_waker) = woken();
        for waker in [&waker, &other_waker, &waker] {
            let room = outbox.poll_room(None, &mut Context::from_waker(waker));
            assert!(room.is_pending());
        }
        for left in (0..OUTBOX_LIMIT).rev() {
            assert!(outbox.try_next().is_some());
            let expected = usize::from(left <= OUTBOX_LIMIT / 2);
            assert_eq!((times(&one), times(&other)), (expected, expected), "{left}");
        }

        let half = "x".repeat(OUTBOX_BYTES / 2);
        for text in [&*half, "x", &half[1..]] {
            outbox.push(message(text)).unwrap();
        }
        assert!(
            outbox
                .poll_room(None, &mut Context::from_waker(&waker))
                .is_pending()
        );
        assert!(outbox.try_next().is_some());
        assert_eq!(times(&one), 2, "half of the bytes are free");
        let room = outbox.poll_room(None, &mut Context::from_waker(&waker));
        assert!(room.is_ready());
    }

    // The woken task may access the outbox.
    #[test]
    fn wakes_without_the_lock() {
        struct Looks(Arc<Outbox>, AtomicUsize);
        impl Wake for Looks {
            fn wake(self: Arc<Self>) {
                let is_free = self.0.state.try_lock().is_ok();
                self.1.fetch_add(usize::from(is_free), Ordering::SeqCst);
            }
        }
        let outbox = Arc::new(Outbox::new());
        let looks = Arc::new(Looks(outbox.clone(), AtomicUsize::new(0)));
        let times = || looks.1.load(Ordering::SeqCst);
        let waker = Waker::from(looks.clone());
        let mut cx = Context::from_waker(&waker);
        assert!(outbox.poll_next(&mut cx).is_pending());
        outbox.push(message(&"x".repeat(OUTBOX_BYTES))).unwrap();
        assert_eq!(times(), 1, "the reader");
        assert!(outbox.poll_room(None, &mut cx).is_pending());
        assert!(outbox.try_next().is_some());
        assert_eq!(times(), 2, "the writer");
        assert!(outbox.poll_next(&mut cx).is_pending());
        outbox.close();
        assert_eq!(times(), 3, "at the end");
    }

    #[test]
    fn the_end_wakes_everybody() {
        let outbox = Outbox::new();
        let woken = Arc::<Woken>::default();
        let waker = Waker::from(woken.clone());
        let mut cx = Context::from_waker(&waker);
        assert!(outbox.poll_next(&mut cx).is_pending());
        let large = message(&"x".repeat(OUTBOX_BYTES));
        assert!(outbox.poll_room(Some(&large), &mut cx).is_ready());
        outbox.push(large).unwrap();
        assert!(outbox.poll_room(None, &mut cx).is_pending());
        assert_eq!(woken.0.load(Ordering::SeqCst), 1, "the reader");
        outbox.close();
        assert_eq!(woken.0.load(Ordering::SeqCst), 2, "the writer");
        assert!(outbox.poll_room(None, &mut cx).is_ready());

        let outbox = Outbox::new();
        assert!(outbox.poll_next(&mut cx).is_pending());
        outbox.close();
        assert_eq!(woken.0.load(Ordering::SeqCst), 3, "the reader");
    }

    // Issue 8: a notification for many peers waits as a key, once for each peer, and keeps its place among the other messages.
    #[test]
    fn what_many_hear_is_encoded_when_it_is_taken() {
        let outbox = Outbox::new();
        let due = |method, revision, subscription| Due {
            kind: NotificationKind::core(method, revision),
            subscription,
            uri: None,
        };
        let changed = due(Method::ToolListChanged, Revision::V2025_06_18, None);
        let asked = |id: &str| {
            let id = Some(RequestId::from(id));
            due(Method::ToolListChanged, Revision::V2026_07_28, id)
        };
        for _ in 0..3 {
            outbox.push_due(changed.clone()).unwrap();
            outbox.push_due(asked("a")).unwrap();
        }
        outbox.push(message("other")).unwrap();
        outbox.push_due(asked("b")).unwrap();
        outbox.push_due(changed.clone()).unwrap();
        assert_eq!(outbox.lock().bytes, "other".len(), "keys have no text yet");
        let of = |id| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":"{id}"}}}}}}"#
            )
        };
        let texts: Vec<_> = std::iter::from_fn(|| outbox.try_next())
            .map(|message| String::from_utf8(message.into_bytes()).unwrap())
            .collect();
        assert_eq!(
            texts,
            [
                r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
                &of("a"),
                "other",
                &of("b"),
            ]
        );
        // A notification that was taken can become due again, within the bound on the number of waiting messages.
        outbox.push_due(changed.clone()).unwrap();
        while outbox.push(message("x")).is_ok() {}
        assert_eq!(outbox.push_due(changed.clone()), Ok(()), "it waits");
        assert_eq!(outbox.push_due(asked("c")), Ok(()), "a change is not lost");
        outbox.close();
        assert_eq!(outbox.push_due(changed), Err(NotQueued::Closed));
    }
}
