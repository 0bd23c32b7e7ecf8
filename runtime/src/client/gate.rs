//! The one place every message of a client passes, on its way out and in: the other side of the server's gate.
//!
//! Until the revision is settled only what has to be decoded to settle it is looked at. Methods that no revision knows belong
//! to extensions and pass, as raw JSON.

mod inbound;

use std::{
    ops::ControlFlow,
    sync::{OnceLock, atomic::AtomicBool},
};

use serde_json::Value;
use trueform_schema::{
    At, ClientCapabilities, Conform, Era, ErrorObject, Json, JsonObject, Map, Method, RequestId,
    Revision, ServerCapabilities, ServerRequest, View, Violation,
    conform::{Path, Walk},
    methods::{AnyNotification, AnyRequest, Rules},
};

pub(super) use self::inbound::{Nonconforming, Passed, log_nonconforming_result};
use super::{
    ClientOptions, Negotiation,
    error::{ClientError, LocalError},
};
use crate::{
    gate::{self, Inbound, Outgoing, Policy, Stage, ToServer},
    jsonrpc,
    needs::{asks_for_task, declares, declares_extension, has_tasks},
};

/// The server's capability that a tool can be called as a task (2025-11-25).
// W-1
const TASKS_OF_TOOLS: &str = "tasks.requests.tools.call";

/// What the gate has to know of a method to let a request or a notification of it out.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientCall {
    pub(super) method: &'static str,
    /// `None` if the revision does not have it.
    rules: Option<&'static Rules>,
    is_notification: bool,
    extension: Option<&'static str>,
}

impl ClientCall {
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

/// Whether `method` opens a connection of the legacy era.
fn is_of_handshake(method: &str) -> bool {
    [Method::Initialize, Method::Initialized]
        .iter()
        .any(|own| own.as_str() == method)
}

/// What a client lets out and in.
#[derive(Debug)]
pub(super) struct ClientGate {
    pub(super) inbound: Inbound,
    outgoing: Policy,
    capabilities: ClientCapabilities,
    revision: OnceLock<Revision>,
    /// What the server declared it can do.
    declared: OnceLock<Declared>,
    is_legacy: AtomicBool,
}

/// What the server declared it can do, as its revision has it.
#[derive(Debug)]
struct Declared {
    capabilities: Value,
    /// Those of them that a method of the core needs.
    of_methods: Vec<&'static str>,
    extensions: Option<Map<JsonObject>>,
}

impl ClientGate {
    pub(super) fn new(options: &ClientOptions) -> Self {
        // A client that writes every message by hand is not checked.
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
        let capabilities = At::new(declared, revision).to_json().to_value();
        let extensions = declared.extensions.clone();
        let _ = self.declared.set(Declared {
            extensions: extensions.filter(|_| capabilities.get("extensions").is_some()),
            of_methods: Method::ALL
                .into_iter()
                .filter_map(|method| method.rules(revision)?.capability)
                .filter(|capability| declares(&capabilities, capability))
                .collect(),
            capabilities,
        });
    }

    /// The revision, once it is settled.
    pub(super) fn revision(&self) -> Option<Revision> {
        self.revision.get().copied()
    }

    /// Params of a request or a notification, which are about to leave. What `_meta` lacks is stamped on the way.
    ///
    /// # Errors
    /// [`LocalError::Unavailable`] for a method that clients do not send at `revision`, [`LocalError::NotDeclared`] for one whose
    /// capability the server did not declare, [`LocalError::NotAllowed`] for params that the revision does not allow, and for the
    /// handshake of the legacy era once the revision is settled.
    pub(super) fn let_out(
        &self,
        call: &ClientCall,
        revision: Revision,
        params: &dyn Conform,
    ) -> Result<(), ClientError> {
        if self.outgoing == Policy::Off {
            return Ok(());
        }
        let ClientCall { method, rules, .. } = *call;
        if !rules.is_some_and(|rules| rules.direction.from_client()) {
            if self.outgoing == Policy::Enforce {
                return Err(LocalError::Unavailable(method, revision).into());
            }
            tracing::warn!(%method, %revision, "a method that clients do not send at this revision");
            return Ok(());
        }
        // B-1
        if self.revision().is_some() && is_of_handshake(method) {
            if self.outgoing == Policy::Enforce {
                let problem = format!("`{method}`: it belongs to the handshake, which is done");
                return Err(LocalError::NotAllowed(problem).into());
            }
            tracing::warn!(%method, "a message of the handshake, which is done");
        }
        // B-8
        let capability = rules
            .filter(|_| !call.is_notification)
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
        let called = Method::from_wire(method).filter(|method| *method == Method::CallTool);
        let called = called.filter(|method| has_tasks(*method, revision));
        let asks = |method| {
            let params = At::new(params, revision).to_json();
            asks_for_task(method, revision, params.get())
        };
        if called.is_some() && !self.offers(TASKS_OF_TOOLS) && called.is_some_and(asks) {
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
            first = Some(violation);
            ControlFlow::Break(())
        };
        let mut walk = Walk::new(revision, &mut sink).stamped();
        let _ = params.conform(&mut walk, &Path::ROOT);
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
        let declared = self.declared.get();
        declared.is_none_or(|declared| {
            declared.of_methods.contains(&capability)
                || declares(&declared.capabilities, capability)
        })
    }

    /// Whether the server declared the extension `identifier`. Before the handshake nothing is known of it.
    fn offers_extension(&self, identifier: &str) -> bool {
        let declared = self.declared.get();
        declared.is_none_or(|declared| declares_extension(declared.extensions.as_ref(), identifier))
    }

    /// The response to the server's `method` with what the handler answers, as the revision has it. What it does not allow is
    /// answered with -32603, and the log has the rest.
    pub(super) fn let_answer_out(
        &self,
        id: &RequestId,
        method: &str,
        answer: Result<Json, ErrorObject>,
    ) -> ToServer {
        let (method, revision) = match (Method::from_wire(method), self.revision.get()) {
            (Some(method), Some(revision)) if self.outgoing != Policy::Off => (method, *revision),
            _ => return ToServer::response(id, &answer),
        };
        let failed = |error| Outgoing::failure(id, revision, error).into();
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return failed(error),
        };
        let problem = match ServerRequest::decode_result(method, answer.get()) {
            Ok(result) => {
                if let Err(problem) = self.check_answer(method, &answer) {
                    return failed(jsonrpc::internal(format!("the answer: {problem}")));
                }
                // What the revision does not know is left out here as everywhere.
                let view = View::at(revision);
                return Outgoing::result(id, view, self.outgoing, method.as_str(), &*result)
                    .map_or_else(failed, ToServer::from);
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
            return ToServer::response(id, &Ok(answer));
        }
        let problem = "the answer does not have the form of the method's result";
        failed(jsonrpc::internal(problem))
    }

    /// Holds an answer of the handler to the rules that its schema does not state.
    ///
    /// # Errors
    /// It may not leave, and why.
    // S-1
    pub(super) fn check_answer(&self, method: Method, answer: &Json) -> Result<(), String> {
        if self.outgoing == Policy::Off {
            return Ok(());
        }
        let Err(fault) = gate::check_answer(method, answer.get()) else {
            return Ok(());
        };
        let held_back = self.outgoing == Policy::Enforce;
        let fault = fault.to_string();
        tracing::error!(%method, fault = &*jsonrpc::sentence(&fault), held_back, "an answer that the specification does not allow");
        match held_back {
            true => Err(fault),
            false => Ok(()),
        }
    }

    /// The error that answers the server's request `id`.
    pub(super) fn refusal(&self, id: &RequestId, error: &ErrorObject) -> ToServer {
        let revision = self.revision.get().copied();
        Outgoing::refusal(Some(id), revision, Stage::Call(Era::Legacy), error).into()
    }
}
