//! The process's own standard input and output as a connection.

#[cfg(unix)]
mod socket;
mod streams;
mod thread;

use std::io;

use super::{
    asked_to_end,
    stream::{self, StreamSettings},
};
use crate::{
    engine::Engine,
    error::{Error, Result},
    server::Service,
};

impl Service {
    /// Serves standard input and output until the input ends, or SIGTERM or Ctrl-C asks the process to end; calls that run
    /// then are waited for, at most [`StreamSettings::DEFAULT_DRAIN`]. A second signal cuts that short.
    ///
    /// While it serves, file descriptor 1 is standard error for everybody else, so nothing that is printed reaches the client,
    /// and child processes of tools find an empty standard input. (On Unix. Elsewhere, print to standard error.)
    ///
    /// Must be called within a tokio runtime, and once at a time.
    ///
    /// # Errors
    /// The streams cannot be taken, or writing fails for another reason than that the client is gone.
    pub async fn serve_stdio(&self) -> Result {
        self.serve_stdio_with(StreamSettings::new()).await
    }

    /// As [`Service::serve_stdio`], within other bounds.
    ///
    /// # Errors
    /// As [`Service::serve_stdio`].
    pub async fn serve_stdio_with(&self, settings: StreamSettings) -> Result {
        serve(&self.engine, settings)
            .await
            .map_err(|error| Error::io("standard input and output", error))
    }
}

async fn serve(engine: &Engine, settings: StreamSettings) -> io::Result<()> {
    let streams::Streams {
        reader,
        writer,
        diversion,
    } = streams::take()?;
    let end = asked_to_end();
    // On a worker: the thread of `block_on` would be woken across threads for every message.
    let mut connection = Ended(tokio::spawn(stream::serve(
        engine.clone(),
        reader,
        writer,
        settings,
    )));
    let served = tokio::select! {
        served = &mut connection.0 => served,
        () = end => {
            let at_once = asked_to_end();
            engine.shut_down();
            tokio::select! {
                served = &mut connection.0 => served,
                () = at_once => Ok(Ok(())),
            }
        }
    };
    drop(diversion);
    served.unwrap_or_else(|lost| Err(io::Error::other(lost)))
}

/// A task that ends with its owner.
struct Ended(tokio::task::JoinHandle<io::Result<()>>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.abort();
    }
}
