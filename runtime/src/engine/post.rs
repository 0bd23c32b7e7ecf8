//! The body of a POST: what belongs to HTTP of the two eras.

use std::sync::Arc;

use trueform_schema::{Era, Revision};

use super::{
    Answer, Engine, Look, Reply,
    legacy::{Origin, Way},
    modern::Site,
};
use crate::{
    exchange::TransportData,
    gate::{HeaderValue, Headers, VERSION_HEADER},
    jsonrpc::{self, Fault, Frame, Malformed},
    session::Session,
};

impl Engine {
    /// Opens a session for a POST of `initialize`. The session is to be kept if there is one.
    pub(crate) fn post_initialize(
        &self,
        frame: Frame<'_>,
        session_id: Box<str>,
        transport: TransportData,
    ) -> (Option<Arc<Session>>, Reply) {
        let Frame::Request { id, params, .. } = frame else {
            let error = jsonrpc::invalid_request(
                "`initialize` is a request",
                &Fault::missing("/id", "a string or an integer"),
            );
            return (None, Reply::Ready(Answer::error(None, None, &error)));
        };
        let session = Arc::new(Session::new(Some(session_id), transport.principal));
        match self.initialize(&id, params, &session) {
            Ok(reply) => (Some(session), reply),
            Err(error) => (None, Reply::Ready(Answer::error(Some(&id), None, &error))),
        }
    }

    /// Serves the body of a POST within `session`.
    pub(crate) fn post_legacy(
        &self,
        frame: Frame<'_>,
        look: Look<'_>,
        session: &Arc<Session>,
        headers: &dyn Headers,
        transport: TransportData,
    ) -> Reply {
        // F-23
        let known = match headers.get(VERSION_HEADER) {
            HeaderValue::Absent => true,
            HeaderValue::One(version) => Revision::from_wire(version).is_some_and(|revision| {
                revision.era() == Era::Legacy && self.settings.revisions.contains(revision)
            }),
            HeaderValue::Bad => false,
        };
        if !known {
            let id = if let Frame::Request { id, .. } = &frame {
                Some(id.clone())
            } else {
                None
            };
            let error = jsonrpc::invalid_request(
                "`MCP-Protocol-Version` names no version that is served here",
                &Fault::new(
                    "",
                    "version",
                    "an `MCP-Protocol-Version` header with the version of the session, or none",
                    "another",
                ),
            );
            return Reply::Ready(Answer::error(id.as_ref(), session.revision(), &error));
        }
        self.legacy(
            frame,
            look,
            Origin {
                session,
                way: Way::Post,
                transport,
            },
        )
    }

    /// Serves a batch, which only 2025-03-26 has.
    pub(crate) fn legacy_batch(
        &self,
        frames: Vec<Result<Frame<'_>, Malformed>>,
        session: &Arc<Session>,
        transport: &TransportData,
    ) -> Reply {
        self.batch(frames, session, Way::Post, transport)
    }

    /// Serves the body of a POST that belongs to the modern era.
    pub(crate) fn post_modern(
        &self,
        frame: Frame<'_>,
        look: Look<'_>,
        headers: &dyn Headers,
        transport: TransportData,
    ) -> Reply {
        match frame {
            Frame::Request { id, method, params } => self.modern_request(
                &id,
                &method,
                params,
                look,
                Site::Post { headers, transport },
            ),
            // D-3: accepted, without effect. Cancelling is closing the response stream.
            Frame::Notification { method, params } => {
                if let Some(ignored) = self.notification(&method, params, Revision::LATEST) {
                    tracing::debug!(method = %ignored.method(), "notification ignored");
                }
                Reply::Silent
            }
            // F-4, A-18
            Frame::Response { .. } => {
                let error = jsonrpc::invalid_request(
                    "a response has no place in this era",
                    &Fault::new("", "direction", "a request or a notification", "a response"),
                );
                Reply::Ready(Answer::error(None, Some(Revision::LATEST), &error))
            }
        }
    }
}
