//! Every check that a request must pass before it is dispatched, each once, in the order of GAP-2: id, headers, version,
//! required `_meta`, method, capability, params.

use std::sync::Arc;

use serde_json::value::RawValue;
use trueform_schema::{
    ClientRequest, DecodeError, Encode, Era, ErrorObject, Method, RequestId, RequestMetaObject,
    Revision, Revisions, View, decode, serve::server::dispatch,
};

use super::{
    Engine, lifecycle,
    notified::{log_dropped, log_unknown},
    route::{Door, Refused},
    source::{HttpSource, Source},
};
use crate::{
    drive::Reply,
    exchange::{Exchange, id_taken},
    feature::logging,
    gate::{self, Claims, HeaderValue, Headers, Inbound, Stage, VERSION_HEADER},
    jsonrpc::{self, ErrorDetail},
    peer::{Caller, Negotiated, Phase, Session},
    trace,
};

/// A request that passed every check, on its way through the dispatch.
pub(crate) struct Admitted<'a> {
    pub(super) id: &'a RequestId,
    pub(super) method: &'static str,
    pub(super) revision: Revision,
    /// What the session negotiated; `None` for a stateless request, and where no session is open yet.
    pub(super) negotiated: Option<Negotiated>,
    /// The session or the byte stream that the request belongs to.
    pub(super) session: Option<Arc<Session>>,
    pub(super) source: &'a Source<'a>,
    /// The session of its own that the request opened.
    pub(super) opened: Option<Arc<Session>>,
    pub(super) is_stateless: bool,
}

impl<'a> Admitted<'a> {
    /// The headers of a stateless HTTP request.
    pub(super) fn headers(&self) -> Option<&'a dyn Headers> {
        let http = self.source.http().filter(|_| self.is_stateless)?;
        Some(http.headers)
    }

    /// The request as what is kept of it while it is in flight. What is kept of `meta` is taken out of it: it is large, and
    /// moves once this way.
    #[inline]
    pub(super) fn exchange(
        &self,
        engine: &Engine,
        meta: Option<&mut RequestMetaObject>,
    ) -> Arc<Exchange> {
        let caller = match (&self.negotiated, &self.session) {
            (Some(negotiated), Some(session)) => Caller::in_session(session, negotiated, meta),
            _ => Caller::stateless(self.revision, meta),
        };
        Exchange::new(
            engine.host_ref(),
            self.id.clone(),
            self.method,
            caller,
            self.session.clone(),
            self.source.transport(),
            self.source.outlet(),
        )
    }
}

/// What is known of a request before its method is looked at.
struct Entered<'a> {
    revision: Revision,
    session: Option<&'a Arc<Session>>,
    /// What the session negotiated; `None` for a stateless request.
    negotiated: Option<Negotiated>,
}

impl Engine {
    /// Serves a request.
    pub(super) fn request(
        &self,
        source: &Source<'_>,
        id: &RequestId,
        method: &str,
        params: Option<&RawValue>,
        claims: Claims<'_>,
    ) -> Reply {
        let span = trace::request_span(id, method);
        let _entered = span.enter();
        let reply = match self.admit(source, id, method, params, claims, &span) {
            Ok(reply) => reply,
            Err(refused) => {
                if let Refused::Silently = refused {
                    trace::record_dropped(&span);
                }
                refused.reply(id)
            }
        };
        if let Reply::Ready(response) | Reply::Opened(_, _, response) = &reply {
            trace::record_response(&span, response);
        }
        reply
    }

    fn admit(
        &self,
        source: &Source<'_>,
        id: &RequestId,
        name: &str,
        params: Option<&RawValue>,
        claims: Claims<'_>,
        span: &tracing::Span,
    ) -> Result<Reply, Refused> {
        let door = self.route(source, name, &claims)?;
        // Before anything that could be answered. A stream's table of ids serves both eras.
        let ids = match &door {
            Door::Session(session) => Some(*session),
            Door::Stateless | Door::Opening => source.session().filter(|_| source.is_stream()),
        };
        if let Some(session) = ids.filter(|session| session.in_flight.contains(id)) {
            let error = id_taken(id, name, source.is_stream()).ok_or(Refused::Silently)?;
            let revision = session.revision();
            if let Some(revision) = revision {
                trace::record_revision(span, revision);
            }
            return Err(Refused::at(Stage::Call(Era::Legacy), revision, error));
        }
        let method = claims.method().or_else(|| Method::from_wire(name));
        let entered = match door {
            Door::Stateless => self.stateless(source, name, method, &claims, span)?,
            Door::Session(session) => match self.in_session(source, session, method, name)? {
                Some(entered) => entered,
                None => return self.outside_phase(source, id, session, params, claims),
            },
            Door::Opening => return self.opening(source, id, params, claims),
        };
        let Entered {
            revision,
            session,
            negotiated,
        } = entered;
        let refuse = |error| Refused::at(Stage::Call(revision.era()), Some(revision), error);
        let known = method.filter(|method| method.rules(revision).is_some());
        let Some(method) = known else {
            return self.extension(
                source,
                id,
                name,
                params.or(reread(&claims).as_deref()),
                Entered {
                    revision,
                    session,
                    negotiated,
                },
            );
        };
        self.methods
            .get(method, revision)
            .check(name, revision)
            .map_err(refuse)?;
        let request = self
            .params(method, revision, params, claims)
            .map_err(refuse)?;
        if let Some(meta) = request.meta() {
            check_log_level(meta, revision).map_err(refuse)?;
        }
        let admitted = Admitted {
            id,
            method: method.as_str(),
            revision,
            is_stateless: negotiated.is_none(),
            negotiated,
            // A byte stream's table of ids serves both eras.
            session: session.cloned(),
            source,
            opened: None,
        };
        Ok(dispatch(self, admitted, request))
    }

    /// The revision of a request that stands on its own, by its headers and its `_meta`.
    fn stateless<'a>(
        &self,
        source: &Source<'a>,
        name: &str,
        method: Option<Method>,
        claims: &Claims<'_>,
        span: &tracing::Span,
    ) -> Result<Entered<'a>, Refused> {
        let newest = self.newest_modern();
        let refuse = |error| Refused::at(Stage::Claims, Some(newest), error);
        let version = claims.version();
        let claimed = version.as_deref().and_then(Revision::from_wire);
        let served =
            claimed.filter(|revision| revision.era() == Era::Modern && self.host.serves(*revision));
        // Before anything is refused, so that the span of a refusal has it too.
        if let Some(revision) = served {
            trace::record_revision(span, revision);
        }
        if let Some(http) = source.http() {
            let rules = method.and_then(|method| method.rules(claimed.unwrap_or(newest)));
            let core = rules.and_then(|rules| rules.header_name);
            let member = core.or_else(|| {
                self.features
                    .extensions
                    .header_name(name, claimed.unwrap_or(newest))
            });
            gate::check_standard_headers(http.headers, name, member, claims).map_err(refuse)?;
        }
        let Some(version) = version else {
            return Err(refuse(gate::missing_version(claims)));
        };
        let Some(revision) = served else {
            // The whole list, because a client may well go on in the legacy era (C-7, GAP-3).
            let served = self.host.served(Revisions::ALL);
            return Err(refuse(jsonrpc::unsupported_version(&version, &served)));
        };
        if !claims.has_capabilities() {
            let found = claims.raw_capabilities();
            return Err(refuse(gate::missing_meta(
                "clientCapabilities",
                "an object",
                found,
            )));
        }
        Ok(Entered {
            revision,
            session: source.session().filter(|_| source.is_stream()),
            negotiated: None,
        })
    }

    /// The newest revision of the modern era that is served, or that there is.
    pub(super) fn newest_modern(&self) -> Revision {
        let newest = Revision::ALL
            .into_iter()
            .rev()
            .find(|revision| revision.era() == Era::Modern && self.host.serves(*revision));
        newest.unwrap_or(Revision::LATEST)
    }

    /// What `session` negotiated; `None` for a `ping`, which needs no open session.
    fn in_session<'a>(
        &self,
        source: &Source<'_>,
        session: &'a Arc<Session>,
        method: Option<Method>,
        name: &str,
    ) -> Result<Option<Entered<'a>>, Refused> {
        let revision = session.revision();
        if let Some(revision) = revision {
            trace::record_revision(&tracing::Span::current(), revision);
        }
        if let Some(http) = source.http() {
            self.check_session_version(http, revision)?;
        }
        let refuse = |error| Err(Refused::at(Stage::Call(Era::Legacy), revision, error));
        match session.phase() {
            Phase::Open { negotiated, .. } => Ok(Some(Entered {
                revision: negotiated.revision,
                session: Some(session),
                negotiated: Some(negotiated),
            })),
            Phase::Fresh if method == Some(Method::Ping) => Ok(None),
            // D-4
            Phase::Fresh => refuse(jsonrpc::invalid_params(
                format!(
                    "`{}` before `initialize`, and without `_meta` that names a protocol version",
                    jsonrpc::shortened(name)
                ),
                &ErrorDetail::missing(
                    "/params/_meta/io.modelcontextprotocol~1protocolVersion",
                    "a protocol version, or `initialize` before",
                ),
            )),
            Phase::Closed => refuse(jsonrpc::invalid_request(
                "this session has ended",
                &ErrorDetail::new("/method", "phase", "nothing more", "a request"),
            )),
        }
    }

    // F-23
    fn check_session_version(
        &self,
        http: &HttpSource<'_>,
        revision: Option<Revision>,
    ) -> Result<(), Refused> {
        let is_known = match http.headers.get(VERSION_HEADER) {
            HeaderValue::Absent => true,
            HeaderValue::One(version) => Revision::from_wire(version)
                .is_some_and(|version| version.era() == Era::Legacy && self.host.serves(version)),
            HeaderValue::Bad => false,
        };
        match is_known {
            true => Ok(()),
            false => Err(Refused::at(
                Stage::Envelope,
                revision,
                gate::session_version_unknown(),
            )),
        }
    }

    /// Answers a request that needs no open session: `ping` (B-10).
    fn outside_phase(
        &self,
        source: &Source<'_>,
        id: &RequestId,
        session: &Arc<Session>,
        params: Option<&RawValue>,
        claims: Claims<'_>,
    ) -> Result<Reply, Refused> {
        let revision = Revision::LATEST_LEGACY;
        let request = self
            .params(Method::Ping, revision, params, claims)
            .map_err(|error| Refused::at(Stage::Call(Era::Legacy), Some(revision), error))?;
        let admitted = Admitted {
            id,
            method: Method::Ping.as_str(),
            revision,
            negotiated: None,
            session: Some(session.clone()),
            source,
            opened: None,
            is_stateless: false,
        };
        Ok(dispatch(self, admitted, request))
    }

    /// Answers `initialize`. It opens the session of its byte stream, or over HTTP one of its own (DEC-2).
    fn opening(
        &self,
        source: &Source<'_>,
        id: &RequestId,
        params: Option<&RawValue>,
        claims: Claims<'_>,
    ) -> Result<Reply, Refused> {
        let refuse = |error| Refused::at(Stage::Call(Era::Legacy), source.revision(), error);
        let method = Method::Initialize;
        let stream = source.session().filter(|_| source.is_stream());
        if stream.is_some_and(|session| !matches!(session.phase(), Phase::Fresh)) {
            return Err(refuse(lifecycle::initialized_already()));
        }
        let request = claims
            .into_request(method, params)
            .map_err(|error| refuse(gate::unfit(method, &error)))?;
        let spoken = lifecycle::spoken(&request, &self.host);
        self.host
            .settings
            .incoming
            .check_params(&request, method, spoken, params)
            .map_err(refuse)?;
        let session = match source.http() {
            None => source.session().cloned(),
            Some(http) => Some(Arc::new(Session::new(
                Some((http.new_id)()),
                http.transport.principal.clone(),
            ))),
        };
        let admitted = Admitted {
            id,
            method: method.as_str(),
            revision: spoken,
            negotiated: None,
            session,
            source,
            opened: None,
            is_stateless: false,
        };
        Ok(dispatch(self, admitted, request))
    }

    /// The decoded params of a request, as `revision` allows them.
    fn params(
        &self,
        method: Method,
        revision: Revision,
        params: Option<&RawValue>,
        claims: Claims<'_>,
    ) -> Result<ClientRequest, ErrorObject> {
        let undeclared = self.undeclared(method, revision, &claims);
        let decoded = claims
            .into_request(method, params)
            .map_err(|error| gate::unfit(method, &error))
            .and_then(|request| {
                let incoming = self.host.settings.incoming;
                incoming.check_params(&request, method, revision, params)?;
                Ok(request)
            });
        decoded.map_err(|error| undeclared.unwrap_or(error))
    }

    /// The error for a client that lacks a capability which the tool needs that it calls, if its params are malformed: the
    /// capability comes before the params (GAP-2).
    fn undeclared(
        &self,
        method: Method,
        revision: Revision,
        claims: &Claims<'_>,
    ) -> Option<ErrorObject> {
        let Claims::Peeked(_) = claims else {
            return None;
        };
        if method != Method::CallTool || revision.era() == Era::Legacy {
            return None;
        }
        let declared = serde_json::from_str(claims.raw_capabilities()?.get()).ok()?;
        let tools = self.features.tools.as_ref()?;
        tools.undeclared(&claims.name()?, &declared)
    }

    /// Answers a method that the core does not have at `revision`: an extension may.
    #[cold]
    fn extension(
        &self,
        source: &Source<'_>,
        id: &RequestId,
        name: &str,
        params: Option<&RawValue>,
        entered: Entered<'_>,
    ) -> Result<Reply, Refused> {
        let Entered {
            revision,
            session,
            negotiated,
        } = entered;
        let refuse = |error| Refused::at(Stage::Call(revision.era()), Some(revision), error);
        let incoming = self.host.settings.incoming;
        let (mut meta, fault) = match request_meta(name, revision, params, incoming) {
            Ok(meta) => (meta, None),
            Err(error) => (None, Some(error)),
        };
        let declared = match (fault, &negotiated) {
            // Whether there is such a method comes first.
            (Some(error), _) => Err(error),
            (None, Some(negotiated)) => Ok(Some(&negotiated.facts.capabilities)),
            (None, None) => Ok(meta
                .as_ref()
                .and_then(|meta| meta.client_capabilities.as_ref())),
        };
        let found = self
            .features
            .extensions
            .request(name, revision, params, declared, incoming);
        let Some(request) = found else {
            return Err(refuse(jsonrpc::method_not_found(
                name,
                &format!("is unknown at {revision}"),
            )));
        };
        let request = request.map_err(refuse)?;
        let admitted = Admitted {
            id,
            method: request.method,
            revision,
            is_stateless: negotiated.is_none(),
            negotiated,
            session: session.cloned(),
            source,
            opened: None,
        };
        let called = request.call(admitted.exchange(self, meta.as_mut()), &self.layers);
        Ok(Self::called(id, revision, called))
    }

    /// Takes a notification that the core does not have at `revision`: an extension may.
    #[cold]
    pub(super) fn extension_notified(
        &self,
        source: &Source<'_>,
        name: &str,
        params: Option<&RawValue>,
        revision: Revision,
        session: Option<&Arc<Session>>,
    ) -> Reply {
        let incoming = self.host.settings.incoming;
        let open = session.and_then(|session| match session.phase() {
            Phase::Open { negotiated, .. } => Some((session, negotiated)),
            Phase::Fresh | Phase::Closed => None,
        });
        let declared = open.as_ref().map(|(_, open)| &open.facts.capabilities);
        let found = self
            .features
            .extensions
            .notification(name, revision, params, declared, incoming);
        let notification = match found {
            Some(Ok(notification)) => notification,
            Some(Err(error)) => {
                log_dropped(name, &error, params);
                return Reply::Silent;
            }
            None => {
                log_unknown(name, revision);
                return Reply::Silent;
            }
        };
        let meta = request_meta(name, revision, params, incoming);
        let mut meta = match meta {
            Ok(meta) => meta,
            Err(error) => {
                log_dropped(name, &error, params);
                return Reply::Silent;
            }
        };
        if let Some(meta) = &mut meta {
            // Both belong to requests: a notification has no response that progress and log messages could precede.
            (meta.progress_token, meta.log_level) = (None, None);
        }
        let caller = match &open {
            Some((session, negotiated)) => Caller::in_session(session, negotiated, meta.as_mut()),
            None => Caller::stateless(revision, meta.as_mut()),
        };
        let exchange = Exchange::new(
            self.host_ref(),
            // A notification has no id; nothing is ever sent under this one.
            RequestId::Integer(0),
            notification.method,
            caller,
            session.cloned(),
            source.transport(),
            source.outlet(),
        );
        if !source.is_stream() {
            // A notification over HTTP is answered by a status, so nothing can be sent along with it.
            exchange.finish();
        }
        Reply::Background(notification.begin(exchange))
    }
}

/// The text of params that were decoded as those of a method of the core, for an extension that has a method of that name at a
/// revision whose core does not. `None` if they were not decoded: then the request has their text.
fn reread(claims: &Claims<'_>) -> Option<Box<RawValue>> {
    let Claims::Decoded(request) = claims else {
        return None;
    };
    let mut text = Vec::new();
    request.encode(View::ALL, &mut text);
    Some(serde_json::from_slice(&text).expect("what is encoded is JSON"))
}

/// The `_meta` of the params of `method`, which no type of the core describes, as `revision` allows it. `None` if the params
/// have no `_meta`.
///
/// # Errors
/// -32602 for a `_meta` that does not have its form.
fn request_meta(
    method: &str,
    revision: Revision,
    params: Option<&RawValue>,
    incoming: Inbound,
) -> Result<Option<RequestMetaObject>, ErrorObject> {
    #[derive(serde::Deserialize)]
    struct Params<'a> {
        #[serde(default, rename = "_meta", borrow)]
        meta: Option<&'a RawValue>,
    }
    // An array would be taken for the members in their order.
    if let Some(params) = params.filter(|params| !params.get().starts_with('{')) {
        let found = jsonrpc::described(params.get());
        let fault = ErrorDetail::new("/params", "type", "an object", found);
        return Err(jsonrpc::params_error(method, &fault));
    }
    let read = |text| decode::from_str::<Params<'_>>(text).map(|params| params.meta);
    let found = params.map_or(Ok(None), |params| read(params.get()));
    let text = found.map_err(|error| unfit(method, &error, "/params"))?;
    let Some(text) = text.map(RawValue::get) else {
        return Ok(None);
    };
    let meta: RequestMetaObject =
        decode::from_str(text).map_err(|error| unfit(method, &error, "/params/_meta"))?;
    incoming.check_meta(&meta, method, revision, text)?;
    check_log_level(&meta, revision)?;
    Ok(Some(meta))
}

fn unfit(method: &str, error: &DecodeError, prefix: &str) -> ErrorObject {
    jsonrpc::params_error(method, &ErrorDetail::of_decoding(error, prefix))
}

/// Checks the level from which on a request wants log messages (M-3). In a session `logging/setLevel` sets it, and the member has
/// no meaning.
fn check_log_level(meta: &RequestMetaObject, revision: Revision) -> Result<(), ErrorObject> {
    match meta.log_level.as_ref() {
        Some(level) if revision.era() == Era::Modern => {
            logging::check(level, "/params/_meta/io.modelcontextprotocol~1logLevel")
        }
        _ => Ok(()),
    }
}
