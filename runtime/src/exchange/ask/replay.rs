//! What a call has asked and done so far: the answers and finished steps that it starts with, and the questions that it waits for.
//!
//! A call of the modern era that asks is begun anew when the answers come. What was answered is ready at once then, and what
//! [`Context::once`](crate::Context::once) has done is not done again, so that it gets as far as it was and further.

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
    /// How many rounds of questions are over: results that asked, or questions that were answered one after the other.
    pub(super) round: u32,
    /// The answers that came with this request, as they came.
    pub(super) given: Map<Json>,
    /// Those that are kept, of this request and of earlier ones.
    pub(super) answers: Map<Json>,
    /// Those of `answers` that came with this request.
    pub(super) fresh: Vec<Box<str>>,
    /// Results of finished steps.
    pub(super) steps: Map<Json>,
    /// What the author wrote into the state.
    pub(super) own: Option<Json>,
    /// What the state is bound to, once it is known.
    pub(super) bound: Option<Vec<u8>>,
    /// Keys of questions and of steps that are in use.
    asked: HashSet<Box<str>>,
    stepped: HashSet<Box<str>>,
    /// Questions without an answer, in the order in which they were asked.
    open: Vec<Open>,
    /// Those that the call was set aside for.
    pub(super) put: Map<InputRequest>,
    last_ticket: u64,
    /// How many steps run.
    running: usize,
    /// Whether the future of a step is polled.
    in_step: bool,
    /// A mistake of the author that ends the call.
    fault: Option<AskError>,
    asker: Option<Arc<dyn Asker>>,
}

struct Open {
    ticket: u64,
    key: Box<str>,
    question: InputRequest,
    /// Of the future that asks.
    waker: Waker,
}

/// Why a call that waits is set aside.
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

/// A key in use. Dropped before it has its answer or its result, it is free again.
#[derive(Debug)]
pub(super) struct Claim<'r> {
    replay: &'r Replay,
    of: Use,
    key: Box<str>,
    is_settled: bool,
}

impl Replay {
    pub(super) fn lock(&self) -> MutexGuard<'_, Progress> {
        // Nothing of an author's runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to become of the call, which waits. `None` if it goes on.
    ///
    /// A step that runs is waited for: dropped, it would be done again. The call's time limit still holds.
    pub(crate) fn set_aside(&self) -> Option<SetAside> {
        let mut progress = self.lock();
        if let Some(fault) = progress.fault.take() {
            return Some(SetAside::Fault(fault));
        }
        if progress.open.is_empty() || progress.running != 0 || progress.asker.is_some() {
            return None;
        }
        // The futures that ask are dropped next, and take back what is open.
        for open in std::mem::take(&mut progress.open) {
            progress.put.insert(open.key, open.question);
        }
        Some(SetAside::Asked)
    }

    /// Takes `key` for a question or a step.
    ///
    /// # Errors
    /// The key is in use, or a step asks: mistakes of the author, which end the call even if it waits for something else.
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

    /// Whether the call may ask in one more round; `limit` is the number of rounds that it has.
    ///
    /// # Errors
    /// It has asked in all of them.
    // T-11
    pub(super) fn check_round(&self, limit: u32) -> Result<(), AskError> {
        match self.lock().round < limit {
            true => Ok(()),
            false => Err(AskError::TooManyRounds(limit)),
        }
    }

    /// Counts a question whose future stays alive while it waits. Questions that wait at the same time are one round, which is over
    /// with the first of them that no longer waits: what is asked then may depend on the answer.
    pub(super) fn begin_round(&self) -> Round<'_> {
        Round {
            replay: self,
            number: self.lock().round + 1,
        }
    }

    /// What the questions of this call go to, if it is not the result.
    pub(super) fn asker(&self) -> Option<Arc<dyn Asker>> {
        self.lock().asker.clone()
    }

    /// Sets what questions go to from now on, those that wait included.
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

    /// Notes that the client is asked `question`. A question of the same ticket is replaced.
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

    /// Takes a question back.
    pub(super) fn take_back(&self, ticket: u64) {
        self.lock().open.retain(|open| open.ticket != ticket);
    }

    /// A step begins. Until [`ended`](Self::ended) the call is not set aside.
    pub(super) fn begun(&self) {
        self.lock().running += 1;
    }

    pub(super) fn ended(&self) {
        self.lock().running -= 1;
    }

    /// Polls a step. What `poll` asks is refused.
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
    /// Takes the round back: the question was not sent.
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
    /// The key stays in use until the call ends.
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

/// Without what the client has sent.
impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Progress")
            .field("round", &self.round)
            .field("open", &self.open.len())
            .field("running", &self.running)
            .finish_non_exhaustive()
    }
}
