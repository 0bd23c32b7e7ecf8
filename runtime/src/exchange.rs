//! One inbound request in flight: who asked, at which revision, where its messages go, and whether it still counts.
//!
//! Knows nothing of tools or transports; [`Context`](crate::Context) is its public face.

use std::{
    any::Any,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use trueform_schema::{
    ClientCapabilities, Conform, Implementation, LoggingLevel, LoggingMessageNotificationParams,
    Method, ProgressNotificationParams, ProgressToken, RequestId, Revision, View,
};

use crate::{
    Principal, engine::Engine, gate, jsonrpc, logging::Threshold, outbox::Outbox, session::Session,
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

/// What a peer said of itself.
#[derive(Debug, Default)]
pub(crate) struct PeerFacts {
    pub(crate) client_info: Option<Implementation>,
    pub(crate) capabilities: ClientCapabilities,
}

/// Where the facts of a request's peer are kept.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "lives inside of an exchange, which is boxed as a whole"
)]
pub(crate) enum Peer {
    /// Told once, at `initialize`.
    Session(Arc<PeerFacts>),
    /// Told with this request.
    Request(PeerFacts),
}

/// Where messages that belong to a request go until it is answered.
#[derive(Debug)]
pub(crate) enum Outlet {
    /// A queue of this request's own: an HTTP answer.
    Own(Outbox),
    /// The one queue of a stdio link.
    Link(Arc<Outbox>),
}

/// The last progress that was sent.
#[derive(Debug)]
struct Reported {
    progress: f64,
    /// When; kept only where reports are limited.
    at: Option<Instant>,
}

#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) engine: Engine,
    pub(crate) id: RequestId,
    pub(crate) method: Method,
    pub(crate) revision: Revision,
    pub(crate) peer: Peer,
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) transport: TransportData,
    pub(crate) progress_token: Option<ProgressToken>,
    pub(crate) log_threshold: Threshold,
    pub(crate) outlet: Outlet,
    /// Fired when the peer no longer wants the answer, or the server gives the call up.
    pub(crate) cancelled: Signal,
    /// Fired each time progress is reported, for timeouts that it resets.
    pub(crate) progressed: AtomicBool,
    last_progress: Mutex<Reported>,
    finished: AtomicBool,
    stream_closed: Signal,
}

impl Exchange {
    #[expect(
        clippy::too_many_arguments,
        reason = "each is one fact of the request; the two callers are in `engine`"
    )]
    pub(crate) fn new(
        engine: Engine,
        id: RequestId,
        method: Method,
        revision: Revision,
        peer: Peer,
        session: Option<Arc<Session>>,
        transport: TransportData,
        progress_token: Option<ProgressToken>,
        log_threshold: Threshold,
        outlet: Outlet,
    ) -> Arc<Self> {
        Arc::new(Self {
            engine,
            id,
            method,
            revision,
            peer,
            session,
            transport,
            progress_token,
            log_threshold,
            outlet,
            cancelled: Signal::default(),
            progressed: AtomicBool::new(false),
            last_progress: Mutex::new(Reported {
                progress: f64::NEG_INFINITY,
                at: None,
            }),
            finished: AtomicBool::new(false),
            stream_closed: Signal::default(),
        })
    }

    pub(crate) fn peer(&self) -> &PeerFacts {
        match &self.peer {
            Peer::Session(facts) => facts,
            Peer::Request(facts) => facts,
        }
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        match &self.outlet {
            Outlet::Own(outbox) => outbox,
            Outlet::Link(outbox) => outbox,
        }
    }

    pub(crate) fn view(&self) -> View<'_> {
        self.engine.view(self.revision)
    }

    /// No message of this request may leave any more: it is answered, or will not be.
    pub(crate) fn finish(&self) {
        self.finished.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.finished.load(Ordering::SeqCst) && !self.cancelled.is_fired()
    }

    /// Asks the transport to end the response stream early; the answer is kept for the peer to fetch.
    pub(crate) fn close_stream(&self) {
        self.stream_closed.fire();
    }

    /// Fired once the handler asked for the response stream to be ended early.
    #[cfg(feature = "http")]
    pub(crate) fn stream_closed(&self) -> &Signal {
        &self.stream_closed
    }

    /// Sends a notification that belongs to this request, as its revision allows. False if it did not leave.
    pub(crate) fn notify(&self, method: Method, params: &dyn Conform) -> bool {
        if !self.is_open() {
            return false;
        }
        let policy = self.engine.settings.outgoing;
        if gate::check(policy, params, self.revision, method.as_str()).is_err() {
            return false;
        }
        let mut message = Vec::with_capacity(192);
        jsonrpc::write_notification(
            method.as_str(),
            Some(params),
            View::at(self.revision),
            &mut message,
        );
        match self.outbox().push(message) {
            Ok(()) => true,
            Err(refused) => {
                tracing::debug!(method = method.as_str(), id = %self.id, ?refused, "a notification was dropped");
                false
            }
        }
    }

    // N-1, N-2, N-3
    pub(crate) fn report_progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        self.progressed.store(true, Ordering::Relaxed);
        let Some(token) = &self.progress_token else {
            return;
        };
        let is_first = {
            let mut last = self
                .last_progress
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if !progress.is_finite() || progress <= last.progress {
                return;
            }
            // The last report of all is worth sending however soon it comes.
            let done = total.is_some_and(|total| total <= progress);
            let interval = self.engine.settings.progress_interval;
            if !done && !interval.is_zero() && last.at.is_some_and(|at| at.elapsed() < interval) {
                return;
            }
            let before = std::mem::replace(
                &mut *last,
                Reported {
                    progress,
                    at: (!interval.is_zero()).then(Instant::now),
                },
            );
            before.progress == f64::NEG_INFINITY
        };
        let mut params = ProgressNotificationParams::new(progress, token.clone());
        params.total = total.filter(|total| total.is_finite());
        params.message = message.map(str::to_owned);
        let has_left = self.notify(Method::Progress, &params);
        // What the first report loses, the others lose too.
        if is_first && has_left {
            gate::tell_loss(&params, &params, self.revision, Method::Progress.as_str());
        }
    }

    // M-1, M-4
    pub(crate) fn log(
        &self,
        level: LoggingLevel,
        logger: Option<&str>,
        data: trueform_schema::Json,
    ) {
        if !self.log_threshold.lets_through(&level) {
            return;
        }
        let mut params = LoggingMessageNotificationParams::new(data, level);
        params.logger = logger.map(str::to_owned);
        self.notify(Method::LoggingMessage, &params);
    }
}
