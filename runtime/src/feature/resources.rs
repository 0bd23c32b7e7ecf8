//! Resources: what a server lets clients read, by its URI, and templates of URIs that make many.
//!
//! A resource is a function with a URI: `#[resource("config://app")]`. A template has variables in its URI, which are the parameters of
//! its function: `#[resource("notes://{name}")]`.
//!
//! # Templates
//!
//! A template is a URI template of RFC 6570 with these expressions:
//!
//! | expression | matches |
//! | --- | --- |
//! | `{name}` | at least one character, without `/`, `?` and `#` |
//! | `{/name}` | a slash, and what `{name}` matches |
//! | `{+path}` | at least one character, with slashes; one such variable for each template |
//! | `{a,b}`, `{/a,b}` | two variables, with a comma or a slash between |
//!
//! The values are percent-decoded: `a%2Fb` is the value `a/b` of `{name}`. A value that is not UTF-8 once it is decoded is an error.
//! Where the scheme is `file`, and where a template is marked as file-like, values that could leave their folder are an error too:
//! those with a segment `..` or `.`, an encoded slash, a backslash, a NUL or a drive, and absolute paths.
//!
//! A resource comes before templates. Of the templates that a URI has the form of, the most specific one is read: at the first place
//! where two differ, a literal character comes before `{name}`, `{name}` before `{+path}`, and the longer template before the shorter
//! one. Two templates that match the same URIs are an error at the start; of two that share only some, and that this order does not
//! tell apart, the one that was registered first is read. [`UriTemplate`] makes the URI of values, for links to resources.

mod contents;
mod date;
mod draft;
mod dynamic;
mod folder;
mod items;
mod matcher;
mod reading;
mod room;
mod set;
mod spec;
mod spelling;
pub(crate) mod template;
pub(crate) mod trie;
mod uri_template;

pub(crate) use self::room::{Resources, TOPIC};
pub use self::{
    contents::{IntoResourceResult, ResourceOutput},
    dynamic::{DynamicResource, DynamicTemplate, Variables},
    folder::{
        DEFAULT_MAX_FILE_SIZE, DEFAULT_MAX_LISTED, Folder, FolderEntry, FolderFiles, media_type,
    },
    set::{IntoResources, ResourceSet},
    uri_template::{UriTemplate, UriTemplateError},
};
pub use crate::feature::caching::Caching;

/// What expansions of the macros call, apart from the traits above.
pub(crate) mod macro_support {
    pub use super::{
        set::ResourceFunction,
        spec::{ResourceSpec, resource},
    };
}
