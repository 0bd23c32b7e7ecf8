//! Tools that need the client: its model, its user, a capability.

use serde_json::{Value, json};
use trueform::{
    prelude::*,
    schema::{
        CreateMessageOutcome, CreateMessageRequestParams, ElicitOutcome, ElicitRequestFormParams,
        Role, SamplingMessage, SamplingMessageContent, SamplingMessageContentBlock, TextContent,
        methods::{CreateMessage, Elicit},
    },
};

/// Asks the client's model for an answer to a prompt.
#[tool(needs(sampling))]
pub(crate) async fn test_sampling(
    context: Context,
    /// The prompt for the model.
    prompt: String,
) -> Result<String, ToolError> {
    let question = SamplingMessageContentBlock::from(TextContent::new(prompt));
    let params =
        CreateMessageRequestParams::new(100, vec![SamplingMessage::new(question, Role::User)]);
    match context.request::<CreateMessage>(params).await? {
        CreateMessageOutcome::Complete(answer) => match answer.content {
            SamplingMessageContent::Single(SamplingMessageContentBlock::Text(text)) => {
                Ok(format!("LLM response: {}", text.text))
            }
            _ => Err(ToolError::new(
                "the client's model did not answer with a text",
            )),
        },
        _ => Err(ToolError::new("the client did not answer with a message")),
    }
}

/// Asks the person for a name and an address.
#[tool(needs(elicitation))]
pub(crate) async fn test_elicitation(
    context: Context,
    /// The message shown to the person.
    message: String,
) -> Result<String, ToolError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "How to call you" },
            "email": { "type": "string", "description": "Where to reach you" },
        },
        "required": ["username", "email"],
    });
    let (action, content) = elicit(&context, &message, &schema).await?;
    Ok(format!("User response: action={action}, content={content}"))
}

/// Asks the person for values that have defaults.
#[tool(needs(elicitation))]
pub(crate) async fn test_elicitation_sep1034_defaults(
    context: Context,
) -> Result<String, ToolError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        },
        "required": [],
    });
    let (action, content) = elicit(&context, "Please check these values", &schema).await?;
    Ok(format!(
        "Elicitation completed: action={action}, content={content}"
    ))
}

/// Asks the person to choose, with each kind of choice.
#[tool(needs(elicitation))]
pub(crate) async fn test_elicitation_sep1330_enums(context: Context) -> Result<String, ToolError> {
    let titled = json!([
        { "const": "value1", "title": "First Option" },
        { "const": "value2", "title": "Second Option" },
        { "const": "value3", "title": "Third Option" },
    ]);
    let untitled = json!(["option1", "option2", "option3"]);
    let schema = json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": untitled },
            "titledSingle": { "type": "string", "oneOf": titled },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": untitled } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled } },
        },
        "required": [],
    });
    let (action, content) = elicit(&context, "Please choose", &schema).await?;
    Ok(format!(
        "Elicitation completed: action={action}, content={content}"
    ))
}

/// Can be called only by clients that let servers use their model.
#[tool(read_only, needs(sampling))]
pub(crate) fn test_missing_capability() -> &'static str {
    "Your model could be used."
}

/// Returns whether a person could be asked.
#[tool(read_only)]
pub(crate) async fn test_streaming_elicitation(context: Context) -> &'static str {
    match context.client_capabilities().elicitation {
        Some(_) => "A person could be asked.",
        None => "Nobody could be asked.",
    }
}

/// Asks the person to fill in a form. Returns their action and their input as JSON.
async fn elicit(
    context: &Context,
    message: &str,
    schema: &Value,
) -> Result<(String, String), ToolError> {
    let params: ElicitRequestFormParams =
        serde_json::from_value(json!({ "message": message, "requestedSchema": schema }))?;
    match context.request::<Elicit>(params.into()).await? {
        ElicitOutcome::Complete(answer) => Ok((
            answer.action.as_str().to_owned(),
            serde_json::to_string(&answer.content)?,
        )),
        _ => Err(ToolError::new(
            "the client did not answer with the person's answer",
        )),
    }
}
