//! Fixtures that the official suite does not have: one of several resources that changes, more suggestions than fit into one answer, and
//! a model that calls tools.

use serde_json::{Value, json};
use trueform::{
    completion::{CompletionQuery, MAX_SUGGESTIONS},
    prelude::*,
    schema::{
        CreateMessageRequestParams, JsonObject, Role, SamplingMessage, SamplingMessageContent,
        SamplingMessageContentBlock, TextContent, Tool, ToolResultContent, ToolUseContent,
    },
};

/// How many numbers are suggested: more than one answer holds.
const NUMBERS: usize = MAX_SUGGESTIONS + 50;
/// How often the model may call tools.
const ROUNDS: usize = 4;

/// Says that a resource changed, to the clients that subscribed to it and to no others.
#[tool]
pub(crate) fn touch_resource(
    context: Context,
    /// The URI of the resource.
    uri: String,
) -> Result<String, ToolError> {
    match context.server().resource_updated(&uri) {
        true => Ok(format!("Notified every client that subscribed to {uri}.")),
        false => Err(ToolError::new(format!("`{uri}` is not a URI"))),
    }
}

/// A prompt about a number, of which there are more than one answer of suggestions holds.
#[prompt]
pub(crate) fn pick_number(
    /// Any number.
    #[arg(complete = numbers)]
    number: String,
) -> String {
    format!("Tell me about the number {number}.")
}

fn numbers(query: CompletionQuery) -> Vec<String> {
    let typed = query.into_value();
    let all = (1..=NUMBERS).map(|number| number.to_string());
    all.filter(|number| number.starts_with(&typed)).collect()
}

/// Lets the client's model answer a question with a tool that adds numbers.
#[tool(needs(sampling_tools))]
pub(crate) async fn sample_with_tools(
    context: Context,
    /// What the model is asked.
    question: String,
) -> Result<String, ToolError> {
    let mut messages = vec![message(Role::User, vec![text(question)])];
    for round in 1..=ROUNDS {
        let params =
            CreateMessageRequestParams::new(100, messages.clone()).with_tools(vec![adder()?]);
        let answer = context.sample(format!("round {round}"), params).await?;
        let calls = calls(&answer.content);
        if calls.is_empty() {
            return Ok(format!("After {round} rounds: {}", answer.text()));
        }
        let results = calls.iter().map(|call| result(call).into()).collect();
        messages.push(SamplingMessage::new(answer.content, Role::Assistant));
        messages.push(message(Role::User, results));
    }
    Err(ToolError::new(format!(
        "the model called tools in {ROUNDS} answers"
    )))
}

fn message(role: Role, blocks: Vec<SamplingMessageContentBlock>) -> SamplingMessage {
    SamplingMessage::new(SamplingMessageContent::Many(blocks), role)
}

fn text(text: String) -> SamplingMessageContentBlock {
    TextContent::new(text).into()
}

fn calls(content: &SamplingMessageContent) -> Vec<ToolUseContent> {
    let blocks = match content {
        SamplingMessageContent::Single(block) => std::slice::from_ref(block),
        SamplingMessageContent::Many(blocks) => blocks,
        _ => &[],
    };
    let calls = blocks.iter().filter_map(|block| match block {
        SamplingMessageContentBlock::ToolUse(call) => Some(call.clone()),
        _ => None,
    });
    calls.collect()
}

/// What the model may add.
#[derive(Deserialize)]
struct Summands {
    a: i64,
    b: i64,
}

/// The result of a call of the model, whose arguments are not to be trusted.
fn result(call: &ToolUseContent) -> ToolResultContent {
    let numbers = serde_json::from_str(call.input.get());
    let sum = match (&*call.name, numbers) {
        ("add", Ok(Summands { a, b })) => a.checked_add(b),
        _ => None,
    };
    let (text, failed) = match sum {
        Some(sum) => (sum.to_string(), false),
        None => (
            "expected `add` with two integers `a` and `b`".to_owned(),
            true,
        ),
    };
    let content = ContentBlock::from(TextContent::new(text));
    ToolResultContent::new(vec![content], &*call.id).with_is_error(failed)
}

fn adder() -> Result<Tool, ToolError> {
    let schema: Value = json!({
        "type": "object",
        "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
        "required": ["a", "b"],
    });
    let schema: JsonObject = serde_json::from_value(schema)?;
    Ok(Tool::new(schema, "add").with_description("Adds two integers."))
}
