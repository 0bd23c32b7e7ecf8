//! What a client sends. Its own gate, which may be open, checks it before. It has a type of its own, so that no server sends what only
//! a client may: the transports of servers take [`Outgoing`].

use trueform_schema::{Encode, ErrorObject, Json, RequestId, View};

use super::outbound::{Outgoing, write};

/// A message of a client: one JSON text without a line end.
#[derive(Debug)]
pub(crate) struct ToServer(Vec<u8>);

impl ToServer {
    /// A request.
    pub(crate) fn request(id: &RequestId, method: &str, params: Option<&Json>) -> Self {
        let mut bytes = Vec::with_capacity(256);
        let params = params.map(|params| params as &dyn Encode);
        write::write_request(id, method, params, View::ALL, &mut bytes);
        Self(bytes)
    }

    /// A notification.
    pub(crate) fn notification(method: &str, params: Option<&Json>) -> Self {
        let mut bytes = Vec::with_capacity(128);
        let params = params.map(|params| params as &dyn Encode);
        write::write_notification(method, params, View::ALL, &mut bytes);
        Self(bytes)
    }

    /// The response of a client whose gate is open, or to a method that it does not know.
    pub(crate) fn response(id: &RequestId, answer: &Result<Json, ErrorObject>) -> Self {
        let mut bytes = Vec::with_capacity(128);
        match answer {
            Ok(result) => write::write_result(id, View::ALL, &mut bytes, |view, out| {
                result.encode(view, out);
            }),
            Err(error) => write::write_error(Some(id), None, error, &mut bytes),
        }
        Self(bytes)
    }

    /// Bytes as they are, for clients that test what a server makes of them.
    pub(crate) fn raw(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<Outgoing> for ToServer {
    fn from(message: Outgoing) -> Self {
        Self(message.into_bytes())
    }
}
