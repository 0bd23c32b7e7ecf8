//! What the layers around a call keep of it.

use std::time::Instant;

use crate::{
    contained::contained,
    feature::layer::{CallEnd, CallOutcome, CallScope},
    gate::{Outcome, Outgoing},
};

pub(super) struct Around {
    pub(super) scopes: Vec<Box<dyn CallScope>>,
    /// How many of them have admitted the call.
    pub(super) admitted: usize,
    pub(super) begun: Instant,
}

impl Around {
    /// The smallest limit of a layer for the response.
    pub(super) fn max_response_bytes(&self) -> Option<usize> {
        let scopes = self.scopes.iter();
        scopes
            .filter_map(|scope| contained(LAYER, || scope.max_response_bytes()).flatten())
            .min()
    }

    pub(super) fn end(&mut self, response: &Outgoing) {
        let end = CallEnd {
            outcome: match response.outcome() {
                Some(Outcome::ToolError) => CallOutcome::ToolError,
                Some(Outcome::Failed(code) | Outcome::Refused(code)) => CallOutcome::Error(code),
                Some(Outcome::Result) | None => CallOutcome::Result,
            },
            ran: self.begun.elapsed(),
            response_bytes: response.bytes().len(),
        };
        // Innermost first.
        while let Some(scope) = self.scopes.pop() {
            contained(LAYER, || scope.ended(&end));
        }
    }
}

/// A call that was given up. The authors' scopes may do anything when they are dropped.
impl Drop for Around {
    fn drop(&mut self) {
        while let Some(scope) = self.scopes.pop() {
            contained(LAYER, || drop(scope));
        }
    }
}

/// The name in the log of code that is around calls.
pub(super) const LAYER: &str = "a call layer";
