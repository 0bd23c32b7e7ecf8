//! Reads the `MCP-Protocol-Version` header. All of the library reads it here.

use trueform_schema::{Era, Revision};

use super::{HeaderValue, Headers, VERSION_HEADER};

/// The content of the `MCP-Protocol-Version` header of a request. This does not say whether the server serves the revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionHeader {
    Absent,
    Revision(Revision),
    /// A text that names no revision known to this library.
    Unknown,
    /// It is repeated, or is not visible ASCII.
    Unusable,
}

impl VersionHeader {
    /// Reads the header among `headers`.
    pub(crate) fn of(headers: &dyn Headers) -> Self {
        match headers.get(VERSION_HEADER) {
            HeaderValue::Absent => Self::Absent,
            HeaderValue::One(version) => {
                Revision::from_wire(version).map_or(Self::Unknown, Self::Revision)
            }
            HeaderValue::Bad => Self::Unusable,
        }
    }

    /// Returns the revision that it names.
    pub(crate) const fn revision(self) -> Option<Revision> {
        match self {
            Self::Revision(revision) => Some(revision),
            Self::Absent | Self::Unknown | Self::Unusable => None,
        }
    }

    /// Returns the era of the revision that it names.
    #[cfg_attr(
        not(feature = "http"),
        allow(dead_code, reason = "only HTTP has headers")
    )]
    pub(crate) fn era(self) -> Option<Era> {
        self.revision().map(Revision::era)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One(HeaderValue<'static>);

    impl Headers for One {
        fn get(&self, name: &str) -> HeaderValue<'_> {
            match name {
                "mcp-protocol-version" => self.0,
                _ => HeaderValue::Absent,
            }
        }
    }

    // F-23, F-33
    #[test]
    fn what_the_header_says() {
        for (value, expected, era) in [
            (HeaderValue::Absent, VersionHeader::Absent, None),
            (
                HeaderValue::One("2025-06-18"),
                VersionHeader::Revision(Revision::V2025_06_18),
                Some(Era::Legacy),
            ),
            (
                HeaderValue::One("2026-07-28"),
                VersionHeader::Revision(Revision::V2026_07_28),
                Some(Era::Modern),
            ),
            (HeaderValue::One("1999-01-01"), VersionHeader::Unknown, None),
            (HeaderValue::One(""), VersionHeader::Unknown, None),
            (HeaderValue::Bad, VersionHeader::Unusable, None),
        ] {
            let read = VersionHeader::of(&One(value));
            assert_eq!((read, read.era()), (expected, era), "{value:?}");
        }
    }
}
