//! Whether a value, as a revision would see it, is what that revision allows.
//!
//! Checked is the value as [`At`](crate::At) writes it: members that the revision does not know are left out, so they are
//! no fault; what remains must be what the official schema of that revision accepts. Only what Rust's types leave open is
//! looked at. Nothing is allocated unless something is wrong: what an older revision sees instead of an alternative is judged without
//! being made, and names in raw JSON are read as they are written. How a JSON pointer is made and what single values must meet
//! is owned here; what to check where is generated.

mod formats;
mod needs;
mod quoted;
mod shape;
mod walk;

use std::{fmt, ops::ControlFlow};

use crate::{Encode, JsonKind, Revision, Revisions, pointer};

pub use self::{
    formats::{Format, is_base64, is_uri, is_uri_reference, is_uri_template},
    needs::{Need, Needs},
    shape::{Member, Shape},
    walk::{ObjectWalk, Walk},
};

/// Whether to go on: [`ControlFlow::Break`] once the sink has seen enough.
pub type Flow = ControlFlow<()>;

/// A value that can be checked against any revision.
///
/// Generated for all message types. To check a value, call [`conform`] or [`violations`].
pub trait Conform: Encode {
    /// Reports to `walk` what its revision does not allow of this value, which is at `path`.
    fn conform(&self, walk: &mut Walk<'_>, path: &Path<'_>) -> Flow;

    /// Reports which of `needs`, what the place asks of any value there, this value does not meet.
    #[doc(hidden)]
    fn meets(&self, _needs: &Needs, _walk: &mut Walk<'_>, _path: &Path<'_>) -> Flow {
        Flow::Continue(())
    }
}

/// Whether `value`, as `revision` sees it, is what that revision allows.
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
/// // Before 2025-06-18 there was none, so it is not written.
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

/// All that `revision` does not allow of `value`, at most [`Bounded::MOST`] violations.
#[must_use]
pub fn violations<T: Conform + ?Sized>(value: &T, revision: Revision) -> Vec<Violation> {
    let mut all = Bounded::new(Bounded::MOST);
    let _ = value.conform(&mut Walk::new(revision, &mut all), &Path::ROOT);
    all.into_violations()
}

/// Takes violations as they are found.
pub trait Sink {
    /// Takes one; [`ControlFlow::Break`] ends the check.
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
    /// What [`violations`] keeps: more than anybody reads.
    pub const MOST: usize = 100;

    /// A sink of at most `limit` violations.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            limit,
            violations: Vec::new(),
        }
    }

    /// What was found.
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

/// One thing that a revision does not allow. It says where and what kind of value was found, never the value, which may be
/// secret.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    pointer: String,
    rule: Rule,
    revision: Revision,
    found: Option<(JsonKind, usize)>,
    since: Option<Revision>,
}

/// What was not kept to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Rule {
    /// The revision does not have this type, alternative of a union, or value of an enumeration.
    Unavailable,
    /// No revision knows this alternative or value.
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
    /// The string must have this format.
    Format(Format),
    /// The string must be one of these.
    OneOf(&'static [&'static str]),
    /// JSON has no numbers that are infinite or not a number.
    Finite,
    /// An extra member has the name of a member that the type knows, and would be a second one.
    Shadows,
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
            Self::Format(_) => "format",
            Self::OneOf(_) => "one-of",
            Self::Finite => "finite",
            Self::Shadows => "shadows",
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
            Self::Format(format) => write!(f, "it must be a string of format {format}"),
            Self::OneOf(values) => {
                f.write_str("it must be one of")?;
                values.iter().enumerate().try_for_each(|(i, value)| {
                    write!(f, "{} `{value}`", if i == 0 { "" } else { "," })
                })
            }
            Self::Finite => f.write_str("it must be a finite number"),
            Self::Shadows => f.write_str("an extra member must not be called like a known one"),
        }
    }
}

impl Violation {
    /// JSON pointer (RFC 6901) to the value at fault, or to the member that is missing; empty for the whole.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What was not kept to.
    #[must_use]
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }

    /// The revision that does not allow it.
    #[must_use]
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Type of the value found and the length of its JSON text in bytes; `None` if there is none.
    #[must_use]
    pub const fn found(&self) -> Option<(JsonKind, usize)> {
        self.found
    }

    /// The first later revision that would allow it.
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

/// Where a value is, linked from the value outwards. It lives on the stack; a pointer is made of it when one is needed.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Root,
    Key(&'a str),
    /// A key as it is written in JSON.
    Quoted(&'a str),
    Index(usize),
}

impl<'a> Path<'a> {
    /// The whole value.
    pub const ROOT: Path<'static> = Path {
        parent: None,
        step: Step::Root,
    };

    /// The member `key` of what is here.
    #[must_use]
    pub const fn key(&'a self, key: &'a str) -> Path<'a> {
        Path {
            parent: Some(self),
            step: Step::Key(key),
        }
    }

    /// The member of what is here whose name is the JSON string `name`.
    const fn quoted(&'a self, name: &'a str) -> Path<'a> {
        Path {
            parent: Some(self),
            step: Step::Quoted(name),
        }
    }

    /// The item `index` of what is here.
    #[must_use]
    pub const fn index(&'a self, index: usize) -> Path<'a> {
        Path {
            parent: Some(self),
            step: Step::Index(index),
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
