//! A server on byte streams: sockets of any kind, standard input and output, and a connection inside the process.

use tokio::io::{AsyncRead, AsyncWrite};

use super::Service;
#[cfg(feature = "client")]
use crate::transport::memory;
use crate::{
    error::{Error, Result},
    transport::{StreamSettings, stdio, stream::serve},
};

impl Service {
    /// Serves one byte stream with one message per line, such as a Unix or TCP socket, until it ends or the server shuts
    /// down. It can be used in both eras. Several streams of one server can be served at the same time.
    ///
    /// ```
    /// # use trueform::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> trueform::Result {
    /// use trueform::client::ClientOptions;
    ///
    /// let service = Server::new("calc", "1.0.0").build()?;
    /// let (near, far) = tokio::io::duplex(4096);
    /// let (reader, writer) = tokio::io::split(far);
    /// let serving = tokio::spawn(async move { service.serve_stream(reader, writer).await });
    ///
    /// let (reader, writer) = tokio::io::split(near);
    /// let client = Client::over(reader, writer, ClientOptions::new()).await?;
    /// assert_eq!(client.server_info().map(|info| &*info.name), Some("calc"));
    /// # drop(serving);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The error of a failed write, unless it means that the peer has disconnected.
    pub async fn serve_stream<R, W>(&self, reader: R, writer: W) -> Result
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        self.serve_stream_with(reader, writer, StreamSettings::new())
            .await
    }

    /// Like [`Service::serve_stream`], with other settings.
    ///
    /// # Errors
    /// The errors of [`Service::serve_stream`]; a setting with which nothing could be served.
    pub async fn serve_stream_with<R, W>(
        &self,
        reader: R,
        writer: W,
        settings: StreamSettings,
    ) -> Result
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        usable(&settings)?;
        let served = serve(
            self.engine.clone(),
            Box::new(reader),
            Box::new(writer),
            settings,
        )
        .await;
        served.map_err(|error| Error::io("the stream failed", error))
    }
}

impl Service {
    /// Serves standard input and output until the input ends, or SIGTERM or Ctrl-C asks the process to end; it then waits for running
    /// calls, at most [`StreamSettings::DEFAULT_DRAIN`]. A second of these events, such as a signal after the end of the input, ends the
    /// wait: running calls are dropped, and their response is -32603.
    ///
    /// On Unix, file descriptor 1 refers to standard error for all other code while it serves, so printed text does not reach the client,
    /// and child processes of tools get an empty standard input. On other systems, nothing is redirected, so print to standard error, and
    /// Ctrl-C is the only signal. This was not verified on Windows.
    ///
    /// If standard input is a terminal, it writes one line to standard error that says what it waits for.
    ///
    /// Must be called within a tokio runtime, and once at a time.
    ///
    /// # Errors
    /// The streams are not available, or a write fails for another reason than a disconnected client.
    pub async fn serve_stdio(&self) -> Result {
        self.serve_stdio_with(StreamSettings::new()).await
    }

    /// Like [`Service::serve_stdio`], with other settings.
    ///
    /// # Errors
    /// The errors of [`Service::serve_stdio`]; a setting with which nothing could be served.
    pub async fn serve_stdio_with(&self, settings: StreamSettings) -> Result {
        usable(&settings)?;
        let served = stdio::serve(&self.engine, settings).await;
        self.tasks_ended().await;
        served.map_err(|error| Error::io("standard input and output", error))
    }
}

impl Service {
    /// Returns the client's side of a connection that the server serves until the client closes it.
    #[cfg(feature = "client")]
    pub(crate) fn served(&self, settings: StreamSettings) -> memory::MemorySide {
        let (near, far) = memory::pair();
        tokio::spawn(serve(
            self.engine.clone(),
            Box::new(far.reader),
            Box::new(far.writer),
            settings,
        ));
        near
    }
}

fn usable(settings: &StreamSettings) -> Result {
    settings
        .problem()
        .map_or(Ok(()), |problem| Err(Error::other(problem)))
}
