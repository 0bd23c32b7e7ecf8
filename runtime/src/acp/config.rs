//! The servers of a configuration file, which lists them by name.

use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::value::RawValue;
use trueform_schema::{DecodeError, Map, decode, pointer};

use super::{Entry, McpServer, McpServers, McpTransport, NamedValue, keys, needed, optional};

impl McpServers {
    /// Reads the servers from the JSON text of a configuration of a desktop client or editor. The text is an object with the member
    /// `mcpServers`, or `servers` as in VS Code, which has an entry for each name. In an entry, `env` and `headers` are objects. An entry
    /// without `type` has a `command`, or a `url` for Streamable HTTP. The `type` of Streamable HTTP is `http` or `streamable-http`. Other
    /// members are ignored. Comments are not JSON, and are refused.
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
    /// [`DecodeError`] with the place, if both `mcpServers` and `servers` are absent, or an entry lacks what its kind needs. If the text
    /// is not JSON, the message has the line and the column.
    pub fn of_config(config: &str) -> Result<Self, DecodeError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Config<'a> {
            #[serde(default, borrow, deserialize_with = "present")]
            mcp_servers: Option<&'a RawValue>,
            #[serde(default, borrow, deserialize_with = "present")]
            servers: Option<&'a RawValue>,
        }
        check_syntax(config)?;
        let Config {
            mcp_servers,
            servers,
        } = decode::from_str(config)?;
        let (key, text) = match (mcp_servers, servers) {
            (Some(servers), _) => ("/mcpServers", servers.get()),
            (None, Some(servers)) => ("/servers", servers.get()),
            (None, None) => {
                let keys = keys::found(config, |_| true);
                let found = if keys.is_empty() { "no keys" } else { &keys };
                let problem =
                    format!("expected `mcpServers`, or `servers` as in VS Code, found {found}");
                return Err(DecodeError::new("", problem));
            }
        };
        let entries: Map<&RawValue> = decode::from_str(text).map_err(|error| error.under(key))?;
        let servers = entries.iter().map(|(name, entry)| {
            let place = pointer::escape(name);
            let transport = transport(entry.get()).map_err(|error| {
                keys::named(error, entry.get()).under(&format!("{key}/{place}"))
            })?;
            Ok::<_, DecodeError>(McpServer {
                name: name.to_owned(),
                transport,
            })
        });
        Ok(Self {
            mcp_servers: servers.collect::<Result<_, _>>()?,
        })
    }
}

/// Reads a member that is present, also if it is `null`, which is a value of the wrong type.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Refuses what is not JSON, with the line and the column: a file has no other place there.
fn check_syntax(config: &str) -> Result<(), DecodeError> {
    let Err(error) = serde_json::from_str::<IgnoredAny>(config) else {
        return Ok(());
    };
    let line = config.lines().nth(error.line().saturating_sub(1));
    let at = line.and_then(|line| line.get(error.column().saturating_sub(1)..));
    let advice = match at.is_some_and(|at| at.starts_with("//") || at.starts_with("/*")) {
        true => "; JSON has no comments: remove them",
        false => "",
    };
    Err(DecodeError::new("", format!("not JSON: {error}{advice}")))
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
