//! The protocol engine: it turns received bytes into a reply. It has state and functions, but no sockets and no async runtime.
//!
//! Transports pass it bytes and their source ([`Engine::receive`]) and write the reply. Messages of every era and transport take the same
//! path: [`route`] selects the entry, [`admit`] checks everything once, and the generated dispatch selects the function in [`serve`] that
//! answers.

mod admit;
mod batch;
mod extended;
mod lifecycle;
mod methods;
mod notified;
mod quick;
mod route;
mod serve;
mod source;

use std::{any::Any, fmt, ops::Deref, sync::Arc};

use trueform_schema::{ErrorObject, RequestId, Revision};

pub(crate) use self::source::Source;
#[cfg(feature = "http")]
pub(crate) use self::source::{HttpSource, NamedSession};
use self::{admit::Received, methods::MethodTable, route::RefusedMessage};
use crate::{
    drive::Reply,
    feature::{
        Features,
        job::Called,
        layer::{CallLayer, Layers},
        subscriptions::{Subscriptions, Topic},
        tools::ToolRoute,
        visibility::Visibility,
    },
    gate::{self, Outcome, Outgoing, Read, Remembered, Stage},
    host::{Host, HostOwner, HostRef, Settings, States},
    jsonrpc::{self, Malformed, Message},
};

/// A handle of the engine. Clones share all state.
#[derive(Clone, Debug)]
pub(crate) struct Engine(Arc<Shared>);

/// The state that the handles share.
pub(crate) struct Shared {
    pub(crate) host: Host,
    pub(crate) features: Features,
    pub(crate) subscriptions: Subscriptions,
    /// Around every call, outermost first.
    layers: Arc<Layers>,
    /// Which callers see what.
    visibility: Visibility,
    methods: MethodTable,
    /// What clients declared about themselves.
    remembered: Remembered,
}

impl Engine {
    pub(crate) fn new(
        settings: Settings,
        states: States,
        features: Features,
        layers: Vec<Arc<dyn CallLayer>>,
        visibility: Visibility,
    ) -> Self {
        Self(Arc::new(Shared {
            methods: MethodTable::new(&features),
            remembered: Remembered::new(settings.incoming),
            host: Host::new(settings, states),
            features,
            subscriptions: Subscriptions::new(),
            layers: layers.into(),
            visibility,
        }))
    }

    /// Returns the engine that a request belongs to.
    pub(crate) fn of(host: &HostRef) -> Self {
        let owner = host.owner().into_any().downcast();
        Self(owner.expect("an engine is the owner of the host of its requests"))
    }

    /// Shared ownership of the same engine, for futures that outlive a borrow.
    pub(crate) fn shared(&self) -> Arc<Shared> {
        self.0.clone()
    }

    fn host_ref(&self) -> HostRef {
        HostRef::new(self.0.clone())
    }

    /// Serves one line or one body.
    pub(crate) fn receive(&self, source: &Source<'_>, bytes: &[u8]) -> Reply {
        let reply = match Read::from_bytes(bytes, self.host.settings.incoming, &self.remembered) {
            Ok(Read::Single(message, claims)) => match message {
                Message::Request { id, method, params } => {
                    let received = Received {
                        source,
                        id: &id,
                        method: &method,
                        params,
                        message: bytes,
                    };
                    self.request(&received, claims)
                }
                Message::Notification { method, params } => {
                    self.notified(source, &method, params, &claims)
                }
                Message::Response { id, outcome } => self.response(source, id, outcome),
            },
            Ok(Read::Batch(messages)) => self.batch(source, messages),
            Err(malformed) => {
                gate::log_raw(bytes);
                return self.malformed(source, malformed);
            }
        };
        if let Reply::Ready(response) = &reply
            && let Some(Outcome::Refused(_)) = response.outcome()
        {
            gate::log_raw(bytes);
        }
        reply
    }

    /// Answers a message that was too long to be read completely; `prefix` is the part that was kept.
    pub(crate) fn too_long(&self, source: &Source<'_>, prefix: &[u8], limit: usize) -> Reply {
        let error = jsonrpc::invalid_request(
            format!("a message longer than {limit} bytes"),
            &jsonrpc::ErrorDetail::new("", "size", format!("at most {limit} bytes"), "more"),
        );
        self.malformed(source, jsonrpc::malformed_from(prefix, error))
    }

    /// Returns the response to input that is not a valid message, if a response is allowed.
    fn malformed(&self, source: &Source<'_>, malformed: Malformed) -> Reply {
        let Malformed { kind, id, error } = malformed;
        tracing::debug!(
            ?kind,
            id = id
                .as_ref()
                .map(|id| tracing::field::display(jsonrpc::ShortRequestId(id))),
            code = error.code,
            problem = &*error.message,
            "malformed message"
        );
        let session = source.session();
        // The id of a response is one of the server's own. A response is never answered; the request that waits for it gets the error.
        if let (jsonrpc::Kind::Response, Some(session), Some(id)) = (kind, session, &id) {
            session.asked.fail(id, error.message.clone());
        }
        if !kind.is_answered() {
            return Self::not_taken(source, RefusedMessage::at(Stage::Envelope, None, error));
        }
        let in_flight = session.filter(|_| source.is_stream());
        let is_taken =
            |id: &&RequestId| in_flight.is_some_and(|session| session.in_flight.contains(id));
        if let Some(id) = id.as_ref().filter(is_taken)
            && source
                .id_scope()
                .refusal(id, "a malformed message")
                .is_none()
        {
            return Reply::Silent;
        }
        let (id, revision) = (id.as_ref(), source.revision());
        Reply::Ready(Outgoing::refusal(id, revision, Stage::Envelope, &error))
    }

    /// Returns the reply to a refused message that is not a request. Over HTTP, the refusal is the body of the response, without an id,
    /// because the id is the server's own or belongs to no request. On a byte stream, nothing is sent (A-8, GAP-17).
    fn not_taken(source: &Source<'_>, refused: RefusedMessage) -> Reply {
        match refused {
            RefusedMessage::With {
                stage,
                revision,
                error,
            } if !source.is_stream() => {
                tracing::debug!(
                    code = error.code,
                    problem = &*error.message,
                    "message refused"
                );
                Reply::Ready(Outgoing::refusal(None, revision, stage, &error))
            }
            RefusedMessage::With { .. } | RefusedMessage::Silently => Reply::Silent,
        }
    }

    /// Returns the reply for the outcome of a call.
    #[inline]
    fn called(&self, id: &RequestId, revision: Revision, called: Called) -> Reply {
        match called {
            Called::Ready(response) => Reply::Ready(response.counted(&self.host.unread)),
            Called::Silent => Reply::Silent,
            Called::Running(job) => Reply::Running(job),
            Called::Refused(error) => Reply::Ready(refused_call(id, revision, &error)),
            Called::TurnedAway(refusal) => {
                RefusedMessage::turned_away(&refusal, revision).reply(id)
            }
        }
    }
}

/// Returns the refusal of a request that was read completely.
fn refused_call(id: &RequestId, revision: Revision, error: &ErrorObject) -> Outgoing {
    route::refused(id, Stage::Call(revision.era()), Some(revision), error)
}

impl Deref for Engine {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Shared {
    /// Returns the tools that are listed now.
    pub(crate) fn tools_now(&self) -> Vec<Arc<ToolRoute>> {
        let tools = self.features.tools.iter();
        tools
            .flat_map(|tools| tools.now().visible().cloned().collect::<Vec<_>>())
            .collect()
    }

    /// Notifies every peer that may be notified of a change of `topic`. A server without the feature notifies no peer, because it did not
    /// declare the capability (B-8).
    pub(crate) fn notify(&self, topic: &'static Topic) {
        let is_offered = |offered: &'static Topic| std::ptr::eq(offered, topic);
        if self.features.topics().any(is_offered) {
            self.subscriptions.notify(topic);
        }
    }

    /// Ends open subscriptions; transports drain running calls. If the server is already stopping, the drain ends (DEC-11).
    pub(crate) fn shut_down(&self) {
        if !self.host.shutdown.fire() {
            self.host.at_once.fire();
        }
    }
}

impl HostOwner for Shared {
    fn host(&self) -> &Host {
        &self.host
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}
