//! A check for agents of the Agent Client Protocol (ACP): the MCP servers of a session must use transports that the agent declared.
//!
//! The params of ACP's `session/new` and `session/load` contain `mcpServers`. Every agent accepts servers over standard input and output.
//! It accepts `http` and `sse` only if its `agentCapabilities.mcpCapabilities` declare them. [`McpTransports::check`] checks a list of
//! servers before the agent connects to any of them.
//!
//! ```
//! use trueform::acp::{McpServers, McpTransports, Refusal};
//!
//! let declared: McpTransports = serde_json::from_str(r#"{ "http": true }"#)?;
//! let params = r#"{ "cwd": "/", "mcpServers": [
//!     { "name": "files", "command": "/usr/bin/files", "args": [], "env": [] },
//!     { "type": "sse", "name": "old", "url": "https://example.com/sse", "headers": [] }
//! ] }"#;
//! let session = McpServers::of_session(params)?;
//!
//! let refused = declared.check(&session.mcp_servers).unwrap_err();
//! assert_eq!(refused[0].server_name(), "old");
//! let error = Refusal::error(&refused).unwrap();
//! assert_eq!(error.code, -32602);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod keys;

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::value::RawValue;
use trueform_schema::{DecodeError, ErrorObject, Json, decode};

use crate::jsonrpc::{code, shortened};

/// The transports that an agent declared in ACP's `agentCapabilities.mcpCapabilities`. Standard input and output is always supported. A
/// transport that is absent or null is not declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct McpTransports {
    /// Streamable HTTP.
    #[serde(default, deserialize_with = "or_default")]
    pub http: bool,
    /// HTTP with server-sent events, the transport of 2024-11-05.
    #[serde(default, deserialize_with = "or_default")]
    pub sse: bool,
}

/// The servers of a session, as the params of `session/new` and `session/load` list them. Other members are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpServers {
    /// The servers, in their order.
    pub mcp_servers: Vec<McpServer>,
}

/// A server of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpServer {
    /// The name that the client gave it.
    pub name: String,
    /// How the server is reached.
    pub transport: McpTransport,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpTransport {
    /// A child process that communicates over standard input and output. Only this kind needs no `type`.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables of its environment.
        env: Vec<NamedValue>,
    },
    /// Streamable HTTP.
    Http {
        /// The address of the endpoint.
        url: String,
        /// Headers of every request.
        headers: Vec<NamedValue>,
    },
    /// HTTP with server-sent events.
    Sse {
        /// The address of the event stream.
        url: String,
        /// Headers of every request.
        headers: Vec<NamedValue>,
    },
    /// The name of a kind that this version does not know. It is always refused.
    Unknown(String),
}

/// A header or a variable. `Debug` leaves the value out, because it may be a secret.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct NamedValue {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// A server that an agent refuses, because it did not declare the transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    server_name: String,
    requested: String,
    declared: Option<bool>,
    supported: Vec<&'static str>,
}

impl McpTransports {
    /// Only standard input and output.
    pub const STDIO_ONLY: Self = Self {
        http: false,
        sse: false,
    };

    /// Reads what an agent declared from the JSON text `result`, the result of ACP's `initialize`. A result without `agentCapabilities` or
    /// without `mcpCapabilities` declares nothing.
    ///
    /// # Errors
    /// [`DecodeError`] with the place, if a member does not have the type that ACP gives it.
    pub fn of_initialize(result: &str) -> Result<Self, DecodeError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Initialized {
            #[serde(default)]
            agent_capabilities: Option<AgentCapabilities>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct AgentCapabilities {
            #[serde(default)]
            mcp_capabilities: Option<McpTransports>,
        }
        let result: Initialized = decode::from_str(result)?;
        let declared = result
            .agent_capabilities
            .and_then(|all| all.mcp_capabilities);
        Ok(declared.unwrap_or_default())
    }

    /// Checks that the agent declared the transports of `servers`. Call it for a new session and for one that is loaded, because a saved
    /// list may be older than the declaration. It does not connect to any server; call it before you connect.
    ///
    /// # Errors
    /// One [`Refusal`] for each server that may not be used, in the order of `servers`.
    pub fn check<'a>(
        self,
        servers: impl IntoIterator<Item = &'a McpServer>,
    ) -> Result<(), Vec<Refusal>> {
        let refused: Vec<Refusal> = servers
            .into_iter()
            .filter_map(|server| self.refusal(server))
            .collect();
        match refused.is_empty() {
            true => Ok(()),
            false => Err(refused),
        }
    }

    /// Returns the kinds of transport that may be used, as names.
    #[must_use]
    pub fn supported(self) -> Vec<&'static str> {
        let all = [("stdio", true), ("http", self.http), ("sse", self.sse)];
        let declared = all.into_iter().filter(|(_, declared)| *declared);
        declared.map(|(kind, _)| kind).collect()
    }

    fn refusal(self, server: &McpServer) -> Option<Refusal> {
        let declared = match &server.transport {
            McpTransport::Stdio { .. } => Some(true),
            McpTransport::Http { .. } => Some(self.http),
            McpTransport::Sse { .. } => Some(self.sse),
            McpTransport::Unknown(_) => None,
        };
        (declared != Some(true)).then(|| Refusal {
            server_name: shortened(&server.name).into_owned(),
            requested: shortened(server.transport.kind()).into_owned(),
            declared,
            supported: self.supported(),
        })
    }
}

impl McpServers {
    /// Reads the servers from the JSON text of the params of `session/new` or `session/load`.
    ///
    /// # Errors
    /// [`DecodeError`] with the place, if an entry lacks what its kind needs. An entry of an unknown kind needs only a name.
    pub fn of_session(params: &str) -> Result<Self, DecodeError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Session<'a> {
            #[serde(default, borrow)]
            mcp_servers: Option<&'a RawValue>,
        }
        let session: Session<'_> = decode::from_str(params)?;
        let list = session.mcp_servers.map_or("[]", RawValue::get);
        Self::of_list(list).map_err(|error| error.under("/mcpServers"))
    }

    /// Reads the servers from the JSON text of a list `mcpServers`, such as one that was saved with a session.
    ///
    /// # Errors
    /// As [`of_session`](Self::of_session).
    pub fn of_list(list: &str) -> Result<Self, DecodeError> {
        let list: Option<Vec<&RawValue>> = decode::from_str(list)?;
        let entries = list.unwrap_or_default().into_iter().enumerate();
        let servers = entries.map(|(at, entry)| {
            McpServer::of_entry(entry.get())
                .map_err(|error| keys::named(error, entry.get()).under(&format!("/{at}")))
        });
        Ok(Self {
            mcp_servers: servers.collect::<Result<_, _>>()?,
        })
    }
}

impl McpTransport {
    /// Returns the name of the kind in ACP's `type`; `stdio` for an entry without `type`.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Http { .. } => "http",
            Self::Sse { .. } => "sse",
            Self::Unknown(kind) => kind,
        }
    }
}

impl Refusal {
    /// Returns the name of the server, at most [`MAX_REPEATED`](crate::jsonrpc::MAX_REPEATED) characters.
    #[must_use]
    pub fn server_name(&self) -> &str {
        &self.server_name
    }

    /// Returns the name of the transport that the server needs, shortened in the same way as the server's name.
    #[must_use]
    pub fn requested_transport(&self) -> &str {
        &self.requested
    }

    /// Returns what the agent declared for that transport: `Some(false)`, or `None` if ACP has no capability for the transport.
    #[must_use]
    pub fn declared_capability(&self) -> Option<bool> {
        self.declared
    }

    /// Returns the JSON-RPC error that refuses the session, with code -32602. Its message names all servers. Its `data` has
    /// `requestedTransport`, `serverName`, `declaredCapability` (`false`, or `null` for an unknown kind) and `supportedTransports` of the
    /// first refusal, and all refusals in `refused`. `None` if there are none.
    #[must_use]
    pub fn error(refused: &[Self]) -> Option<ErrorObject> {
        let first = refused.first()?;
        let mut data = first.data();
        data["refused"] = refused.iter().map(Self::data).collect();
        let message = refused.iter().map(Self::to_string).collect::<Vec<_>>();
        Some(ErrorObject::new(code::INVALID_PARAMS, message.join("; ")).with_data(Json::from(data)))
    }

    fn data(&self) -> serde_json::Value {
        serde_json::json!({
            "requestedTransport": self.requested,
            "serverName": self.server_name,
            "declaredCapability": self.declared,
            "supportedTransports": self.supported,
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            server_name,
            requested,
            declared,
            supported,
        } = self;
        write!(
            f,
            "the MCP server `{server_name}` needs the transport `{requested}`, "
        )?;
        match declared {
            // For the client of an ACP agent, and for the author of any other program.
            Some(_) => write!(
                f,
                "which is not declared: an ACP agent declares it in `mcpCapabilities.{requested}`, other programs in \
                 `McpTransports::{requested}`"
            )?,
            None => f.write_str("which is not known here")?,
        }
        write!(f, "; declared are {}", supported.join(", "))
    }
}

impl std::error::Error for Refusal {}

impl fmt::Debug for NamedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedValue")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// An entry of any kind. Members are decoded after the kind is known.
#[derive(Deserialize)]
struct Entry<'a> {
    /// Only in ACP: a configuration has the name outside the entry.
    #[serde(default, borrow)]
    name: Option<&'a RawValue>,
    #[serde(default, rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    command: Option<&'a RawValue>,
    #[serde(default, borrow)]
    args: Option<&'a RawValue>,
    #[serde(default, borrow)]
    env: Option<&'a RawValue>,
    #[serde(default, borrow)]
    url: Option<&'a RawValue>,
    #[serde(default, borrow)]
    headers: Option<&'a RawValue>,
}

impl McpServer {
    fn of_entry(text: &str) -> Result<Self, DecodeError> {
        let entry: Entry<'_> = decode::from_str(text)?;
        let transport = match entry.kind.as_deref() {
            None | Some("stdio") => McpTransport::Stdio {
                command: needed("command", entry.command)?,
                args: optional("args", entry.args)?,
                env: optional("env", entry.env)?,
            },
            Some("http") => McpTransport::Http {
                url: needed("url", entry.url)?,
                headers: optional("headers", entry.headers)?,
            },
            Some("sse") => McpTransport::Sse {
                url: needed("url", entry.url)?,
                headers: optional("headers", entry.headers)?,
            },
            Some(other) => McpTransport::Unknown(other.to_owned()),
        };
        Ok(Self {
            name: needed("name", entry.name)?,
            transport,
        })
    }
}

/// The problem of an entry without a member that its kind needs.
const NEEDED: &str = "expected a value, which a server of this kind needs";

/// Returns the member `name` of an entry.
fn needed<T: DeserializeOwned>(name: &str, value: Option<&RawValue>) -> Result<T, DecodeError> {
    let text = value.map(RawValue::get);
    let Some(text) = text.filter(|text| *text != "null") else {
        return Err(DecodeError::new(format!("/{name}"), NEEDED));
    };
    decode::from_str(text).map_err(|error| error.under(&format!("/{name}")))
}

/// The same, empty if it is absent.
fn optional<T: DeserializeOwned>(
    name: &str,
    value: Option<&RawValue>,
) -> Result<Vec<T>, DecodeError> {
    match value.map(RawValue::get) {
        None | Some("null") => Ok(Vec::new()),
        Some(_) => needed(name, value),
    }
}

/// Returns a value, or its default in place of null.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests;
