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
    jsonrpc::{self, ErrorDetail},
    peer::{Negotiated, Opening, PeerFacts, ShortId},
    trace,
};

/// The revision that the params of an `initialize` are written in: the client cannot know which other revision it will be
/// answered, so it speaks the one that it asks for.
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

/// The error for an `initialize` of a session that is in use or has ended (DEC-4).
pub(super) fn initialized_already() -> ErrorObject {
    jsonrpc::invalid_request(
        "this session is initialized already",
        &ErrorDetail::new("/method", "phase", "one `initialize`", "another"),
    )
}

fn legacy() -> Revisions {
    Revisions::until(Revision::LATEST_LEGACY)
}

impl Engine {
    // B-1, B-2, B-3, TRAP-06
    pub(super) fn open_session(
        &self,
        cx: &mut Admitted<'_>,
        params: InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorObject> {
        let served = self.host.served(legacy());
        let Some(newest) = served.first().copied() else {
            // C-12
            return Err(jsonrpc::unsupported_version(
                &params.protocol_version,
                &self.host.served(Revisions::ALL),
            ));
        };
        let wanted = Revision::from_wire(&params.protocol_version)
            .filter(|revision| served.contains(revision));
        let revision = wanted.unwrap_or(newest);
        let Some(session) = &cx.by.session else {
            return Err(jsonrpc::internal("there is no session to open"));
        };
        // The phase comes before the params.
        let facts =
            PeerFacts::kept(params.client_info, params.capabilities).map_err(
                |error| match session.is_used() {
                    true => initialized_already(),
                    false => error,
                },
            )?;
        let opening = session.open(Negotiated {
            revision,
            facts: Arc::new(facts),
        });
        if opening == Opening::Refused {
            return Err(initialized_already());
        }
        cx.opening = Some(opening);
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

    /// Keeps the session that `cx` opened, now that the response is written.
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
        tracing::info!(session = %ShortId::of(session.id()), revision = %cx.revision(), ?opening, "session opened");
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

    /// What the server declares to a peer of `revision`.
    fn capabilities_at(&self, revision: Revision) -> ServerCapabilities {
        self.features.capabilities(revision)
    }
}
