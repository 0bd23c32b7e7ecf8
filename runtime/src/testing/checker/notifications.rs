//! The rules for notifications: sender, time and subject.

use serde_json::Value;
use trueform_schema::{Era, Method, RequestId, Revision};

use super::{
    Report, meta as metadata,
    reading::{self, MessageText},
    requests::{id_in, meta, severity_of},
    responses::SUBSCRIPTION,
    shape,
    traffic::{Sending, SentRequests, Traffic},
};
use crate::testing::Side;

impl Traffic {
    pub(super) fn notification(
        &mut self,
        report: &mut Report<'_>,
        method: &str,
        raw: Option<&str>,
    ) {
        let (params, text) = reading::read(report, "params", raw);
        let known = Method::from_wire(method);
        if known.is_some_and(|known| !known.is_notification()) {
            report.error(
                &["A-2"],
                format!("`{method}` is a request and must have an id"),
            );
            return;
        }
        let subscription = meta(&params, SUBSCRIPTION).filter(|_| report.now.from == Side::Server);
        let revision = match (known, subscription) {
            (_, Some(id)) => self.of_subscription(report, method, id, &params),
            (Some(Method::Progress), None) => self.progress(report, &params, &text),
            (Some(Method::Cancelled), None) => self.cancelled(report, &params),
            (Some(Method::LoggingMessage), None) => self.log_message(report, &params),
            (Some(Method::Initialized), None) => self.initialized(report),
            (Some(Method::TaskStatus), None) => {
                let revision = self.other(report, Method::TaskStatus);
                if revision.is_some() {
                    self.learn_task(report, &params);
                }
                revision
            }
            (Some(known), None) => self.other(report, known),
            (None, None) => None,
        };
        if let (Some(revision), Some(known)) = (revision, known) {
            shape::params(report, revision, known, &text);
        }
        if let Some(revision) = revision.or_else(|| self.spoken(report)) {
            metadata::check_keys(report, revision, "params", &params);
        }
    }

    /// N-2, N-3, N-5
    fn progress(
        &mut self,
        report: &mut Report<'_>,
        params: &Value,
        text: &MessageText<'_>,
    ) -> Option<Revision> {
        let from = report.now.from;
        if from == Side::Client && self.legacy.is_none() {
            report.error(&["N-5"], "a client must not report progress at 2026-07-28");
            return None;
        }
        let stream = report.now.stream.clone();
        let token = params.get("progressToken").and_then(id_in);
        let with_token = |sending: &&mut Sending| sending.token.is_some() && sending.token == token;
        let SentRequests {
            requests,
            ended_tasks,
            ..
        } = self.sent(from.peer());
        let requests = requests.values_mut();
        // Over HTTP several clients may use the same token at once.
        let Some(sending) = requests
            .filter(with_token)
            .max_by_key(|sending| (sending.stream == stream, !sending.answered, sending.line))
        else {
            report.error(&["N-3"], "progress with a token that no request has");
            return None;
        };
        let is_modern = sending.is_modern();
        if sending.task.is_some() {
            let ended = sending.task.as_ref().and_then(|task| ended_tasks.get(task));
            // Messages on another stream may have been sent earlier.
            let is_late =
                |ended: &u64| !report.now.checker.http || report.now.is_well_after(*ended);
            if ended.is_some_and(is_late) {
                report.error(
                    &["N-4", "N-3"],
                    format!("progress of `{}` after the end of its task", sending.method),
                );
            }
        } else if sending.answered {
            report.error(
                &["N-3"],
                format!("progress of `{}` after its answer", sending.method),
            );
        } else if sending
            .cancelled
            .is_some_and(|cancelled| report.now.is_well_after(cancelled))
        {
            let requirements: &[&str] = if is_modern { &["E-9", "N-3"] } else { &["N-3"] };
            report.error(
                requirements,
                format!("progress of `{}` after it was cancelled", sending.method),
            );
        }
        if sending.listening.is_some() {
            report.error(&["U-9", "N-5", "TRAP-17"], "progress of a subscription");
        }
        if is_modern && sending.stream.is_some() && sending.stream != stream {
            report.error(
                &["N-5", "F-30"],
                format!(
                    "progress of `{}` on another stream than its own",
                    sending.method
                ),
            );
        }
        let progress = params
            .get("progress")
            .and_then(Value::as_f64)
            .unwrap_or(f64::NAN);
        if progress <= sending.last_progress {
            report.error(
                &["N-2"],
                format!(
                    "progress {progress} does not exceed {}",
                    sending.last_progress
                ),
            );
        }
        sending.last_progress = sending.last_progress.max(progress);
        let revision = sending.revision;
        if let (Some(Revision::V2024_11_05), Some(_)) = (revision, params.get("message")) {
            report.error(
                &["N-2"],
                "progress must not have a `message` before 2025-03-26",
            );
            // The message itself was reported, but it may have other faults.
            let requirements = shape::requirements_of_params(Revision::V2024_11_05);
            shape::form_of_params(
                report,
                Revision::V2024_11_05,
                Method::Progress,
                text,
                requirements,
            );
            return None;
        }
        revision
    }

    /// O-1, O-3, O-4, B-11
    fn cancelled(&mut self, report: &mut Report<'_>, params: &Value) -> Option<Revision> {
        let (from, now) = (report.now.from, report.now);
        // The check of the params' form covers whether it may be absent.
        let Some(id) = params.get("requestId").and_then(id_in) else {
            let revision = self.spoken(report);
            if params.is_null() && revision == Some(Revision::V2025_11_25) {
                report.error(&["O-1", "B-12"], "a cancellation must have params");
            }
            return revision;
        };
        if from == Side::Server && !self.server.requests.contains_key(&(None, id.clone())) {
            return self.cancelled_by_server(report, &id);
        }
        if self
            .legacy
            .as_ref()
            .is_some_and(|handshake| from == Side::Client && handshake.id == id)
        {
            report.error(&["B-11", "O-1"], "`initialize` must not be cancelled");
            return None;
        }
        let Some(sending) = self.request_of(report, from, &id) else {
            report.error(
                &["O-1"],
                format!("cancels `{id}`, which is not a request of the {from}"),
            );
            return None;
        };
        if now.checker.http && sending.is_modern() {
            report.error(
                &["O-3", "G-12"],
                "over HTTP a client must cancel by closing the stream",
            );
        }
        sending.cancelled.get_or_insert(now.at);
        sending.revision
    }

    /// Returns the revision of messages that belong to no request.
    fn spoken(&self, report: &Report<'_>) -> Option<Revision> {
        match self.session() {
            Some(revision) if !self.is_stream_of_modern(report) => Some(revision),
            _ => self.modern.then_some(Revision::V2026_07_28),
        }
    }

    fn cancelled_by_server(&mut self, report: &mut Report<'_>, id: &RequestId) -> Option<Revision> {
        let now = report.now;
        match self.request_of(report, Side::Client, id) {
            Some(sending) if sending.listening.is_some() && !now.checker.http => sending.revision,
            Some(sending) if sending.is_modern() => {
                report.error(&["O-4"], format!("the server cancels `{}`", sending.method));
                None
            }
            _ => {
                report.error(
                    &["O-1"],
                    format!("cancels `{id}`, which is not a request of the server"),
                );
                None
            }
        }
    }

    /// M-1, M-2, M-4, TRAP-18
    fn log_message(&mut self, report: &mut Report<'_>, params: &Value) -> Option<Revision> {
        if report.now.from == Side::Client {
            report.error(&["B-8"], "a client must not send log messages");
            return None;
        }
        let stream = &report.now.stream;
        let on_stream = |sending: &Sending| stream.is_none() || sending.stream == *stream;
        let severity = severity_of(params.get("level"));
        // A message does not name its request, so it is legal if it can belong to any.
        let requests = self
            .client
            .requests
            .values()
            .filter(|sending| sending.is_modern() && on_stream(sending));
        let mut open = requests.filter(|sending| sending.is_open());
        let asked = |sending: &Sending| {
            sending
                .level
                .is_some_and(|level| severity.is_none_or(|severity| level <= severity))
        };
        if open.any(asked) {
            self.declared(report, Era::Modern);
            return Some(Revision::V2026_07_28);
        }
        let Some(handshake) = self
            .legacy
            .as_ref()
            .filter(|_| !self.is_stream_of_modern(report))
        else {
            report.error(
                &["M-4", "TRAP-18"],
                "a log message, though no running request asked for one this severe",
            );
            return Some(Revision::V2026_07_28);
        };
        let revision = handshake.revision;
        if let (Some(level), Some(severity)) = (handshake.level, severity)
            && severity < level
        {
            report.warning(&["M-2"], "a log message below the level that was set");
        }
        if handshake.answered {
            self.declared(report, Era::Legacy);
        }
        revision
    }

    /// M-1
    fn declared(&self, report: &mut Report<'_>, era: Era) {
        if !self.server_declares(era, "logging") {
            report.error(&["M-1"], "a log message, though `logging` was not declared");
        }
    }

    /// B-5
    fn initialized(&mut self, report: &mut Report<'_>) -> Option<Revision> {
        match &mut self.legacy {
            Some(handshake) if report.now.from == Side::Client && handshake.answered => {
                handshake.initialized = true;
                handshake.revision
            }
            _ => {
                report.error(
                    &["B-5"],
                    "`notifications/initialized` must follow the response to `initialize`",
                );
                None
            }
        }
    }

    /// U-2, U-3, U-4, U-9, TRAP-17
    fn of_subscription(
        &mut self,
        report: &mut Report<'_>,
        method: &str,
        id: &Value,
        params: &Value,
    ) -> Option<Revision> {
        let now = report.now;
        let key = id_in(id).map(|id| self.key(report, Side::Client, &id));
        let is_here = |sending: &&mut Sending| {
            sending.listening.is_some() && (now.stream.is_none() || now.stream == sending.stream)
        };
        let found = key
            .and_then(|key| self.client.requests.get_mut(&key))
            .filter(is_here);
        let Some(sending) = found else {
            report.error(
                &["U-4", "TRAP-17"],
                format!("`{method}` is of subscription {id}, which was never opened"),
            );
            return None;
        };
        let revision = sending.revision;
        if matches!(method, "notifications/progress" | "notifications/message") {
            report.error(
                &["U-9", "TRAP-17"],
                format!("`{method}` must not be part of a subscription"),
            );
            return None;
        }
        if sending.answered {
            report.error(
                &["U-4"],
                format!("`{method}` after the end of the subscription"),
            );
        } else if sending
            .cancelled
            .is_some_and(|cancelled| now.is_well_after(cancelled))
        {
            report.error(
                &["E-9"],
                format!("`{method}` after the subscription was cancelled"),
            );
        }
        if let Some(listening) = &mut sending.listening {
            match method {
                "notifications/subscriptions/acknowledged" => {
                    listening.acknowledged(report, params)
                }
                _ => listening.delivered(report, method, params),
            }
        }
        revision
    }

    /// List changes, updates, states of tasks.
    fn other(&mut self, report: &mut Report<'_>, known: Method) -> Option<Revision> {
        let (from, method) = (report.now.from, known.as_str());
        if known == Method::ToolListChanged {
            self.schemas.forget();
        }
        let Some(handshake) = self
            .legacy
            .as_ref()
            .filter(|_| !self.is_stream_of_modern(report))
        else {
            match from {
                Side::Client => report.error(
                    &["C-11"],
                    format!("2026-07-28 has no `{method}` from the client"),
                ),
                Side::Server => report.error(&["U-4"], format!("`{method}` of no subscription")),
            }
            return None;
        };
        match from {
            Side::Client if !handshake.initialized => report.error(
                &["B-5"],
                format!("`{method}` before `notifications/initialized`"),
            ),
            Side::Server if !handshake.initialized => {
                report.warning(
                    &["B-7"],
                    format!("`{method}` before `notifications/initialized`"),
                );
                return None;
            }
            _ => {}
        }
        let revision = handshake.revision?;
        let rules = known.rules(revision).filter(|rules| match from {
            Side::Client => rules.direction.from_client(),
            Side::Server => rules.direction.from_server(),
        });
        let Some(rules) = rules else {
            report.error(
                &["B-8"],
                format!("{revision} has no `{method}` from the {from}"),
            );
            return None;
        };
        // The sender of a notification must have declared its capability; the receiver must have declared that of a request.
        let declarer = if known == Method::ElicitationComplete {
            from.peer()
        } else {
            from
        };
        match rules
            .capability
            .filter(|capability| !handshake.declares(declarer, capability))
        {
            Some(capability) => {
                report.error(
                    &["B-8"],
                    format!("`{method}`, but the {declarer} did not declare `{capability}`"),
                );
                None
            }
            None => Some(revision),
        }
    }
}
