//! The one place every message of a client passes, on its way out and in: the other side of the server's gate.
//!
//! Until the revision is settled only what has to be decoded to settle it is looked at. Methods that no revision knows belong
//! to extensions and pass, as raw JSON.

use std::{
    ops::ControlFlow,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, value::RawValue};
use trueform_schema::{
    At, ClientCapabilities, Conform, DecodeError, Era, ErrorObject, Json, Map, Method, RequestId,
    Revision, ServerCapabilities, ServerNotification, ServerRequest, View, Violation,
    conform::{Path, Rule, Walk},
    decode,
    methods::{AnyNotification, AnyRequest, Direction, Rules},
};

use super::{
    ClientOptions, Negotiation,
    error::{ClientError, LocalError},
};
use crate::{
    gate::{self, Inbound, Outgoing, Policy, Stage},
    jsonrpc::{self, ErrorDetail},
    needs::{RequiredCapabilities, capability_of, declares, has_tasks},
};

/// The server's capability that a tool can be called as a task (2025-11-25).
// W-1
const TASKS_OF_TOOLS: &str = "tasks.requests.tools.call";

/// What the gate has to know of a method to let a request or a notification of it out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) method: &'static str,
    /// `None` if the revision does not have it.
    rules: Option<&'static Rules>,
    is_notification: bool,
    extension: Option<&'static str>,
}

impl Call {
    /// A method of the core at `revision`.
    pub(super) fn of(method: Method, revision: Revision) -> Self {
        Self {
            method: method.as_str(),
            rules: method.rules(revision),
            is_notification: method.is_notification(),
            extension: None,
        }
    }

    pub(super) fn of_request<M: AnyRequest>(revision: Revision) -> Self {
        Self {
            method: M::METHOD,
            rules: M::rules(revision),
            is_notification: false,
            extension: M::EXTENSION,
        }
    }

    pub(super) fn of_notification<N: AnyNotification>(revision: Revision) -> Self {
        Self {
            method: N::METHOD,
            rules: N::rules(revision),
            is_notification: true,
            extension: N::EXTENSION,
        }
    }
}

/// What a client lets out and in.
#[derive(Debug)]
pub(super) struct ClientGate {
    pub(super) inbound: Inbound,
    outgoing: Policy,
    capabilities: ClientCapabilities,
    revision: OnceLock<Revision>,
    /// What the server declared it can do.
    declared: OnceLock<Value>,
    is_legacy: AtomicBool,
}

impl ClientGate {
    pub(super) fn new(options: &ClientOptions) -> Self {
        // Who writes every message by hand is not held up.
        let writes_all = options.negotiation == Negotiation::Nothing;
        Self {
            inbound: options.incoming,
            outgoing: if writes_all {
                Policy::Off
            } else {
                options.outgoing
            },
            capabilities: options.capabilities.clone(),
            revision: OnceLock::new(),
            declared: OnceLock::new(),
            is_legacy: AtomicBool::new(false),
        }
    }

    /// From now on everything is held to `revision`, and to what the server declared.
    pub(super) fn settle(&self, revision: Revision, declared: &ServerCapabilities) {
        // It is settled once, by the handshake.
        let _ = self.revision.set(revision);
        let _ = self
            .declared
            .set(At::new(declared, revision).to_json().to_value());
    }

    /// The revision, once it is settled.
    pub(super) fn revision(&self) -> Option<Revision> {
        self.revision.get().copied()
    }

    /// Params of a request or a notification, which are about to leave. What `_meta` lacks is stamped on the way.
    ///
    /// # Errors
    /// [`LocalError::Unavailable`] for a method that clients do not send at `revision`, [`LocalError::NotDeclared`] for one whose
    /// capability the server did not declare, [`LocalError::NotAllowed`] for params that the revision does not allow.
    pub(super) fn let_out(
        &self,
        call: &Call,
        revision: Revision,
        params: &dyn Conform,
    ) -> Result<(), ClientError> {
        if self.outgoing == Policy::Off {
            return Ok(());
        }
        let Call { method, rules, .. } = *call;
        if !rules.is_some_and(|rules| rules.direction != Direction::ServerToClient) {
            if self.outgoing == Policy::Enforce {
                return Err(LocalError::Unavailable(method, revision).into());
            }
            tracing::warn!(%method, %revision, "a method that clients do not send at this revision");
            return Ok(());
        }
        // B-8
        let capability = rules
            .filter(|rules| rules.direction == Direction::ClientToServer && !call.is_notification)
            .and_then(|rules| rules.capability);
        if let Some(capability) = capability.filter(|capability| !self.offers(capability)) {
            if self.outgoing == Policy::Enforce {
                return Err(LocalError::NotDeclared(capability).into());
            }
            tracing::warn!(
                method,
                capability,
                "a method whose capability the server did not declare"
            );
        }
        // C-14
        if let Some(extension) = call.extension.filter(|name| !self.offers_extension(name)) {
            if self.outgoing == Policy::Enforce {
                return Err(LocalError::NotDeclared(extension).into());
            }
            tracing::warn!(
                %method,
                extension,
                "a method of an extension that the server did not declare"
            );
        }
        if asks_for_task(method, revision, params) && !self.offers(TASKS_OF_TOOLS) {
            if self.outgoing == Policy::Enforce {
                return Err(LocalError::NotDeclared(TASKS_OF_TOOLS).into());
            }
            tracing::warn!(
                method,
                capability = TASKS_OF_TOOLS,
                "a task, which the server did not declare"
            );
        }
        let mut first = None;
        let mut sink = |violation: Violation| {
            let is_stamped =
                *violation.rule() == Rule::Missing && violation.pointer().starts_with("/_meta");
            if is_stamped {
                return ControlFlow::Continue(());
            }
            first = Some(violation);
            ControlFlow::Break(())
        };
        let _ = params.conform(&mut Walk::new(revision, &mut sink), &Path::ROOT);
        match first {
            Some(violation) if gate::holds_back(self.outgoing, &violation, method) => {
                Err(LocalError::NotAllowed(format!("`{method}`: {violation}")).into())
            }
            _ => Ok(()),
        }
    }

    /// What the client says of itself in the `_meta` of all requests of the modern era.
    ///
    /// # Errors
    /// [`LocalError::NotAllowed`] for what the revision does not allow.
    pub(super) fn let_introduction_out(
        &self,
        what: &str,
        revision: Revision,
        value: &dyn Conform,
    ) -> Result<(), ClientError> {
        match trueform_schema::conform(value, revision) {
            Err(violation)
                if self.outgoing != Policy::Off
                    && gate::holds_back(self.outgoing, &violation, what) =>
            {
                Err(LocalError::NotAllowed(format!("`{what}`: {violation}")).into())
            }
            _ => Ok(()),
        }
    }

    /// Whether the server declared `capability`. Before the handshake nothing is known of it.
    fn offers(&self, capability: &str) -> bool {
        let Some(declared) = self.declared.get() else {
            return true;
        };
        declares(declared, capability)
    }

    /// Whether the server declared the extension `identifier`. Before the handshake nothing is known of it.
    fn offers_extension(&self, identifier: &str) -> bool {
        let declared = self.declared.get();
        declared.is_none_or(|declared| {
            let extensions = declared.get("extensions");
            extensions.is_some_and(|extensions| extensions.get(identifier).is_some())
        })
    }

    /// The response to the server's `method` with what the handler answers, as the revision has it. What it does not allow is
    /// answered with -32603, and the log has the rest.
    pub(super) fn let_answer_out(
        &self,
        id: &RequestId,
        method: &str,
        answer: Result<Json, ErrorObject>,
    ) -> Outgoing {
        let (method, revision) = match (Method::from_wire(method), self.revision.get()) {
            (Some(method), Some(revision)) if self.outgoing != Policy::Off => (method, *revision),
            _ => return Outgoing::unchecked_response(id, &answer),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return Outgoing::failure(id, revision, error),
        };
        let problem = match ServerRequest::decode_result(method, answer.get()) {
            Ok(result) => {
                // What the revision does not know is left out here as everywhere.
                let view = View::at(revision);
                return Outgoing::result(id, view, self.outgoing, method.as_str(), &*result)
                    .unwrap_or_else(|error| Outgoing::failure(id, revision, error));
            }
            Err(error) => error,
        };
        tracing::error!(
            %method,
            pointer = &*jsonrpc::shortened(problem.pointer()),
            rule = problem.rule(),
            "an answer does not have the form of the method's result"
        );
        if self.outgoing == Policy::Warn {
            return Outgoing::unchecked_response(id, &Ok(answer));
        }
        let problem = "the answer does not have the form of the method's result";
        Outgoing::failure(id, revision, jsonrpc::internal(problem))
    }

    /// The error that answers the server's request `id`.
    pub(super) fn refusal(&self, id: &RequestId, error: &ErrorObject) -> Outgoing {
        let revision = self.revision.get().copied();
        Outgoing::refusal(Some(id), revision, Stage::Call(Era::Legacy), error)
    }

    /// Whether several messages may come in one.
    ///
    /// # Errors
    /// Why each of them is refused.
    // A-10
    pub(super) fn lets_in_batches(&self) -> Result<(), ErrorObject> {
        let revision = match self.revision.get() {
            None => return Ok(()),
            Some(revision) if gate::has_batches(*revision) => return Ok(()),
            Some(revision) => revision,
        };
        let refused = self.inbound.policy == Policy::Enforce;
        if self.inbound.policy != Policy::Off {
            tracing::warn!(%revision, refused, "the server sent a batch, which its revision does not have");
        }
        if !refused {
            return Ok(());
        }
        Err(jsonrpc::invalid_request(
            format!("revision {revision} has no batches"),
            &ErrorDetail::new("", "batch", "one message", "an array of messages"),
        ))
    }

    /// A notification of the server, decoded, and the params as they are to be seen. `Raw` if it passes although it is not
    /// decoded: it belongs to an extension, or the policy lets it pass.
    ///
    /// # Errors
    /// It is not to be heard of.
    pub(super) fn notification(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<(Passed<ServerNotification>, Option<Json>), Unfit> {
        let sent = || as_sent(params);
        let Some(known) = Method::from_wire(method) else {
            return Ok((Passed::Raw, sent()));
        };
        let Some(revision) = self
            .revision
            .get()
            .filter(|_| self.inbound.policy != Policy::Off)
        else {
            return Ok((
                self.unjudged(known, params, ServerNotification::decode),
                sent(),
            ));
        };
        let problem = match from_server(known, *revision) {
            false => format!("no server sends it at {revision}"),
            true if !known.is_notification() => "it is a request, and has no `id`".to_owned(),
            true => {
                let decode = ServerNotification::decode;
                match self.inbound.message(known, *revision, params, decode) {
                    Ok((notification, shorter)) => {
                        let params = shorter.map_or_else(sent, read_as);
                        return Ok((Passed::Decoded(notification), params));
                    }
                    Err(error) => error.message,
                }
            }
        };
        let dropped = self.inbound.policy == Policy::Enforce;
        let problem = &*jsonrpc::sentence(&problem);
        tracing::warn!(method, problem, dropped, "an unfit notification");
        match dropped {
            true => Err(Unfit),
            false => Ok((Passed::Raw, sent())),
        }
    }

    /// The result `text` of `method`, as `revision` allows it.
    ///
    /// # Errors
    /// What is wrong with it; the log has the text, what it says left out.
    pub(super) fn result<T: Conform + for<'de> serde::Deserialize<'de>>(
        &self,
        method: &str,
        revision: Revision,
        text: &Json,
    ) -> Result<T, DecodeError> {
        let result = self.inbound.result(method, revision, text.get());
        if let Err(error) = &result {
            log_unfit_result(method, error, text);
        }
        result
    }

    /// From now on the server's requests are answered: `initialize` is about to be sent.
    pub(super) fn enter_legacy_era(&self) {
        self.is_legacy.store(true, Ordering::Relaxed);
    }

    /// Whether requests of the server are answered at all: in the modern era a client sends no responses, and before either
    /// handshake a server of the legacy era has nothing to ask.
    // E-3
    pub(super) fn answers(&self) -> bool {
        self.is_legacy.load(Ordering::Relaxed)
    }

    /// A request of the server, decoded, and the params as the handler is to see them.
    ///
    /// # Errors
    /// The error that answers it.
    pub(super) fn question(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<(Passed<ServerRequest>, Option<Json>), ErrorObject> {
        let sent = || as_sent(params);
        let Some(known) = Method::from_wire(method) else {
            return Ok((Passed::Raw, sent()));
        };
        let Some(revision) = self
            .revision
            .get()
            .filter(|_| self.inbound.policy != Policy::Off)
        else {
            return Ok((self.unjudged(known, params, ServerRequest::decode), sent()));
        };
        let problem = if known.is_notification() {
            jsonrpc::method_not_found(method, "is a notification, which has no `id`")
        } else if !from_server(known, *revision) {
            jsonrpc::method_not_found(method, &format!("is not sent by a server at {revision}"))
        } else if let Some(missing) = self.undeclared(known, params) {
            let why = format!("needs {missing}, which this client did not declare");
            match self.declares_some_of(known) {
                false => jsonrpc::method_not_found(method, &why),
                // R-2
                true => jsonrpc::invalid_params(
                    format!("`{method}` {why}"),
                    &ErrorDetail::new("/params", "capability", "what this client declared", "more"),
                ),
            }
        } else {
            let decode = ServerRequest::decode;
            match self.inbound.message(known, *revision, params, decode) {
                Ok((request, shorter)) => {
                    let params = shorter.map_or_else(sent, read_as);
                    let params = match self.without_task(known, *revision, params.as_ref()) {
                        None => params,
                        shorter => shorter,
                    };
                    return Ok((Passed::Decoded(request), params));
                }
                Err(error) => error,
            }
        };
        tracing::warn!(
            method,
            code = problem.code,
            problem = &*problem.message,
            "an unfit request"
        );
        match self.inbound.policy {
            Policy::Warn => Ok((Passed::Raw, sent())),
            _ => Err(problem),
        }
    }

    /// A message that nothing judges: before the handshake, or because the author wants none judged. The client takes it as what it
    /// is, as far as it can be decoded.
    fn unjudged<T>(
        &self,
        method: Method,
        params: Option<&RawValue>,
        decode: impl FnOnce(Revision, Method, Option<&str>) -> Result<T, DecodeError>,
    ) -> Passed<T> {
        let revision = self.revision().unwrap_or(Revision::LATEST_LEGACY);
        let text = params.map_or("{}", RawValue::get);
        decode(revision, method, Some(text)).map_or(Passed::Raw, Passed::Decoded)
    }

    /// The params without `task`, if they ask for one that this client did not declare: then it is as if it were not there.
    // W-3
    fn without_task(
        &self,
        method: Method,
        revision: Revision,
        params: Option<&Json>,
    ) -> Option<Json> {
        let params = params?;
        let needs = RequiredCapabilities::of_task(method, revision, params.get());
        let missing = needs.missing_from(&self.capabilities);
        if missing.is_empty() {
            return None;
        }
        let left_out = self.inbound.policy == Policy::Enforce;
        tracing::warn!(%method, %missing, left_out, "the server asks for a task, which this client did not declare");
        if !left_out {
            return None;
        }
        let mut members: Map<Json> = decode::from_str(params.get()).ok()?;
        members.remove("task");
        Json::from_value(&members).ok()
    }

    /// Whether the client declared that it can be asked `method`, if not everything of it.
    fn declares_some_of(&self, method: Method) -> bool {
        let declared = || gate::shown(&self.capabilities, View::ALL);
        capability_of(method).is_some_and(|capability| declares(&declared(), capability))
    }

    /// What `method` needs with these params and this client did not declare. The same in every revision: in the newest the
    /// server asks within a result.
    // B-8
    fn undeclared(
        &self,
        method: Method,
        params: Option<&RawValue>,
    ) -> Option<RequiredCapabilities> {
        let params = params.map_or("{}", RawValue::get);
        let missing =
            RequiredCapabilities::of_request(method, params).missing_from(&self.capabilities);
        (!missing.is_empty()).then_some(missing)
    }

    /// What a question within a result needs and this client did not declare, if that keeps it from being answered.
    pub(super) fn withheld(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Option<RequiredCapabilities> {
        let missing = self.undeclared(Method::from_wire(method)?, params)?;
        let withheld = self.inbound.policy == Policy::Enforce;
        if self.inbound.policy != Policy::Off {
            tracing::warn!(method, %missing, withheld, "the server asks for what this client did not declare");
        }
        if withheld {
            let params = params.map_or("{}", RawValue::get);
            gate::log_raw(
                format!(r#"{{"method":{},"params":{params}}}"#, Value::from(method)).as_bytes(),
            );
        }
        withheld.then_some(missing)
    }
}

/// The params as they came. Null stands for none (DEC-6).
fn as_sent(params: Option<&RawValue>) -> Option<Json> {
    let params = params.filter(|params| params.get() != "null")?;
    Some(Json::from(params.to_owned()))
}

/// The params `text`, which were read in another way than they were written.
fn read_as(text: String) -> Option<Json> {
    Json::from_text(text).ok()
}

/// A message that passed.
pub(super) enum Passed<T> {
    Decoded(T),
    Raw,
}

/// A message that does not pass. The log has the reason.
pub(super) struct Unfit;

/// Logs a result that is refused, as the message that it was part of.
pub(super) fn log_unfit_result(method: &str, error: &DecodeError, text: &Json) {
    // What decoding says may repeat what was found.
    let fault = ErrorDetail::of_decoding(error, "");
    tracing::warn!(
        %method,
        pointer = &*jsonrpc::shortened(&fault.pointer),
        rule = fault.rule,
        expected = &*fault.expected,
        found = &*fault.found,
        "an unfit result"
    );
    gate::log_raw(format!(r#"{{"result":{}}}"#, text.get()).as_bytes());
}

/// Whether a call that is about to leave asks for a task, at a revision that has them.
fn asks_for_task(method: &str, revision: Revision, params: &dyn Conform) -> bool {
    #[derive(Deserialize)]
    struct Asked {
        #[serde(default)]
        task: Option<IgnoredAny>,
    }
    let called = Method::from_wire(method).filter(|method| *method == Method::CallTool);
    if !called.is_some_and(|method| has_tasks(method, revision)) {
        return false;
    }
    let params = At::new(params, revision).to_json();
    params
        .parse::<Asked>()
        .is_ok_and(|asked| asked.task.is_some())
}

fn from_server(method: Method, revision: Revision) -> bool {
    let rules = method.rules(revision);
    rules.is_some_and(|rules| rules.direction.from_server())
}
