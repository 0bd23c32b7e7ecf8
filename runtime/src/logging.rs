//! Which log messages a peer wants: per session in the legacy era, per request in the modern one.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use trueform_schema::{ErrorObject, LoggingLevel};

use crate::jsonrpc::{self, Fault};

/// The level from which messages are sent before a legacy client sets one.
pub const DEFAULT_LOG_LEVEL: LoggingLevel = LoggingLevel::Info;

/// A session's level, changed by `logging/setLevel`.
#[derive(Debug)]
pub(crate) struct SessionLevel(AtomicU8);

/// What one request lets through.
#[derive(Clone, Debug)]
pub(crate) enum Threshold {
    /// Nothing: a modern request without `logLevel` (M-4).
    Silent,
    /// The level that a modern request named.
    From(u8),
    /// What the session's level is when the message is sent.
    Session(Arc<SessionLevel>),
}

impl SessionLevel {
    pub(crate) fn set(&self, level: &LoggingLevel) {
        self.0.store(severity(level), Ordering::Relaxed);
    }

    /// The level as a number, for [`SessionLevel::set_rank`] in another process.
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

/// Rank in RFC 5424's order; greater is worse. A level that is none of the eight ranks lowest.
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

/// Refuses a level, the one at `pointer` of a request, that is none of the eight names.
///
/// # Errors
/// -32602.
// M-3
pub(crate) fn check(level: &LoggingLevel, pointer: &'static str) -> Result<(), ErrorObject> {
    const LEVELS: &str =
        "`debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`";
    if severity(level) > 0 || *level == LoggingLevel::Debug {
        return Ok(());
    }
    let found = format!("string of {} bytes", level.as_str().len() + 2);
    Err(jsonrpc::invalid_params(
        format!("unknown log level `{}`", jsonrpc::shortened(level.as_str())),
        &Fault::new(pointer, "one-of", LEVELS, found),
    ))
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
