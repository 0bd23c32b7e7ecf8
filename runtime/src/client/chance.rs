//! Waits that differ by chance, so that clients of a server that was restarted do not all return at once.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

/// A number from 0 to 1.
pub(super) fn chance() -> f64 {
    let random = RandomState::new().build_hasher().finish() >> 32;
    random as f64 / f64::from(u32::MAX)
}

/// `first`, doubled `times` times but at most `longest`, and then by `chance` up to a half shorter.
pub(super) fn doubled(first: Duration, times: u32, longest: Duration, chance: f64) -> Duration {
    let factor = 2_u32.saturating_pow(times);
    let half = first.saturating_mul(factor).min(longest) / 2;
    half.saturating_add(half.mul_f64(chance))
}

/// What a server `asked` for, and by `chance` up to a tenth more.
pub(super) fn at_least(asked: Duration, chance: f64) -> Duration {
    asked.saturating_add((asked / 10).mul_f64(chance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_spreads_clients() {
        let chances: Vec<f64> = (0..50).map(|_| chance()).collect();
        assert!(chances.iter().all(|chance| (0.0..=1.0).contains(chance)));
        let mut distinct: Vec<u64> = chances.iter().map(|chance| chance.to_bits()).collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() > 25, "{chances:?}");
    }

    #[test]
    fn no_wait_is_too_long_to_count() {
        for chance in [0.0, 1.0] {
            let doubled = doubled(Duration::MAX, u32::MAX, Duration::MAX, chance);
            assert!(doubled >= Duration::MAX / 2 - Duration::from_nanos(1));
            assert!(at_least(Duration::MAX, chance) == Duration::MAX);
        }
    }
}
