//! The answer to a request: it is there, or there is something to wait for.

use std::pin::Pin;

use super::{message_body::Response, status};
use crate::gate::Refusal;

/// How far the answer to a request is.
pub(super) enum ResponseState {
    Done(Option<Response>),
    /// There is something to wait for.
    Waiting(Pin<Box<dyn Future<Output = Response> + Send>>),
}

impl ResponseState {
    pub(super) fn waiting(future: impl Future<Output = Response> + Send + 'static) -> Self {
        Self::Waiting(Box::pin(future))
    }

    pub(super) fn refused(refusal: &Refusal) -> Self {
        Self::Done(Some(status::refused(refusal, None)))
    }
}

impl From<Response> for ResponseState {
    fn from(response: Response) -> Self {
        Self::Done(Some(response))
    }
}
