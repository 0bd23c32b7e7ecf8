//! The state of one inbound request in flight.

use std::{
    any::Any,
    fmt,
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
};

use trueform_schema::{
    Conform, ErrorObject, Json, LoggingLevel, LoggingMessageNotificationParams, Meta, Method,
    RequestId, Revision, View,
};

use super::{IdScope, Occupied, Sent, apart::Apart, ask::Replay, progress::Progress};
use crate::{
    gate::{NotificationKind, Outgoing},
    host::HostRef,
    jsonrpc,
    peer::{Caller, Cancel, IdRefused, Outbox, PeerFacts, Session, Subject},
    principal::Principal,
    signal::Signal,
};

/// What the transport knows of a request.
#[derive(Clone, Default)]
pub(crate) struct TransportData {
    /// Over HTTP an `Arc<http::request::Parts>`.
    pub(crate) extension: Option<Arc<dyn Any + Send + Sync>>,
    pub(crate) principal: Option<Principal>,
}

impl fmt::Debug for TransportData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransportData")
            .field("principal", &self.principal)
            .finish_non_exhaustive()
    }
}

/// Where messages that belong to a request go until it is answered.
#[derive(Debug)]
pub(crate) enum MessageSink {
    /// A queue of this request's own: an HTTP answer.
    Own(Outbox),
    /// The one queue of a stdio link.
    Link(Arc<Outbox>),
}

#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) host: HostRef,
    pub(crate) id: RequestId,
    /// The method's name on the wire.
    pub(crate) method: &'static str,
    pub(crate) caller: Caller,
    /// The session or the byte stream that the request belongs to; `None` for a stateless HTTP request.
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) transport: TransportData,
    /// Where its messages go, unless it is set apart; see [`sink`](Self::sink).
    pub(super) own_sink: MessageSink,
    /// Fired when the peer no longer wants the answer, or the server gives the call up.
    pub(crate) cancelled: Signal,
    /// Set each time progress is reported, for timeouts that it resets.
    pub(crate) progressed: AtomicBool,
    pub(super) progress: Progress,
    /// Members that the handler adds to the `_meta` of the result.
    result_meta: Mutex<Option<Box<Meta>>>,
    pub(super) finished: AtomicBool,
    /// Made when something of it is needed: most requests are answered at once and need nothing of it.
    pub(super) later: OnceLock<Box<Later>>,
}

/// What only a request needs that takes a while.
#[derive(Debug, Default)]
pub(crate) struct Later {
    /// Whether the log says that messages of the request are lost.
    pub(super) lost_messages: AtomicBool,
    /// Counts awaited messages that needed no wait.
    pub(super) unwaited: AtomicU32,
    stream_closed: Signal,
    /// Fired once the client no longer reads what belongs to the request.
    pub(crate) unread: Signal,
    /// How many requests to the client it waits for.
    pub(super) asks: AtomicUsize,
    /// What it was read from, if it may ask when that is gone.
    pub(super) message: OnceLock<Box<[u8]>>,
    /// What it has asked and done, if it asks anything.
    pub(super) replay: OnceLock<Box<Replay>>,
    /// The runtime that drives the request.
    pub(crate) runtime: OnceLock<tokio::runtime::Handle>,
    /// What it occupies while it is at work.
    occupied: OnceLock<WeakOccupied>,
    pub(super) apart: Apart,
}

struct WeakOccupied(Weak<dyn Occupied>);

impl fmt::Debug for WeakOccupied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Occupied")
    }
}

/// Keeps the id of a request taken until dropped.
#[derive(Debug)]
pub(crate) struct Ticket(Arc<Exchange>);

impl Exchange {
    #[inline]
    pub(crate) fn new(
        host: HostRef,
        id: RequestId,
        method: &'static str,
        caller: Caller,
        session: Option<Arc<Session>>,
        transport: TransportData,
        sink: MessageSink,
    ) -> Arc<Self> {
        Arc::new(Self {
            host,
            id,
            method,
            caller,
            session,
            transport,
            own_sink: sink,
            cancelled: Signal::default(),
            progressed: AtomicBool::new(false),
            progress: Progress::new(),
            result_meta: Mutex::default(),
            finished: AtomicBool::new(false),
            later: OnceLock::new(),
        })
    }

    /// Whether the id has to be taken only if the request waits: nothing else of a byte stream is read before that, so nobody can use the
    /// id meanwhile.
    #[inline]
    pub(crate) fn enters_late(&self) -> bool {
        self.session.is_some() && matches!(self.sink(), MessageSink::Link(_)) && !self.is_apart()
    }

    /// Checks that one more request may wait.
    ///
    /// # Errors
    /// As many as may be are in flight.
    pub(crate) fn check_room(&self) -> Result<(), ErrorObject> {
        let limit = self.host.settings.max_in_flight;
        match &self.session {
            Some(session) if !session.in_flight.has_room(limit) => Err(too_many(limit)),
            _ => Ok(()),
        }
    }

    /// Takes the id of a request that may take a while. `None` where ids are not shared: over HTTP a stateless request
    /// has a scope of its own.
    ///
    /// # Errors
    /// `None` if the request must be dropped without an answer, which would be taken for one to the first request of that id
    /// (GAP-17); else the error that refuses it.
    pub(crate) fn enter(self: &Arc<Self>) -> Result<Option<Ticket>, Option<ErrorObject>> {
        let Some(session) = self.session.as_ref().filter(|_| !self.is_apart()) else {
            return Ok(None);
        };
        let limit = self.host.settings.max_in_flight;
        let request: Weak<Self> = Arc::downgrade(self);
        let scope = IdScope::of(matches!(self.sink(), MessageSink::Link(_)));
        let may_repeat = scope.may_repeat(self.host.settings.incoming);
        match session
            .in_flight
            .enter(&self.id, request, limit, may_repeat)
        {
            Ok(()) => Ok(Some(Ticket(self.clone()))),
            Err(IdRefused::Full) => Err(Some(too_many(limit))),
            Err(IdRefused::Taken) => Err(scope.refusal(&self.id, self.method)),
        }
    }

    /// What only a request needs that takes a while.
    pub(crate) fn later(&self) -> &Later {
        self.later.get_or_init(Box::default)
    }

    /// The same, if any of it was needed.
    #[inline]
    pub(super) fn later_if_any(&self) -> Option<&Later> {
        self.later.get().map(|later| &**later)
    }

    /// What the request occupies while it is at work; `None` if nothing, or if that is over.
    pub(super) fn occupied(&self) -> Option<Arc<dyn Occupied>> {
        self.later.get()?.occupied.get()?.0.upgrade()
    }

    /// Sets what the request occupies while it is at work. Only the first call counts.
    #[cfg(feature = "http")]
    pub(crate) fn set_occupied(&self, occupied: Weak<dyn Occupied>) {
        let _ = self.later().occupied.set(WeakOccupied(occupied));
    }

    pub(crate) fn revision(&self) -> Revision {
        self.caller.revision
    }

    pub(crate) fn peer(&self) -> &PeerFacts {
        &self.caller.facts
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        match self.sink() {
            MessageSink::Own(outbox) => outbox,
            MessageSink::Link(outbox) => outbox,
        }
    }

    pub(crate) fn view(&self) -> View<'_> {
        self.host.view(self.revision())
    }

    /// The response with `result`. `what` is the name for the log.
    ///
    /// # Errors
    /// -32603 if the revision does not allow the result.
    pub(crate) fn result(&self, what: &str, result: &dyn Conform) -> Result<Outgoing, ErrorObject> {
        let policy = self.host.settings.outgoing;
        Outgoing::result(&self.id, self.view(), policy, what, result)
    }

    /// No message of this request may leave any more: it is answered, or will not be.
    pub(crate) fn finish(self: &Arc<Self>) {
        self.send_kept_progress();
        self.finished.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.finished.load(Ordering::SeqCst) && !self.cancelled.is_fired()
    }

    /// Asks the transport to end the response stream early; the answer is kept for the peer to fetch.
    pub(crate) fn close_stream(&self) {
        self.later().stream_closed.fire();
    }

    /// Fired once the handler asked for the response stream to be ended early.
    #[cfg(feature = "http")]
    pub(crate) fn stream_closed(&self) -> &Signal {
        &self.later().stream_closed
    }

    /// Sends a notification that belongs to this request, as its revision allows. False if it did not leave.
    pub(crate) fn notify(&self, kind: &NotificationKind, params: &dyn Conform) -> bool {
        let Some(message) = self.notification(kind, params) else {
            return false;
        };
        match self.outbox().push(message.counted(&self.host.unread)) {
            Ok(()) => true,
            Err(refused) => {
                let method = kind.method;
                tracing::debug!(method, id = %jsonrpc::ShortRequestId(&self.id), ?refused, "a notification was dropped");
                false
            }
        }
    }

    /// The notification `method` of the core, at the revision of this request.
    pub(crate) fn kind_of(&self, method: Method) -> NotificationKind {
        NotificationKind::core(method, self.revision())
    }

    /// Adds a member to the `_meta` of the result.
    pub(crate) fn set_result_meta(&self, key: String, value: Json) {
        let mut meta = self
            .result_meta
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        meta.get_or_insert_default().insert(key, value);
    }

    /// The members that the handler added to the `_meta` of the result.
    pub(crate) fn take_result_meta(&self) -> Option<Box<Meta>> {
        self.result_meta
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Notes that progress was reported, for timeouts that it resets.
    pub(super) fn note_progress(&self) {
        self.progressed.store(true, Ordering::Relaxed);
    }

    /// The runtime that drives the request; `None` until its first poll is over.
    pub(super) fn runtime(&self) -> Option<tokio::runtime::Handle> {
        self.later.get()?.runtime.get().cloned()
    }

    // M-1, M-4
    pub(crate) fn log(
        self: &Arc<Self>,
        level: LoggingLevel,
        logger: Option<&str>,
        data: Json,
    ) -> Sent<'_> {
        if !self.caller.log.lets_through(&level) {
            return Sent::nothing(self);
        }
        let mut params = LoggingMessageNotificationParams::new(data, level);
        params.logger = logger.map(str::to_owned);
        params.meta = self.notification_meta();
        self.sent(&self.kind_of(Method::LoggingMessage), &params, None, None)
    }

    /// Queues a notification of this request, which the handler may wait for.
    pub(super) fn sent(
        self: &Arc<Self>,
        kind: &NotificationKind,
        params: &dyn Conform,
        subject: Option<Subject>,
        progress: Option<f64>,
    ) -> Sent<'_> {
        match self.notification(kind, params) {
            Some(message) => Sent::new(self, message, subject, progress),
            None => Sent::nothing(self),
        }
    }

    /// The notification, as the revision of this request allows it. `None` if it may not leave, or the request is over.
    fn notification(&self, kind: &NotificationKind, params: &dyn Conform) -> Option<Outgoing> {
        if !self.is_open() {
            return None;
        }
        Outgoing::notification(kind, Some(params), self.host.settings.outgoing)
    }

    /// What the notification `kind` of this request is about.
    pub(super) fn subject(&self, kind: &NotificationKind) -> Subject {
        Subject {
            method: kind.method,
            request: std::ptr::from_ref(self).addr(),
        }
    }
}

#[cold]
fn too_many(limit: usize) -> ErrorObject {
    jsonrpc::internal(format!(
        "too many calls are running: this server takes {limit} at once"
    ))
}

impl Cancel for Exchange {
    fn cancel(&self) {
        self.cancelled.fire();
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(session) = &self.0.session {
            let request: &Arc<Exchange> = &self.0;
            session
                .in_flight
                .leave(&request.id, Arc::as_ptr(request).cast());
        }
    }
}
