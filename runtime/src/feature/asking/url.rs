//! Web pages that users are asked to visit.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
};

use trueform_schema::{
    ElicitationCompleteNotificationParams, Revision, methods::ElicitationComplete,
};

use crate::exchange::{AskError, Context};

/// A web page that the user has agreed to visit.
#[must_use = "the client waits to hear when it is done"]
pub struct VisitedUrl {
    context: Context,
    /// What the question is called at 2025-11-25.
    id: String,
}

impl VisitedUrl {
    pub(super) fn new(context: Context, id: String) -> Self {
        Self { context, id }
    }

    /// Lets the client know that what the page is for has been done, so that it need not show the question any longer. It is told
    /// before the response of the call. Only 2025-11-25 has a message for that; other clients learn it by the response.
    ///
    /// # Errors
    /// [`AskError::Gone`] if the call is over, or the client does not read.
    //
    pub fn complete(self) -> Result<(), AskError> {
        if self.context.revision() != Revision::V2025_11_25 {
            return Ok(());
        }
        let params = ElicitationCompleteNotificationParams::new(self.id);
        self.context.notify::<ElicitationComplete>(&params)
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
