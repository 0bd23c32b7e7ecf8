//! Transports: byte streams such as standard input and output, and Streamable HTTP (feature `http`).
//!
//! [`Server::run`](crate::Server::run) serves standard input and output, [`Service::serve_stream`](crate::Service::serve_stream) any
//! other byte stream. [`StreamSettings`] sets the limits of both.

#[cfg(feature = "http")]
pub mod http;
pub(crate) mod lines;
#[cfg(feature = "client")]
pub(crate) mod memory;
pub(crate) mod patience;
pub(crate) mod stdio;
pub(crate) mod stream;

pub use self::stream::StreamSettings;

/// Completes when the process is asked to end: SIGTERM or Ctrl-C. It can be called again for the next request to end.
///
/// The signal handlers are installed when this returns, not when the future is first polled: call it before the server announces itself.
pub(crate) fn asked_to_end() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let (mut terminate, mut interrupt) = {
        use tokio::signal::unix::{SignalKind, signal};
        let log = |error| tracing::warn!(%error, "a signal cannot be listened for");
        (
            signal(SignalKind::terminate()).map_err(log).ok(),
            signal(SignalKind::interrupt()).map_err(log).ok(),
        )
    };
    #[cfg(unix)]
    return async move {
        tokio::select! {
            () = received(terminate.as_mut()) => {}
            () = received(interrupt.as_mut()) => {}
        }
    };
    #[cfg(not(unix))]
    async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!(%error, "cannot listen for Ctrl-C");
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(unix)]
async fn received(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
