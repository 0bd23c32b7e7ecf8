//! The servers of a configuration file, which lists them by name.

use serde::Deserialize;
use serde_json::value::RawValue;
use trueform_schema::{DecodeError, Map, decode};

use super::{Entry, McpServer, McpServers, McpTransport, NamedValue, needed, optional};

impl McpServers {
    /// Reads the servers from the JSON text of a configuration of a desktop client or editor. The text is an object with the member
    /// `mcpServers`, which has an entry for each name. In an entry, `env` and `headers` are objects. An entry without `type` has a
    /// `command`, or a `url` for Streamable HTTP. The `type` of Streamable HTTP is `http` or `streamable-http`. Other members are ignored.
    ///
    /// ```
    /// use trueform::acp::McpServers;
    ///
    /// let config = r#"{ "mcpServers": {
    ///     "files": { "command": "files-mcp", "args": ["--root", "."], "env": { "TOKEN": "secret" } },
    ///     "search": { "url": "https://search.example/mcp" }
    /// } }"#;
    /// let servers = McpServers::of_config(config)?.mcp_servers;
    /// assert_eq!(servers[1].name, "search");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`DecodeError`] with the place, if `mcpServers` is absent or an entry lacks what its kind needs.
    pub fn of_config(config: &str) -> Result<Self, DecodeError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Config<'a> {
            #[serde(borrow)]
            mcp_servers: &'a RawValue,
        }
        let config: Config<'_> = decode::from_str(config)?;
        let text = config.mcp_servers.get();
        let entries: Map<&RawValue> =
            decode::from_str(text).map_err(|error| error.under("/mcpServers"))?;
        let servers = entries.iter().map(|(name, entry)| {
            let place = name.replace('~', "~0").replace('/', "~1");
            let transport = transport(entry.get());
            Ok::<_, DecodeError>(McpServer {
                name: name.to_owned(),
                transport: transport
                    .map_err(|error| error.under(&format!("/mcpServers/{place}")))?,
            })
        });
        Ok(Self {
            mcp_servers: servers.collect::<Result<_, _>>()?,
        })
    }
}

fn transport(entry: &str) -> Result<McpTransport, DecodeError> {
    let entry: Entry<'_> = decode::from_str(entry)?;
    let is_remote = entry.command.is_none() && entry.url.is_some();
    Ok(match entry.kind.as_deref() {
        Some("http" | "streamable-http") => McpTransport::Http {
            url: needed("url", entry.url)?,
            headers: named("headers", entry.headers)?,
        },
        None if is_remote => McpTransport::Http {
            url: needed("url", entry.url)?,
            headers: named("headers", entry.headers)?,
        },
        Some("sse") => McpTransport::Sse {
            url: needed("url", entry.url)?,
            headers: named("headers", entry.headers)?,
        },
        None | Some("stdio") => McpTransport::Stdio {
            command: needed("command", entry.command)?,
            args: optional("args", entry.args)?,
            env: named("env", entry.env)?,
        },
        Some(other) => McpTransport::Unknown(other.to_owned()),
    })
}

/// Returns the members of the object `name`; none if it is absent.
fn named(name: &str, value: Option<&RawValue>) -> Result<Vec<NamedValue>, DecodeError> {
    let text = match value.map(RawValue::get) {
        None | Some("null") => return Ok(Vec::new()),
        Some(text) => text,
    };
    let members: Map<String> =
        decode::from_str(text).map_err(|error| error.under(&format!("/{name}")))?;
    let members = members.iter();
    Ok(members
        .map(|(name, value)| NamedValue {
            name: name.to_owned(),
            value: value.clone(),
        })
        .collect())
}
