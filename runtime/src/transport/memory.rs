//! A connection inside the process: the bytes that stdio would carry, without file descriptors.

use tokio::io::DuplexStream;

use super::stream::{self, StreamSettings};
use crate::{
    client::{Client, ClientError, ClientOptions},
    server::{Server, Service},
};

/// Bytes that either direction holds before its writer waits.
const CAPACITY: usize = 64 << 10;

/// One side of a connection.
pub(crate) struct Side {
    pub(crate) reader: DuplexStream,
    pub(crate) writer: DuplexStream,
}

/// The two sides of a connection. Dropping a writer ends the other side's reader.
fn pair() -> (Side, Side) {
    let (first_writer, second_reader) = tokio::io::duplex(CAPACITY);
    let (second_writer, first_reader) = tokio::io::duplex(CAPACITY);
    (
        Side {
            reader: first_reader,
            writer: first_writer,
        },
        Side {
            reader: second_reader,
            writer: second_writer,
        },
    )
}

impl Service {
    /// A client of this server in the same process, over the bytes that standard input and output would carry.
    ///
    /// # Errors
    /// Those of [`Client::over`].
    pub async fn connect(&self) -> Result<Client, ClientError> {
        self.connect_as(ClientOptions::new()).await
    }

    /// As [`Service::connect`], as another client: at an older revision, with capabilities, with its own handler.
    ///
    /// # Errors
    /// Those of [`Client::over`].
    pub async fn connect_as(&self, options: ClientOptions) -> Result<Client, ClientError> {
        let near = self.served();
        Client::over(near.reader, near.writer, options).await
    }

    /// The client's side of a connection that is served from now on, until the client closes it.
    pub(crate) fn served(&self) -> Side {
        let (near, far) = pair();
        tokio::spawn(stream::serve(
            self.engine.clone(),
            Box::new(far.reader),
            Box::new(far.writer),
            StreamSettings::new(),
        ));
        near
    }
}

impl Server {
    /// A client of this server in the same process: what a server is tested with. See [`client`](crate::client).
    ///
    /// # Errors
    /// What [`Server::build`] finds; the two sides find no common revision.
    pub async fn connect(self) -> crate::Result<Client> {
        self.connect_as(ClientOptions::new()).await
    }

    /// As [`Server::connect`], as another client.
    ///
    /// ```
    /// # use trueform::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> trueform::Result {
    /// use trueform::client::ClientOptions;
    ///
    /// let client = Server::new("calc", "1.0.0").connect_as(ClientOptions::at(Revision::V2025_03_26)).await?;
    /// assert_eq!(client.revision(), Revision::V2025_03_26);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Server::connect`].
    pub async fn connect_as(self, options: ClientOptions) -> crate::Result<Client> {
        Ok(self.build()?.connect_as(options).await?)
    }
}
