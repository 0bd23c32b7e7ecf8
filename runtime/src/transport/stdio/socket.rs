//! A standard stream that is a socket. Many clients (for example all that use libuv) give their child processes sockets.
//!
//! Each call asks not to block. The flag of the file is not set, because other processes may share the file.

use std::{
    io,
    os::fd::OwnedFd,
    pin::Pin,
    task::{Context, Poll, ready},
};

use rustix::net::{RecvFlags, SendFlags};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf, unix::AsyncFd};

/// Maximum number of bytes read by one call.
const CHUNK: usize = 16 << 10;

/// One direction, or both, of a connected stream socket.
#[derive(Debug)]
pub(super) struct Socket(AsyncFd<OwnedFd>);

impl Socket {
    #[allow(
        deprecated,
        reason = "its successor is unsafe and asks for what an owned file descriptor is; and is new in tokio 1.54"
    )]
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        AsyncFd::with_interest(socket, Interest::READABLE | Interest::WRITABLE).map(Self)
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
const SEND: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
/// Rust programs ignore the signal that a closed peer causes.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
const SEND: SendFlags = SendFlags::DONTWAIT;

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.0.poll_read_ready(cx))?;
            let room = into.remaining().min(CHUNK);
            let target = into.initialize_unfilled_to(room);
            match rustix::net::recv(ready.get_ref(), target, RecvFlags::DONTWAIT) {
                Ok((count, _)) => {
                    // Fewer bytes than requested: the socket is empty, so another read now would only fail with `WouldBlock`.
                    if count != 0 && count < room {
                        ready.clear_ready();
                    }
                    into.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Err(rustix::io::Errno::WOULDBLOCK) => ready.clear_ready(),
                Err(rustix::io::Errno::INTR) => {}
                Err(problem) => return Poll::Ready(Err(problem.into())),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.0.poll_write_ready(cx))?;
            match rustix::net::send(ready.get_ref(), bytes, SEND) {
                Ok(count) => return Poll::Ready(Ok(count)),
                Err(rustix::io::Errno::WOULDBLOCK) => ready.clear_ready(),
                Err(rustix::io::Errno::INTR) => {}
                Err(problem) => return Poll::Ready(Err(problem.into())),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
