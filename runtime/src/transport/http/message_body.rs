//! The bodies of requests and responses. Bodies that this crate reads and makes itself need no boxed trait object.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::under_way::Arriving;

/// A response of the endpoint.
pub(super) type Response = http::Response<ResponseBody>;

/// The body of a response.
pub(super) enum ResponseBody {
    /// At most one piece; `None` if nothing is left.
    Whole(Option<Bytes>),
    /// Pieces that arrive over time, or the body of another service.
    Streamed(axum::body::Body),
}

impl ResponseBody {
    pub(super) const fn empty() -> Self {
        Self::Whole(None)
    }

    pub(super) fn streamed(
        body: impl http_body::Body<Data = Bytes, Error = std::convert::Infallible> + Send + 'static,
    ) -> Self {
        Self::Streamed(axum::body::Body::new(body))
    }

    /// Returns the body in the form that services of axum exchange.
    pub(super) fn into_axum(self) -> axum::body::Body {
        match self {
            Self::Whole(None) => axum::body::Body::empty(),
            Self::Whole(Some(bytes)) => bytes.into(),
            Self::Streamed(body) => body,
        }
    }
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self::Whole((!bytes.is_empty()).then_some(bytes))
    }
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Streamed(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Streamed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Self::Streamed(body) => body.size_hint(),
        }
    }
}

/// The body of a request.
pub(super) enum RequestBody {
    /// From a connection that this crate serves, without a router in between.
    Direct(Arriving),
    /// From an application that contains the endpoint.
    Routed(axum::body::Body),
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.get_mut() {
            Self::Direct(body) => Pin::new(body).poll_frame(cx).map_err(axum::Error::new),
            Self::Routed(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Direct(body) => body.is_end_stream(),
            Self::Routed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Direct(body) => body.size_hint(),
            Self::Routed(body) => body.size_hint(),
        }
    }
}
