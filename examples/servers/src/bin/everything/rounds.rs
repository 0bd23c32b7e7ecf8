//! Tools, a prompt and a resource that ask before they answer. A client of 2026-07-28 gets the questions as a result, and repeats the
//! request with the answers. Older clients get requests.

use trueform::{
    prelude::*,
    schema::{
        CreateMessageRequestParams, Role, SamplingMessage, SamplingMessageContentBlock, TextContent,
    },
};

/// Who the person is.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Name {
    /// How to call you.
    name: String,
}

/// Whether to go on.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Confirmation {
    /// Yes or no.
    ok: bool,
}

/// What the person likes.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Color {
    /// The name of a color.
    color: String,
}

/// What a prompt is about.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct About {
    /// The subject.
    context: String,
}

/// Asks for a name, then says hello.
#[tool(needs(elicitation))]
pub(crate) async fn test_input_required_result_elicitation(
    context: Context,
) -> Result<String, ToolError> {
    let asked = context.ask::<Name>("user_name", "What is your name?");
    Ok(match asked.await? {
        Asked::Accepted(Name { name }) => format!("Hello, {name}!"),
        _ => "Hello, stranger!".to_owned(),
    })
}

/// Asks the client's model for the capital of France.
#[tool(needs(sampling))]
pub(crate) async fn test_input_required_result_sampling(
    context: Context,
) -> Result<String, ToolError> {
    let question = question("What is the capital of France?", 100);
    let answer = context.sample("capital_question", question).await?;
    Ok(format!("The model says: {}", answer.text()))
}

/// Asks the client for its roots.
#[tool(needs(roots))]
pub(crate) async fn test_input_required_result_list_roots(
    context: Context,
) -> Result<String, ToolError> {
    let roots = context.roots().await?;
    let uris: Vec<_> = roots.into_iter().map(|root| root.uri).collect();
    Ok(format!("{} roots: {}", uris.len(), uris.join(", ")))
}

/// Asks whether to go on, and takes up its state when the answer comes.
#[tool(needs(elicitation))]
pub(crate) async fn test_input_required_result_request_state(
    context: Context,
) -> Result<String, ToolError> {
    confirmed(&context, "state-ok").await
}

/// Asks whether to go on, and refuses a state that somebody changed.
#[tool(needs(elicitation))]
pub(crate) async fn test_input_required_result_tampered_state(
    context: Context,
) -> Result<String, ToolError> {
    confirmed(&context, "the state is as it was").await
}

async fn confirmed(context: &Context, yes: &str) -> Result<String, ToolError> {
    let asked = context.ask::<Confirmation>("confirm", "Shall I go on?");
    Ok(match asked.await? {
        Asked::Accepted(Confirmation { ok: true }) => yes.to_owned(),
        _ => "stopped".to_owned(),
    })
}

/// Asks the person, the client's model and the client at once.
#[tool(needs(elicitation, sampling, roots))]
pub(crate) async fn test_input_required_result_multiple_inputs(
    context: Context,
) -> Result<String, ToolError> {
    let (name, greeting, roots) = tokio::try_join!(
        context.ask::<Name>("user_name", "What is your name?"),
        context.sample("greeting", question("Generate a greeting", 50)),
        context.roots(),
    )?;
    let name = name
        .accepted()
        .map_or_else(|| "stranger".to_owned(), |answer| answer.name);
    Ok(format!(
        "{}, {name}! You have {} roots.",
        greeting.text(),
        roots.len()
    ))
}

/// Asks twice, the second question after the first answer.
#[tool(needs(elicitation))]
pub(crate) async fn test_input_required_result_multi_round(
    context: Context,
) -> Result<String, ToolError> {
    let stopped = || ToolError::new("you did not answer");
    let name = context
        .ask::<Name>("step1", "Step 1: What is your name?")
        .await?;
    let Name { name } = name.or_else(stopped)?;
    let color = context
        .ask::<Color>("step2", "Step 2: What is your favorite color?")
        .await?;
    let Color { color } = color.or_else(stopped)?;
    Ok(format!("{name} likes {color}."))
}

/// Asks only what the client can answer.
#[tool]
pub(crate) async fn test_input_required_result_capabilities(
    context: Context,
) -> Result<String, ToolError> {
    let declared = context.client_capabilities();
    let (can_elicit, can_sample) = (declared.elicitation.is_some(), declared.sampling.is_some());
    if can_elicit {
        let asked = context
            .ask::<Name>("user_name", "What is your name?")
            .await?;
        return Ok(format!("answered: {}", asked.is_accepted()));
    }
    if can_sample {
        let question = question("What is the capital of France?", 100);
        let answer = context.sample("capital_question", question).await?;
        return Ok(answer.text());
    }
    Ok("Nothing can be asked of this client.".to_owned())
}

/// Sends the person to a page, and says whether they agreed.
#[tool(needs(elicitation_url))]
pub(crate) async fn ask_url(context: Context) -> Result<&'static str, ToolError> {
    let url = "https://example.com/sign-in";
    let asked = context
        .ask_url("sign_in", "Please sign in there.", url)
        .await?;
    Ok(match asked {
        Asked::Accepted(page) => {
            page.complete()?;
            "You agreed to visit the page."
        }
        Asked::Declined => "You declined.",
        Asked::Cancelled => "You cancelled.",
    })
}

/// A prompt that asks what it is about.
#[prompt]
pub(crate) async fn test_input_required_result_prompt(
    context: Context,
) -> Result<String, ToolError> {
    let asked = context.ask::<About>("user_context", "What context should the prompt use?");
    Ok(match asked.await? {
        Asked::Accepted(About { context }) => format!("Use this context: {context}"),
        _ => "Use no context.".to_owned(),
    })
}

/// A resource that asks before it is read.
#[resource("test://asks-first", mime_type = "text/plain")]
pub(crate) async fn asks_first(context: Context) -> Result<String, ToolError> {
    let asked = context.ask::<Name>("user_name", "Who reads this?").await?;
    Ok(match asked {
        Asked::Accepted(Name { name }) => format!("Read by {name}."),
        _ => "Read by somebody.".to_owned(),
    })
}

pub(crate) fn question(text: &str, max_tokens: i64) -> CreateMessageRequestParams {
    let text = SamplingMessageContentBlock::from(TextContent::new(text));
    CreateMessageRequestParams::new(max_tokens, [SamplingMessage::new(text, Role::User)])
}
