//! A question with its key, and how the client is asked: the answer exists already, or the call waits for it.

use std::{
    future::Future,
    pin::Pin,
    task::{Context as TaskContext, Poll},
};

use trueform_schema::{At, DecodeError, Era, InputRequest, Json, Map, Method, Revision, pointer};

use super::{
    AskError, Replay, place,
    replay::{Claim, Use},
    state::RESPONSES,
};
use crate::{
    exchange::{Context, Exchange},
    gate::{self, CheckedParams, Inbound, Leniency, Policy},
    needs::RequiredCapabilities,
};

impl Context {
    /// Asks the client `question` under `key`. `read` reads the unchecked JSON of an answer. If the answer does not fit, the client is
    /// asked again.
    pub(crate) async fn put<T>(
        &self,
        key: &str,
        question: InputRequest,
        read: impl Fn(&str) -> Result<T, DecodeError>,
    ) -> Result<T, AskError> {
        let exchange = &self.0;
        let method = method_of(&question);
        let read = |text: &str| {
            let answer = read(text)?;
            if let Some(method) = method {
                gate::check_answer(method, text)?;
            }
            Ok(answer)
        };
        let replay = exchange.replay();
        if replay.asker().is_none() {
            place::check(exchange, "a question is asked")?;
        }
        let claim = replay.claim(Use::Question, key)?;
        let era: Era = exchange.revision().era();
        if era == Era::Modern && replay.asker().is_none() {
            if let Some(answer) = answered(exchange, key, read)? {
                claim.settle();
                return Ok(answer);
            }
            exchange.check_question(&question)?;
            replay.check_round(exchange.host.settings.ask.rounds)?;
            // Unless the call becomes a task meanwhile, it is suspended now.
            let open = OpenQuestion {
                replay,
                key,
                question: &question,
                ticket: None,
            };
            open.await;
        } else {
            exchange.check_question(&question)?;
        }
        self.put_and_wait(claim, key, &question, read).await
    }

    /// Asks until an answer fits, while the future that asks stays alive.
    ///
    /// # Errors
    /// [`AskError::TooManyRounds`] if the call has reached its limit of questions, of all kinds.
    async fn put_and_wait<T>(
        &self,
        claim: Claim<'_>,
        key: &str,
        question: &InputRequest,
        read: impl Fn(&str) -> Result<T, DecodeError>,
    ) -> Result<T, AskError> {
        let (replay, rounds) = (self.0.replay(), self.0.host.settings.ask.rounds);
        loop {
            replay.check_round(rounds)?;
            let round = replay.begin_round();
            let answer = match replay.asker() {
                Some(asker) => asker.ask(key, question).await,
                None => self.request_question(question).await,
            };
            match &answer {
                Err(
                    AskError::TooMany(_)
                    | AskError::TooSoon
                    | AskError::NotDeclared(_)
                    | AskError::NotAllowed(_)
                    | AskError::NotAtThisRevision,
                ) => round.was_not_asked(),
                _ => drop(round),
            }
            let answer = match answer {
                Ok(answer) => answer,
                // It does not have the form of any answer: the client is asked again.
                Err(AskError::Malformed(problem)) => {
                    log_wrong(key, &problem);
                    continue;
                }
                Err(error) => return Err(error),
            };
            match read(answer.get()) {
                Ok(answer) => {
                    claim.settle();
                    return Ok(answer);
                }
                Err(problem) => log_wrong(key, &problem),
            }
        }
    }
}

/// Returns the answer to the question `key`, if it exists already. An answer that does not fit is ignored.
///
/// # Errors
/// [`AskError::Malformed`] if this request contains an answer that does not have the form of any answer (T-10).
fn answered<T>(
    exchange: &Exchange,
    key: &str,
    read: impl Fn(&str) -> Result<T, DecodeError>,
) -> Result<Option<T>, AskError> {
    let replay = exchange.replay();
    // An earlier answer has precedence over a new one, because later steps depend on it.
    let earlier = replay.lock().answers.get(key).cloned();
    if let Some(answer) = earlier {
        match read(answer.get()) {
            Ok(answer) => return Ok(Some(answer)),
            Err(problem) => {
                log_wrong(key, &problem);
                replay.lock().answers.remove(key);
            }
        }
    }
    let Some(given) = replay.lock().given.get(key).cloned() else {
        return Ok(None);
    };
    match read(given.get()) {
        Ok(answer) => {
            let mut progress = replay.lock();
            progress.answers.insert(key, given);
            progress.fresh.push(key.into());
            Ok(Some(answer))
        }
        Err(problem) => match gate::unfit_answer(given.get()) {
            None => {
                log_wrong(key, &problem);
                Ok(None)
            }
            Some(unfit) => {
                let pointer = format!("{RESPONSES}/{}", pointer::escape(key));
                Err(AskError::Malformed(unfit.under(&pointer)))
            }
        },
    }
}

#[cold]
fn log_wrong(key: &str, problem: &DecodeError) {
    let (pointer, rule, expected) = (problem.pointer(), problem.rule(), problem.expected());
    tracing::debug!(
        key,
        pointer,
        rule,
        expected,
        "an answer does not fit and is asked for again"
    );
}

impl Exchange {
    /// Returns what this call has asked and done.
    pub(crate) fn replay(&self) -> &Replay {
        self.later().replay.get_or_init(Box::default)
    }

    /// Returns the same, if the call has asked or done anything.
    #[inline]
    pub(crate) fn has_replay(&self) -> Option<&Replay> {
        Some(self.later_if_any()?.replay.get()?)
    }

    /// Checks that the client of this request can be asked `question`.
    ///
    /// # Errors
    /// The client did not declare the required capability (T-4, C-6, B-8), requests of this method cannot ask, or the revision does not
    /// allow the question.
    pub(crate) fn check_question(&self, question: &InputRequest) -> Result<(), AskError> {
        let revision = self.revision();
        let needs = needs(question, revision);
        let missing = needs
            .missing_from(&self.peer().capabilities)
            .and(needs.unknown_at(revision));
        if !missing.is_empty() {
            return Err(AskError::NotDeclared(missing));
        }
        if revision.era() == Era::Modern && self.replay().asker().is_none() {
            if !self.may_ask() || cfg!(not(feature = "ask")) {
                return Err(AskError::NotAtThisRevision);
            }
            let policy = self.host.settings.outgoing;
            CheckedParams::new(question, revision, policy, "an input request")
                .map_err(|error| AskError::NotAllowed(error.message))?;
            if let (Some(method), Some(params)) = (method_of(question), params_of(question)) {
                gate::let_question_out(policy, method, params.get())
                    .map_err(AskError::NotAllowed)?;
            }
        }
        Ok(())
    }

    /// Returns whether the result of this request may ask.
    // T-1
    pub(super) fn may_ask(&self) -> bool {
        let method = Method::from_wire(self.method);
        let rules = method.and_then(|method| method.rules(self.revision()));
        rules.is_some_and(|rules| rules.input_required)
    }

    /// Returns how answers to questions are checked: strictly, against the schema of the revision, whatever other messages may contain.
    /// Authors act on these values, so they are not guessed.
    pub(crate) fn answers_held_to(&self) -> Inbound {
        let Inbound { leniencies, .. } = self.host.settings.incoming;
        Inbound {
            policy: Policy::Enforce,
            leniencies: leniencies
                .without(Leniency::UnknownValues)
                .without(Leniency::Formats),
            is_careful: true,
        }
    }
}

/// Returns the method of `question`; `None` for a question that no revision has.
fn method_of(question: &InputRequest) -> Option<Method> {
    match question {
        InputRequest::Elicit(_) => Some(Method::Elicit),
        InputRequest::CreateMessage(_) => Some(Method::CreateMessage),
        InputRequest::ListRoots(_) => Some(Method::ListRoots),
        _ => None,
    }
}

/// Returns the params of `question`, if it has any.
fn params_of(question: &InputRequest) -> Option<Json> {
    match question {
        InputRequest::Elicit(elicit) => Some(At::new(&elicit.params, Revision::LATEST).to_json()),
        InputRequest::CreateMessage(sample) => {
            Some(At::new(&sample.params, Revision::LATEST).to_json())
        }
        _ => None,
    }
}

/// Returns what a client must have declared before it can be asked `question` at `revision`.
fn needs(question: &InputRequest, revision: Revision) -> RequiredCapabilities {
    // A question that no revision has cannot be declared; the gate refuses it.
    let Some(method) = method_of(question) else {
        return RequiredCapabilities::NONE;
    };
    let params = params_of(question);
    let params = params.as_ref().map_or("{}", Json::get);
    let context = RequiredCapabilities::of_context(method, revision, params);
    RequiredCapabilities::of_request(method, params).and(context)
}

/// A question that waits. It is ready when the question has to be asked in another way. Dropping it withdraws the question.
struct OpenQuestion<'q> {
    replay: &'q Replay,
    key: &'q str,
    question: &'q InputRequest,
    ticket: Option<u64>,
}

impl Future for OpenQuestion<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<()> {
        if self.replay.asker().is_some() {
            return Poll::Ready(());
        }
        let ticket = self
            .replay
            .ask(self.ticket, self.key, self.question, cx.waker());
        self.ticket = Some(ticket);
        Poll::Pending
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.replay.take_back(ticket);
        }
    }
}

impl Context {
    /// Returns the unchecked answers that came with this request, by key. This is for [`InputRequired`](crate::InputRequired); what
    /// [`ask`](Self::ask) and similar methods return is checked.
    #[must_use]
    pub fn input_responses(&self) -> Map<Json> {
        match self.0.has_replay() {
            Some(replay) => replay.lock().given.clone(),
            None => Map::new(),
        }
    }

    /// Returns the value that [`InputRequired::state`](crate::InputRequired::state) set in the result that this request answers.
    #[must_use]
    pub fn request_state(&self) -> Option<Json> {
        self.0.has_replay()?.lock().own.clone()
    }
}
