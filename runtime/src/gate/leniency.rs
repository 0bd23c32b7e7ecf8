//! What real peers are known to do although the specification does not allow it, each a rule of its own that can be switched
//! off.

use std::fmt;

/// One thing that a peer may do although the specification does not allow it.
///
/// All are let through unless [`Server::lenient`](crate::Server::lenient) or
/// [`ClientOptions::lenient`](crate::client::ClientOptions::lenient) says otherwise. Ids and `_meta` are not looked into:
/// an id may be written as `1.0`, and `_meta` may hold anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Leniency {
    /// A member that the revision does not define, beside those it does: in the envelope, in params, in results. Members of a
    /// later revision count too.
    UnknownMembers,
    /// No `params` where the method requires them, if an empty object would do.
    AbsentParams,
    /// A member missing that the revision requires and that has a default: in results of 2026-07-28 a missing `resultType`
    /// counts as `complete`, a missing `ttlMs` as 0, a missing `cacheScope` as `private`.
    AbsentMembers,
    /// Null in place of a member that may not be null, which then counts as absent: `"arguments": null`, `"cursor": null`,
    /// `"params": null`, `"error": null` beside a result. Members that may be null keep it; `id`, `method` and `jsonrpc` are never
    /// null, and a required member is missing then. At most 24 different places of one message are null.
    NullMembers,
    /// A value of an enumeration, or an alternative of a union, that the revision does not have. Where the specification
    /// asks for a refusal, as of an unknown log level, it is refused in any case. So is a result of a kind that the
    /// revision does not have, such as one that asks for input in the legacy era. An answer in `inputResponses` that does not have the
    /// form of any is ignored unless its question is asked, as one that nobody asked for is; then it is refused.
    UnknownValues,
    /// An integer written with a fraction or an exponent, such as `1.0` or `1e3`, below 2^53 and above −2^53. From there on not every integer has a
    /// float of its own: such a number is refused whatever this says, and the error asks for digits alone.
    IntegralFloats,
    /// A string that does not have the format it should, such as a path in place of a URI.
    Formats,
    /// An error without `id`, or with `"id": null`.
    MissingErrorId,
    /// Over HTTP a request with the id of another one of its session that is not answered yet: each POST has its own response. Such an
    /// id cannot be cancelled by a notification. On a byte stream the second request is dropped whatever this says.
    // DEC-1
    RepeatedIds,
    /// Over HTTP a request of an extension without the header `Mcp-Name`, such as `tasks/get`: its params say what the header repeats. A
    /// header that says something else, and a request of the core without the header, are refused whatever this says.
    ///
    /// 2026-07-28 requires the header, for proxies that decide by it. What this server itself lets a caller do does not depend on it, but a
    /// proxy finds no name in such a request: let it refuse requests of extensions without the header, or switch this off.
    // F-25
    AbsentNames,
    /// An item without its form in a list of a server: [`Client::list_tools`](crate::client::Client::list_tools), and what lists
    /// prompts and resources, leave it out. It concerns nothing else.
    MalformedItems,
}

impl Leniency {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::UnknownMembers,
        Self::AbsentParams,
        Self::AbsentMembers,
        Self::NullMembers,
        Self::UnknownValues,
        Self::IntegralFloats,
        Self::Formats,
        Self::MissingErrorId,
        Self::RepeatedIds,
        Self::AbsentNames,
        Self::MalformedItems,
    ];

    /// The name in logs, such as `unknown-members`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownMembers => "unknown-members",
            Self::AbsentParams => "absent-params",
            Self::AbsentMembers => "absent-members",
            Self::NullMembers => "null-members",
            Self::UnknownValues => "unknown-values",
            Self::IntegralFloats => "integral-floats",
            Self::Formats => "formats",
            Self::MissingErrorId => "missing-error-id",
            Self::RepeatedIds => "repeated-ids",
            Self::AbsentNames => "absent-names",
            Self::MalformedItems => "malformed-items",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for Leniency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of [`Leniency`] rules.
///
/// ```
/// use trueform::{Leniencies, Leniency};
///
/// let strict_on_nulls = Leniencies::ALL.without(Leniency::NullMembers);
/// assert!(!strict_on_nulls.contains(Leniency::NullMembers));
/// assert!(strict_on_nulls.contains(Leniency::Formats));
/// assert_eq!([Leniency::Formats].into_iter().collect::<Leniencies>(), Leniencies::NONE.with(Leniency::Formats));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Leniencies(u16);

impl Leniencies {
    /// Everything that is known to happen is let through.
    pub const ALL: Self = {
        let mut all = Self::NONE;
        let mut at = 0;
        while at < Leniency::ALL.len() {
            all = all.with(Leniency::ALL[at]);
            at += 1;
        }
        all
    };
    /// Only what the specification allows: of each message what the official schema of its revision accepts as it came, with no
    /// member beside those that it defines. `_meta` and open JSON are open here too.
    pub const NONE: Self = Self(0);

    /// This set and `leniency`.
    ///
    /// ```
    /// use trueform::{Leniencies, Leniency};
    ///
    /// let some = Leniencies::NONE.with(Leniency::UnknownMembers);
    /// assert!(some.contains(Leniency::UnknownMembers));
    /// ```
    #[must_use]
    pub const fn with(self, leniency: Leniency) -> Self {
        Self(self.0 | leniency.bit())
    }

    /// This set without `leniency`.
    ///
    /// ```
    /// use trueform::{Leniencies, Leniency};
    ///
    /// let others = Leniencies::ALL.without(Leniency::UnknownMembers);
    /// assert!(!others.contains(Leniency::UnknownMembers));
    /// ```
    #[must_use]
    pub const fn without(self, leniency: Leniency) -> Self {
        Self(self.0 & !leniency.bit())
    }

    /// Whether `leniency` is among them.
    #[must_use]
    pub const fn contains(self, leniency: Leniency) -> bool {
        self.0 & leniency.bit() != 0
    }
}

/// All of them.
impl Default for Leniencies {
    fn default() -> Self {
        Self::ALL
    }
}

impl FromIterator<Leniency> for Leniencies {
    fn from_iter<I: IntoIterator<Item = Leniency>>(leniencies: I) -> Self {
        leniencies.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Debug for Leniencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Leniency::ALL.into_iter().filter(|one| self.contains(*one));
        f.debug_set().entries(names.map(Leniency::name)).finish()
    }
}
