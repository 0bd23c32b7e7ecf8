//! State of one peer: its phase, what was negotiated, which of its requests are in flight, what it was asked.
//!
//! In the legacy era, `initialize` opens a session. A byte stream has one from the start, in the fresh phase until then, so that requests
//! of both eras share one table of ids.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use serde_json::value::RawValue;
use trueform_schema::{ErrorObject, Json, RequestId, Revision};

use super::{
    asked::{Asked, Settled},
    inflight::InFlight,
    level::SessionLevel,
    outbox::Outbox,
    watched::WatchedResources,
};
use crate::{
    gate::PeerFacts,
    jsonrpc::{self, ErrorDetail, ShortRequestId},
    principal::Principal,
    signal::Signal,
};

/// The phase of a session.
#[derive(Clone, Debug)]
pub(crate) enum Phase {
    /// No `initialize` yet.
    Fresh,
    /// `initialize` was answered.
    Open {
        negotiated: Negotiated,
        confirmed: bool,
    },
    /// Ended; no more requests are served.
    Closed,
}

/// How an `initialize` opened the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    First,
    /// Its params equal those of the first one.
    Repeated,
    /// The session was negotiated again.
    Replaced,
}

/// What `initialize` negotiated.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Negotiated {
    pub(crate) revision: Revision,
    pub(crate) facts: Arc<PeerFacts>,
}

/// State of one peer.
pub(crate) struct Session {
    id: Option<Box<str>>,
    principal: Option<Principal>,
    phase: Mutex<Phase>,
    used: AtomicBool,
    /// Distinguishes its tasks from those of others; made when it is needed.
    pub(crate) task_owner: OnceLock<Box<str>>,
    pub(crate) log_level: Arc<SessionLevel>,
    pub(crate) in_flight: InFlight,
    /// Requests that were sent to the peer.
    pub(crate) asked: Asked,
    /// The resources whose changes the peer subscribed to (J-7).
    pub(crate) watched: WatchedResources,
    /// How many streams of `subscriptions/listen` are open on it.
    pub(crate) listening: AtomicUsize,
    /// Messages that belong to no request: the whole output of a byte stream, the GET stream of an HTTP session.
    pub(crate) outbox: Arc<Outbox>,
    /// Fired when the peer sends nothing more: its subscriptions end.
    pub(crate) ending: Signal,
    /// Fired when the calls of a byte stream must end: it stops, and they did not end in time (DEC-11).
    pub(crate) cut: Signal,
}

/// The beginning of a session's id, for the log. The log must not have the whole id, because anyone who has it can end the session.
pub(crate) struct ShortId<'a>(pub(crate) &'a str);

impl fmt::Display for ShortId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Enough to distinguish sessions, far too little to guess an id.
        const SHOWN: usize = 8;
        match self.0.char_indices().nth(SHOWN) {
            Some((end, _)) => write!(f, "{}…", &self.0[..end]),
            None => f.write_str(self.0),
        }
    }
}

impl Session {
    pub(crate) fn new(id: Option<Box<str>>, principal: Option<Principal>) -> Self {
        Self {
            id,
            principal,
            phase: Mutex::new(Phase::Fresh),
            used: AtomicBool::new(false),
            task_owner: OnceLock::new(),
            log_level: Arc::default(),
            in_flight: InFlight::default(),
            asked: Asked::default(),
            watched: WatchedResources::default(),
            listening: AtomicUsize::new(0),
            outbox: Arc::new(Outbox::new()),
            ending: Signal::default(),
            cut: Signal::default(),
        }
    }

    /// Returns the id by which the peer knows the session; `None` on stdio.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Returns the principal that opened the session.
    pub(crate) fn principal(&self) -> Option<&Principal> {
        self.principal.as_ref()
    }

    /// Returns how many bytes the session takes while it is idle.
    #[cfg(feature = "http")]
    pub(crate) fn footprint(&self) -> usize {
        let facts = match &*self.lock() {
            Phase::Open { negotiated, .. } => negotiated.facts.footprint(),
            Phase::Fresh | Phase::Closed => 0,
        };
        let texts = self.id().map_or(0, str::len)
            + self
                .principal()
                .map_or(0, |principal| principal.subject().len());
        size_of::<Self>() + size_of::<PeerFacts>() + texts + facts
    }

    pub(crate) fn phase(&self) -> Phase {
        self.lock().clone()
    }

    /// Returns the negotiated revision, once there is one.
    pub(crate) fn revision(&self) -> Option<Revision> {
        match &*self.lock() {
            Phase::Open { negotiated, .. } => Some(negotiated.revision),
            Phase::Fresh | Phase::Closed => None,
        }
    }

    /// Opens the session as `asked`, which is an error if the params of the `initialize` cannot be accepted. An `initialize` with equal
    /// params changes nothing. One with other params replaces the first, unless a request came in between (DEC-4).
    ///
    /// # Errors
    /// The session is in use or has ended; this takes precedence over faults of the params. Otherwise the error in `asked`.
    pub(crate) fn open(
        &self,
        asked: Result<Negotiated, ErrorObject>,
    ) -> Result<Opening, ErrorObject> {
        let mut phase = self.lock();
        let (opening, is_late) = match (&*phase, &asked) {
            (Phase::Open { negotiated, .. }, Ok(asked)) if negotiated == asked => {
                return Ok(Opening::Repeated);
            }
            (Phase::Fresh, _) => (Opening::First, false),
            (Phase::Open { .. }, _) => (Opening::Replaced, self.is_used()),
            (Phase::Closed, _) => (Opening::Replaced, true),
        };
        if is_late {
            return Err(jsonrpc::invalid_request(
                "this session is initialized already",
                &ErrorDetail::new("/method", "phase", "one `initialize`", "another"),
            ));
        }
        *phase = Phase::Open {
            negotiated: asked?,
            confirmed: false,
        };
        Ok(opening)
    }

    /// Returns whether the session served a request after `initialize`, other than a ping.
    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// Notes that the session serves a request.
    pub(crate) fn note_use(&self) {
        if !self.is_used() {
            self.used.store(true, Ordering::Relaxed);
        }
    }

    /// Notes that the client sent `notifications/initialized`.
    pub(crate) fn confirm(&self) {
        if let Phase::Open { confirmed, .. } = &mut *self.lock() {
            *confirmed = true;
        }
    }

    /// Returns whether the server may send messages other than responses (B-7).
    pub(crate) fn is_confirmed(&self) -> bool {
        matches!(
            *self.lock(),
            Phase::Open {
                confirmed: true,
                ..
            }
        )
    }

    /// Ends the session: its calls are cancelled, its questions fail, its streams end.
    pub(crate) fn close(&self) {
        *self.lock() = Phase::Closed;
        self.watched.clear();
        self.in_flight.cancel_all();
        self.asked.fail_all();
        self.ending.fire();
        self.outbox.close();
    }

    /// Notes that the peer sends nothing more: there will be no answers, and its subscriptions end.
    pub(crate) fn end_input(&self) {
        self.asked.fail_all();
        self.ending.fire();
    }

    /// Passes the response to a request that was sent to the peer to the task that waits for it. If no task waits any more, that is logged.
    /// Returns `false` if no request had the id.
    // DEC-8
    pub(crate) fn settle(
        &self,
        id: Option<RequestId>,
        outcome: Result<&RawValue, ErrorObject>,
    ) -> bool {
        let Some(id) = id else {
            tracing::debug!("an error without id was dropped");
            return false;
        };
        let settled = match outcome {
            Ok(result) => Settled::Result(Json::from(result.to_owned())),
            Err(error) => Settled::Error(error),
        };
        let waited_for = self.asked.settle(&id, settled);
        if waited_for {
            return true;
        }
        let is_late = self.asked.has_had(&id);
        tracing::debug!(id = %ShortRequestId(&id), is_late, "a response that no request of this server waits for was dropped");
        is_late
    }

    fn lock(&self) -> MutexGuard<'_, Phase> {
        // Nothing that can panic runs under the lock.
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.id().map(|id| ShortId(id).to_string()))
            .field("phase", &*self.lock())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        task::{Context, Poll, Waker},
    };

    use super::*;
    use crate::{gate::Outgoing, peer::outbox::NotQueued};

    // F-21
    #[test]
    fn an_ended_session_takes_nothing() {
        let session = Session::new(None, None);
        let mut asked = session.asked.register(1).expect("room");
        session.close();
        assert!(matches!(session.phase(), Phase::Closed));
        let answer = Pin::new(&mut asked).poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(answer, Poll::Ready(Settled::Closed)), "{answer:?}");
        let refused = session.outbox.push(Outgoing::unchecked(Vec::new()));
        assert_eq!(refused, Err(NotQueued::Closed));
        let negotiated = Negotiated {
            revision: Revision::LATEST_LEGACY,
            facts: Arc::default(),
        };
        assert!(session.open(Ok(negotiated)).is_err());
        assert!(session.ending.is_fired());
    }

    #[test]
    fn ids_are_shortened() {
        for (id, shown) in [
            ("12345678", "12345678"),
            ("123456789", "12345678…"),
            ("äöüäöüäöü", "äöüäöüäö…"),
        ] {
            assert_eq!(ShortId(id).to_string(), shown);
        }
    }
}
