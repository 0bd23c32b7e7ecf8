//! The methods of the extension `io.modelcontextprotocol/tasks`.

use std::sync::Arc;

use trueform_schema::{
    At, ErrorObject, InputResponse, JsonObject, Map,
    ext::tasks::{
        CancelTaskRequestParams, CancelTaskResult, GetTaskRequestParams, GetTaskResult,
        UpdateTaskRequestParams, UpdateTaskResult, handler,
    },
    pointer,
};

use super::{questions::Questions, room::Tasks};
use crate::{
    exchange::Context,
    feature::extension::RegisteredExtension,
    jsonrpc::{self, ErrorDetail},
};

/// Returns the extension, to be registered with the others. Like any extension, it refuses clients that did not declare it (W-18), and does
/// not have the methods of 2025-11-25 (W-21).
///
/// # Errors
/// Never for these bindings.
pub(crate) fn registered(tasks: &Arc<Tasks>) -> Result<RegisteredExtension, String> {
    let methods = handler::Server(Served(tasks.clone()));
    RegisteredExtension::new(Arc::new(methods), JsonObject::empty())
}

/// The handler that the bindings call.
struct Served(Arc<Tasks>);

impl handler::ServerHandler for Served {
    type Context = Context;

    // W-15
    async fn get_task(
        &self,
        cx: &Context,
        params: GetTaskRequestParams,
    ) -> Result<GetTaskResult, ErrorObject> {
        let seen = self.0.find(&cx.0, &params.task_id).await?;
        seen.detailed(self.0.settings.poll_interval)
    }

    // W-16
    async fn update_task(
        &self,
        cx: &Context,
        params: UpdateTaskRequestParams,
    ) -> Result<UpdateTaskResult, ErrorObject> {
        self.0.find(&cx.0, &params.task_id).await?;
        if let Some(task) = self.0.live(&params.task_id) {
            malformed(&task.questions, &params.input_responses)?;
            let answers = params.input_responses.into_iter();
            let answers = answers.map(|(key, answer)| {
                let answer = At::new(&answer, cx.revision()).to_json();
                (key, answer)
            });
            if task.questions.answer(answers) {
                self.0.asked(&task).await;
            }
        }
        Ok(UpdateTaskResult::new())
    }

    // W-16: a task that has ended is acknowledged as well.
    async fn cancel_task(
        &self,
        cx: &Context,
        params: CancelTaskRequestParams,
    ) -> Result<CancelTaskResult, ErrorObject> {
        let seen = self.0.find(&cx.0, &params.task_id).await?;
        self.0.cancel(seen).await?;
        Ok(CancelTaskResult::new())
    }
}

/// Checks that no answer to an open question is malformed. Other answers are ignored (T-10, W-16).
///
/// # Errors
/// -32602 with the pointer to the answer. In this case, no answer is accepted.
fn malformed(questions: &Questions, answers: &Map<InputResponse>) -> Result<(), ErrorObject> {
    let mut unknown = answers
        .iter()
        .filter(|(_, answer)| matches!(answer, InputResponse::Unknown(_)));
    match unknown.find(|(key, _)| questions.is_open(key)) {
        None => Ok(()),
        Some((key, _)) => {
            let pointer = format!("/params/inputResponses/{}", pointer::escape(key));
            let expected = "the answer to an elicitation, a sampling request or one for roots";
            Err(jsonrpc::invalid_params(
                format!(
                    "the answer to question `{}` is malformed",
                    jsonrpc::shortened(key)
                ),
                &ErrorDetail::new(pointer, "type", expected, "something else"),
            ))
        }
    }
}
