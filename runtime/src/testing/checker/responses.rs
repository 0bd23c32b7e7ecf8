//! The rules for responses: the matching request, the error, the result.

use serde_json::{Value, value::RawValue};
use trueform_schema::{Era, ErrorObject, Json, Method, RequestId, Revision};

use super::{
    Report, meta as metadata,
    reading::{self, MessageText},
    requests::{id_in, meta, requirements_of_needs, undeclared_needs},
    shape,
    traffic::{DueAnswers, Handshake, Sending, Traffic},
};
use crate::{
    gate::{self, Standing},
    jsonrpc::code,
    testing::Side,
};

/// Key of the server's `Implementation` in the `_meta` of results.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Key of the capabilities of the request's client in its `_meta`.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Key of the subscription in the `_meta` of messages that belong to one.
pub(super) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Returns whether `params` of a ping are valid under every policy.
fn is_plain(params: &Value) -> bool {
    let is_plain_meta = |(name, meta): (&String, &Value)| {
        let meta = meta.as_object().filter(|_| name == "_meta");
        meta.is_some_and(serde_json::Map::is_empty)
    };
    match params {
        Value::Null => true,
        Value::Object(members) => members.iter().all(is_plain_meta),
        _ => false,
    }
}

/// C-7, C-10
fn check_modern_code(report: &mut Report<'_>, error: &ErrorObject) {
    let code = error.code;
    match gate::standing(code, Revision::V2026_07_28) {
        Standing::Free => {}
        Standing::Defined => lacking(report, error, Revision::V2026_07_28),
        Standing::Elsewhere => report.error(
            &["A-15"],
            format!("error {code} does not exist at 2026-07-28"),
        ),
        Standing::Reserved if (-32099..=-32020).contains(&code) => report.error(
            &["A-12"],
            format!("error {code} is reserved for the specification"),
        ),
        Standing::Reserved => report.error(
            &["A-13"],
            format!("error {code} is in the range in which no new codes may be used"),
        ),
    }
}

/// The codes that are reserved today were free before 2026-07-28.
fn check_legacy_code(report: &mut Report<'_>, error: &ErrorObject, revision: Revision) {
    if error.code != code::URL_ELICITATION_REQUIRED {
        return;
    }
    match gate::standing(error.code, revision) {
        Standing::Defined => lacking(report, error, revision),
        _ => report.error(
            &["R-12"],
            format!("error {} does not exist at {revision}", error.code),
        ),
    }
}

/// C-7, C-10, R-12
fn lacking(report: &mut Report<'_>, error: &ErrorObject, revision: Revision) {
    let data = error.data.as_ref().map(Json::get);
    let (_, text) = reading::read(report, "error/data", data.filter(|data| *data != "null"));
    if !text.is_whole() {
        return;
    }
    let Some(promised) = gate::lacking(error, revision) else {
        return;
    };
    let requirements: &[&str] = match error.code {
        code::UNSUPPORTED_VERSION => &["C-7"],
        code::MISSING_CLIENT_CAPABILITY => &["C-10"],
        _ => &["R-12"],
    };
    let message = format!("error {} must have `data` with {promised}", error.code);
    report.error(requirements, message);
}

impl Traffic {
    pub(super) fn response(
        &mut self,
        report: &mut Report<'_>,
        id: &RequestId,
        outcome: &Result<&RawValue, ErrorObject>,
    ) {
        let asker = report.now.from.peer();
        let key = self.key(report, asker, id);
        let code = outcome.as_ref().err().map(|error| error.code);
        // Taken out, so that the rest of the connection can be borrowed; put back below.
        let found = self.sent(asker).requests.remove(&key);
        // GAP-7: the id may belong to a text that is not a message, or to a request that was answered before.
        let is_answered = found.as_ref().is_some_and(|sending| sending.answered);
        if is_answered && self.answers_fault(report, id, code) {
            self.sent(asker)
                .requests
                .extend(found.map(|sending| (key, sending)));
            return;
        }
        let Some(mut sending) = found else {
            let is_refusal = code.is_some() && self.is_answer_to_unread(report);
            if !self.answers_fault(report, id, code) && !is_refusal {
                self.unknown_id(report, id);
            }
            return;
        };
        self.check_pairing(report, id, &mut sending);
        let is_open = |handshake: &Handshake| handshake.id == *id && !handshake.answered;
        let is_handshake =
            sending.method == "initialize" && self.legacy.as_ref().is_some_and(is_open);
        match outcome {
            Err(error) => self.check_error(report, &sending, error),
            Ok(raw) => {
                let (result, text) = reading::read(report, "result", Some(raw.get()));
                self.check_result(report, id, &mut sending, &text, &result);
                if is_handshake {
                    self.negotiated(report, &text, &result);
                }
            }
        }
        if is_handshake && outcome.is_err() {
            // The client may try again.
            self.legacy = None;
        }
        self.sent(asker).requests.insert(key, sending);
    }

    /// A-5, F-30
    fn unknown_id(&mut self, report: &mut Report<'_>, id: &RequestId) {
        let sent = self.sent(report.now.from.peer());
        // Over HTTP, ids of the modern era are looked up only in their own exchange.
        let elsewhere = sent
            .requests
            .keys()
            .any(|(stream, other)| stream.is_some() && other == id);
        if elsewhere {
            report.error(
                &["F-30", "A-5"],
                format!("answers id `{id}` on the stream of another request"),
            );
            return;
        }
        let bare = |id: &RequestId| id.to_string().trim_matches('"').to_owned();
        let similar = sent
            .requests
            .keys()
            .map(|(_, other)| other)
            .find(|other| bare(other) == bare(id));
        let quoted = |id: &RequestId| match id {
            RequestId::Text(text) => Value::from(&**text).to_string(),
            RequestId::Integer(_) | RequestId::Number(_) => id.to_string(),
        };
        match similar {
            Some(other) => report.error(
                &["A-5"],
                format!(
                    "answers id `{}`, but the request has id `{}`, which is of another type",
                    quoted(id),
                    quoted(other)
                ),
            ),
            None => report.error(
                &["A-5"],
                format!("answers id `{}`, which no request has", quoted(id)),
            ),
        }
    }

    /// A-5, E-9, F-14, O-2
    fn check_pairing(&self, report: &mut Report<'_>, id: &RequestId, sending: &mut Sending) {
        if sending.answered {
            report.error(
                &["A-5"],
                format!("a second answer to `{}` with id `{id}`", sending.method),
            );
        }
        sending.answered = true;
        if let Some(cancelled) = sending
            .cancelled
            .filter(|cancelled| report.now.is_well_after(*cancelled))
        {
            let ago = report.now.at.saturating_sub(cancelled);
            let message = format!(
                "answers `{}`, which was cancelled {ago} ms before",
                sending.method
            );
            match (sending.is_modern(), report.now.checker.http) {
                (true, true) => report.error(&["F-14", "E-9"], message),
                (true, false) => report.error(&["E-9"], message),
                (false, _) => report.warning(&["O-2"], message),
            }
        }
    }

    fn check_error(&self, report: &mut Report<'_>, sending: &Sending, error: &ErrorObject) {
        let code = &error.code;
        // A receiver that does not know the method may answer with any error.
        let is_probe = sending.known == Some(Method::Discover)
            && !self.server_is_modern
            && sending
                .revision
                .is_none_or(|revision| revision.era() == Era::Modern);
        // GAP-2: the envelope is checked first. A strict server refuses it before it reads any other part.
        let is_strict = sending.is_extended && *code == code::INVALID_REQUEST;
        match sending.due {
            _ if is_probe || is_strict => {}
            DueAnswers::Error(codes, requirements) if !codes.contains(code) => {
                report.error(
                    requirements,
                    format!(
                        "error {code} to `{}`, which deserves {}",
                        sending.method, codes[0]
                    ),
                );
            }
            _ => {}
        }
        // B-10; headers and sessions, which HTTP has and records do not, may be wrong for any method.
        let is_of_http = report.now.checker.http && *code == code::INVALID_REQUEST;
        let is_ping = sending.known == Some(Method::Ping) && is_plain(&sending.params);
        let is_ping = is_ping && !is_of_http && !is_strict;
        if is_ping && sending.revision.is_some() && !sending.is_modern() {
            report.error(&["B-10"], format!("error {code} to a ping"));
        }
        let is_modern = sending.is_modern() || meta(&sending.params, CAPABILITIES).is_some();
        match sending.revision {
            _ if is_probe
                && !matches!(
                    *code,
                    code::MISSING_CLIENT_CAPABILITY | code::UNSUPPORTED_VERSION
                ) => {}
            _ if is_modern => check_modern_code(report, error),
            Some(revision) => check_legacy_code(report, error, revision),
            None => {}
        }
    }

    fn check_result(
        &mut self,
        report: &mut Report<'_>,
        id: &RequestId,
        sending: &mut Sending,
        raw: &MessageText<'_>,
        result: &Value,
    ) {
        // F-21
        if self.ended.is_some_and(|ended| ended < sending.line) {
            let message = format!(
                "a result to `{}` in a session that the client has ended",
                sending.method
            );
            report.error(&["F-21"], message);
        }
        if let DueAnswers::Error(codes, requirements) = sending.due {
            report.error(
                requirements,
                format!(
                    "a result to `{}`, which deserves error {}",
                    sending.method, codes[0]
                ),
            );
            return;
        }
        let Some(revision) = sending.revision else {
            return;
        };
        metadata::check_keys(report, revision, "the result", result);
        let Some(known) = sending.known else { return };
        self.learn_tasks(report, sending, result);
        // M-3
        if known == Method::SetLevel
            && super::requests::severity_of(sending.params.get("level")).is_none()
        {
            report.warning(
                &["M-3"],
                "a result to an unknown level; it deserves error -32602",
            );
        }
        if known == Method::SetLevel
            && let Some(handshake) = &mut self.legacy
        {
            handshake.level = super::requests::severity_of(sending.params.get("level"));
        }
        // B-10
        let is_empty = result
            .as_object()
            .is_some_and(|members| members.keys().all(|name| name == "_meta"));
        if known == Method::Ping && !is_empty {
            report.error(&["B-10"], "the result of a ping must be empty");
            return;
        }
        if revision.era() == Era::Modern
            && !self.check_modern_result(report, id, sending, raw, result)
        {
            return;
        }
        if known == Method::Discover {
            self.discovered = result.get("capabilities").cloned();
        }
        if shape::result(report, revision, known, raw, result)
            && !self.schemas.is_beyond(known, raw)
        {
            self.schemas
                .check(report, revision, known, &sending.params, result);
        }
    }

    /// Returns whether it is a complete result, which has the members of the method.
    fn check_modern_result(
        &mut self,
        report: &mut Report<'_>,
        id: &RequestId,
        sending: &Sending,
        raw: &MessageText<'_>,
        result: &Value,
    ) -> bool {
        // C-4
        if meta(result, SERVER_INFO).is_none() {
            report.warning(&["C-4"], "the result has no `serverInfo` in `_meta`");
        }
        if sending.known == Some(Method::SubscriptionsListen)
            && meta(result, SUBSCRIPTION).and_then(id_in).as_ref() != Some(id)
        {
            report.error(
                &["U-4", "TRAP-17"],
                format!(
                    "the end of subscription `{id}` must have its id in `_meta`, as it was sent"
                ),
            );
        }
        let kind = result.get("resultType").and_then(Value::as_str);
        self.server_is_modern |= kind.is_some();
        match kind {
            Some("complete") => return true,
            Some("input_required") => self.check_asked(report, id, sending, raw, result),
            Some("task") => {
                let extension = ["extensions", "io.modelcontextprotocol/tasks"];
                let declared = meta(&sending.params, CAPABILITIES).is_some_and(|capabilities| {
                    extension
                        .iter()
                        .try_fold(capabilities, |value, name| value.get(name))
                        .is_some()
                });
                if !declared || sending.known != Some(Method::CallTool) {
                    report.error(
                        &["W-12", "TRAP-14"],
                        "a task, though the request did not allow one",
                    );
                }
            }
            Some(other) => report.error(&["A-17"], format!("unknown `resultType` `{other}`")),
            None => report.error(&["A-17"], "the result has no `resultType`"),
        }
        false
    }

    /// T-1 to T-4
    fn check_asked(
        &mut self,
        report: &mut Report<'_>,
        id: &RequestId,
        sending: &Sending,
        raw: &MessageText<'_>,
        result: &Value,
    ) {
        let known_faults = report.findings.len();
        let rules = sending
            .known
            .and_then(|known| known.rules(Revision::V2026_07_28));
        if !rules.is_some_and(|rules| rules.input_required) {
            report.error(
                &["T-1"],
                format!("`{}` cannot ask for input", sending.method),
            );
        }
        let (requests, state) = (result.get("inputRequests"), result.get("requestState"));
        if requests.is_none() && state.is_none() {
            report.error(
                &["T-2"],
                "asks for input with neither `inputRequests` nor `requestState`",
            );
        }
        if let Some(state) = state.and_then(Value::as_str) {
            self.states.insert(state.to_owned(), id.clone());
        }
        for request in requests
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|requests| requests.values())
        {
            let method = request.get("method").and_then(Value::as_str);
            let method = match method.and_then(Method::from_wire) {
                Some(method @ (Method::Elicit | Method::CreateMessage | Method::ListRoots)) => {
                    method
                }
                _ => {
                    report.error(
                        &["T-3"],
                        "`inputRequests` must hold only elicitation, sampling and roots requests",
                    );
                    continue;
                }
            };
            if request.get("id").is_some() || request.get("jsonrpc").is_some() {
                report.error(
                    &["T-3"],
                    "a request for input must not have `id` or `jsonrpc`",
                );
            }
            let params = request.get("params").unwrap_or(&Value::Null);
            let capabilities = meta(&sending.params, CAPABILITIES);
            if let Some(missing) = undeclared_needs(method, params, capabilities) {
                report.error(
                    requirements_of_needs(missing, &["T-4", "Q-2"], &["T-4", "R-2"], &["T-4"]),
                    format!(
                        "asks `{}`, which needs {missing}; the request did not declare it",
                        method.as_str()
                    ),
                );
            }
        }
        // The check of the form has no further findings on what was reported.
        if report.findings.len() == known_faults {
            shape::asked(report, raw);
        }
    }

    /// B-2, B-3, TRAP-06
    fn negotiated(&mut self, report: &mut Report<'_>, raw: &MessageText<'_>, result: &Value) {
        let Some(handshake) = &mut self.legacy else {
            return;
        };
        let version = result
            .get("protocolVersion")
            .and_then(Value::as_str)
            .unwrap_or_default();
        handshake.answered = true;
        handshake.revision =
            Revision::from_wire(version).filter(|revision| revision.era() == Era::Legacy);
        handshake.server_capabilities = result.get("capabilities").cloned().unwrap_or_default();
        let text = |pointer: &str| result.pointer(pointer).is_some_and(Value::is_string);
        let is_whole =
            !version.is_empty() && text("/serverInfo/name") && text("/serverInfo/version");
        if !is_whole || !handshake.server_capabilities.is_object() {
            report.error(
                &["B-2"],
                "the result of `initialize` must have `protocolVersion`, `capabilities` and `serverInfo`",
            );
            return;
        }
        match handshake.revision {
            Some(revision) => {
                shape::result(report, revision, Method::Initialize, raw, result);
                metadata::check_keys(report, revision, "the result", result);
            }
            None if Revision::from_wire(version).is_some() => {
                report.error(
                    &["B-3", "TRAP-06"],
                    format!("`initialize` cannot agree on {version}"),
                );
            }
            None if version != handshake.requested => {
                report.error(
                    &["B-3"],
                    format!(
                        "offers `{version}`, which is neither the requested nor a known revision"
                    ),
                );
            }
            None => {}
        }
    }
}

impl Traffic {
    /// Returns the request `id` of the side `asker`.
    pub(super) fn request_of(
        &mut self,
        report: &Report<'_>,
        asker: Side,
        id: &RequestId,
    ) -> Option<&mut Sending> {
        let key = self.key(report, asker, id);
        self.sent(asker).requests.get_mut(&key)
    }
}
