//! What the client lets in: the server's requests, notifications and results, judged by the revision and by what the client
//! declared.

use std::sync::atomic::Ordering;

use serde_json::{Value, value::RawValue};
use trueform_schema::{
    Conform, DecodeError, ErrorObject, Json, Map, Method, Revision, ServerNotification,
    ServerRequest, View, decode, ext::tasks,
};

use super::ClientGate;
use crate::{
    gate::{self, Policy},
    jsonrpc::{self, ErrorDetail},
    needs::{RequiredCapabilities, capability_of, declares},
};

impl ClientGate {
    /// Whether several messages may come in one.
    ///
    /// # Errors
    /// Why each of them is refused.
    // A-10
    pub(in crate::client) fn lets_in_batches(&self) -> Result<(), ErrorObject> {
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

    /// A notification of the server, decoded, and the params as they are to be seen. `Raw` if it passes although it is not one
    /// of the core: it belongs to an extension, or the policy lets it pass. Of extensions only that of tasks is known here, and
    /// judged.
    ///
    /// # Errors
    /// It is dropped.
    pub(in crate::client) fn notification(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<(Passed<ServerNotification>, Option<Json>), Nonconforming> {
        let sent = || as_sent(params);
        let (known, revision) = match self.judged(method, params, ServerNotification::decode) {
            Ok(judged) => judged,
            Err(passed) => return Ok((passed, sent())),
        };
        let problem = if is_of_tasks(known, revision) {
            let decode = tasks::ServerNotification::decode;
            match self.inbound.message(known, revision, params, decode) {
                Ok((_, shorter)) => return Ok((Passed::Raw, shorter.map_or_else(sent, read_as))),
                Err(error) => error.message,
            }
        } else if !from_server(known, revision) {
            format!("no server sends it at {revision}")
        } else if !known.is_notification() {
            "it is a request, and has no `id`".to_owned()
        } else {
            let decode = ServerNotification::decode;
            match self.inbound.message(known, revision, params, decode) {
                Ok((notification, shorter)) => {
                    let params = shorter.map_or_else(sent, read_as);
                    return Ok((Passed::Decoded(notification), params));
                }
                Err(error) => error.message,
            }
        };
        let dropped = self.inbound.policy == Policy::Enforce;
        let problem = &*jsonrpc::sentence(&problem);
        tracing::warn!(
            method,
            problem,
            dropped,
            "a notification that its revision does not allow"
        );
        match dropped {
            true => Err(Nonconforming),
            false => Ok((Passed::Raw, sent())),
        }
    }

    /// The result `text` of `method`, as `revision` allows it.
    ///
    /// # Errors
    /// What is wrong with it; the log has the text, without its strings and numbers.
    pub(in crate::client) fn result<T: Conform + for<'de> serde::Deserialize<'de>>(
        &self,
        method: &str,
        revision: Revision,
        text: &Json,
    ) -> Result<T, DecodeError> {
        self.result_by(method, revision, text, |text| decode::from_str(text))
    }

    /// As [`result`](Self::result), decoded by `decode`.
    ///
    /// # Errors
    /// As [`result`](Self::result).
    pub(in crate::client) fn result_by<T: Conform>(
        &self,
        method: &str,
        revision: Revision,
        text: &Json,
        decode: fn(&str) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let result = self.inbound.result_by(method, revision, text.get(), decode);
        if let Err(error) = &result {
            log_nonconforming_result(method, error, text);
        }
        result
    }

    /// From now on the server's requests are answered: `initialize` is about to be sent.
    pub(in crate::client) fn enter_legacy_era(&self) {
        self.is_legacy.store(true, Ordering::Relaxed);
    }

    /// From now on they are not: `initialize` was refused.
    pub(in crate::client) fn leave_legacy_era(&self) {
        self.is_legacy.store(false, Ordering::Relaxed);
    }

    /// Whether requests of the server are answered at all: in the modern era a client sends no responses, and before either
    /// handshake a server of the legacy era has nothing to ask.
    // E-3
    pub(in crate::client) fn answers(&self) -> bool {
        self.is_legacy.load(Ordering::Relaxed)
    }

    /// A request of the server, decoded, and the params as the handler is to see them.
    ///
    /// # Errors
    /// The error that answers it.
    pub(in crate::client) fn question(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<(Passed<ServerRequest>, Option<Json>), ErrorObject> {
        let sent = || as_sent(params);
        let (known, revision) = match self.judged(method, params, ServerRequest::decode) {
            Ok(judged) => judged,
            Err(passed) => return Ok((passed, sent())),
        };
        let problem = if known.is_notification() {
            jsonrpc::method_not_found(method, "is a notification, which has no `id`")
        } else if !from_server(known, revision) {
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
            match self.inbound.message(known, revision, params, decode) {
                Ok((request, shorter)) => {
                    let params = shorter.map_or_else(sent, read_as);
                    self.check_question(known, params.as_ref())
                        .map_err(|fault| fault.into_invalid_params(method))?;
                    let params = match self.without_task(known, revision, params.as_ref()) {
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
            "a request that its revision does not allow"
        );
        match self.inbound.policy {
            Policy::Warn => Ok((Passed::Raw, sent())),
            _ => Err(problem),
        }
    }

    /// The method and the revision by which a message is judged.
    ///
    /// # Errors
    /// Nothing judges it: it belongs to an extension, it came before the handshake, or the author wants no message judged. The
    /// client uses it as far as it can be decoded.
    fn judged<T>(
        &self,
        method: &str,
        params: Option<&RawValue>,
        decode: impl FnOnce(Revision, Method, Option<&str>) -> Result<T, DecodeError>,
    ) -> Result<(Method, Revision), Passed<T>> {
        let known = Method::from_wire(method).ok_or(Passed::Raw)?;
        let revision = self.revision();
        if let Some(revision) = revision.filter(|_| self.inbound.policy != Policy::Off) {
            return Ok((known, revision));
        }
        let revision = revision.unwrap_or(Revision::LATEST_LEGACY);
        let text = params.map_or("{}", RawValue::get);
        Err(decode(revision, known, Some(text)).map_or(Passed::Raw, Passed::Decoded))
    }

    /// The params without `task`, if they ask for a task that this client did not declare. Such a `task` is ignored.
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

    /// Holds a question of the server to the rules that its schema does not state.
    ///
    /// # Errors
    /// The fault, if the policy refuses such questions.
    // Q-4, Q-5
    pub(in crate::client) fn check_question(
        &self,
        method: Method,
        params: Option<&Json>,
    ) -> Result<(), gate::QuestionFault> {
        if self.inbound.policy == Policy::Off {
            return Ok(());
        }
        let Err(fault) = gate::check_question(method, params.map_or("{}", Json::get)) else {
            return Ok(());
        };
        let refused = self.inbound.policy == Policy::Enforce;
        let problem = fault.to_string();
        let problem = &*jsonrpc::sentence(&problem);
        tracing::warn!(%method, problem, refused, "a question that the specification does not allow");
        match refused {
            true => Err(fault),
            false => Ok(()),
        }
    }

    /// What a question within a result needs and this client did not declare, if that keeps it from being answered.
    pub(in crate::client) fn withheld(
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

/// The params as they came. Null counts as absent (DEC-6).
fn as_sent(params: Option<&RawValue>) -> Option<Json> {
    let params = params.filter(|params| params.get() != "null")?;
    Some(Json::from(params.to_owned()))
}

/// The params `text`, which were read in another way than they were written.
fn read_as(text: String) -> Option<Json> {
    Json::from_text(text).ok()
}

/// A message that passed.
pub(in crate::client) enum Passed<T> {
    Decoded(T),
    Raw,
}

/// A message that does not pass. The log has the reason.
pub(in crate::client) struct Nonconforming;

/// Logs a result that is refused, as the message that it was part of.
pub(in crate::client) fn log_nonconforming_result(method: &str, error: &DecodeError, text: &Json) {
    // What decoding says may repeat what was found.
    let fault = ErrorDetail::of_decoding(error, "");
    tracing::warn!(
        %method,
        pointer = &*jsonrpc::shortened(&fault.pointer),
        rule = fault.rule,
        expected = &*fault.expected,
        found = &*fault.found,
        "a result that its revision does not allow"
    );
    gate::log_raw(format!(r#"{{"result":{}}}"#, text.get()).as_bytes());
}

/// Whether `method` is a notification that the extension `io.modelcontextprotocol/tasks` has at `revision`.
fn is_of_tasks(method: Method, revision: Revision) -> bool {
    tasks::ServerNotification::has(method) && tasks::rules(method, revision).is_some()
}

fn from_server(method: Method, revision: Revision) -> bool {
    let rules = method.rules(revision);
    rules.is_some_and(|rules| rules.direction.from_server())
}
