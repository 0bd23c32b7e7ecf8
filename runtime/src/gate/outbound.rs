//! The one way out. Only this module makes an [`Outgoing`] message, and transports take nothing else: what its revision does not
//! allow does not leave.

pub(super) mod write;

use std::sync::Arc;

#[cfg(feature = "http")]
use bytes::Bytes;
use trueform_schema::{
    Conform, Encode, Era, ErrorObject, Extras, Json, Map, Method, NotificationMetaObject,
    NotificationParams, RequestId, ResourceUpdatedNotificationParams, Revision, View, Violation,
    conform,
    methods::{AnyNotification, Rules},
    rewrite,
};

use super::{
    codes::{self, Standing},
    unread::{COUNTED, Unread, UnreadBytes},
};
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
    pub(crate) fn result<T: Conform + ?Sized>(
        id: &RequestId,
        view: View<'_>,
        policy: Policy,
        what: &str,
        result: &T,
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

/// A result that its revision allows, written.
#[derive(Clone, Debug)]
pub(crate) struct Checked(Arc<[u8]>);

impl Checked {
    /// `result` as `view` shows it. `what` is the name for the log.
    ///
    /// # Errors
    /// -32603 if the revision of the view does not allow it.
    pub(crate) fn new<T: Conform>(
        result: &T,
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
pub(crate) struct CheckedParams(Json);

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
/// -32603 with a message for the peer: the value cannot be expressed at its revision. The log has the pointer and the rule.
fn check<T: Conform + ?Sized>(
    policy: Policy,
    value: &T,
    revision: Revision,
    what: &str,
) -> Result<(), ErrorObject> {
    if policy == Policy::Off {
        return Ok(());
    }
    match conform(value, revision) {
        Err(violation) if holds_back(policy, &violation, what) => Err(jsonrpc::internal(format!(
            "`{what}` cannot be expressed at revision {revision}"
        ))),
        _ => Ok(()),
    }
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

/// `error` in the form that `revision` allows. Authors may not send the codes that the protocol reserves: an error with such a
/// code becomes an internal error, and the log has the rest.
pub(crate) fn error_at(mut error: ErrorObject, revision: Revision) -> ErrorObject {
    let code = rewrite::error_code(error.code, revision);
    let standing = codes::standing(code, revision);
    let says_something = code == error.code || code != jsonrpc::code::INTERNAL_ERROR;
    if says_something
        && matches!(standing, Standing::Free | Standing::Defined)
        && codes::lacking(&error, revision).is_none()
    {
        error.code = code;
        return error;
    }
    tracing::error!(
        code = error.code,
        %revision,
        problem = &*error.message,
        "an error was held back: its code is reserved or of another revision, or its data is not what goes with the code"
    );
    jsonrpc::internal("internal error")
}

#[cfg(test)]
mod policies;

#[cfg(test)]
mod tests {
    use trueform_schema::Json;

    use super::*;

    //
    #[test]
    fn codes() {
        let told = |code, revision| error_at(ErrorObject::new(code, "m"), revision).code;
        for revision in Revision::ALL {
            assert_eq!(told(-32602, revision), -32602);
            assert_eq!(told(4000, revision), 4000);
            for reserved in [-32000, -32019, -32023, -32099, -32100, -32768] {
                assert_eq!(told(reserved, revision), -32603, "{reserved} at {revision}");
            }
        }
        assert_eq!(told(-32002, Revision::V2025_11_25), -32002);
        assert_eq!(told(-32002, Revision::V2026_07_28), -32602);
        // What a code of another revision says means nothing without it.
        let visit = ErrorObject::new(-32042, "m")
            .with_data(Json::from(serde_json::json!({ "elicitations": [] })));
        let told = error_at(visit, Revision::V2026_07_28);
        assert_eq!(
            (told.code, &*told.message, told.data),
            (-32603, "internal error", None)
        );
        for (code, data, allowed) in [
            (
                -32042,
                serde_json::json!({ "elicitations": [] }),
                Revision::V2025_11_25,
            ),
            (
                -32021,
                serde_json::json!({ "requiredCapabilities": {} }),
                Revision::V2026_07_28,
            ),
            (
                -32022,
                serde_json::json!({ "supported": [], "requested": "x" }),
                Revision::V2026_07_28,
            ),
        ] {
            let error = ErrorObject::new(code, "m").with_data(Json::from(data));
            for revision in Revision::ALL {
                let expected = if revision == allowed { code } else { -32603 };
                assert_eq!(
                    error_at(error.clone(), revision).code,
                    expected,
                    "{code} at {revision}"
                );
            }
        }
    }

    // C-7, C-10, R-12
    #[test]
    fn data_that_does_not_go_with_its_code() {
        let url = serde_json::json!({ "mode": "url", "elicitationId": "e", "message": "m", "url": "https://example.com" });
        let with = |name: &str, value: serde_json::Value| {
            let mut url = url.clone();
            url[name] = value;
            serde_json::json!({ "elicitations": [url] })
        };
        let right = ErrorObject::new(-32042, "m").with_data(Json::from(with("mode", "url".into())));
        assert_eq!(error_at(right, Revision::V2025_11_25).code, -32042);
        for (code, revision, data) in [
            (-32042, Revision::V2025_11_25, serde_json::json!(null)),
            (
                -32042,
                Revision::V2025_11_25,
                serde_json::json!({ "elicitations": [{}] }),
            ),
            (
                -32042,
                Revision::V2025_11_25,
                with("url", "no address".into()),
            ),
            (
                -32042,
                Revision::V2025_11_25,
                with("elicitationId", 1.into()),
            ),
            (-32021, Revision::V2026_07_28, serde_json::json!({})),
            (
                -32021,
                Revision::V2026_07_28,
                serde_json::json!({ "requiredCapabilities": [] }),
            ),
            (
                -32022,
                Revision::V2026_07_28,
                serde_json::json!({ "supported": "x", "requested": "x" }),
            ),
            (
                -32022,
                Revision::V2026_07_28,
                serde_json::json!({ "supported": [] }),
            ),
        ] {
            let error = ErrorObject::new(code, "m").with_data(Json::from(data));
            assert_eq!(error_at(error.clone(), revision).code, -32603, "{error:?}");
            assert_eq!(
                error_at(ErrorObject::new(code, "m"), revision).code,
                -32603,
                "none at all"
            );
        }
    }
}
