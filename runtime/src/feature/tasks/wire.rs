//! Tasks in the messages of both forms.

use std::time::Duration;

use trueform_schema::{
    CancelTaskResult, Conform, CreateTaskResult, ErrorObject, GetTaskPayloadResult, GetTaskResult,
    InputRequest, Json, JsonObject, Map, NotificationMetaObject, RequestId, Revision, Task,
    TaskStatusNotificationParams, ext::tasks as ext,
};

use super::state::{Outcome, TaskState, iso, millis};
use crate::{exchange::apart::related, jsonrpc, store::TaskRecord};

/// The current state of a task.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) record: TaskRecord,
    pub(super) state: TaskState,
}

/// The questions of a task, or its outcome.
struct Details {
    questions: Option<Map<InputRequest>>,
    result: Option<JsonObject>,
    error: Option<ErrorObject>,
}

fn in_millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

impl Seen {
    /// Reads the task from `record`.
    ///
    /// # Errors
    /// -32603 for a state that this version of the library did not write.
    pub(super) fn new(record: TaskRecord) -> Result<Self, ErrorObject> {
        match serde_json::from_str(&record.state) {
            Ok(state) => Ok(Self { record, state }),
            Err(error) => {
                tracing::error!(%error, "the store of tasks has a state that cannot be read");
                Err(jsonrpc::internal("the state of the task cannot be read"))
            }
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.record.id
    }

    /// Returns what every message contains: the times of creation and of the last change, and how long the task is kept.
    fn times(&self) -> (String, String, i64) {
        let created = iso(millis(self.record.created));
        (
            created,
            iso(self.state.updated),
            in_millis(self.record.life),
        )
    }

    /// Returns the task in the form of 2025-11-25.
    pub(super) fn task(&self, poll: Duration) -> Task {
        let (created, updated, ttl) = self.times();
        let status = self.state.status.as_str();
        let mut task = Task::new(created, updated, status, self.id(), Some(ttl));
        task.poll_interval = Some(in_millis(poll));
        task.status_message = self.state.message.clone();
        task
    }

    pub(super) fn got(&self, poll: Duration) -> GetTaskResult {
        let (created, updated, ttl) = self.times();
        let status = self.state.status.as_str();
        let mut result = GetTaskResult::new(created, updated, status, self.id(), Some(ttl));
        result.poll_interval = Some(in_millis(poll));
        result.status_message = self.state.message.clone();
        result
    }

    pub(super) fn cancelled(&self, poll: Duration) -> CancelTaskResult {
        let (created, updated, ttl) = self.times();
        let status = self.state.status.as_str();
        let mut result = CancelTaskResult::new(created, updated, status, self.id(), Some(ttl));
        result.poll_interval = Some(in_millis(poll));
        result.status_message = self.state.message.clone();
        result
    }

    pub(super) fn reported(&self, poll: Duration) -> TaskStatusNotificationParams {
        let (created, updated, ttl) = self.times();
        let status = self.state.status.as_str();
        let mut params =
            TaskStatusNotificationParams::new(created, updated, status, self.id(), Some(ttl));
        params.poll_interval = Some(in_millis(poll));
        params.status_message = self.state.message.clone();
        params
    }

    /// Returns the outcome of the call, with the id of the task (W-6).
    ///
    /// # Errors
    /// The error that the call ended with; -32602 for a task that has no result.
    pub(super) fn payload(&self) -> Result<GetTaskPayloadResult, ErrorObject> {
        let result = match &self.state.outcome {
            Some(Outcome::Result(result)) => result,
            Some(Outcome::Error(error)) => return Err(error.clone()),
            None => {
                let status = self.state.status.as_str();
                let found = format!("one whose status is `{status}`");
                let expected = "the id of a task that ended by itself";
                return Err(jsonrpc::invalid_params(
                    format!("the task has no result: its status is `{status}`"),
                    &jsonrpc::ErrorDetail::new("/params/taskId", "task-result", expected, found),
                ));
            }
        };
        let unreadable = |error| {
            tracing::error!(%error, "the result of a task cannot be read");
            jsonrpc::internal("the result of the task cannot be read")
        };
        let mut result: GetTaskPayloadResult = result.parse().map_err(unreadable)?;
        let meta = result.meta.get_or_insert_default();
        for (key, value) in related(self.id()).iter() {
            meta.insert(key, value.clone());
        }
        Ok(result)
    }

    /// Returns the response to a call that becomes this task, at `revision`.
    pub(super) fn created(&self, revision: Revision, poll: Duration) -> Box<dyn Conform + Send> {
        if revision.era() == trueform_schema::Era::Legacy {
            return Box::new(CreateTaskResult::new(self.task(poll)));
        }
        let (created, updated, ttl) = self.times();
        let status = self.state.status.as_str();
        let mut result = ext::CreateTaskResult::new(created, updated, status, self.id(), Some(ttl));
        result.poll_interval_ms = Some(in_millis(poll));
        Box::new(result)
    }

    /// Returns the open questions and the outcome of the call, in the form of the extension (W-15).
    fn details(&self) -> Result<Details, ErrorObject> {
        let unreadable = |error: serde_json::Error| {
            tracing::error!(%error, "the state of a task cannot be read");
            jsonrpc::internal("the state of the task cannot be read")
        };
        let questions = match self.state.questions.is_empty() {
            true => None,
            false => {
                let text = serde_json::to_string(&self.state.questions).map_err(unreadable)?;
                Some(serde_json::from_str(&text).map_err(unreadable)?)
            }
        };
        let (result, error) = match &self.state.outcome {
            Some(Outcome::Result(result)) => {
                let result = Json::parse::<JsonObject>(result).map_err(unreadable)?;
                (Some(result), None)
            }
            Some(Outcome::Error(error)) => (None, Some(error.clone())),
            None => (None, None),
        };
        Ok(Details {
            questions,
            result,
            error,
        })
    }

    /// Returns the complete task, in the form of the extension.
    ///
    /// # Errors
    /// -32603 for a state that cannot be read.
    pub(super) fn detailed(&self, poll: Duration) -> Result<ext::GetTaskResult, ErrorObject> {
        let (created, updated, ttl) = self.times();
        let status = self.state.status.as_str();
        let mut task = ext::GetTaskResult::new(created, updated, status, self.id(), Some(ttl));
        let details = self.details()?;
        task.input_requests = details.questions;
        (task.result, task.error) = (details.result, details.error);
        task.poll_interval_ms = Some(in_millis(poll));
        task.status_message = self.state.message.clone();
        Ok(task)
    }

    /// Returns the same for the stream of the subscription `id` (U-4, W-21).
    ///
    /// # Errors
    /// Those of [`detailed`](Self::detailed).
    pub(super) fn notification(
        &self,
        poll: Duration,
        id: &RequestId,
    ) -> Result<ext::TaskStatusNotificationParams, ErrorObject> {
        let (created, updated, ttl) = self.times();
        let status = self.state.status.as_str();
        let mut task =
            ext::TaskStatusNotificationParams::new(created, updated, status, self.id(), Some(ttl));
        let details = self.details()?;
        task.input_requests = details.questions;
        (task.result, task.error) = (details.result, details.error);
        task.poll_interval_ms = Some(in_millis(poll));
        task.status_message = self.state.message.clone();
        let meta = NotificationMetaObject::new().with_subscription_id(id.clone());
        task.meta = Some(meta);
        Ok(task)
    }
}
