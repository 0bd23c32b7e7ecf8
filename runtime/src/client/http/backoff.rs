//! How long a client waits before it opens a stream again.

use std::time::Duration;

use crate::client::chance::{at_least, chance, doubled};

/// The first wait, unless the server asks for another: 0.125 to 0.25 s.
const FIRST: Duration = Duration::from_millis(250);
/// The longest wait that doubling leads to: 30 s.
const LONGEST: Duration = Duration::from_secs(30);
/// The longest wait that a server can ask for: 5 min.
pub(super) const LONGEST_ASKED: Duration = Duration::from_secs(300);
/// The shortest wait, whatever the server asks for: 20 ms.
const SHORTEST: Duration = Duration::from_millis(20);

/// Waits that double with each failure, by chance a little shorter.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
    /// What the server asked for last.
    asked: Option<Duration>,
}

impl Backoff {
    /// Takes note of the server's `retry`.
    pub(super) fn ask(&mut self, asked: Duration) {
        self.asked = Some(asked.min(LONGEST_ASKED));
    }

    /// The stream brought something: doubling starts over.
    pub(super) fn succeed(&mut self) {
        self.failures = 0;
    }

    /// Waits that came one after the other.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    /// The next wait, and never less than what the server asked for (G-7).
    pub(super) fn next(&mut self) -> Duration {
        self.wait(chance())
    }

    /// As [`next`](Self::next), with `chance` from 0 to 1.
    fn wait(&mut self, chance: f64) -> Duration {
        let failed = self.failures;
        self.failures = self.failures.saturating_add(1);
        let own = doubled(FIRST, failed, LONGEST, chance);
        match self.asked {
            // A server that closes a stream on purpose says how long to wait.
            Some(asked) if failed == 0 => at_least(asked, chance),
            Some(asked) => own.max(at_least(asked, chance)),
            None => own,
        }
        .max(SHORTEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_limit() {
        for (chance, expected) in [
            (0.0, [125_u128, 250, 500, 1000, 2000, 4000, 8000, 15_000]),
            (1.0, [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000]),
        ] {
            let mut backoff = Backoff::default();
            let found = expected.map(|_| backoff.wait(chance).as_millis());
            assert_eq!(found, expected);
            for _ in 0..100 {
                assert!(backoff.next() <= LONGEST);
            }
            backoff.succeed();
            assert_eq!(backoff.wait(chance).as_millis(), expected[0]);
        }
    }

    // G-7
    #[test]
    fn what_the_server_asks_for_is_kept() {
        for chance in [0.0, 0.5, 1.0] {
            for asked in [0, 1, 100, 500, 30_000, 290_000, 1 << 40] {
                let mut backoff = Backoff::default();
                backoff.ask(Duration::from_millis(asked));
                let kept = Duration::from_millis(asked).min(LONGEST_ASKED);
                for _ in 0..10 {
                    let wait = backoff.wait(chance);
                    assert!(kept <= wait && SHORTEST <= wait, "{asked}: {wait:?}");
                    assert!(wait <= LONGEST.max(kept.mul_f64(1.11)), "{asked}: {wait:?}");
                }
            }
            // A server that closes streams on purpose decides how fast it is asked.
            let mut backoff = Backoff::default();
            backoff.ask(Duration::from_millis(100));
            assert!(backoff.wait(chance) <= Duration::from_millis(111));
        }
    }
}
