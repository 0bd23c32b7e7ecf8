//! The standard error of a server process: to the log, line by line, and its end kept for the message of a failure.

use std::{
    collections::VecDeque,
    future::poll_fn,
    io,
    pin::Pin,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::Instant,
};

use crate::{
    jsonrpc::sentence,
    transport::lines::{Line, Lines},
};

/// How much of the end of standard error is kept: 64 KiB.
const KEPT: usize = 64 << 10;
/// Longest line that is logged, in bytes: 8 KiB. Of a longer one, and of the text of any, the beginning is.
const LONGEST_LINE: usize = 8 << 10;
/// Most lines logged within [`SECOND`].
const MOST_LINES: u64 = 200;
/// What the number of lines is counted in.
const SECOND: Duration = Duration::from_secs(1);
/// The target of the log.
const TARGET: &str = "trueform::server_stderr";

/// The end of standard error.
#[derive(Debug, Default)]
pub(super) struct StderrTail(Mutex<VecDeque<u8>>);

impl StderrTail {
    fn push(&self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(KEPT)..];
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let excess = (kept.len() + bytes.len()).saturating_sub(KEPT);
        kept.drain(..excess);
        kept.extend(bytes);
    }

    /// It as text, from the first whole character on.
    pub(super) fn text(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = &*kept.make_contiguous();
        if bytes.len() == KEPT {
            while let [0x80..=0xbf, rest @ ..] = bytes {
                bytes = rest;
            }
        }
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// Lines to the log, of which there may be too many.
#[derive(Debug)]
struct StderrLog {
    program: String,
    since: Instant,
    lines: u64,
}

impl StderrLog {
    fn line(&mut self, line: &Line<'_>) {
        if self.since.elapsed() >= SECOND {
            self.next_second();
        }
        self.lines += 1;
        if self.lines > MOST_LINES {
            return;
        }
        let (line, cut) = match line {
            Line::Whole(line) => (*line, false),
            Line::TooLong(prefix) => (&prefix[..], true),
        };
        let line = String::from_utf8_lossy(line);
        tracing::info!(target: TARGET, server = &*self.program, cut, "{}", sentence(&line));
    }

    fn next_second(&mut self) {
        let left_out = self.lines.saturating_sub(MOST_LINES);
        if left_out > 0 {
            tracing::warn!(target: TARGET, server = &*self.program, left_out, "the server writes more lines to standard error than are logged");
        }
        self.since = Instant::now();
        self.lines = 0;
    }
}

/// Reads standard error to its end.
pub(super) async fn read(program: String, mut stderr: impl AsyncRead + Unpin, tail: &StderrTail) {
    let mut log = StderrLog {
        program: sentence(&program).into_owned(),
        since: Instant::now(),
        lines: 0,
    };
    let mut lines = Lines::new(LONGEST_LINE);
    let mut chunk = vec![0; LONGEST_LINE];
    loop {
        let count = match stderr.read(&mut chunk).await {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                tracing::debug!(%error, "standard error of the server cannot be read");
                break;
            }
        };
        let mut part = &chunk[..count];
        tail.push(part);
        while !part.is_empty() {
            // From memory, which is ready and does not fail.
            let _ = poll_fn(|cx| lines.poll_read(cx, Pin::new(&mut part))).await;
            while let Some(line) = lines.next() {
                log.line(&line);
            }
        }
    }
    if let Some(line) = lines.last() {
        log.line(&line);
    }
    log.next_second();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept() {
        let tail = StderrTail::default();
        for part in [&b"one\n"[..], b"two\n"] {
            tail.push(part);
        }
        assert_eq!(tail.text(), "one\ntwo\n");
        tail.push(&vec![b'x'; KEPT - 1]);
        assert_eq!(tail.text().len(), KEPT);
        assert!(tail.text().starts_with("\nx"));
        // Two bytes each, the first of which is cut.
        tail.push("é".repeat(KEPT).as_bytes());
        tail.push(b"!");
        let text = tail.text();
        assert_eq!((text.len(), &text[..2]), (KEPT - 1, "é"));
        assert!(text.ends_with("é!"));
    }
}
