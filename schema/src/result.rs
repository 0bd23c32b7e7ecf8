//! Reading the results of tools, prompts and resources.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::{
    CallToolResult, ContentBlock, CreateMessageResult, DecodeError, GetPromptResult, Json,
    RawMembers, ReadResourceResult, ResourceContents, SamplingMessageContent,
    SamplingMessageContentBlock, decode, rewrite::Wrapped,
};

impl CallToolResult {
    /// Returns the text blocks, joined by line ends. Empty without texts.
    ///
    /// ```
    /// use trueform_schema::{CallToolResult, TextContent};
    ///
    /// let result = CallToolResult::new([TextContent::new("3 files").into(), TextContent::new("1 link").into()]);
    /// assert_eq!(result.text(), "3 files\n1 link");
    /// ```
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text(block) => Some(&*block.text),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns the structured content as a `T`.
    ///
    /// Before 2026-07-28, structured content is an object, and servers write any other value as `{"result": value}`. Both forms are read.
    ///
    /// ```
    /// use trueform_schema::{CallToolResult, Json};
    ///
    /// let mut result = CallToolResult::new([]);
    /// result.structured_content = Some(Json::from_text(r#"{"sum":3}"#)?);
    /// #[derive(serde::Deserialize)]
    /// struct Added {
    ///     sum: i64,
    /// }
    /// assert_eq!(result.structured::<Added>()?.sum, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The result has no structured content, or it does not have the form of a `T`.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        let Some(content) = &self.structured_content else {
            let problem = match self.is_error {
                Some(true) => format!("the call failed: {}", self.text()),
                _ => "the result has no structured content".to_owned(),
            };
            return Err(DecodeError::new("/structuredContent", problem));
        };
        decode::from_str(content.get()).or_else(|error| match wrapped(content) {
            Some(value) => decode::from_str(value.get()),
            None => Err(error),
        })
    }
}

impl CreateMessageResult {
    /// Returns the texts of the message, joined by line ends. Empty without texts.
    ///
    /// ```
    /// use trueform_schema::{CreateMessageResult, Role, SamplingMessageContentBlock, TextContent};
    ///
    /// let block = |text: &str| SamplingMessageContentBlock::Text(TextContent::new(text));
    /// let one = CreateMessageResult::new(block("Hello."), "model", Role::Assistant);
    /// assert_eq!(one.text(), "Hello.");
    /// let two = CreateMessageResult::new(vec![block("Hello."), block("Bye.")], "model", Role::Assistant);
    /// assert_eq!(two.text(), "Hello.\nBye.");
    /// ```
    #[must_use]
    pub fn text(&self) -> String {
        let blocks = match &self.content {
            SamplingMessageContent::Single(block) => std::slice::from_ref(block),
            SamplingMessageContent::Many(blocks) => blocks,
        };
        let texts = blocks.iter().filter_map(|block| match block {
            SamplingMessageContentBlock::Text(block) => Some(&*block.text),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl GetPromptResult {
    /// Returns the texts of the messages of both roles, joined by line ends. Empty without texts.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self
            .messages
            .iter()
            .filter_map(|message| match &message.content {
                ContentBlock::Text(block) => Some(&*block.text),
                _ => None,
            });
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl ReadResourceResult {
    /// Returns the texts of the contents, joined by line ends. Empty without texts.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.contents.iter().filter_map(|contents| match contents {
            ResourceContents::Text(contents) => Some(&*contents.text),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Returns the value in `{"result": value}`; `None` if `content` is anything else.
fn wrapped(content: &Json) -> Option<&RawValue> {
    let RawMembers(members) = content.parse().ok()?;
    match &members[..] {
        [(name, value)] if name == Wrapped::MEMBER => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(content: Option<&str>, is_error: bool) -> CallToolResult {
        let mut result = CallToolResult::new([crate::TextContent::new("why").into()]);
        result.structured_content = content.map(|text| Json::from_text(text).unwrap());
        result.is_error = is_error.then_some(true);
        result
    }

    #[test]
    fn structured_content_in_both_forms() {
        for content in ["[1,2]", r#"{"result":[1,2]}"#] {
            let read = result(Some(content), false).structured::<Vec<i64>>();
            assert_eq!(read.unwrap(), [1, 2], "{content}");
        }
        // An object with this member is not unwrapped for a type that has the member.
        let read = result(Some(r#"{"result":1}"#), false).structured::<Json>();
        assert_eq!(read.unwrap().get(), r#"{"result":1}"#);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let problem = |content, is_error| {
            let read = result(content, is_error).structured::<Vec<i64>>();
            read.unwrap_err().to_string()
        };
        assert!(problem(None, false).contains("no structured content"));
        assert!(problem(None, true).contains("the call failed: why"));
        let other = problem(Some(r#"{"result":[1],"more":2}"#), false);
        assert!(other.contains("expected a sequence"), "{other}");
    }
}
