//! The rules for requests: time, sender, id and revision.

use serde_json::Value;
use trueform_schema::{ClientCapabilities, Era, Method, RequestId, Revision, ext::tasks};

use super::{
    Report,
    listening::OpenListens,
    meta as metadata,
    reading::{self, MessageText},
    shape,
    traffic::{DueAnswers, Handshake, Sending, SentRequests, Traffic, declares},
};
use crate::{jsonrpc::code, needs::RequiredCapabilities, testing::Side};

/// Key of the protocol version in `_meta`.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Key of the client's capabilities in `_meta`.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Key of the least severe log message asked for in `_meta`.
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The levels of log messages, least severe first.
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// Returns the severity of the level `name`.
pub(super) fn severity_of(name: Option<&Value>) -> Option<usize> {
    let name = name?.as_str()?;
    LEVELS.iter().position(|level| *level == name)
}

/// Returns the value at `key` in the `_meta` of params or a result.
pub(super) fn meta<'a>(holder: &'a Value, key: &str) -> Option<&'a Value> {
    holder.get("_meta")?.get(key)
}

/// Returns a request id or progress token in a JSON tree.
pub(super) fn id_in(value: &Value) -> Option<RequestId> {
    RequestId::from_json(&value.to_string()).ok()
}

/// Returns the capabilities that `method` with these params needs and that a client did not declare. Malformed capabilities are reported
/// elsewhere.
pub(super) fn undeclared_needs(
    method: Method,
    params: &Value,
    capabilities: Option<&Value>,
) -> Option<RequiredCapabilities> {
    let capabilities = match capabilities {
        Some(capabilities) => serde_json::from_value(capabilities.clone()).ok()?,
        None => ClientCapabilities::default(),
    };
    let missing =
        RequiredCapabilities::of_request(method, &params.to_string()).missing_from(&capabilities);
    (!missing.is_empty()).then_some(missing)
}

/// Returns the requirements that `missing` falls under: tools for sampling, modes of elicitation, or anything else.
pub(super) fn requirements_of_needs(
    missing: RequiredCapabilities,
    tools: &'static [&'static str],
    modes: &'static [&'static str],
    others: &'static [&'static str],
) -> &'static [&'static str] {
    match missing {
        RequiredCapabilities::SAMPLING_TOOLS => tools,
        RequiredCapabilities::ELICITATION | RequiredCapabilities::ELICITATION_URL => modes,
        _ => others,
    }
}

impl Traffic {
    pub(super) fn request(
        &mut self,
        report: &mut Report<'_>,
        id: &RequestId,
        method: &str,
        raw: Option<&str>,
        is_extended: bool,
    ) {
        let from = report.now.from;
        let (params, text) = reading::read(report, "params", raw);
        let known = Method::from_wire(method);
        //
        let is_notification = known.is_some_and(Method::is_notification);
        if is_notification {
            report.error(
                &["A-8"],
                format!("`{method}` is a notification and must not have an id"),
            );
        }
        let mut sending = Sending {
            line: report.now.line,
            revision: None,
            method: method.to_owned(),
            known,
            token: meta(&params, "progressToken").and_then(id_in),
            level: severity_of(meta(&params, LEVEL)),
            params,
            stream: report.now.stream.clone(),
            last_progress: f64::NEG_INFINITY,
            due: DueAnswers::Anything,
            is_extended,
            cancelled: None,
            answered: false,
            listening: None,
            task: None,
        };
        if is_notification {
            // A message with an id may be answered with an error for the unknown request.
            self.sent(from).requests.insert((None, id.clone()), sending);
            return;
        }
        let fits = match from {
            Side::Server => self.server_request(report, &mut sending),
            Side::Client => self.client_request(report, id, &mut sending, &text),
        };
        self.check_token(report, &sending);
        self.check_id(report, id, &sending);
        if let (true, Some(revision), Some(known)) = (fits, sending.revision, known) {
            shape::params(report, revision, known, &text);
        }
        if let Some(revision) = sending.revision {
            metadata::check_keys(report, revision, "params", &sending.params);
        }
        // A request without a session, or with the id of another running request, gets its response on its own stream, if at all.
        let is_elsewhere = self.legacy.is_none() || sending.is_modern();
        let is_taken = |sent: &SentRequests| {
            let other = sent.requests.get(&(None, id.clone()));
            other.is_some_and(Sending::is_open)
        };
        let is_scoped = report.now.checker.http && (is_elsewhere || is_taken(self.sent(from)));
        let key = (sending.stream.clone().filter(|_| is_scoped), id.clone());
        self.sent(from).requests.insert(key, sending);
    }

    /// Returns whether the params may be checked.
    fn client_request(
        &mut self,
        report: &mut Report<'_>,
        id: &RequestId,
        sending: &mut Sending,
        text: &MessageText<'_>,
    ) -> bool {
        let version = meta(&sending.params, VERSION).cloned();
        let is_ping = sending.known == Some(Method::Ping);
        // Without a version, it may belong to the session, if there is one. A ping needs neither.
        let is_modern =
            self.legacy.is_none() && !is_ping && meta(&sending.params, CAPABILITIES).is_some();
        if version.is_some() || is_modern {
            return self.modern_request(report, id, sending, version.as_ref());
        }
        if sending.method == "initialize" {
            return self.initialize(report, id, sending, text);
        }
        match &self.legacy {
            None if is_ping => return false,
            None if self.modern => {
                sending.due =
                    DueAnswers::Error(&[code::INVALID_PARAMS, code::HEADER_MISMATCH], &["C-2"]);
                report.error(
                    &["C-1"],
                    format!("`{}` has no protocol version in `_meta`", sending.method),
                );
                return false;
            }
            None => {
                report.error(&["B-1"], format!("`{}` before `initialize`, and without `_meta` that names a protocol version", sending.method));
                return false;
            }
            Some(handshake) if !handshake.answered && !is_ping => {
                report.warning(
                    &["B-6"],
                    format!("`{}` before the answer to `initialize`", sending.method),
                );
            }
            Some(handshake) if handshake.answered && !handshake.initialized && !is_ping => {
                report.error(
                    &["B-5"],
                    format!("`{}` before `notifications/initialized`", sending.method),
                );
            }
            Some(_) => {}
        }
        sending.revision = self.session();
        self.legacy_method(report, sending)
    }

    fn initialize(
        &mut self,
        report: &mut Report<'_>,
        id: &RequestId,
        sending: &mut Sending,
        raw: &MessageText<'_>,
    ) -> bool {
        if self.legacy.is_some() {
            report.error(&["B-1"], "`initialize` is sent twice");
            return false;
        }
        let text = |pointer: &str| {
            sending
                .params
                .pointer(pointer)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let requested = text("/protocolVersion").unwrap_or_default();
        let capabilities = sending
            .params
            .get("capabilities")
            .cloned()
            .unwrap_or_default();
        if requested.is_empty()
            || !capabilities.is_object()
            || text("/clientInfo/name").is_none()
            || text("/clientInfo/version").is_none()
        {
            report.error(&["B-1"], "`initialize` must have `protocolVersion`, `capabilities` and `clientInfo` with `name` and `version`");
        } else if let Some(revision) =
            Revision::from_wire(&requested).filter(|revision| revision.era() == Era::Legacy)
        {
            // Parts that the server does not know yet are not faults, because no revision has been agreed on.
            shape::form_of_params(report, revision, Method::Initialize, raw, &["B-1"]);
            metadata::check_keys(report, revision, "params", &sending.params);
        }
        self.legacy = Some(Handshake {
            id: id.clone(),
            requested,
            client_capabilities: capabilities,
            server_capabilities: Value::Null,
            answered: false,
            revision: None,
            initialized: false,
            level: None,
        });
        false
    }

    fn modern_request(
        &mut self,
        report: &mut Report<'_>,
        id: &RequestId,
        sending: &mut Sending,
        version: Option<&Value>,
    ) -> bool {
        self.modern = true;
        sending.revision = Some(Revision::V2026_07_28);
        let mut fits = true;
        for (key, value) in [
            (VERSION, version),
            (CAPABILITIES, meta(&sending.params, CAPABILITIES)),
        ] {
            let is_right = value.is_some_and(|value| {
                if key == VERSION {
                    value.is_string()
                } else {
                    value.is_object()
                }
            });
            if !is_right {
                report.error(&["C-1"], format!("`_meta` lacks `{key}`"));
                sending.due = DueAnswers::Error(
                    &[
                        code::INVALID_PARAMS,
                        code::HEADER_MISMATCH,
                        code::UNSUPPORTED_VERSION,
                    ],
                    &["C-2"],
                );
                fits = false;
            }
        }
        let served = version
            .and_then(Value::as_str)
            .is_none_or(|version| version == Revision::V2026_07_28.as_str());
        if !served {
            // Whether the server knows later revisions is unknown; it must refuse those with a handshake (GAP-3).
            let is_legacy = version
                .and_then(Value::as_str)
                .and_then(Revision::from_wire)
                .is_some();
            if is_legacy && sending.due == DueAnswers::Anything {
                sending.due = DueAnswers::Error(
                    &[code::UNSUPPORTED_VERSION, code::HEADER_MISMATCH],
                    &["C-7"],
                );
            }
            sending.revision = None;
            return false;
        }
        if let Some(known) = sending
            .known
            .filter(|known| known.rules(Revision::V2026_07_28).is_none())
            // Without the methods of the extension.
            .filter(|known| tasks::rules(*known, Revision::V2026_07_28).is_none())
        {
            report.error(&["C-11"], format!("2026-07-28 has no `{}`", known.as_str()));
            if sending.due == DueAnswers::Anything {
                sending.due = DueAnswers::Error(
                    &[code::METHOD_NOT_FOUND, code::HEADER_MISMATCH],
                    &["C-11", "A-9"],
                );
            }
            fits = false;
        }
        self.check_retry(report, id, sending);
        if sending.known == Some(Method::SubscriptionsListen) {
            sending.listening = Some(OpenListens::new(&sending.params));
        }
        fits
    }

    /// T-6, T-7, TRAP-12, TRAP-13
    fn check_retry(&self, report: &mut Report<'_>, id: &RequestId, sending: &Sending) {
        let Some(state) = sending.params.get("requestState").and_then(Value::as_str) else {
            return;
        };
        match self.states.get(state) {
            None => report.error(&["T-6"], "`requestState` was not given out by the server"),
            Some(first) if first == id => report.error(
                &["T-7", "TRAP-13"],
                format!("the retry has the id `{id}` of the first try"),
            ),
            Some(_) => {}
        }
    }

    /// Returns whether the params may be checked.
    fn server_request(&mut self, report: &mut Report<'_>, sending: &mut Sending) -> bool {
        // F-30
        if self.is_stream_of_modern(report) {
            report.error(
                &["A-18", "F-30"],
                format!("`{}` on the stream of a 2026-07-28 request", sending.method),
            );
            return false;
        }
        let is_ping = sending.known == Some(Method::Ping);
        match &self.legacy {
            None if self.modern => {
                report.error(
                    &["A-18"],
                    format!(
                        "`{}`: a server must not send requests at 2026-07-28",
                        sending.method
                    ),
                );
                return false;
            }
            Some(handshake) if handshake.initialized => {}
            _ if is_ping => {}
            _ => report.warning(
                &["B-7"],
                format!("`{}` before `notifications/initialized`", sending.method),
            ),
        }
        sending.revision = self.session();
        self.legacy_method(report, sending)
    }

    /// B-8: whether the session's revision has the method for this side, and its capability was declared.
    fn legacy_method(&self, report: &mut Report<'_>, sending: &mut Sending) -> bool {
        let (Some(handshake), Some(revision), Some(known)) =
            (&self.legacy, sending.revision, sending.known)
        else {
            return false;
        };
        let from = report.now.from;
        let rules = known.rules(revision).filter(|rules| match from {
            Side::Client => rules.direction.from_client(),
            Side::Server => rules.direction.from_server(),
        });
        let Some(rules) = rules else {
            report.error(
                &["B-8"],
                format!("{revision} has no `{}` from the {from}", sending.method),
            );
            sending.due =
                DueAnswers::Error(&[code::METHOD_NOT_FOUND, code::INVALID_REQUEST], &["A-9"]);
            return false;
        };
        let undeclared = rules
            .capability
            .filter(|capability| !handshake.declares(from.peer(), capability));
        if let Some(capability) = undeclared {
            report.error(
                &["B-8"],
                format!(
                    "`{}`, but the {} did not declare `{capability}`",
                    sending.method,
                    from.peer()
                ),
            );
            return false;
        }
        // Older revisions have no parts of these capabilities.
        if from == Side::Server && Revision::V2025_11_25 <= revision {
            let capabilities = &handshake.client_capabilities;
            let missing = undeclared_needs(known, &sending.params, Some(capabilities));
            if let Some(missing) = missing {
                report.error(
                    requirements_of_needs(missing, &["Q-2"], &["R-2"], &["B-8"]),
                    format!(
                        "`{}` needs {missing}, which the client did not declare",
                        sending.method
                    ),
                );
                return false;
            }
        }
        self.check_task_wanted(report, sending);
        true
    }

    ///
    fn check_id(&mut self, report: &mut Report<'_>, id: &RequestId, sending: &Sending) {
        let http = report.now.checker.http;
        let is_modern = sending.is_modern()
            || (sending.revision.is_none() && meta(&sending.params, VERSION).is_some());
        let sent = self.sent(report.now.from);
        let is_open = sent
            .requests
            .get(&(None, id.clone()))
            .is_some_and(Sending::is_open);
        if is_modern {
            if is_open && !http {
                report.error(
                    &["A-4"],
                    format!("the id `{id}` is that of a request without an answer"),
                );
            }
        } else if !sent.legacy_ids.insert(id.clone()) {
            report.error(
                &["A-3"],
                format!("the id `{id}` was used before in this session"),
            );
        } else if is_open {
            report.error(
                &["A-4"],
                format!("the id `{id}` is that of a request without an answer"),
            );
        }
    }

    /// N-1
    fn check_token(&mut self, report: &mut Report<'_>, sending: &Sending) {
        let Some(given) = meta(&sending.params, "progressToken") else {
            return;
        };
        let Some(token) = &sending.token else {
            report.error(
                &["N-1"],
                format!("the progress token {given} is neither a string nor an integer"),
            );
            return;
        };
        let is_scoped = report.now.checker.http && sending.is_modern();
        let SentRequests {
            requests,
            ended_tasks,
            ..
        } = self.sent(report.now.from);
        let works = |other: &Sending| other.is_task_at_work(ended_tasks);
        let taken = requests
            .values()
            .any(|other| other.token.as_ref() == Some(token) && (other.is_open() || works(other)));
        if taken && !is_scoped {
            report.error(&["N-1"], format!("the progress token `{token}` is in use"));
        }
    }

    /// Returns whether the current message is on the stream of a request of the modern era.
    pub(super) fn is_stream_of_modern(&self, report: &Report<'_>) -> bool {
        let stream = &report.now.stream;
        stream.is_some()
            && self
                .client
                .requests
                .values()
                .any(|sending| sending.stream == *stream && sending.is_modern())
    }

    /// Returns whether the server declared `capability` to the peers of this era, as far as known.
    pub(super) fn server_declares(&self, era: Era, capability: &str) -> bool {
        match era {
            Era::Legacy => self
                .legacy
                .as_ref()
                .is_some_and(|handshake| handshake.declares(Side::Server, capability)),
            Era::Modern => self
                .discovered
                .as_ref()
                .is_none_or(|capabilities| declares(capabilities, capability)),
        }
    }
}
