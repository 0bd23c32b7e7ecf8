//! The answer to a request: it is ready, or a future of it.

use std::pin::Pin;

use super::{message_body::Response, status};
use crate::gate::Refusal;

/// The state of the answer to a request.
pub(super) enum ResponseState {
    Done(Option<Response>),
    /// The answer is not ready yet.
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
