//! Splits a byte stream into lines of bounded length.
//!
//! Owns the read buffer. Knows neither JSON nor the origin of the bytes; the engine interprets the lines. A byte order mark at the start of
//! the stream is skipped (DEC-10).

use std::{
    future::Future,
    io,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use memchr::memchr;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::Sleep,
};

use crate::jsonrpc::{self, BYTE_ORDER_MARK};

/// Longest line accepted by default, in bytes: 16 MiB.
pub(crate) const DEFAULT_MAX_LINE: usize = 16 << 20;

/// Size of the buffer while lines are short: the capacity of a pipe on Linux.
const USUAL: usize = 64 << 10;
/// A buffer that grew beyond this for one line is freed when no further line needs it.
const WORTH_KEEPING: usize = 1 << 20;
/// How long such a buffer is kept after its last line: a second. New memory costs the system more than the processing of the line, and long
/// lines often follow each other. The buffer is at most twice as large as the longest line may be.
const KEPT: Duration = Duration::from_secs(1);
/// Least room for a read.
const LEAST_ROOM: usize = 8 << 10;
/// How much of a line that is too long is kept, to find its id.
const PREFIX: usize = 4 << 10;

/// Bytes that were read and not yet returned.
pub(crate) struct Lines {
    buffer: Vec<u8>,
    /// The offset of the first byte that was not returned.
    start: usize,
    /// The bytes from `start` up to here contain no line end.
    scanned: usize,
    limit: usize,
    /// The stream may still begin with a byte order mark: too few bytes have arrived to decide.
    is_at_start: bool,
    /// The beginning of a line that is too long and is being skipped.
    skipping: Option<Vec<u8>>,
    /// Until when an empty large buffer is kept. Only then is there a timer.
    kept: Option<Pin<Box<Sleep>>>,
}

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line within the limit.
    Whole(&'a [u8]),
    /// The beginning of a line that was longer than the limit; the rest was dropped.
    TooLong(Vec<u8>),
}

impl Lines {
    /// Creates a reader of lines of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::with_capacity(USUAL),
            start: 0,
            scanned: 0,
            limit,
            is_at_start: true,
            skipping: None,
            kept: None,
        }
    }

    /// Reads once. `Ready(Ok(0))` is the end of the stream.
    pub(crate) fn poll_read<R>(
        &mut self,
        cx: &mut Context<'_>,
        mut reader: Pin<&mut R>,
    ) -> Poll<io::Result<usize>>
    where
        R: AsyncRead + ?Sized,
    {
        self.make_room();
        // The future of `read_buf` keeps nothing between polls, so a new one each time loses nothing.
        let read = pin!(AsyncReadExt::read_buf(&mut reader, &mut self.buffer));
        let read = read.poll(cx);
        if self.is_at_start {
            self.skip_mark();
        }
        if self.buffer.capacity() > WORTH_KEEPING {
            self.poll_give_back(read.is_pending(), cx);
        }
        read
    }

    /// Shrinks a large buffer that was not needed for some time to the usual size.
    #[cold]
    fn poll_give_back(&mut self, is_waiting: bool, cx: &mut Context<'_>) {
        if !is_waiting || !self.buffer.is_empty() {
            self.kept = None;
            return;
        }
        let kept = self
            .kept
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(KEPT)));
        if kept.as_mut().poll(cx).is_ready() {
            self.kept = None;
            self.buffer.shrink_to(USUAL);
        }
    }

    /// Reads on and discards the bytes. Is ready at the end of the stream.
    pub(crate) fn poll_end<R>(&mut self, cx: &mut Context<'_>, mut reader: Pin<&mut R>) -> Poll<()>
    where
        R: AsyncRead + ?Sized,
    {
        loop {
            self.start = self.buffer.len();
            self.scanned = self.start;
            match self.poll_read(cx, reader.as_mut()) {
                Poll::Ready(Ok(0) | Err(_)) => return Poll::Ready(()),
                Poll::Ready(Ok(_)) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Skips a byte order mark once the first bytes of the stream have arrived.
    #[cold]
    fn skip_mark(&mut self) {
        let bytes = &self.buffer[..];
        if bytes.starts_with(BYTE_ORDER_MARK) {
            self.start = BYTE_ORDER_MARK.len();
            self.scanned = self.start;
        } else if BYTE_ORDER_MARK.starts_with(bytes) {
            return;
        }
        self.is_at_start = false;
    }

    /// Returns the next complete line. Skips lines of white space only.
    pub(crate) fn next(&mut self) -> Option<Line<'_>> {
        loop {
            let Some(skip) = memchr(b'\n', &self.buffer[self.scanned..]) else {
                self.scanned = self.buffer.len();
                self.drop_if_too_long();
                self.give_back();
                return None;
            };
            let (start, end) = (self.start, self.scanned + skip);
            self.start = end + 1;
            self.scanned = self.start;
            if let Some(prefix) = self.skipping.take() {
                return Some(Line::TooLong(prefix));
            }
            if end - start > self.limit {
                return Some(Line::TooLong(
                    self.buffer[start..start + PREFIX.min(self.limit)].to_vec(),
                ));
            }
            if let Some((start, end)) = trimmed(&self.buffer, start, end) {
                return Some(Line::Whole(&self.buffer[start..end]));
            }
        }
    }

    /// Returns the rest at the end of the stream: a last line without its end.
    pub(crate) fn last(&mut self) -> Option<Line<'_>> {
        let (start, end) = (self.start, self.buffer.len());
        self.start = end;
        self.scanned = end;
        if let Some(prefix) = self.skipping.take() {
            return Some(Line::TooLong(prefix));
        }
        let (start, end) = trimmed(&self.buffer, start, end)?;
        Some(Line::Whole(&self.buffer[start..end]))
    }

    /// Returns whether [`Lines::next`] has another line.
    pub(crate) fn has_next(&self) -> bool {
        memchr(b'\n', &self.buffer[self.scanned..]).is_some()
    }

    /// Returns whether a line that is too long is being skipped, and has not ended.
    #[cfg(feature = "client")]
    #[inline]
    pub(crate) fn is_skipping(&self) -> bool {
        self.skipping.is_some()
    }

    fn make_room(&mut self) {
        self.give_back();
        if self.buffer.capacity() - self.buffer.len() >= LEAST_ROOM {
            return;
        }
        if self.start != 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.buffer.capacity() - self.buffer.len() < LEAST_ROOM {
            // Doubles the buffer. Pages that are never written to cost nothing.
            self.buffer.reserve(LEAST_ROOM.max(self.buffer.len()));
        }
    }

    /// Resets the buffer when all of it was returned.
    fn give_back(&mut self) {
        if self.start != self.buffer.len() {
            return;
        }
        self.buffer.clear();
        self.start = 0;
        self.scanned = 0;
    }

    /// Limits memory while a line that is too long arrives.
    fn drop_if_too_long(&mut self) {
        let waiting = self.buffer.len() - self.start;
        if self.skipping.is_none() {
            if waiting <= self.limit {
                return;
            }
            self.skipping =
                Some(self.buffer[self.start..self.start + PREFIX.min(self.limit)].to_vec());
        }
        self.start = self.buffer.len();
    }
}

/// Returns the part of `bytes[start..end]` without white space around it; `None` if there is nothing else.
fn trimmed(bytes: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let line = &bytes[start..end];
    let first = line
        .iter()
        .position(|byte| !jsonrpc::is_white_space(*byte))?;
    let last = line
        .iter()
        .rposition(|byte| !jsonrpc::is_white_space(*byte))?;
    Some((start + first, start + last + 1))
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines")
            .field("waiting", &(self.buffer.len() - self.start))
            .field("limit", &self.limit)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    /// Returns the lines of `input`, read in chunks of `chunk` bytes.
    fn split(input: &[u8], chunk: usize, limit: usize) -> Vec<String> {
        let mut lines = Lines::new(limit);
        let mut found = Vec::new();
        let describe = |line: Line<'_>| match line {
            Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
            Line::TooLong(prefix) => format!("too long: {}", String::from_utf8_lossy(&prefix)),
        };
        let mut cx = Context::from_waker(std::task::Waker::noop());
        for mut part in input.chunks(chunk) {
            while !part.is_empty() {
                assert!(lines.poll_read(&mut cx, Pin::new(&mut part)).is_ready());
                loop {
                    let expected = lines.has_next();
                    match lines.next() {
                        Some(line) => found.push(describe(line)),
                        None => break,
                    }
                    assert!(expected);
                }
            }
        }
        found.extend(lines.last().map(describe));
        found
    }

    // E-1
    #[test]
    fn whatever_the_chunks_are() {
        let input = b"one\r\n\n  \r\ntwo\nthree \n\nlast";
        for chunk in 1..input.len() {
            assert_eq!(
                split(input, chunk, 100),
                ["one", "two", "three", "last"],
                "chunks of {chunk}"
            );
        }
        assert_eq!(split(b"one\n", 9, 100), ["one"]);
        assert!(split(b"\n \r\n", 9, 100).is_empty());
    }

    // DEC-10
    #[test]
    fn a_byte_order_mark_begins_the_stream_only() {
        let mark = "\u{feff}";
        for (input, expected) in [
            (format!("{mark}one\ntwo\n"), &["one", "two"][..]),
            (format!("{mark}\r\none"), &["one"]),
            (format!("{mark}one"), &["one"]),
            (format!("{mark}12345678\n1\n"), &["12345678", "1"]),
            (mark.to_owned(), &[]),
            // This is not the mark, or not at the start.
            (format!("one\n{mark}two\n"), &["one", "\u{feff}two"]),
            (format!("{mark}{mark}1\n"), &["\u{feff}1"]),
            ("\u{fefe}1\n".to_owned(), &["\u{fefe}1"]),
        ] {
            for chunk in 1..=input.len() {
                let found = split(input.as_bytes(), chunk, 8);
                assert_eq!(found, expected, "{input:?} in chunks of {chunk}");
            }
        }
    }

    // Y-6
    #[test]
    fn long_lines_are_skipped_and_told() {
        for chunk in 1..30 {
            assert_eq!(
                split(b"12345678\n123456789012\n1\n123456789012", chunk, 8),
                ["12345678", "too long: 12345678", "1", "too long: 12345678"],
                "chunks of {chunk}"
            );
        }
    }

    // Y-6
    #[tokio::test(start_paused = true)]
    async fn memory_is_bounded_and_given_back() {
        let mut lines = Lines::new(4 << 20);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let chunk = vec![b'a'; 1 << 20];
        for _ in 0..64 {
            let mut part = &chunk[..];
            while !part.is_empty() {
                assert!(lines.poll_read(&mut cx, Pin::new(&mut part)).is_ready());
                assert!(lines.next().is_none());
            }
        }
        let large = lines.buffer.capacity();
        assert!((4 << 20..=16 << 20).contains(&large), "{large}");
        let mut end = &b"\nx\n"[..];
        assert!(lines.poll_read(&mut cx, Pin::new(&mut end)).is_ready());
        assert!(matches!(lines.next(), Some(Line::TooLong(prefix)) if prefix.len() == PREFIX));
        assert_eq!(lines.next(), Some(Line::Whole(b"x")));
        assert!(lines.next().is_none());

        // No data arrives.
        let (mut near, mut far) = tokio::io::duplex(1000);
        let mut wait = |lines: &mut Lines| {
            let read = lines.poll_read(&mut cx, Pin::new(&mut far));
            (read.is_ready(), lines.buffer.capacity())
        };
        assert_eq!(wait(&mut lines), (false, large));
        tokio::time::advance(KEPT / 2).await;
        assert_eq!(wait(&mut lines), (false, large));
        // New bytes restart the time.
        near.write_all(b"y\n").await.unwrap();
        assert_eq!(wait(&mut lines), (true, large));
        assert_eq!(lines.next(), Some(Line::Whole(b"y")));
        assert!(lines.next().is_none());
        assert_eq!(wait(&mut lines), (false, large));
        tokio::time::advance(KEPT * 3 / 4).await;
        assert_eq!(wait(&mut lines), (false, large));
        tokio::time::advance(KEPT / 2).await;
        assert_eq!(wait(&mut lines), (false, USUAL));
    }
}
