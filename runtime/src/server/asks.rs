//! The settings of questions to clients.

use std::time::Duration;

use super::Server;
use crate::{host::AskSettings, seal::Keys};

/// How long a handler waits for the answer of its client, unless [`Server::ask_timeout`] sets another limit.
pub const DEFAULT_ASK_TIMEOUT: Duration = Duration::from_secs(300);

/// Maximum number of requests to clients of all sessions that are not answered yet, unless [`Server::max_asks`] sets another.
pub const DEFAULT_MAX_ASKS: usize = 4096;

/// Maximum number of requests to the client of one session that are not answered yet, unless [`Server::max_asks`] sets another.
pub const DEFAULT_MAX_SESSION_ASKS: usize = 64;

/// In how many rounds one call may ask its client, unless [`Server::ask_rounds`] sets another number.
///
/// Questions that wait at the same time, such as under `tokio::join!`, are one round. A question that is asked after an answer came is
/// another one, also if it is the same question again because the answer did not fit.
pub const DEFAULT_ASK_ROUNDS: u32 = 8;

/// How long a client of 2026-07-28 may take to answer, unless [`Server::ask_expiry`] sets another time: an hour.
pub const DEFAULT_ASK_EXPIRY: Duration = Duration::from_secs(60 * 60);

/// Maximum size of the state of one call that asks, in bytes of JSON before it is sealed, unless [`Server::ask_state`] sets another:
/// 64 KiB.
pub const DEFAULT_ASK_STATE: usize = 64 << 10;

/// Returns the default settings.
pub(super) fn usual() -> AskSettings {
    AskSettings {
        timeout: DEFAULT_ASK_TIMEOUT,
        max: DEFAULT_MAX_ASKS,
        max_in_session: DEFAULT_MAX_SESSION_ASKS,
        rounds: DEFAULT_ASK_ROUNDS,
        expiry: DEFAULT_ASK_EXPIRY,
        state_bytes: DEFAULT_ASK_STATE,
        keys: Keys::new(&[]),
    }
}

impl Server {
    /// Sets how long [`Context::request`](crate::Context::request), [`Context::ask`](crate::Context::ask) and similar methods wait for the
    /// answer of a client of the legacy era. Default: [`DEFAULT_ASK_TIMEOUT`](crate::DEFAULT_ASK_TIMEOUT).
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").ask_timeout(Duration::from_secs(60));
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn ask_timeout(mut self, limit: Duration) -> Self {
        self.ask.timeout = limit;
        self
    }

    /// Sets how many requests to clients may be unanswered: `in_all` sessions, and in one session. One more fails at once with
    /// [`AskError::TooMany`](crate::AskError::TooMany). Calls that wait for their client do not count as running. Default:
    /// [`DEFAULT_MAX_ASKS`](crate::DEFAULT_MAX_ASKS) and [`DEFAULT_MAX_SESSION_ASKS`](crate::DEFAULT_MAX_SESSION_ASKS).
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").max_asks(256, 4);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn max_asks(mut self, in_all: usize, in_one_session: usize) -> Self {
        (self.ask.max, self.ask.max_in_session) = (in_all, in_one_session);
        self
    }

    /// Sets in how many rounds one call may ask its client, at least 1, whatever its revision. Questions that wait at the same time are
    /// one round. A question that is asked after an answer begins another round, even if it is the same question again because the answer
    /// did not fit. At 2026-07-28, each result that asks is a round; a task continues the count of its call. After the last round, the
    /// error is [`AskError::TooManyRounds`](crate::AskError::TooManyRounds). Default: [`DEFAULT_ASK_ROUNDS`](crate::DEFAULT_ASK_ROUNDS).
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").ask_rounds(3);
    /// # assert!(server.build().is_ok());
    /// ```
    // T-11
    pub fn ask_rounds(mut self, rounds: u32) -> Self {
        self.ask.rounds = rounds;
        self
    }

    /// Sets how long a client of 2026-07-28 may take to answer. A later answer is refused with -32602. Default:
    /// [`DEFAULT_ASK_EXPIRY`](crate::DEFAULT_ASK_EXPIRY).
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").ask_expiry(Duration::from_secs(600));
    /// # assert!(server.build().is_ok());
    /// ```
    // T-9
    pub fn ask_expiry(mut self, time: Duration) -> Self {
        self.ask.expiry = time;
        self
    }

    /// Sets the maximum size of the state that one call keeps while it asks a client of 2026-07-28, in bytes of JSON: the answers so far
    /// and the results of [`Context::once`](crate::Context::once). It is sent with each question; encoding makes it a third larger.
    /// Default: [`DEFAULT_ASK_STATE`](crate::DEFAULT_ASK_STATE).
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").ask_state(16 << 10);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn ask_state(mut self, bytes: usize) -> Self {
        self.ask.state_bytes = bytes;
        self
    }

    /// Sets the keys that seal the state that a call keeps while it asks a client of 2026-07-28, at least one. The first key seals, all
    /// keys open. To change the key, add the new one in front, and remove the old one after [`ask_expiry`](Self::ask_expiry) has passed.
    /// Processes that share the name of the server and a key can continue each other's calls.
    ///
    /// The keys are secret, 32 random bytes each. By default, each process generates its own key, so other processes, and this server after
    /// a restart, do not accept the answers.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// The key in the text that the secret store of the deployment holds, 64 hexadecimal digits.
    /// fn key(text: &str) -> Option<[u8; 32]> {
    ///     let mut key = [0; 32];
    ///     for (at, byte) in key.iter_mut().enumerate() {
    ///         *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    ///     }
    ///     Some(key)
    /// }
    ///
    /// # let (new, old) = ("00".repeat(32), "11".repeat(32));
    /// let keys = [key(&new).unwrap(), key(&old).unwrap()];
    /// let server = Server::new("calc", "1.0.0").ask_keys(keys);
    /// # assert!(server.build().is_ok());
    /// ```
    // T-8, T-9
    #[cfg(feature = "ask")]
    pub fn ask_keys(mut self, keys: impl IntoIterator<Item = [u8; 32]>) -> Self {
        self.ask_keys = Some(keys.into_iter().collect());
        self
    }
}
