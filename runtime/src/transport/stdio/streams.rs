//! Takes the process's standard streams for the protocol and replaces them by harmless ones for all other code.
//!
//! On Unix, the real standard output is duplicated, and file descriptor 1 is redirected to standard error. So output that a tool, a
//! dependency or a child process prints cannot get between two messages (E-2). Standard input is duplicated, and file descriptor 0 is
//! redirected to `/dev/null`, so that a child process cannot read the client's messages. On other systems, the standard handles are used as
//! they are.
//!
//! Pipes and sockets are read and written on the runtime's reactor. Their non-blocking flag belongs to the open file, which other processes
//! may share, so it is not changed: a pipe is opened again, and each call on a socket asks not to block. All other files get a thread.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};

pub(super) type StdinReader = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// The streams of the protocol, and the guard that restores the standard streams when dropped.
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

    /// Restores file descriptors 0 and 1 when dropped.
    pub(in super::super) struct Diversion {
        stdin: OwnedFd,
        stdout: OwnedFd,
    }

    pub(super) fn take() -> io::Result<StdioStreams> {
        // Output that was printed before must not go to standard error.
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

    /// Returns a duplicate that child processes do not inherit, with a number above those of the standard streams.
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
            // A failure cannot be handled: the streams then stay redirected, which is safe.
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

    /// Nothing is redirected on this system.
    pub(in super::super) struct Diversion;

    pub(super) fn take() -> io::Result<StdioStreams> {
        Ok(StdioStreams {
            reader: Box::new(ThreadReader::start(io::stdin())?),
            writer: Box::new(ThreadWriter::start(io::stdout())?),
            diversion: Diversion,
        })
    }
}
