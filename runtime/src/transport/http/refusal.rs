//! Requests that the transport itself turns away: the one table of their statuses, codes and sentences.
//!
//! What the protocol engine turns away comes with its own status and does not pass here.

use std::time::Duration;

use axum::{body::Body, response::Response};
use http::{HeaderValue, StatusCode, header};
use trueform_schema::{ErrorObject, RequestId};

use super::serve::{HOSTS_VARIABLE, ORIGINS_VARIABLE};
use crate::jsonrpc::{self, NoId, code};

/// Why a request is turned away before, or beside, the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Not one of POST, GET, DELETE.
    Method,
    /// GET or DELETE of the modern era, which has neither (F-33).
    NoStreamInModernEra,
    /// HTTP/1.1 requires the header.
    HostMissing,
    Host(String),
    Origin(String),
    /// `Accept` lists none of these types.
    Accept(&'static str),
    ContentType,
    ContentEncoding,
    BodyTooLarge(usize),
    /// The client stopped in the middle of the body.
    BodyBroken,
    /// The body did not come in time.
    BodySlow(Duration),
    SessionMissing,
    SessionUnknown,
    SessionHeaderUnusable,
    Version(String),
    /// The session has its one stream already.
    StreamTaken,
    /// `Last-Event-ID` names no event that can be resumed from.
    Event,
    /// A POST body of a kind that cannot be sent that way.
    Body(&'static str),
    Busy,
    TooManySessions,
    Store,
    Stopping,
}

impl Refusal {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Method | Self::NoStreamInModernEra => StatusCode::METHOD_NOT_ALLOWED,
            Self::Host(_) | Self::Origin(_) => StatusCode::FORBIDDEN,
            Self::Accept(_) => StatusCode::NOT_ACCEPTABLE,
            Self::ContentType | Self::ContentEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::BodyTooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::HostMissing
            | Self::BodyBroken
            | Self::SessionMissing
            | Self::SessionHeaderUnusable
            | Self::Version(_)
            | Self::Event
            | Self::Body(_) => StatusCode::BAD_REQUEST,
            Self::BodySlow(_) => StatusCode::REQUEST_TIMEOUT,
            Self::SessionUnknown => StatusCode::NOT_FOUND,
            Self::StreamTaken => StatusCode::CONFLICT,
            Self::Busy | Self::TooManySessions | Self::Stopping => StatusCode::SERVICE_UNAVAILABLE,
            Self::Store => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn code(&self) -> i64 {
        match self {
            Self::Busy | Self::TooManySessions | Self::Stopping | Self::Store => {
                code::INTERNAL_ERROR
            }
            _ => code::INVALID_REQUEST,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Method => "only POST, GET and DELETE are taken here".into(),
            Self::NoStreamInModernEra => "only POST is taken at this protocol version".into(),
            Self::HostMissing => "the `Host` header is missing".into(),
            Self::Host(host) => format!(
                "the `Host` header {} is not allowed; the server's `allowed_hosts` setting or \
                 {HOSTS_VARIABLE} lists those that are",
                quoted(host)
            ),
            Self::Origin(origin) => format!(
                "the `Origin` header {} is not allowed; the server's `allowed_origins` setting or \
                 {ORIGINS_VARIABLE} lists those that are",
                quoted(origin)
            ),
            Self::Accept(types) => format!("the `Accept` header must admit {types}"),
            Self::ContentType => "the `Content-Type` header must be `application/json`".into(),
            Self::ContentEncoding => {
                "the `Content-Encoding` header must be absent or `identity`".into()
            }
            Self::BodyTooLarge(limit) => {
                format!("the body is larger than {limit} bytes, the server's `max_body` setting")
            }
            Self::BodyBroken => "the body ended early".into(),
            Self::BodySlow(limit) => format!(
                "the body did not come within {limit:?}, the server's `body_timeout` setting"
            ),
            Self::SessionMissing => {
                "the `Mcp-Session-Id` header is missing; send what `initialize` was answered with, or, without a session, \
                 `params._meta` and headers as 2026-07-28 has them"
                    .into()
            }
            Self::SessionUnknown => {
                "there is no such session, or it has ended; `initialize` opens a new one".into()
            }
            Self::SessionHeaderUnusable => {
                "the `Mcp-Session-Id` header occurs twice, or is not visible ASCII".into()
            }
            Self::Version(version) => format!(
                "the `MCP-Protocol-Version` header {} is not a version of this session",
                quoted(version)
            ),
            Self::StreamTaken => {
                "this session has an open stream already; a session has one".into()
            }
            Self::Event => {
                "the `Last-Event-ID` header names no event that this session can resume from".into()
            }
            Self::Body(problem) => (*problem).into(),
            Self::Busy => "too many requests are at work; the limit is the server's \
                           `max_in_flight` setting"
                .into(),
            Self::TooManySessions => "too many sessions are open and in use; the limit is the \
                                      server's `max_sessions` setting"
                .into(),
            Self::Store => "the session could not be looked up".into(),
            Self::Stopping => "the server is stopping".into(),
        }
    }

    /// The response to a request whose id is `id`, or could not be read.
    pub(super) fn respond(&self, id: Option<&RequestId>, no_id: NoId) -> Response {
        let error = ErrorObject::new(self.code(), self.message());
        let mut body = Vec::with_capacity(256);
        jsonrpc::write_error(id, no_id, &error, &mut body);
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        match self {
            Self::Method => {
                headers.insert(header::ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
            }
            Self::NoStreamInModernEra => {
                headers.insert(header::ALLOW, HeaderValue::from_static("POST"));
            }
            Self::ContentEncoding => {
                headers.insert(
                    header::ACCEPT_ENCODING,
                    HeaderValue::from_static("identity"),
                );
            }
            Self::Busy | Self::TooManySessions | Self::Stopping => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            // What is left of a body that nobody reads must not be taken for the next request.
            Self::BodyTooLarge(_) | Self::BodyBroken | Self::BodySlow(_) => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }

    /// The response to a request whose id was not looked for.
    pub(super) fn respond_without_id(&self) -> Response {
        self.respond(None, NoId::Absent)
    }
}

/// A peer's text in backticks, short and printable.
fn quoted(text: &str) -> String {
    /// Longest part of a peer's text that is repeated to it, in characters.
    const LONGEST: usize = 100;
    let mut out = String::with_capacity(text.len().min(LONGEST) + 2);
    out.push('`');
    out.extend(
        text.chars()
            .filter(|letter| !letter.is_control())
            .take(LONGEST),
    );
    out.push('`');
    out
}
