//! One connection of a client: who waits for which answer, and the two tasks that move bytes. [`received`] takes what comes in.
//!
//! Knows JSON-RPC and the handful of members by which messages find their way (`id`, `progressToken`, `subscriptionId`). What a
//! method of the server does, the generated dispatch selects.

mod received;

use std::{
    collections::HashMap,
    fmt, io,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{Notify, oneshot},
    task::AbortHandle,
};
use trueform_schema::{Json, Method, RequestId, methods};

use super::{
    ClientOptions,
    changes::Changes,
    error::{ClientError, LocalError},
    flights::Flights,
    gate::ClientGate,
    handler::ClientHandler,
    ids::OwnIds,
    mailbox::Mailbox,
    notified::Notified,
    resumption::Resumptions,
    server_requests::ServerRequests,
    sink::{ClientSink, Closed, MOST_UNSENT, Room, WriterPanicked},
    strays::StrayLog,
    wire::Wire,
};
use crate::{contained::contained, gate::ToServer};

/// What a request waits for.
pub(super) type ServerAnswer = Result<Json, ClientError>;
/// Set when a server refuses a request because it is busy, to the wait that it asks for.
pub(super) type Busy = Arc<OnceLock<Option<Duration>>>;
/// Called with each progress report of a request.
pub(super) type OnProgress = Box<dyn FnMut(Notified) + Send>;

/// State that the client and its two tasks share.
pub(super) struct Link {
    state: Mutex<LinkState>,
    /// The first id of this connection's own.
    first_id: AtomicI64,
    next_id: AtomicI64,
    /// Messages that no waiting request claimed, as they were written.
    unclaimed: Mailbox<String>,
    pub(super) server_requests: ServerRequests,
    handler: Arc<dyn ClientHandler>,
    pub(super) gate: ClientGate,
    pub(super) wire: Arc<Wire>,
    room: Arc<Room>,
    pub(super) flights: Flights,
    pub(super) changes: Changes,
    pub(super) strays: StrayLog,
    pub(super) resumptions: Resumptions,
}

struct LinkState {
    out: Option<Arc<ClientSink>>,
    waiting: HashMap<RequestId, Waiter, OwnIds>,
    /// The progress callbacks of tasks. One is away while it runs.
    lasting: HashMap<RequestId, Option<OnProgress>>,
    /// Who receives the notifications that belong to no subscription.
    listeners: Vec<Weak<Mailbox<Notified>>>,
    subscriptions: HashMap<RequestId, Arc<Mailbox<Notified>>>,
    closed: bool,
}
struct Waiter {
    answer: oneshot::Sender<ServerAnswer>,
    progress: Option<OnProgress>,
    /// Notified whenever progress is reported, if the request waits for that.
    progressed: Option<Arc<Notify>>,
    #[cfg_attr(
        not(any(feature = "client-http", all(feature = "http", feature = "testing"))),
        expect(dead_code, reason = "only HTTP has the status")
    )]
    busy: Option<Busy>,
    /// Completes what waits for the outcome beside the request.
    settled: Option<oneshot::Sender<()>>,
}

/// A request that waits for its answer. If it is dropped before, it is abandoned.
pub(super) struct PendingRequest {
    pub(super) link: Arc<Link>,
    pub(super) id: RequestId,
    pub(super) answer: oneshot::Receiver<ServerAnswer>,
    abandoned: Abandoned,
    done: bool,
}

/// What becomes of a request that is dropped before its answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Abandoned {
    /// The transport cancels it: the server is notified, or the stream of the answer ends.
    Cancelled,
    /// Nothing: `initialize` is never cancelled.
    Kept,
}

impl Abandoned {
    /// A request for `method`.
    // O-1, O-3
    pub(super) fn of(method: &str) -> Self {
        match method == Method::Initialize.as_str() {
            true => Self::Kept,
            false => Self::Cancelled,
        }
    }
}

impl Link {
    /// Starts the tasks.
    pub(super) fn start(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        options: &ClientOptions,
        wire: Arc<Wire>,
    ) -> (Arc<Self>, tokio::task::JoinHandle<()>) {
        let (out, writing) = ClientSink::new(writer, options.write_timeout);
        let link = Self::over(out, options, wire);
        let reading = tokio::spawn(received::read(reader, link.clone(), options.max_message));
        let written = written(writing, Arc::downgrade(&link), reading.abort_handle());
        tokio::spawn(written);
        (link, reading)
    }

    /// A connection whose messages go to `out`. Nothing is read.
    pub(super) fn over(out: ClientSink, options: &ClientOptions, wire: Arc<Wire>) -> Arc<Self> {
        let room = out.room().clone();
        let state = LinkState {
            out: Some(Arc::new(out)),
            waiting: HashMap::default(),
            lasting: HashMap::new(),
            listeners: Vec::new(),
            subscriptions: HashMap::new(),
            closed: false,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            first_id: AtomicI64::new(1),
            next_id: AtomicI64::new(0),
            unclaimed: Mailbox::new(None),
            server_requests: ServerRequests::default(),
            handler: options.handler.clone(),
            gate: ClientGate::new(options),
            wire,
            room,
            flights: Flights::new(options.max_in_flight, options.max_queued),
            changes: Changes::default(),
            strays: StrayLog::default(),
            resumptions: Resumptions::default(),
        })
    }

    /// Ends the request `id`, which got no answer, with `error`.
    #[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
    pub(super) fn fail(&self, id: &RequestId, error: ClientError) {
        let waiter = self.lock().waiting.remove(id);
        if let Some(waiter) = waiter {
            waiter.settle(Err(error));
        }
    }

    /// Notes that the server refuses the request `id` because it is busy, and asks to wait for `asked`. The answer follows.
    #[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
    pub(super) fn note_busy(&self, id: &RequestId, asked: Option<Duration>) {
        if let Some(busy) = self
            .lock()
            .waiting
            .get(id)
            .and_then(|waiter| waiter.busy.as_ref())
        {
            let _ = busy.set(asked);
        }
    }

    /// Completes when the request `id` has its outcome, wherever that came from; never if nothing waits for it, or it is given up.
    #[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
    pub(super) fn settled(&self, id: &RequestId) -> impl Future<Output = ()> + use<> {
        let settled = self.lock().waiting.get_mut(id).map(|waiter| {
            let (settle, settled) = oneshot::channel();
            waiter.settled = Some(settle);
            settled
        });
        async move {
            let is_settled = match settled {
                Some(settled) => settled.await.is_ok(),
                None => false,
            };
            if !is_settled {
                std::future::pending().await
            }
        }
    }

    /// Whether the client has ended everything.
    #[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// An id that this connection has not used.
    pub(super) fn new_id(&self) -> RequestId {
        RequestId::Integer(self.next_id.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Gives the requests from now on ids from `first` on.
    #[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
    pub(super) fn number_from(&self, first: i64) {
        self.first_id.store(first, Ordering::Relaxed);
        self.next_id.store(first - 1, Ordering::Relaxed);
    }

    /// Whether `id` is one that [`new_id`](Self::new_id) has given.
    fn has_given(&self, id: i64) -> bool {
        let (first, last) = (&self.first_id, &self.next_id);
        (first.load(Ordering::Relaxed)..=last.load(Ordering::Relaxed)).contains(&id)
    }

    /// Sends `message`, a request whose id is `id`.
    pub(super) fn request(
        self: &Arc<Self>,
        id: RequestId,
        message: ToServer,
        progress: Option<OnProgress>,
        busy: Option<Busy>,
        abandoned: Abandoned,
    ) -> Result<PendingRequest, ClientError> {
        let (sender, answer) = oneshot::channel();
        let mut state = self.lock();
        if state.closed {
            return Err(self.wire.closed().into());
        }
        state.waiting.insert(
            id.clone(),
            Waiter {
                answer: sender,
                progress,
                progressed: None,
                busy,
                settled: None,
            },
        );
        let pending = PendingRequest {
            link: self.clone(),
            id,
            answer,
            abandoned,
            done: false,
        };
        // While others wait, the task may write several messages in one go.
        let is_alone = state.waiting.len() == 1;
        let out = state.out.clone();
        drop(state);
        let sent = match (out, is_alone) {
            (Some(out), true) => out.send_at_once(message),
            (Some(out), false) => out.send(message),
            (None, _) => Err(Closed),
        };
        match sent {
            Ok(()) => Ok(pending),
            Err(Closed) => Err(self.wire.closed().into()),
        }
    }

    /// Waits until there is room for a request, at most for `limit`.
    ///
    /// # Errors
    /// The server does not read.
    pub(super) async fn room(&self, limit: Duration) -> Result<(), ClientError> {
        match self.room.is_full() {
            None => Ok(()),
            Some(_) => self.made_room(limit).await,
        }
    }

    #[cold]
    async fn made_room(&self, limit: Duration) -> Result<(), ClientError> {
        let made = tokio::time::timeout(limit, self.room.made()).await;
        made.map_err(|_| LocalError::NotRead(self.room.is_full().unwrap_or(MOST_UNSENT)).into())
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &str, params: Option<&Json>) -> Result<(), ClientError> {
        self.send(ToServer::notification(method, params))
    }

    /// Sends a message, with a line end.
    pub(super) fn send(&self, message: ToServer) -> Result<(), ClientError> {
        if let Some(waiting) = self.room.is_full() {
            return Err(LocalError::NotRead(waiting).into());
        }
        let sent = self.lock().send(message);
        sent.map_err(|Closed| self.wire.closed().into())
    }

    /// Receives all notifications from now on.
    pub(super) fn notifications(&self) -> Arc<Mailbox<Notified>> {
        let listener = Arc::new(Mailbox::new(Some("notifications")));
        let mut state = self.lock();
        state.listeners.retain(|other| other.strong_count() > 0);
        match state.closed {
            true => listener.close(),
            false => state.listeners.push(Arc::downgrade(&listener)),
        }
        listener
    }

    /// Receives the notifications of the subscription that the request `id` opens.
    pub(super) fn subscribe(&self, id: &RequestId) -> Arc<Mailbox<Notified>> {
        let subscriber = Arc::new(Mailbox::new(Some("notifications of a subscription")));
        let mut state = self.lock();
        state.subscriptions.insert(id.clone(), subscriber.clone());
        subscriber
    }

    /// Calls `report` with the progress of what the request with the returned token begins, until the returned value is dropped.
    pub(super) fn report_on(self: &Arc<Self>, report: OnProgress) -> LastingProgress {
        let token = self.new_id();
        let mut state = self.lock();
        if !state.closed {
            state.lasting.insert(token.clone(), Some(report));
        }
        LastingProgress {
            link: self.clone(),
            token,
        }
    }

    /// The next message that no waiting request claimed; `None` when the connection is closed.
    pub(super) async fn next_unclaimed(&self) -> Option<String> {
        self.unclaimed.take().await
    }

    /// Sends nothing more: the server sees the end of the stream, once what was sent before is written.
    pub(super) fn close_sending(&self) {
        self.lock().out = None;
    }

    /// Ends everything: nothing is sent any more, and waiting requests end because the connection is closed.
    pub(super) fn close(&self) {
        let (waiting, subscriptions, listeners, lasting) = {
            let mut state = self.lock();
            state.closed = true;
            state.out = None;
            (
                std::mem::take(&mut state.waiting),
                std::mem::take(&mut state.subscriptions),
                std::mem::take(&mut state.listeners),
                std::mem::take(&mut state.lasting),
            )
        };
        contained("a progress callback", || drop(lasting));
        self.flights.close();
        for waiter in waiting.into_values() {
            waiter.settle(Err(self.wire.closed().into()));
        }
        let listeners = listeners.iter().filter_map(Weak::upgrade);
        for reader in listeners.chain(subscriptions.into_values()) {
            reader.close();
        }
        self.server_requests.clear();
        self.unclaimed.close();
        self.strays.close();
    }

    fn lock(&self) -> MutexGuard<'_, LinkState> {
        // Nothing that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the connection when what moves its messages ends, however it does: its runtime may have ended.
pub(super) struct ClosesAtEnd(pub(super) Arc<Link>);

impl Drop for ClosesAtEnd {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A progress callback that outlives the answer to its request; dropped, it is not called again.
pub(super) struct LastingProgress {
    link: Arc<Link>,
    token: RequestId,
}

impl LastingProgress {
    /// The progress token, which is the id of the request.
    pub(super) fn token(&self) -> RequestId {
        self.token.clone()
    }
}

impl Drop for LastingProgress {
    fn drop(&mut self) {
        let callback = self.link.lock().lasting.remove(&self.token);
        contained("a progress callback", || drop(callback));
    }
}

impl fmt::Debug for LastingProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastingProgress")
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

impl Waiter {
    /// Hands the outcome to the request that waits, which may have gone in the meantime.
    fn settle(self, outcome: ServerAnswer) {
        // Before the answer: no callback of the caller runs after it.
        contained("a progress callback", || drop(self.progress));
        let _ = self.answer.send(outcome);
        if let Some(settled) = self.settled {
            let _ = settled.send(());
        }
    }
}

impl LinkState {
    fn send(&self, message: ToServer) -> Result<(), Closed> {
        self.out
            .as_ref()
            .map_or(Err(Closed), |out| out.send(message))
    }
}

impl PendingRequest {
    /// What is notified whenever progress is reported from now on.
    pub(super) fn progressed(&self) -> Arc<Notify> {
        let mut state = self.link.lock();
        match state.waiting.get_mut(&self.id) {
            Some(waiter) => waiter.progressed.get_or_insert_default().clone(),
            // The answer is here: no report follows.
            None => Arc::default(),
        }
    }

    /// Notes that the answer is here, so that dropping cancels nothing.
    pub(super) fn done(&mut self) {
        self.done = true;
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        // What is removed is dropped without the lock: a callback may hold whatever the caller gave it.
        let (subscription, waiter) = {
            let mut state = self.link.lock();
            let subscription = state.subscriptions.remove(&self.id);
            (subscription, state.waiting.remove(&self.id))
        };
        drop(subscription);
        let was_waiting = waiter.is_some();
        // O-1, O-3: only what is still unanswered.
        if was_waiting && self.abandoned != Abandoned::Kept {
            let params = Json::from(serde_json::json!({ "requestId": self.id }));
            let method = <methods::Cancelled as methods::Notification>::METHOD.as_str();
            // Whether there is room or not: it is one for each request, which had to wait for room.
            let cancelled = ToServer::notification(method, Some(&params));
            let _ = self.link.lock().send(cancelled);
        }
    }
}

/// Waits for the end of `writing`. A server that has gone may have answered before, so what it wrote is still read; one that does
/// not read for too long is given up, and so is a writer that panicked.
async fn written(
    writing: impl Future<Output = io::Result<()>>,
    link: Weak<Link>,
    reading: AbortHandle,
) {
    let Err(error) = writing.await else {
        return;
    };
    tracing::debug!(%error, "the connection to the server failed");
    let has_panicked = WriterPanicked::is(&error);
    if (has_panicked || error.kind() == io::ErrorKind::TimedOut)
        && let Some(link) = link.upgrade()
    {
        link.close();
    }
    if has_panicked {
        // The server was not notified of the end, so it may not end its side.
        reading.abort();
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Link")
            .field("waiting", &state.waiting.len())
            .field("closed", &state.closed)
            .finish_non_exhaustive()
    }
}
