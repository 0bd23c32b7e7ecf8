//! A layer that counts and times calls.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{CallEnd, CallInfo, CallLayer, CallOutcome, CallScope};
use crate::feature::failure::ToolError;

/// Most pairs of name and outcome that are counted apart. Names come from what is registered and outcomes from handlers, so a
/// client cannot reach it; an author's error codes could.
const MOST_ROWS: usize = 10_000;

/// Counts and times the calls of a server, by name and outcome. Clones share the counts.
///
/// At most 10 000 pairs of name and outcome are counted separately. A call that would need one more is not counted, and the log reports it.
///
/// ```
/// use trueform::{prelude::*, layer::{CallMetrics, CallOutcome}};
///
/// /// Add two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let metrics = CallMetrics::new();
/// let client = Server::new("calc", "1.0.0").tools(tools![add]).layer(metrics.clone()).connect().await?;
/// client.call_tool("add", serde_json::json!({ "a": 2, "b": 3 })).await?;
/// client.call_tool("add", serde_json::json!({ "a": "two" })).await?;
///
/// let counts: Vec<_> = metrics.snapshot().iter().map(|row| (row.name.clone(), row.outcome, row.count)).collect();
/// assert_eq!(counts, [("add".to_owned(), Some(CallOutcome::Result), 1), ("add".to_owned(), Some(CallOutcome::ToolError), 1)]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct CallMetrics(Arc<Mutex<Counters>>);

/// By name and by outcome.
type Counters = HashMap<(Box<str>, Option<CallOutcome>), Counter>;

#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    count: u64,
    total: Duration,
    longest: Duration,
}

/// The measurements of the calls with the same name and the same outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Measured {
    /// The name, as [`CallInfo::name`] returns it.
    pub name: String,
    /// How the calls ended; `None` for those that were cancelled or dropped.
    pub outcome: Option<CallOutcome>,
    /// The number of calls.
    pub count: u64,
    /// Their total duration.
    pub total: Duration,
    /// The duration of the longest call.
    pub longest: Duration,
}

impl CallMetrics {
    /// Creates metrics without counts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the counts so far, by name and then by outcome: results, tool errors, errors by code, abandoned calls.
    #[must_use]
    pub fn snapshot(&self) -> Vec<Measured> {
        let mut rows: Vec<_> = self
            .lock()
            .iter()
            .map(|((name, outcome), counter)| Measured {
                name: name.to_string(),
                outcome: *outcome,
                count: counter.count,
                total: counter.total,
                longest: counter.longest,
            })
            .collect();
        let rank = |outcome: Option<CallOutcome>| match outcome {
            Some(CallOutcome::Result) => (0, 0),
            Some(CallOutcome::ToolError) => (1, 0),
            Some(CallOutcome::Error(code)) => (2, code),
            None => (3, 0),
        };
        rows.sort_by(|a, b| (&a.name, rank(a.outcome)).cmp(&(&b.name, rank(b.outcome))));
        rows
    }

    fn add(&self, name: &str, outcome: Option<CallOutcome>, ran: Duration) {
        let mut rows = self.lock();
        let key = (name.into(), outcome);
        if rows.len() >= MOST_ROWS && !rows.contains_key(&key) {
            tracing::debug!(name, "too many names and outcomes to count one more");
            return;
        }
        let counter = rows.entry(key).or_default();
        counter.count += 1;
        counter.total += ran;
        counter.longest = counter.longest.max(ran);
    }

    fn lock(&self) -> MutexGuard<'_, Counters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallLayer for CallMetrics {
    fn begin(&self, call: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError> {
        Ok(Some(Box::new(Scope {
            metrics: self.clone(),
            name: call.name().into(),
            begun: std::time::Instant::now(),
            counted: false,
        })))
    }
}

struct Scope {
    metrics: CallMetrics,
    name: Box<str>,
    begun: std::time::Instant,
    counted: bool,
}

impl CallScope for Scope {
    fn ended(mut self: Box<Self>, end: &CallEnd) {
        self.counted = true;
        self.metrics.add(&self.name, Some(end.outcome), end.ran);
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        if !self.counted {
            self.metrics.add(&self.name, None, self.begun.elapsed());
        }
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_bounded() {
        let metrics = CallMetrics::new();
        let most = i64::try_from(MOST_ROWS).unwrap();
        for code in 0..=most {
            metrics.add("a", Some(CallOutcome::Error(code)), Duration::ZERO);
        }
        // An existing row still counts.
        metrics.add("a", Some(CallOutcome::Error(0)), Duration::from_secs(1));
        let rows = metrics.snapshot();
        assert_eq!(rows.len(), MOST_ROWS);
        assert_eq!(
            (rows[0].count, rows[0].longest),
            (2, Duration::from_secs(1))
        );
        let last = rows.last().unwrap().outcome;
        assert_eq!(
            last,
            Some(CallOutcome::Error(most - 1)),
            "the last is not counted"
        );
    }

    #[test]
    fn rows_come_in_order() {
        let metrics = CallMetrics::new();
        let outcomes = [
            None,
            Some(CallOutcome::Error(7)),
            Some(CallOutcome::Error(-7)),
            Some(CallOutcome::ToolError),
            Some(CallOutcome::Result),
        ];
        for name in ["b", "a"] {
            for outcome in outcomes {
                metrics.add(name, outcome, Duration::from_secs(2));
                metrics.add(name, outcome, Duration::from_secs(1));
            }
        }
        let rows = metrics.snapshot();
        let order: Vec<_> = rows.iter().map(|row| (&*row.name, row.outcome)).collect();
        let of = |name| outcomes.iter().rev().map(move |outcome| (name, *outcome));
        assert_eq!(order, of("a").chain(of("b")).collect::<Vec<_>>());
        assert!(rows.iter().all(|row| {
            (row.count, row.total, row.longest)
                == (2, Duration::from_secs(3), Duration::from_secs(2))
        }));
    }
}
