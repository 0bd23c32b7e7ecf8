//! Sessions that outlive a client: what another client needs to continue them.

use std::{
    fmt,
    sync::atomic::Ordering,
    time::{SystemTime, UNIX_EPOCH},
};

use http::HeaderValue;
use serde::{Deserialize, Serialize};
use trueform_schema::{Era, InitializeResult, Revision};

use super::request::is_session_id;
use crate::client::{
    Client, ClientError, ClientOptions, LocalError, Negotiation, ServerFacts, link::Link,
};

/// A session of Streamable HTTP, which revisions up to 2025-11-25 have, for a client that goes on with it:
/// [`HttpEndpoint::session`](super::HttpEndpoint::session). Comes from [`Client::http_session`] or [`Client::leave`].
///
/// Serialises to an object with the members `sessionId` and `server`, the latter as the server answered `initialize`, so that it can be
/// stored. A program that has the id can act as the client, so keep it like a credential. `Debug` does not show it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HttpSession {
    /// The header `Mcp-Session-Id`: visible ASCII, at most 4 KiB.
    pub session_id: String,
    /// The revision, the capabilities and the identity of the server.
    pub server: InitializeResult,
}

/// A session that a client goes on with.
pub(crate) struct Joined {
    pub(super) id: HeaderValue,
    pub(super) revision: Revision,
    facts: ServerFacts,
}

impl HttpSession {
    /// The session `id` of a server that answered `initialize` by `server`.
    #[must_use]
    pub fn new(id: impl Into<String>, server: InitializeResult) -> Self {
        Self {
            session_id: id.into(),
            server,
        }
    }

    /// What a client needs of it.
    ///
    /// # Errors
    /// The id is not one, or the revision is unknown, has no sessions, or is not the one that `options` insist on.
    pub(super) fn checked(self, options: &ClientOptions) -> Result<Joined, ClientError> {
        let Self { session_id, server } = self;
        let found = session_id.len();
        let id = HeaderValue::try_from(session_id).ok();
        let Some(id) = id.filter(is_session_id) else {
            let problem = format!(
                "expected a session id of visible ASCII characters, at most 4 KiB, found one of {found} bytes"
            );
            return Err(LocalError::Encode(problem).into());
        };
        let revision = Revision::from_wire(&server.protocol_version);
        let may_be = |revision: &Revision| {
            revision.era() == Era::Legacy
                && match options.negotiation {
                    Negotiation::Exactly(wanted) => *revision == wanted,
                    _ => true,
                }
        };
        let Some(revision) = revision.filter(may_be) else {
            return Err(LocalError::Version(vec![server.protocol_version]).into());
        };
        let facts = ServerFacts {
            revision,
            info: Some(server.server_info),
            capabilities: server.capabilities,
            instructions: server.instructions,
        };
        Ok(Joined {
            id,
            revision,
            facts,
        })
    }
}

impl Joined {
    /// Settles `link` as the handshake of the session did.
    pub(super) fn settle(self, link: &Link) -> ServerFacts {
        link.gate.enter_legacy_era();
        link.gate
            .settle(self.facts.revision, &self.facts.capabilities);
        // which ids the session has seen is not known. An earlier client counts from one, and sends less than one request each
        // millisecond from 1970 on.
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.ok().and_then(|now| i64::try_from(now.as_millis()).ok());
        link.number_from(now.unwrap_or(1 << 40));
        self.facts
    }
}

#[cfg(feature = "client-http")]
impl Client {
    /// The session that the client has now, for another client that goes on with it when this one has ended without
    /// [`close`](Self::close), such as after a crash. `None` over other transports than HTTP, where the server opened no session, and
    /// since 2026-07-28, and once the client has ended the session. A session that is opened in place of another
    /// ([`on_new_session`](super::HttpEndpoint::on_new_session)) has another id.
    #[must_use]
    pub fn http_session(&self) -> Option<HttpSession> {
        let id = self.inner.http.as_ref()?.requests.session()?;
        let facts = &self.inner.server;
        let mut server = InitializeResult::new(
            facts.capabilities.clone(),
            facts.revision.as_str(),
            facts.info.clone()?,
        );
        server.instructions.clone_from(&facts.instructions);
        Some(HttpSession::new(id.to_str().ok()?, server))
    }

    /// Ends the client and leaves its session open, for another client that goes on with it. Requests that wait for their answers end
    /// with [`LocalError::Closed`] and are not cancelled: another client can get their answers with
    /// [`resume_from`](crate::client::RepeatableCall::resume_from). If the client is opening a session in place of one that ended, this
    /// waits for it, at most 5 s, and leaves that session open. Returns `None` if the client has no session, as
    /// [`http_session`](Self::http_session) does, and closes the client then.
    pub async fn leave(self) -> Option<HttpSession> {
        let has_session = self.http_session().is_some();
        if let (Some(bridge), true) = (&self.inner.http, has_session) {
            bridge.leaves_session.store(true, Ordering::Relaxed);
            self.inner.link.close();
        }
        self.clone().close().await;
        self.http_session().filter(|_| has_session)
    }
}

impl fmt::Debug for HttpSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSession")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}
