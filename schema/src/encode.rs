//! Writing values in the form of a given revision of the specification.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::{Conform, Json, Revision, Revisions, Violation, support};

/// Selects the revisions whose members are written, and the values that the encoder adds.
///
/// [`View::ALL`] is the superset model as it stands: every member that has a value, nothing filled in.
/// [`View::at`] one revision leaves out members that the revision does not know and fills in those that only it requires.
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

    /// Selects one revision.
    #[must_use]
    pub const fn at(revision: Revision) -> Self {
        Self {
            revisions: Revisions::of(revision),
            single: Some(revision),
            server_info: None,
            closed: false,
        }
    }

    /// Returns whether a part that only `known` revisions have is written.
    #[must_use]
    pub const fn shows(self, known: Revisions) -> bool {
        self.revisions.intersects(known)
    }

    /// Returns whether the view is of one revision that is among `revisions`.
    #[must_use]
    pub const fn is_at(self, revisions: Revisions) -> bool {
        match self.single {
            Some(revision) => revisions.contains(revision),
            None => false,
        }
    }

    /// Returns the same view without unknown members, which objects otherwise keep, and with a fraction or an exponent in every number
    /// that may have one: the output shows exactly what the types hold.
    #[must_use]
    pub const fn closed(self) -> Self {
        Self {
            closed: true,
            ..self
        }
    }

    /// Returns whether unknown members are left out.
    #[must_use]
    pub const fn is_closed(self) -> bool {
        self.closed
    }

    /// Returns the revision, if the view is of a single one.
    #[must_use]
    pub const fn revision(self) -> Option<Revision> {
        self.single
    }
}

impl<'a> View<'a> {
    /// Returns the same view, which writes `json` (a raw `Implementation`) as `serverInfo` into the `_meta` of results, at revisions
    /// that have this member and unless the author set it.
    #[must_use]
    pub const fn with_server_info(self, json: &'a str) -> Self {
        Self {
            server_info: Some(json),
            ..self
        }
    }

    /// Returns the value set by [`View::with_server_info`].
    #[must_use]
    pub const fn server_info(self) -> Option<&'a str> {
        self.server_info
    }
}

/// A value that can be written as JSON in the form of any revision.
///
/// Not generic over the output, so that the generated code is compiled once, in this crate.
pub trait Encode {
    /// Appends the value to `out` as JSON text.
    fn encode(&self, view: View<'_>, out: &mut Vec<u8>);
}

/// A value in the form of one revision.
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
    /// Creates the form of `value` at `revision`.
    #[must_use]
    pub const fn new(value: &'a T, revision: Revision) -> Self {
        Self {
            value,
            view: View::at(revision),
        }
    }

    /// Returns the JSON text as bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        self.value.encode(self.view, &mut out);
        out
    }

    /// Returns the value as raw JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        support::to_json(self.value, self.view)
    }
}

impl<T: Conform + ?Sized> At<'_, T> {
    /// Checks whether the revision allows what is written.
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
