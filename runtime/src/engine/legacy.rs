//! Requests of the legacy era: within a session that `initialize` opened.

use std::sync::Arc;

use serde_json::value::RawValue;
use trueform_schema::{
    CancelledNotificationParams, ClientNotification, EmptyResult, ErrorObject,
    InitializeRequestParams, InitializeResult, Method, PaginatedRequestParams, ProgressToken,
    RequestId, RequestParams, Revision, Revisions, SetLevelRequestParams, methods::Direction,
};

use super::{
    Answer, Engine, Look, Reply,
    running::{record_outcome, span_of},
};
use crate::{
    exchange::{Exchange, Outlet, Peer, PeerFacts, TransportData},
    gate,
    jsonrpc::{self, Fault, Frame, Malformed},
    logging::{self, Threshold},
    outbox::Outbox,
    session::{Negotiated, Phase, Session, ShortId, outgoing_settled},
};

/// Where a legacy message came from.
pub(super) struct Origin<'a> {
    pub(super) session: &'a Arc<Session>,
    pub(super) way: Way,
    pub(super) transport: TransportData,
}

/// Where messages of a legacy request go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// On the one stream of the link.
    Link,
    /// On a stream of the request's own.
    Post,
}

impl Engine {
    pub(super) fn batch(
        &self,
        frames: Vec<Result<Frame<'_>, Malformed>>,
        session: &Arc<Session>,
        way: Way,
        transport: &TransportData,
    ) -> Reply {
        let revision = session.revision();
        if revision != Some(Revision::V2025_03_26) {
            let error = jsonrpc::invalid_request(
                "an array is no message; batches exist only at 2025-03-26",
                &Fault::new("", "type", "an object", "an array"),
            );
            return Reply::Ready(Answer::error(None, revision, &error));
        }
        let mut seen = Vec::new();
        let replies = frames.into_iter().map(|frame| match frame {
            // on a shared link an answer to the second would be taken for one to the first (GAP-17).
            Ok(Frame::Request { id, .. })
                if seen.contains(&id) || (way == Way::Link && session.in_flight.contains(&id)) =>
            {
                tracing::warn!(%id, "a request with the id of another was dropped from a batch");
                match way {
                    Way::Link => Reply::Silent,
                    Way::Post => Reply::error(&id, Revision::V2025_03_26, &id_taken(&id)),
                }
            }
            Ok(Frame::Request { id, method, .. }) if method == "initialize" => Reply::error(
                &id,
                Revision::V2025_03_26,
                &jsonrpc::invalid_request(
                    "`initialize` may not be part of a batch",
                    &Fault::new("/method", "phase", "`initialize` by itself", "it in a batch"),
                ),
            ),
            Ok(frame) => {
                if let Frame::Request { id, .. } = &frame {
                    seen.push(id.clone());
                }
                let look = Look::at(&frame);
                if let (Frame::Request { id, .. }, true) = (&frame, look.is_modern()) {
                    let error = jsonrpc::invalid_request(
                        "a request that names its own protocol version may not be part of a batch",
                        &Fault::new("/params/_meta", "version", "no protocol version", "one"),
                    );
                    return Reply::error(id, Revision::V2025_03_26, &error);
                }
                self.legacy(
                    frame,
                    look,
                    Origin {
                        session,
                        way,
                        transport: transport.clone(),
                    },
                )
            }
            // GAP-17
            Err(malformed) if way == Way::Link && malformed.id.as_ref().is_some_and(|id| session.in_flight.contains(id)) => {
                tracing::warn!(id = ?malformed.id, "malformed message with the id of a running call was dropped");
                Reply::Silent
            }
            Err(malformed) => self.malformed(&malformed, Some(session)),
        });
        let replies: Vec<_> = replies
            .filter(|reply| !matches!(reply, Reply::Silent))
            .collect();
        if replies.is_empty() {
            Reply::Silent
        } else {
            Reply::Batch(replies)
        }
    }

    pub(super) fn legacy(&self, frame: Frame<'_>, look: Look<'_>, origin: Origin<'_>) -> Reply {
        match frame {
            Frame::Request { id, method, params } => {
                self.legacy_request(&id, &method, params, look, origin)
            }
            Frame::Notification { method, params } => {
                self.legacy_notification(&method, params, origin.session);
                Reply::Silent
            }
            Frame::Response { id, outcome } => {
                let settled = outgoing_settled(origin.session, id, outcome);
                if settled || origin.way == Way::Link {
                    return Reply::Silent;
                }
                let error = jsonrpc::invalid_request(
                    "no request of this server waits for this answer",
                    &Fault::new(
                        "/id",
                        "pairing",
                        "the id of a request of this server",
                        "another",
                    ),
                );
                Reply::Ready(Answer::error(None, None, &error))
            }
        }
    }

    /// The answer to what is no message, if there may be one (A-8, GAP-17). Over HTTP every refusal has a body; on a shared
    /// link only what was meant as a request is answered.
    pub(crate) fn malformed(&self, malformed: &Malformed, session: Option<&Arc<Session>>) -> Reply {
        let Malformed { kind, id, error } = malformed;
        tracing::debug!(?kind, ?id, code = error.code, problem = %error.message, "malformed message");
        match kind {
            jsonrpc::Kind::Notification => Reply::Silent,
            jsonrpc::Kind::Response => {
                if let (Some(session), Some(id)) = (session, id) {
                    session.outgoing.settle(
                        id,
                        crate::session::Settled::Malformed(error.message.clone()),
                    );
                }
                Reply::Silent
            }
            jsonrpc::Kind::Request | jsonrpc::Kind::Unknown => Reply::Ready(Answer::error(
                id.as_ref(),
                session.and_then(|session| session.revision()),
                error,
            )),
        }
    }

    fn legacy_request(
        &self,
        id: &RequestId,
        name: &str,
        params: Option<&RawValue>,
        look: Look<'_>,
        origin: Origin<'_>,
    ) -> Reply {
        let session = origin.session;
        let phase = session.phase();
        let span = span_of(id, name, session.revision());
        let _entered = span.enter();
        let reply = match (name, &phase) {
            // Over HTTP each answer has its own response, so the second can be told (GAP-17).
            _ if origin.way == Way::Post && session.in_flight.contains(id) => Err(id_taken(id)),
            ("ping", Phase::Fresh | Phase::Open { .. }) => self.pong(id, params, session),
            ("initialize", Phase::Fresh) => self.initialize(id, params, session),
            ("initialize", Phase::Open { .. }) => Err(initialized_already()),
            (_, Phase::Fresh) => Err(jsonrpc::invalid_params(
                format!(
                    "`{name}` before `initialize`, and without `_meta` that names a protocol version"
                ),
                &Fault::missing(
                    "/params/_meta/io.modelcontextprotocol~1protocolVersion",
                    "a protocol version, or `initialize` before",
                ),
            )),
            (_, Phase::Closed) => Err(jsonrpc::invalid_request(
                "this session has ended",
                &Fault::new("/method", "phase", "nothing more", "a request"),
            )),
            (_, Phase::Open { negotiated, .. }) => {
                self.legacy_in_session(id, name, params, look, negotiated, origin)
            }
        };
        match reply {
            Ok(reply) => {
                if name != Method::CallTool.as_str() {
                    record_outcome(&span, Ok("ok"));
                }
                reply
            }
            Err(error) => {
                record_outcome(&span, Err(&error));
                tracing::debug!(code = error.code, problem = %error.message, "request refused");
                Reply::Ready(Answer::error(Some(id), session.revision(), &error))
            }
        }
    }

    fn legacy_in_session(
        &self,
        id: &RequestId,
        name: &str,
        params: Option<&RawValue>,
        look: Look<'_>,
        negotiated: &Negotiated,
        origin: Origin<'_>,
    ) -> Result<Reply, ErrorObject> {
        let revision = negotiated.revision;
        let found =
            Method::from_wire(name).and_then(|method| Some((method, method.rules(revision)?)));
        let Some((method, rules)) = found else {
            return Err(jsonrpc::method_not_found(
                name,
                &format!("is unknown at {revision}"),
            ));
        };
        if method.is_notification() || rules.direction == Direction::ServerToClient {
            return Err(jsonrpc::method_not_found(name, "is no request of a client"));
        }
        if let Some(capability) = rules
            .capability
            .filter(|capability| !self.offers(capability))
        {
            let why =
                format!("needs the capability `{capability}`, which this server does not declare");
            return Err(jsonrpc::method_not_found(name, &why));
        }
        let inbound = self.settings.incoming;
        match method {
            Method::CallTool => {
                let exchange = |token| self.legacy_exchange(id, method, negotiated, origin, token);
                self.call_tool_legacy(exchange, params, look, revision)
            }
            Method::ListTools => {
                let params: PaginatedRequestParams = inbound.params(method, revision, params)?;
                self.list_tools(id, revision, params.cursor.as_deref())
            }
            Method::SetLevel => {
                let params: SetLevelRequestParams = inbound.params(method, revision, params)?;
                logging::check(&params.level, "/params/level")?;
                origin.session.log_level.set(&params.level);
                self.answer(id, Method::SetLevel, revision, &EmptyResult::default())
            }
            _ => Err(jsonrpc::method_not_found(name, "is not served here")),
        }
    }

    fn legacy_exchange(
        &self,
        id: &RequestId,
        method: Method,
        negotiated: &Negotiated,
        origin: Origin<'_>,
        progress_token: Option<ProgressToken>,
    ) -> Arc<Exchange> {
        let Origin {
            session,
            way,
            transport,
        } = origin;
        let outlet = match way {
            Way::Link => Outlet::Link(session.outbox.clone()),
            Way::Post => Outlet::Own(Outbox::new()),
        };
        Exchange::new(
            self.clone(),
            id.clone(),
            method,
            negotiated.revision,
            Peer::Session(negotiated.facts.clone()),
            Some(session.clone()),
            transport,
            progress_token,
            Threshold::Session(session.log_level.clone()),
            outlet,
        )
    }

    // B-10
    fn pong(
        &self,
        id: &RequestId,
        params: Option<&RawValue>,
        session: &Session,
    ) -> Result<Reply, ErrorObject> {
        let revision = session.revision().unwrap_or(Revision::LATEST_LEGACY);
        let _: RequestParams = self
            .settings
            .incoming
            .params(Method::Ping, revision, params)?;
        self.answer(id, Method::Ping, revision, &EmptyResult::default())
    }

    // B-1, B-2, B-3, TRAP-06
    pub(super) fn initialize(
        &self,
        id: &RequestId,
        params: Option<&RawValue>,
        session: &Arc<Session>,
    ) -> Result<Reply, ErrorObject> {
        let raw = params;
        let params: InitializeRequestParams = gate::decoded_params(Method::Initialize, raw)?;
        let served = self.served(Revisions::until(Revision::LATEST_LEGACY));
        let Some(newest) = served.first().copied() else {
            return Err(jsonrpc::unsupported_version(
                &params.protocol_version,
                &self.served(Revisions::ALL),
            )); // C-12
        };
        let wanted = Revision::from_wire(&params.protocol_version)
            .filter(|revision| served.contains(revision));
        let revision = wanted.unwrap_or(newest);
        // The client cannot know which other revision it will be answered: it speaks the one that it asks for.
        let spoken = Revision::from_wire(&params.protocol_version)
            .filter(|revision| *revision <= Revision::LATEST_LEGACY)
            .unwrap_or(revision);
        self.settings
            .incoming
            .check_params(&params, Method::Initialize, spoken, raw)?;
        let facts = PeerFacts {
            client_info: Some(params.client_info),
            capabilities: params.capabilities,
        };
        let mut result = InitializeResult::new(
            self.capabilities(),
            revision.as_str(),
            self.settings.info.clone(),
        );
        result.instructions = self.settings.instructions.clone();
        // First, so that what is refused opens nothing.
        let answer = self.answer(id, Method::Initialize, revision, &result)?;
        if !session.open(Negotiated {
            revision,
            facts: Arc::new(facts),
        }) {
            return Err(initialized_already());
        }
        self.remember(session);
        tracing::info!(session = %ShortId::of(session.id()), %revision, "session opened");
        Ok(answer)
    }

    fn legacy_notification(&self, name: &str, params: Option<&RawValue>, session: &Arc<Session>) {
        let Some(revision) = session.revision() else {
            tracing::debug!(
                method = name,
                "a notification before `initialize` was dropped"
            );
            return;
        };
        match self.notification(name, params, revision) {
            Some(ClientNotification::Initialized(_)) => session.confirm(),
            Some(ClientNotification::Cancelled(params)) => cancel(&params, session),
            // Progress and roots changes matter to requests that this server sends.
            Some(other) => tracing::debug!(method = %other.method(), "notification ignored"),
            None => {}
        }
    }

    /// Cancels what `params` of `notifications/cancelled` name.
    pub(super) fn cancel(&self, params: Option<&RawValue>, session: &Session) {
        // On a shared link it may belong to the modern era.
        let revision = session.revision().unwrap_or(Revision::LATEST);
        let name = Method::Cancelled.as_str();
        if let Some(ClientNotification::Cancelled(params)) =
            self.notification(name, params, revision)
        {
            cancel(&params, session);
        }
    }

    /// The notification that a client sent. `None` if it is to be ignored, which the log says: unknown ones are nobody's, and
    /// malformed ones are not answered.
    //
    pub(super) fn notification(
        &self,
        name: &str,
        params: Option<&RawValue>,
        revision: Revision,
    ) -> Option<ClientNotification> {
        let sent_by_clients = |method: &Method| {
            let rules = method.rules(revision).filter(|_| method.is_notification());
            rules.is_some_and(|rules| rules.direction != Direction::ServerToClient)
        };
        let Some(method) = Method::from_wire(name).filter(sent_by_clients) else {
            let method = jsonrpc::shortened(name);
            tracing::debug!(method, %revision, "an unknown notification was dropped");
            return None;
        };
        let read =
            self.settings
                .incoming
                .message(method, revision, params, ClientNotification::decode);
        if let Err(error) = &read {
            let params = params.map_or("", RawValue::get).as_bytes();
            tracing::debug!(
                method = name,
                code = error.code,
                problem = %error.message,
                params = %gate::Redacted(params),
                "a notification was dropped"
            );
        }
        read.ok()
    }
}

fn initialized_already() -> ErrorObject {
    jsonrpc::invalid_request(
        "this session is initialized already",
        &Fault::new("/method", "phase", "one `initialize`", "another"),
    )
}

pub(super) fn id_taken(id: &RequestId) -> ErrorObject {
    jsonrpc::invalid_request(
        format!("a request with the id {id} is at work already"),
        &Fault::new(
            "/id",
            "duplicate",
            "an id that no running request has",
            "one that is taken",
        ),
    )
}

/// O-2: cancellations of what is unknown or finished are ignored.
fn cancel(params: &CancelledNotificationParams, session: &Session) {
    let id = params.request_id.as_ref();
    let Some(exchange) = id.and_then(|id| session.in_flight.get(id)) else {
        return;
    };
    tracing::debug!(id = %exchange.id, reason = params.reason.as_deref().map(|reason| reason.len()), "cancelled by the client");
    exchange.cancelled.fire();
}
