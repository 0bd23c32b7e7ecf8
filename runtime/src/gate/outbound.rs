//! The one place every message passes on its way out: what its revision does not allow does not leave.

use trueform_schema::{Conform, ErrorObject, Revision, conform};

use crate::jsonrpc;

/// What is done about a message that its revision does not allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// It is held back: a request is answered with -32603, a notification is dropped, and the log says what was wrong.
    #[default]
    Enforce,
    /// It is sent, and the log says what was wrong.
    Warn,
    /// Nothing is checked.
    Off,
}

/// Checks `value`, which is about to be sent as `what` at `revision`.
///
/// # Errors
/// What the peer is told instead: that this cannot be expressed at its revision. Pointer and rule are for the log.
pub(crate) fn check<T: Conform + ?Sized>(
    policy: Policy,
    value: &T,
    revision: Revision,
    what: &str,
) -> Result<(), ErrorObject> {
    if policy == Policy::Off {
        return Ok(());
    }
    let Err(violation) = conform(value, revision) else { return Ok(()) };
    let held_back = policy == Policy::Enforce;
    tracing::error!(
        what,
        %revision,
        pointer = violation.pointer(),
        rule = violation.rule().name(),
        %violation,
        held_back,
        "a message that its revision does not allow"
    );
    if !held_back {
        return Ok(());
    }
    Err(jsonrpc::internal(format!("the answer cannot be expressed at revision {revision}")))
}
