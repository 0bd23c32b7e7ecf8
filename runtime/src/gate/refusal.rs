//! HTTP requests that the transport refuses before, or beside, the protocol, and messages that it has no room for: the stage that each of
//! them reached, and the error that answers it.

use std::time::Duration;

use trueform_schema::ErrorObject;

use super::{Stage, session};
use crate::jsonrpc::{self, ErrorDetail};

/// Environment variables that add to the settings of the same name: entries separated by commas.
pub(crate) const HOSTS_VARIABLE: &str = "TRUEFORM_ALLOWED_HOSTS";
pub(crate) const ORIGINS_VARIABLE: &str = "TRUEFORM_ALLOWED_ORIGINS";

/// Why the transport refuses a request or a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Not one of POST, GET, DELETE.
    Method,
    /// GET or DELETE at a revision of the modern era, which has neither (F-33).
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
    /// The body did not arrive in time.
    BodySlow(Duration),
    SessionMissing,
    SessionUnknown,
    SessionHeaderUnusable,
    Version,
    /// Nothing is served at the path of the request; the endpoint is at this path.
    Path(Box<str>),
    /// The maximum number of streams that only listen is open.
    TooManyStreams,
    /// `Last-Event-ID` does not name an event from which the stream can be resumed.
    Event,
    /// The maximum number of calls is running.
    Busy,
    /// Too many bytes wait for their readers, over all connections.
    Unread,
    TooManySessions,
    Store,
    Stopping,
}

impl Refusal {
    /// Returns the stage that the request reached.
    pub(crate) fn stage(&self) -> Stage {
        match self {
            Self::Method | Self::NoStreamInModernEra => Stage::HttpMethod,
            Self::Host(_) | Self::Origin(_) => Stage::Sender,
            Self::Accept(_) => Stage::Accept,
            Self::ContentType | Self::ContentEncoding => Stage::ContentType,
            Self::BodyTooLarge(_) => Stage::TooLarge,
            Self::BodySlow(_) => Stage::TooSlow,
            Self::HostMissing
            | Self::BodyBroken
            | Self::SessionMissing
            | Self::SessionHeaderUnusable
            | Self::Version
            | Self::Event => Stage::Envelope,
            Self::SessionUnknown | Self::Path(_) => Stage::NotFound,
            Self::Busy
            | Self::Unread
            | Self::TooManySessions
            | Self::TooManyStreams
            | Self::Stopping => Stage::NoRoom,
            Self::Store => Stage::Store,
        }
    }

    /// Returns the error that the client gets.
    pub(crate) fn error(&self) -> ErrorObject {
        match self {
            Self::SessionMissing => session::session_missing(),
            Self::SessionUnknown => session::session_unknown(),
            Self::SessionHeaderUnusable => session::session_header_unusable(),
            Self::Version => session::session_version_unknown(),
            Self::Busy
            | Self::Unread
            | Self::TooManySessions
            | Self::TooManyStreams
            | Self::Stopping
            | Self::Store => jsonrpc::internal(self.message()),
            _ => jsonrpc::invalid_request(self.message(), &self.fault()),
        }
    }

    /// Returns what was expected and what was found.
    fn fault(&self) -> ErrorDetail {
        let header = |expected: &'static str, found: &'static str| {
            ErrorDetail::new("", "header", expected, found)
        };
        match self {
            Self::Method => ErrorDetail::new("", "method", "POST, GET or DELETE", "another method"),
            Self::NoStreamInModernEra => ErrorDetail::new("", "method", "POST", "another method"),
            Self::HostMissing => ErrorDetail::missing("", "a `Host` header"),
            Self::Host(_) => header("a `Host` that is allowed", "another"),
            Self::Origin(_) => header("an `Origin` that is allowed, or none", "another"),
            Self::Accept(types) => ErrorDetail::new(
                "",
                "header",
                format!("an `Accept` that admits {types}"),
                "another",
            ),
            Self::ContentType => header("`Content-Type: application/json`", "another"),
            Self::ContentEncoding => header("no `Content-Encoding`, or `identity`", "another"),
            Self::BodyTooLarge(limit) => {
                ErrorDetail::new("", "size", format!("at most {limit} bytes"), "more")
            }
            Self::BodyBroken => ErrorDetail::new("", "size", "a whole body", "a part of one"),
            Self::BodySlow(limit) => ErrorDetail::new(
                "",
                "time",
                format!("a body within {limit:?}"),
                "a part of one",
            ),
            Self::Path(endpoint) => {
                ErrorDetail::new("", "path", format!("`{endpoint}`"), "another path")
            }
            Self::Event => header(
                "a `Last-Event-ID` that this session can resume from, or none",
                "another",
            ),
            Self::SessionMissing
            | Self::SessionUnknown
            | Self::SessionHeaderUnusable
            | Self::Version
            | Self::Busy
            | Self::Unread
            | Self::TooManySessions
            | Self::TooManyStreams
            | Self::Store
            | Self::Stopping => ErrorDetail::new("", "server", "a request later", "one now"),
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Method => "only POST, GET and DELETE are taken here".into(),
            Self::NoStreamInModernEra => "only POST is taken at this protocol version".into(),
            Self::HostMissing => "the `Host` header is missing".into(),
            Self::Host(host) => format!(
                "the `Host` header `{}` is not allowed; the server's `allowed_hosts` setting or \
                 {HOSTS_VARIABLE} lists those that are",
                jsonrpc::shortened(host)
            ),
            Self::Origin(origin) => format!(
                "the `Origin` header `{}` is not allowed; the server's `allowed_origins` setting or \
                 {ORIGINS_VARIABLE} lists those that are",
                jsonrpc::shortened(origin)
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
            Self::Path(endpoint) => format!("the MCP endpoint of this server is at `{endpoint}`"),
            Self::TooManyStreams => "too many streams that only listen are open; the limit is the \
                                     server's `max_listeners` setting"
                .into(),
            Self::Event => {
                "the `Last-Event-ID` header names no event that this session can resume from".into()
            }
            Self::Unread => {
                "too many bytes of answers wait for clients to read them; the limit is \
                             the server's `max_unread` setting; try again later"
                    .into()
            }
            Self::Busy => {
                "too many calls are at work; the limit is the server's `max_in_flight` setting"
                    .into()
            }
            Self::TooManySessions => "too many sessions are open; the limits are the server's \
                                      `max_sessions` and `max_session_bytes` settings"
                .into(),
            Self::Store => "the session could not be looked up".into(),
            Self::Stopping => "the server is stopping".into(),
            // They have errors of their own.
            Self::SessionMissing
            | Self::SessionUnknown
            | Self::SessionHeaderUnusable
            | Self::Version => String::new(),
        }
    }
}
