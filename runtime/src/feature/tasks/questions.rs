//! What a task asks its client: open until it is answered, under keys that are never used twice (W-17).

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;
use trueform_schema::{Json, Map};

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
    answer: oneshot::Sender<Json>,
}

impl Questions {
    fn lock(&self) -> MutexGuard<'_, Table> {
        // Nothing that can panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens `question` under `key`, or under another one that begins with it if it was used already. Returns the key, and where the
    /// answer comes.
    pub(super) fn open(&self, key: &str, question: Json) -> (Box<str>, oneshot::Receiver<Json>) {
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
        });
        (unused, answered)
    }

    /// Closes the question `key`. `false` if it is not open.
    pub(super) fn close(&self, key: &str) -> bool {
        let mut table = self.lock();
        let before = table.open.len();
        table.open.retain(|open| *open.key != *key);
        table.open.len() < before
    }

    /// Answers the questions that `answers` name, and ignores other keys (W-16). `false` if there was none.
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
                // Who asked may have gone.
                let _ = open.answer.send(answer);
            }
        }
        any
    }

    /// Those that are open, in the order in which they were asked.
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
        assert_eq!(answered.try_recv(), Ok(yes));
        assert_eq!(keys(&questions), ["a#2", "a#2#2"]);
        assert!(!questions.answer(answers), "an answered key is unknown");
        assert!(questions.close("a#2") && !questions.close("a#2"));
        // Not even a key that is closed is used again.
        let (again, _answered) = questions.open("a", Json::null());
        assert_eq!(&*again, "a#3");
    }
}
