//! The questions of a task to its client. A question is open until it is answered; its key is never reused (W-17).

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;
use trueform_schema::{Json, Map};

use crate::exchange::AskError;

/// Receives the answer to a question.
pub(super) type Answered = oneshot::Receiver<Result<Json, AskError>>;

/// The questions of a task.
#[derive(Default)]
pub(super) struct Questions(Mutex<Table>);

#[derive(Default)]
struct Table {
    used: HashSet<Box<str>>,
    open: Vec<Open>,
}

struct Open {
    key: Box<str>,
    question: Json,
    answer: oneshot::Sender<Result<Json, AskError>>,
    /// Whether the store has it, so that the client can see it.
    is_stored: bool,
}

impl Questions {
    fn lock(&self) -> MutexGuard<'_, Table> {
        // No code that can panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens `question` under `key`, or under another one that begins with it if it was used already. Returns the key, and the receiver of
    /// the answer, or of the error of a question that the client never sees.
    pub(super) fn open(&self, key: &str, question: Json) -> (Box<str>, Answered) {
        let (answer, answered) = oneshot::channel();
        let mut table = self.lock();
        let mut unused: Box<str> = key.into();
        for number in 2_u64.. {
            if table.used.insert(unused.clone()) {
                break;
            }
            unused = format!("{key}#{number}").into();
        }
        table.open.push(Open {
            key: unused.clone(),
            question,
            answer,
            is_stored: false,
        });
        (unused, answered)
    }

    /// Records that the store has the questions `keys`.
    pub(super) fn stored<'k>(&self, keys: impl Iterator<Item = &'k str>) {
        let mut table = self.lock();
        for key in keys {
            let open = table.open.iter_mut().find(|open| *open.key == *key);
            if let Some(open) = open {
                open.is_stored = true;
            }
        }
    }

    /// Closes those of the questions `keys` that the store does not have, because it refused them. The futures that asked get the error.
    #[cold]
    pub(super) fn refused<'k>(&self, keys: impl Iterator<Item = &'k str>) {
        for key in keys {
            let refused = {
                let mut table = self.lock();
                let mut open = table.open.iter();
                let at = open.position(|open| *open.key == *key && !open.is_stored);
                at.map(|at| table.open.remove(at))
            };
            if let Some(open) = refused {
                // The future that asked may have been dropped.
                let _ = open.answer.send(Err(AskError::NotStored));
            }
        }
    }

    /// Returns whether the question `key` waits for its answer.
    pub(super) fn is_open(&self, key: &str) -> bool {
        self.lock().open.iter().any(|open| *open.key == *key)
    }

    /// Closes the question `key`. Returns `false` if it is not open.
    pub(super) fn close(&self, key: &str) -> bool {
        let mut table = self.lock();
        let before = table.open.len();
        table.open.retain(|open| *open.key != *key);
        table.open.len() < before
    }

    /// Answers the questions that `answers` name, and ignores other keys (W-16). Returns `false` if it answered none.
    pub(super) fn answer(&self, answers: impl IntoIterator<Item = (Box<str>, Json)>) -> bool {
        let mut any = false;
        for (key, answer) in answers {
            let taken = {
                let mut table = self.lock();
                let at = table.open.iter().position(|open| open.key == key);
                at.map(|at| table.open.remove(at))
            };
            if let Some(open) = taken {
                any = true;
                // The future that asked may have been dropped.
                let _ = open.answer.send(Ok(answer));
            }
        }
        any
    }

    /// Returns the open questions, in the order in which they were asked.
    pub(super) fn outstanding(&self) -> Map<Json> {
        let table = self.lock();
        let open = table.open.iter();
        open.map(|open| (open.key.clone(), open.question.clone()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(questions: &Questions) -> Vec<String> {
        let outstanding = questions.outstanding();
        outstanding.keys().map(str::to_owned).collect()
    }

    // W-16, W-17
    #[test]
    fn each_key_once() {
        let questions = Questions::default();
        let (first, mut answered) = questions.open("a", Json::null());
        let (second, _kept) = questions.open("a", Json::null());
        let (third, _too) = questions.open("a#2", Json::null());
        assert_eq!([&*first, &*second, &*third], ["a", "a#2", "a#2#2"]);
        assert_eq!(keys(&questions), ["a", "a#2", "a#2#2"]);

        let yes = Json::from_text("true").unwrap();
        let answers = [("a".into(), yes.clone()), ("unknown".into(), Json::null())];
        assert!(questions.answer(answers.clone()));
        assert_eq!(answered.try_recv().unwrap().unwrap(), yes);
        assert_eq!(keys(&questions), ["a#2", "a#2#2"]);
        assert!(!questions.answer(answers), "an answered key is unknown");
        assert!(questions.close("a#2") && !questions.close("a#2"));
        // The key of a closed question is not used again either.
        let (again, _answered) = questions.open("a", Json::null());
        assert_eq!(&*again, "a#3");
    }

    // W-15: a stored question is open until it is answered; a refused one is not.
    #[test]
    fn refused_by_the_store() {
        let questions = Questions::default();
        let (first, mut shown) = questions.open("a", Json::null());
        questions.stored([&*first].into_iter());
        let (second, mut hidden) = questions.open("b", Json::null());
        questions.refused([&*first, &*second].into_iter());
        assert_eq!(keys(&questions), ["a"]);
        assert!(shown.try_recv().is_err(), "it goes on");
        let refusal = hidden.try_recv().unwrap();
        assert!(matches!(refusal, Err(AskError::NotStored)), "{refusal:?}");
        assert!(!questions.close("b"), "it is closed already");
    }
}
