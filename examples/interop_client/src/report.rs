//! The output of the program.

use std::{future::Future, process::ExitCode, time::Duration};

use trueform::schema::Era;

use crate::{Failure, foreign::Transport};

/// Longest time of one check.
const LONGEST_CHECK: Duration = Duration::from_secs(120);

/// Counts and prints checks.
pub(crate) struct Report {
    name: String,
    transport: Transport,
    era: Era,
    passed: u32,
    failed: u32,
}

impl Report {
    pub(crate) fn new(name: &str, transport: Transport) -> Self {
        Self {
            name: name.to_owned(),
            transport,
            era: Era::Modern,
            passed: 0,
            failed: 0,
        }
    }

    /// The next checks are in `era`.
    pub(crate) fn of(&mut self, era: Era) {
        self.era = era;
    }

    fn label(&self) -> String {
        let era = match self.era {
            Era::Modern => "modern",
            Era::Legacy => "legacy",
        };
        format!("{} {} {era}", self.name, self.transport.name())
    }

    /// Runs a check; `None` if it failed.
    pub(crate) async fn check<T>(
        &mut self,
        what: &str,
        check: impl Future<Output = Result<T, Failure>>,
    ) -> Option<T> {
        let outcome = tokio::time::timeout(LONGEST_CHECK, check).await;
        let outcome =
            outcome.unwrap_or_else(|_| Err(format!("not done after {LONGEST_CHECK:?}").into()));
        match outcome {
            Ok(value) => {
                self.passed += 1;
                println!("ok    {} {what}", self.label());
                Some(value)
            }
            Err(failure) => {
                self.failed += 1;
                println!("FAIL  {} {what}: {failure}", self.label());
                None
            }
        }
    }

    /// Prints an observation that is neither a success nor a failure.
    pub(crate) fn note(&self, what: &str) {
        println!("-     {} {what}", self.label());
    }

    /// Prints the counts.
    pub(crate) fn end(&self) -> ExitCode {
        let Self { passed, failed, .. } = self;
        println!(
            "{}-{}: {passed} passed, {failed} failed",
            self.name,
            self.transport.name()
        );
        match *failed == 0 && *passed > 0 {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }
    }
}
