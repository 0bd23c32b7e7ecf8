//! How a change affects the set of legal values, and the impact on readers and writers of values.
//!
//! Independent of schemas.

use std::fmt;

use serde::Serialize;

/// Severity of a change for peers that were correct before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impact {
    /// Peers that were correct remain correct.
    Additive,
    /// All guarantees remain, but models or people may act differently, or receive values that were impossible before.
    Risky,
    /// A legal value became illegal, or a guarantee was lost.
    Breaking,
}

impl Impact {
    /// Returns `additive`, `risky` or `breaking`.
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

/// Direction of the values of a schema, seen from the side that publishes it. It determines which changes are harmful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// Others write them, the publisher reads them: arguments of a tool.
    In,
    /// The publisher writes them, others read them: results of a tool.
    Out,
    /// Both, as in a protocol that is implemented on either side: the severity is that of the worse direction.
    Both,
}

/// Effect of a change on the set of legal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Narrows,
    Widens,
    /// Some values are added and some removed, or the effect is unknown.
    Moves,
    /// A new optional member, in an object that ignored unknown members before.
    Adds,
    /// A known member became unknown. If unknown members are allowed, it stays legal, but is ignored.
    Forgets,
    /// A member that was always present may now be absent.
    Releases,
    /// The set of values is the same; their annotations differ.
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
