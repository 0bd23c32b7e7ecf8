//! What is known of a server process that failed, and the text of the error.

use std::{fmt, process::ExitStatus, time::Duration};

use crate::jsonrpc::{one_line, sentence};

/// Most bytes at the end of standard error that the text of a [`ServerFailure`] repeats: 2 KiB. [`ServerFailure::stderr`] has more.
pub(super) const SHOWN_STDERR: usize = 2 << 10;

/// What is known of a server process that failed: what it did, how it exited, and the end of its standard error.
#[derive(Clone, Debug)]
pub struct ServerFailure {
    pub(super) program: String,
    pub(super) pid: Option<u32>,
    pub(super) fault: ServerFault,
    pub(super) exit_status: Option<ExitStatus>,
    pub(super) stderr: String,
    pub(super) skipped_lines: u64,
    pub(super) has_long_line: bool,
    pub(super) is_connecting: bool,
}

/// What a server process did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerFault {
    /// It exited without being asked to.
    Exited,
    /// It closed its standard output and went on running.
    ClosedOutput,
    /// It closed its standard input and went on running.
    ClosedInput,
    /// It read nothing for this long, the [`write_timeout`](super::ClientOptions::write_timeout).
    StoppedReading(Duration),
    /// It did not answer while the client connected.
    NoAnswer(HandshakeTimeout),
}

/// Which requests of a handshake have no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandshakeTimeout {
    pub(super) method: &'static str,
    pub(super) waited: Duration,
    /// How long `server/discover` was waited for before.
    pub(super) probed: Option<Duration>,
}

impl ServerFailure {
    /// The program that was started. Its arguments may be secret and are left out.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The id of the process.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// What the process did.
    #[must_use]
    pub fn fault(&self) -> &ServerFault {
        &self.fault
    }

    /// How the process exited; `None` if it had not when the failure was noticed.
    #[must_use]
    pub fn exit_status(&self) -> Option<ExitStatus> {
        self.exit_status
    }

    /// The last 64 KiB of what the process wrote to its standard error, as it was written but for bytes that are not UTF-8.
    #[must_use]
    pub fn stderr(&self) -> &str {
        &self.stderr
    }

    /// How many lines on its standard output were not messages.
    #[must_use]
    pub fn skipped_lines(&self) -> u64 {
        self.skipped_lines
    }
}

impl fmt::Display for ServerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server process `{}`", sentence(&self.program))?;
        if let Some(pid) = self.pid {
            write!(f, " (pid {pid})")?;
        }
        match &self.fault {
            ServerFault::Exited => f.write_str(" exited")?,
            ServerFault::ClosedOutput => f.write_str(" closed its standard output")?,
            ServerFault::ClosedInput => f.write_str(" closed its standard input")?,
            ServerFault::StoppedReading(limit) => {
                write!(
                    f,
                    " read nothing for {limit:?}, the `write_timeout` setting"
                )?;
            }
            ServerFault::NoAnswer(timeout) => write!(f, ": {timeout}")?,
        }
        if self.is_connecting && !matches!(self.fault, ServerFault::NoAnswer(_)) {
            f.write_str(" before the client was connected")?;
        }
        if let Some(status) = self.exit_status {
            write!(f, " ({status})")?;
        }
        if self.has_long_line {
            f.write_str("; it wrote a line longer than the client's `max_message`")?;
        }
        if self.skipped_lines > 0 {
            let lines = self.skipped_lines;
            write!(
                f,
                "; {lines} of the lines on its standard output were not MCP messages"
            )?;
        }
        match self.stderr.trim_end() {
            "" => f.write_str("; it wrote nothing to standard error")?,
            stderr => {
                let shown = end_of(stderr, SHOWN_STDERR);
                let cut = if shown.len() < stderr.len() {
                    "…"
                } else {
                    ""
                };
                write!(
                    f,
                    "; its standard error ends with: {cut}{}",
                    one_line(shown)
                )?;
            }
        }
        if self.is_connecting {
            f.write_str("; start the command by hand to see what it does")?;
        }
        Ok(())
    }
}

impl fmt::Display for HandshakeTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            method,
            waited,
            probed,
        } = self;
        match probed {
            Some(probed) => write!(
                f,
                "no answer to `server/discover` within {probed:?} (`probe_timeout`), nor to `{method}` within {waited:?} (`timeout`)"
            )?,
            None => write!(f, "no answer to `{method}` within {waited:?} (`timeout`)")?,
        }
        f.write_str("; if the server is slow to start, raise these `ClientOptions`")?;
        if probed.is_some() {
            f.write_str(
                "; if `server/discover` is what it cannot bear, set `Negotiation::Offer(Revision::V2025_11_25)`, which begins with \
                 `initialize`",
            )?;
        }
        Ok(())
    }
}

/// The last `most` bytes of `text`, or a few less.
fn end_of(text: &str, most: usize) -> &str {
    let mut start = text.len().saturating_sub(most);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}
