//! The server as a request knows it: what it calls itself, its settings, the application's state, whether it shuts down.
//!
//! What the server offers is not here: the engine, which holds it, is reached by its type only, so that nothing below the engine
//! imports it.

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

/// What an author settled before the server started.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) revisions: Revisions,
    /// Most calls that one peer may have running; further ones are refused.
    pub(crate) max_in_flight: usize,
    pub(crate) ask: AskSettings,
    /// Most bytes of messages that wait for their readers, before calls are refused.
    pub(crate) max_unread: usize,
    /// Most steps of the check of one call's arguments, and of its result.
    pub(crate) max_check_steps: u64,
    /// Shortest time between two reports of progress of one call.
    pub(crate) progress_interval: Duration,
    /// What is done about outgoing messages that their revision does not allow.
    pub(crate) outgoing: Policy,
    /// What is done about incoming ones.
    pub(crate) incoming: Inbound,
}

/// What an author settled about questions to clients.
#[derive(Debug)]
pub(crate) struct AskSettings {
    /// How long the answer to a request is waited for.
    pub(crate) timeout: Duration,
    /// Most requests to clients that are not answered yet: of all, and of one session.
    pub(crate) max: usize,
    pub(crate) max_in_session: usize,
    /// How often one call may ask.
    pub(crate) rounds: u32,
    /// How long the state of a call counts that has asked.
    pub(crate) expiry: Duration,
    /// Most bytes of it, before it is sealed.
    pub(crate) state_bytes: usize,
    /// What it is sealed with.
    pub(crate) keys: Keys,
}

/// What all requests of a server share.
pub(crate) struct Host {
    pub(crate) settings: Settings,
    /// The server's `Implementation` as the newest revision writes it.
    info_json: Box<str>,
    states: States,
    /// How many requests to clients are not answered yet.
    pub(crate) asks: AtomicUsize,
    /// What waits for its readers, over all connections.
    pub(crate) unread: Arc<Unread>,
    /// Fired when the server is asked to stop: what runs is drained.
    pub(crate) shutdown: Signal,
    /// Fired when it is asked a second time: the drain ends (DEC-11).
    pub(crate) at_once: Signal,
}

/// What holds a [`Host`], and everything else of the server.
pub(crate) trait HostOwner: Any + Send + Sync {
    fn host(&self) -> &Host;

    /// The owner itself, for those who know its type.
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

    /// How results are written at `revision`: with this server's `serverInfo` (C-4).
    pub(crate) fn view(&self, revision: Revision) -> View<'_> {
        View::at(revision).with_server_info(&self.info_json)
    }

    pub(crate) fn states(&self) -> &States {
        &self.states
    }

    pub(crate) fn state<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.states.get(&TypeId::of::<T>())?.clone().downcast().ok()
    }

    /// Revisions that are served, newest first, as far as `among` has them.
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

    /// Whether `revision` is served.
    pub(crate) fn serves(&self, revision: Revision) -> bool {
        self.settings.revisions.contains(revision)
    }

    /// Whether a revision of the legacy era is served.
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
