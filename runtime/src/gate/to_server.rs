//! What a client sends. Its own gate, which may be open, checks it before. It has a type of its own, so that no server sends what only
//! a client may: the transports of servers take [`Outgoing`].

use trueform_schema::{Encode, ErrorObject, Json, RequestId, View};

use super::outbound::{Outgoing, write};

/// A message of a client: one JSON text without a line end.
#[derive(Debug)]
pub(crate) struct ToServer(Vec<u8>);

impl ToServer {
    /// A request whose params `params` appends.
    ///
    /// # Errors
    /// Those of `params`.
    pub(crate) fn request<E>(
        id: &RequestId,
        method: &str,
        params: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Self, E> {
        // The head, a call with small arguments, and the introduction of a client.
        let mut bytes = Vec::with_capacity(512);
        write::write_request_with(id, method, &mut bytes, params)?;
        Ok(Self(bytes))
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

    /// The message without a line end.
    #[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The message with a line end.
    pub(crate) fn into_line(self) -> Vec<u8> {
        let mut line = self.0;
        line.push(b'\n');
        line
    }
}

impl From<Outgoing> for ToServer {
    fn from(message: Outgoing) -> Self {
        Self(message.into_bytes())
    }
}
