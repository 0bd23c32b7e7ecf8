//! Web pages that users are asked to visit.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Weak},
};

use trueform_schema::{
    ElicitationCompleteNotificationParams, Revision, methods::ElicitationComplete,
};

use crate::{
    exchange::{AskError, Context, Exchange},
    gate::{NotificationKind, Outgoing},
    host::HostRef,
    peer::Session,
};

/// The only revision that has a message for it.
const REVISION: Revision = Revision::V2025_11_25;

/// A web page that the user has agreed to visit. It outlives the call that asked, as what the page is for often does.
#[must_use = "the client waits to hear when it is done"]
pub struct VisitedUrl {
    call: Weak<Exchange>,
    /// The client that was asked; `None` at revisions that have no message for it.
    client: Option<(Arc<Session>, HostRef)>,
    /// What the question is called at 2025-11-25.
    id: String,
}

impl VisitedUrl {
    pub(super) fn new(context: &Context, id: String) -> Self {
        let exchange = &context.0;
        let session = exchange.session.clone();
        let session = session.filter(|_| exchange.revision() == REVISION);
        Self {
            call: Arc::downgrade(exchange),
            client: session.map(|session| (session, exchange.host.clone())),
            id,
        }
    }

    /// Lets the client know that what the page is for has been done, so that it need not show the question any longer: before the response
    /// of the call while that runs, and later with the messages of its session that belong to no call. Only 2025-11-25 has a message for
    /// that; other clients learn it by the response.
    ///
    /// # Errors
    /// [`AskError::Gone`] if the client has disconnected, or does not read.
    // only the client that was asked.
    pub fn complete(self) -> Result<(), AskError> {
        let Some((session, host)) = self.client else {
            return Ok(());
        };
        let params = ElicitationCompleteNotificationParams::new(self.id);
        if let Some(call) = self.call.upgrade()
            && Context(call).notify::<ElicitationComplete>(&params).is_ok()
        {
            return Ok(());
        }
        let kind = NotificationKind::of::<ElicitationComplete>(REVISION);
        let policy = host.settings.outgoing;
        let message = Outgoing::notification(&kind, Some(&params), policy);
        let sent = message.map(|message| session.outbox.push(message.counted(&host.unread)));
        match sent {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(AskError::Gone),
        }
    }
}

impl fmt::Debug for VisitedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VisitedUrl").finish_non_exhaustive()
    }
}

/// An id that no other question has. It grants nothing: the page itself knows its visitor.
pub(super) fn unique_id() -> String {
    // Each state has random keys of its own.
    let random = || RandomState::new().hash_one(0_u8);
    format!("{:016x}{:016x}", random(), random())
}
