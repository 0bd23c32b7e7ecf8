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
    At, ClientCapabilities, Conform, DecodeError, ErrorObject, Json, Map, Method, Revision,
    ServerCapabilities, ServerNotification, ServerRequest, Violation,
    conform::{Path, Rule, Walk},
    decode,
    methods::Direction,
};

use super::{
    ClientOptions, Negotiation,
    error::{ClientError, LocalError},
};
use crate::{
    gate::{self, Inbound, Policy},
    jsonrpc::{self, Fault},
    needs::ClientNeeds,
};

/// The server's capability that a tool can be called as a task (2025-11-25).
// W-1
const TASKS_OF_TOOLS: &str = "tasks.requests.tools.call";

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

    /// Params of a request or a notification, which are about to leave. What `_meta` lacks is stamped on the way.
    ///
    /// # Errors
    /// [`LocalError::Unavailable`] for a method that clients do not send at `revision`, [`LocalError::NotDeclared`] for one whose
    /// capability the server did not declare, [`LocalError::NotAllowed`] for params that the revision does not allow.
    pub(super) fn let_out(
        &self,
        method: Method,
        revision: Revision,
        params: &dyn Conform,
    ) -> Result<(), ClientError> {
        if self.outgoing == Policy::Off {
            return Ok(());
        }
        let rules = method.rules(revision);
        if !rules.is_some_and(|rules| rules.direction != Direction::ServerToClient) {
            if self.outgoing == Policy::Enforce {
                return Err(LocalError::Unavailable(method.as_str(), revision).into());
            }
            tracing::warn!(%method, %revision, "a method that clients do not send at this revision");
            return Ok(());
        }
        // B-8
        let capability = rules
            .filter(|rules| {
                rules.direction == Direction::ClientToServer && !method.is_notification()
            })
            .and_then(|rules| rules.capability);
        if let Some(capability) = capability.filter(|capability| !self.offers(capability)) {
            if self.outgoing == Policy::Enforce {
                return Err(LocalError::NotDeclared(capability).into());
            }
            tracing::warn!(%method, capability, "a method whose capability the server did not declare");
        }
        if asks_for_task(method, revision, params) && !self.offers(TASKS_OF_TOOLS) {
            if self.outgoing == Policy::Enforce {
                return Err(LocalError::NotDeclared(TASKS_OF_TOOLS).into());
            }
            tracing::warn!(%method, capability = TASKS_OF_TOOLS, "a task, which the server did not declare");
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
            Some(violation) if gate::holds_back(self.outgoing, &violation, method.as_str()) => {
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
        let found = capability
            .split('.')
            .try_fold(declared, |value, name| value.get(name));
        found.is_some_and(|value| *value != Value::Bool(false))
    }

    /// What the handler answers to the server's `method`, as the revision has it.
    ///
    /// # Errors
    /// -32603, and the log has the rest.
    pub(super) fn let_answer_out(
        &self,
        method: &str,
        answer: Result<Json, ErrorObject>,
    ) -> Result<Json, ErrorObject> {
        let (Some(method), Some(revision)) = (Method::from_wire(method), self.revision.get())
        else {
            return answer;
        };
        if self.outgoing == Policy::Off {
            return answer;
        }
        let answer = answer.map_err(|error| gate::error_at(error, *revision))?;
        let problem = match ServerRequest::decode_result(method, answer.get()) {
            Ok(result) => {
                gate::check(self.outgoing, &*result, *revision, method.as_str())?;
                // What the revision does not know is left out here as everywhere.
                return Ok(At::new(&*result, *revision).to_json());
            }
            Err(error) => error,
        };
        tracing::error!(
            %method,
            pointer = problem.pointer(),
            rule = problem.rule(),
            "an answer does not have the form of the method's result"
        );
        if self.outgoing == Policy::Warn {
            return Ok(answer);
        }
        let problem = "the answer does not have the form of the method's result";
        Err(jsonrpc::internal(problem))
    }

    /// Whether several messages may come in one.
    ///
    /// # Errors
    /// Why each of them is refused.
    // A-10
    pub(super) fn lets_in_batches(&self) -> Result<(), ErrorObject> {
        let revision = match self.revision.get() {
            None | Some(Revision::V2025_03_26) => return Ok(()),
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
            &Fault::new("", "batch", "one message", "an array of messages"),
        ))
    }

    /// Whether a notification of the server is to be heard of.
    pub(super) fn lets_in(&self, method: &str, params: Option<&RawValue>) -> bool {
        let (Some(known), Some(revision)) = (Method::from_wire(method), self.revision.get()) else {
            return true;
        };
        if self.inbound.policy == Policy::Off {
            return true;
        }
        let problem = match from_server(known, *revision) {
            false => format!("no server sends it at {revision}"),
            true if !known.is_notification() => "it is a request, and has no `id`".to_owned(),
            true => {
                let decode = ServerNotification::decode;
                match self.inbound.message(known, *revision, params, decode) {
                    Ok(_) => return true,
                    Err(error) => error.message,
                }
            }
        };
        let dropped = self.inbound.policy == Policy::Enforce;
        tracing::warn!(method, problem, dropped, "an unfit notification");
        !dropped
    }

    /// The result `text` of `method`, as `revision` allows it.
    ///
    /// # Errors
    /// What is wrong with it; the log has the text, what it says left out.
    pub(super) fn result<T: Conform + for<'de> serde::Deserialize<'de>>(
        &self,
        method: Method,
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

    /// The params of `method`, which the server asks of this client, as whoever answers is to see them.
    ///
    /// # Errors
    /// What it is answered.
    pub(super) fn question(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<Option<Json>, ErrorObject> {
        let sent = || params.map(|params| Json::from(params.to_owned()));
        let (Some(known), Some(revision)) = (Method::from_wire(method), self.revision.get()) else {
            return Ok(sent());
        };
        if self.inbound.policy == Policy::Off {
            return Ok(sent());
        }
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
                    &Fault::new("/params", "capability", "what this client declared", "more"),
                ),
            }
        } else {
            let decode = ServerRequest::decode;
            match self.inbound.message(known, *revision, params, decode) {
                Ok(_) => return Ok(self.without_task(known, *revision, params).or_else(sent)),
                Err(error) => error,
            }
        };
        tracing::warn!(method, code = problem.code, problem = %problem.message, "an unfit request");
        match self.inbound.policy {
            Policy::Warn => Ok(sent()),
            _ => Err(problem),
        }
    }

    /// The params without `task`, if they ask for one that this client did not declare: then it is as if it were not there.
    // W-3
    fn without_task(
        &self,
        method: Method,
        revision: Revision,
        params: Option<&RawValue>,
    ) -> Option<Json> {
        let params = params?;
        let needs = ClientNeeds::of_task(method, revision, params.get());
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
        match method {
            Method::CreateMessage => self.capabilities.sampling.is_some(),
            Method::Elicit => self.capabilities.elicitation.is_some(),
            _ => false,
        }
    }

    /// What `method` needs with these params and this client did not declare. The same in every revision: in the newest the
    /// server asks within a result.
    // B-8
    fn undeclared(&self, method: Method, params: Option<&RawValue>) -> Option<ClientNeeds> {
        let params = params.map_or("{}", RawValue::get);
        let missing = ClientNeeds::of_request(method, params).missing_from(&self.capabilities);
        (!missing.is_empty()).then_some(missing)
    }

    /// What a question within a result needs and this client did not declare, if that keeps it from being answered.
    pub(super) fn withheld(&self, method: &str, params: Option<&RawValue>) -> Option<ClientNeeds> {
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

/// Logs a result that is refused, as the message that it was part of.
pub(super) fn log_unfit_result(method: Method, error: &DecodeError, text: &Json) {
    // What decoding says may repeat what was found.
    let fault = Fault::of_decoding(error, "");
    tracing::warn!(
        %method,
        pointer = &*fault.pointer,
        rule = fault.rule,
        expected = &*fault.expected,
        found = &*fault.found,
        "an unfit result"
    );
    gate::log_raw(format!(r#"{{"result":{}}}"#, text.get()).as_bytes());
}

/// Whether a call that is about to leave asks for a task, which only 2025-11-25 has.
fn asks_for_task(method: Method, revision: Revision, params: &dyn Conform) -> bool {
    #[derive(Deserialize)]
    struct Asked {
        #[serde(default)]
        task: Option<IgnoredAny>,
    }
    if method != Method::CallTool || revision != Revision::V2025_11_25 {
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
