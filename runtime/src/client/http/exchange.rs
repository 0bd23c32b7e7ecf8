//! What the HTTP side of a client needs of whatever sends its requests: a connection pool, or an application in the same process.

use std::{future::Future, pin::Pin};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, header};

use super::hidden::Hidden;

/// A future of this module.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Sends requests.
pub(crate) trait HttpSender: Send + Sync + 'static {
    /// Sends `request`; the future completes with the head of the response. Dropping the future, or the response, ends the exchange.
    fn send(&self, request: Request<Bytes>) -> Boxed<'static, Result<HttpAnswer, SendFailure>>;

    /// The error of a request that has no answer, as its caller gets it.
    fn failure(&self, error: super::HttpError) -> crate::client::ClientError;
}

/// The head of a response, and its body.
pub(crate) struct HttpAnswer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Box<dyn Chunks>,
    /// What is not shown of it.
    pub(super) hidden: Hidden,
}

/// A body that arrives in pieces.
pub(crate) trait Chunks: Send {
    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// A sentence, if the body broke off.
    fn next(&mut self) -> Boxed<'_, Option<Result<Bytes, String>>>;
}

/// Why a request got no response.
#[derive(Debug)]
pub(crate) enum SendFailure {
    /// No connection.
    Connect(String),
    /// The connection failed later.
    Broken(String),
    /// A redirect that is not followed.
    Redirected(String),
    /// The application in the same process panicked.
    #[cfg_attr(
        not(all(feature = "http", feature = "testing")),
        allow(dead_code, reason = "an application in the same process")
    )]
    Panicked,
}

impl HttpAnswer {
    pub(crate) fn new(status: StatusCode, headers: HeaderMap, body: impl Chunks + 'static) -> Self {
        Self {
            status,
            headers,
            body: Box::new(body),
            hidden: Hidden::default(),
        }
    }

    /// The same response, to a request whose secret is not shown.
    pub(super) fn hiding(mut self, hidden: Hidden) -> Self {
        hidden.hide_headers(&mut self.headers);
        Self { hidden, ..self }
    }

    pub(super) fn is_events(&self) -> bool {
        self.media()
            .is_some_and(|media| media.eq_ignore_ascii_case("text/event-stream"))
    }

    /// The media type without its parameters.
    pub(super) fn media(&self) -> Option<&str> {
        let media = self.headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        media.split(';').next().map(str::trim)
    }

    /// The encoding of the body, if it has one although none was asked for.
    pub(super) fn encoding(&self) -> Option<&str> {
        let encoding = self.headers.get(header::CONTENT_ENCODING)?;
        let encoding = encoding.to_str().unwrap_or("unreadable").trim();
        (!encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity")).then_some(encoding)
    }
}
