//! Sends the requests of a client to an axum application in the same process.

use std::{convert::Infallible, future::poll_fn, pin::Pin, task::Context};

use axum::{Router, body::Body};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body::Body as _;
use tower::Service as _;
use trueform_schema::ErrorObject;

use crate::{
    client::{
        ClientError,
        http::{
            HttpError,
            exchange::{Boxed, Chunks, HttpAnswer, HttpSender, SendFailure},
        },
    },
    contained::contained_future,
    principal::Principal,
};

/// An application, and who its client is.
pub(super) struct RouterSender {
    pub(super) router: Router,
    pub(super) principal: Option<Principal>,
}

impl HttpSender for RouterSender {
    fn send(&self, request: Request<Bytes>) -> Boxed<'static, Result<HttpAnswer, SendFailure>> {
        let mut router = self.router.clone();
        let mut request = request.map(Body::from);
        if let Some(principal) = &self.principal {
            request.extensions_mut().insert(principal.clone());
        }
        let answering = async move {
            poll_fn(|cx: &mut Context<'_>| {
                tower::Service::<Request<Body>>::poll_ready(&mut router, cx)
            })
            .await
            .unwrap_or_else(|never: Infallible| match never {});
            let response = router.call(request).await;
            response.unwrap_or_else(|never: Infallible| match never {})
        };
        Box::pin(async {
            let response = contained_future("the router", || Box::pin(answering)).await;
            let (parts, body) = response.ok_or(SendFailure::Panicked)?.into_parts();
            Ok(HttpAnswer::new(
                parts.status,
                parts.headers,
                RouterBody(body),
            ))
        })
    }

    /// The application's refusals are what is tested, so they are errors of the other side.
    fn failure(&self, error: HttpError) -> ClientError {
        let status = error
            .status()
            .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR.as_u16());
        ClientError::Remote(ErrorObject::new(i64::from(status), error.short()))
    }
}

struct RouterBody(Body);

impl Chunks for RouterBody {
    fn next(&mut self) -> Boxed<'_, Option<Result<Bytes, String>>> {
        Box::pin(async {
            loop {
                let frame = poll_fn(|cx| Pin::new(&mut self.0).poll_frame(cx)).await?;
                match frame.map(http_body::Frame::into_data) {
                    Ok(Ok(bytes)) => return Some(Ok(bytes)),
                    // Trailers.
                    Ok(Err(_)) => {}
                    Err(error) => return Some(Err(format!("the body broke off: {error}"))),
                }
            }
        })
    }
}
