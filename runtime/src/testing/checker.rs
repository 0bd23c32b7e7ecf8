//! Replays recorded traffic and says what in it the specification forbids.
//!
//! This file owns the findings and how lines become messages; what is wrong with a message is for the modules below, each
//! with one kind of rule. Nothing here serves anybody, so it prefers plain JSON trees to speed.

mod envelope;
mod link;
mod listening;
mod meta;
mod notifications;
mod reading;
mod requests;
mod responses;
mod shape;
mod spec;
mod tasks;

use std::{collections::HashMap, fmt, time::Duration};

use self::link::Link;
use super::transcript::{self, Event, Record, Side, TranscriptError};

/// Checks recorded traffic against the rules of the specification that can be seen in it.
///
/// It covers both eras, also on one link: the envelope and its pairing, ids, the handshake and what is allowed before it
/// ends, methods and capabilities, the form of params and results at the revision they are spoken at, progress,
/// cancellation, logging, tasks, metadata and subscriptions. Numbers and texts that not everybody can read are told of, and nothing
/// is concluded from them.
///
/// A transcript has one JSON object a line, as [`Record`] describes; a [`Recorder`](super::Recorder) writes them.
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

/// One thing that the specification forbids, or advises against.
///
/// `Display` is one line: where, whose fault, what is wrong, and in parentheses by which of our names for rules, and
/// where the specification speaks of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Line of the transcript, from 1.
    pub line: usize,
    /// Whose fault it is.
    pub side: Side,
    /// Our names for the rules that are broken, the most telling first, such as `A-5`. They stay the same as long as the rule does;
    /// `schema/requirements.toml` in the repository has a sentence on each.
    pub requirements: &'static [&'static str],
    /// How binding they are.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
}

/// How binding a requirement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The specification says SHOULD, or strict peers are known to stumble.
    Warning,
    /// The specification says MUST, or nothing else makes sense.
    Error,
}

impl fmt::Display for Finding {
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

impl Finding {
    /// The page of the specification that the first of the rules is about, at the last revision that has it.
    #[must_use]
    pub fn spec(&self) -> &'static str {
        spec::page(self.requirements.first().copied().unwrap_or_default())
    }
}

impl Checker {
    /// How long by default messages may cross each other.
    pub const DEFAULT_CROSSING: Duration = Duration::from_millis(100);

    /// A checker of what passed one byte stream, such as standard input and output.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            http: false,
            crossing: Self::DEFAULT_CROSSING,
        }
    }

    /// A checker of what passed over HTTP, by any number of clients. Records say in `session` which client it was; those
    /// without are of one client. They say in `stream` to which exchange they belong; rules about streams need that.
    #[must_use]
    pub const fn http() -> Self {
        Self {
            http: true,
            ..Self::new()
        }
    }

    /// Sets within which time messages may cross each other on their way: an answer so soon after a cancellation is no
    /// finding. Records without a time are taken to be a second apart.
    #[must_use]
    pub const fn crossing(mut self, time: Duration) -> Self {
        self.crossing = time;
        self
    }

    /// What is wrong in `transcript`, by line.
    ///
    /// # Errors
    /// A line that is no record. Wrong messages are findings instead.
    pub fn check(&self, transcript: &str) -> Result<Vec<Finding>, TranscriptError> {
        Ok(self.replay(transcript::parse(transcript)?))
    }

    /// What is wrong in `records`; line 1 is the first one.
    #[must_use]
    pub fn check_records(&self, records: impl IntoIterator<Item = Record>) -> Vec<Finding> {
        self.replay((1..).zip(records).collect())
    }

    fn replay(&self, records: Vec<(usize, Record)>) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut links: HashMap<Option<String>, Link> = HashMap::new();
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
            let link = links.entry(session).or_default();
            match event {
                Event::Message(text) => link.text(&mut report, &text),
                Event::Bytes(bytes) => link.bytes(&mut report, &bytes),
                Event::Closed => link.closed(&mut report),
            }
        }
        for link in links.into_values() {
            link.finish(&mut findings);
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

/// Where in the transcript the checker is.
#[derive(Debug)]
struct Now {
    line: usize,
    at: u64,
    from: Side,
    stream: Option<String>,
    checker: Checker,
}

impl Now {
    /// Whether what was sent at `then` must have been known to the sender by now.
    fn is_well_after(&self, then: u64) -> bool {
        u128::from(self.at.saturating_sub(then)) > self.checker.crossing.as_millis()
    }
}

/// Takes the findings at one line.
struct Report<'a> {
    now: &'a Now,
    findings: &'a mut Vec<Finding>,
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
        self.findings.push(Finding {
            line,
            side: from,
            requirements,
            severity,
            message,
        });
    }
}
