//! The messages that a client sends. The client's own gate, which may be open, checks them before. They have a type of their own, so that
//! no server sends messages that only a client may send: the transports of servers accept [`Outgoing`].

use trueform_schema::{Encode, ErrorObject, Json, RequestId, View};

use super::outbound::{Outgoing, write};

/// A message of a client: one JSON text without a line end.
#[derive(Debug)]
pub(crate) struct ToServer(Vec<u8>);

impl ToServer {
    /// Creates a request whose params `params` appends.
    ///
    /// # Errors
    /// Those of `params`.
    pub(crate) fn request<E>(
        id: &RequestId,
        method: &str,
        params: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Self, E> {
        // Room for the head, a call with small arguments, and the client's data about itself.
        let mut bytes = Vec::with_capacity(512);
        write::write_request_with(id, method, &mut bytes, params)?;
        Ok(Self(bytes))
    }

    /// Creates a notification.
    pub(crate) fn notification(method: &str, params: Option<&Json>) -> Self {
        let mut bytes = Vec::with_capacity(128);
        let params = params.map(|params| params as &dyn Encode);
        write::write_notification(method, params, View::ALL, &mut bytes);
        Self(bytes)
    }

    /// Creates the response of a client whose gate is open, or to a method that it does not know.
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

    /// Wraps bytes as they are, for clients that test how a server treats them.
    pub(crate) fn raw(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Returns the message without a line end.
    #[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Returns the message with a line end.
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
