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

/// The only revision with a message for the completion.
const REVISION: Revision = Revision::V2025_11_25;

/// A web page that the user has agreed to visit. It can outlive the call that asked, because the user often finishes later.
#[must_use = "the client waits to hear when it is done"]
pub struct VisitedUrl {
    call: Weak<Exchange>,
    /// The client that was asked; `None` at revisions without a message for the completion.
    client: Option<(Arc<Session>, HostRef)>,
    /// The id of the question at 2025-11-25.
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

    /// Notifies the client that the user has finished on the page, so that it can stop showing the question. While the call runs, the
    /// message is sent before its response; later, it is sent with the messages of the session that belong to no call. Only 2025-11-25 has
    /// such a message; other clients learn it from the response.
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

/// Returns a unique id for a question. It grants no access: the page itself identifies its visitor.
pub(super) fn unique_id() -> String {
    // Each state has its own random keys.
    let random = || RandomState::new().hash_one(0_u8);
    format!("{:016x}{:016x}", random(), random())
}
