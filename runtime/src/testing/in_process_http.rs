//! A typed client of an axum application in the same process, without a socket.

mod router;

use std::{fmt, io, time::Duration};

use axum::Router;
use http::{HeaderMap, HeaderName, HeaderValue, Uri, header};

use self::router::RouterSender;
use crate::{
    client::{
        Client, ClientError, ClientOptions, LocalError,
        http::{self as client_http, HttpSettings},
    },
    transport::http::DEFAULT_PATH,
};

/// Connects a [`Client`] to an axum application in the same process: every message passes the routes and layers of the
/// application as an HTTP request, and no socket is opened.
///
/// The client uses Streamable HTTP as its revision defines it: it sends `Accept`, `Content-Type` and, if the revision has them,
/// `MCP-Protocol-Version`, `Mcp-Session-Id`, `Mcp-Method`, `Mcp-Name` and `Mcp-Param-…` (of the tools that it has listed). It reads JSON
/// and event streams, and handles each event as it arrives. In the legacy era, it opens the session's own stream by GET when the session is
/// initialized, and reopens it when it ends. If the stream of a request ends before the answer and its events have ids, it resumes the
/// stream. When the connection is closed, it ends the session by DELETE, for which [`Client::close`] waits. If a session answers with 404,
/// it opens a new session. In the modern era, it cancels a request by dropping its response.
///
/// A response that has no JSON-RPC message for the request, such as the 401 of a layer, arrives as [`ClientError::Remote`] whose
/// [code](ClientError::code) is the HTTP status, and whose message has the beginning of the body. Such a response to a notification is
/// logged.
///
/// ```
/// use axum::{extract::Request, http::{HeaderValue, StatusCode, header::AUTHORIZATION}, middleware::{self, Next}, response::Response};
/// use trueform::{prelude::*, testing::InProcessHttp};
///
/// /// Greets the caller.
/// #[tool]
/// fn greet(caller: Principal) -> String {
///     format!("Hello, {}!", caller.subject())
/// }
///
/// async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
///     let is_ada = request.headers().get(AUTHORIZATION).is_some_and(|token| token == "Bearer secret");
///     if !is_ada {
///         return Err(StatusCode::UNAUTHORIZED);
///     }
///     request.extensions_mut().insert(Principal::new("ada"));
///     Ok(next.run(request).await)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let endpoint = Server::new("hello", "1.0.0").tools(tools![greet]).into_router()?;
/// let app = endpoint.layer(middleware::from_fn(authenticate));
///
/// let token = HeaderValue::from_static("Bearer secret");
/// let client = InProcessHttp::new(app.clone()).header(AUTHORIZATION, token).connect().await?;
/// assert_eq!(client.call_tool("greet", ()).await?.text(), "Hello, ada!");
/// client.close().await;
///
/// let refused = InProcessHttp::new(app).connect().await.unwrap_err();
/// assert_eq!(refused.code(), Some(401));
/// # Ok(())
/// # }
/// ```
///
/// # Bounds
///
/// The timeouts are those of [`ClientOptions`]. A response has at most [`ClientOptions::max_message`] bytes, and so does one event of a
/// stream. At most 256 responses are open at once; further requests wait. Notifications, answers, GET and DELETE wait
/// [`DEADLINE`](Self::DEADLINE) for the head of their response. `close` waits [`CLOSE_WITHIN`](Self::CLOSE_WITHIN) for unanswered requests.
///
/// # Limits
///
/// [`ClientOptions::write_timeout`] has no effect, because the router does not read at a limited speed.
#[derive(Clone)]
#[must_use]
pub struct InProcessHttp {
    router: Router,
    path: String,
    headers: HeaderMap,
}

impl InProcessHttp {
    /// Longest wait for the head of a response that is not the answer to a request: 60 s.
    pub const DEADLINE: Duration = client_http::HEAD_WITHIN;
    /// Longest wait at [`Client::close`] for requests that are not answered: 5 s.
    pub const CLOSE_WITHIN: Duration = client_http::CLOSE_WITHIN;

    /// Creates a connection to the application `router`, with the endpoint at `/mcp` and the header `Host: localhost`.
    pub fn new(router: Router) -> Self {
        let host = HeaderValue::from_static("localhost");
        Self {
            router,
            path: DEFAULT_PATH.to_owned(),
            headers: HeaderMap::from_iter([(header::HOST, host)]),
        }
    }

    /// Sets the path of the endpoint, which may have a query.
    ///
    /// ```
    /// use axum::Router;
    /// use trueform::testing::InProcessHttp;
    ///
    /// let endpoint = InProcessHttp::new(Router::new()).path("/v1/mcp");
    /// ```
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Adds a header to every request, such as `Authorization`. It replaces a header of the same name, including `Host` and the headers of
    /// the protocol.
    ///
    /// ```
    /// use axum::{Router, http::{HeaderValue, header}};
    /// use trueform::testing::InProcessHttp;
    ///
    /// let token = HeaderValue::from_static("Bearer secret");
    /// let endpoint = InProcessHttp::new(Router::new()).header(header::AUTHORIZATION, token);
    /// ```
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Connects with the default options.
    ///
    /// # Errors
    /// Those of [`Client::over`]; [`LocalError::Io`] if the path is invalid.
    pub async fn connect(self) -> Result<Client, ClientError> {
        self.connect_as(ClientOptions::new()).await
    }

    /// Connects as another client: at an older revision, with capabilities, with its own handler. [`ClientOptions::principal`] is added to
    /// the extensions of every request, as by a layer outside of the application.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn connect_as(self, options: ClientOptions) -> Result<Client, ClientError> {
        let uri: Uri = match self.path.parse() {
            Ok(uri) if self.path.starts_with('/') => uri,
            _ => {
                let problem = format!("`{}` is not the path of an endpoint", self.path);
                let error = io::Error::new(io::ErrorKind::InvalidInput, problem);
                return Err(LocalError::Io(error).into());
            }
        };
        let sender = RouterSender {
            router: self.router,
            principal: options.caller().cloned(),
        };
        let settings = HttpSettings {
            uri,
            headers: self.headers,
            authorize: None,
            on_new_session: None,
            joined: None,
        };
        Client::over_http(sender, settings, options).await
    }
}

impl fmt::Debug for InProcessHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcessHttp")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
