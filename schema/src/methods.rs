//! Methods: marker types that tie name, params and result together, and the rules of each revision for them.
//!
//! The markers and the table are generated; this file holds their traits and types.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use serde::de::DeserializeOwned;

use crate::{Conform, DecodeError, ErrorObject, InputRequiredResult, Method, Revision};

#[doc(inline)]
pub use crate::generated::markers::*;

/// A request: a wrong pair of method, params and result does not compile.
///
/// ```
/// use trueform_schema::{CallToolRequestParams, Method, methods::{CallTool, Request}};
///
/// fn params_of<R: Request>(_: R::Params) -> Method { R::METHOD }
/// assert_eq!(params_of::<CallTool>(CallToolRequestParams::new("add")), Method::CallTool);
/// ```
pub trait Request: 'static {
    /// The method.
    const METHOD: Method;
    /// Its params.
    type Params: Conform + DeserializeOwned + Send + Sync + 'static;
    /// Its result; an outcome enum if there are several.
    type Result: Conform + DeserializeOwned + Send + 'static;
    /// The identifier of the extension that it belongs to; `None` for the core.
    const EXTENSION: Option<&'static str> = None;

    /// Returns the rules of `revision` for the method; `None` if the revision does not have it.
    #[must_use]
    fn rules(revision: Revision) -> Option<&'static Rules> {
        Self::METHOD.rules(revision)
    }
}

/// A notification.
pub trait Notification: 'static {
    /// The method.
    const METHOD: Method;
    /// Its params.
    type Params: Conform + DeserializeOwned + Send + Sync + 'static;
    /// The identifier of the extension that it belongs to; `None` for the core.
    const EXTENSION: Option<&'static str> = None;

    /// Returns the rules of `revision` for the method; `None` if the revision does not have it.
    #[must_use]
    fn rules(revision: Revision) -> Option<&'static Rules> {
        Self::METHOD.rules(revision)
    }
}

/// A request that may be answered with questions to the client.
pub trait MayAsk: Request {
    /// Returns the result that asks `questions`.
    fn input_required(questions: InputRequiredResult) -> Self::Result;
}

/// A request of any binding: of this crate, or of an extension that another crate generated.
///
/// ```
/// use trueform_schema::{Revision, ext::tasks, methods::{AnyRequest, CallTool}};
///
/// fn name<R: AnyRequest>() -> (&'static str, Option<&'static str>) {
///     (R::METHOD, R::EXTENSION)
/// }
/// assert_eq!(name::<CallTool>(), ("tools/call", None));
/// assert_eq!(name::<tasks::methods::GetTask>(), ("tasks/get", Some(tasks::IDENTIFIER)));
/// ```
pub trait AnyRequest: 'static {
    /// The method on the wire.
    const METHOD: &'static str;
    /// The identifier of the extension that it belongs to; `None` for the core.
    const EXTENSION: Option<&'static str>;
    /// Its params.
    type Params: Conform + DeserializeOwned + Send + Sync + 'static;
    /// Its result; an outcome enum if there are several.
    type Result: Conform + DeserializeOwned + Send + 'static;

    /// Returns the rules of its binding for the method at `revision`; `None` if the method does not exist there.
    #[must_use]
    fn rules(revision: Revision) -> Option<&'static Rules>;
}

impl<R: Request> AnyRequest for R {
    const METHOD: &'static str = <R as Request>::METHOD.as_str();
    const EXTENSION: Option<&'static str> = <R as Request>::EXTENSION;
    type Params = <R as Request>::Params;
    type Result = <R as Request>::Result;

    fn rules(revision: Revision) -> Option<&'static Rules> {
        <R as Request>::rules(revision)
    }
}

/// A notification of any binding: of this crate, or of an extension that another crate generated.
pub trait AnyNotification: 'static {
    /// The method on the wire.
    const METHOD: &'static str;
    /// The identifier of the extension that it belongs to; `None` for the core.
    const EXTENSION: Option<&'static str>;
    /// Its params.
    type Params: Conform + DeserializeOwned + Send + Sync + 'static;

    /// Returns the rules of its binding for the method at `revision`; `None` if the method does not exist there.
    #[must_use]
    fn rules(revision: Revision) -> Option<&'static Rules>;
}

impl<N: Notification> AnyNotification for N {
    const METHOD: &'static str = <N as Notification>::METHOD.as_str();
    const EXTENSION: Option<&'static str> = <N as Notification>::EXTENSION;
    type Params = <N as Notification>::Params;

    fn rules(revision: Revision) -> Option<&'static Rules> {
        <N as Notification>::rules(revision)
    }
}

/// Sends the messages of a client. Every binding generates a trait `ClientMethods` on top of it, with one function per message.
///
/// ```
/// use trueform_schema::{ClientMethods, PaginatedRequestParams, methods::{AnyNotification, AnyRequest, MethodSender}};
///
/// /// Writes down which methods are used.
/// struct Names;
///
/// impl MethodSender for Names {
///     type Request<M: AnyRequest> = &'static str;
///     type Sent = &'static str;
///
///     fn send_request<M: AnyRequest>(&self, _: M::Params) -> &'static str {
///         M::METHOD
///     }
///
///     fn send_notification<N: AnyNotification>(&self, _: &N::Params) -> &'static str {
///         N::METHOD
///     }
/// }
///
/// assert_eq!(Names.tools_list(PaginatedRequestParams::default()), "tools/list");
/// ```
pub trait MethodSender {
    /// A request that is about to be sent.
    type Request<M: AnyRequest>;
    /// The result of sending a notification.
    type Sent;

    /// Sends a request of the method `M`.
    fn send_request<M: AnyRequest>(&self, params: M::Params) -> Self::Request<M>;

    /// Sends a notification of the method `N`.
    fn send_notification<N: AnyNotification>(&self, params: &N::Params) -> Self::Sent;
}

/// A boxed future that borrows nothing.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A handler's response to a request.
pub type Response = Result<Box<dyn Conform + Send>, ErrorObject>;

/// The methods of a binding that one side serves, for an engine that does not know the binding's types.
///
/// Every binding generates an adapter, `handler::Server` for the server and `handler::Client` for the client, that serves an
/// implementation of the side's handler trait. `Cx` is what the engine passes to every call.
pub trait Methods<Cx>: Send + Sync {
    /// Returns the identifier to declare in `capabilities.extensions`; `None` for the core, which is not declared there.
    fn identifier(&self) -> Option<&'static str>;

    /// Returns whether a client declares the extension, and is served only if it did. Some extensions define nothing for clients to
    /// declare.
    fn client_declares(&self) -> bool {
        true
    }

    /// Returns every method of the binding, in both directions.
    fn names(&self) -> &'static [&'static str];

    /// Returns the rules of the binding for `method` at `revision`; `None` if the method does not exist there.
    fn rules(&self, method: &str, revision: Revision) -> Option<&'static Rules>;

    /// Decodes a request. The returned message contains the params to check and calls the handler.
    ///
    /// # Errors
    /// The params do not have the form of the method's type, or the other side does not send `method` at `revision`. The pointer
    /// is relative to the params.
    fn request(
        self: Arc<Self>,
        revision: Revision,
        method: &str,
        params: Option<&str>,
    ) -> Result<Decoded<Cx, Response>, DecodeError>;

    /// Decodes a notification. The returned message contains the params to check and calls the handler.
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    fn notification(
        self: Arc<Self>,
        revision: Revision,
        method: &str,
        params: Option<&str>,
    ) -> Result<Decoded<Cx, ()>, DecodeError>;
}

/// A message that was decoded for a handler and has not been passed to it yet.
pub struct Decoded<Cx, T>(Box<dyn Call<Cx, T>>);

impl<Cx: 'static, T: 'static> Decoded<Cx, T> {
    /// Pairs `message` with `handler`; `call` passes it on.
    #[must_use]
    pub fn new<H, M>(
        handler: Arc<H>,
        message: M,
        call: fn(Arc<H>, Cx, M) -> BoxFuture<'static, T>,
    ) -> Self
    where
        H: Send + Sync + 'static,
        M: Conform + Send + 'static,
    {
        Self(Box::new(Bound {
            handler,
            message,
            call,
        }))
    }
}

impl<Cx, T> Decoded<Cx, T> {
    /// Returns the params, to check with [`conform`](crate::conform()) before the call.
    #[must_use]
    pub fn params(&self) -> &dyn Conform {
        self.0.params()
    }

    /// Calls the function of the handler. The future borrows nothing.
    #[must_use]
    pub fn call(self, cx: Cx) -> BoxFuture<'static, T> {
        self.0.call(cx)
    }
}

impl<Cx, T> fmt::Debug for Decoded<Cx, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoded").finish_non_exhaustive()
    }
}

/// A message and its handler, without their types.
trait Call<Cx, T>: Send {
    fn params(&self) -> &dyn Conform;
    fn call(self: Box<Self>, cx: Cx) -> BoxFuture<'static, T>;
}

struct Bound<H, M, Cx, T> {
    handler: Arc<H>,
    message: M,
    call: fn(Arc<H>, Cx, M) -> BoxFuture<'static, T>,
}

impl<H: Send + Sync, M: Conform + Send, Cx, T> Call<Cx, T> for Bound<H, M, Cx, T> {
    fn params(&self) -> &dyn Conform {
        &self.message
    }

    fn call(self: Box<Self>, cx: Cx) -> BoxFuture<'static, T> {
        (self.call)(self.handler, cx, self.message)
    }
}

/// Writes the name on the wire, such as `tools/call`.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who sends a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The client.
    ClientToServer,
    /// The server.
    ServerToClient,
    /// Either side.
    Both,
}

impl Direction {
    /// Returns whether the client may send it.
    #[must_use]
    pub const fn from_client(self) -> bool {
        matches!(self, Self::ClientToServer | Self::Both)
    }

    /// Returns whether the server may send it.
    #[must_use]
    pub const fn from_server(self) -> bool {
        matches!(self, Self::ServerToClient | Self::Both)
    }
}

/// The rules of one revision for one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// Who sends it.
    pub direction: Direction,
    /// The capability that the receiver of a request, or the sender of a notification, must have declared: `tools`,
    /// `resources.subscribe`.
    pub capability: Option<&'static str>,
    /// The member of `params` that HTTP mirrors in the `Mcp-Name` header.
    pub header_name: Option<&'static str>,
    /// Whether the result may be a request for input.
    pub input_required: bool,
    /// Whether `params` must be present.
    pub params_required: bool,
    /// The definitions of the possible results; empty for notifications.
    pub results: &'static [&'static str],
}
