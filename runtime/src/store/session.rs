//! Sessions that more than one process serves: the record of a session, and the trait of the store that keeps it.

use std::fmt;

use bytes::Bytes;

use super::{StoreError, StoreFuture};

/// A legacy session as a store keeps it. The state is opaque: what the peer negotiated, written by one version of this
/// library for the same version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionRecord {
    /// The name of the principal that opened the session, if there was one. The session is served to no other principal.
    // Y-1
    pub principal: Option<Box<str>>,
    /// The negotiated state.
    pub state: Bytes,
}

impl SessionRecord {
    /// Creates a record of a session without a principal.
    #[must_use]
    pub fn new(state: impl Into<Bytes>) -> Self {
        Self {
            principal: None,
            state: state.into(),
        }
    }

    /// Sets the principal that the session belongs to. A second call replaces the first.
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
/// A process keeps the sessions that it knows in its own memory. It loads a session that it does not know, and touches a session at each of
/// its requests. Records expire when they were not touched for a time that the store sets.
///
/// Ids are the values of `Mcp-Session-Id`. They are unguessable, but they do not prove an identity: the caller compares the principal.
pub trait SessionStore: fmt::Debug + Send + Sync + 'static {
    /// Keeps `record` as the session `id`, in place of any earlier record.
    fn save<'a>(
        &'a self,
        id: &'a str,
        record: SessionRecord,
    ) -> StoreFuture<'a, Result<(), StoreError>>;

    /// Returns the session `id`, unless it is unknown, ended or expired.
    fn load<'a>(
        &'a self,
        id: &'a str,
    ) -> StoreFuture<'a, Result<Option<SessionRecord>, StoreError>>;

    /// Postpones the expiry of `id`. Returns whether the session is still open.
    fn touch<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Result<bool, StoreError>>;

    /// Ends the session `id`. Returns whether there was one.
    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Result<bool, StoreError>>;
}
