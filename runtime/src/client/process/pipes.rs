//! The two pipes that a connection to a server process runs over. They notice what the process does to them.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    process::{ChildStdin, ChildStdout},
    task::coop::unconstrained,
};

use super::child::ServerProcess;
use crate::client::failure::ServerFault;

/// After so many reads in a row it is looked whether the process is still there: 4. There may be much to do after each.
const READS: u32 = 4;

type Waiting = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The standard output. Before its end is reported, the process is asked why.
pub(in crate::client) struct ServerOutput {
    pipe: ChildStdout,
    process: Arc<ServerProcess>,
    /// Ready when the process has exited and others hold the pipe open for too long.
    orphaned: Waiting,
    /// How often in a row there was something to read.
    reads: u32,
    ending: Option<Waiting>,
    has_ended: bool,
}

/// The standard input. It notices when the connection gives it up.
pub(in crate::client) struct ServerInput {
    pipe: ChildStdin,
    process: Arc<ServerProcess>,
    /// The process has closed its end.
    is_broken: bool,
    /// Something waits for the process to read.
    is_full: bool,
    /// The connection has nothing more to write.
    is_finished: bool,
}

impl ServerOutput {
    pub(super) fn new(pipe: ChildStdout, process: Arc<ServerProcess>) -> Self {
        Self {
            // Without the budget of the task, which a full pipe uses up.
            orphaned: Box::pin(unconstrained(process.clone().orphaned())),
            reads: 0,
            pipe,
            process,
            ending: None,
            has_ended: false,
        }
    }
}

impl AsyncRead for ServerOutput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.has_ended {
            return Poll::Ready(Ok(()));
        }
        // Those who hold it open may write without a pause.
        let looks = this.reads >= READS;
        if looks {
            this.reads = 0;
        }
        let is_orphaned = looks && this.orphaned.as_mut().poll(cx).is_ready();
        if this.ending.is_none() && !is_orphaned {
            let before = buffer.filled().len();
            match Pin::new(&mut this.pipe).poll_read(cx, buffer) {
                Poll::Ready(Ok(())) if buffer.filled().len() > before => {
                    this.reads += 1;
                    return Poll::Ready(Ok(()));
                }
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => {
                    tracing::debug!(%error, "standard output of the server cannot be read");
                }
                Poll::Pending => {
                    this.reads = 0;
                    ready!(this.orphaned.as_mut().poll(cx));
                }
            }
        }
        let ending = this
            .ending
            .get_or_insert_with(|| Box::pin(this.process.clone().ended(ServerFault::ClosedOutput)));
        ready!(ending.as_mut().poll(cx));
        this.has_ended = true;
        Poll::Ready(Ok(()))
    }
}

impl ServerInput {
    pub(super) fn new(pipe: ChildStdin, process: Arc<ServerProcess>) -> Self {
        Self {
            pipe,
            process,
            is_broken: false,
            is_full: false,
            is_finished: false,
        }
    }
}

impl AsyncWrite for ServerInput {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.pipe).poll_write(cx, bytes);
        self.is_full = written.is_pending();
        let written = ready!(written);
        self.is_broken |= written.is_err();
        Poll::Ready(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.is_finished = true;
        Pin::new(&mut self.pipe).poll_shutdown(cx)
    }
}

impl Drop for ServerInput {
    fn drop(&mut self) {
        if self.is_finished {
            return;
        }
        if self.is_broken {
            // It may be exiting, which says more.
            let process = self.process.clone();
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(process.ended(ServerFault::ClosedInput));
            }
        } else if self.is_full {
            self.process.not_read();
        }
        // Otherwise its runtime has ended.
    }
}
