//! Replays recorded traffic and reports everything in it that the specification forbids.
//!
//! This file owns the findings and the conversion of lines to messages; the modules below check the messages, each with one kind
//! of rule. This code is not used while serving, so it prefers plain JSON trees to speed.

mod envelope;
mod listening;
mod meta;
mod notifications;
mod reading;
mod requests;
mod responses;
mod shape;
mod spec;
mod tasks;
mod traffic;

use std::{collections::HashMap, fmt, time::Duration};

use self::traffic::Traffic;
use super::transcript::{self, Event, Record, Side, TranscriptError};

/// Checks recorded traffic against the rules of the specification that are observable in it.
///
/// It covers both eras, also on one connection: the envelope and its pairing, ids, the handshake and the messages allowed before its
/// end, methods and capabilities, the form of params and results at their revision, progress,
/// cancellation, logging, tasks, metadata and subscriptions. Numbers and strings that not every peer can read are reported, and no
/// further conclusion is drawn from them.
///
/// A transcript has one JSON object per line, as [`Record`] describes; a [`Recorder`](super::Recorder) writes them.
///
/// ```
/// use trueform::testing::Checker;
///
/// let transcript = r#"
///     {"at":0,"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"ping"}}
///     {"at":1,"from":"server","message":{"jsonrpc":"2.0","id":1,"result":{}}}
///     {"at":2,"from":"server","message":{"jsonrpc":"2.0","id":"1","result":{}}}
/// "#;
/// let findings = Checker::new().check(transcript)?;
/// assert_eq!(
///     findings[0].to_string(),
///     "line 4 (server): answers id `\"1\"`, but the request has id `1`, which is of another type \
///      (A-5, https://modelcontextprotocol.io/specification/2026-07-28/basic)"
/// );
/// # Ok::<(), trueform::testing::TranscriptError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Checker {
    http: bool,
    crossing: Duration,
}

/// A violation of the specification, or of its advice.
///
/// `Display` is one line: the place, the side at fault, the fault, and in parentheses the ids of the rules and the page of the
/// specification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrafficFinding {
    /// Line of the transcript, from 1.
    pub line: usize,
    /// The side at fault.
    pub side: Side,
    /// Ids of the broken rules, most specific first, such as `A-5`. An id is stable as long as its rule exists;
    /// `schema/requirements.toml` in the repository describes each rule.
    pub requirements: &'static [&'static str],
    /// Severity of the rules.
    pub severity: Severity,
    /// Description of the fault.
    pub message: String,
}

/// Severity of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The specification says SHOULD, or strict peers are known to fail.
    Warning,
    /// The specification says MUST, or no other behaviour makes sense.
    Error,
}

impl fmt::Display for TrafficFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            side,
            requirements,
            severity,
            message,
        } = self;
        let advice = if *severity == Severity::Warning {
            "advice: "
        } else {
            ""
        };
        write!(
            f,
            "line {line} ({side}): {advice}{message} ({}, {})",
            requirements.join(", "),
            self.spec()
        )
    }
}

impl TrafficFinding {
    /// Returns the page of the specification on the first of the rules, at the last revision that has it.
    #[must_use]
    pub fn spec(&self) -> &'static str {
        spec::page(self.requirements.first().copied().unwrap_or_default())
    }
}

impl Checker {
    /// Default of the time within which messages may cross each other.
    pub const DEFAULT_CROSSING: Duration = Duration::from_millis(100);

    /// Creates a checker of the traffic of one byte stream, such as standard input and output.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            http: false,
            crossing: Self::DEFAULT_CROSSING,
        }
    }

    /// Creates a checker of HTTP traffic of any number of clients. `session` of a record identifies the client; all records without it
    /// belong to one client. `stream` identifies the exchange; rules about streams need it.
    #[must_use]
    pub const fn http() -> Self {
        Self {
            http: true,
            ..Self::new()
        }
    }

    /// Sets the time within which messages may cross each other in transit: a response within this time after a cancellation is not a
    /// finding. Records without a time are assumed to be one second apart.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::testing::Checker;
    ///
    /// let checker = Checker::new().crossing(Duration::from_millis(500));
    /// assert!(checker.check("").unwrap().is_empty());
    /// ```
    #[must_use]
    pub const fn crossing(mut self, time: Duration) -> Self {
        self.crossing = time;
        self
    }

    /// Returns the findings in `transcript`, by line.
    ///
    /// # Errors
    /// A line is not a record. Invalid messages are findings instead.
    pub fn check(&self, transcript: &str) -> Result<Vec<TrafficFinding>, TranscriptError> {
        Ok(self.replay(transcript::parse(transcript)?))
    }

    /// Returns the findings in `records`; line 1 is the first one.
    #[must_use]
    pub fn check_records(&self, records: impl IntoIterator<Item = Record>) -> Vec<TrafficFinding> {
        self.replay((1..).zip(records).collect())
    }

    fn replay(&self, records: Vec<(usize, Record)>) -> Vec<TrafficFinding> {
        let mut findings = Vec::new();
        let mut connections: HashMap<Option<String>, Traffic> = HashMap::new();
        for (index, (line, record)) in records.into_iter().enumerate() {
            let at = record.at.unwrap_or(index as u64 * 1000);
            let Record {
                from,
                event,
                stream,
                session,
                ..
            } = record;
            let now = Now {
                line,
                at,
                from,
                stream,
                checker: *self,
            };
            let mut report = Report {
                now: &now,
                findings: &mut findings,
            };
            let traffic = connections.entry(session).or_default();
            match event {
                Event::Message(text) => traffic.text(&mut report, &text),
                Event::Bytes(bytes) => traffic.bytes(&mut report, &bytes),
                Event::Closed => traffic.closed(&mut report),
            }
        }
        for traffic in connections.into_values() {
            traffic.finish(&mut findings);
        }
        findings.sort_by_key(|finding| finding.line);
        findings
    }
}

impl Default for Checker {
    fn default() -> Self {
        Self::new()
    }
}

/// Position of the checker in the transcript.
#[derive(Debug)]
struct Now {
    line: usize,
    at: u64,
    from: Side,
    stream: Option<String>,
    checker: Checker,
}

impl Now {
    /// Returns whether a message sent at `then` must have arrived at the other side by now.
    fn is_well_after(&self, then: u64) -> bool {
        u128::from(self.at.saturating_sub(then)) > self.checker.crossing.as_millis()
    }
}

/// Collects the findings at one line.
struct Report<'a> {
    now: &'a Now,
    findings: &'a mut Vec<TrafficFinding>,
}

impl Report<'_> {
    fn error(&mut self, requirements: &'static [&'static str], message: impl Into<String>) {
        self.add(Severity::Error, requirements, message.into());
    }

    fn warning(&mut self, requirements: &'static [&'static str], message: impl Into<String>) {
        self.add(Severity::Warning, requirements, message.into());
    }

    fn add(&mut self, severity: Severity, requirements: &'static [&'static str], message: String) {
        let Now { line, from, .. } = *self.now;
        self.findings.push(TrafficFinding {
            line,
            side: from,
            requirements,
            severity,
            message,
        });
    }
}
