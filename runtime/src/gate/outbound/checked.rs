//! What a message is checked for before it is written, and what is done about one that its revision does not allow.

use std::sync::Arc;

use trueform_schema::{
    Conform, ErrorObject, Extras, Json, Map, Revision, View, Violation, conform,
};

use crate::jsonrpc;

/// What is done about a message that its revision does not allow, on its way out or in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// It goes no further, and the log says what was wrong. On the way out a request is answered with -32603 and a
    /// notification is dropped; on the way in a request is refused with -32600 or -32602, a notification is dropped, an answer
    /// fails what waits for it.
    #[default]
    Enforce,
    /// It goes on, and the log says what was wrong. What cannot be decoded is refused in any case, and a result that the tool's
    /// own output schema forbids is held back.
    Warn,
    /// Nothing is checked but what [`Warn`](Self::Warn) refuses too.
    Off,
}

/// Checks `value`, which is about to be sent as `what` at `revision`.
///
/// # Errors
/// -32603 with a message for the peer: the value cannot be expressed at its revision, or at any. The log has the pointer and the rule.
pub(super) fn check(
    policy: Policy,
    value: &dyn Conform,
    revision: Revision,
    what: &str,
) -> Result<(), ErrorObject> {
    if policy == Policy::Off {
        return Ok(());
    }
    match conform(value, revision) {
        Err(violation) if holds_back(policy, &violation, what) => {
            Err(held_back(value, revision, what))
        }
        _ => Ok(()),
    }
}

/// The error for `value`, which `revision` does not allow: another revision does, or none.
#[cold]
fn held_back(value: &dyn Conform, revision: Revision, what: &str) -> ErrorObject {
    let mut revisions = Revision::ALL.into_iter();
    let elsewhere = revisions.any(|other| conform(value, other).is_ok());
    jsonrpc::internal(match elsewhere {
        true => format!("`{what}` cannot be expressed at revision {revision}"),
        false => format!("`{what}` made what no revision of the protocol allows"),
    })
}

/// Logs what is wrong with a message that is about to be sent as `what`; whether that keeps it back.
pub(crate) fn holds_back(policy: Policy, violation: &Violation, what: &str) -> bool {
    let held_back = policy == Policy::Enforce;
    tracing::error!(
        what,
        revision = %violation.revision(),
        pointer = &*jsonrpc::shortened(violation.pointer()),
        rule = violation.rule().name(),
        violation = &*jsonrpc::sentence(&violation.to_string()),
        held_back,
        "a message that its revision does not allow"
    );
    held_back
}

/// A result that its revision allows, written.
#[derive(Clone, Debug)]
pub(crate) struct Checked(pub(super) Arc<[u8]>);

impl Checked {
    /// `result` as `view` shows it. `what` is the name for the log.
    ///
    /// # Errors
    /// -32603 if the revision of the view does not allow it.
    pub(crate) fn new(
        result: &dyn Conform,
        view: View<'_>,
        policy: Policy,
        what: &str,
    ) -> Result<Self, ErrorObject> {
        let revision = view.revision().unwrap_or(Revision::LATEST);
        check(policy, result, revision, what)?;
        let mut bytes = Vec::new();
        result.encode(view, &mut bytes);
        Ok(Self(bytes.into()))
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether `other` is a copy of this one, which shares its bytes.
    #[cfg(test)]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Params that the gate let out, written.
#[derive(Clone, Debug)]
pub(crate) struct CheckedParams(pub(super) Json);

impl CheckedParams {
    /// `params` of `what` at `revision`.
    ///
    /// # Errors
    /// -32603 if the revision does not allow them.
    pub(crate) fn new(
        params: &dyn Conform,
        revision: Revision,
        policy: Policy,
        what: &str,
    ) -> Result<Self, ErrorObject> {
        check(policy, params, revision, what)?;
        Ok(Self(trueform_schema::At::new(params, revision).to_json()))
    }

    /// The same with `members` in their `_meta`, in place of those of the same names.
    #[cold]
    pub(crate) fn with_meta(self, members: &Extras) -> Self {
        let added = || {
            let mut params: Map<Json> = self.0.parse().ok()?;
            let mut meta: Map<Json> = match params.get("_meta") {
                Some(meta) => meta.parse().ok()?,
                None => Map::new(),
            };
            for (name, value) in members.iter() {
                meta.insert(name, value.clone());
            }
            params.insert("_meta", Json::from_value(&meta).ok()?);
            Json::from_value(&params).ok()
        };
        // Params are an object, and so is their `_meta`.
        Self(added().unwrap_or(self.0))
    }

    /// The params as JSON text.
    pub(crate) fn get(&self) -> &str {
        self.0.get()
    }
}
