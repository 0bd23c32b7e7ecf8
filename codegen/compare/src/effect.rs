//! How a change moves the set of legal values, and what that means for whoever reads or writes them.
//!
//! Knows no schemas.

use std::fmt;

use serde::Serialize;

/// How much a change can hurt someone who was right before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impact {
    /// Whoever was right stays right.
    Additive,
    /// Nothing that could be relied on is gone, but models or people may act differently, or meet values that were
    /// impossible before.
    Risky,
    /// What was legal, or could be relied on, no longer is.
    Breaking,
}

impl Impact {
    /// `additive`, `risky` or `breaking`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Additive => "additive",
            Self::Risky => "risky",
            Self::Breaking => "breaking",
        }
    }
}

impl fmt::Display for Impact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Which way values of a schema travel, seen from the side that publishes it. It decides which changes hurt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// Others write them, the publisher reads them: arguments of a tool.
    In,
    /// The publisher writes them, others read them: results of a tool.
    Out,
    /// Both, as for a protocol that everyone speaks from either side: a change hurts as much as it does either way.
    Both,
}

/// What a change does to the set of legal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Narrows,
    Widens,
    /// Some values come, some go; or that cannot be told.
    Moves,
    /// Something new and optional comes to where anything was ignored before.
    Adds,
    /// A known member is no longer known; where unknown members are allowed its values stay legal, but mean nothing.
    Forgets,
    /// What was always there may now be absent.
    Releases,
    /// The values are the same; words about them are not.
    Words(Impact),
}

impl Effect {
    pub(crate) fn impact(self, flow: Flow) -> Impact {
        use Impact::{Additive, Breaking, Risky};
        let (written, read) = match self {
            Self::Narrows => (Breaking, Additive),
            Self::Widens => (Additive, Risky),
            Self::Moves => (Breaking, Breaking),
            Self::Adds => (Additive, Additive),
            Self::Forgets => (Risky, Breaking),
            Self::Releases => (Additive, Breaking),
            Self::Words(impact) => (impact, impact),
        };
        match flow {
            Flow::In => written,
            Flow::Out => read,
            Flow::Both => written.max(read),
        }
    }
}
