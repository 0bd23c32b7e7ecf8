//! Ways for bytes to get in and out. They move bytes and decide nothing about MCP; that is the engine's part.

#[cfg(feature = "http")]
pub mod http;
pub(crate) mod lines;
mod memory;
mod stdio;
mod stream;

pub(crate) use self::lines::DEFAULT_MAX_LINE;
pub use self::stream::StreamSettings;

/// Completes when the process is asked to end: SIGTERM or Ctrl-C. Can be awaited again for the next time.
pub(crate) async fn asked_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else {
            return interrupted().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            () = interrupted() => {}
        }
    }
    #[cfg(not(unix))]
    interrupted().await;
}

async fn interrupted() {
    if let Err(error) = tokio::signal::ctrl_c().await {
        tracing::warn!(%error, "cannot listen for Ctrl-C");
        std::future::pending::<()>().await;
    }
}
