//! Settings with which no request of a client could be answered, bounds and times of zero, and a handler that is not asked.

use trueform_schema::ClientCapabilities;

use super::{
    ClientOptions, Negotiation,
    error::{ClientError, LocalError},
};

impl ClientOptions {
    /// Looks for settings of zero that leave nothing to do, and warns of a handler that no server asks. Called before anything is started or sent.
    ///
    /// # Errors
    /// [`LocalError::Settings`] with a sentence for each such setting.
    pub(super) fn check(&self) -> Result<(), ClientError> {
        let retry = self.retry.as_ref();
        let cache = self.cache.as_ref();
        let (time, byte) = ("a longer time", "at least 1 byte");
        let settings = [
            ("ClientOptions::timeout", self.timeout.is_zero(), time),
            (
                "ClientOptions::reset_by_progress",
                self.reset_by_progress && self.longest.is_zero(),
                time,
            ),
            (
                "ClientOptions::probe_timeout",
                self.probe_timeout.is_zero(),
                time,
            ),
            ("ClientOptions::max_message", self.max_message == 0, byte),
            (
                "ClientOptions::max_in_flight",
                self.max_in_flight == 0,
                "at least 1 request",
            ),
            (
                "RetryPolicy::attempts",
                retry.is_some_and(|retry| retry.attempts == 0),
                "at least 1 attempt",
            ),
            (
                "CacheLimits::entries",
                cache.is_some_and(|cache| cache.entries == 0),
                "at least 1 result",
            ),
            (
                "CacheLimits::bytes",
                cache.is_some_and(|cache| cache.bytes == 0),
                byte,
            ),
        ];
        let problems: Vec<String> = settings
            .into_iter()
            .filter(|(_, is_zero, _)| *is_zero)
            .map(|(setting, _, expected)| format!("`{setting}` is zero; expected {expected}"))
            .collect();
        if self.has_handler
            && self.capabilities == ClientCapabilities::default()
            && self.negotiation != Negotiation::Nothing
        {
            tracing::warn!(
                "the handler of the client is not asked anything, because no capability is declared; declare what it answers by \
                 `ClientOptions::capabilities`"
            );
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(LocalError::Settings(problems).into()),
        }
    }
}
