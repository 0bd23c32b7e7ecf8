//! How long clients may keep what they were sent.

use std::time::Duration;

use trueform_schema::CacheScope;

/// How long a client may use a result again, and who may share it. Written at 2026-07-28, the first revision that has it.
///
/// The default is to use nothing again: a time of zero, and [`private`](Self::private). It is a hint for well-behaved clients, never
/// a protection: what only some callers may see stays private.
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
    /// For `ttl`, in whole milliseconds, by the caller alone.
    #[must_use]
    pub const fn private(ttl: Duration) -> Self {
        Self {
            ttl,
            is_public: false,
        }
    }

    /// For `ttl`, in whole milliseconds, by any caller that shares a cache.
    #[must_use]
    pub const fn public(ttl: Duration) -> Self {
        Self {
            ttl,
            is_public: true,
        }
    }

    /// How long, in milliseconds: the member `ttlMs` of a result.
    #[must_use]
    pub fn ttl_ms(self) -> i64 {
        i64::try_from(self.ttl.as_millis()).unwrap_or(i64::MAX)
    }

    /// Whether anyone may share it: whether the member `cacheScope` of a result is `public`.
    #[must_use]
    pub const fn is_public(self) -> bool {
        self.is_public
    }

    /// As members of a result: `ttlMs` and `cacheScope`. `None` where what is written without them says the same.
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
