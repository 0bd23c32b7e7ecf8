//! Determines the HTTP status of every message and refusal, and the headers of a refusal.

use http::{HeaderValue, StatusCode, header};
use trueform_schema::{Era, RequestId};

use super::message_body::{Response, ResponseBody};
use crate::{
    gate::{OutKind, Outcome, Outgoing, Refusal, Stage},
    jsonrpc::{self, code},
};

/// Seconds after which a client may try again.
const SOON: HeaderValue = HeaderValue::from_static("1");

/// Returns the status of a response that was not yet begun (A-16, F-32, GAP-6).
pub(super) fn of(message: &Outgoing) -> StatusCode {
    let OutKind::Response(outcome, stage) = message.kind() else {
        return StatusCode::OK;
    };
    let (Outcome::Failed(code) | Outcome::Refused(code)) = outcome else {
        return StatusCode::OK;
    };
    match (stage, *code) {
        (Stage::Envelope | Stage::Claims, _) => StatusCode::BAD_REQUEST,
        (Stage::Sender, _) => StatusCode::FORBIDDEN,
        (Stage::NotFound, _) => StatusCode::NOT_FOUND,
        (Stage::HttpMethod, _) => StatusCode::METHOD_NOT_ALLOWED,
        (Stage::Accept, _) => StatusCode::NOT_ACCEPTABLE,
        (Stage::TooSlow, _) => StatusCode::REQUEST_TIMEOUT,
        (Stage::TooLarge, _) => StatusCode::PAYLOAD_TOO_LARGE,
        (Stage::ContentType, _) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        (Stage::Store, _) => StatusCode::INTERNAL_SERVER_ERROR,
        (Stage::NoRoom, _) => StatusCode::SERVICE_UNAVAILABLE,
        (Stage::Call(Era::Modern), code::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        (
            Stage::Call(_),
            code::PARSE_ERROR
            | code::INVALID_REQUEST
            | code::HEADER_MISMATCH
            | code::MISSING_CLIENT_CAPABILITY
            | code::UNSUPPORTED_VERSION,
        ) => StatusCode::BAD_REQUEST,
        (Stage::Call(_), _) => StatusCode::OK,
    }
}

/// Returns whether a response has a status of its own, so that it must not be the event of a stream.
pub(super) fn is_refusal(message: &Outgoing) -> bool {
    of(message) != StatusCode::OK
}

/// Returns the response to the request `id`, which the transport refuses. `id` is `None` if the transport does not know it.
pub(super) fn refused(refusal: &Refusal, id: Option<&RequestId>) -> Response {
    let error = refusal.error();
    tracing::debug!(
        code = error.code,
        problem = &*error.message,
        "request refused"
    );
    let mut response = json(Outgoing::refusal(id, None, refusal.stage(), &error));
    let headers = response.headers_mut();
    match refusal {
        Refusal::Method => {
            headers.insert(header::ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
        }
        Refusal::NoStreamInModernEra => {
            headers.insert(header::ALLOW, HeaderValue::from_static("POST"));
        }
        Refusal::ContentEncoding => {
            headers.insert(
                header::ACCEPT_ENCODING,
                HeaderValue::from_static("identity"),
            );
        }
        // The rest of a body that is not read must not be taken for the next request.
        Refusal::BodyTooLarge(_) | Refusal::BodyBroken | Refusal::BodySlow(_) => {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        _ => {}
    }
    response
}

/// Returns one message as the body of a response.
pub(super) fn json(message: Outgoing) -> Response {
    let status = of(&message);
    tracing::trace!(message = %jsonrpc::WholeMessage(message.bytes()), "sent");
    let mut response = Response::new(ResponseBody::from(message.into_body()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(header::RETRY_AFTER, SOON);
    }
    response
}

/// Returns the response without a body: the message was accepted (F-5).
pub(super) fn accepted() -> Response {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// Returns the response for a session that ended because its client asked for it (F-22).
pub(super) fn ended() -> Response {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
