//! Clients of a server in the same process, over the bytes that standard input and output would carry.

use super::{Client, ClientError, ClientOptions};
use crate::{
    server::{Server, Service},
    transport::StreamSettings,
};

impl ClientOptions {
    /// Who the client is for a server in the same process.
    #[cfg(all(feature = "http", feature = "testing"))]
    pub(crate) fn caller(&self) -> Option<&crate::Principal> {
        self.principal.as_ref()
    }

    /// What a server in the same process knows of the client.
    pub(crate) fn stream_settings(&self) -> StreamSettings {
        let settings = StreamSettings::new();
        match &self.principal {
            Some(principal) => settings.principal(principal.clone()),
            None => settings,
        }
    }
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
        let near = self.served(options.stream_settings());
        Client::over(near.reader, near.writer, options).await
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
