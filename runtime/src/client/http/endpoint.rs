//! An address to connect to.

use std::{fmt, sync::Arc, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use reqwest::Url;

use super::{
    Authorize, HttpError, HttpErrorKind, HttpSession, HttpSettings,
    authorize::secret,
    bridge,
    error::shown_address,
    outgoing,
    sender::{self, Connections},
    stream,
};
use crate::{
    client::{Client, ClientError, ClientOptions, LocalError},
    jsonrpc::shortened,
};

/// The address of a server that speaks Streamable HTTP, and how requests to it are made.
///
/// ```no_run
/// use trueform::client::HttpEndpoint;
///
/// # async fn connect() -> Result<(), Box<dyn std::error::Error>> {
/// let client = HttpEndpoint::new("http://localhost:3000/mcp").bearer("secret").connect().await?;
/// println!("{} tools", client.list_tools().await?.len());
/// client.close().await;
/// # Ok(())
/// # }
/// ```
///
/// # What it does by itself
///
/// It finds out the era as over any transport, and sends the headers that the revision has. In the legacy era it opens the session's
/// own stream, again after it ended, and gives up where the server has none; a stream of a request that breaks off is resumed from
/// its last event, if the server gave its events ids, at most 5 times in a row without a new event. Waits double from 0.25 s up to 30 s,
/// with a part by chance, and are never shorter than the server's `retry`. A session that the server ended (404, or 400 with an error
/// -32000 or -32001 that says so) is opened again once for all requests that notice it: see [`on_new_session`](Self::on_new_session). [`Client::close`] ends the session by DELETE.
/// Redirects are followed within the origin, at most 5, and refused elsewhere. Compressed bodies are neither asked for nor taken.
///
/// # Bounds
///
/// An answer and an event have at most [`ClientOptions::max_message`] bytes. The constants of this type are the others. What follows
/// `notifications/initialized` waits for its response, and what follows another notification waits a second for that, so that it does
/// not overtake it; cancellations never wait for either.
///
/// # Errors
///
/// A response that is not an answer becomes [`LocalError::Http`], with the status, the challenges and what to try. If a refusal, a
/// header, or a response that is not an answer repeats the credentials of the request (8 bytes or more of `Authorization`), the error shows
/// `[redacted]` in their place. A JSON-RPC error with a status 2xx is returned as the server wrote it.
#[derive(Clone)]
#[must_use]
pub struct HttpEndpoint {
    url: String,
    headers: Vec<(String, String)>,
    authorize: Option<Arc<dyn Authorize>>,
    on_new_session: Option<Arc<dyn Fn() + Send + Sync>>,
    uses_proxy: bool,
    session: Option<HttpSession>,
}

impl HttpEndpoint {
    /// Most requests of a client over HTTP whose responses are open at once, subscriptions included: 256. Further ones wait, within their
    /// own timeouts. A response is dropped 250 ms after its request got the answer on another stream.
    pub const MAX_STREAMS: usize = bridge::MAX_STREAMS;
    /// Most messages without an answer that a client over HTTP delivers at once, and as many cancellations: 64. Further ones wait; they
    /// keep no request waiting.
    pub const MAX_DELIVERIES: usize = outgoing::MAX_DELIVERIES;
    /// Most redirects of one request that a client over HTTP follows: 5.
    pub const MAX_REDIRECTS: u32 = sender::MAX_REDIRECTS;
    /// Most times in a row that the stream of a request is resumed over HTTP without bringing anything: 5.
    pub const MAX_RESUMES: u32 = stream::MAX_RESUMES;
    /// Longest wait of a client over HTTP for a connection: 10 s.
    pub const CONNECT_WITHIN: Duration = sender::CONNECT_WITHIN;
    /// Longest wait of a client over HTTP for the head of a response that is not the answer to a request: 60 s; for the response to a
    /// cancellation, 5 s.
    pub const HEAD_WITHIN: Duration = bridge::HEAD_WITHIN;
    /// How long requests wait for the response to `notifications/initialized`: 10 s. What follows another notification waits 1 s.
    pub const INITIALIZED_WITHIN: Duration = outgoing::INITIALIZED_WITHIN;
    /// Longest wait of a client over HTTP, when it is closed, for requests that are not answered, and for the end of the session, each: 5 s.
    pub const CLOSE_WITHIN: Duration = bridge::CLOSE_WITHIN;

    /// The endpoint at `url`, which begins with `http://` or `https://`. The latter needs the feature `client-http-tls`; a server's
    /// certificate is checked against those that the system trusts, and on Linux against those in `SSL_CERT_FILE`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            headers: Vec::new(),
            authorize: None,
            on_new_session: None,
            uses_proxy: false,
            session: None,
        }
    }

    /// A header of every request, in place of one of the same name, those of the protocol included.
    ///
    /// ```
    /// use trueform::client::HttpEndpoint;
    ///
    /// let endpoint = HttpEndpoint::new("http://localhost:3000/mcp").header("X-Tenant", "north");
    /// ```
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The header `Authorization: Bearer …` of every request.
    ///
    /// ```
    /// use trueform::client::HttpEndpoint;
    ///
    /// let endpoint = HttpEndpoint::new("http://localhost:3000/mcp").bearer("secret");
    /// ```
    pub fn bearer(self, token: impl fmt::Display) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// Sets the hook that returns the credentials of each request, in place of a header `Authorization`.
    ///
    /// ```
    /// use std::{future::{Future, ready}, pin::Pin};
    /// use trueform::client::{Authorize, AuthorizedRequest, HttpEndpoint};
    ///
    /// struct Fixed;
    ///
    /// impl Authorize for Fixed {
    ///     fn authorization(&self, _: AuthorizedRequest<'_>) -> Pin<Box<dyn Future<Output = Result<Option<String>, String>> + Send + '_>> {
    ///         Box::pin(ready(Ok(Some("Bearer secret".to_owned()))))
    ///     }
    /// }
    ///
    /// let endpoint = HttpEndpoint::new("http://localhost:3000/mcp").authorize(Fixed);
    /// ```
    pub fn authorize(mut self, authorize: impl Authorize + 'static) -> Self {
        self.authorize = Some(Arc::new(authorize));
        self
    }

    /// Calls `report` when the server has ended the session and the client has opened a new one in its place. The state of the old
    /// session is lost: subscriptions of resources, the log level, and other data of the server. The log reports it too.
    ///
    /// ```
    /// use trueform::client::HttpEndpoint;
    ///
    /// let endpoint = HttpEndpoint::new("http://localhost:3000/mcp")
    ///     .on_new_session(|| eprintln!("the server has ended the session"));
    /// ```
    pub fn on_new_session(mut self, report: impl Fn() + Send + Sync + 'static) -> Self {
        self.on_new_session = Some(Arc::new(report));
        self
    }

    /// Takes the proxy that `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` name. Without this call the client uses no proxy: a proxy
    /// reads every message that is not encrypted, and many cannot reach a server on this machine.
    ///
    /// ```
    /// use trueform::client::HttpEndpoint;
    ///
    /// let endpoint = HttpEndpoint::new("http://tools.example.com/mcp").proxy_from_environment();
    /// ```
    pub fn proxy_from_environment(mut self) -> Self {
        self.uses_proxy = true;
        self
    }

    /// Continues a session that an earlier client opened, without a handshake. The options of the client must declare what the earlier
    /// client declared. Ids of requests start at the number of milliseconds since 1970, so that the earlier client has not used them.
    ///
    /// A session that the server has ended meanwhile is not opened again: requests end with
    /// [`HttpErrorKind::SessionLost`].
    ///
    /// ```
    /// use trueform::{client::{HttpEndpoint, HttpSession}, prelude::*};
    ///
    /// /// Goes on with a session that was written to a file as JSON.
    /// async fn go_on(stored: &str) -> Result<Client, Box<dyn std::error::Error>> {
    ///     let session: HttpSession = serde_json::from_str(stored)?;
    ///     Ok(HttpEndpoint::new("http://localhost:3000/mcp").session(session).connect().await?)
    /// }
    /// ```
    pub fn session(mut self, session: HttpSession) -> Self {
        self.session = Some(session);
        self
    }

    /// Connects with the default options.
    ///
    /// # Errors
    /// [`LocalError::Version`] or [`LocalError::Encode`] if a [session](Self::session) cannot be one of this client; [`LocalError::Http`] if the URL or a header is not one, or the server gives no answer; otherwise those of [`Client::over`].
    pub async fn connect(self) -> Result<Client, ClientError> {
        self.connect_as(ClientOptions::new()).await
    }

    /// Connects as another client: at an older revision, with capabilities, with its own handler.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn connect_as(self, options: ClientOptions) -> Result<Client, ClientError> {
        let unusable = |problem: String, advice| {
            let error = HttpError::new(HttpErrorKind::Url, "", problem, advice);
            ClientError::from(LocalError::Http(Box::new(error)))
        };
        let uri = address(&self.url).map_err(|(problem, advice)| unusable(problem, advice))?;
        let headers = self
            .checked_headers()
            .map_err(|problem| unusable(problem, ""))?;
        let joined = self
            .session
            .map(|session| session.checked(&options))
            .transpose()?;
        let connections = Connections::new(self.uses_proxy)
            .map_err(|problem| unusable(format!("no HTTP client: {problem}"), ""))?;
        let settings = HttpSettings {
            uri,
            headers,
            authorize: self.authorize,
            on_new_session: self.on_new_session,
            joined,
        };
        Client::over_http(connections, settings, options).await
    }

    fn checked_headers(&self) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let shown = shortened(name);
            let name: HeaderName = name
                .parse()
                .map_err(|_| format!("`{shown}` is not the name of a header"))?;
            // The value is not repeated: it may be a secret.
            let value = match name == header::AUTHORIZATION {
                true => secret(value).ok(),
                false => HeaderValue::from_str(value).ok(),
            };
            let value = value.ok_or_else(|| {
                format!("the value of the header `{shown}` has characters that no header may have")
            })?;
            headers.insert(name, value);
        }
        Ok(headers)
    }
}

/// The address `url`, or what is wrong with it and what to try.
fn address(url: &str) -> Result<Uri, (String, &'static str)> {
    const SCHEMES: &str = "write `http://` before the host, such as `http://localhost:3000/mcp`";
    let shown = shown_address(url);
    let not_one = |why: &dyn fmt::Display, advice| {
        (
            format!("`{shown}` is not the URL of a server: {why}"),
            advice,
        )
    };
    let has_scheme = url.trim_start().to_ascii_lowercase();
    if !has_scheme.starts_with("http://") && !has_scheme.starts_with("https://") {
        let why = match url.split_once("://") {
            Some((scheme, _)) => format!("the scheme `{}` is not supported", shortened(scheme)),
            None => "it has no scheme".to_owned(),
        };
        return Err(not_one(&why, SCHEMES));
    }
    let mut parsed: Url = url.parse().map_err(|error| not_one(&error, SCHEMES))?;
    if parsed.scheme() == "https" && !cfg!(feature = "client-http-tls") {
        let why = "this client was built without TLS";
        return Err(not_one(
            &why,
            "enable the feature `client-http-tls` of the crate `trueform`",
        ));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        // Without the URL, which has the credentials.
        let problem = "a URL with a user name or a password is not used".to_owned();
        return Err((problem, "give credentials by `HttpEndpoint::header`"));
    }
    parsed.set_fragment(None);
    parsed
        .as_str()
        .parse()
        .map_err(|error| not_one(&error, SCHEMES))
}

impl Client {
    /// Connects to the server at `url` over Streamable HTTP, with the default options. [`HttpEndpoint`] takes more.
    ///
    /// # Errors
    /// Those of [`HttpEndpoint::connect`].
    ///
    /// ```no_run
    /// # async fn connect() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = trueform::Client::connect("http://localhost:3000/mcp").await?;
    /// println!("{} tools", client.list_tools().await?.len());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(url: impl Into<String>) -> Result<Self, ClientError> {
        HttpEndpoint::new(url).connect().await
    }
}

impl fmt::Debug for HttpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url.split(['?', '#']).next().unwrap_or_default();
        let url = match url.rsplit_once('@') {
            Some((_, host)) => format!("…@{host}"),
            None => url.to_owned(),
        };
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("HttpEndpoint")
            .field("url", &url)
            .field("headers", &names)
            .finish_non_exhaustive()
    }
}
