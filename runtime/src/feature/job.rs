//! A request that was begun and is not answered yet.

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
    /// The work goes on apart from the request: [`Handover`] has the answer.
    HandedOver,
}

/// What takes the work of a request over.
pub(crate) struct Handover {
    /// What the request is answered with.
    pub(crate) response: Outgoing,
    /// Goes on with the work.
    pub(crate) go_on: Box<dyn FnOnce(Box<dyn Job>) + Send>,
}

/// Work that goes on apart from the request that began it.
pub(crate) struct ApartWork {
    pub(crate) exchange: Arc<Exchange>,
    /// Begins the work, or goes on with it.
    pub(crate) begin: Box<dyn FnOnce() -> Called + Send>,
    /// How long it may take.
    pub(crate) life: Duration,
    /// How long it goes on when the server stops.
    pub(crate) drain: Duration,
    /// Completes when it has ended elsewhere, so that nobody wants it any more.
    pub(crate) ended_elsewhere: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Takes note of its end.
    pub(crate) done: ApartDone,
}

/// Takes note of the end of such work.
pub(crate) type ApartDone =
    Box<dyn FnOnce(ApartEnd) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// How such work ended.
#[derive(Debug)]
pub(crate) enum ApartEnd {
    Response(Outgoing),
    Cancelled,
    /// It has ended elsewhere before.
    Elsewhere,
    /// Its life was over.
    Expired,
    /// The server stopped.
    Stopped,
}

/// Drives work apart from its request, on the runtime of the caller. `false` if there is no runtime: then nothing was begun.
pub(crate) type RunApart = fn(ApartWork) -> bool;

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

/// What a transport has room for. The engine asks before it does anything, and the transport gives the room back once the message
/// is answered. Byte streams have no such bound: the table of ids bounds their calls, and each of them is one session.
pub(crate) trait Capacity {
    /// Takes a permit for one more call.
    ///
    /// # Errors
    /// All are taken.
    fn call(&self) -> Result<(), Refusal>;

    /// Takes a permit for one more stream that only listens.
    ///
    /// # Errors
    /// All are taken, or the client does not accept a stream.
    fn listener(&self) -> Result<(), Refusal>;

    /// Keeps `session`, which the message opened.
    ///
    /// # Errors
    /// As many sessions as may be are open.
    fn session(&self, session: &Arc<Session>) -> Result<(), Refusal>;
}

/// What became of a call so far.
pub(crate) enum Called {
    Ready(Outgoing),
    /// Nothing is answered.
    Silent,
    Refused(ErrorObject),
    /// The transport has no room for it.
    TurnedAway(Refusal),
    Running(Box<dyn Job>),
}
