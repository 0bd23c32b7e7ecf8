//! Who calls: everything that was settled about a request before it is dispatched.

use std::sync::Arc;

use trueform_schema::{
    ClientCapabilities, Extras, Implementation, ProgressToken, RequestMetaObject, Revision,
};

use super::{
    level::Threshold,
    session::{Negotiated, Session},
};

/// What a peer said of itself.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PeerFacts {
    pub(crate) client_info: Option<Implementation>,
    pub(crate) capabilities: ClientCapabilities,
}

/// Where the facts of a request's peer are kept.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "lives inside of an exchange, which is boxed as a whole"
)]
pub(crate) enum Facts {
    /// Stated once, at `initialize`.
    Session(Arc<PeerFacts>),
    /// Stated with this request.
    Request(PeerFacts),
}

/// Who sends a request, at which revision, and which notifications it wants while it waits.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) revision: Revision,
    pub(crate) facts: Facts,
    pub(crate) log: Threshold,
    pub(crate) progress: Option<ProgressToken>,
    /// Members of the request's `_meta` that the protocol does not define; `None` if there are none.
    pub(crate) meta: Option<Box<Extras>>,
}

impl Caller {
    /// The caller of a request that stands on its own. What the caller keeps is taken out of `meta`.
    #[inline]
    pub(crate) fn stateless(revision: Revision, meta: Option<&mut RequestMetaObject>) -> Self {
        let Some(meta) = meta else {
            return Self {
                revision,
                facts: Facts::Request(PeerFacts::default()),
                log: Threshold::of_request(None),
                progress: None,
                meta: None,
            };
        };
        Self {
            revision,
            facts: Facts::Request(PeerFacts {
                client_info: meta.client_info.take(),
                capabilities: meta.client_capabilities.take().unwrap_or_default(),
            }),
            log: Threshold::of_request(meta.log_level.as_ref()),
            progress: meta.progress_token.take(),
            meta: extras_of(meta),
        }
    }

    /// The caller of a request within `session`.
    pub(crate) fn in_session(
        session: &Session,
        negotiated: &Negotiated,
        meta: Option<&mut RequestMetaObject>,
    ) -> Self {
        let (progress, meta) = match meta {
            Some(meta) => (meta.progress_token.take(), extras_of(meta)),
            None => (None, None),
        };
        Self {
            revision: negotiated.revision,
            facts: Facts::Session(negotiated.facts.clone()),
            log: Threshold::Session(session.log_level.clone()),
            progress,
            meta,
        }
    }

    pub(crate) fn facts(&self) -> &PeerFacts {
        match &self.facts {
            Facts::Session(facts) => facts,
            Facts::Request(facts) => facts,
        }
    }
}

fn extras_of(meta: &mut RequestMetaObject) -> Option<Box<Extras>> {
    (!meta.extras().is_empty()).then(|| Box::new(std::mem::take(meta.extras_mut())))
}
