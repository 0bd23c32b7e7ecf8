//! The handshakes: `initialize`, which opens a session, and `server/discover`.

use std::sync::Arc;

use trueform_schema::{
    ClientRequest, DiscoverResult, ErrorObject, InitializeRequestParams, InitializeResult,
    Revision, Revisions, ServerCapabilities,
};

use super::{Engine, admit::Admitted};
use crate::{
    gate::Refusal,
    host::Host,
    jsonrpc,
    peer::{Negotiated, Opening, PeerFacts, ShortId},
    trace,
};

/// Returns the revision in which the params of an `initialize` are written. The client cannot know which other revision the server will
/// answer with, so it uses the revision that it asks for.
pub(super) fn spoken(request: &ClientRequest, host: &Host) -> Revision {
    let wanted = match request {
        ClientRequest::Initialize(params) => Revision::from_wire(&params.protocol_version),
        _ => None,
    };
    let newest = host.served(legacy()).first().copied();
    wanted
        .filter(|revision| *revision <= Revision::LATEST_LEGACY)
        .or(newest)
        .unwrap_or(Revision::LATEST_LEGACY)
}

fn legacy() -> Revisions {
    Revisions::until(Revision::LATEST_LEGACY)
}

impl Engine {
    /// Opens the session of `cx` with the params of its `initialize`, or returns the error for them.
    // B-1, B-2, B-3, TRAP-06
    pub(super) fn open_session(
        &self,
        cx: &mut Admitted<'_>,
        params: Result<InitializeRequestParams, ErrorObject>,
    ) -> Result<InitializeResult, ErrorObject> {
        let Some(session) = &cx.by.session else {
            return Err(jsonrpc::internal("there is no session to open"));
        };
        let mut revision = cx.by.revision;
        let asked = params.and_then(|params| {
            revision = self.negotiated(&params.protocol_version)?;
            let facts = PeerFacts::kept(params.client_info, params.capabilities)?;
            Ok(Negotiated {
                revision,
                facts: Arc::new(facts),
            })
        });
        cx.opening = Some(session.open(asked)?);
        cx.by.revision = revision;
        trace::record_revision(&tracing::Span::current(), revision);
        let mut result = InitializeResult::new(
            self.capabilities_at(revision),
            revision.as_str(),
            self.host.settings.info.clone(),
        );
        result.instructions = self.host.settings.instructions.clone();
        Ok(result)
    }

    /// Returns the revision of a session whose client asks for `version`.
    fn negotiated(&self, version: &str) -> Result<Revision, ErrorObject> {
        let served = self.host.served(legacy());
        let Some(newest) = served.first().copied() else {
            // C-12
            let served = self.host.served(Revisions::ALL);
            return Err(jsonrpc::unsupported_version(version, &served));
        };
        let wanted = Revision::from_wire(version).filter(|revision| served.contains(revision));
        Ok(wanted.unwrap_or(newest))
    }

    /// Stores the session that `cx` opened, after the response was written.
    ///
    /// # Errors
    /// The transport has no room for it.
    pub(super) fn opened(&self, cx: &Admitted<'_>, opening: Opening) -> Result<(), Refusal> {
        let Some(session) = &cx.by.session else {
            return Ok(());
        };
        if let Some(capacity) = cx.source.capacity() {
            capacity.session(session)?;
        }
        if opening == Opening::First {
            self.subscriptions.remember(session);
        }
        let revision = cx.revision();
        match session.id() {
            Some(id) => {
                tracing::info!(session = %ShortId(id), %revision, ?opening, "session opened");
            }
            // A byte stream is one session, which has no id.
            None => tracing::info!(%revision, ?opening, "session opened on a byte stream"),
        }
        Ok(())
    }

    // C-9
    pub(super) fn described(&self, revision: Revision) -> DiscoverResult {
        let supported: Vec<String> = self
            .host
            .served(Revisions::ALL)
            .iter()
            .map(|revision| revision.as_str().to_owned())
            .collect();
        let mut result = DiscoverResult::new(self.capabilities_at(revision), supported);
        result.instructions = self.host.settings.instructions.clone();
        result
    }

    /// Returns the capabilities that the server declares to a peer of `revision`.
    fn capabilities_at(&self, revision: Revision) -> ServerCapabilities {
        self.features.capabilities(revision)
    }
}
