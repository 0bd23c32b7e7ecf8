//! What the layers around a call keep of it.

use std::{
    task::{self, Poll},
    time::Instant,
};

use crate::{
    contained::{contained, guarded},
    feature::{
        callable::{Failure, Timeout},
        failure::ToolError,
        layer::{CallEnd, CallInfo, CallOutcome, CallScope, Layers},
    },
    gate::{Outcome, Outgoing},
};

pub(super) struct Around {
    scopes: Vec<Box<dyn CallScope>>,
    /// How many of them have admitted the call.
    admitted: usize,
    begun: Instant,
}

impl Around {
    /// Lets each of `layers` look at the call, up to one that refuses it or panics.
    pub(super) fn begin(
        layers: &Layers,
        info: &CallInfo<'_>,
    ) -> (Self, Result<Result<(), ToolError>, Failure>) {
        let mut around = Self {
            scopes: Vec::with_capacity(layers.len()),
            admitted: 0,
            begun: Instant::now(),
        };
        for layer in layers {
            match guarded(|| layer.begin(info)) {
                Ok(Ok(scope)) => around.scopes.extend(scope),
                Ok(Err(error)) => return (around, Ok(Err(error))),
                Err(panic) => return (around, Err(Failure::LayerPanicked(panic))),
            }
        }
        (around, Ok(Ok(())))
    }

    /// Ready when every layer has admitted the call, in order.
    pub(super) fn poll_admitted(
        &mut self,
        cx: &mut task::Context<'_>,
    ) -> Poll<Result<(), Failure>> {
        while let Some(scope) = self.scopes.get_mut(self.admitted) {
            match guarded(|| scope.poll_admitted(cx)) {
                Ok(Poll::Ready(())) => self.admitted += 1,
                Ok(Poll::Pending) => return Poll::Pending,
                Err(panic) => return Poll::Ready(Err(Failure::LayerPanicked(panic))),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// The timeout of a call that has `own`: a layer may shorten it.
    pub(super) fn timeout(&self, own: Option<Timeout>) -> Option<Timeout> {
        let scopes = self.scopes.iter();
        let limits = scopes.filter_map(|scope| contained(LAYER, || scope.time_limit()).flatten());
        let Some(limit) = limits.min() else {
            return own;
        };
        Some(match own {
            None => Timeout::of(limit),
            Some(own) => Timeout {
                limit: own.limit.min(limit),
                hard_limit: Some(own.hard_limit.map_or(limit, |hard| hard.min(limit))),
                ..own
            },
        })
    }

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
