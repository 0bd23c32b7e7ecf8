//! How a value is written at revisions that lack part of it: one row for every rule that the encoders and
//! [`conform`](crate::conform()) apply.
//!
//! Most rows are generated from the merged model, so that none is missing. The other rows are the rewrites of error codes. This module only
//! describes the rules; [`At`](crate::At) applies them.

use std::fmt;

use crate::{Revisions, generated, rewrite};

/// One rule: how a member, alternative or value is treated at some revisions.
///
/// ```
/// use trueform_schema::{Revision, projection::{self, Becomes}};
///
/// let title = projection::rules().find(|rule| rule.is("Tool", "title")).unwrap();
/// assert_eq!(title.becomes, Becomes::LeftOut);
/// assert!(title.at.contains(Revision::V2025_03_26));
/// assert!(!title.at.contains(Revision::V2025_06_18));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The subject in the specification: `tools`.
    pub topic: &'static str,
    /// The type: `Tool`.
    pub of: &'static str,
    /// The member by its name on the wire, the variant by its Rust name, or the value on the wire: `title`.
    pub item: &'static str,
    /// The revisions that the rule applies to.
    pub at: Revisions,
    /// The treatment.
    pub becomes: Becomes,
}

/// How a revision treats a member, alternative or value. `Display` writes a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Becomes {
    /// The revision does not have the member: it is not written.
    LeftOut,
    /// This is written if the author set nothing.
    Filled(&'static str),
    /// This is written instead.
    Rewritten(&'static str),
    /// The revision does not have the alternative or value, and nothing can replace it: it is a violation.
    Refused,
    /// The revision requires the member: a value without it is a violation.
    Required,
    /// The revision requires this of the value: any other is a violation.
    Narrowed(&'static str),
}

impl Rule {
    /// Creates a rule for `item` of the type `of`, at the revisions `at`, in the form of [`Revisions::from_bits`].
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        topic: &'static str,
        of: &'static str,
        item: &'static str,
        at: u8,
        becomes: Becomes,
    ) -> Self {
        Self {
            topic,
            of,
            item,
            at: Revisions::from_bits(at),
            becomes,
        }
    }

    /// Returns whether the rule is about `item` of the type `of`.
    #[must_use]
    pub fn is(&self, of: &str, item: &str) -> bool {
        self.of == of && self.item == item
    }
}

impl fmt::Display for Becomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftOut => f.write_str("left out"),
            Self::Filled(words) => write!(f, "filled in if absent: {words}"),
            Self::Rewritten(words) => write!(f, "rewritten: {words}"),
            Self::Refused => f.write_str("refused"),
            Self::Required => f.write_str("refused without it"),
            Self::Narrowed(words) => write!(f, "refused unless {words}"),
        }
    }
}

/// Returns every rule of the core's types and of error codes, by type and item.
pub fn rules() -> impl Iterator<Item = Rule> {
    let codes = rewrite::ERROR_CODES.iter().map(|code| Rule {
        topic: "errors",
        of: "ErrorObject",
        item: code.name,
        at: code.at,
        becomes: Becomes::Rewritten(code.into_name),
    });
    generated::PROJECTION.iter().copied().chain(codes)
}
