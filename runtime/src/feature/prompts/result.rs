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

/// Creates a message of the user, or of the application on the user's behalf.
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

/// Creates a message of the model.
pub fn assistant(content: impl IntoContent) -> PromptMessage {
    PromptMessage::new(content.into_content(), Role::Assistant)
}

/// A value that converts into one message of a prompt: a [`PromptMessage`], or content, which becomes a message of the user.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a message of a prompt",
    label = "no message",
    note = "text, `Image`, `Audio`, `Blob`, the content types of `trueform::schema`, and `PromptMessage` can"
)]
pub trait IntoPromptMessage {
    /// Converts the value into a message.
    fn into_prompt_message(self) -> PromptMessage;
}

impl IntoPromptMessage for PromptMessage {
    fn into_prompt_message(self) -> PromptMessage {
        self
    }
}

/// What a prompt may return: text or content, which becomes one message of the user; a [`PromptMessage`]; a `Vec` or an array of these; a
/// complete [`GetPromptResult`]; any of these in a `Result` with any error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a prompt",
    label = "not a result",
    note = "return text, content such as `Image`, a message of `trueform::prompt::user(…)` or `assistant(…)`, or a `Vec` of these",
    note = "and these in a `Result` with any error"
)]
pub trait IntoPromptResult {
    /// Converts the value into a result.
    ///
    /// # Errors
    /// The prompt failed. The client gets -32603 with the author's message.
    // K-2
    fn into_prompt_result(self) -> Result<GetPromptResult, ToolError>;
}

/// Implements the traits for one type, not for all [`IntoPromptMessage`], so that the compiler reports what is wrong inside a `Vec` or a
/// `Result`.
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
