//! Where a tool, prompt or resource was written, for messages to the author.

use std::{fmt, sync::Arc};

/// Where a tool, prompt or resource was written.
#[derive(Clone, Debug)]
pub(crate) struct Place(Arc<str>);

impl Place {
    pub(crate) fn function(name: &str, file: &str, line: u32) -> Self {
        Self(format!("fn `{name}` at {file}:{line}").into())
    }

    /// Creates the place of something that is not a function; `what` is its kind, such as `dynamic tool`.
    pub(crate) fn value(what: &str, location: &std::panic::Location<'_>) -> Self {
        let (file, line) = (location.file(), location.line());
        Self(format!("the {what} at {file}:{line}").into())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
