//! How much work a check may be.

use std::cell::Cell;

/// Bytes of text that are matched against a pattern, or literals that are compared with a value, for one step.
const A_STEP: usize = 8;

/// The work that is left to a check, in steps.
///
/// One step is a schema that is applied to a value, a value that is compared with others for `uniqueItems`, 8 literals of `enum`, or
/// 8 bytes that are matched against a pattern. Several checks can share one count.
#[derive(Debug)]
pub struct Steps {
    most: u64,
    left: Cell<u64>,
    spent: Cell<bool>,
}

impl Steps {
    /// A count of `most` steps.
    #[must_use]
    pub const fn new(most: u64) -> Self {
        Self {
            most,
            left: Cell::new(most),
            spent: Cell::new(false),
        }
    }

    /// Whether a check needed more steps than were left: what it says of the value is then not to be trusted.
    #[must_use]
    pub fn are_spent(&self) -> bool {
        self.spent.get()
    }

    /// How many steps there were at the beginning.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Takes `steps`; `false` if fewer are left.
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

    /// Takes the steps for `amount` bytes or literals. Nothing for a few of them.
    #[inline]
    pub(super) fn take_for(&self, amount: usize) -> bool {
        self.take((amount / A_STEP) as u64)
    }

    /// Takes one step, and those for `amount` bytes or literals.
    #[inline]
    pub(super) fn take_one_and_for(&self, amount: usize) -> bool {
        self.take(1 + (amount / A_STEP) as u64)
    }

    /// The count as it was at the beginning.
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
        assert!(steps.take(1) && steps.take_for(A_STEP) && steps.take_for(A_STEP - 1));
        assert!(steps.take(1) && !steps.are_spent());
        assert!(!steps.take(1) && steps.are_spent());
        // Nor is anything left for less.
        let steps = Steps::new(3);
        assert!(!steps.take(4) && !steps.take(1) && steps.are_spent());
    }
}
