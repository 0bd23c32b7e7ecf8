//! A message of the client, as far as HTTP has to know it.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use trueform_schema::{Json, Map, Method, RequestId, methods};

use super::members::Members;
use crate::client::resumption::Resumption;

/// A message of the client.
#[derive(Debug)]
pub(super) struct SentMessage {
    pub(super) body: Bytes,
    id: Option<RequestId>,
    method: Option<Box<str>>,
    /// The revision that it says it is at, as requests of the modern era do.
    version: Option<Box<str>>,
    /// The id of the request that it is sent in place of.
    stands_for: Option<RequestId>,
    resumption: Option<Arc<Resumption>>,
}

#[derive(Default, Deserialize)]
struct Envelope<'a> {
    #[serde(default, borrow)]
    id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    method: Option<Cow<'a, str>>,
    /// Whatever they are: a program may write them by hand.
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Versioned {
    #[serde(default, rename = "_meta")]
    meta: Option<VersionedMeta>,
}

#[derive(Deserialize)]
struct VersionedMeta {
    #[serde(default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Box<str>>,
}

impl SentMessage {
    /// If `body` is not a message, only its bytes are known.
    pub(super) fn new(body: Vec<u8>) -> Self {
        let Envelope { id, method, params } = serde_json::from_slice(&body).unwrap_or_default();
        let params = params.and_then(|params| serde_json::from_str::<Versioned>(params.get()).ok());
        let version = params.and_then(|params| params.meta?.version);
        Self {
            id: id.and_then(|id| RequestId::from_json(id.get()).ok()),
            method: method.map(|method| method.into_owned().into_boxed_str()),
            version,
            body: body.into(),
            stands_for: None,
            resumption: None,
        }
    }

    pub(super) fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    pub(super) fn is(&self, method: Method) -> bool {
        self.method() == Some(method.as_str())
    }

    pub(super) fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The id, if it is a request.
    pub(super) fn request_id(&self) -> Option<&RequestId> {
        self.method.as_ref()?;
        self.id.as_ref()
    }

    /// Whether it is a notification of this method.
    pub(super) fn notifies<N: methods::Notification>(&self) -> bool {
        self.is(N::METHOD) && self.id.is_none()
    }

    /// Whether it is a notification.
    pub(super) fn is_notification(&self) -> bool {
        self.method.is_some() && self.id.is_none()
    }

    /// The request that a cancellation is about.
    pub(super) fn cancelled_id(&self) -> Option<RequestId> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled {
            request_id: Option<RequestId>,
        }
        self.params::<Cancelled>()?.request_id
    }

    /// The params, read anew.
    pub(super) fn params<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        #[derive(Deserialize)]
        struct WithParams<T> {
            params: T,
        }
        let read: WithParams<T> = serde_json::from_slice(&self.body).ok()?;
        Some(read.params)
    }

    /// The same message with another id.
    pub(super) fn with_id(&self, id: &RequestId) -> Option<Self> {
        let mut members: Map<Json> = serde_json::from_slice(&self.body).ok()?;
        members.insert("id", Json::from_value(id).ok()?);
        Some(Self::new(serde_json::to_vec(&members).ok()?))
    }

    /// The same message, whose answer is the answer to the request `id`.
    pub(super) fn standing_for(self, id: RequestId) -> Self {
        Self {
            stands_for: Some(id),
            ..self
        }
    }

    /// The same message, whose stream `resumption` is about.
    pub(super) fn with_resumption(self, resumption: Option<Arc<Resumption>>) -> Self {
        Self { resumption, ..self }
    }

    /// What the request does with event ids.
    pub(super) fn resumption(&self) -> Option<&Arc<Resumption>> {
        self.resumption.as_ref()
    }

    /// The event after which the answer is resumed. The message itself is not sent then.
    pub(super) fn resumes_after(&self) -> Option<&str> {
        self.resumption.as_ref()?.event()
    }

    /// The id of the request that it is sent in place of.
    pub(super) fn stands_for(&self) -> Option<&RequestId> {
        self.stands_for.as_ref()
    }

    /// A `tools/list` with the `_meta` of this request, which says who asks at which revision.
    pub(super) fn listing(&self, id: &RequestId, cursor: Option<&str>) -> Option<Self> {
        let params = Members::read(self.params::<&RawValue>()?.get().as_bytes())?;
        // Nothing waits for progress of the list.
        let meta = Members::read(params.get("_meta")?.as_bytes())?.without("progressToken");
        let mut params = Members::default().with("_meta", &meta)?;
        if let Some(cursor) = cursor {
            params = params.with("cursor", &cursor)?;
        }
        // The envelope is that of the request, because the gate alone writes envelopes.
        let list = Members::read(&self.body)?
            .with("id", id)?
            .with("method", &Method::ListTools.as_str())?
            .with("params", &params)?;
        Some(Self::new(list.write()?))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn sent(message: &Value) -> SentMessage {
        SentMessage::new(message.to_string().into_bytes())
    }

    // The digits of what an author put into `_meta` stay.
    #[test]
    fn a_list_has_the_meta_as_it_was_written() {
        let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":7,"x/y":12345678901234567890123.10}}}"#;
        let call = SentMessage::new(body.as_bytes().to_vec());
        let list = call.listing(&RequestId::Integer(8), Some("next")).unwrap();
        assert_eq!(
            std::str::from_utf8(&list.body).unwrap(),
            r#"{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"_meta":{"x/y":12345678901234567890123.10},"cursor":"next"}}"#
        );
    }

    #[test]
    fn what_is_read_of_a_message() {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        let call = sent(
            &json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "_meta": meta, "name": "a\u{e9}" } }),
        );
        assert_eq!(call.request_id(), Some(&RequestId::Integer(7)));
        assert_eq!(call.version(), Some("2026-07-28"));
        assert!(call.is(Method::CallTool) && !call.is_notification());
        let again = call.with_id(&RequestId::Integer(8)).unwrap();
        assert_eq!(again.request_id(), Some(&RequestId::Integer(8)));
        assert_eq!(again.params::<Value>(), call.params());

        let cancelled = sent(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "7" } }),
        );
        assert!(cancelled.notifies::<methods::Cancelled>());
        assert_eq!(cancelled.cancelled_id(), Some(RequestId::Text("7".into())));

        // What is wrong with the params is for the server to say: the request has an id, and gets an answer.
        for params in [
            r#"[1]"#,
            "7",
            r#"{"_meta":7}"#,
            r#"{"_meta":{},"_meta":{}}"#,
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}"#,
        ] {
            let odd = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{params}}}"#);
            let odd = SentMessage::new(odd.into());
            assert_eq!(odd.request_id(), Some(&RequestId::Integer(7)), "{params}");
            assert!(odd.is(Method::Ping) && odd.version().is_none(), "{params}");
        }

        // An answer, and bytes that are not a message.
        let answer = sent(&json!({ "jsonrpc": "2.0", "id": 7, "result": {} }));
        assert!(answer.request_id().is_none() && !answer.is_notification());
        for odd in ["", "[]", "{", "7", r#"{"method": 7, "id": 1}"#] {
            let odd = SentMessage::new(odd.into());
            assert!(
                odd.request_id().is_none() && !odd.is_notification(),
                "{odd:?}"
            );
        }
    }
}
