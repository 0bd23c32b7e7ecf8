//! Tools that need the client: its model, its user, a capability. The forms are those that the official suite expects.

use trueform::prelude::*;

use crate::rounds::question;

/// Asks the client's model for an answer to a prompt.
#[tool(needs(sampling))]
pub(crate) async fn test_sampling(
    context: Context,
    /// The prompt for the model.
    prompt: String,
) -> Result<String, ToolError> {
    let answer = context.sample("answer", question(&prompt, 100)).await?;
    Ok(format!("LLM response: {}", answer.text()))
}

/// Who the person is, and where.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Person {
    /// How to call you
    username: String,
    /// Where to reach you
    email: String,
}

/// Asks the person for a name and an address.
#[tool(needs(elicitation))]
pub(crate) async fn test_elicitation(
    context: Context,
    /// The message shown to the person.
    message: String,
) -> Result<String, ToolError> {
    let person = context.ask::<Person>("person", message).await?;
    Ok(format!("User response: {}", said(&person)?))
}

/// Values that all have defaults.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Defaults {
    name: String,
    age: i64,
    score: f64,
    status: Status,
    verified: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

impl Default for Defaults {
    fn default() -> Self {
        Self {
            name: "John Doe".to_owned(),
            age: 30,
            score: 95.5,
            status: Status::Active,
            verified: true,
        }
    }
}

/// Asks the person for values that have defaults.
#[tool(needs(elicitation))]
pub(crate) async fn test_elicitation_sep1034_defaults(
    context: Context,
) -> Result<String, ToolError> {
    let values = context.ask::<Defaults>("values", "Please check these values");
    let values = said(&values.await?)?;
    Ok(format!("Elicitation completed: {values}"))
}

/// Each kind of choice.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Choices {
    untitled_single: Option<Untitled>,
    titled_single: Option<Titled>,
    legacy_enum: Option<Legacy>,
    untitled_multi: Option<Vec<Untitled>>,
    titled_multi: Option<Vec<Titled>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Untitled {
    Option1,
    Option2,
    Option3,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Titled {
    /// First Option
    Value1,
    /// Second Option
    Value2,
    /// Third Option
    Value3,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(extend("enumNames" = ["Option One", "Option Two", "Option Three"]))]
enum Legacy {
    Opt1,
    Opt2,
    Opt3,
}

/// Asks the person to choose, with each kind of choice.
#[tool(needs(elicitation))]
pub(crate) async fn test_elicitation_sep1330_enums(context: Context) -> Result<String, ToolError> {
    let choices = context.ask::<Choices>("choices", "Please choose").await?;
    Ok(format!("Elicitation completed: {}", said(&choices)?))
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

/// What the person decided and entered, as JSON.
fn said<T: Serialize>(asked: &Asked<T>) -> Result<String, ToolError> {
    let (action, content) = match asked {
        Asked::Accepted(content) => ("accept", serde_json::to_string(content)?),
        Asked::Declined => ("decline", "null".to_owned()),
        Asked::Cancelled => ("cancel", "null".to_owned()),
    };
    Ok(format!("action={action}, content={content}"))
}
