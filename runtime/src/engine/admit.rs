//! Every check that a request must pass before it is dispatched, each once, in the order of GAP-2: id, headers, version,
//! required `_meta`, method, capability, params.

use std::{borrow::Cow, sync::Arc};

use serde_json::value::RawValue;
use trueform_schema::{
    ClientCapabilities, ClientRequest, Era, ErrorObject, Method, ProgressToken, RequestId,
    RequestMetaObject, Revision, Revisions, methods,
    serve::server::{ServeMethods, dispatch},
};

use super::{
    Engine,
    extended::reread,
    lifecycle,
    route::{Door, RefusedMessage},
    serve::Answered,
    source::Source,
};
#[cfg(feature = "tracing-log")]
use crate::client_log;
use crate::{
    drive::Reply,
    exchange::Exchange,
    feature::{self, logging},
    gate::{self, Claims, HeaderValue, Headers, NAME_HEADER, Stage, Stated},
    jsonrpc::{self, ErrorDetail},
    peer::{Caller, Negotiated, Opening, Phase, Session},
    trace,
};

/// A request as it was read, before any check.
#[derive(Clone, Copy)]
pub(super) struct Received<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) id: &'a RequestId,
    /// The name of the method, which may be unknown.
    pub(super) method: &'a str,
    /// The raw params.
    pub(super) params: Option<&'a RawValue>,
    /// The whole message; empty for a message of a batch.
    pub(super) message: &'a [u8],
}

/// Who sends a request, and at which revision: known before its method is checked.
pub(super) struct Entered {
    pub(super) revision: Revision,
    /// The session or the byte stream that the request belongs to. A byte stream has one table of ids for both eras.
    pub(super) session: Option<Arc<Session>>,
    /// What the session negotiated; `None` for a stateless request, and where no session is open yet.
    pub(super) negotiated: Option<Negotiated>,
    pub(super) is_stateless: bool,
}

/// A request that passed every check, on its way through the dispatch.
pub(crate) struct Admitted<'a> {
    pub(super) id: &'a RequestId,
    pub(super) method: &'static str,
    pub(super) source: &'a Source<'a>,
    /// The whole message; empty for a message of a batch.
    pub(super) message: &'a [u8],
    pub(super) by: Entered,
    /// How the request opened its session; `None` if it opened none.
    pub(super) opening: Option<Opening>,
    /// The part of its `_meta` that was read by the fast path.
    pub(super) quick: QuickMeta,
}

/// The part of a request's `_meta` that was read by the fast path. The decoded params then have no `_meta`.
#[derive(Default)]
pub(super) struct QuickMeta {
    pub(super) stated: Option<Stated>,
    pub(super) progress: Option<ProgressToken>,
}

impl<'a> Admitted<'a> {
    /// Creates the admitted form of `received`, a request of `method` that passed the checks.
    #[inline]
    pub(super) fn new(received: &Received<'a>, method: &'static str, by: Entered) -> Self {
        Self {
            id: received.id,
            method,
            source: received.source,
            message: received.message,
            by,
            opening: None,
            quick: QuickMeta::default(),
        }
    }

    pub(super) fn revision(&self) -> Revision {
        self.by.revision
    }

    /// Returns the headers of a stateless HTTP request.
    pub(super) fn headers(&self) -> Option<&'a dyn Headers> {
        let http = self.source.http().filter(|_| self.by.is_stateless)?;
        Some(http.headers)
    }

    /// Creates the exchange that is kept while the request is in flight. It takes its parts out of `meta`: that is large, and moves only
    /// once this way.
    #[inline]
    pub(super) fn exchange(
        &mut self,
        engine: &Engine,
        meta: Option<&mut RequestMetaObject>,
    ) -> Arc<Exchange> {
        let quick = &mut self.quick;
        let mut caller = match (&self.by.negotiated, &self.by.session, quick.stated.take()) {
            (Some(negotiated), Some(session), _) => Caller::in_session(session, negotiated, meta),
            (_, _, Some(stated)) => Caller::remembered(stated),
            _ => Caller::stateless(self.by.revision, meta),
        };
        if quick.progress.is_some() {
            caller.progress = quick.progress.take();
        }
        if let Some(meta) = &caller.meta {
            trace::record_trace(meta);
        }
        let exchange = Exchange::new(
            engine.host_ref(),
            self.id.clone(),
            self.method,
            caller,
            self.by.session.clone(),
            self.source.transport(),
            self.source.sink(),
        );
        #[cfg(feature = "tracing-log")]
        client_log::attach(&exchange);
        exchange
    }
}

impl Engine {
    /// Serves a request.
    pub(super) fn request(&self, received: &Received<'_>, claims: Claims<'_>) -> Reply {
        #[cfg(feature = "tracing-log")]
        client_log::forget();
        let span = trace::request_span(received.id, received.method);
        let _entered = span.enter();
        let reply = match self.admit(received, claims, &span) {
            Ok(reply) => reply,
            Err(refused) => {
                if let RefusedMessage::Silently = refused {
                    trace::record_dropped(&span);
                }
                refused.reply(received.id)
            }
        };
        if let Reply::Ready(response) = &reply {
            trace::record_response(&span, response);
        }
        reply
    }

    fn admit(
        &self,
        received: &Received<'_>,
        claims: Claims<'_>,
        span: &tracing::Span,
    ) -> Result<Reply, RefusedMessage> {
        let Received {
            source,
            id,
            method: name,
            ..
        } = *received;
        let door = self.route(source, name, &claims)?;
        // Before any check that could send a response. The table of ids of a stream serves both eras.
        let ids = match &door {
            Door::Session(session) => Some(*session),
            Door::Stateless | Door::Opening => source.session().filter(|_| source.is_stream()),
        };
        let scope = source.id_scope();
        let may_repeat = scope.may_repeat(self.host.settings.incoming);
        if let Some(session) = ids.filter(|session| !may_repeat && session.in_flight.contains(id)) {
            let error = scope.refusal(id, name).ok_or(RefusedMessage::Silently)?;
            let revision = session.revision();
            if let Some(revision) = revision {
                trace::record_revision(span, revision);
            }
            return Err(RefusedMessage::at(
                Stage::Call(Era::Legacy),
                revision,
                error,
            ));
        }
        let method = claims.method().or_else(|| Method::from_wire(name));
        let entered = match door {
            Door::Stateless => self.stateless(received, method, &claims, span)?,
            Door::Session(session) => match self.in_session(received, session, method)? {
                Some(entered) => entered,
                None => return self.outside_phase(received, session, claims),
            },
            Door::Opening => return Ok(self.opening(received, claims)),
        };
        let revision = entered.revision;
        let refuse = |error| RefusedMessage::at(Stage::Call(revision.era()), Some(revision), error);
        let known = method.and_then(|method| Some((method, self.methods.get(method, revision)?)));
        let Some((method, availability)) = known else {
            return self.extended(received, &claims, entered);
        };
        availability.check(name).map_err(refuse)?;
        let claims = match claims {
            Claims::Quick(quick) => return Ok(self.quick(received, entered, quick)),
            claims => claims,
        };
        let request = self
            .params(received, method, revision, claims)
            .map_err(refuse)?;
        if let Some(meta) = request.meta()
            && let Err(error) = check_log_level(meta, revision)
        {
            // The capability comes before the params (GAP-2).
            let declared = meta.client_capabilities.as_ref();
            let name = request.header_name();
            let undeclared = self.lacking(source, method, revision, name, declared);
            return Err(refuse(undeclared.unwrap_or(error)));
        }
        let admitted = Admitted::new(received, method.as_str(), entered);
        Ok(dispatch(self, admitted, request))
    }

    /// Returns the revision of a stateless request, by its headers and its `_meta`.
    fn stateless(
        &self,
        received: &Received<'_>,
        method: Option<Method>,
        claims: &Claims<'_>,
        span: &tracing::Span,
    ) -> Result<Entered, RefusedMessage> {
        let (source, name) = (received.source, received.method);
        let newest = self.newest_modern();
        let refuse = |error| RefusedMessage::at(Stage::Claims, Some(newest), error);
        let claimed = claims.revision();
        let served = self.served_modern(claimed);
        // Before any refusal, so that the span of a refused request also has the revision.
        if let Some(revision) = served {
            trace::record_revision(span, revision);
        }
        if let Some(http) = source.http() {
            let rules = method.and_then(|method| method.rules(claimed.unwrap_or(newest)));
            let core = rules.and_then(|rules| rules.header_name);
            let named = match core {
                Some(member) => Some((member, claims.name())),
                None => {
                    let extensions = &self.features.extensions;
                    let member = extensions.header_name(name, claimed.unwrap_or(newest));
                    let may_lack = self.host.settings.incoming.allows_absent_names()
                        && http.headers.get(NAME_HEADER) == HeaderValue::Absent;
                    member
                        .filter(|_| !may_lack)
                        .map(|member| (member, named_by_extension(received, claims, member)))
                }
            };
            gate::check_standard_headers(http.headers, name, named, claims).map_err(refuse)?;
        }
        let Some(version) = claims.version() else {
            return Err(refuse(gate::missing_version(claims)));
        };
        let Some(revision) = served else {
            // Lists all revisions, because a client may continue in the legacy era (C-7, GAP-3).
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
            session: source.session().filter(|_| source.is_stream()).cloned(),
            negotiated: None,
            is_stateless: true,
        })
    }

    /// Returns the revision `named`, if it belongs to the modern era and is served.
    pub(super) fn served_modern(&self, named: Option<Revision>) -> Option<Revision> {
        named.filter(|named| named.era() == Era::Modern && self.host.serves(*named))
    }

    /// Returns the newest revision of the modern era that is served; if none is served, the newest that exists.
    pub(super) fn newest_modern(&self) -> Revision {
        let mut all = Revision::ALL.into_iter().rev();
        let newest = all.find_map(|revision| self.served_modern(Some(revision)));
        newest.unwrap_or(Revision::LATEST)
    }

    /// Returns what `session` negotiated; `None` for a `ping`, which needs no open session.
    fn in_session(
        &self,
        received: &Received<'_>,
        session: &Arc<Session>,
        method: Option<Method>,
    ) -> Result<Option<Entered>, RefusedMessage> {
        let revision = session.revision();
        if let Some(revision) = revision {
            trace::record_revision(&tracing::Span::current(), revision);
        }
        let refuse = |error| {
            Err(RefusedMessage::at(
                Stage::Call(Era::Legacy),
                revision,
                error,
            ))
        };
        match session.phase() {
            Phase::Open { negotiated, .. } => {
                if method != Some(Method::Ping) {
                    session.note_use();
                }
                Ok(Some(Entered {
                    revision: negotiated.revision,
                    session: Some(session.clone()),
                    negotiated: Some(negotiated),
                    is_stateless: false,
                }))
            }
            Phase::Fresh if method == Some(Method::Ping) => Ok(None),
            // D-4
            Phase::Fresh => refuse(jsonrpc::invalid_params(
                format!(
                    "`{}` before `initialize`, and without `_meta` that names a protocol version",
                    jsonrpc::shortened(received.method)
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

    /// Answers a request that needs no open session: `ping` (B-10).
    fn outside_phase(
        &self,
        received: &Received<'_>,
        session: &Arc<Session>,
        claims: Claims<'_>,
    ) -> Result<Reply, RefusedMessage> {
        let revision = Revision::LATEST_LEGACY;
        let request = self
            .params(received, Method::Ping, revision, claims)
            .map_err(|error| RefusedMessage::at(Stage::Call(Era::Legacy), Some(revision), error))?;
        let by = Entered {
            revision,
            session: Some(session.clone()),
            negotiated: None,
            is_stateless: false,
        };
        let admitted = Admitted::new(received, Method::Ping.as_str(), by);
        Ok(dispatch(self, admitted, request))
    }

    /// Answers `initialize`. It opens the session of its byte stream; over HTTP, it opens a new session (DEC-2).
    fn opening(&self, received: &Received<'_>, claims: Claims<'_>) -> Reply {
        let Received { source, params, .. } = *received;
        let (method, incoming) = (Method::Initialize, self.host.settings.incoming);
        let mut revision = Revision::LATEST_LEGACY;
        let read = claims.into_request(method, revision, params, incoming);
        let read = read.and_then(|(request, shorter)| {
            revision = lifecycle::spoken(&request, &self.host);
            let text = shorter.as_deref().or(params.map(RawValue::get));
            incoming.check_params(&request, method, revision, text)?;
            Ok(request)
        });
        let session = match source.http() {
            None => source.session().cloned(),
            Some(http) => Some(Arc::new(Session::new(
                Some((http.new_id)()),
                http.transport.principal.clone(),
            ))),
        };
        let by = Entered {
            revision,
            session,
            negotiated: None,
            is_stateless: false,
        };
        let mut admitted = Admitted::new(received, method.as_str(), by);
        match read {
            Ok(request) => dispatch(self, admitted, request),
            Err(error) => {
                let refused = self.open_session(&mut admitted, Err(error));
                self.answer::<methods::Initialize>(admitted, Answered::Result(refused))
            }
        }
    }

    /// Returns the decoded params of a request, as `revision` allows them.
    fn params(
        &self,
        received: &Received<'_>,
        method: Method,
        revision: Revision,
        claims: Claims<'_>,
    ) -> Result<ClientRequest, ErrorObject> {
        let params = received.params;
        let undeclared = self.undeclared(received.source, method, revision, &claims);
        let incoming = self.host.settings.incoming;
        let decoded = claims
            .into_request(method, revision, params, incoming)
            .and_then(|(request, shorter)| {
                let text = shorter.as_deref().or(params.map(RawValue::get));
                incoming.check_params(&request, method, revision, text)?;
                Ok(request)
            });
        decoded.map_err(|error| undeclared.unwrap_or(error))
    }

    /// Returns the error for a client that lacks a capability which the called tool, prompt or resource needs, if the params are malformed.
    /// The capability is checked before the params (GAP-2).
    fn undeclared(
        &self,
        source: &Source<'_>,
        method: Method,
        revision: Revision,
        claims: &Claims<'_>,
    ) -> Option<ErrorObject> {
        let Claims::Undecoded(_) = claims else {
            return None;
        };
        let declared = claims.capabilities()?;
        let name = claims.name();
        self.lacking(source, method, revision, name.as_deref(), Some(&declared))
    }

    /// Returns the error for a stateless client that lacks a capability which the tool, prompt or resource `name` needs.
    #[cold]
    fn lacking(
        &self,
        source: &Source<'_>,
        method: Method,
        revision: Revision,
        name: Option<&str>,
        declared: Option<&ClientCapabilities>,
    ) -> Option<ErrorObject> {
        if revision.era() == Era::Legacy {
            return None;
        }
        let sight = self.sight(source);
        let needs = self.features.needs(method, name?, sight.as_ref());
        let missing = needs.missing_from(declared?);
        (!missing.is_empty()).then(|| feature::undeclared(Era::Modern, missing))
    }
}

/// Returns the member of an extension's request that a header repeats.
#[cold]
fn named_by_extension(
    received: &Received<'_>,
    claims: &Claims<'_>,
    member: &'static str,
) -> Option<Cow<'static, str>> {
    let reread = reread(claims);
    let params = received.params.or(reread.as_deref())?;
    gate::member_text(params, member).map(Cow::Owned)
}

/// Checks the minimum level of the log messages that a request asks for (M-3). In a session `logging/setLevel` sets the level, and the
/// member has no meaning.
pub(super) fn check_log_level(
    meta: &RequestMetaObject,
    revision: Revision,
) -> Result<(), ErrorObject> {
    match meta.log_level.as_ref() {
        Some(level) if revision.era() == Era::Modern => {
            logging::check(level, "/params/_meta/io.modelcontextprotocol~1logLevel")
        }
        _ => Ok(()),
    }
}
