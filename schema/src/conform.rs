//! Checks whether a revision allows a value in the form in which that revision sees it.
//!
//! The check covers the value as [`At`](crate::At) writes it. Members that the revision does not know are not written, so they
//! are not violations; the rest must be valid under the official schema of that revision. Only constraints that Rust's types
//! cannot express are checked. Nothing is allocated unless something is wrong: the replacement that an older revision sees is
//! checked without being built, and names in raw JSON are compared in their escaped form. This module owns JSON pointers and
//! the constraints on single values; which value must meet which constraint is generated.

mod formats;
mod incoming;
mod needs;
mod quoted;
mod shape;
mod walk;

use std::{fmt, ops::ControlFlow};

use crate::{Encode, JsonKind, Revision, Revisions, pointer};

pub use self::{
    formats::{Format, is_base64, is_uri, is_uri_reference, is_uri_template},
    incoming::{Difference, DifferenceKind, differences},
    needs::{Need, Needs},
    shape::{Member, Shape},
    walk::{ObjectWalk, Walk},
};

/// Whether to continue: [`ControlFlow::Break`] once the sink takes no more.
pub type Flow = ControlFlow<()>;

/// A value that can be checked against any revision.
///
/// Generated for all message types. To check a value, call [`conform`] or [`violations`].
pub trait Conform: Encode {
    /// Reports to `walk` everything in this value, which is at `path`, that the walk's revision does not allow.
    fn conform(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow;

    /// Reports those of `needs`, the constraints of this place on any value, that this value does not meet.
    #[doc(hidden)]
    fn meets(&self, _needs: &Needs, _walk: &mut Walk<'_>, _path: &Path<'_>) -> Flow {
        Flow::Continue(())
    }
}

/// Checks whether `revision` allows `value` in the form in which it sees it.
///
/// ```
/// use trueform_schema::{AudioContent, CallToolResult, Json, JsonKind, Revision, conform};
///
/// let mut result = CallToolResult::new(vec![]).with_structured_content(Json::from_value(&[1, 2])?);
/// assert!(conform(&result, Revision::V2026_07_28).is_ok());
///
/// // Until then structured content was an object.
/// let violation = conform(&result, Revision::V2025_11_25).unwrap_err();
/// assert_eq!(violation.pointer(), "/structuredContent");
/// assert_eq!(violation.found(), Some((JsonKind::Array, 5)));
/// assert_eq!(violation.since(), Some(Revision::V2026_07_28));
///
/// // Before 2025-06-18 structured content did not exist, so it is not written.
/// assert!(conform(&result, Revision::V2025_03_26).is_ok());
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// The first [`Violation`].
pub fn conform<T: Conform + ?Sized>(value: &T, revision: Revision) -> Result<(), Box<Violation>> {
    let mut first = First(None);
    let _ = value.conform(&mut Walk::new(revision, &mut first), &Path::ROOT);
    first.0.map_or(Ok(()), Err)
}

/// Everything in `value` that `revision` does not allow, at most [`Bounded::MOST`] violations.
#[must_use]
pub fn violations<T: Conform + ?Sized>(value: &T, revision: Revision) -> Vec<Violation> {
    let mut all = Bounded::new(Bounded::MOST);
    let _ = value.conform(&mut Walk::new(revision, &mut all), &Path::ROOT);
    all.into_violations()
}

/// Receives violations as they are found.
pub trait Sink {
    /// Receives one; [`ControlFlow::Break`] ends the check.
    fn take(&mut self, violation: Violation) -> Flow;
}

/// Closures are sinks.
impl<F: FnMut(Violation) -> Flow> Sink for F {
    fn take(&mut self, violation: Violation) -> Flow {
        self(violation)
    }
}

/// Keeps the first violation and ends the check.
#[derive(Debug)]
struct First(Option<Box<Violation>>);

impl Sink for First {
    fn take(&mut self, violation: Violation) -> Flow {
        self.0 = Some(Box::new(violation));
        Flow::Break(())
    }
}

/// Keeps violations up to a limit, then ends the check.
#[derive(Clone, Debug)]
pub struct Bounded {
    limit: usize,
    violations: Vec<Violation>,
}

impl Bounded {
    /// The limit of [`violations`]: more than anybody reads.
    pub const MOST: usize = 100;

    /// A sink of at most `limit` violations.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            limit,
            violations: Vec::new(),
        }
    }

    /// The violations found.
    #[must_use]
    pub fn into_violations(self) -> Vec<Violation> {
        self.violations
    }
}

impl Sink for Bounded {
    fn take(&mut self, violation: Violation) -> Flow {
        if self.violations.len() < self.limit {
            self.violations.push(violation);
        }
        match self.violations.len() < self.limit {
            true => Flow::Continue(()),
            false => Flow::Break(()),
        }
    }
}

/// A violation of a revision's rules. It has the place and the kind of the value found, never the value, which may be secret.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    pointer: String,
    rule: Rule,
    revision: Revision,
    found: Option<(JsonKind, usize)>,
    since: Option<Revision>,
}

/// The rule that was violated.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Rule {
    /// The revision does not have this type, alternative of a union, or value of an enumeration.
    Unavailable,
    /// No known revision has this alternative or value.
    Unknown,
    /// The revision requires this member.
    Missing,
    /// The JSON type must be the named one.
    Type(&'static str),
    /// The number must be at least this.
    Minimum(f64),
    /// The number must be at most this.
    Maximum(f64),
    /// There must be at least this many items.
    MinItems(usize),
    /// There may be at most this many items.
    MaxItems(usize),
    /// The string must have at least this many Unicode scalar values.
    MinLength(usize),
    /// The string must have at most this many Unicode scalar values.
    MaxLength(usize),
    /// The string must have this format.
    Format(Format),
    /// The string must be one of these.
    OneOf(&'static [&'static str]),
    /// JSON cannot express infinities and NaN.
    Finite,
    /// An extra member has the name of a known member and would duplicate it.
    Shadows,
    /// The schema allows no members but those that it names.
    Additional,
}

impl Rule {
    /// A short name for logs and counters, such as `max-items`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Unknown => "unknown",
            Self::Missing => "missing",
            Self::Type(_) => "type",
            Self::Minimum(_) => "minimum",
            Self::Maximum(_) => "maximum",
            Self::MinItems(_) => "min-items",
            Self::MaxItems(_) => "max-items",
            Self::MinLength(_) => "min-length",
            Self::MaxLength(_) => "max-length",
            Self::Format(_) => "format",
            Self::OneOf(_) => "one-of",
            Self::Finite => "finite",
            Self::Shadows => "shadows",
            Self::Additional => "additional",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable => f.write_str("the revision does not have it"),
            Self::Unknown => f.write_str("no revision has it"),
            Self::Missing => f.write_str("it is required"),
            Self::Type(name) => write!(f, "it must be of type {name}"),
            Self::Minimum(least) => write!(f, "it must be at least {least}"),
            Self::Maximum(most) => write!(f, "it must be at most {most}"),
            Self::MinItems(least) => write!(f, "there must be at least {least} items"),
            Self::MaxItems(most) => write!(f, "there may be at most {most} items"),
            Self::MinLength(least) => write!(f, "it must have at least {least} characters"),
            Self::MaxLength(most) => write!(f, "it must have at most {most} characters"),
            Self::Format(format) => write!(f, "it must be a string of format {format}"),
            Self::OneOf(values) => {
                f.write_str("it must be one of")?;
                values.iter().enumerate().try_for_each(|(i, value)| {
                    write!(f, "{} `{value}`", if i == 0 { "" } else { "," })
                })
            }
            Self::Finite => f.write_str("it must be a finite number"),
            Self::Shadows => f.write_str("an extra member must not be called like a known one"),
            Self::Additional => f.write_str("the object must have no other members"),
        }
    }
}

impl Violation {
    /// JSON pointer (RFC 6901) to the value at fault, or to the member that is missing; empty for the whole.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// The rule that was violated.
    #[must_use]
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }

    /// The revision that was checked against.
    #[must_use]
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Type of the value found and the length of its JSON text in bytes; `None` if the value is missing.
    #[must_use]
    pub const fn found(&self) -> Option<(JsonKind, usize)> {
        self.found
    }

    /// The first later revision that allows it.
    #[must_use]
    pub const fn since(&self) -> Option<Revision> {
        self.since
    }

    /// The same violation in a document that holds the value at `prefix`.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Self {
        self.pointer.insert_str(0, prefix);
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not allowed by {}: {}",
            self.pointer, self.revision, self.rule
        )?;
        if let Some((kind, size)) = self.found {
            write!(f, "; found {kind} of {size} bytes")?;
        }
        match self.since {
            Some(since) => write!(f, "; allowed since {since}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Violation {}

/// Path to a value, linked from the value outwards. It lives on the stack; the JSON pointer is built only when needed.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Root,
    Key(&'a str),
    /// A key in its escaped JSON form.
    Quoted(&'a str),
    Index(usize),
}

impl<'a> Path<'a> {
    /// The whole value.
    pub const ROOT: Path<'static> = Path {
        parent: None,
        step: Step::Root,
    };

    /// Path to the member `key` of this value.
    #[must_use]
    pub const fn key(&'a self, key: &'a str) -> Path<'a> {
        Path {
            parent: Some(self),
            step: Step::Key(key),
        }
    }

    /// Path to the member of this value whose name is the JSON string `name`.
    const fn quoted(&'a self, name: &'a str) -> Path<'a> {
        Path {
            parent: Some(self),
            step: Step::Quoted(name),
        }
    }

    /// Path to the item `index` of this value.
    #[must_use]
    pub const fn index(&'a self, index: usize) -> Path<'a> {
        Path {
            parent: Some(self),
            step: Step::Index(index),
        }
    }

    /// Whether this is `_meta` of the whole value, or in it.
    fn is_in_meta(&self) -> bool {
        match self.parent {
            Some(parent) if parent.parent.is_some() => parent.is_in_meta(),
            _ => matches!(self.step, Step::Key("_meta")),
        }
    }

    /// The JSON pointer.
    #[must_use]
    pub fn pointer(&self) -> String {
        let mut pointer = match self.parent {
            Some(parent) => parent.pointer(),
            None => String::new(),
        };
        match self.step {
            Step::Root => {}
            Step::Key(key) => pointer::push(&mut pointer, key.chars()),
            Step::Quoted(name) => pointer::push(&mut pointer, quoted::chars(name)),
            Step::Index(index) => pointer.push_str(&format!("/{index}")),
        }
        pointer
    }
}

/// The first revision after `revision` that is in `known`.
fn later(revision: Revision, known: Revisions) -> Option<Revision> {
    known.iter().find(|later| *later > revision)
}
