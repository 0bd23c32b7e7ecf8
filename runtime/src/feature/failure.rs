//! The failure of an author's function: the text for the model, and the details for the log.

use std::{error::Error, fmt};

use trueform_schema::{ContentBlock, DecodeError, ErrorObject, Revision};

use crate::{
    exchange::{AskError, InputRequired, RESPONSES},
    needs::RequiredCapabilities,
};

/// Why a tool failed.
///
/// The message goes to the model, so that it can try again with better arguments. A source goes to the log only.
/// Any error becomes a `ToolError` with `?`: its `Display` text is the message, its sources are for the log. If the text is internal too,
/// use [`ToolError::internal`].
///
/// ```
/// use trueform::prelude::*;
///
/// /// Reads a note.
/// #[tool]
/// fn read(name: String) -> Result<String, ToolError> {
///     if name.contains('/') {
///         return Err(ToolError::new(format!("`{name}` is not the name of a note")));
///     }
///     std::fs::read_to_string(&name).map_err(ToolError::internal)
/// }
/// ```
pub struct ToolError(Box<Inner>);

struct Inner {
    /// For the model.
    message: String,
    content: Vec<ContentBlock>,
    /// For the log.
    source: Option<BoxError>,
    protocol: Option<ErrorObject>,
    is_not_found: bool,
    /// The argument that has a wrong value.
    argument: Option<Box<str>>,
    instead: Option<Box<Instead>>,
}

/// What a call ends with in place of a result or an error.
#[derive(Debug)]
pub(crate) enum Instead {
    /// The questions for which it was suspended.
    Questions,
    /// The author's own questions.
    Required(InputRequired),
    /// It needs capabilities that the client did not declare.
    Undeclared(RequiredCapabilities),
    /// It asks for a form that the revision of the client cannot express.
    NoForm(Revision),
    /// The request contains a malformed answer. The pointer is relative to the message.
    Malformed(DecodeError),
}

type BoxError = Box<dyn Error + Send + Sync>;

// Every call returns one inside a `Result`.
const _: () = assert!(size_of::<Result<(), ToolError>>() == size_of::<usize>());

impl ToolError {
    /// Creates an error with `message` for the model.
    pub fn new(message: impl fmt::Display) -> Self {
        Self::of(message.to_string(), None)
    }

    /// Creates an error for which the model reads only "internal error"; `source` is logged.
    pub fn internal(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::of("internal error".to_owned(), Some(source.into()))
    }

    /// Creates a JSON-RPC error in place of a result. The model does not see such an error; clients treat it as a fault of the client or
    /// the server.
    ///
    /// You can use all codes outside of -32768 to -32000. Of the codes within, the client gets those that its revision has: -32002, for a
    /// resource that does not exist, becomes -32602 at 2026-07-28; -32042, with the URLs to visit first as `data.elicitations`, is for
    /// 2025-11-25. A code that the revision does not have, or whose data is missing, becomes -32603, and the log has the rest.
    #[must_use]
    pub fn protocol(error: ErrorObject) -> Self {
        let mut this = Self::of(error.message.clone(), None);
        this.0.protocol = Some(error);
        this
    }

    /// Creates the error for a resource that does not exist: the client gets -32002 with the URI, at 2026-07-28 -32602. If `message` is
    /// empty, the text says that there is no such resource. In a tool, the error is the same as from [`ToolError::new`].
    ///
    /// ```
    /// use trueform::{ToolError, resource::{IntoResourceResult, ResourceOutput}};
    ///
    /// fn row(id: u64) -> Result<ResourceOutput, ToolError> {
    ///     match id {
    ///         1 => "the first row".into_resource_result(),
    ///         _ => Err(ToolError::not_found(format!("there is no row {id}"))),
    ///     }
    /// }
    /// # assert!(row(1).is_ok() && row(2).is_err());
    /// ```
    // J-2, J-3
    pub fn not_found(message: impl fmt::Display) -> Self {
        let mut this = Self::new(message);
        this.0.is_not_found = true;
        this
    }

    /// Creates the error for an argument `name` with a wrong value; `message` says what was expected. `name` is the argument's name on the
    /// wire, or the name of a variable of a resource template.
    ///
    /// For a prompt, a resource or a completion, the error is -32602 with a JSON pointer to the value. For a tool, it is a result for the
    /// model, as for arguments that its schema forbids.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// Translates a text.
    /// #[prompt]
    /// fn translate(text: String, language: String) -> Result<String, ToolError> {
    ///     match language.as_str() {
    ///         "de" | "fr" => Ok(format!("Translate into `{language}`: {text}")),
    ///         _ => Err(ToolError::invalid_argument("language", "expected `de` or `fr`")),
    ///     }
    /// }
    /// ```
    // K-2, L-3, I-6
    pub fn invalid_argument(name: impl Into<String>, message: impl fmt::Display) -> Self {
        let mut this = Self::new(message);
        this.0.argument = Some(name.into().into());
        this
    }

    fn of(message: String, source: Option<BoxError>) -> Self {
        Self(Box::new(Inner {
            message,
            content: Vec::new(),
            source,
            protocol: None,
            is_not_found: false,
            argument: None,
            instead: None,
        }))
    }

    /// Creates the end of a call that was suspended, or whose author asks.
    pub(crate) fn instead(instead: Instead) -> Self {
        let message = "a result that asks for input, which no client of this revision understands";
        let mut this = Self::new(message);
        this.0.instead = Some(Box::new(instead));
        this
    }

    /// Returns whether the call ends with something else than this error.
    #[inline]
    pub(crate) fn has_instead(&self) -> bool {
        self.0.instead.is_some()
    }

    pub(crate) fn instead_ref(&self) -> Option<&Instead> {
        self.0.instead.as_deref()
    }

    pub(crate) fn take_instead(&mut self) -> Option<Instead> {
        self.0.instead.take().map(|instead| *instead)
    }

    /// Adds a block of content for the model, after the message.
    ///
    /// ```
    /// use trueform::{prelude::*, schema::TextContent};
    ///
    /// let error = ToolError::new("the build failed")
    ///     .with_content(TextContent::new("error: expected `;`"));
    /// ```
    #[must_use]
    pub fn with_content(mut self, content: impl Into<ContentBlock>) -> Self {
        self.0.content.push(content.into());
        self
    }

    /// Sets the error for the log. A second call replaces the first.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let source = "12a".parse::<u8>().unwrap_err();
    /// let error = ToolError::new("the port is not a number").with_source(source);
    /// ```
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Returns the text for the model.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the error for the log.
    #[must_use]
    pub fn source(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.0.source.as_deref()
    }

    /// Returns whether it says that a resource does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.0.is_not_found
    }

    /// Returns the argument that has a wrong value.
    pub(crate) fn argument(&self) -> Option<&str> {
        self.0.argument.as_deref()
    }

    /// Returns the message, the further content, and the protocol error if it is to be sent in place of a result.
    pub(crate) fn into_parts(self) -> (String, Vec<ContentBlock>, Option<ErrorObject>) {
        let Inner {
            message,
            content,
            protocol,
            ..
        } = *self.0;
        (message, content, protocol)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            message, source, ..
        } = &*self.0;
        f.debug_struct("ToolError")
            .field("message", message)
            .field("source", source)
            .finish_non_exhaustive()
    }
}

/// Converts every error, boxed errors, `anyhow::Error`, `String` and `&str`. `ToolError` itself is deliberately not a `std::error::Error`:
/// otherwise the compiler would not allow this conversion for all errors.
impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::from_boxed(error.into())
    }
}

impl ToolError {
    fn from_boxed(error: BoxError) -> Self {
        let message = error.to_string();
        let instead = match error.downcast_ref::<AskError>() {
            // The client gets the error of the protocol for this case (C-10, DEC-9).
            Some(AskError::NotDeclared(missing)) => Some(Instead::Undeclared(*missing)),
            Some(AskError::NoForm { revision, .. }) => Some(Instead::NoForm(*revision)),
            // T-10
            Some(AskError::Malformed(problem)) if problem.pointer().starts_with(RESPONSES) => {
                Some(Instead::Malformed(problem.clone()))
            }
            _ => None,
        };
        if let Some(instead) = instead {
            let mut this = Self::of(message, None);
            this.0.instead = Some(Box::new(instead));
            return this;
        }
        // The text of an error without causes is complete.
        let source = error.source().is_some().then_some(error);
        Self::of(message, source)
    }
}

/// The error of a function: any type that converts into [`ToolError`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool, prompt or resource",
    label = "does not convert into `trueform::ToolError`",
    note = "what implements `std::error::Error + Send + Sync + 'static` does, and so do `Box<dyn Error + Send + Sync>`, \
            `anyhow::Error`, `String` and `&'static str`",
    note = "implement `std::error::Error` for it, or say what the model reads: `.map_err(|error| ToolError::new(…))`"
)]
pub trait IntoToolError: Into<ToolError> {}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> IntoToolError for E {}

/// An error and its causes, outermost first, for the log.
pub(crate) struct Chain<'a>(pub(crate) &'a (dyn Error + Send + Sync + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(std::num::ParseIntError);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("no number")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    fn anyhow() -> Result<(), ToolError> {
        Err(anyhow::anyhow!("root").context("top"))?;
        Ok(())
    }

    fn text() -> Result<(), ToolError> {
        Err("plain")?;
        Ok(())
    }

    #[test]
    fn conversions() {
        let parse = || "x".parse::<u8>().unwrap_err();
        for (error, message, log) in [
            (ToolError::from("text"), "text", None),
            (ToolError::from(String::from("text")), "text", None),
            (
                ToolError::from(parse()),
                "invalid digit found in string",
                None,
            ),
            (
                ToolError::from(Outer(parse())),
                "no number",
                Some("no number: invalid digit found in string"),
            ),
            (
                ToolError::from(Box::<dyn Error + Send + Sync>::from("boxed")),
                "boxed",
                None,
            ),
            (anyhow().unwrap_err(), "top", Some("top: root")),
            (text().unwrap_err(), "plain", None),
            (
                ToolError::internal(Outer(parse())),
                "internal error",
                Some("no number: invalid digit found in string"),
            ),
            (ToolError::new("a").with_source("b"), "a", Some("b")),
        ] {
            assert_eq!(error.message(), message);
            assert_eq!(
                error
                    .source()
                    .map(|source| Chain(source).to_string())
                    .as_deref(),
                log
            );
        }
    }
}
