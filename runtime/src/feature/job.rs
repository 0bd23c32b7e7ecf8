//! A request that has begun and has no response yet.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Weak},
    task::{self, Poll},
    time::Duration,
};

use trueform_schema::ErrorObject;

use super::callable::{Failure, Timeout};
use crate::{
    exchange::Exchange,
    gate::{Outgoing, Refusal},
    peer::Session,
};

/// How a job ended.
#[derive(Debug)]
pub(crate) enum Completion {
    /// The output is in the job.
    Returned,
    Failed(Failure),
    /// The peer no longer wants the answer: nothing may be sent (E-9, O-2).
    Cancelled,
    /// The work continues separately from the request: [`Handover`] has the response.
    HandedOver,
}

/// Takes over the work of a request.
pub(crate) struct Handover {
    /// The response to the request.
    pub(crate) response: Outgoing,
    /// Continues the work.
    pub(crate) go_on: Box<dyn FnOnce(Box<dyn Job>) + Send>,
}

/// Work that continues separately from the request that began it.
pub(crate) struct ApartWork {
    pub(crate) exchange: Arc<Exchange>,
    /// Begins the work, or continues it.
    pub(crate) begin: Box<dyn FnOnce() -> Called + Send>,
    /// How long it may take.
    pub(crate) life: Duration,
    /// How long it continues when the server stops.
    pub(crate) drain: Duration,
    /// Completes when the work has ended elsewhere, so that its result is no longer needed.
    pub(crate) ended_elsewhere: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Called when it ends.
    pub(crate) done: ApartDone,
}

/// Called when such work ends.
pub(crate) type ApartDone =
    Box<dyn FnOnce(ApartEnd) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// How such work ended.
#[derive(Debug)]
pub(crate) enum ApartEnd {
    Response(Outgoing),
    Cancelled,
    /// It has already ended elsewhere.
    Elsewhere,
    /// Its time to live was over.
    Expired,
    /// The server stopped.
    Stopped,
}

/// Drives work separately from its request, on the runtime of the caller. Returns `false` if there is no runtime: then nothing has begun.
pub(crate) type RunApart = fn(ApartWork) -> bool;

/// Runs work that blocks its thread. It drops the work if nobody waits for the result, or if the pool is full.
pub(crate) type Pool = fn(PoolWork);

/// Work that blocks its thread.
pub(crate) struct PoolWork {
    pub(crate) run: Box<dyn FnOnce() + Send>,
    /// Alive as long as something waits for the result of the work.
    pub(crate) caller: Weak<()>,
}

impl PoolWork {
    /// Returns whether something waits for its result.
    pub(crate) fn is_wanted(&self) -> bool {
        self.caller.strong_count() > 0
    }
}

/// A request that has begun and has no response yet.
pub(crate) trait Job: Send {
    fn exchange(&self) -> &Arc<Exchange>;

    fn timeout(&self) -> Option<Timeout> {
        None
    }

    /// Returns whether it only waits for messages that other calls send, so that its response is never a single JSON object.
    fn only_listens(&self) -> bool {
        false
    }

    /// Continues the work. Not called again after it was ready.
    fn poll(&mut self, cx: &mut task::Context<'_>, pool: Pool) -> Poll<Completion>;

    /// Returns the response, if there is one. Drops what is left of the author's code.
    fn conclude(self: Box<Self>, done: Completion) -> Option<Outgoing>;
}

/// The capacity of a transport. The engine takes a permit before it does anything, and the transport releases it after the response. Byte
/// streams have no such limit: the table of ids limits their calls, and each of them is one session.
pub(crate) trait Capacity {
    /// Takes a permit for one more call.
    ///
    /// # Errors
    /// All permits are taken.
    fn call(&self) -> Result<(), Refusal>;

    /// Takes a permit for one more stream that only listens.
    ///
    /// # Errors
    /// All permits are taken, or the client does not accept a stream.
    fn listener(&self) -> Result<(), Refusal>;

    /// Keeps `session`, which the message opened.
    ///
    /// # Errors
    /// The maximum number of sessions is open.
    fn session(&self, session: &Arc<Session>) -> Result<(), Refusal>;
}

/// The state of a call so far.
pub(crate) enum Called {
    Ready(Outgoing),
    /// There is no response.
    Silent,
    Refused(ErrorObject),
    /// The transport has no room for it.
    TurnedAway(Refusal),
    Running(Box<dyn Job>),
}
