//! How long clients may cache results.

use std::time::Duration;

use trueform_schema::CacheScope;

/// How long a client may reuse a result, and who may share it. It is sent at 2026-07-28, the first revision that has it.
///
/// By default, clients reuse nothing: a time of zero, and [`private`](Self::private). This is a hint for well-behaved clients, not a
/// protection: mark what only some callers may see as private.
///
/// ```
/// use std::time::Duration;
/// use trueform::resource::Caching;
///
/// let hour = Caching::public(Duration::from_secs(3600));
/// assert_ne!(hour, Caching::private(Duration::from_secs(3600)));
/// assert_eq!(Caching::default(), Caching::private(Duration::ZERO));
/// ```
// V-1, V-10
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caching {
    ttl: Duration,
    is_public: bool,
}

impl Caching {
    /// Allows the caller alone to reuse the result for `ttl`, in whole milliseconds.
    #[must_use]
    pub const fn private(ttl: Duration) -> Self {
        Self {
            ttl,
            is_public: false,
        }
    }

    /// Allows all callers that share a cache to reuse the result for `ttl`, in whole milliseconds.
    #[must_use]
    pub const fn public(ttl: Duration) -> Self {
        Self {
            ttl,
            is_public: true,
        }
    }

    /// Returns the time in milliseconds: the member `ttlMs` of a result.
    #[must_use]
    pub fn ttl_ms(self) -> i64 {
        i64::try_from(self.ttl.as_millis()).unwrap_or(i64::MAX)
    }

    /// Returns whether all callers may share it: whether the member `cacheScope` of a result is `public`.
    #[must_use]
    pub const fn is_public(self) -> bool {
        self.is_public
    }

    /// Returns the members `ttlMs` and `cacheScope` of a result. `None` if they are the default and can be left out.
    pub(crate) fn members(self) -> Option<(i64, CacheScope)> {
        if self == Self::default() {
            return None;
        }
        let scope = match self.is_public {
            true => CacheScope::Public,
            false => CacheScope::Private,
        };
        Some((self.ttl_ms(), scope))
    }
}
