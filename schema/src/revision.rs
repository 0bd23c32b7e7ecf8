//! The revisions of the specification, as one ordered enum and as a set.
//!
//! The list of revisions is generated; this file contains what does not depend on it.

use std::{fmt, str::FromStr};

use crate::Revision;

/// The enumeration of revisions, oldest first. The generator writes the list, so importing a revision is enough.
macro_rules! revisions {
    ($($(#[$doc:meta])* $name:ident = $date:literal $era:ident,)*) => {
        /// A dated release of the specification. Later releases compare greater.
        ///
        /// ```
        /// use trueform_schema::{Era, Revision};
        ///
        /// let revision: Revision = "2025-06-18".parse()?;
        /// assert!(revision < Revision::LATEST);
        /// assert_eq!(revision.era(), Era::Legacy);
        /// # Ok::<(), trueform_schema::UnknownRevision>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Revision {
            $($(#[$doc])* $name,)*
        }

        impl Revision {
            /// Every revision, oldest first.
            pub const ALL: [Self; [$($date),*].len()] = [$(Self::$name),*];
            /// The newest revision.
            pub const LATEST: Self = Self::ALL[Self::ALL.len() - 1];
            /// The newest revision that `initialize` can negotiate.
            pub const LATEST_LEGACY: Self = {
                let mut last = 0;
                while last + 1 < Self::ALL.len() && matches!(Self::ALL[last + 1].era(), $crate::Era::Legacy) {
                    last += 1;
                }
                Self::ALL[last]
            };

            /// Returns the date that names the revision on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $date,)*
                }
            }

            /// Returns the era the revision belongs to.
            #[must_use]
            pub const fn era(self) -> $crate::Era {
                match self {
                    $(Self::$name => $crate::Era::$era,)*
                }
            }
        }
    };
}

/// How peers of a revision relate requests to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// An `initialize` handshake opens a session that later requests belong to.
    Legacy,
    /// Each request carries its protocol version and capabilities in `params._meta`.
    Modern,
}

impl Revision {
    /// Returns the revision with the date `name`, if this crate knows it.
    #[must_use]
    pub const fn from_wire(name: &str) -> Option<Self> {
        let mut index = 0;
        while index < Self::ALL.len() {
            if same(Self::ALL[index].as_str().as_bytes(), name.as_bytes()) {
                return Some(Self::ALL[index]);
            }
            index += 1;
        }
        None
    }
}

/// Compares for equality in constants.
const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(name: &str) -> Result<Self, UnknownRevision> {
        Self::from_wire(name).ok_or_else(|| UnknownRevision(name.to_owned()))
    }
}

/// A protocol version that is not in [`Revision::ALL`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRevision(String);

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown protocol version `{}`; known are", self.0)?;
        for (i, revision) in Revision::ALL.into_iter().enumerate() {
            write!(f, "{}`{revision}`", if i == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownRevision {}

/// A set of revisions.
///
/// ```
/// use trueform_schema::{Revision, Revisions};
///
/// let titled = Revisions::since(Revision::V2025_06_18);
/// assert!(titled.contains(Revision::V2026_07_28));
/// assert!(!titled.contains(Revision::V2024_11_05));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Revisions(u8);

impl Revisions {
    /// Every revision.
    pub const ALL: Self = Self(u8::MAX >> (8 - Revision::ALL.len()));
    /// No revision.
    pub const NONE: Self = Self(0);

    /// Returns the set that contains only `revision`.
    #[must_use]
    pub const fn of(revision: Revision) -> Self {
        Self(1 << revision as u8)
    }

    /// Returns the set of `revision` and all later ones.
    #[must_use]
    pub const fn since(revision: Revision) -> Self {
        Self(Self::ALL.0 & !((1 << revision as u8) - 1))
    }

    /// Returns the set of `revision` and all earlier ones.
    #[must_use]
    pub const fn until(revision: Revision) -> Self {
        Self(((1 << revision as u8) << 1) - 1)
    }

    /// Returns the set whose bit *n* says whether [`Revision::ALL`]`[n]` is in it; further bits are ignored.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Returns the set as bits, lowest bit the oldest revision.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns whether `revision` is in the set.
    #[must_use]
    pub const fn contains(self, revision: Revision) -> bool {
        self.intersects(Self::of(revision))
    }

    /// Returns whether the two sets share a revision.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the union of the two sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the revisions of the set, oldest first.
    pub fn iter(self) -> impl Iterator<Item = Revision> {
        Revision::ALL
            .into_iter()
            .filter(move |revision| self.contains(*revision))
    }
}

impl fmt::Debug for Revisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(Revision::as_str))
            .finish()
    }
}

impl FromIterator<Revision> for Revisions {
    fn from_iter<I: IntoIterator<Item = Revision>>(revisions: I) -> Self {
        revisions
            .into_iter()
            .fold(Self::NONE, |set, revision| set.union(Self::of(revision)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for revision in Revision::ALL {
            assert_eq!(revision.as_str().parse(), Ok(revision));
        }
        assert!(
            "2025-11-26"
                .parse::<Revision>()
                .unwrap_err()
                .to_string()
                .contains("`2025-11-25`")
        );
    }

    #[test]
    fn sets() {
        assert_eq!(Revisions::since(Revision::V2024_11_05), Revisions::ALL);
        assert_eq!(Revisions::until(Revision::V2026_07_28), Revisions::ALL);
        assert_eq!(
            Revisions::until(Revision::V2024_11_05),
            Revisions::of(Revision::V2024_11_05)
        );
        let middle: Revisions = [Revision::V2025_03_26, Revision::V2025_06_18]
            .into_iter()
            .collect();
        assert_eq!(middle.bits(), 0b00110);
        assert_eq!(middle.iter().count(), 2);
        assert!(!middle.intersects(Revisions::since(Revision::V2025_11_25)));
    }
}
