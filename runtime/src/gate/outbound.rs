//! The one way out. Only this module makes an [`Outgoing`] message, and transports take nothing else: what its revision does not
//! allow does not leave.

mod checked;
mod errors;
pub(super) mod write;

use std::sync::Arc;

#[cfg(feature = "http")]
use bytes::Bytes;
use trueform_schema::{
    Conform, Encode, Era, ErrorObject, Method, NotificationMetaObject, NotificationParams,
    RequestId, ResourceUpdatedNotificationParams, Revision, View,
    methods::{AnyNotification, Rules},
};

pub use self::checked::Policy;
#[cfg(feature = "client")]
pub(crate) use self::checked::holds_back;
pub(crate) use self::checked::{Checked, CheckedParams};
use self::{checked::check, errors::error_at};
use super::unread::{COUNTED, Unread, UnreadBytes};
use crate::jsonrpc;

/// A message that may be sent: one JSON text without a line end.
#[derive(Debug)]
pub(crate) struct Outgoing {
    kind: OutKind,
    bytes: Vec<u8>,
    /// Counts the bytes; `None` for a short message, and before a transport has it.
    unread: Option<Box<UnreadBytes>>,
}

/// What a message is, for transports that treat kinds differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutKind {
    Response(Outcome, Stage),
    Notification,
    Request(RequestId),
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Result,
    /// A result with `isError`.
    ToolError,
    /// The handler answered with an error of this code.
    Failed(i64),
    /// The request was refused with an error of this code before its handler ran.
    Refused(i64),
}

/// How far a request came before it was answered. HTTP derives the status from it and the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The sender may not call: the `Host` or `Origin` header.
    Sender,
    /// The method of the HTTP request.
    HttpMethod,
    /// The `Accept` header does not admit the type of the response.
    Accept,
    /// The type or the encoding of the body.
    ContentType,
    /// The body is too large.
    TooLarge,
    /// The body did not come in time.
    TooSlow,
    /// The message is malformed, or nothing of its kind may be sent.
    Envelope,
    /// The path, or the session that the message belongs to, is not there.
    NotFound,
    /// The store of the sessions or of the events failed.
    Store,
    /// What the request says about itself: headers, version, required `_meta`.
    Claims,
    /// It would be served, but as much as may be is open or at work, or too much waits for its readers.
    NoRoom,
    /// Everything after that, in a session or stateless.
    Call(Era),
}

impl Outgoing {
    /// The response with `result`, as `view` shows it. `what` is the name for the log.
    ///
    /// # Errors
    /// -32603 if the revision of the view does not allow the result.
    pub(crate) fn result(
        id: &RequestId,
        view: View<'_>,
        policy: Policy,
        what: &str,
        result: &dyn Conform,
    ) -> Result<Self, ErrorObject> {
        let revision = view.revision().unwrap_or(Revision::LATEST);
        check(policy, result, revision, what)?;
        let mut bytes = Vec::with_capacity(256);
        write::write_result(id, view, &mut bytes, |view, out| result.encode(view, out));
        Ok(Self::answered(revision, bytes))
    }

    /// The response with a result that was checked and written before.
    pub(crate) fn written(id: &RequestId, revision: Revision, result: &Checked) -> Self {
        let mut bytes = Vec::with_capacity(64 + result.0.len());
        write::write_result(id, View::at(revision), &mut bytes, |_, out| {
            out.extend_from_slice(&result.0);
        });
        Self::answered(revision, bytes)
    }

    fn answered(revision: Revision, bytes: Vec<u8>) -> Self {
        Self {
            kind: OutKind::Response(Outcome::Result, Stage::Call(revision.era())),
            bytes,
            unread: None,
        }
    }

    /// The same response, of which the result says that the tool failed.
    pub(crate) fn with_tool_error(mut self) -> Self {
        if let OutKind::Response(outcome, _) = &mut self.kind {
            *outcome = Outcome::ToolError;
        }
        self
    }

    /// The error that refuses a message at `stage`. There is no id if it could not be read.
    pub(crate) fn refusal(
        id: Option<&RequestId>,
        revision: Option<Revision>,
        stage: Stage,
        error: &ErrorObject,
    ) -> Self {
        Self::error(id, revision, Outcome::Refused(error.code), stage, error)
    }

    /// The error that a handler answers with, as `revision` may see it.
    pub(crate) fn failure(id: &RequestId, revision: Revision, error: ErrorObject) -> Self {
        let error = error_at(error, revision);
        let stage = Stage::Call(revision.era());
        Self::error(
            Some(id),
            Some(revision),
            Outcome::Failed(error.code),
            stage,
            &error,
        )
    }

    fn error(
        id: Option<&RequestId>,
        revision: Option<Revision>,
        outcome: Outcome,
        stage: Stage,
        error: &ErrorObject,
    ) -> Self {
        let mut bytes = Vec::with_capacity(256);
        write::write_error(id, revision, error, &mut bytes);
        Self {
            kind: OutKind::Response(outcome, stage),
            bytes,
            unread: None,
        }
    }

    /// A notification. `None`, and logged, if `revision` does not have it or does not allow `params`.
    pub(crate) fn notification(
        kind: &NotificationKind,
        params: Option<&dyn Conform>,
        policy: Policy,
    ) -> Option<Self> {
        let NotificationKind {
            method,
            revision,
            exists,
        } = *kind;
        if !exists && policy != Policy::Off {
            let held_back = policy == Policy::Enforce;
            tracing::error!(method, %revision, held_back, "a notification that its revision does not have");
            if held_back {
                return None;
            }
        }
        if let Some(params) = params {
            check(policy, params, revision, method).ok()?;
        }
        let mut bytes = Vec::with_capacity(192);
        let params = params.map(|params| params as &dyn Encode);
        write::write_notification(method, params, View::at(revision), &mut bytes);
        Some(Self {
            kind: OutKind::Notification,
            bytes,
            unread: None,
        })
    }

    /// A notification that the library sends by itself, in the same words each time, at a revision that has it. `subscription` is
    /// the request that asked for it, `uri` the resource that it is about, a URI.
    pub(crate) fn fixed_notification(
        kind: &NotificationKind,
        subscription: Option<&RequestId>,
        uri: Option<&str>,
    ) -> Self {
        let meta = subscription.map(|id| {
            let mut meta = NotificationMetaObject::default();
            meta.subscription_id = Some(id.clone());
            meta
        });
        let mut bytes = Vec::with_capacity(192);
        let mut write = |params: Option<&dyn Encode>| {
            write::write_notification(kind.method, params, View::at(kind.revision), &mut bytes);
        };
        match (uri, meta) {
            (Some(uri), meta) => {
                let mut params = ResourceUpdatedNotificationParams::new(uri);
                params.meta = meta;
                write(Some(&params));
            }
            (None, Some(meta)) => write(Some(&NotificationParams::default().with_meta(meta))),
            (None, None) => write(None),
        }
        Self {
            kind: OutKind::Notification,
            bytes,
            unread: None,
        }
    }

    /// A request. `params` were checked and written before.
    pub(crate) fn request(id: &RequestId, method: &str, params: Option<&CheckedParams>) -> Self {
        let mut bytes = Vec::with_capacity(256);
        let params = params.map(|params| &params.0 as &dyn Encode);
        write::write_request(id, method, params, View::ALL, &mut bytes);
        Self {
            kind: OutKind::Request(id.clone()),
            bytes,
            unread: None,
        }
    }

    /// The responses to a batch, as one array. It counts as malformed if all of its messages were.
    pub(crate) fn batch(responses: &[Self]) -> Self {
        let length = responses
            .iter()
            .map(|one| one.bytes.len() + 1)
            .sum::<usize>()
            + 1;
        let mut bytes = Vec::with_capacity(length);
        for response in responses {
            bytes.push(if bytes.is_empty() { b'[' } else { b',' });
            bytes.extend_from_slice(&response.bytes);
        }
        bytes.push(b']');
        let is_malformed = |one: &Self| matches!(one.kind, OutKind::Response(_, Stage::Envelope));
        let (outcome, stage) = match responses.iter().all(is_malformed) {
            true => (
                Outcome::Refused(jsonrpc::code::INVALID_REQUEST),
                Stage::Envelope,
            ),
            false => (Outcome::Result, Stage::Call(Era::Legacy)),
        };
        let counted = responses.iter().find_map(|one| one.unread.as_ref());
        Self {
            kind: OutKind::Response(outcome, stage),
            unread: counted.map(|counted| Box::new(counted.another(bytes.len()))),
            bytes,
        }
    }

    /// Bytes that nothing checked.
    #[cfg(test)]
    pub(crate) fn unchecked(bytes: Vec<u8>) -> Self {
        Self {
            kind: OutKind::Notification,
            bytes,
            unread: None,
        }
    }

    /// This message and another one on the line after it. For byte streams, where a line is a message.
    pub(crate) fn followed_by(mut self, next: &Self) -> Self {
        self.bytes.push(b'\n');
        self.bytes.extend_from_slice(&next.bytes);
        self
    }

    /// Counts the bytes of this message in `unread`, until they are written or dropped. A short one is not counted.
    #[inline]
    pub(crate) fn counted(mut self, unread: &Arc<Unread>) -> Self {
        if self.is_counted() && self.unread.is_none() {
            self.count(unread);
        }
        self
    }

    #[cold]
    fn count(&mut self, unread: &Arc<Unread>) {
        self.unread = Some(Box::new(unread.count(self.bytes.len())));
    }

    /// Whether the message is long enough to be counted.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        COUNTED <= self.bytes.len()
    }

    /// The bytes, which are counted, if the message is, for as long as there is a part of them.
    #[cfg(feature = "http")]
    pub(crate) fn into_body(self) -> Bytes {
        match self.unread {
            None => self.bytes.into(),
            Some(counted) => counted.around(self.bytes),
        }
    }

    /// `text`, which was made of this message. It is counted if the message is.
    #[cfg(feature = "http")]
    pub(crate) fn as_text(&self, text: Vec<u8>) -> Bytes {
        match &self.unread {
            None => text.into(),
            Some(counted) => counted.another(text.len()).around(text),
        }
    }

    /// The bytes, and what counts them.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Option<Box<UnreadBytes>>) {
        (self.bytes, self.unread)
    }

    #[cfg(feature = "http")]
    pub(crate) fn kind(&self) -> &OutKind {
        &self.kind
    }

    /// How the request ended that this answers; `None` if it is not a response.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        match self.kind {
            OutKind::Response(outcome, _) => Some(outcome),
            OutKind::Notification | OutKind::Request(_) => None,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[cfg(any(feature = "client", feature = "http"))]
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Which notification of a server is sent, and at which revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NotificationKind {
    pub(crate) method: &'static str,
    pub(crate) revision: Revision,
    /// Whether servers send it at `revision`.
    exists: bool,
}

impl NotificationKind {
    /// A notification of the core.
    pub(crate) fn core(method: Method, revision: Revision) -> Self {
        Self::new(method.as_str(), method.rules(revision), revision)
    }

    /// A notification of the core or of an extension.
    pub(crate) fn of<N: AnyNotification>(revision: Revision) -> Self {
        Self::new(N::METHOD, N::rules(revision), revision)
    }

    fn new(method: &'static str, rules: Option<&Rules>, revision: Revision) -> Self {
        Self {
            method,
            revision,
            exists: rules.is_some_and(|rules| rules.direction.from_server()),
        }
    }

    /// Whether servers send it at its revision.
    pub(crate) fn exists(&self) -> bool {
        self.exists
    }
}

#[cfg(test)]
mod policies;
