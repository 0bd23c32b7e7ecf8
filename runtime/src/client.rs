//! A typed client.
//!
//! [`Server::connect`](crate::Server::connect) returns a client of a server in the same process, for tests. It sends the same bytes as
//! over standard input and output. [`Client::over`] takes any byte stream, such as a socket. `Client::spawn`, with the feature
//! `client-process`, starts a server as a child process. `Client::connect`, with the feature `client-http`, connects to a URL. A client
//! finds out by itself which revision the server speaks.
//!
//! ```
//! use trueform::prelude::*;
//!
//! /// Add two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Server::new("calc", "1.0.0").tools(tools![add]).connect().await?;
//!
//! assert_eq!(client.list_tools().await?[0].name, "add");
//! let sum = client.call_tool("add", serde_json::json!({ "a": 2, "b": 3 })).await?;
//! assert_eq!(sum.is_error, None);
//! client.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Every message of every revision
//!
//! The functions of [`Client`] do more than send one message: [`call_tool`](Client::call_tool) also answers the server's questions, and
//! [`list_tools`](Client::list_tools) reads all pages. The trait [`ClientMethods`], which is part of the prelude, is generated from the
//! schemas. It has one function for each message that a client sends, with the name of the method. Such a function takes the params of
//! the message, sends this one message, takes the same options, and returns the result unchanged. If the revision of the connection
//! lacks the message, it is refused before it is sent ([`LocalError::Unavailable`]). The functions for the tasks extension are in a
//! [trait of their own](crate::schema::ext::tasks::ClientMethods).
//!
//! ```
//! # use trueform::prelude::*;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use trueform::schema::PaginatedRequestParams;
//!
//! let client = Server::new("calc", "1.0.0").tools(tools![]).connect().await?;
//! let page = client.tools_list(PaginatedRequestParams::default()).await?;
//! assert!(page.tools.is_empty() && page.next_cursor.is_none());
//! # Ok(())
//! # }
//! ```

mod cache;
mod call;
mod call_options;
mod catalog;
mod chance;
mod changes;
mod completion;
mod deadline;
mod entry;
mod error;
mod failure;
mod flights;
mod gate;
mod handler;
mod handshake;
// The in-process client of tests needs a part of it.
#[cfg_attr(
    not(feature = "client-http"),
    allow(dead_code, unreachable_pub, reason = "public with `client-http`")
)]
#[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
pub(crate) mod http;
mod ids;
mod in_process;
mod link;
mod listing;
mod mailbox;
mod notified;
mod options;
mod outcome;
#[cfg(feature = "client-process")]
mod process;
mod profile;
mod request;
#[cfg_attr(
    not(any(feature = "client-http", all(feature = "http", feature = "testing"))),
    allow(dead_code, reason = "only HTTP resumes")
)]
mod resumption;
mod retry;
mod served;
mod server_requests;
mod sink;
mod stamp;
mod strays;
mod subscription;
mod task;
mod timeout;
mod typed;
mod unusable;
mod wire;
#[cfg(not(all(feature = "client-http", feature = "client-process")))]
mod without_transports;

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use serde::Serialize;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::JoinHandle,
};
use trueform_schema::{
    At, CompletionArgument, CompletionReference, Conform, Era, Implementation, Json, Method,
    RequestMetaObject, Revision, ServerCapabilities, SubscriptionFilter,
    SubscriptionsListenRequestParams, methods,
};

use self::{
    cache::Cache,
    catalog::Catalog,
    gate::ClientCall,
    handshake::ServerFacts,
    link::{Abandoned, Link},
    stamp::Introduction,
    wire::Wire,
};

use crate::gate::ToServer;

#[doc(inline)]
pub use trueform_schema::ClientMethods;

pub use self::{
    cache::CacheLimits,
    call::{PromptCall, Repeatable, RepeatableCall, ResourceCall, ToolCall},
    completion::CompletionCall,
    entry::NoTransport,
    error::{ClientError, LocalError},
    failure::{HandshakeTimeout, ServerFailure, ServerFault},
    handler::{Answering, ClientHandler},
    listing::{ListItem, Pages},
    notified::{Notifications, Notified},
    options::{ClientOptions, Negotiation},
    profile::ServerProfile,
    request::Request,
    retry::RetryPolicy,
    strays::{Stray, StrayKind, Strays},
    subscription::Subscription,
    task::{DEFAULT_POLL_INTERVAL, TaskCall, ToolTask},
    timeout::RequestTimeout,
    typed::TypedCall,
};

#[cfg(feature = "client-http")]
#[doc(inline)]
pub use self::http::{
    AuthorizationRefused, Authorize, AuthorizedRequest, Challenge, HttpEndpoint, HttpError,
    HttpErrorKind, HttpSession, MAX_AUTHORIZATIONS,
};
#[cfg(feature = "client-process")]
pub use self::process::{ServerCommand, SpawnError};
#[cfg(not(feature = "client-http"))]
pub use self::without_transports::HttpEndpoint;
#[cfg(not(feature = "client-process"))]
pub use self::without_transports::ServerCommand;

/// A connection to a server. Clones share it; it is closed when the last one is dropped.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    link: Arc<Link>,
    options: ClientOptions,
    server: ServerFacts,
    introduction: Introduction,
    catalog: Catalog,
    cache: Option<Cache>,
    reading: EndedWithOwner,
    /// Ends the child process that is the server when it is dropped.
    #[cfg(feature = "client-process")]
    process: Option<process::Held>,
    /// What moves the messages over HTTP.
    #[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
    #[cfg_attr(
        not(feature = "client-http"),
        allow(dead_code, reason = "public with `client-http`")
    )]
    http: Option<Arc<http::Bridge>>,
}

/// The connection of a client that may still be connecting, and the task that reads it: they end with their owner.
struct EndedWithOwner(Arc<Link>, Mutex<Option<JoinHandle<()>>>);

impl Client {
    /// Connects over a byte stream of any kind, such as a TCP or Unix socket: one JSON-RPC message a line, as on standard input and
    /// output. The server's side of it is [`Service::serve_stream`](crate::Service::serve_stream).
    ///
    /// # Errors
    /// [`ClientError`] if the two sides find no common revision, the server does not answer, or the stream ends first;
    /// [`LocalError::Settings`] before anything is sent if a bound or a time of the options is zero.
    ///
    /// ```
    /// # use trueform::prelude::*;
    /// use tokio::net::{TcpListener, TcpStream};
    /// use trueform::client::ClientOptions;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let service = Server::new("calc", "1.0.0").build()?;
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let address = listener.local_addr()?;
    /// let serving = tokio::spawn(async move {
    ///     let (reader, writer) = listener.accept().await?.0.into_split();
    ///     service.serve_stream(reader, writer).await
    /// });
    ///
    /// let (reader, writer) = TcpStream::connect(address).await?.into_split();
    /// let client = Client::over(reader, writer, ClientOptions::new()).await?;
    /// assert_eq!(client.server_info().map(|info| &*info.name), Some("calc"));
    /// client.close().await;
    /// serving.await??;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn over<R, W>(
        reader: R,
        writer: W,
        options: ClientOptions,
    ) -> Result<Self, ClientError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let inner = Inner::connect(reader, writer, options, Arc::default()).await?;
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// What is worth remembering of the server. If [`ClientOptions::profile`] gets it, the next connection needs no probe.
    #[must_use]
    pub fn profile(&self) -> ServerProfile {
        ServerProfile::new(self.revision())
    }

    /// The number of lines from the server that are not messages, such as a banner. They are skipped, and logged without their values.
    #[must_use]
    pub fn skipped_lines(&self) -> u64 {
        self.inner.link.wire.skipped_lines()
    }

    /// The revision that the two sides speak.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.inner.server.revision
    }

    /// What the server calls itself, if it said so.
    #[must_use]
    pub fn server_info(&self) -> Option<&Implementation> {
        self.inner.server.info.as_ref()
    }

    /// What the server declared it can do.
    #[must_use]
    pub fn server_capabilities(&self) -> &ServerCapabilities {
        &self.inner.server.capabilities
    }

    /// What the server says about itself to a model.
    #[must_use]
    pub fn instructions(&self) -> Option<&str> {
        self.inner.server.instructions.as_deref()
    }

    /// Calls a tool. `arguments` is anything that serialises to an object, or to nothing, as `()` does.
    ///
    /// The call is sent when the returned value is awaited, after options such as [`ToolCall::timeout`] were set, and
    /// cancelled when the future is dropped. If the server asks for input on the way, the client's
    /// [`handler`](ClientOptions::handler) answers.
    ///
    /// A tool that fails gives a result with `is_error`, not an error. Serialised, the result has the form of the newest revision,
    /// whichever was spoken.
    pub fn call_tool(&self, name: impl Into<String>, arguments: impl Serialize) -> ToolCall {
        ToolCall::of_tool(self.clone(), name.into(), Json::from_value(&arguments))
    }

    /// Gets a prompt. `arguments` is anything that serialises to an object of texts, or to nothing, as `()` does; numbers and flags
    /// are sent as their texts. Sent and repeated as [`call_tool`](Self::call_tool) is.
    pub fn get_prompt(&self, name: impl Into<String>, arguments: impl Serialize) -> PromptCall {
        PromptCall::of_prompt(self.clone(), name.into(), Json::from_value(&arguments))
    }

    /// Reads the resource `uri`. Sent and repeated as [`call_tool`](Self::call_tool) is.
    pub fn read_resource(&self, uri: impl Into<String>) -> ResourceCall {
        ResourceCall::of_resource(self.clone(), uri.into())
    }

    /// Asks for suggestions for `argument` of a prompt or a resource template, of which `typed` is typed so far.
    pub fn complete(
        &self,
        of: impl Into<CompletionReference>,
        argument: impl Into<String>,
        typed: impl Into<String>,
    ) -> CompletionCall {
        let argument = CompletionArgument::new(argument, typed);
        CompletionCall::new(self.clone(), of.into(), argument)
    }

    /// Any request, by its method: also one of an extension that another crate generated. [`ClientMethods`] has a function for each request
    /// of the protocol. Those of the handshake, `initialize` and `notifications/initialized`, are refused with [`LocalError::NotAllowed`]: a
    /// client has made the handshake when it is connected. With [`Negotiation::Nothing`] the program makes it.
    ///
    /// ```
    /// # use trueform::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use trueform::schema::{PaginatedRequestParams, methods::ListTools};
    ///
    /// let client = Server::new("empty", "1.0.0").tools(tools![]).connect().await?;
    /// let page = client.request::<ListTools>(PaginatedRequestParams::default()).await?;
    /// assert!(page.tools.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn request<M: methods::AnyRequest>(&self, params: M::Params) -> Request<M> {
        Request::new(self.clone(), params)
    }

    /// Sends a notification. [`ClientMethods`] has a function for each of the protocol.
    ///
    /// # Errors
    /// [`LocalError::Closed`] when the connection is closed.
    pub fn notify<N>(&self, params: &N::Params) -> Result<(), ClientError>
    where
        N: methods::AnyNotification,
    {
        let gate = &self.inner.link.gate;
        let call = ClientCall::of_notification::<N>(self.revision());
        gate.let_out(&call, self.revision(), params)?;
        let params = At::new(params, self.revision()).to_json();
        self.inner.link.notify(N::METHOD, Some(&params))
    }

    /// Every notification from now on that belongs to no subscription, progress reports included.
    #[must_use]
    pub fn notifications(&self) -> Notifications {
        Notifications(self.inner.link.notifications())
    }

    /// Every message from now on that the client cannot use: responses to no request, malformed lines, unknown notifications, progress of
    /// no request. The log has them too.
    ///
    /// ```
    /// # use trueform::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use trueform::client::StrayKind;
    ///
    /// let client = Server::new("calc", "1.0.0").connect().await?;
    /// let mut strays = client.strays();
    /// assert!(strays.try_next().is_none());
    /// assert_eq!(client.stray_count(StrayKind::UnknownId), 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn strays(&self) -> Strays {
        Strays(self.inner.link.strays.listen())
    }

    /// How many messages of this kind there were on the connection.
    #[must_use]
    pub fn stray_count(&self, kind: StrayKind) -> u64 {
        self.inner.link.strays.count(kind)
    }

    /// Subscribes to changes (2026-07-28) and waits until the server has acknowledged. The server leaves out what it does not have:
    /// [`Subscription::honoured`] returns the rest.
    ///
    /// In the legacy era, changes arrive as [`Client::notifications`]: changes of lists without a request, changes of a resource after a
    /// [`Subscribe`](crate::schema::methods::Subscribe) request. The [guide](crate::guide::prompts_and_resources#updates) shows both.
    ///
    /// # Errors
    /// [`LocalError::Unavailable`] in the legacy era; otherwise those of any request.
    pub async fn listen(&self, filter: SubscriptionFilter) -> Result<Subscription, ClientError> {
        if self.revision().era() == Era::Legacy {
            return Err(LocalError::Unavailable("`subscriptions/listen`", self.revision()).into());
        }
        let asked = filter.clone();
        let params = SubscriptionsListenRequestParams::new(RequestMetaObject::new(), filter);
        let gate = &self.inner.link.gate;
        let call = ClientCall::of(Method::SubscriptionsListen, self.revision());
        gate.let_out(&call, self.revision(), &params)?;
        let limit = self.inner.options.timeout;
        self.inner.link.room(limit).await?;
        let id = self.inner.link.new_id();
        let method = Method::SubscriptionsListen.as_str();
        let stamp = self.inner.introduction.alone();
        let message = ToServer::request(&id, method, |out| stamp.write(&params, out))?;
        // Before the request leaves, so that no notification is missed.
        let notified = self.inner.link.subscribe(&id);
        let cancelled = Abandoned::Cancelled;
        let pending = self
            .inner
            .link
            .request(id, message, None, None, cancelled)?;
        let acknowledged = tokio::time::timeout(
            limit,
            Subscription::acknowledged(self.clone(), pending, notified, asked),
        )
        .await;
        acknowledged.unwrap_or_else(|_| {
            let timeout = RequestTimeout::new(method, limit, timeout::OF_CLIENT);
            Err(LocalError::TimedOut(Box::new(timeout)).into())
        })
    }

    /// Sends `line` as it is, with a line end. For tests of what no client should send.
    ///
    /// # Errors
    /// [`LocalError::Closed`] when the connection is closed.
    pub fn send_raw(&self, line: impl Into<Vec<u8>>) -> Result<(), ClientError> {
        self.inner.link.send(ToServer::raw(line.into()))
    }

    /// The next message from the server that does not answer a typed request, as it was written; `None` when the connection
    /// is closed. A batch comes as one. The last 1,024 are kept, and 8 MiB of them.
    pub async fn next_message(&self) -> Option<String> {
        self.inner.link.next_unclaimed().await
    }

    /// Signals to the server that nothing more will be sent. Answers still come.
    pub fn close_sending(&self) {
        self.inner.link.close_sending();
    }

    /// Ends the connection, and waits until the server has sent its last responses and closed its side. A child process gets the times
    /// that its `ServerCommand` sets, and has ended when this returns.
    pub async fn close(self) {
        self.inner.link.close_sending();
        #[cfg(feature = "client-process")]
        if let Some(process) = &self.inner.process {
            process.close().await;
        }
        if let Some(reading) = self.inner.reading.take() {
            // It ends with the stream, whatever became of it.
            let _ = reading.await;
        }
    }

    /// The answer `text` to a request of `method`, as the revision allows it.
    fn received<T: Conform + serde::de::DeserializeOwned>(
        &self,
        method: &str,
        text: &Json,
    ) -> Result<T, ClientError> {
        let gate = &self.inner.link.gate;
        Ok(gate.result(method, self.revision(), text)?)
    }

    fn handler(&self) -> &dyn ClientHandler {
        &*self.inner.options.handler
    }
}

impl methods::MethodSender for Client {
    type Request<M: methods::AnyRequest> = Request<M>;
    type Sent = Result<(), ClientError>;

    fn send_request<M: methods::AnyRequest>(&self, params: M::Params) -> Request<M> {
        self.request(params)
    }

    fn send_notification<N: methods::AnyNotification>(
        &self,
        params: &N::Params,
    ) -> Result<(), ClientError> {
        self.notify::<N>(params)
    }
}

impl Inner {
    async fn connect(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        options: ClientOptions,
        wire: Arc<Wire>,
    ) -> Result<Self, ClientError> {
        options.check()?;
        let (link, reading) = Link::start(reader, writer, &options, wire);
        Self::settled(link, reading, options).await
    }

    /// Settles the revision of a connection, which `reading` reads.
    async fn settled(
        link: Arc<Link>,
        reading: JoinHandle<()>,
        options: ClientOptions,
    ) -> Result<Self, ClientError> {
        // It ends if this future is dropped.
        let reading = EndedWithOwner::new(link.clone(), reading);
        let server = handshake::negotiate(&link, &options).await?;
        Ok(Self::with(link, reading, options, server))
    }

    /// A connection whose revision is settled.
    fn with(
        link: Arc<Link>,
        reading: EndedWithOwner,
        options: ClientOptions,
        server: ServerFacts,
    ) -> Self {
        Self {
            introduction: Introduction::new(&options, server.revision),
            link,
            cache: options.cache.map(Cache::new),
            options,
            server,
            catalog: Catalog::default(),
            reading,
            #[cfg(feature = "client-process")]
            process: None,
            #[cfg(any(feature = "client-http", all(feature = "http", feature = "testing")))]
            http: None,
        }
    }
}

impl EndedWithOwner {
    fn new(link: Arc<Link>, reading: JoinHandle<()>) -> Self {
        Self(link, Mutex::new(Some(reading)))
    }

    /// The task that reads, to be waited for.
    fn take(&self) -> Option<JoinHandle<()>> {
        self.1.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for EndedWithOwner {
    fn drop(&mut self) {
        self.0.close();
        if let Some(reading) = self.take() {
            reading.abort();
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.inner.server)
            .finish_non_exhaustive()
    }
}
