//! The process's own standard input and output as a connection.

#[cfg(unix)]
mod socket;
mod streams;
mod thread;

use std::io::{self, IsTerminal};

use super::{
    asked_to_end,
    stream::{self, StreamSettings},
};
use crate::engine::Engine;

/// Serves until the input ends or the process is asked to end.
///
/// # Errors
/// The streams cannot be taken over, or the writer fails, unless the failure means that the peer has disconnected.
pub(crate) async fn serve(engine: &Engine, settings: StreamSettings) -> io::Result<()> {
    if io::stdin().is_terminal() {
        // A person started it by hand, and would otherwise see nothing happen.
        let info = &engine.host.settings.info;
        eprintln!(
            "{} {} waits for an MCP client, which sends one JSON message a line on standard input. A client usually starts this program itself. Ctrl-C ends it.",
            info.name, info.version
        );
    }
    let streams::StdioStreams {
        reader,
        writer,
        diversion,
    } = streams::take()?;
    let mut asked = std::pin::pin!(asked_to_end());
    // Runs on a worker: the thread of `block_on` would be woken across threads for every message.
    let mut connection = EndedWithOwner(tokio::spawn(stream::serve(
        engine.clone(),
        reader,
        writer,
        settings,
    )));
    let served = loop {
        tokio::select! {
            served = &mut connection.0 => break served,
            () = &mut asked => {
                let next = asked_to_end();
                // The connection counts the end of its input as a request to stop. After that, one signal ends it (DEC-11).
                engine.shut_down();
                asked.set(next);
            }
        }
    };
    drop(diversion);
    served.unwrap_or_else(|lost| Err(io::Error::other(lost)))
}

/// A task that is aborted when its owner is dropped.
struct EndedWithOwner(tokio::task::JoinHandle<io::Result<()>>);

impl Drop for EndedWithOwner {
    fn drop(&mut self) {
        self.0.abort();
    }
}
