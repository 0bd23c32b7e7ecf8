//! Which log messages a peer wants: per session in the legacy era, per request in the modern one.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use trueform_schema::LoggingLevel;

/// The level from which messages are sent before a legacy client sets one.
pub const DEFAULT_LOG_LEVEL: LoggingLevel = LoggingLevel::Info;

/// A session's level, changed by `logging/setLevel`.
#[derive(Debug)]
pub(crate) struct SessionLevel(AtomicU8);

/// The log messages that one request permits.
#[derive(Clone, Debug)]
pub(crate) enum Threshold {
    /// Nothing: a modern request without `logLevel` (M-4).
    Silent,
    /// The level that a modern request named.
    From(u8),
    /// The session's level at the time when the message is sent.
    Session(Arc<SessionLevel>),
}

impl SessionLevel {
    pub(crate) fn set(&self, level: &LoggingLevel) {
        self.0.store(severity(level), Ordering::Relaxed);
    }

    /// Returns the level as a number, for [`SessionLevel::set_rank`] in another process.
    #[cfg(feature = "http")]
    pub(crate) fn rank(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    #[cfg(feature = "http")]
    pub(crate) fn set_rank(&self, rank: u8) {
        self.0.store(rank, Ordering::Relaxed);
    }
}

impl Default for SessionLevel {
    fn default() -> Self {
        Self(AtomicU8::new(severity(&DEFAULT_LOG_LEVEL)))
    }
}

impl Threshold {
    pub(crate) fn of_request(level: Option<&LoggingLevel>) -> Self {
        level.map_or(Self::Silent, |level| Self::From(severity(level)))
    }

    pub(crate) fn lets_through(&self, level: &LoggingLevel) -> bool {
        match self {
            Self::Silent => false,
            Self::From(least) => severity(level) >= *least,
            Self::Session(least) => severity(level) >= least.0.load(Ordering::Relaxed),
        }
    }
}

/// Returns whether `level` is one of the eight names.
pub(crate) fn is_known(level: &LoggingLevel) -> bool {
    severity(level) > 0 || *level == LoggingLevel::Debug
}

/// Returns the rank in RFC 5424's order; greater is worse. Levels other than the eight rank lowest.
fn severity(level: &LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Emergency => 7,
        LoggingLevel::Alert => 6,
        LoggingLevel::Critical => 5,
        LoggingLevel::Error => 4,
        LoggingLevel::Warning => 3,
        LoggingLevel::Notice => 2,
        LoggingLevel::Info => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // M-2, M-4
    #[test]
    fn thresholds() {
        assert!(!Threshold::of_request(None).lets_through(&LoggingLevel::Emergency));
        let warning = Threshold::of_request(Some(&LoggingLevel::Warning));
        assert!(
            warning.lets_through(&LoggingLevel::Error)
                && !warning.lets_through(&LoggingLevel::Notice)
        );
        let level = Arc::new(SessionLevel::default());
        let session = Threshold::Session(level.clone());
        assert!(!session.lets_through(&LoggingLevel::Debug));
        level.set(&LoggingLevel::Debug);
        assert!(session.lets_through(&LoggingLevel::Debug));
    }
}
