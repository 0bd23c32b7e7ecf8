//! One check in progress: the state that its walks and its stream share, and the reason why it stopped.

use std::cell::Cell;

use super::{
    Passed,
    node::Nodes,
    steps::Steps,
    violation::{Found, Violation, Violations},
};

/// Why a check stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Steps,
    Depth,
}

impl Limit {
    pub(super) fn violation(self, steps: &Steps, found: Found) -> Violations {
        let expected = match self {
            Self::Steps => format!(
                "a value that can be checked in {} steps (send less, or simpler values)",
                steps.most()
            ),
            Self::Depth => "a value that can be checked within the limit of depth".to_owned(),
        };
        Violations::one(Violation {
            pointer: String::new(),
            keyword: "limit",
            expected,
            found,
            suggestion: None,
        })
    }
}

/// The state that the walks and the stream of one check share.
#[derive(Debug)]
pub(super) struct Run<'s> {
    pub(super) nodes: &'s Nodes,
    pub(super) steps: &'s Steps,
    /// Whether an integer was written as a float at a place where only integers are allowed.
    pub(super) integral_floats: Cell<bool>,
}

impl<'s> Run<'s> {
    pub(super) fn new(nodes: &'s Nodes, steps: &'s Steps) -> Self {
        Self {
            nodes,
            steps,
            integral_floats: Cell::new(false),
        }
    }

    /// Returns the facts about a value that passed.
    pub(super) fn passed(&self) -> Passed {
        Passed {
            integral_floats: self.integral_floats.get(),
        }
    }
}
