//! What a prompt may return.

use std::{borrow::Cow, sync::Arc};

use trueform_schema::{
    AudioContent, ContentBlock, EmbeddedResource, GetPromptResult, ImageContent, PromptMessage,
    ResourceLink, Role, TextContent,
};

use crate::{
    exchange::InputRequired,
    feature::{
        content::{Audio, Blob, Image, IntoContent},
        failure::{Instead, IntoToolError, ToolError},
    },
};

/// A message of the user, or of the application on the user's behalf.
///
/// ```
/// use trueform::prompt::{assistant, user};
///
/// let messages = vec![user("What is 2 + 2?"), assistant("4"), user("And 3 + 3?")];
/// # assert_eq!(messages.len(), 3);
/// ```
pub fn user(content: impl IntoContent) -> PromptMessage {
    PromptMessage::new(content.into_content(), Role::User)
}

/// A message of the model.
pub fn assistant(content: impl IntoContent) -> PromptMessage {
    PromptMessage::new(content.into_content(), Role::Assistant)
}

/// What is one message of a prompt: a [`PromptMessage`], or content, which is a message of the user.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a message of a prompt",
    label = "no message",
    note = "text, `Image`, `Audio`, `Blob`, the content types of `trueform::schema`, and `PromptMessage` can"
)]
pub trait IntoPromptMessage {
    /// The message.
    fn into_prompt_message(self) -> PromptMessage;
}

impl IntoPromptMessage for PromptMessage {
    fn into_prompt_message(self) -> PromptMessage {
        self
    }
}

/// What a prompt may return: text or content, which is one message of the user; a [`PromptMessage`]; a `Vec` or an array of these; a
/// whole [`GetPromptResult`]; any of these in a `Result` with any error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a prompt",
    label = "not a result",
    note = "return text, content such as `Image`, a message of `trueform::prompt::user(…)` or `assistant(…)`, or a `Vec` of these",
    note = "and these in a `Result` with any error"
)]
pub trait IntoPromptResult {
    /// The messages.
    ///
    /// # Errors
    /// If the prompt failed. The client gets -32603 with the author's message.
    // K-2
    fn into_prompt_result(self) -> Result<GetPromptResult, ToolError>;
}

/// What is one message. A type each, not all that is [`IntoPromptMessage`], so that the compiler says what is wrong inside of a `Vec`
/// or a `Result`.
macro_rules! content_message {
    ($($ty:ty)*) => {$(
        impl IntoPromptMessage for $ty {
            fn into_prompt_message(self) -> PromptMessage {
                user(self)
            }
        }

        impl IntoPromptResult for $ty {
            fn into_prompt_result(self) -> Result<GetPromptResult, ToolError> {
                Ok(GetPromptResult::new(vec![self.into_prompt_message()]))
            }
        }
    )*};
}

content_message!(String &str Box<str> Arc<str> Cow<'_, str>);
content_message!(ContentBlock TextContent ImageContent AudioContent ResourceLink EmbeddedResource Image Audio Blob);

impl IntoPromptResult for PromptMessage {
    fn into_prompt_result(self) -> Result<GetPromptResult, ToolError> {
        Ok(GetPromptResult::new(vec![self]))
    }
}

impl IntoPromptResult for InputRequired {
    fn into_prompt_result(self) -> Result<GetPromptResult, ToolError> {
        Err(ToolError::instead(Instead::Required(self)))
    }
}

impl IntoPromptResult for GetPromptResult {
    fn into_prompt_result(self) -> Result<GetPromptResult, ToolError> {
        Ok(self)
    }
}

impl<T: IntoPromptMessage> IntoPromptResult for Vec<T> {
    fn into_prompt_result(self) -> Result<GetPromptResult, ToolError> {
        let messages: Vec<PromptMessage> = self
            .into_iter()
            .map(IntoPromptMessage::into_prompt_message)
            .collect();
        Ok(GetPromptResult::new(messages))
    }
}

impl<T: IntoPromptMessage, const N: usize> IntoPromptResult for [T; N] {
    fn into_prompt_result(self) -> Result<GetPromptResult, ToolError> {
        Vec::from(self).into_prompt_result()
    }
}

impl<T: IntoPromptResult, E: IntoToolError> IntoPromptResult for Result<T, E> {
    fn into_prompt_result(self) -> Result<GetPromptResult, ToolError> {
        self.map_err(Into::into)?.into_prompt_result()
    }
}
