//! Writing values as a given revision of the specification knows them.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::{Conform, Json, Revision, Revisions, Violation, support};

/// Which revisions' members are written, and what the encoder adds on its own.
///
/// [`View::ALL`] is the superset model as it stands: every member that has a value, nothing filled in.
/// [`View::at`] one revision leaves out what that revision does not know and fills in what only it requires.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    revisions: Revisions,
    single: Option<Revision>,
    server_info: Option<&'a str>,
    closed: bool,
}

impl View<'_> {
    /// The superset of all revisions.
    pub const ALL: Self = Self {
        revisions: Revisions::ALL,
        single: None,
        server_info: None,
        closed: false,
    };

    /// One revision.
    #[must_use]
    pub const fn at(revision: Revision) -> Self {
        Self {
            revisions: Revisions::of(revision),
            single: Some(revision),
            server_info: None,
            closed: false,
        }
    }

    /// Whether something that `known` revisions have is written.
    #[must_use]
    pub const fn shows(self, known: Revisions) -> bool {
        self.revisions.intersects(known)
    }

    /// Whether the view is of one revision, and that is among `revisions`.
    #[must_use]
    pub const fn is_at(self, revisions: Revisions) -> bool {
        match self.single {
            Some(revision) => revisions.contains(revision),
            None => false,
        }
    }

    /// The same view without the members that no revision knows, which objects keep otherwise, and with a fraction or an
    /// exponent in every number that may have one: what is left is what the types say and nothing else.
    #[must_use]
    pub const fn closed(self) -> Self {
        Self {
            closed: true,
            ..self
        }
    }

    /// Whether members that no revision knows are left out.
    #[must_use]
    pub const fn is_closed(self) -> bool {
        self.closed
    }

    /// The one revision, if the view is of one.
    #[must_use]
    pub const fn revision(self) -> Option<Revision> {
        self.single
    }
}

impl<'a> View<'a> {
    /// The same view, writing `json` (a raw `Implementation`) as `serverInfo` into the `_meta` of results, in
    /// revisions that have it there and where the author set none.
    #[must_use]
    pub const fn with_server_info(self, json: &'a str) -> Self {
        Self {
            server_info: Some(json),
            ..self
        }
    }

    /// What [`View::with_server_info`] set.
    #[must_use]
    pub const fn server_info(self) -> Option<&'a str> {
        self.server_info
    }
}

/// A value that can be written as JSON, as any revision knows it.
///
/// Not generic over the output, so that the generated code is compiled once, in this crate.
pub trait Encode {
    /// Appends the value to `out` as JSON text.
    fn encode(&self, view: View<'_>, out: &mut Vec<u8>);
}

/// A value as one revision knows it.
///
/// ```
/// use trueform_schema::{At, Implementation, Revision};
///
/// let me = Implementation::new("calc", "1.0.0").with_title("Calculator");
/// assert_eq!(At::new(&me, Revision::V2025_03_26).to_string(), r#"{"name":"calc","version":"1.0.0"}"#);
/// ```
#[derive(Clone, Copy)]
pub struct At<'a, T: ?Sized> {
    value: &'a T,
    view: View<'a>,
}

impl<'a, T: Encode + ?Sized> At<'a, T> {
    /// `value` at `revision`.
    #[must_use]
    pub const fn new(value: &'a T, revision: Revision) -> Self {
        Self {
            value,
            view: View::at(revision),
        }
    }

    /// The JSON text as bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        self.value.encode(self.view, &mut out);
        out
    }

    /// The value as raw JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        support::to_json(self.value, self.view)
    }
}

impl<T: Conform + ?Sized> At<'_, T> {
    /// Whether what is written is what the revision allows.
    ///
    /// # Errors
    /// The first [`Violation`].
    pub fn conform(&self) -> Result<(), Box<Violation>> {
        match self.view.revision() {
            Some(revision) => crate::conform(self.value, revision),
            None => Ok(()),
        }
    }
}

impl<T: Encode + ?Sized> fmt::Display for At<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_json().get())
    }
}

impl<T: Encode + ?Sized> fmt::Debug for At<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<T: Encode + ?Sized> Serialize for At<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}
