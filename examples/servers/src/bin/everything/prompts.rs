//! Prompts, each with another kind of message, and suggestions for an argument.

use trueform::{
    completion::CompletionQuery,
    prelude::*,
    prompt::user,
    schema::{EmbeddedResource, PromptMessage, ResourceContents, TextResourceContents},
    tool::Image,
};

use super::answers::PIXEL;

/// A prompt without arguments.
#[prompt]
pub(crate) fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

/// A prompt that repeats its arguments.
#[prompt]
pub(crate) fn test_prompt_with_arguments(
    /// The first argument.
    #[arg(complete = words)]
    arg1: String,
    /// The second argument.
    arg2: String,
) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

fn words(query: CompletionQuery) -> Vec<String> {
    let typed = query.into_value();
    ["", "Value", "ing"]
        .map(|ending| format!("{typed}{ending}"))
        .into()
}

/// A prompt with a resource in a message.
#[prompt]
pub(crate) fn test_prompt_with_embedded_resource(
    /// The URI of the resource.
    #[serde(rename = "resourceUri")]
    resource_uri: String,
) -> Vec<PromptMessage> {
    let text = "Embedded resource content for testing.";
    let contents = TextResourceContents::new(text, resource_uri).with_mime_type("text/plain");
    vec![
        user(EmbeddedResource::new(ResourceContents::from(contents))),
        user("Please process the embedded resource above."),
    ]
}

/// A prompt with an image in a message.
#[prompt]
pub(crate) fn test_prompt_with_image() -> Vec<PromptMessage> {
    vec![
        user(Image::png(PIXEL)),
        user("Please analyze the image above."),
    ]
}

/// Notifies clients that the list of prompts changed.
#[tool]
pub(crate) fn test_trigger_prompt_change(context: Context) -> &'static str {
    context.server().notify_prompts_changed();
    "Notified every client that listens."
}
