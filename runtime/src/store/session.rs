//! Sessions that more than one process serves: what is known of one, and the trait of what keeps it.

use std::{fmt, sync::Arc};

use bytes::Bytes;

use super::{StoreError, StoreFuture};

/// A legacy session as a store keeps it. The state is opaque: what the peer negotiated, written by one version of this
/// library for the same version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionRecord {
    /// Whom the session belongs to: the name of the principal that opened it, if there was one. A session is served to
    /// nobody else.
    // Y-1
    pub principal: Option<Box<str>>,
    /// The negotiated state.
    pub state: Bytes,
}

impl SessionRecord {
    /// A record of a session without a principal.
    #[must_use]
    pub fn new(state: impl Into<Bytes>) -> Self {
        Self {
            principal: None,
            state: state.into(),
        }
    }

    /// Sets whom the session belongs to. A second call replaces the first.
    #[must_use]
    pub fn with_principal(mut self, principal: Option<Box<str>>) -> Self {
        self.principal = principal;
        self
    }
}

/// Takes messages for the peer of one session, here. `false` if it can take no more: the stream has gone or is full.
pub type MessageSink = Arc<dyn Fn(Bytes) -> bool + Send + Sync>;

/// Sessions that several processes serve: any of them answers a request of any session.
///
/// A process keeps the sessions that it has met in its own memory, loads one that it has not met, and touches one at
/// each of its requests. Records expire when nobody touched them for a time that the store sets.
///
/// Ids are the values of `Mcp-Session-Id`. They are unguessable, and still no proof of identity: the principal is
/// compared by the caller.
pub trait SessionStore: fmt::Debug + Send + Sync + 'static {
    /// Keeps `record` as the session `id`, in place of any earlier record.
    fn save<'a>(
        &'a self,
        id: &'a str,
        record: SessionRecord,
    ) -> StoreFuture<'a, Result<(), StoreError>>;

    /// The session `id`, unless it is unknown, ended or expired.
    fn load<'a>(
        &'a self,
        id: &'a str,
    ) -> StoreFuture<'a, Result<Option<SessionRecord>, StoreError>>;

    /// Puts the expiry of `id` off. Whether it is still open.
    fn touch<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Result<bool, StoreError>>;

    /// Ends the session `id`. Whether there was one.
    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Result<bool, StoreError>>;

    /// Takes `message` to the process that holds the stream of `id`. Whether there is one and it took the message.
    ///
    /// The HTTP transport does not call this, [`attach`](Self::attach) and [`detach`](Self::detach) yet: messages that belong to
    /// no request reach only a stream of the process they arise in.
    fn deliver<'a>(
        &'a self,
        id: &'a str,
        message: Bytes,
    ) -> StoreFuture<'a, Result<bool, StoreError>>;

    /// Notes that this process holds the stream of `id`; messages for it go to `sink`. Replaces an earlier sink.
    fn attach<'a>(
        &'a self,
        id: &'a str,
        sink: MessageSink,
    ) -> StoreFuture<'a, Result<(), StoreError>>;

    /// Notes that this process no longer holds the stream of `id`.
    fn detach<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Result<(), StoreError>>;
}
