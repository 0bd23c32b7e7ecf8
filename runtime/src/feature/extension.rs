//! Extensions: methods that the core does not have. Authors write their handlers on top of generated bindings.

mod result;
mod without_methods;

use std::{collections::HashMap, fmt, sync::Arc};

use serde_json::value::RawValue;
use tracing::Span;
use trueform_schema::{
    ClientCapabilities, Conform, Era, ErrorObject, JsonObject, Map, Revision, ServerCapabilities,
    methods::{Decoded, Methods, Response, Rules},
};

use self::result::Amended;
use super::{
    Room,
    call::{Conditions, run},
    callable::{Callable, Failure, Step},
    failure::ToolError,
    job::{Called, Completion, Job, Pool},
    undeclared,
};
use crate::{
    contained::{Panic, guarded, panic_text},
    exchange::{Context, Exchange},
    gate::{self, Inbound, Outgoing},
    jsonrpc::{self, ErrorDetail},
    needs::{self, Undeclared, declares_extension},
};

/// The methods of one extension, served with a [`Context`].
pub(crate) type Served = Arc<dyn Methods<Context>>;

/// The extensions of a server.
#[derive(Default)]
pub(crate) struct Extensions {
    served: Vec<RegisteredExtension>,
    /// The index of the extension that has a method.
    by_method: HashMap<&'static str, usize>,
}

/// One extension.
#[derive(Clone)]
pub(crate) struct RegisteredExtension {
    identifier: &'static str,
    methods: Served,
    /// What the server says about the extension in its capabilities.
    settings: JsonObject,
}

impl RegisteredExtension {
    /// Creates the extension that `methods` serve.
    ///
    /// # Errors
    /// The methods belong to the core.
    pub(crate) fn new(methods: Served, settings: JsonObject) -> Result<Self, String> {
        match methods.identifier() {
            Some(identifier) => Ok(Self {
                identifier,
                methods,
                settings,
            }),
            None => Err(
                "`Server::extension` takes the methods of an extension, and these are the core's"
                    .to_owned(),
            ),
        }
    }
}

/// The input of a request of an extension.
pub(crate) struct ExtensionParams<'a> {
    pub(crate) params: Option<&'a RawValue>,
    /// What the client declared; `None` if it declared nothing readable.
    pub(crate) declared: Option<&'a ClientCapabilities>,
    /// The error in the `_meta`, if there is one.
    pub(crate) fault: Option<ErrorObject>,
}

impl Extensions {
    /// Builds the extensions of `registered`. All their problems are appended to `problems`.
    pub(crate) fn build(registered: Vec<RegisteredExtension>, problems: &mut Vec<String>) -> Self {
        let mut this = Self::default();
        for extension in registered {
            let identifier = extension.identifier;
            // C-14
            if !gate::is_extension_identifier(identifier) {
                problems.push(format!(
                    "`{identifier}` cannot be the identifier of an extension: it has a prefix of dotted labels, a slash and a name, such as `com.example/notes`"
                ));
            }
            if this
                .served
                .iter()
                .any(|other| other.identifier == identifier)
            {
                problems.push(format!("the extension `{identifier}` was registered twice"));
                continue;
            }
            let index = this.served.len();
            for &method in extension.methods.names() {
                if trueform_schema::Method::from_wire(method).is_some_and(|core| {
                    Revision::ALL.iter().any(|at| {
                        core.rules(*at).is_some() && extension.methods.rules(method, *at).is_some()
                    })
                }) {
                    problems.push(format!(
                        "the extension `{identifier}` has the method `{method}` at a revision whose core has it too"
                    ));
                }
                if let Some(other) = this.by_method.insert(method, index) {
                    let other = this.served[other].identifier;
                    problems.push(format!(
                        "the extensions `{other}` and `{identifier}` both have the method `{method}`"
                    ));
                }
            }
            this.served.push(extension);
        }
        this
    }

    /// Returns the extension that has `method` at `revision`, and its facts about the method.
    fn find(
        &self,
        method: &str,
        revision: Revision,
    ) -> Option<(&RegisteredExtension, &'static Rules)> {
        let extension = &self.served[*self.by_method.get(method)?];
        let rules = extension.methods.rules(method, revision)?;
        Some((extension, rules))
    }

    /// Returns the member of the params of `method` that HTTP repeats in a header.
    pub(crate) fn header_name(&self, method: &str, revision: Revision) -> Option<&'static str> {
        self.find(method, revision)?.1.header_name
    }

    /// Decodes and checks a request of an extension. `None` if no extension has `method` at `revision`.
    ///
    /// # Errors
    /// -32601 if only the server sends it, -32021 or -32602 if the client did not declare the extension, -32602 for params
    /// that the revision does not allow.
    pub(crate) fn request(
        &self,
        method: &str,
        revision: Revision,
        sent: ExtensionParams<'_>,
        incoming: Inbound,
    ) -> Option<Result<ExtensionRequest, ErrorObject>> {
        let (extension, rules) = self.find(method, revision)?;
        Some(extension.request(method, rules, revision, sent, incoming))
    }

    /// Decodes and checks a notification of an extension. `None` if no extension has `method` at `revision`. `declared` are the client's
    /// capabilities, if they are known: a notification outside of a session does not contain them.
    ///
    /// # Errors
    /// Why it is dropped.
    pub(crate) fn notification(
        &self,
        method: &str,
        revision: Revision,
        params: Option<&RawValue>,
        declared: Option<&ClientCapabilities>,
        incoming: Inbound,
    ) -> Option<Result<Notification, ErrorObject>> {
        let (extension, _) = self.find(method, revision)?;
        if declared.is_some_and(|declared| !extension.is_open_to(declared)) {
            return Some(Err(extension.undeclared(revision)));
        }
        let text = params.map(RawValue::get);
        let name = extension.name_of(method);
        Some(authored(name, || {
            let decode = |text: Option<&str>| {
                let methods = extension.methods.clone();
                methods.notification(revision, method, text)
            };
            let (decoded, shorter) = read(method, revision, text, incoming, decode)?;
            let text = shorter.as_deref().or(text);
            incoming.check_decoded(decoded.params(), method, revision, text)?;
            Ok(Notification {
                method: name,
                decoded,
            })
        }))
    }
}

impl Room for Extensions {
    // C-14, GAP-12
    fn declare(&self, revision: Revision, capabilities: &mut ServerCapabilities) {
        let mut declared = Map::new();
        for extension in &self.served {
            if extension.exists_at(revision) {
                declared.insert(extension.identifier, extension.settings.clone());
            }
        }
        if !declared.is_empty() {
            capabilities.extensions = Some(declared);
        }
    }
}

impl RegisteredExtension {
    /// Returns whether the bindings have a method at `revision`. An extension without methods exists at every one.
    fn exists_at(&self, revision: Revision) -> bool {
        let names = self.methods.names();
        names.is_empty()
            || names
                .iter()
                .any(|method| self.methods.rules(method, revision).is_some())
    }

    /// Returns whether a client with the capabilities `declared` is served: it declared the extension, or does not have to.
    fn is_open_to(&self, declared: &ClientCapabilities) -> bool {
        !self.methods.client_declares()
            || declares_extension(declared.extensions.as_ref(), self.identifier)
    }

    /// Returns the error for a client of `revision` that did not declare the extension (C-14).
    #[cold]
    fn undeclared(&self, revision: Revision) -> ErrorObject {
        undeclared(revision.era(), Undeclared::extension(self.identifier))
    }

    fn request(
        &self,
        method: &str,
        rules: &Rules,
        revision: Revision,
        sent: ExtensionParams<'_>,
        incoming: Inbound,
    ) -> Result<ExtensionRequest, ErrorObject> {
        if !needs::is_request_of_client(rules) {
            return Err(jsonrpc::not_a_request_of_client(method));
        }
        let ExtensionParams {
            params,
            declared,
            fault,
        } = sent;
        // The capability is checked before the `_meta` (GAP-2), if it can be read.
        let is_open = match self.methods.client_declares() {
            true => declared.map(|declared| self.is_open_to(declared)),
            false => Some(true),
        };
        match (is_open, fault) {
            (Some(true) | None, Some(fault)) => return Err(fault),
            (Some(true), None) => {}
            (Some(false) | None, _) => return Err(self.undeclared(revision)),
        }
        let text = params.map(RawValue::get);
        let name = self.name_of(method);
        authored(name, || {
            let decode = |text: Option<&str>| self.methods.clone().request(revision, method, text);
            let (decoded, shorter) = read(method, revision, text, incoming, decode)?;
            let text = shorter.as_deref().or(text);
            incoming.check_decoded(decoded.params(), method, revision, text)?;
            Ok(ExtensionRequest {
                method: name,
                identifier: self.identifier,
                decoded,
            })
        })
    }

    /// Returns `method` as the `'static` name of the binding.
    fn name_of(&self, method: &str) -> &'static str {
        let mut names = self.methods.names().iter();
        let name = names.find(|name| **name == method);
        name.copied().unwrap_or(self.identifier)
    }
}

/// Runs `decode`, which decodes a message of `method` with the extension's code. A panic in that code is logged, and becomes -32603.
fn authored<T>(
    method: &'static str,
    decode: impl FnOnce() -> Result<T, ErrorObject>,
) -> Result<T, ErrorObject> {
    guarded(decode).unwrap_or_else(|panic| {
        let panic = panic_text(&*panic);
        tracing::error!(
            method,
            panic,
            "an extension panicked at the decoding of a message"
        );
        Err(jsonrpc::internal("internal error"))
    })
}

/// Decodes the params of a message of `method` with `decode`. Also returns the params if they were changed before they were read.
fn read<T>(
    method: &str,
    revision: Revision,
    text: Option<&str>,
    incoming: Inbound,
    decode: impl Fn(Option<&str>) -> Result<T, trueform_schema::DecodeError>,
) -> Result<(T, Option<String>), ErrorObject> {
    let read = match text {
        Some(text) => incoming.decode(text, "/params", method, revision, |text| decode(Some(text))),
        None => decode(None)
            .map(|decoded| (decoded, None))
            .map_err(|error| ErrorDetail::of_decoding(&error, "/params")),
    };
    read.map_err(|fault| jsonrpc::params_error(method, &fault))
}

/// A request that its extension can be called with.
pub(crate) struct ExtensionRequest {
    pub(crate) method: &'static str,
    identifier: &'static str,
    decoded: Decoded<Context, Response>,
}

impl ExtensionRequest {
    /// Calls the handler for `exchange`.
    pub(crate) fn call(self, exchange: Arc<Exchange>, conditions: &Conditions<'_>) -> Called {
        let callee = Arc::new(Callee {
            method: self.method,
            identifier: self.identifier,
        });
        run(&callee, Context(exchange), self.decoded, conditions)
    }
}

/// A method of an extension, as something that can be called.
struct Callee {
    method: &'static str,
    identifier: &'static str,
}

/// A result whose `_meta` the handler can extend.
struct Output(Box<dyn Conform + Send>);

impl Callable for Callee {
    type Params = Decoded<Context, Response>;
    type Output = Output;

    fn name(&self) -> &str {
        self.method
    }

    fn place(&self) -> &dyn fmt::Display {
        &self.identifier
    }

    fn call(
        self: &Arc<Self>,
        cx: &Context,
        decoded: Decoded<Context, Response>,
    ) -> Step<Result<Output, ToolError>> {
        let answered = decoded.call(cx.clone());
        Step::Later(Box::pin(async move {
            answered.await.map(Output).map_err(ToolError::protocol)
        }))
    }

    fn respond(
        &self,
        cx: &Context,
        outcome: Result<Output, ToolError>,
    ) -> Result<Outgoing, ErrorObject> {
        let output = outcome.map_err(|error| self.error(error))?;
        let exchange = &cx.0;
        let meta = exchange.take_result_meta();
        if meta.is_none() && exchange.revision().era() == Era::Legacy {
            return exchange.result(self.method, &*output.0);
        }
        let result = Amended::new(&*output.0, meta, exchange.view(), self.method)?;
        exchange.result(self.method, &result)
    }
}

/// A notification that its extension can be called with.
pub(crate) struct Notification {
    pub(crate) method: &'static str,
    decoded: Decoded<Context, ()>,
}

impl Notification {
    /// Begins the handler's work for the notification.
    pub(crate) fn begin(self, exchange: Arc<Exchange>) -> Box<dyn Job> {
        let called = guarded(|| self.decoded.call(Context(exchange.clone())));
        Box::new(Noting {
            noted: called.map_err(|panic| log_panic(self.method, &panic)).ok(),
            exchange,
            span: Span::current(),
        })
    }
}

/// A handler that processes a notification.
struct Noting {
    /// `None` if the handler panicked before it had a future.
    noted: Option<trueform_schema::methods::BoxFuture<'static, ()>>,
    exchange: Arc<Exchange>,
    span: Span,
}

impl Job for Noting {
    fn exchange(&self) -> &Arc<Exchange> {
        &self.exchange
    }

    fn poll(&mut self, cx: &mut std::task::Context<'_>, _: Pool) -> std::task::Poll<Completion> {
        let _entered = self.span.enter();
        match &mut self.noted {
            Some(noted) => noted.as_mut().poll(cx).map(|()| Completion::Returned),
            None => std::task::Poll::Ready(Completion::Returned),
        }
    }

    fn conclude(self: Box<Self>, done: Completion) -> Option<Outgoing> {
        // It has no time limit, and no layers.
        if let Completion::Failed(Failure::Panicked(panic)) = done {
            log_panic(self.exchange.method, &panic);
        }
        None
    }
}

/// What is left of the handler may panic when it is dropped.
impl Drop for Noting {
    fn drop(&mut self) {
        let noted = self.noted.take();
        let _entered = self.span.enter();
        if let Err(panic) = guarded(move || drop(noted)) {
            log_panic(self.exchange.method, &panic);
        }
    }
}

fn log_panic(method: &str, panic: &Panic) {
    let panic = panic_text(&**panic);
    tracing::error!(method, panic, "the handler of a notification panicked");
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let identifiers = self.served.iter().map(|extension| extension.identifier);
        f.debug_list().entries(identifiers).finish()
    }
}

impl fmt::Debug for RegisteredExtension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Extension").field(&self.identifier).finish()
    }
}
