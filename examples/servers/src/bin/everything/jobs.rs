//! Tools that run as tasks, where the client can wait for them.

use std::time::Duration;

use tokio::time::sleep;
use trueform::{prelude::*, schema::ErrorObject, task::TaskStart};

/// Whether to delete.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Consent {
    /// Whether it may be deleted.
    confirm: bool,
}

/// Who the person is.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Name {
    /// How to call you.
    name: String,
}

/// Says hello; never a task.
#[tool(read_only)]
pub(crate) fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

/// Works for some seconds.
#[tool(read_only, task = optional)]
pub(crate) async fn slow_compute(
    /// How long, at most an hour.
    #[schemars(range(min = 0, max = 3600))]
    seconds: f64,
    /// What to call the result.
    label: String,
) -> String {
    sleep(Duration::from_secs_f64(seconds)).await;
    format!("{label}: computed for {seconds} s")
}

/// Fails after a second.
#[tool(read_only, task = required)]
pub(crate) async fn failing_job() -> Result<String, ToolError> {
    sleep(Duration::from_secs(1)).await;
    Err(ToolError::new("this job always fails"))
}

/// Ends in a JSON-RPC error.
#[tool(read_only, task = optional)]
pub(crate) async fn protocol_error_job() -> Result<String, ToolError> {
    let error = ErrorObject::new(-32603, "this job always ends in a protocol error");
    Err(ToolError::protocol(error))
}

/// Asks before it deletes a file. Nothing is deleted.
#[tool(task = optional)]
pub(crate) async fn confirm_delete(
    context: Context,
    filename: String,
) -> Result<String, ToolError> {
    let question = format!("Delete {filename}?");
    Ok(match context.ask::<Consent>("confirm", question).await? {
        Asked::Accepted(Consent { confirm: true }) => format!("{filename} would be gone now."),
        _ => format!("{filename} stays."),
    })
}

/// Asks for two names at once.
#[tool(task = optional)]
pub(crate) async fn multi_input(context: Context) -> Result<String, ToolError> {
    let (first, second) = tokio::try_join!(
        context.ask::<Name>("first", "Who comes first?"),
        context.ask::<Name>("second", "Who comes second?"),
    )?;
    let name = |asked: Asked<Name>| {
        let answer = asked.accepted();
        answer.map_or_else(|| "nobody".to_owned(), |answer| answer.name)
    };
    Ok(format!("first {}, then {}", name(first), name(second)))
}

/// Asks for a name before its task begins.
#[tool(task = required)]
pub(crate) async fn test_tool_with_task(
    context: Context,
    start: TaskStart,
) -> Result<String, ToolError> {
    let asked = context
        .ask::<Name>("user_name", "What is your name?")
        .await?;
    let Name { name } = asked.or_else(|| ToolError::new("you did not say your name"))?;
    start.begin().await?;
    sleep(Duration::from_millis(100)).await;
    Ok(format!("Hello, {name}, from a task."))
}
