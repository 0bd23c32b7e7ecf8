//! The state of a task, and its allowed changes.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use trueform_schema::{ErrorObject, Json, Map, Revision};

/// The status of a task, as both forms spell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns whether it is a final status.
    pub(super) const fn is_end(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// The outcome of the call of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    /// The result, as it would be sent in an ordinary call.
    Result(Json),
    Error(ErrorObject),
}

/// The state of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskState {
    /// The revision of the call: only clients of this revision can see the task, because the result is written for it.
    pub(super) revision: String,
    pub(super) status: Status,
    /// The status message for users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    /// When it changed last, in milliseconds since 1970.
    pub(super) updated: u64,
    /// The open questions, if clients read them with the state.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) questions: Map<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<Outcome>,
}

/// A change of a task.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// These questions are open; empty if the call continues.
    Questions(Map<Json>),
    /// The call has ended.
    Ended {
        status: Status,
        message: Option<String>,
        outcome: Outcome,
    },
    Cancelled {
        message: &'static str,
    },
}

impl TaskState {
    /// Creates the state of a task that begins now.
    pub(super) fn new(revision: Revision) -> Self {
        Self {
            revision: revision.as_str().to_owned(),
            status: Status::Working,
            message: None,
            updated: now(),
            questions: Map::new(),
            outcome: None,
        }
    }

    /// Applies `change`. Returns `false` if the task has ended, or nothing changes.
    // W-5
    pub(super) fn apply(&mut self, change: Change) -> bool {
        if self.status.is_end() {
            return false;
        }
        match change {
            Change::Questions(questions) => {
                let status = match questions.is_empty() {
                    true => Status::Working,
                    false => Status::InputRequired,
                };
                if (status, &questions) == (self.status, &self.questions) {
                    return false;
                }
                self.status = status;
                self.questions = questions;
            }
            Change::Ended {
                status,
                message,
                outcome,
            } => {
                debug_assert!(status.is_end(), "an end is a last status");
                self.status = status;
                self.message = message;
                self.questions = Map::new();
                self.outcome = Some(outcome);
            }
            Change::Cancelled { message } => {
                self.status = Status::Cancelled;
                self.message = Some(message.to_owned());
                self.questions = Map::new();
            }
        }
        self.updated = now().max(self.updated);
        true
    }

    pub(super) fn is_of(&self, revision: Revision) -> bool {
        self.revision == revision.as_str()
    }

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| {
            unreachable!("a state has only texts as keys: {error}");
        })
    }
}

fn now() -> u64 {
    millis(SystemTime::now())
}

/// Returns `time` in milliseconds since 1970.
pub(super) fn millis(time: SystemTime) -> u64 {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns `millis` since 1970, in ISO 8601 and UTC: `2026-07-28T09:30:00.125Z`.
pub(super) fn iso(millis: u64) -> String {
    let (seconds, rest) = (millis / 1000, millis % 1000);
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    // Whole cycles of 400 years first, so that a clock that is far off costs little.
    const CYCLE: u64 = 146_097;
    let mut year = 1970 + 400 * (days / CYCLE);
    days %= CYCLE;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!(
        "{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}.{rest:03}Z",
        days + 1
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times() {
        for (at, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_001, "2000-03-01T00:00:00.001Z"),
            (1_785_231_000_125, "2026-07-28T09:30:00.125Z"),
            (4_102_444_799_000, "2099-12-31T23:59:59.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (16_725_225_600_000, "2500-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(iso(at), expected);
        }
    }

    fn question() -> Map<Json> {
        [("q".to_owned().into_boxed_str(), Json::null())]
            .into_iter()
            .collect()
    }

    #[derive(Clone, Debug)]
    enum Step {
        Ask,
        Answered,
        Complete,
        Fail,
        Cancel,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => Just(Step::Ask),
            3 => Just(Step::Answered),
            1 => Just(Step::Complete),
            1 => Just(Step::Fail),
            1 => Just(Step::Cancel),
        ];
        proptest::collection::vec(step, 0..12)
    }

    proptest! {
        // W-5: working and input_required alternate, both can end in one of three ways, and an end is final. The state meets the
        // requirements of the extension after every step (W-15).
        #[test]
        fn transitions(steps in steps()) {
            let mut state = TaskState::new(Revision::V2026_07_28);
            let mut model = "working";
            for step in steps {
                let before = state.clone();
                let change = match step {
                    Step::Ask => Change::Questions(question()),
                    Step::Answered => Change::Questions(Map::new()),
                    Step::Complete => Change::Ended {
                        status: Status::Completed,
                        message: None,
                        outcome: Outcome::Result(Json::null()),
                    },
                    Step::Fail => Change::Ended {
                        status: Status::Failed,
                        message: Some("no".to_owned()),
                        outcome: Outcome::Error(ErrorObject::new(1, "no")),
                    },
                    Step::Cancel => Change::Cancelled { message: "by the client" },
                };
                let expected = match (model, &step) {
                    (end @ ("completed" | "failed" | "cancelled"), _) => end,
                    (_, Step::Ask) => "input_required",
                    (_, Step::Answered) => "working",
                    (_, Step::Complete) => "completed",
                    (_, Step::Fail) => "failed",
                    (_, Step::Cancel) => "cancelled",
                };
                let changed = state.apply(change);
                prop_assert_eq!(changed, expected != model);
                prop_assert_eq!(state.status.as_str(), expected);
                if !changed {
                    prop_assert_eq!(&state, &before);
                }
                prop_assert_eq!(!state.questions.is_empty(), expected == "input_required");
                prop_assert_eq!(state.outcome.is_some(), matches!(expected, "completed" | "failed"));
                let read: TaskState = serde_json::from_str(&state.to_text()).unwrap();
                prop_assert_eq!(read, state.clone());
                model = expected;
            }
        }
    }
}
