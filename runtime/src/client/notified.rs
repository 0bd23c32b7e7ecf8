//! Notifications of the server, as they arrived, and the receiver of those that belong to no request.

use std::{fmt, sync::Arc};

use trueform_schema::{DecodeError, Json, decode, methods::AnyNotification};

use super::mailbox::{Mailbox, Weighs};
use crate::jsonrpc;

/// A notification that the server sent.
#[derive(Clone)]
pub struct Notified {
    pub(super) method: Box<str>,
    pub(super) params: Option<Json>,
}

impl Notified {
    /// The method, as it was written.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The params, as they were written, without members that are null although they may not be
    /// ([`NullMembers`](crate::Leniency::NullMembers)).
    #[must_use]
    pub fn params(&self) -> Option<&Json> {
        self.params.as_ref()
    }

    /// Whether it is an `N`.
    #[must_use]
    pub fn is<N: AnyNotification>(&self) -> bool {
        *self.method == *N::METHOD
    }

    /// The params of an `N`; `None` if it is another notification.
    ///
    /// # Errors
    /// [`DecodeError`] if it claims to be an `N` and does not have its form.
    pub fn get<N: AnyNotification>(&self) -> Result<Option<N::Params>, DecodeError> {
        if !self.is::<N>() {
            return Ok(None);
        }
        decode::from_str(self.params.as_ref().map_or("{}", Json::get)).map(Some)
    }
}

impl fmt::Debug for Notified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notified")
            .field("method", &self.method)
            .field("params", &self.params)
            .finish()
    }
}

impl Weighs for Notified {
    fn bytes(&self) -> usize {
        self.method.len() + self.params.as_ref().map_or(0, |params| params.get().len())
    }
}

/// Receives every notification of a connection from its creation on, except those of subscriptions.
///
/// At most 1,024 wait, and 8 MiB of them; a reader that is slower loses the oldest, and the log says so.
#[derive(Debug)]
pub struct Notifications(pub(super) Arc<Mailbox<Notified>>);

impl Notifications {
    /// The next notification; `None` when the connection is closed.
    pub async fn next(&mut self) -> Option<Notified> {
        self.0.take().await
    }

    /// The params of the next `N`, leaving others out; `None` when the connection is closed or they do not decode.
    pub async fn next_of<N: AnyNotification>(&mut self) -> Option<N::Params> {
        loop {
            match self.next().await?.get::<N>() {
                Ok(None) => {}
                Ok(Some(params)) => return Some(params),
                Err(error) => {
                    let error = error.to_string();
                    tracing::warn!(
                        error = &*jsonrpc::sentence(&error),
                        "a notification does not have the form of its method"
                    );
                    return None;
                }
            }
        }
    }

    /// A notification that is there already.
    pub fn try_next(&mut self) -> Option<Notified> {
        self.0.try_take()
    }
}
