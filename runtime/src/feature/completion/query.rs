//! The text that a user has typed so far.

use std::fmt;

use trueform_schema::Map;

use crate::exchange::Context;

/// The text that a user has typed so far for one argument, and the arguments that were filled in before.
#[derive(Clone)]
pub struct CompletionQuery {
    pub(crate) value: String,
    pub(crate) arguments: Map<String>,
    pub(crate) context: Context,
}

impl CompletionQuery {
    /// Returns the text typed so far, which may be empty.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Converts the query into the text typed so far.
    #[must_use]
    pub fn into_value(self) -> String {
        self.value
    }

    /// Returns the value of another argument `name`, if it is filled in. Clients send it since 2025-06-18.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).map(String::as_str)
    }

    /// Returns the context, with the caller and the state of the server.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }
}

impl fmt::Debug for CompletionQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionQuery")
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}
