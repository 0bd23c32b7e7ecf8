//! The limit on the work of a check.

use std::cell::Cell;

/// Bytes of text that are matched against a pattern, for one step. They cost several times as much as a step, but fewer bytes per step
/// would refuse long text.
const BYTES: usize = 2;

/// Literals that are compared with a value, for one step.
const LITERALS: usize = 8;

/// The work that is left for a check, in steps.
///
/// One step is one of these: a schema that is applied to a value, a value that is compared with others for `uniqueItems`, 8 literals of
/// `enum`, or 2 bytes that are matched against a pattern. A million steps take about a tenth of a second in a release build, and up to half
/// a second with patterns. Several checks can share one count.
#[derive(Debug)]
pub struct Steps {
    most: u64,
    left: Cell<u64>,
    spent: Cell<bool>,
}

impl Steps {
    /// Creates a count of `most` steps.
    #[must_use]
    pub const fn new(most: u64) -> Self {
        Self {
            most,
            left: Cell::new(most),
            spent: Cell::new(false),
        }
    }

    /// Returns whether a check needed more steps than were left. Then its verdict is not valid.
    #[must_use]
    pub fn are_spent(&self) -> bool {
        self.spent.get()
    }

    /// Returns the number of steps at the beginning.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Subtracts `steps`; `false` if fewer are left.
    #[inline]
    pub(super) fn take(&self, steps: u64) -> bool {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                true
            }
            None => self.spend(),
        }
    }

    /// Subtracts the steps for `bytes` that are matched against a pattern.
    #[inline]
    pub(super) fn take_for_text(&self, bytes: usize) -> bool {
        self.take((bytes / BYTES) as u64)
    }

    /// Subtracts one step for a schema, and those for its `literals`.
    #[inline]
    pub(super) fn take_for_schema(&self, literals: usize) -> bool {
        self.take(1 + (literals / LITERALS) as u64)
    }

    /// Returns a new count with the number of steps at the beginning.
    pub(super) fn anew(&self) -> Self {
        Self::new(self.most)
    }

    #[cold]
    pub(super) fn spend(&self) -> bool {
        self.left.set(0);
        self.spent.set(true);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left() {
        let steps = Steps::new(3);
        assert!(steps.take_for_schema(LITERALS - 1) && steps.take_for_text(BYTES));
        assert!(steps.take_for_text(BYTES - 1) && steps.take(1) && !steps.are_spent());
        assert!(!steps.take(1) && steps.are_spent());
        // After a refusal, not even one step is left.
        let steps = Steps::new(3);
        assert!(!steps.take_for_schema(3 * LITERALS) && !steps.take(1) && steps.are_spent());
    }
}
