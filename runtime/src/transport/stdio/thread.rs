//! Threads that read and write streams for which the operating system cannot report when they would not block: files, terminals, and every
//! standard stream on platforms without pipes or sockets on a reactor.
//!
//! Chunks are passed between threads, so the cost of a thread arises per chunk and not per message. The threads do not belong to the
//! runtime: a thread in a read that never returns does not delay the shutdown.

use std::{
    io::{self, Read, Write},
    pin::Pin,
    task::{Context, Poll, ready},
    thread,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::mpsc,
};

/// Largest chunk a thread reads or is given, in bytes.
const CHUNK: usize = 64 << 10;

/// Bytes that a thread reads.
#[derive(Debug)]
pub(super) struct ThreadReader {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    current: Vec<u8>,
    taken: usize,
}

impl ThreadReader {
    /// Starts reading from `source`, at most two chunks ahead.
    pub(super) fn start(mut source: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, chunks) = mpsc::channel(1);
        let read_all = move || {
            loop {
                let mut chunk = vec![0; CHUNK];
                let outcome = match source.read(&mut chunk) {
                    Ok(0) => return,
                    Ok(count) => {
                        chunk.truncate(count);
                        Ok(chunk)
                    }
                    Err(problem) if problem.kind() == io::ErrorKind::Interrupted => continue,
                    Err(problem) => Err(problem),
                };
                let failed = outcome.is_err();
                if sender.blocking_send(outcome).is_err() || failed {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("trueform-stdin".to_owned())
            .spawn(read_all)?;
        Ok(Self {
            chunks,
            current: Vec::new(),
            taken: 0,
        })
    }
}

impl AsyncRead for ThreadReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.taken == self.current.len() {
            match ready!(self.chunks.poll_recv(cx)) {
                Some(Ok(chunk)) => {
                    self.current = chunk;
                    self.taken = 0;
                }
                Some(Err(problem)) => return Poll::Ready(Err(problem)),
                None => return Poll::Ready(Ok(())),
            }
        }
        let count = into.remaining().min(self.current.len() - self.taken);
        into.put_slice(&self.current[self.taken..self.taken + count]);
        self.taken += count;
        Poll::Ready(Ok(()))
    }
}

/// Bytes that a thread writes, one chunk at a time.
#[derive(Debug)]
pub(super) struct ThreadWriter {
    chunks: mpsc::Sender<Vec<u8>>,
    written: mpsc::Receiver<io::Result<()>>,
    /// The thread has a chunk, and its outcome is not yet known.
    busy: bool,
}

impl ThreadWriter {
    /// Starts a thread that writes to `sink` and flushes after each chunk.
    pub(super) fn start(mut sink: impl Write + Send + 'static) -> io::Result<Self> {
        let (chunks, mut receiver) = mpsc::channel::<Vec<u8>>(1);
        let (sender, written) = mpsc::channel(1);
        let write_all = move || {
            while let Some(chunk) = receiver.blocking_recv() {
                let outcome = sink.write_all(&chunk).and_then(|()| sink.flush());
                if sender.blocking_send(outcome).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("trueform-stdout".to_owned())
            .spawn(write_all)?;
        Ok(Self {
            chunks,
            written,
            busy: false,
        })
    }

    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.busy {
            return Poll::Ready(Ok(()));
        }
        let outcome = ready!(self.written.poll_recv(cx));
        self.busy = false;
        Poll::Ready(outcome.unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into())))
    }
}

impl AsyncWrite for ThreadWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_idle(cx))?;
        let count = bytes.len().min(CHUNK);
        // The thread gets a chunk only when the chunk before is done, so the channel has room.
        match self.chunks.try_send(bytes[..count].to_vec()) {
            Ok(()) => {
                self.busy = true;
                Poll::Ready(Ok(count))
            }
            Err(_) => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_idle(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn reads_all() {
        let sent: Vec<u8> = (0..200_000)
            .map(|i| u8::try_from(i % 251).unwrap())
            .collect();
        let mut received = Vec::new();
        ThreadReader::start(Cursor::new(sent.clone()))
            .unwrap()
            .read_to_end(&mut received)
            .await
            .unwrap();
        assert!(received == sent);
    }

    #[tokio::test]
    async fn writes_all_and_tells_of_errors() {
        struct Limited(mpsc::UnboundedSender<u8>, usize);
        impl Write for Limited {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.1 = self
                    .1
                    .checked_sub(bytes.len())
                    .ok_or(io::ErrorKind::BrokenPipe)?;
                bytes.iter().for_each(|byte| self.0.send(*byte).unwrap());
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let mut writer = ThreadWriter::start(Limited(sender, 200_000)).unwrap();
        writer.write_all(&[7; 150_000]).await.unwrap();
        writer.flush().await.unwrap();
        assert_eq!(receiver.len(), 150_000);
        assert_eq!(receiver.recv().await, Some(7));
        writer.write_all(&[7; 60_000]).await.unwrap();
        assert_eq!(
            writer.flush().await.unwrap_err().kind(),
            io::ErrorKind::BrokenPipe
        );
    }
}
