//! Takes the process's standard streams for the protocol and gives everybody else something harmless.
//!
//! On Unix the real standard output is duplicated and file descriptor 1 pointed at standard error, so that whatever a
//! tool, a dependency or a child process prints cannot get between two messages (E-2); standard input is duplicated and
//! file descriptor 0 pointed at `/dev/null`, so that a child process cannot read the client's messages. Elsewhere the
//! standard handles are used as they are.
//!
//! Pipes and sockets are read and written on the runtime's reactor. Their non-blocking flag belongs to the open file,
//! which other processes may share, so it is not touched: a pipe is opened anew, a socket is asked call by call not to
//! block. Everything else gets a thread.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};

pub(super) type StdinReader = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// The streams of the protocol, and what undoes the taking when dropped.
pub(super) struct StdioStreams {
    pub(super) reader: StdinReader,
    pub(super) writer: Writer,
    pub(super) diversion: platform::Diversion,
}

/// Takes the standard streams.
pub(super) fn take() -> io::Result<StdioStreams> {
    platform::take()
}

#[cfg(unix)]
mod platform {
    use std::{
        fs::File,
        io::{self, Write},
        os::{
            fd::{AsFd, AsRawFd, OwnedFd},
            unix::fs::FileTypeExt,
        },
    };

    use super::{
        super::{
            socket::Socket,
            thread::{ThreadReader, ThreadWriter},
        },
        StdinReader, StdioStreams, Writer,
    };

    /// Puts file descriptors 0 and 1 back when dropped.
    pub(in super::super) struct Diversion {
        stdin: OwnedFd,
        stdout: OwnedFd,
    }

    pub(super) fn take() -> io::Result<StdioStreams> {
        // What was printed before must not be printed to standard error.
        io::stdout().flush()?;
        let diversion = Diversion {
            stdin: duplicate(io::stdin())?,
            stdout: duplicate(io::stdout())?,
        };
        let reader = reader(duplicate(&diversion.stdin)?)?;
        let writer = writer(duplicate(&diversion.stdout)?)?;
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        rustix::stdio::dup2_stdout(io::stderr())?;
        Ok(StdioStreams {
            reader,
            writer,
            diversion,
        })
    }

    /// A duplicate that child processes do not inherit, out of the way of the standard streams.
    fn duplicate(fd: impl AsFd) -> io::Result<OwnedFd> {
        Ok(rustix::io::fcntl_dupfd_cloexec(fd, 3)?)
    }

    fn reader(fd: OwnedFd) -> io::Result<StdinReader> {
        let file = File::from(fd);
        let kind = file.metadata()?.file_type();
        if kind.is_socket() {
            return Ok(Box::new(Socket::new(file.into())?));
        }
        #[cfg(target_os = "linux")]
        if kind.is_fifo() {
            // Fails where `/proc` is not mounted, or the pipe belongs to another user.
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            if let Ok(pipe) = tokio::net::unix::pipe::OpenOptions::new().open_receiver(path) {
                return Ok(Box::new(pipe));
            }
        }
        tracing::debug!(fd = file.as_raw_fd(), "standard input is read by a thread");
        Ok(Box::new(ThreadReader::start(file)?))
    }

    fn writer(fd: OwnedFd) -> io::Result<Writer> {
        let file = File::from(fd);
        let kind = file.metadata()?.file_type();
        if kind.is_socket() {
            return Ok(Box::new(Socket::new(file.into())?));
        }
        #[cfg(target_os = "linux")]
        if kind.is_fifo() {
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            if let Ok(pipe) = tokio::net::unix::pipe::OpenOptions::new().open_sender(path) {
                return Ok(Box::new(pipe));
            }
        }
        tracing::debug!(
            fd = file.as_raw_fd(),
            "standard output is written by a thread"
        );
        Ok(Box::new(ThreadWriter::start(file)?))
    }

    impl Drop for Diversion {
        fn drop(&mut self) {
            // Nothing can be done about a failure: the streams then stay diverted, which is safe.
            let _ = io::stdout().flush();
            let _ = rustix::stdio::dup2_stdin(&self.stdin);
            let _ = rustix::stdio::dup2_stdout(&self.stdout);
        }
    }
}

#[cfg(not(unix))]
mod platform {
    use std::io;

    use super::{
        super::thread::{ThreadReader, ThreadWriter},
        StdioStreams,
    };

    /// Nothing is diverted here.
    pub(in super::super) struct Diversion;

    pub(super) fn take() -> io::Result<StdioStreams> {
        Ok(StdioStreams {
            reader: Box::new(ThreadReader::start(io::stdin())?),
            writer: Box::new(ThreadWriter::start(io::stdout())?),
            diversion: Diversion,
        })
    }
}
