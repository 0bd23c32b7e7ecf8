//! How a message enters the engine (D-3): as a stateless request, as the opening of a session, or within one.

use std::sync::Arc;

use serde_json::value::RawValue;
use trueform_schema::{Era, ErrorObject, Method, RequestId, Revision};

use super::{
    Engine,
    source::{NamedSession, Source},
};
use crate::{
    drive::Reply,
    gate::{self, Claims, Outgoing, Refusal, Stage, VersionHeader},
    jsonrpc::{self, ErrorDetail},
    peer::Session,
    trace,
};

/// How a message enters the engine.
#[derive(Clone, Copy)]
pub(super) enum Door<'a> {
    /// As a stateless message, according to its `_meta`.
    Stateless,
    /// As the opening of a legacy session.
    Opening,
    /// Within a session. The session of a byte stream may not be open yet.
    Session(&'a Arc<Session>),
}

/// A message that is not processed further.
#[derive(Debug)]
pub(super) enum RefusedMessage {
    /// Without a response, which would be taken for that of another request (GAP-17).
    Silently,
    With {
        stage: Stage,
        revision: Option<Revision>,
        error: ErrorObject,
    },
}

impl RefusedMessage {
    pub(super) fn at(stage: Stage, revision: Option<Revision>, error: ErrorObject) -> Self {
        Self::With {
            stage,
            revision,
            error,
        }
    }

    /// Refuses a message of `revision` that the transport has no room for.
    pub(super) fn turned_away(refusal: &Refusal, revision: Revision) -> Self {
        Self::at(refusal.stage(), Some(revision), refusal.error())
    }

    /// Returns the reply to the request `id`.
    pub(super) fn reply(self, id: &RequestId) -> Reply {
        match self {
            Self::Silently => Reply::Silent,
            Self::With {
                stage,
                revision,
                error,
            } => Reply::Ready(refused(id, stage, revision, &error)),
        }
    }
}

/// Returns the refusal of the request `id`, and logs it.
pub(super) fn refused(
    id: &RequestId,
    stage: Stage,
    revision: Option<Revision>,
    error: &ErrorObject,
) -> Outgoing {
    tracing::debug!(id = %jsonrpc::ShortRequestId(id), code = error.code, problem = &*error.message, "request refused");
    Outgoing::refusal(Some(id), revision, stage, error)
}

impl Engine {
    /// Returns the door of a request.
    pub(super) fn route<'a>(
        &self,
        source: &Source<'a>,
        method: &str,
        claims: &Claims<'_>,
    ) -> Result<Door<'a>, RefusedMessage> {
        if claims.is_modern() {
            return Ok(Door::Stateless);
        }
        if method == Method::Initialize.as_str() {
            return Ok(Door::Opening);
        }
        match source.named() {
            // The server has only the modern era, so the `_meta` of the request is missing (D-4, F-24).
            _ if !self.host.serves_legacy() => Ok(Door::Stateless),
            NamedSession::Found(session) => self.door_of(source, session),
            NamedSession::Absent if !names_legacy_version(source) => Ok(Door::Stateless),
            missing => Err(Self::no_session(source, missing)),
        }
    }

    /// Returns the door of `session`, unless the version header is invalid for a session (F-23).
    fn door_of<'a>(
        &self,
        source: &Source<'a>,
        session: &'a Arc<Session>,
    ) -> Result<Door<'a>, RefusedMessage> {
        if self.is_version_of_session(source.version_header()) {
            return Ok(Door::Session(session));
        }
        let revision = session.revision();
        if let Some(revision) = revision {
            trace::record_revision(&tracing::Span::current(), revision);
        }
        let error = gate::session_version_unknown();
        Err(RefusedMessage::at(Stage::Envelope, revision, error))
    }

    /// Returns whether a message of a session may have this version header: it is absent, or names a legacy revision that is served (F-23).
    pub(crate) fn is_version_of_session(&self, version: VersionHeader) -> bool {
        match version {
            VersionHeader::Absent => true,
            VersionHeader::Revision(version) => {
                version.era() == Era::Legacy && self.host.serves(version)
            }
            VersionHeader::Unknown | VersionHeader::Unusable => false,
        }
    }

    /// Returns the refusal of a message that needs a session and names `missing`.
    pub(super) fn no_session(source: &Source<'_>, missing: &NamedSession<'_>) -> RefusedMessage {
        let (stage, error) = match missing {
            NamedSession::Unknown => (Stage::NotFound, gate::session_unknown()),
            NamedSession::Unusable => (Stage::Envelope, gate::session_header_unusable()),
            NamedSession::Absent | NamedSession::Found(_) => {
                (Stage::Envelope, gate::session_missing())
            }
        };
        RefusedMessage::at(stage, source.revision(), error)
    }

    /// Returns the door of a notification or a response, which have no claims of their own. `modern` says whether the `_meta` of a
    /// notification names a version nevertheless.
    pub(super) fn route_unanswered<'a>(
        &self,
        source: &Source<'a>,
        modern: bool,
        is_response: bool,
    ) -> Result<Door<'a>, RefusedMessage> {
        match source.named() {
            NamedSession::Found(session) => self.door_of(source, session),
            _ if !self.host.serves_legacy() => Ok(Door::Stateless),
            NamedSession::Absent if !is_response && (modern || !names_legacy_version(source)) => {
                Ok(Door::Stateless)
            }
            missing => Err(Self::no_session(source, missing)),
        }
    }

    /// Passes a response to the request of this server that it answers.
    pub(super) fn response(
        &self,
        source: &Source<'_>,
        id: Option<RequestId>,
        outcome: Result<&RawValue, ErrorObject>,
    ) -> Reply {
        let error = match self.route_unanswered(source, false, true) {
            Ok(Door::Session(session)) => {
                if session.settle(id, outcome) {
                    return Reply::Silent;
                }
                jsonrpc::invalid_request(
                    "no request of this server has this id",
                    &ErrorDetail::new(
                        "/id",
                        "pairing",
                        "the id of a request of this server",
                        "another",
                    ),
                )
            }
            // F-4, A-18
            Ok(Door::Stateless | Door::Opening) => jsonrpc::invalid_request(
                "a response has no place in this era",
                &ErrorDetail::new("", "direction", "a request or a notification", "a response"),
            ),
            Err(refused) => return Self::not_taken(source, refused),
        };
        Self::not_taken(source, RefusedMessage::at(Stage::Envelope, None, error))
    }
}

/// Returns whether the version header permits the legacy era: it is absent, or names a legacy revision.
fn names_legacy_version(source: &Source<'_>) -> bool {
    let version = source.version_header();
    version == VersionHeader::Absent || version.era() == Some(Era::Legacy)
}
