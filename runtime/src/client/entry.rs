//! Connecting to a server as a session or a configuration names it.

use std::fmt;

use super::{Client, ClientError, ClientOptions, LocalError};
use crate::{
    acp::{McpServer, McpTransport, McpTransports},
    jsonrpc::shortened,
};

impl Client {
    /// Connects to a server as an ACP session or a configuration names it: starts its command, or connects to its URL. Before that, it
    /// checks that the transport is `declared`. A host that is not an ACP agent declares the transports that it supports.
    ///
    /// ```no_run
    /// use trueform::{Client, acp::{McpServers, McpTransports}, client::ClientOptions};
    ///
    /// # async fn connect(config: &str) -> Result<(), Box<dyn std::error::Error>> {
    /// let declared = McpTransports { http: true, sse: false };
    /// for server in McpServers::of_config(config)?.mcp_servers {
    ///     let client = Client::connect_entry(&server, declared, ClientOptions::new()).await?;
    ///     println!("{}: {} tools", server.name, client.list_tools().await?.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`LocalError::Refused`] if the transport is not declared; [`LocalError::NoTransport`] if this client does not have it: the
    /// feature is off, or it is HTTP with server-sent events. Otherwise those of the transport.
    pub async fn connect_entry(
        server: &McpServer,
        declared: McpTransports,
        options: ClientOptions,
    ) -> Result<Self, ClientError> {
        if let Err(refused) = declared.check([server])
            && let Some(refusal) = refused.into_iter().next()
        {
            return Err(LocalError::Refused(Box::new(refusal)).into());
        }
        match &server.transport {
            #[cfg(feature = "client-process")]
            McpTransport::Stdio { command, args, env } => {
                let env = env.iter().map(|set| (&set.name, &set.value));
                let command = super::ServerCommand::new(command).args(args).envs(env);
                Self::spawn(&command, options).await
            }
            #[cfg(feature = "client-http")]
            McpTransport::Http { url, headers } => {
                let endpoint = super::HttpEndpoint::new(url);
                let endpoint = headers.iter().fold(endpoint, |endpoint, header| {
                    endpoint.header(&header.name, &header.value)
                });
                endpoint.connect_as(options).await
            }
            other => {
                drop(options);
                Err(LocalError::NoTransport(NoTransport::of(&server.name, other)).into())
            }
        }
    }
}

/// A transport that this client does not have, and the server that needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoTransport {
    server: String,
    transport: String,
    /// The feature that has it.
    feature: Option<&'static str>,
}

impl NoTransport {
    fn of(server: &str, transport: &McpTransport) -> Self {
        Self {
            server: shortened(server).into_owned(),
            transport: shortened(transport.kind()).into_owned(),
            feature: match transport {
                McpTransport::Stdio { .. } => Some("client-process"),
                McpTransport::Http { .. } => Some("client-http"),
                _ => None,
            },
        }
    }
}

impl fmt::Display for NoTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            server,
            transport,
            feature,
        } = self;
        write!(
            f,
            "the MCP server `{server}` needs the transport `{transport}`, which this client does not have; "
        )?;
        match feature {
            Some(feature) => write!(f, "enable the feature `{feature}` of the crate `trueform`"),
            None => f.write_str("ask its operator for an endpoint of Streamable HTTP"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acp::McpServers;

    #[tokio::test]
    async fn what_is_not_connected() {
        let servers = McpServers::of_config(
            r#"{ "mcpServers": {
                "old": { "type": "sse", "url": "http://127.0.0.1:9/sse" },
                "coop": { "type": "pigeon" }
            } }"#,
        );
        let servers = servers.unwrap().mcp_servers;
        let both = McpTransports {
            http: true,
            sse: true,
        };
        for (server, declared, expected) in [
            (
                &servers[0],
                McpTransports::STDIO_ONLY,
                "the MCP server `old` needs the transport `sse`, which is not declared: an ACP agent declares it in `mcpCapabilities.sse`, \
                 other programs in `McpTransports::sse`; declared are stdio",
            ),
            (
                &servers[0],
                both,
                "the MCP server `old` needs the transport `sse`, which this client does not have; ask its operator for an endpoint of \
                 Streamable HTTP",
            ),
            (
                &servers[1],
                both,
                "the MCP server `coop` needs the transport `pigeon`, which is not known here; declared are stdio, http, sse",
            ),
        ] {
            let outcome = Client::connect_entry(server, declared, ClientOptions::new()).await;
            assert_eq!(outcome.unwrap_err().to_string(), expected);
        }
    }

    #[cfg(not(feature = "client-process"))]
    #[tokio::test]
    async fn without_the_feature() {
        let config = r#"{ "mcpServers": { "files": { "command": "files" } } }"#;
        let servers = McpServers::of_config(config).unwrap().mcp_servers;
        let declared = McpTransports::STDIO_ONLY;
        let outcome = Client::connect_entry(&servers[0], declared, ClientOptions::new()).await;
        assert_eq!(
            outcome.unwrap_err().to_string(),
            "the MCP server `files` needs the transport `stdio`, which this client does not have; enable the feature \
             `client-process` of the crate `trueform`"
        );
    }
}
