//! Sessions that more than one process serves: what is known of one, and the trait of what keeps it.

use std::fmt;

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
    ///
    /// ```
    /// use trueform::store::SessionRecord;
    ///
    /// let record = SessionRecord::new("{}").with_principal(Some("ada".into()));
    /// assert_eq!(record.principal.as_deref(), Some("ada"));
    /// ```
    #[must_use]
    pub fn with_principal(mut self, principal: Option<Box<str>>) -> Self {
        self.principal = principal;
        self
    }
}

/// Sessions that several processes serve: any of them answers a request of any session.
///
/// A process keeps the sessions that it has met in its own memory, loads one that it has not met, and touches one at
/// each of its requests. Records expire when they were not touched for a time that the store sets.
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
}
