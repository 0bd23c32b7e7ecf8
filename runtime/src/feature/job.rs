//! A request that was begun and is not answered yet.

use std::{
    sync::{Arc, Weak},
    task::{self, Poll},
};

use trueform_schema::ErrorObject;

use super::callable::{Failure, Timeout};
use crate::{exchange::Exchange, gate::Outgoing};

/// How a job ended.
#[derive(Debug)]
pub(crate) enum Completion {
    /// The output is in the job.
    Returned,
    Failed(Failure),
    /// The peer no longer wants the answer: nothing may be sent (E-9, O-2).
    Cancelled,
}

/// What runs work that holds its thread. It drops work that nobody waits for, and what it has no room for.
pub(crate) type Pool = fn(PoolWork);

/// Work that holds its thread.
pub(crate) struct PoolWork {
    pub(crate) run: Box<dyn FnOnce() + Send>,
    /// Alive as long as somebody waits for what the work returns.
    pub(crate) caller: Weak<()>,
}

impl PoolWork {
    /// Whether somebody waits for what it returns.
    pub(crate) fn is_wanted(&self) -> bool {
        self.caller.strong_count() > 0
    }
}

/// A request that was begun and is not answered yet.
pub(crate) trait Job: Send {
    fn exchange(&self) -> &Arc<Exchange>;

    fn timeout(&self) -> Option<Timeout> {
        None
    }

    /// Whether it only waits for messages that others send, so that it is never answered with a single JSON object.
    fn only_listens(&self) -> bool {
        false
    }

    /// Goes on with the work. Not called again after it was ready.
    fn poll(&mut self, cx: &mut task::Context<'_>, pool: Pool) -> Poll<Completion>;

    /// The response, if there is one. Drops what is left of the author's code.
    fn conclude(self: Box<Self>, done: Completion) -> Option<Outgoing>;
}

/// What became of a call so far.
pub(crate) enum Called {
    Ready(Outgoing),
    /// Nothing is answered.
    Silent,
    Refused(ErrorObject),
    /// The transport has no permit left for one more call.
    NoRoom,
    Running(Box<dyn Job>),
}
