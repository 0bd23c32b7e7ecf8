//! The part of the server that requests use: its identity, its settings, the application's state, and whether it shuts down.
//!
//! The features of the server are not part of it. The engine holds them and is accessed only through its type, so that nothing below the
//! engine imports it.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    ops::Deref,
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use trueform_schema::{At, Implementation, Revision, Revisions, View};

use crate::{
    gate::{Inbound, Policy, Unread},
    seal::Keys,
    signal::Signal,
};

/// Values that [`Server::state`](crate::Server::state) registered, by type.
pub(crate) type States = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

/// The settings of an author before the server started.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) revisions: Revisions,
    /// The maximum number of running calls of one peer; further ones are refused.
    pub(crate) max_in_flight: usize,
    pub(crate) ask: AskSettings,
    /// The maximum number of bytes of unread messages before calls are refused.
    pub(crate) max_unread: usize,
    /// The maximum number of steps of the check of one call's arguments, and of its result.
    pub(crate) max_check_steps: u64,
    /// The shortest time between two progress reports of one call.
    pub(crate) progress_interval: Duration,
    /// How to treat outgoing messages that their revision does not allow.
    pub(crate) outgoing: Policy,
    /// How to treat such incoming messages.
    pub(crate) incoming: Inbound,
}

/// The author's settings of questions to clients.
#[derive(Debug)]
pub(crate) struct AskSettings {
    /// How long to wait for the answer to a request.
    pub(crate) timeout: Duration,
    /// The maximum number of unanswered requests to clients: in total, and in one session.
    pub(crate) max: usize,
    pub(crate) max_in_session: usize,
    /// In how many rounds one call may ask.
    pub(crate) rounds: u32,
    /// How long the state of a call that has asked is valid.
    pub(crate) expiry: Duration,
    /// The maximum size of this state in bytes, before it is sealed.
    pub(crate) state_bytes: usize,
    /// The keys that seal it.
    pub(crate) keys: Keys,
}

/// The data that all requests of a server share.
pub(crate) struct Host {
    pub(crate) settings: Settings,
    /// The server's `Implementation` as the newest revision writes it.
    info_json: Box<str>,
    states: States,
    /// The number of unanswered requests to clients.
    pub(crate) asks: AtomicUsize,
    /// The unread messages of all connections.
    pub(crate) unread: Arc<Unread>,
    /// Fired when the server is asked to stop: running calls are drained.
    pub(crate) shutdown: Signal,
    /// Fired when it is asked a second time: the drain ends (DEC-11).
    pub(crate) at_once: Signal,
}

/// The owner of a [`Host`] and of everything else of the server.
pub(crate) trait HostOwner: Any + Send + Sync {
    fn host(&self) -> &Host;

    /// Returns the owner itself, for code that knows its type.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// Shared ownership of a server, seen as its [`Host`].
#[derive(Clone)]
pub(crate) struct HostRef(Arc<dyn HostOwner>);

impl HostRef {
    pub(crate) fn new(owner: Arc<dyn HostOwner>) -> Self {
        Self(owner)
    }

    pub(crate) fn owner(&self) -> Arc<dyn HostOwner> {
        self.0.clone()
    }
}

impl Deref for HostRef {
    type Target = Host;

    fn deref(&self) -> &Host {
        self.0.host()
    }
}

impl fmt::Debug for HostRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl Host {
    pub(crate) fn new(settings: Settings, states: States) -> Self {
        let info_json = At::new(&settings.info, Revision::LATEST).to_string().into();
        Self {
            unread: Unread::new(settings.max_unread),
            settings,
            info_json,
            states,
            asks: AtomicUsize::new(0),
            shutdown: Signal::default(),
            at_once: Signal::default(),
        }
    }

    /// Returns how results are written at `revision`: with this server's `serverInfo` (C-4).
    pub(crate) fn view(&self, revision: Revision) -> View<'_> {
        View::at(revision).with_server_info(&self.info_json)
    }

    pub(crate) fn states(&self) -> &States {
        &self.states
    }

    pub(crate) fn state<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.states.get(&TypeId::of::<T>())?.clone().downcast().ok()
    }

    /// Returns the served revisions that are in `among`, newest first.
    pub(crate) fn served(&self, among: Revisions) -> Vec<Revision> {
        let mut served: Vec<_> = self
            .settings
            .revisions
            .iter()
            .filter(|revision| among.contains(*revision))
            .collect();
        served.reverse();
        served
    }

    /// Returns whether `revision` is served.
    pub(crate) fn serves(&self, revision: Revision) -> bool {
        self.settings.revisions.contains(revision)
    }

    /// Returns whether a revision of the legacy era is served.
    pub(crate) fn serves_legacy(&self) -> bool {
        let legacy = Revisions::until(Revision::LATEST_LEGACY);
        self.settings.revisions.intersects(legacy)
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("info", &self.settings.info.name)
            .finish_non_exhaustive()
    }
}
