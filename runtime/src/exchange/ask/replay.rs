//! What a call has asked and done so far: the answers and finished steps that it starts with, and the questions that it waits for.
//!
//! A call of the modern era that asks is restarted when the answers arrive. Answered questions are then ready at once, and steps that
//! [`Context::once`](crate::Context::once) has run are not repeated. So the call reaches the point where it was, and continues.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
};

use trueform_schema::{InputRequest, Json, Map};

use super::{AskError, Asker};

/// What a call has asked and done so far.
#[derive(Debug, Default)]
pub(crate) struct Replay(Mutex<Progress>);

#[derive(Default)]
pub(super) struct Progress {
    /// The number of finished rounds of questions: results that asked, or questions that were answered one after the other.
    pub(super) round: u32,
    /// The unchecked answers of this request.
    pub(super) given: Map<Json>,
    /// The kept answers, of this request and of earlier ones.
    pub(super) answers: Map<Json>,
    /// Those of `answers` that came with this request.
    pub(super) fresh: Vec<Box<str>>,
    /// Results of finished steps.
    pub(super) steps: Map<Json>,
    /// What the author wrote into the state.
    pub(super) own: Option<Json>,
    /// What the state is bound to, when it is known.
    pub(super) bound: Option<Vec<u8>>,
    /// Keys of questions and of steps that are in use.
    asked: HashSet<Box<str>>,
    stepped: HashSet<Box<str>>,
    /// Questions without an answer, in the order in which they were asked.
    open: Vec<Open>,
    /// The questions for which the call was suspended.
    pub(super) put: Map<InputRequest>,
    last_ticket: u64,
    /// The number of running steps.
    running: usize,
    /// Whether the future of a step is being polled.
    in_step: bool,
    /// A mistake of the author that ends the call.
    fault: Option<AskError>,
    asker: Option<Arc<dyn Asker>>,
}

struct Open {
    ticket: u64,
    key: Box<str>,
    question: InputRequest,
    /// The waker of the future that asks.
    waker: Waker,
}

/// Why a waiting call is suspended.
#[derive(Debug)]
pub(crate) enum SetAside {
    /// It has asked.
    Asked,
    /// The author has made a mistake.
    Fault(AskError),
}

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Question,
    Step,
}

/// A question that waits, as one of a round.
#[derive(Debug)]
pub(super) struct Round<'r> {
    replay: &'r Replay,
    /// The number of the round, from 1.
    number: u32,
}

/// A key in use. If it is dropped before it has its answer or its result, the key is free again.
#[derive(Debug)]
pub(super) struct Claim<'r> {
    replay: &'r Replay,
    of: Use,
    key: Box<str>,
    is_settled: bool,
}

impl Replay {
    pub(super) fn lock(&self) -> MutexGuard<'_, Progress> {
        // No code of an author runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether and why the waiting call is suspended. `None` if it continues.
    ///
    /// A running step is waited for, because a dropped step would be repeated. The call's time limit still applies.
    pub(crate) fn set_aside(&self) -> Option<SetAside> {
        let mut progress = self.lock();
        if let Some(fault) = progress.fault.take() {
            return Some(SetAside::Fault(fault));
        }
        if progress.open.is_empty() || progress.running != 0 || progress.asker.is_some() {
            return None;
        }
        // The futures that ask are dropped next, and would withdraw open questions.
        for open in std::mem::take(&mut progress.open) {
            progress.put.insert(open.key, open.question);
        }
        Some(SetAside::Asked)
    }

    /// Reserves `key` for a question or a step.
    ///
    /// # Errors
    /// The key is in use, or a step asks: these are mistakes of the author, which end the call even if it waits for something else.
    pub(super) fn claim(&self, of: Use, key: &str) -> Result<Claim<'_>, AskError> {
        let mut progress = self.lock();
        let problem = if of == Use::Question && progress.in_step {
            format!("`{key}` is asked within a `once`: ask before it, and hand the answer in")
        } else {
            let keys = match of {
                Use::Question => &mut progress.asked,
                Use::Step => &mut progress.stepped,
            };
            if keys.insert(key.into()) {
                return Ok(Claim {
                    replay: self,
                    of,
                    key: key.into(),
                    is_settled: false,
                });
            }
            let what = match of {
                Use::Question => "question",
                Use::Step => "`once`",
            };
            format!(
                "the key `{key}` is used twice in one call: give each {what} a key of its own, such as with a number in a loop"
            )
        };
        tracing::error!(
            problem,
            "a question or a step that cannot be distinguished from another"
        );
        let error = AskError::Misused(problem);
        progress.fault = Some(error.clone());
        Err(error)
    }

    /// Checks that the call may ask in one more round; `limit` is its maximum number of rounds.
    ///
    /// # Errors
    /// All rounds are used.
    // T-11
    pub(super) fn check_round(&self, limit: u32) -> Result<(), AskError> {
        match self.lock().round < limit {
            true => Ok(()),
            false => Err(AskError::TooManyRounds(limit)),
        }
    }

    /// Counts a question whose future stays alive while it waits. Questions that wait at the same time are one round. The round ends with
    /// the first of them that no longer waits, because later questions may depend on its answer.
    pub(super) fn begin_round(&self) -> Round<'_> {
        Round {
            replay: self,
            number: self.lock().round + 1,
        }
    }

    /// Returns the receiver of the questions of this call, if they are not part of the result.
    pub(super) fn asker(&self) -> Option<Arc<dyn Asker>> {
        self.lock().asker.clone()
    }

    /// Sets the receiver of questions from now on, including those that wait.
    pub(crate) fn set_asker(&self, asker: Arc<dyn Asker>) {
        let wakers: Vec<_> = {
            let mut progress = self.lock();
            progress.asker = Some(asker);
            progress
                .open
                .iter()
                .map(|open| open.waker.clone())
                .collect()
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Records that the client is asked `question`. A question of the same ticket is replaced.
    pub(super) fn ask(
        &self,
        ticket: Option<u64>,
        key: &str,
        question: &InputRequest,
        waker: &Waker,
    ) -> u64 {
        let mut progress = self.lock();
        if let Some(ticket) = ticket
            && let Some(open) = progress.open.iter_mut().find(|open| open.ticket == ticket)
        {
            open.waker.clone_from(waker);
            return ticket;
        }
        progress.last_ticket += 1;
        let ticket = progress.last_ticket;
        progress.open.push(Open {
            ticket,
            key: key.into(),
            question: question.clone(),
            waker: waker.clone(),
        });
        ticket
    }

    /// Withdraws a question.
    pub(super) fn take_back(&self, ticket: u64) {
        self.lock().open.retain(|open| open.ticket != ticket);
    }

    /// Records that a step begins. Until [`ended`](Self::ended), the call is not suspended.
    pub(super) fn begun(&self) {
        self.lock().running += 1;
    }

    pub(super) fn ended(&self) {
        self.lock().running -= 1;
    }

    /// Polls a step. Questions within `poll` are refused.
    pub(super) fn polling_step<T>(&self, poll: impl FnOnce() -> T) -> T {
        struct Within<'r>(&'r Replay, bool);
        impl Drop for Within<'_> {
            fn drop(&mut self) {
                self.0.lock().in_step = self.1;
            }
        }
        let before = std::mem::replace(&mut self.lock().in_step, true);
        let _within = Within(self, before);
        poll()
    }
}

impl Round<'_> {
    /// Withdraws the round, because the question was not sent.
    pub(super) fn was_not_asked(mut self) {
        self.number = 0;
    }
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        let mut progress = self.replay.lock();
        progress.round = progress.round.max(self.number);
    }
}

impl Claim<'_> {
    /// Keeps the key in use until the call ends.
    pub(super) fn settle(mut self) {
        self.is_settled = true;
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        let mut progress = self.replay.lock();
        match self.of {
            Use::Question => progress.asked.remove(&self.key),
            Use::Step => progress.stepped.remove(&self.key),
        };
    }
}

/// Omits what the client has sent.
impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Progress")
            .field("round", &self.round)
            .field("open", &self.open.len())
            .field("running", &self.running)
            .finish_non_exhaustive()
    }
}
