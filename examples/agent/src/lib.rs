//! The part of an agent that speaks MCP. It starts a server or connects to one, lists its tools and calls them, and starts or connects
//! again after the server has ended. The part that chooses which tool to call, a model, is not in this example.

use trueform::{
    client::{
        Client, ClientError, ClientOptions, HttpEndpoint, HttpErrorKind, LocalError, ServerCommand,
        ServerProfile,
    },
    schema::{CallToolResult, Implementation, ProgressNotificationParams, Tool},
};

/// Where the server is.
#[derive(Clone, Debug)]
enum Server {
    Command(ServerCommand),
    Url(String),
}

/// A server and the connection to it, while there is one.
#[derive(Debug)]
pub struct Agent {
    server: Server,
    client: Option<Client>,
    /// What the first connection found out. It makes the next connection faster.
    profile: Option<ServerProfile>,
}

impl Agent {
    /// An agent whose server `command` starts. The first call starts it.
    #[must_use]
    pub fn new(command: ServerCommand) -> Self {
        Self::of(Server::Command(command))
    }

    /// An agent whose server speaks Streamable HTTP at `url`. The first call connects to it.
    #[must_use]
    pub fn at(url: impl Into<String>) -> Self {
        Self::of(Server::Url(url.into()))
    }

    fn of(server: Server) -> Self {
        Self {
            server,
            client: None,
            profile: None,
        }
    }

    /// The tools of the server.
    ///
    /// # Errors
    /// Those of [`Client::spawn`], [`HttpEndpoint::connect`] and [`Client::list_tools`].
    pub async fn tools(&mut self) -> Result<Vec<Tool>, ClientError> {
        let client = self.client().await?;
        let listed = client.list_tools().await;
        self.noted(listed)
    }

    /// Calls the tool `name`, and calls `on_progress` with each progress report.
    ///
    /// If the server ends during the call, the call fails and is not repeated, because the agent cannot know how much of it was done. The
    /// next call starts the server again, or connects again.
    ///
    /// # Errors
    /// Those of [`Client::spawn`], [`HttpEndpoint::connect`] and [`Client::call_tool`].
    pub async fn call(
        &mut self,
        name: &str,
        arguments: &serde_json::Value,
        on_progress: impl FnMut(ProgressNotificationParams) + Send + 'static,
    ) -> Result<CallToolResult, ClientError> {
        let client = self.client().await?;
        let called = client
            .call_tool(name, arguments)
            .on_progress(on_progress)
            .await;
        self.noted(called)
    }

    /// Ends the server, or the session with it.
    pub async fn close(self) {
        if let Some(client) = self.client {
            client.close().await;
        }
    }

    async fn client(&mut self) -> Result<Client, ClientError> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        let info = Implementation::new("agent", env!("CARGO_PKG_VERSION"));
        let mut options = ClientOptions::new().info(info);
        if let Some(profile) = &self.profile {
            options = options.profile(profile.clone());
        }
        let client = match &self.server {
            Server::Command(command) => Client::spawn(command, options).await?,
            Server::Url(url) => HttpEndpoint::new(url).connect_as(options).await?,
        };
        self.profile = Some(client.profile());
        self.client = Some(client.clone());
        Ok(client)
    }

    /// Drops the client when the connection has ended.
    fn noted<T>(&mut self, outcome: Result<T, ClientError>) -> Result<T, ClientError> {
        let is_over = match &outcome {
            Err(ClientError::Local(LocalError::Server(_) | LocalError::Closed)) => true,
            Err(ClientError::Local(LocalError::Http(error))) => {
                matches!(
                    error.kind(),
                    HttpErrorKind::Broken
                        | HttpErrorKind::Connect
                        | HttpErrorKind::SessionLost
                        | HttpErrorKind::StreamEnded
                )
            }
            _ => false,
        };
        if is_over {
            self.client = None;
        }
        outcome
    }
}
