//! Why an HTTP request of a client brought no answer: what, where, and what to try.

use std::{fmt, time::Duration};

use http::{HeaderMap, Method, StatusCode, Uri, header};

#[cfg(feature = "client-http")]
use super::retry_after::is_busy;
use super::{
    challenge::{Challenge, challenges},
    exchange::SendFailure,
    retry_after::retry_after,
};
use crate::jsonrpc::{sentence, shortened};

/// Why an HTTP request brought no answer. Its text says what failed, at which address, and what to try.
#[derive(Clone, Debug)]
pub struct HttpError {
    kind: HttpErrorKind,
    target: String,
    problem: String,
    advice: &'static str,
    status: Option<StatusCode>,
    retry_after: Option<Duration>,
    challenges: Vec<Challenge>,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// The URL cannot be connected to.
    Url,
    /// No connection: the name has no address, nothing listens there, or the TLS handshake failed.
    Connect,
    /// The connection failed, or the response broke off.
    Broken,
    /// The server refused the request by its status.
    Status,
    /// The response is not a message of the protocol, or not an answer to the request.
    NotAnAnswer,
    /// The response is larger than [`ClientOptions::max_message`](crate::client::ClientOptions::max_message) allows.
    TooLarge,
    /// The stream ended before the answer, and cannot be resumed.
    StreamEnded,
    /// The server redirects to another origin, or in a circle.
    Redirected,
    /// The server ended the session, and a new one cannot be had.
    SessionLost,
    /// The client's [`Authorize`](super::Authorize) gave no credentials.
    Authorize,
}

/// What is to be said of a request whose response broke off.
pub(super) const NOT_KNOWN: &str = "whether the server acted on the request is not known";

/// What is said of a body that is a web page.
pub(super) const WEB_PAGE: &str = "a web page";

/// What a request was sent by and to, as errors show it: without the query, which may hold secrets.
pub(super) fn target(method: &Method, uri: &Uri) -> String {
    let query = if uri.query().is_some() { "?…" } else { "" };
    let origin = match (uri.scheme_str(), uri.authority()) {
        (Some(scheme), Some(authority)) => format!("{scheme}://{authority}"),
        _ => String::new(),
    };
    sentence(&format!("{method} {origin}{}{query}", uri.path())).into_owned()
}

/// `address`, which need not be one, as errors show it: without user, password, query and fragment, which may hold secrets.
pub(super) fn shown_address(address: &str) -> String {
    let (shown, rest) = match address.find(['?', '#']) {
        Some(at) => (&address[..at], "?…"),
        None => (address, ""),
    };
    let (user, shown) = match shown.rsplit_once('@') {
        Some((_, shown)) => ("…@", shown),
        None => ("", shown),
    };
    format!("{user}{}{rest}", shortened(shown))
}

impl HttpError {
    pub(super) fn new(
        kind: HttpErrorKind,
        target: impl Into<String>,
        problem: impl Into<String>,
        advice: &'static str,
    ) -> Self {
        Self {
            kind,
            target: target.into(),
            problem: problem.into(),
            advice,
            status: None,
            retry_after: None,
            challenges: Vec::new(),
        }
    }

    /// Of a request without a response.
    pub(super) fn not_sent(target: String, failure: SendFailure) -> Self {
        match failure {
            SendFailure::Connect(problem) => {
                let advice = match target.contains(" https://") {
                    true => {
                        "check the address, that the server speaks TLS there, and that the system trusts its certificate"
                    }
                    false => "check the address, and that the server is running",
                };
                Self::new(HttpErrorKind::Connect, target, problem, advice)
            }
            SendFailure::Broken(problem) => {
                Self::new(HttpErrorKind::Broken, target, problem, NOT_KNOWN)
            }
            SendFailure::Redirected(problem) => Self::new(
                HttpErrorKind::Redirected,
                target,
                problem,
                "connect to the address it redirects to, if you trust it",
            ),
            SendFailure::Panicked => {
                Self::new(HttpErrorKind::Broken, target, "the router panicked", "")
                    .with_status(StatusCode::INTERNAL_SERVER_ERROR)
            }
        }
    }

    /// Of a response with `status` whose body has no answer.
    pub(super) fn refused(
        target: String,
        status: StatusCode,
        headers: &HeaderMap,
        body: &str,
    ) -> Self {
        let advice = match status.as_u16() {
            401 => "give credentials by a header or by `authorize`",
            403 => {
                "the credentials do not suffice, or the server does not accept this client's `Host` or `Origin`"
            }
            404 => "check the path; many servers have their endpoint at `/mcp`",
            405 => {
                "check the path; a server that takes no POST here may speak HTTP+SSE of 2024-11-05, which this client does not"
            }
            429 => "send fewer requests, and wait before the next",
            500 => "the server failed; its log may say why",
            501 => {
                "what answers there takes no POST, so it is no MCP server; check the URL: its path must be the server's MCP endpoint, often `/mcp`"
            }
            502..=504 => "the server, or a proxy before it, is not ready; try again later",
            _ if body == WEB_PAGE => {
                "check the URL: its path must be the server's MCP endpoint, often `/mcp`"
            }
            _ => "",
        };
        let wait = headers
            .get(header::RETRY_AFTER)
            .and_then(|wait| wait.to_str().ok());
        let mut problem = match body.is_empty() {
            true => "the response has no body".to_owned(),
            false => body.to_owned(),
        };
        if let Some(wait) = wait {
            problem = format!("{problem} (Retry-After: {})", shortened(wait));
        }
        let challenges = challenges(headers);
        if let Some(first) = challenges.first() {
            problem = format!("{problem} (challenge: {})", shortened(&first.scheme));
        }
        let mut error =
            Self::new(HttpErrorKind::Status, target, problem, advice).with_status(status);
        error.retry_after = retry_after(headers);
        error.challenges = challenges;
        error
    }

    pub(super) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = Some(status);
        self
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> HttpErrorKind {
        self.kind
    }

    /// The status of the response, such as 401; `None` if there is no response.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.status.map(|status| status.as_u16())
    }

    /// How long the server asks to wait (`Retry-After`, in seconds or as a date); `None` if it does not.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The challenges of the server (`WWW-Authenticate`).
    #[must_use]
    pub fn challenges(&self) -> &[Challenge] {
        &self.challenges
    }

    /// Whether a request without an effect may be sent again: there is no connection, or it broke, or the server is busy.
    #[cfg(feature = "client-http")]
    pub(in crate::client) fn may_pass(&self) -> bool {
        match self.kind {
            HttpErrorKind::Connect | HttpErrorKind::Broken | HttpErrorKind::StreamEnded => true,
            HttpErrorKind::Status => self.status.is_some_and(is_busy),
            _ => false,
        }
    }

    /// Whether this may be the response of a server without `server/discover`. The client then sends `initialize`.
    // D-8, D-9
    pub(in crate::client) fn may_be_legacy(&self) -> bool {
        let code = self.status();
        self.kind == HttpErrorKind::Status
            && code.is_some_and(|code| {
                (400..500).contains(&code) && !matches!(code, 401 | 403 | 407 | 408 | 429)
            })
    }

    /// The status and the problem alone.
    pub(crate) fn short(&self) -> String {
        match self.status {
            Some(status) => format!("HTTP {status}: {}", self.problem),
            None => self.problem.clone(),
        }
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.target.is_empty() {
            write!(f, "{}: ", self.target)?;
        }
        f.write_str(&self.short())?;
        match self.advice {
            "" => Ok(()),
            advice => write!(f, "; {advice}"),
        }
    }
}

impl std::error::Error for HttpError {}
