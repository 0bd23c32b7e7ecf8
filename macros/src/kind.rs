//! The kinds of marked functions: tools, prompts and resources.

use std::fmt;

use proc_macro2::{Ident, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Prompt,
    Resource,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Tool, Self::Prompt, Self::Resource];

    /// Returns the kind whose attribute has the name `ident`.
    pub(crate) fn of_attribute(ident: &Ident) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| ident == kind.word())
    }

    /// Returns the noun, which is also the name of the attribute.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
        }
    }

    /// Returns the noun in names of types.
    const fn type_word(self) -> &'static str {
        match self {
            Self::Tool => "Tool",
            Self::Prompt => "Prompt",
            Self::Resource => "Resource",
        }
    }

    /// Returns the keys of the attribute.
    pub(crate) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Tool => &[
                "name",
                "title",
                "description",
                "read_only",
                "destructive",
                "idempotent",
                "open_world",
                "icons",
                "meta",
                "timeout",
                "blocking",
                "task",
                "needs",
                "asks",
                "profile",
                "crate",
            ],
            Self::Prompt => &[
                "name",
                "title",
                "description",
                "icons",
                "meta",
                "timeout",
                "blocking",
                "needs",
                "asks",
                "crate",
            ],
            Self::Resource => &[
                "name",
                "title",
                "description",
                "mime_type",
                "size",
                "audience",
                "priority",
                "last_modified",
                "ttl",
                "public",
                "file_like",
                "icons",
                "meta",
                "timeout",
                "blocking",
                "needs",
                "asks",
                "crate",
            ],
        }
    }

    /// Returns the text before the keys within the parentheses of the attribute.
    pub(crate) const fn before_keys(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "",
            Self::Resource => "\"scheme://path\", ",
        }
    }

    /// Returns what a function has exactly one of, for the message that it cannot be generic.
    pub(crate) const fn signature(self) -> &'static str {
        match self {
            Self::Tool => "schema",
            Self::Prompt | Self::Resource => "signature",
        }
    }

    /// Returns the use of the description.
    pub(crate) const fn choice(self) -> &'static str {
        match self {
            Self::Tool => "the model chooses it",
            Self::Prompt => "people choose it",
            Self::Resource => "clients choose it",
        }
    }

    /// Returns `ToolSpec`, `PromptSpec`, …: the noun followed by `suffix`.
    pub(crate) fn type_name(self, suffix: &str) -> Ident {
        Ident::new(&format!("{}{suffix}", self.type_word()), Span::call_site())
    }

    /// Returns the trait that converts results, and its method.
    pub(crate) fn conversion(self, span: Span) -> (Ident, Ident) {
        (
            Ident::new(&format!("Into{}Result", self.type_word()), span),
            Ident::new(&format!("into_{}_result", self.word()), span),
        )
    }

    /// Returns the function that begins a spec, which has the name of the attribute.
    pub(crate) fn begin(self) -> Ident {
        Ident::new(self.word(), Span::call_site())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
