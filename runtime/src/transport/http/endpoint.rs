//! What all requests of an endpoint share, and what a request says by its headers.

use std::sync::Arc;

use http::request::Parts;

use super::{
    config::HttpConfig,
    fields::{self, HttpHeaders, One},
    limit::Limit,
    policy::{CallerPolicy, InvalidSetting},
    sessions::{Active, Sessions},
    spare::SpareBuffer,
};
use crate::{
    engine::{Engine, Shared},
    gate::{Refusal, SESSION_HEADER, VersionHeader},
    principal::Principal,
    signal::{Fired, Signal},
    store::EventStore,
};

/// What all requests of an endpoint share.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(super) engine: Engine,
    pub(super) config: Arc<HttpConfig>,
    pub(super) sessions: Sessions,
    /// Calls at work.
    pub(super) at_work: Arc<Limit>,
    /// Streams that only listen.
    pub(super) listening: Arc<Limit>,
    /// For long bodies.
    pub(super) spare: Arc<SpareBuffer>,
    policy: CallerPolicy,
    /// Fired when calls have to end, because the server stops and they did not end in time (DEC-11).
    pub(super) cut: Arc<Signal>,
}

impl Endpoint {
    pub(crate) fn new(
        engine: Engine,
        config: Arc<HttpConfig>,
        address: Option<std::net::SocketAddr>,
    ) -> Result<Arc<Self>, InvalidSetting> {
        Ok(Arc::new(Self {
            engine,
            policy: CallerPolicy::new(&config, address)?,
            sessions: Sessions::new(
                config.max_sessions,
                config.max_session_bytes,
                config.session_idle,
                config.event_store.clone(),
            ),
            at_work: Limit::new(config.max_in_flight),
            listening: Limit::new(match address {
                // Of connections of its own at least one is left for calls.
                Some(_) => config
                    .max_listeners
                    .min(config.max_connections.saturating_sub(1).max(1)),
                None => config.max_listeners,
            }),
            spare: Arc::default(),
            cut: Arc::default(),
            config,
        }))
    }

    /// Completes when calls have to end.
    pub(super) fn cut(&self) -> Fired<Signal> {
        Fired::new(self.cut.clone(), |cut| cut)
    }

    /// Who may call.
    pub(super) fn policy(&self) -> &CallerPolicy {
        &self.policy
    }

    /// Completes when the server stops. Streams that only listen end then, and none is opened any more.
    pub(super) fn stopping(&self) -> Fired<Shared> {
        Fired::new(self.engine.shared(), |shared| &shared.host.shutdown)
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.engine.host.shutdown.is_fired()
    }

    pub(super) fn event_store(&self) -> Option<&Arc<dyn EventStore>> {
        self.config.event_store.as_ref()
    }

    /// The session that the request names, if it is open here and the caller's.
    pub(super) fn session_of(&self, parts: &Parts) -> Result<Active, Refusal> {
        self.session_named(fields::single(&parts.headers, SESSION_HEADER), parts)
    }

    /// As [`session_of`](Self::session_of), where `header` is what was found of the request's header.
    pub(super) fn session_named(&self, header: One<'_>, parts: &Parts) -> Result<Active, Refusal> {
        self.sessions
            .find(id_in(header)?, parts.extensions.get::<Principal>())
            .ok_or(Refusal::SessionUnknown)
    }
}

/// The session id that the request carries.
pub(super) fn named_session(parts: &Parts) -> Result<&str, Refusal> {
    id_in(fields::single(&parts.headers, SESSION_HEADER))
}

fn id_in(header: One<'_>) -> Result<&str, Refusal> {
    match header {
        One::Text(id) => Ok(id),
        One::Absent => Err(Refusal::SessionMissing),
        One::Unusable => Err(Refusal::SessionHeaderUnusable),
    }
}

/// What the request says about the protocol version.
pub(super) fn named_version(parts: &Parts) -> VersionHeader {
    VersionHeader::of(&HttpHeaders::of(&parts.headers))
}
