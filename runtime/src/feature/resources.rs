//! Resources: data that clients can read by URI, and URI templates for many resources.
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
//! The values are percent-decoded: `a%2Fb` is the value `a/b` of `{name}`. A value that is not UTF-8 after decoding is an error. If the
//! scheme is `file`, or the template is marked as file-like, values that could leave their folder are an error too: values with a segment
//! `..` or `.`, an encoded slash, a backslash, a NUL or a drive, and absolute paths.
//!
//! A resource has precedence over templates. Of the templates that match a URI, the most specific one is read: at the first place where two
//! differ, a literal character has precedence over `{name}`, `{name}` over `{+path}`, and the longer template over the shorter one. Two
//! templates that match the same URIs are an error at the start. If two templates share only some URIs, and this order does not distinguish
//! them, the one that was registered first is read. [`UriTemplate`] creates the URI for given values, for links to resources.

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

/// Items that the expansions of macros use, apart from the traits above.
pub(crate) mod macro_support {
    pub use super::{
        set::ResourceFunction,
        spec::{ResourceSpec, resource},
    };
}
