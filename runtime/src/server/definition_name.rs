//! The definitions that reports about a server refer to.

use std::fmt;

/// The definition that a [`Loss`](super::Loss) or a [`LintFinding`](super::LintFinding) is about. `Display` writes a phrase, such as ``tool
/// `add` ``.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DefinitionName {
    /// The server's identity, its `serverInfo`.
    Server,
    /// The tool of this name.
    Tool(String),
    /// The prompt of this name.
    Prompt(String),
    /// The resource of this URI.
    Resource(String),
    /// The resource template of this URI template.
    ResourceTemplate(String),
}

impl DefinitionName {
    /// Returns the name, the URI or the URI template; `None` for the server.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Server => None,
            Self::Tool(name)
            | Self::Prompt(name)
            | Self::Resource(name)
            | Self::ResourceTemplate(name) => Some(name),
        }
    }
}

impl fmt::Display for DefinitionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server => f.write_str("`serverInfo`"),
            Self::Tool(name) => write!(f, "tool `{name}`"),
            Self::Prompt(name) => write!(f, "prompt `{name}`"),
            Self::Resource(uri) => write!(f, "resource `{uri}`"),
            Self::ResourceTemplate(uri) => write!(f, "resource template `{uri}`"),
        }
    }
}
