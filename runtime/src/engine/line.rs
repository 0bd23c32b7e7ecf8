//! A byte stream that carries lines of both eras: stdio, memory, a socket.

use std::sync::Arc;

use trueform_schema::{Revision, Revisions};

use super::{
    Answer, Engine, Look, Read, Reply,
    legacy::{Origin, Way},
    log_refused,
    modern::Site,
};
use crate::{
    exchange::TransportData,
    gate,
    jsonrpc::{self, Fault, Frame, Kind, Malformed},
    outbox::Outbox,
    session::{Session, outgoing_settled},
};

/// One such stream. Both eras share its table of ids and its outbox.
#[derive(Debug)]
pub(crate) struct Link {
    session: Arc<Session>,
}

impl Link {
    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Everything that is to be written besides the answers.
    pub(crate) fn outbox(&self) -> &Arc<Outbox> {
        &self.session.outbox
    }

    fn origin(&self) -> Origin<'_> {
        Origin {
            session: &self.session,
            way: Way::Link,
            transport: TransportData::default(),
        }
    }

    /// Ends everything that belongs to the stream.
    pub(crate) fn close(&self) {
        self.session.close();
    }
}

impl Engine {
    pub(crate) fn open_link(&self) -> Arc<Link> {
        Arc::new(Link {
            session: Arc::new(Session::new(None, None)),
        })
    }

    /// Serves one line, without its end.
    pub(crate) fn receive_line(&self, link: &Arc<Link>, line: &[u8]) -> Reply {
        let reply = match Read::from_bytes(line, self.settings.incoming) {
            Ok(Read::Single(frame, look)) => self.line_frame(link, frame, look),
            Ok(Read::Batch(frames)) => {
                self.batch(frames, &link.session, Way::Link, &TransportData::default())
            }
            Err(malformed) => {
                gate::log_raw(line);
                return self.line_malformed(link, &malformed);
            }
        };
        log_refused(&reply, line);
        reply
    }

    /// Answers a line that was too long to be read whole; `prefix` is what was kept of it.
    pub(crate) fn line_too_long(&self, link: &Arc<Link>, prefix: &[u8], limit: usize) -> Reply {
        let error = jsonrpc::invalid_request(
            format!("a line longer than {limit} bytes"),
            &Fault::new("", "size", format!("at most {limit} bytes"), "more"),
        );
        self.line_malformed(link, &jsonrpc::malformed_from(prefix, error))
    }

    fn line_malformed(&self, link: &Arc<Link>, malformed: &Malformed) -> Reply {
        // A reply that names the id of a running call would be taken for its answer (GAP-17). The id of an answer is one of
        // ours: it is never replied to, and whoever waits for it is told.
        let is_answer = matches!(malformed.kind, Kind::Response);
        let is_taken = |id| link.session.in_flight.contains(id);
        if !is_answer && malformed.id.as_ref().is_some_and(is_taken) {
            tracing::warn!(id = ?malformed.id, "malformed message with the id of a running call was dropped");
            return Reply::Silent;
        }
        self.malformed(malformed, Some(&link.session))
    }

    fn line_frame(&self, link: &Arc<Link>, frame: Frame<'_>, look: Look<'_>) -> Reply {
        match frame {
            Frame::Request { id, method, params } => {
                if link.session.in_flight.contains(&id) {
                    tracing::warn!(%id, method = &*method, "a request with the id of a running call was dropped");
                    return Reply::Silent; // GAP-17
                }
                if look.is_modern() {
                    return self.modern_request(&id, &method, params, look, Site::Line(link));
                }
                // C-12, D-4: a modern-only server says which versions it speaks.
                let legacy_served = self
                    .settings
                    .revisions
                    .intersects(Revisions::until(Revision::LATEST_LEGACY));
                if !legacy_served && method != "initialize" {
                    let error = gate::missing_version(&look);
                    return Reply::Ready(Answer::error(Some(&id), Some(Revision::LATEST), &error));
                }
                self.legacy(Frame::Request { id, method, params }, look, link.origin())
            }
            // Either era's: ids are looked up in the table that both share.
            Frame::Notification { method, params } if method == "notifications/cancelled" => {
                self.cancel(params, &link.session);
                Reply::Silent
            }
            Frame::Response { id, outcome } => {
                outgoing_settled(&link.session, id, outcome);
                Reply::Silent
            }
            frame @ Frame::Notification { .. } => self.legacy(frame, look, link.origin()),
        }
    }
}
