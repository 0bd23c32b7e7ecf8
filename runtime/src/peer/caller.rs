//! Who calls: everything about a request that is known before it is dispatched.

use std::sync::Arc;

use trueform_schema::{Extras, ProgressToken, RequestMetaObject, Revision};

use super::{
    level::Threshold,
    session::{Negotiated, Session},
};
use crate::gate::{PeerFacts, Stated};

/// Who sends a request, at which revision, and which notifications it wants while it waits.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(crate) revision: Revision,
    /// What the peer stated about itself, at `initialize` or with this request.
    pub(crate) facts: Arc<PeerFacts>,
    pub(crate) log: Threshold,
    pub(crate) progress: Option<ProgressToken>,
    /// Members of the request's `_meta` that the protocol does not define; `None` if there are none.
    pub(crate) meta: Option<Box<Extras>>,
}

impl Caller {
    /// Creates the caller of a stateless request. Takes the parts that it keeps out of `meta`.
    #[inline]
    pub(crate) fn stateless(revision: Revision, meta: Option<&mut RequestMetaObject>) -> Self {
        let Some(meta) = meta else {
            return Self {
                revision,
                facts: Arc::default(),
                log: Threshold::of_request(None),
                progress: None,
                meta: None,
            };
        };
        Self {
            revision,
            facts: Arc::new(PeerFacts {
                client_info: meta.client_info.take(),
                capabilities: meta.client_capabilities.take().unwrap_or_default(),
            }),
            log: Threshold::of_request(meta.log_level.as_ref()),
            progress: meta.progress_token.take(),
            meta: extras_of(meta),
        }
    }

    /// Creates the caller of a stateless request that states nothing about itself but `stated`.
    #[inline]
    pub(crate) fn remembered(stated: Stated) -> Self {
        Self {
            revision: stated.revision,
            facts: stated.facts,
            log: Threshold::of_request(None),
            progress: None,
            meta: None,
        }
    }

    /// Creates the caller of a request within `session`.
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
            facts: negotiated.facts.clone(),
            log: Threshold::Session(session.log_level.clone()),
            progress,
            meta,
        }
    }
}

fn extras_of(meta: &mut RequestMetaObject) -> Option<Box<Extras>> {
    (!meta.extras().is_empty()).then(|| Box::new(std::mem::take(meta.extras_mut())))
}
