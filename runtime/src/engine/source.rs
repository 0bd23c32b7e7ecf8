//! The origin of a message, as far as it matters to the protocol.

use std::sync::Arc;

use trueform_schema::Revision;

use crate::{
    exchange::{IdScope, MessageSink, TransportData},
    feature::{job::Capacity, visibility::Viewer},
    gate::{Headers, VersionHeader},
    peer::{Outbox, Session},
};

/// The origin of a message.
pub(crate) struct Source<'a> {
    session: NamedSession<'a>,
    http: Option<HttpSource<'a>>,
}

/// The session that a message belongs to.
#[cfg_attr(
    not(feature = "http"),
    expect(dead_code, reason = "a byte stream always has its session")
)]
#[derive(Clone, Copy)]
pub(crate) enum NamedSession<'a> {
    /// The session of the byte stream, or the one that the header names.
    Found(&'a Arc<Session>),
    /// The request has no session header.
    Absent,
    /// The header occurs twice or is not visible ASCII.
    Unusable,
    /// The header names a session that does not exist or belongs to another caller.
    Unknown,
}

/// What the HTTP transport knows about a POST.
pub(crate) struct HttpSource<'a> {
    pub(crate) headers: &'a dyn Headers,
    pub(crate) transport: TransportData,
    /// Makes the id of a new session.
    pub(crate) new_id: fn() -> Box<str>,
    pub(crate) capacity: &'a dyn Capacity,
}

impl<'a> Source<'a> {
    /// Creates the source of a line of a byte stream, which both eras share.
    pub(crate) fn stream(session: &'a Arc<Session>) -> Self {
        Self {
            session: NamedSession::Found(session),
            http: None,
        }
    }

    /// Creates the source of the body of a POST.
    #[cfg(feature = "http")]
    pub(crate) fn post(session: NamedSession<'a>, http: HttpSource<'a>) -> Self {
        Self {
            session,
            http: Some(http),
        }
    }

    /// Returns whether requests share one channel for their responses.
    pub(super) fn is_stream(&self) -> bool {
        self.http.is_none()
    }

    /// Returns what distinguishes the responses to requests from this source.
    pub(super) fn id_scope(&self) -> IdScope {
        IdScope::of(self.is_stream())
    }

    pub(super) fn http(&self) -> Option<&HttpSource<'a>> {
        self.http.as_ref()
    }

    /// Returns the capacity of the transport; `None` on a byte stream.
    pub(super) fn capacity(&self) -> Option<&'a dyn Capacity> {
        self.http.as_ref().map(|http| http.capacity)
    }

    pub(super) fn named(&self) -> &NamedSession<'a> {
        &self.session
    }

    pub(super) fn session(&self) -> Option<&'a Arc<Session>> {
        match self.session {
            NamedSession::Found(session) => Some(session),
            NamedSession::Absent | NamedSession::Unusable | NamedSession::Unknown => None,
        }
    }

    /// Returns the revision of the session, or otherwise the one that the version header names.
    pub(super) fn revision(&self) -> Option<Revision> {
        let session = self.session().and_then(|session| session.revision());
        session.or_else(|| self.version_header().revision())
    }

    /// Returns the content of the version header. A byte stream has no headers.
    pub(super) fn version_header(&self) -> VersionHeader {
        let http = self.http.as_ref();
        http.map_or(VersionHeader::Absent, |http| {
            VersionHeader::of(http.headers)
        })
    }

    pub(super) fn transport(&self) -> TransportData {
        match &self.http {
            Some(http) => http.transport.clone(),
            None => TransportData {
                principal: self
                    .session()
                    .and_then(|session| session.principal().cloned()),
                extension: None,
            },
        }
    }

    /// Returns the sender, as far as visibility depends on it.
    pub(super) fn viewer(&self) -> Viewer<'_> {
        match &self.http {
            Some(http) => Viewer::new(http.transport.principal.as_ref(), Some(http.headers)),
            None => Viewer::new(self.session().and_then(|session| session.principal()), None),
        }
    }

    /// Returns where messages of a request from this source are sent.
    pub(super) fn sink(&self) -> MessageSink {
        match (&self.http, self.session) {
            (None, NamedSession::Found(session)) => MessageSink::Link(session.outbox.clone()),
            _ => MessageSink::Own(Outbox::new()),
        }
    }
}
