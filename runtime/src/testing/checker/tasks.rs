//! Tasks of 2025-11-25: the requests that have become tasks, and whether they still run.

use serde_json::{Map, Value};
use trueform_schema::{Method, Revision};

use super::{
    Report,
    traffic::{Sending, Traffic},
};

/// Returns the capability of the other side that allows a request of `method` to become a task.
const fn capability(method: Method) -> Option<&'static str> {
    match method {
        Method::CallTool => Some("tasks.requests.tools.call"),
        Method::CreateMessage => Some("tasks.requests.sampling.createMessage"),
        Method::Elicit => Some("tasks.requests.elicitation.create"),
        _ => None,
    }
}

/// Returns the id in a report on a task, and whether the task has ended.
fn state(task: &Value) -> Option<(&str, bool)> {
    let status = task.get("status")?.as_str()?;
    let has_ended = matches!(status, "completed" | "failed" | "cancelled");
    Some((task.get("taskId")?.as_str()?, has_ended))
}

impl Sending {
    /// Returns whether it asks to become a task, at a revision with tasks.
    fn wants_task(&self) -> bool {
        self.revision == Some(Revision::V2025_11_25)
            && self.known.and_then(capability).is_some()
            && self.params.get("task").is_some_and(Value::is_object)
    }
}

impl Traffic {
    /// W-2
    pub(super) fn check_task_wanted(&self, report: &mut Report<'_>, sending: &Sending) {
        let capability = sending.known.and_then(capability);
        let (Some(handshake), Some(capability)) = (&self.legacy, capability) else {
            return;
        };
        let peer = report.now.from.peer();
        if sending.wants_task() && !handshake.declares(peer, capability) {
            report.error(
                &["W-2"],
                format!(
                    "`{}` has a `task`, but the {peer} did not declare `{capability}`",
                    sending.method
                ),
            );
        }
    }

    /// Records the tasks that a result reports. W-4, N-4
    pub(super) fn learn_tasks(
        &mut self,
        report: &mut Report<'_>,
        sending: &mut Sending,
        result: &Value,
    ) {
        if sending.revision != Some(Revision::V2025_11_25) {
            return;
        }
        match sending.known {
            Some(Method::GetTask | Method::CancelTask) => self.learn_task(report, result),
            Some(Method::ListTasks) => {
                let tasks = result.get("tasks").and_then(Value::as_array);
                for task in tasks.into_iter().flatten() {
                    self.learn_task(report, task);
                }
            }
            // The result is sent when the task has ended.
            Some(Method::GetTaskPayload) => {
                let mut task = Map::new();
                let id = sending.params.get("taskId").cloned();
                task.insert("taskId".to_owned(), id.unwrap_or_default());
                task.insert("status".to_owned(), "completed".into());
                self.learn_task(report, &task.into());
            }
            Some(known) if capability(known).is_some() => {
                let Some(task) = result.get("task").filter(|task| task.is_object()) else {
                    return;
                };
                if !sending.wants_task() {
                    let message = format!("a task, though `{}` asked for none", sending.method);
                    report.error(&["W-4"], message);
                }
                sending.task = state(task).map(|(id, _)| id.to_owned());
                self.learn_task(report, task);
            }
            _ => {}
        }
    }

    /// Records the status that the side running a task reports.
    pub(super) fn learn_task(&mut self, report: &Report<'_>, task: &Value) {
        if let Some((id, true)) = state(task) {
            let asker = report.now.from.peer();
            let ended = &mut self.sent(asker).ended_tasks;
            ended.entry(id.to_owned()).or_insert(report.now.at);
        }
    }
}
