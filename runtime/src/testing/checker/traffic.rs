//! The state of one connection, and the classification of its messages.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Value, value::RawValue};
use trueform_schema::{Era, ErrorObject, Method, RequestId, Revision};

use super::{
    Now, Report, Severity, TrafficFinding, envelope, envelope::Fault, listening::OpenListens,
    shape::Schemas,
};
use crate::{
    jsonrpc::{self, Incoming, Message},
    testing::Side,
};

/// The traffic so far between one client and one server.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    pub(super) legacy: Option<Handshake>,
    /// Whether a request of the modern era was seen.
    pub(super) modern: bool,
    /// Whether the server has answered like a server of the modern era.
    pub(super) server_is_modern: bool,
    /// Capabilities in the server's response to `server/discover`.
    pub(super) discovered: Option<Value>,
    pub(super) client: SentRequests,
    pub(super) server: SentRequests,
    /// `requestState` values that the server has sent, and the request of each.
    pub(super) states: HashMap<String, RequestId>,
    pub(super) schemas: Schemas,
    /// Exchanges in which the client sent something.
    heard: HashSet<String>,
    /// The place where the client ended the session over HTTP.
    pub(super) ended: Option<usize>,
}

/// A handshake of the legacy era.
#[derive(Debug)]
pub(super) struct Handshake {
    pub(super) id: RequestId,
    pub(super) requested: String,
    pub(super) client_capabilities: Value,
    pub(super) server_capabilities: Value,
    /// Whether it was answered with a result.
    pub(super) answered: bool,
    /// The agreed revision, once answered, if this crate knows it.
    pub(super) revision: Option<Revision>,
    pub(super) initialized: bool,
    /// The level set by `logging/setLevel`.
    pub(super) level: Option<usize>,
}

/// The messages of one side that the other may answer.
#[derive(Debug, Default)]
pub(super) struct SentRequests {
    /// Ids of its requests of the legacy era.
    pub(super) legacy_ids: HashSet<RequestId>,
    /// Its requests, the last one for each id. Over HTTP, ids of the modern era belong to their exchange.
    pub(super) requests: HashMap<(Option<String>, RequestId), Sending>,
    /// Texts that are not messages and may be answered with an error.
    pub(super) faults: VecDeque<Fault>,
    /// Tasks created by its requests, and when their end was reported.
    pub(super) ended_tasks: HashMap<String, u64>,
}

/// A request and its state.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) line: usize,
    /// `None` before a revision is agreed on, or if this crate does not know it.
    pub(super) revision: Option<Revision>,
    pub(super) method: String,
    pub(super) known: Option<Method>,
    pub(super) params: Value,
    pub(super) stream: Option<String>,
    pub(super) token: Option<RequestId>,
    pub(super) last_progress: f64,
    /// The least severe log message that it asked for.
    pub(super) level: Option<usize>,
    pub(super) due: DueAnswers,
    /// Whether its envelope has members that JSON-RPC does not define: a strict peer refuses it for this reason, whatever its other faults.
    pub(super) is_extended: bool,
    pub(super) cancelled: Option<u64>,
    pub(super) answered: bool,
    pub(super) listening: Option<OpenListens>,
    /// The task that it has become.
    pub(super) task: Option<String>,
}

/// The required response to a request, if it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DueAnswers {
    Anything,
    /// An error with one of these codes, otherwise these requirements are violated.
    Error(&'static [i64], &'static [&'static str]),
}

impl Sending {
    pub(super) fn is_open(&self) -> bool {
        !self.answered && self.cancelled.is_none()
    }

    /// Returns whether it runs as a task.
    pub(super) fn is_task_at_work(&self, ended: &HashMap<String, u64>) -> bool {
        self.task
            .as_ref()
            .is_some_and(|task| !ended.contains_key(task))
    }

    pub(super) fn is_modern(&self) -> bool {
        self.revision
            .is_some_and(|revision| revision.era() == Era::Modern)
    }
}

impl Handshake {
    /// Returns whether `side` declared `capability`, by its name in the method tables: `tools`, `tools.listChanged`.
    pub(super) fn declares(&self, side: Side, capability: &str) -> bool {
        match side {
            Side::Client => declares(&self.client_capabilities, capability),
            Side::Server => declares(&self.server_capabilities, capability),
        }
    }
}

/// Returns whether `capabilities` has `capability`, by its name in the method tables.
pub(super) fn declares(capabilities: &Value, capability: &str) -> bool {
    let found = capability
        .split('.')
        .try_fold(capabilities, |value, name| value.get(name));
    !matches!(found, None | Some(Value::Null | Value::Bool(false)))
}

impl Traffic {
    pub(super) fn sent(&mut self, side: Side) -> &mut SentRequests {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    /// Returns the revision of the legacy session, if there is one.
    pub(super) fn session(&self) -> Option<Revision> {
        self.legacy
            .as_ref()
            .and_then(|handshake| handshake.revision)
    }

    /// Returns the key of a request that the side `from` sends, or sent.
    pub(super) fn key(
        &self,
        report: &Report<'_>,
        from: Side,
        id: &RequestId,
    ) -> (Option<String>, RequestId) {
        let own = (report.now.stream.clone(), id.clone());
        let requests = match from {
            Side::Client => &self.client.requests,
            Side::Server => &self.server.requests,
        };
        if report.now.checker.http && requests.contains_key(&own) {
            own
        } else {
            (None, id.clone())
        }
    }

    /// Handles one text, which should be a message or, at 2025-03-26, an array of them.
    pub(super) fn text(&mut self, report: &mut Report<'_>, text: &str) {
        self.hear(report);
        if !text.trim_start().starts_with('[') {
            return self.single(report, text, false);
        }
        let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) else {
            return self.single(report, text, false);
        };
        //
        if self.session() != Some(Revision::V2025_03_26) {
            let id = items
                .iter()
                .find_map(|item| jsonrpc::readable_id(item.get().as_bytes()));
            let fault = Fault {
                requirements: &["A-11"],
                message: "an array is a message only at 2025-03-26".to_owned(),
                perhaps_id: id,
                ..Fault::refused()
            };
            return self.fault(report, fault);
        }
        if items.is_empty() {
            let fault = Fault {
                requirements: &["A-10"],
                message: "an empty batch".to_owned(),
                ..Fault::refused()
            };
            return self.fault(report, fault);
        }
        for item in items {
            self.single(report, item.get(), true);
        }
    }

    /// Handles bytes that should be a message, but are not UTF-8.
    pub(super) fn bytes(&mut self, report: &mut Report<'_>, bytes: &[u8]) {
        self.hear(report);
        let fault = envelope::no_text(bytes);
        self.settle(report, &fault);
        self.fault(report, fault);
    }

    fn hear(&mut self, report: &Report<'_>) {
        if let (Side::Client, Some(stream)) = (report.now.from, &report.now.stream) {
            self.heard.insert(stream.clone());
        }
    }

    /// Counts an unreadable response as the response to its request, which then waits for no other response.
    fn settle(&mut self, report: &Report<'_>, fault: &Fault) {
        if let Some(id) = &fault.answers {
            let asker = report.now.from.peer();
            if let Some(sending) = self.request_of(report, asker, id) {
                sending.answered = true;
            }
        }
    }

    fn single(&mut self, report: &mut Report<'_>, text: &str, in_batch: bool) {
        let parsed = jsonrpc::parse(text.as_bytes());
        if parsed.is_ok() && envelope::has_null_outcome(text) {
            report.error(&["A-5"], "has a `result` or an `error` that is null");
        }
        match parsed {
            Ok(Incoming::Single(Message::Request { id, method, params })) => {
                if in_batch && method == "initialize" {
                    report.error(&["A-10"], "`initialize` may not be part of a batch");
                }
                let is_extended = envelope::is_extended(text);
                let params = params.map(RawValue::get);
                self.request(report, &id, &method, params, is_extended);
            }
            Ok(Incoming::Single(Message::Notification { method, params })) => {
                self.notification(report, &method, params.map(RawValue::get));
            }
            Ok(Incoming::Single(Message::Response { id, outcome })) => {
                self.answer(report, text, id, &outcome)
            }
            Ok(Incoming::Batch(_)) | Err(_) => {
                let fault = envelope::fault(text);
                self.settle(report, &fault);
                self.fault(report, fault);
            }
        }
    }

    fn fault(&mut self, report: &mut Report<'_>, fault: Fault) {
        report.error(fault.requirements, &*fault.message);
        // Over HTTP even messages that are never answered may be refused (F-5).
        if !fault.unanswerable || report.now.checker.http {
            let stream = report.now.stream.clone();
            let fault = Fault { stream, ..fault };
            self.sent(report.now.from).faults.push_back(fault);
        }
    }

    fn answer(
        &mut self,
        report: &mut Report<'_>,
        text: &str,
        id: Option<RequestId>,
        outcome: &Result<&RawValue, ErrorObject>,
    ) {
        //
        if report.now.from == Side::Client && self.legacy.is_none() {
            report.error(&["A-18"], "a client must not send responses at 2026-07-28");
            return;
        }
        match id {
            Some(id) => self.response(report, &id, outcome),
            None => self.answer_without_id(report, text, outcome),
        }
    }

    /// A-7, GAP-7
    fn answer_without_id(
        &mut self,
        report: &mut Report<'_>,
        text: &str,
        outcome: &Result<&RawValue, ErrorObject>,
    ) {
        let is_null =
            serde_json::from_str::<Value>(text).is_ok_and(|value| value.get("id").is_some());
        let may_be_null = self
            .session()
            .is_none_or(|revision| revision < Revision::V2025_11_25);
        if is_null && !may_be_null {
            report.error(
                &["A-2", "A-7"],
                "an id must not be null; an error response to a message without a readable id omits it",
            );
        }
        let Err(error) = outcome else { return };
        let stream = report
            .now
            .stream
            .clone()
            .filter(|_| report.now.checker.http);
        let faults = &mut self.sent(report.now.from.peer()).faults;
        let is_here = |fault: &Fault| stream.is_none() || fault.stream == stream;
        let is_candidate = |fault: &Fault| fault.id.is_none() && is_here(fault);
        let position = faults
            .iter()
            .position(|fault| is_candidate(fault) && fault.codes.contains(&error.code));
        let position = position
            .or_else(|| faults.iter().position(is_candidate))
            .or_else(|| faults.iter().position(is_here));
        match position.and_then(|position| faults.remove(position)) {
            // F-5: HTTP refuses unread messages in this way.
            None if stream.is_some() => self.refused(stream.as_deref()),
            Some(fault) if fault.unanswerable => {}
            None => report.error(
                &["A-7", "A-8"],
                "an error without id, though the peer sent nothing whose id cannot be read",
            ),
            Some(fault) if fault.id.is_some() => report.error(
                &["A-7"],
                "an error without id, though the peer's message has one",
            ),
            Some(fault) => check_code(report, &fault, error.code),
        }
    }

    /// Handles a response to a text that was not a message, found by the id in it. Returns `false` if there is no such text.
    pub(super) fn answers_fault(
        &mut self,
        report: &mut Report<'_>,
        id: &RequestId,
        code: Option<i64>,
    ) -> bool {
        let stream = report
            .now
            .stream
            .clone()
            .filter(|_| report.now.checker.http);
        let faults = &mut self.sent(report.now.from.peer()).faults;
        let is_meant = |fault: &Fault| {
            fault.perhaps_id.as_ref().or(fault.id.as_ref()) == Some(id)
                && (stream.is_none() || fault.stream == stream)
        };
        let Some(position) = faults.iter().position(is_meant) else {
            return false;
        };
        let Some(fault) = faults.remove(position) else {
            return false;
        };
        match code {
            Some(code) => check_code(report, &fault, code),
            None => report.error(
                &["A-9", "A-1"],
                format!(
                    "a result, though the message was refused: {}",
                    fault.message
                ),
            ),
        }
        true
    }

    /// Records that all requests of the client in the exchange were refused.
    fn refused(&mut self, stream: Option<&str>) {
        for sending in self.client.requests.values_mut() {
            sending.answered |= sending.stream.as_deref() == stream;
        }
    }

    /// Returns whether this is the response to an HTTP request without a recorded body: one that was refused before it was read.
    pub(super) fn is_answer_to_unread(&self, report: &Report<'_>) -> bool {
        let now = report.now;
        let is_unheard = |stream: &String| !self.heard.contains(stream);
        now.checker.http && now.stream.as_ref().is_some_and(is_unheard)
    }

    /// Handles the end of a stream by one side, or of the session by the client.
    pub(super) fn closed(&mut self, report: &mut Report<'_>) {
        let now = report.now;
        match (now.from, &now.stream) {
            (Side::Client, Some(_)) => self.gone_away(now),
            (Side::Client, None) if now.checker.http => {
                self.ended.get_or_insert(now.line);
            }
            (Side::Server, Some(_)) if self.ended.is_none() => self.left_unanswered(report),
            _ => {}
        }
    }

    /// O-3: this is how a client cancels at 2026-07-28.
    fn gone_away(&mut self, now: &Now) {
        for sending in self.client.requests.values_mut() {
            if sending.stream == now.stream && sending.is_modern() && sending.is_open() {
                sending.cancelled = Some(now.at);
            }
        }
    }

    /// F-6, F-9: at 2025-11-25, the client may fetch the response later.
    fn left_unanswered(&self, report: &mut Report<'_>) {
        let requests = self.client.requests.values();
        let mut open = requests.filter(|sending| {
            sending.stream == report.now.stream
                && sending.is_open()
                && sending.revision != Some(Revision::V2025_11_25)
        });
        if let Some(sending) = open.next() {
            let requirements: &[&str] = match sending.is_modern() {
                true => &["F-6"],
                false => &["F-9"],
            };
            let message = format!("the stream of `{}` ends before its answer", sending.method);
            report.warning(requirements, message);
        }
    }

    /// B-10: a peer that does not answer pings counts as disconnected.
    pub(super) fn finish(self, findings: &mut Vec<TrafficFinding>) {
        // A peer that has disconnected answers nothing.
        let server = match self.ended {
            Some(_) => SentRequests::default(),
            None => self.server,
        };
        for (side, sent) in [(Side::Client, self.client), (Side::Server, server)] {
            for sending in sent.requests.into_values() {
                if sending.known == Some(Method::Ping) && sending.is_open() && !sending.is_modern()
                {
                    findings.push(TrafficFinding {
                        line: sending.line,
                        side: side.peer(),
                        requirements: &["B-10"],
                        severity: Severity::Error,
                        message: "this ping is never answered".to_owned(),
                    });
                }
            }
        }
    }
}

///
fn check_code(report: &mut Report<'_>, fault: &Fault, code: i64) {
    if !fault.codes.contains(&code) {
        report.error(
            &["A-9"],
            format!(
                "error {code}, but the message deserves {}: {}",
                fault.codes[0], fault.message
            ),
        );
    }
}
