//! The methods of the extension `io.modelcontextprotocol/tasks`.

use std::sync::Arc;

use trueform_schema::{
    At, ErrorObject, JsonObject,
    ext::tasks::{
        CancelTaskRequestParams, CancelTaskResult, GetTaskRequestParams, GetTaskResult,
        UpdateTaskRequestParams, UpdateTaskResult, handler,
    },
};

use super::room::Tasks;
use crate::{exchange::Context, feature::extension::RegisteredExtension};

/// The extension, to be registered with the others: it refuses clients that did not declare it (W-18), and does not have the methods
/// of 2025-11-25 (W-21), as any extension.
///
/// # Errors
/// Never for these bindings.
pub(crate) fn registered(tasks: &Arc<Tasks>) -> Result<RegisteredExtension, String> {
    let methods = handler::Server(Served(tasks.clone()));
    RegisteredExtension::new(Arc::new(methods), JsonObject::empty())
}

/// What the bindings call.
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
