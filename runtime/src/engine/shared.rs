//! What all peers of a server share.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    ops::Deref,
    sync::{
        Arc, Mutex, PoisonError, RwLock, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use trueform_schema::{
    Conform, ErrorObject, Implementation, Method, RequestId, Revision, Revisions,
    ServerCapabilities, View,
};

use super::{Answer, Reply, listen::Listener};
use crate::{
    catalog::Catalog,
    gate::{self, Inbound, Policy},
    lint::Profile,
    session::Session,
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
    /// How schemas are advertised, where a tool has no profile of its own.
    pub(crate) profile: Profile,
    /// Whether the server offers tools, even if there is none at the moment.
    pub(crate) has_tools: bool,
    /// Most calls that one peer may have running; further ones are refused.
    pub(crate) max_in_flight: usize,
    /// Shortest time between two reports of progress of one call.
    pub(crate) progress_interval: std::time::Duration,
    /// What is done about outgoing messages that their revision does not allow.
    pub(crate) outgoing: Policy,
    /// What is done about incoming ones.
    pub(crate) incoming: Inbound,
}

/// A handle on the engine; clones share everything.
#[derive(Clone, Debug)]
pub(crate) struct Engine(Arc<Shared>);

/// What the handles share.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    /// The server's `Implementation` as the newest revision writes it.
    info_json: Box<str>,
    states: States,
    catalog: RwLock<Arc<Catalog>>,
    sessions: Mutex<Vec<Weak<Session>>>,
    /// How many entries `sessions` may have before dead ones are looked for.
    sessions_sweep: AtomicUsize,
    pub(super) listeners: Mutex<Vec<Listener>>,
    pub(crate) shutdown: Signal,
}

impl Engine {
    pub(crate) fn new(settings: Settings, states: States, catalog: Catalog) -> Self {
        let info_json = trueform_schema::At::new(&settings.info, Revision::LATEST)
            .to_string()
            .into();
        Self(Arc::new(Shared {
            settings,
            info_json,
            states,
            catalog: RwLock::new(Arc::new(catalog)),
            sessions: Mutex::default(),
            sessions_sweep: AtomicUsize::new(64),
            listeners: Mutex::default(),
            shutdown: Signal::default(),
        }))
    }

    /// Shared ownership of the same engine, for futures that outlive a borrow.
    pub(crate) fn shared(&self) -> Arc<Shared> {
        self.0.clone()
    }
}

impl Deref for Engine {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Shared {
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

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.catalog
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Replaces the catalog by what `change` makes of it, and tells the peers if it made something.
    pub(crate) fn change_catalog<E>(
        &self,
        change: impl FnOnce(&Catalog) -> Result<Option<Catalog>, E>,
    ) -> Result<bool, E> {
        let changed = {
            let mut catalog = self.catalog.write().unwrap_or_else(PoisonError::into_inner);
            match change(&catalog)? {
                Some(next) => {
                    *catalog = Arc::new(next);
                    true
                }
                None => false,
            }
        };
        if changed {
            self.tools_changed();
        }
        Ok(changed)
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

    /// What this server declares it can do (B-9).
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::default();
        capabilities.logging = Some(trueform_schema::JsonObject::empty());
        if self.settings.has_tools {
            let mut tools = trueform_schema::ServerCapabilitiesTools::default();
            tools.list_changed = Some(true);
            capabilities.tools = Some(tools);
        }
        capabilities
    }

    /// The answer `result`, as `revision` allows it.
    ///
    /// # Errors
    /// -32603 for a result that the revision does not allow.
    pub(super) fn answer<T: Conform>(
        &self,
        id: &RequestId,
        method: Method,
        revision: Revision,
        result: &T,
    ) -> Result<Reply, ErrorObject> {
        gate::check(self.settings.outgoing, result, revision, method.as_str())?;
        Ok(Reply::Ready(Answer::result(
            id,
            self.view(revision),
            |view, out| result.encode(view, out),
        )))
    }

    /// Whether `capability`, as the method table names it, is declared.
    pub(crate) fn offers(&self, capability: &str) -> bool {
        match capability {
            "tools" => self.settings.has_tools,
            "logging" => true,
            _ => false,
        }
    }

    /// Counts `session` among those that hear of changes.
    pub(crate) fn remember(&self, session: &Arc<Session>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= self.sessions_sweep.load(Ordering::Relaxed) {
            sessions.retain(|session| session.strong_count() > 0);
            self.sessions_sweep
                .store((sessions.len() * 2).max(64), Ordering::Relaxed);
        }
        sessions.push(Arc::downgrade(session));
    }

    /// Tells every peer that may hear of it that the list of tools changed (I-3).
    pub(crate) fn tools_changed(&self) {
        let sessions: Vec<_> = {
            let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            sessions.iter().filter_map(Weak::upgrade).collect()
        };
        for session in sessions {
            let Some(revision) = session.revision().filter(|_| session.is_confirmed()) else {
                continue;
            };
            let mut message = Vec::with_capacity(64);
            crate::jsonrpc::write_notification(
                Method::ToolListChanged.as_str(),
                None,
                View::at(revision),
                &mut message,
            );
            // A client that does not read is told nothing more; what waits already says the same.
            let _ = session.outbox.push_new(message);
        }
        self.notify_listeners_of_tools();
    }

    /// Ends open subscriptions; transports drain what runs.
    pub(crate) fn shut_down(&self) {
        self.shutdown.fire();
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("info", &self.settings.info.name)
            .finish_non_exhaustive()
    }
}
