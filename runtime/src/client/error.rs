//! Why a request of the client has no result: this side's reasons and the server's, kept apart.

use std::{fmt, io, sync::Arc, time::Duration};

use serde::Deserialize;
use trueform_schema::{CallToolResult, DecodeError, ErrorObject, Revision};

use super::{
    failure::{HandshakeTimeout, ServerFailure},
    timeout::RequestTimeout,
};
use crate::{
    acp::Refusal,
    gate::Leniency,
    jsonrpc::{code, sentence},
};

/// Why a request has no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// It never left, or no usable answer came.
    Local(LocalError),
    /// The server answered with an error.
    Remote(ErrorObject),
}

/// Reasons on the client's side of the connection. The `error` of a response never becomes one of them.
#[derive(Debug)]
#[non_exhaustive]
pub enum LocalError {
    /// The connection is closed.
    Closed,
    /// The server closed the connection instead of answering `server/discover`, as some do that know the legacy era only. Connect
    /// to it again with [`Negotiation::Offer`](super::Negotiation::Offer).
    ClosedOnDiscover,
    /// The server process failed, or was ended because it did. Comes from clients that started one, which needs the feature `client-process`.
    Server(Arc<ServerFailure>),
    /// The server process could not be started.
    #[cfg(feature = "client-process")]
    Spawn(super::SpawnError),
    /// The server needs a transport that was not declared. Nothing was connected. Comes from [`Client::connect_entry`](super::Client::connect_entry).
    Refused(Box<Refusal>),
    /// The server needs a transport that this client does not have. Comes from [`Client::connect_entry`](super::Client::connect_entry).
    NoTransport(super::NoTransport),
    /// Options with which no request could be answered: bounds or times of zero. Nothing was connected. Holds a sentence for each.
    Settings(Vec<String>),
    /// The server did not answer while the client connected.
    NoHandshake(HandshakeTimeout),
    /// The server does not read: this many bytes wait to be written to it, which is the limit.
    NotRead(usize),
    /// Not sent: `in_flight` requests wait for their answers, the [`max_in_flight`](super::ClientOptions::max_in_flight), and `waiting` wait to be
    /// sent, the [`max_queued`](super::ClientOptions::max_queued).
    QueueFull {
        /// How many requests may wait for their answers.
        in_flight: usize,
        /// How many requests may wait to be sent.
        waiting: usize,
    },
    /// Not sent within the timeout of the request, because the maximum number of other requests wait for their answers.
    NotSent {
        /// How many requests may wait for their answers.
        in_flight: usize,
        /// How long it waited.
        waited: Duration,
    },
    /// No answer came in this time. The server was notified that the request is cancelled, unless it was resumed, was `initialize`, or
    /// is not in the session that there is now.
    TimedOut(Box<RequestTimeout>),
    /// What is to be sent has no JSON form, or not the one the request needs.
    Encode(String),
    /// The server did not declare this capability, which the method needs.
    NotDeclared(&'static str),
    /// The revision does not allow what is to be sent; says where and why.
    NotAllowed(String),
    /// The answer does not have the form of the method's result, or the revision does not allow it.
    Decode(DecodeError),
    /// The tool failed. Only calls with a typed [output](super::ToolCall::output) end with it; holds the result.
    ToolFailed(Box<CallToolResult>),
    /// The structured content of a result does not fit the output schema that the server lists for the tool.
    // I-8
    Output {
        /// The name of the tool.
        tool: String,
        /// Where in the result, and what is wrong.
        problem: String,
    },
    /// The structured content of a result is not of the type that [`output`](super::ToolCall::output) was called with.
    OutputType {
        /// The name of the tool.
        tool: String,
        /// The name of the Rust type.
        expected: &'static str,
        /// Where in the result, and what is wrong.
        error: DecodeError,
    },
    /// The server speaks none of the revisions that this client may use; holds what it offered.
    Version(Vec<String>),
    /// The negotiated revision has no such method or feature.
    Unavailable(&'static str, Revision),
    /// Only Streamable HTTP has resumption tokens: they are the ids of its events.
    NoResumption,
    /// The task was cancelled, by this client or by the server; holds its id.
    TaskCancelled(String),
    /// The server keeps asking for input; holds how many rounds there were.
    TooManyRounds(u32),
    /// A list does not end; holds how many pages of it were read.
    EndlessList(u32),
    /// The byte stream failed.
    Io(io::Error),
    /// The HTTP request brought no answer.
    #[cfg(feature = "client-http")]
    Http(Box<super::HttpError>),
}

impl ClientError {
    /// The code of the server's error.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        match self {
            Self::Remote(error) => Some(error.code),
            Self::Local(_) => None,
        }
    }

    /// The server's error.
    #[must_use]
    pub fn remote(&self) -> Option<&ErrorObject> {
        match self {
            Self::Remote(error) => Some(error),
            Self::Local(_) => None,
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(error) => error.fmt(f),
            Self::Remote(error) => {
                write!(
                    f,
                    "the server answered with error {}: {}",
                    error.code,
                    sentence(&error.message)
                )?;
                match error.code {
                    code::MISSING_CLIENT_CAPABILITY => f.write_str(
                        "; declare it by `ClientOptions::capabilities`, and answer by `ClientOptions::handler`",
                    ),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl fmt::Display for LocalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the connection is closed"),
            Self::ClosedOnDiscover => f.write_str(
                "the server closed the connection instead of answering `server/discover`; if it knows only the legacy era, connect \
                 again with `Negotiation::Offer(Revision::V2025_11_25)`, which begins with `initialize`",
            ),
            Self::Server(failure) => failure.fmt(f),
            #[cfg(feature = "client-process")]
            Self::Spawn(error) => error.fmt(f),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::NoTransport(transport) => transport.fmt(f),
            Self::Settings(problems) => f.write_str(&problems.join("; and ")),
            Self::NoHandshake(timeout) => timeout.fmt(f),
            Self::NotRead(bytes) => write!(
                f,
                "cannot be sent: the server does not read, and {bytes} bytes wait to be written to it"
            ),
            Self::QueueFull { in_flight, waiting } => write!(
                f,
                "not sent: {in_flight} requests wait for their answers (`max_in_flight`), and {waiting} wait to be sent (`max_queued`)"
            ),
            Self::NotSent { in_flight, waited } => write!(
                f,
                "not sent within {waited:?}: {in_flight} other requests wait for their answers (`max_in_flight`)"
            ),
            Self::TimedOut(timeout) => timeout.fmt(f),
            Self::Encode(problem) => write!(f, "cannot be sent: {problem}"),
            Self::NotDeclared(capability) => {
                write!(
                    f,
                    "the server did not declare the capability `{capability}`"
                )
            }
            Self::NotAllowed(problem) => write!(f, "cannot be sent: {problem}"),
            Self::Decode(error) => write!(
                f,
                "the answer does not fit the method: {}",
                sentence(&error.to_string())
            ),
            Self::ToolFailed(result) => {
                write!(f, "the tool failed: {}", sentence(&result.text()))
            }
            Self::Output { tool, problem } => write!(
                f,
                "the result of the tool `{}` does not fit its output schema: {}",
                sentence(tool),
                sentence(problem)
            ),
            Self::OutputType {
                tool,
                expected,
                error,
            } => write!(
                f,
                "the structured content of the tool `{}` is not of the type `{expected}`, which `output` was called with: {}",
                sentence(tool),
                sentence(&error.to_string())
            ),
            Self::Version(offered) => write!(
                f,
                "no common protocol version; the server offers {}",
                sentence(&format!("{offered:?}"))
            ),
            Self::Unavailable(what, revision) => {
                write!(f, "{what} does not exist at revision {revision}")
            }
            Self::NoResumption => f.write_str(
                "not sent: there are no resumption tokens on this connection; only Streamable HTTP has them",
            ),
            Self::TaskCancelled(id) => write!(f, "the task {} was cancelled", sentence(id)),
            Self::TooManyRounds(rounds) => {
                write!(f, "the server still asked for input after {rounds} rounds")
            }
            Self::EndlessList(pages) => {
                write!(f, "the list has not ended after {pages} pages")
            }
            Self::Io(error) => write!(f, "the connection failed: {error}"),
            #[cfg(feature = "client-http")]
            Self::Http(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ClientError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Local(LocalError::Io(error)) => Some(error),
            Self::Local(LocalError::Decode(error) | LocalError::OutputType { error, .. }) => {
                Some(error)
            }
            #[cfg(feature = "client-process")]
            Self::Local(LocalError::Spawn(error)) => Some(error),
            #[cfg(feature = "client-http")]
            Self::Local(LocalError::Http(error)) => Some(&**error),
            Self::Local(_) | Self::Remote(_) => None,
        }
    }
}

impl From<LocalError> for ClientError {
    fn from(error: LocalError) -> Self {
        Self::Local(error)
    }
}

impl From<DecodeError> for ClientError {
    fn from(error: DecodeError) -> Self {
        Self::Local(LocalError::Decode(error))
    }
}

/// So that `?` works in a `main` that returns [`trueform::Result`](crate::Result).
impl From<ClientError> for crate::Error {
    fn from(error: ClientError) -> Self {
        Self::other(error)
    }
}

/// Why an answer is not a valid message, for the request that waits for it.
pub(super) fn unfit_answer(error: &ErrorObject) -> DecodeError {
    #[derive(Deserialize)]
    struct Data {
        pointer: String,
        expected: String,
        found: String,
    }
    let data = error.data.as_ref().and_then(|data| data.parse().ok());
    let Some(Data {
        pointer,
        expected,
        found,
    }) = data
    else {
        return DecodeError::new("", &*error.message);
    };
    let message = format!("{}: expected {expected}, found {found}", error.message);
    DecodeError::new(pointer, message)
}

/// Whether `error` refuses a message because it is an error without an id. A server sends such an error about input that it could not
/// read.
pub(super) fn is_error_without_id(error: &ErrorObject) -> bool {
    #[derive(Deserialize)]
    struct Data {
        rule: String,
    }
    let data = error.data.as_ref().and_then(|data| data.parse().ok());
    data.is_some_and(|Data { rule }| rule == Leniency::MissingErrorId.name())
}
