//! A typed client: what servers are tested with.
//!
//! [`Server::connect`](crate::Server::connect) makes one that talks to a server in the same process, over the same bytes
//! that standard input and output would carry; [`Client::over`] takes any byte stream, such as the pipes of a child process.
//! It speaks both eras and finds out which by itself.
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

mod call;
mod completion;
mod error;
mod gate;
mod handler;
mod handshake;
mod in_process;
mod link;
mod listing;
mod mailbox;
mod notified;
mod options;
mod request;
mod served;
mod server_requests;
mod sink;
mod subscription;

use std::{
    fmt,
    future::Future,
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
    gate::ClientCall,
    handshake::ServerFacts,
    link::{Link, ServerAnswer},
    request::RequestOptions,
};

use crate::gate::ToServer;

pub use self::{
    call::{PromptCall, Repeatable, RepeatableCall, ResourceCall, ToolCall},
    completion::CompletionCall,
    error::{ClientError, LocalError},
    handler::{Answering, ClientHandler},
    notified::{Notifications, Notified},
    options::{ClientOptions, Negotiation},
    request::Request,
    subscription::Subscription,
};

/// A connection to a server. Clones share it; it is closed when the last one is dropped.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    link: Arc<Link>,
    options: ClientOptions,
    server: ServerFacts,
    reading: Mutex<Option<JoinHandle<()>>>,
}

impl Client {
    /// Connects over a byte stream: one JSON-RPC message a line, as on standard input and output.
    ///
    /// # Errors
    /// [`ClientError`] if the two sides find no common revision, or the stream ends first.
    ///
    /// ```no_run
    /// use std::process::Stdio;
    /// use trueform::client::{Client, ClientOptions};
    ///
    /// # async fn connect() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut child = tokio::process::Command::new("my-server")
    ///     .stdin(Stdio::piped())
    ///     .stdout(Stdio::piped())
    ///     .kill_on_drop(true)
    ///     .spawn()?;
    /// let (Some(stdout), Some(stdin)) = (child.stdout.take(), child.stdin.take()) else { unreachable!("both are piped") };
    /// let client = Client::over(stdout, stdin, ClientOptions::new()).await?;
    /// println!("{} tools", client.list_tools().await?.len());
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
        let (link, reading) = Link::start(reader, writer, &options);
        match handshake::negotiate(&link, &options).await {
            Ok(server) => Ok(Self {
                inner: Arc::new(Inner {
                    link,
                    options,
                    server,
                    reading: Mutex::new(Some(reading)),
                }),
            }),
            Err(error) => {
                link.close_sending();
                reading.abort();
                Err(error)
            }
        }
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

    /// Any request, by its method.
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

    /// Sends a notification.
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

    /// Subscribes to changes (2026-07-28) and waits until the server has acknowledged.
    ///
    /// # Errors
    /// [`LocalError::Unavailable`] in the legacy era, where changes come unasked as [`Client::notifications`]; otherwise those
    /// of any request.
    pub async fn listen(&self, filter: SubscriptionFilter) -> Result<Subscription, ClientError> {
        if self.revision().era() == Era::Legacy {
            return Err(LocalError::Unavailable("`subscriptions/listen`", self.revision()).into());
        }
        let asked = filter.clone();
        let params = SubscriptionsListenRequestParams::new(RequestMetaObject::new(), filter);
        let gate = &self.inner.link.gate;
        let call = ClientCall::of(Method::SubscriptionsListen, self.revision());
        gate.let_out(&call, self.revision(), &params)?;
        let params = request::stamped(&params, self.revision(), &self.inner.options, None, None)?;
        let id = self.inner.link.new_id();
        // Before the request leaves, so that no notification is missed.
        let notified = self.inner.link.subscribe(&id);
        let pending = self.inner.link.request(
            id,
            Method::SubscriptionsListen.as_str(),
            Some(&params),
            None,
            true,
        )?;
        let limit = self.inner.options.timeout;
        let acknowledged = tokio::time::timeout(
            limit,
            Subscription::acknowledged(self.clone(), pending, notified, asked),
        )
        .await;
        acknowledged.unwrap_or_else(|_| Err(LocalError::TimedOut(limit).into()))
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

    /// Ends the connection and waits until the server has answered what it will and closed its side.
    pub async fn close(self) {
        self.inner.link.close_sending();
        let reading = self
            .inner
            .reading
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(reading) = reading {
            // It ends with the stream, whatever became of it.
            let _ = reading.await;
        }
    }

    /// Sends a request; what it returns completes with the raw result.
    fn send(
        &self,
        call: &ClientCall,
        params: &dyn Conform,
        mut plan: RequestOptions,
    ) -> Result<impl Future<Output = ServerAnswer> + use<>, ClientError> {
        let Inner { link, options, .. } = &*self.inner;
        link.gate.let_out(call, self.revision(), params)?;
        let id = link.new_id();
        let wants_progress = plan.on_progress.is_some() || options.reset_by_progress;
        let token = wants_progress.then_some(&id);
        let params = match options.negotiation {
            Negotiation::Nothing => At::new(params, self.revision()).to_json(),
            _ => request::stamped(
                params,
                self.revision(),
                options,
                token,
                plan.log_level.as_ref(),
            )?,
        };
        let pending = link.request(
            id.clone(),
            call.method,
            Some(&params),
            plan.on_progress.take(),
            true,
        )?;
        let longest = options.reset_by_progress.then_some(options.longest);
        Ok(request::wait(
            pending,
            plan.timeout.unwrap_or(options.timeout),
            longest,
        ))
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

impl Drop for Inner {
    fn drop(&mut self) {
        self.link.close();
        let reading = self
            .reading
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(reading) = reading {
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
