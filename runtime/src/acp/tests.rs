//! The gate on params as ACP clients send them.

use serde_json::{Value, json};

use super::*;

/// The params of a `session/new` with a server of each kind.
const ALL_KINDS: &str = r#"{
    "cwd": "/home/ada/project",
    "mcpServers": [
        { "name": "files", "command": "/usr/bin/files-mcp", "args": ["--root", "."], "env": [{ "name": "TOKEN", "value": "s3cret" }] },
        { "type": "http", "name": "search", "url": "https://search.example/mcp", "headers": [{ "name": "Authorization", "value": "Bearer s3cret" }] },
        { "type": "sse", "name": "events", "url": "https://events.example/sse", "headers": [] },
        { "type": "carrier-pigeon", "name": "coop", "loft": 7 }
    ],
    "_meta": null
}"#;

const NEITHER: McpTransports = McpTransports::STDIO_ONLY;
const HTTP: McpTransports = McpTransports {
    http: true,
    sse: false,
};
const SSE: McpTransports = McpTransports {
    http: false,
    sse: true,
};
const BOTH: McpTransports = McpTransports {
    http: true,
    sse: true,
};

#[test]
fn what_is_declared_decides() {
    let session = McpServers::of_session(ALL_KINDS).unwrap();
    for (declared, expected) in [
        (NEITHER, &["search", "events", "coop"][..]),
        (HTTP, &["events", "coop"]),
        (SSE, &["search", "coop"]),
        (BOTH, &["coop"]),
    ] {
        let refused = declared.check(&session.mcp_servers).unwrap_err();
        let names: Vec<_> = refused.iter().map(Refusal::server_name).collect();
        assert_eq!(names, expected, "{declared:?}");
        // One at a time, the result is the same: no server depends on its neighbours.
        for server in &session.mcp_servers {
            let is_refused = declared.check([server]).is_err();
            assert_eq!(
                is_refused,
                expected.contains(&&*server.name),
                "{declared:?} {server:?}"
            );
        }
    }
    assert_eq!(NEITHER.check(&session.mcp_servers[..1]), Ok(()));
    assert_eq!(BOTH.check(&session.mcp_servers[..3]), Ok(()));
    assert_eq!(NEITHER.check([]), Ok(()));
}

#[test]
fn a_refusal_as_a_json_rpc_error() {
    let session = McpServers::of_session(ALL_KINDS).unwrap();
    let refused = SSE.check(&session.mcp_servers).unwrap_err();
    let error = Refusal::error(&refused).unwrap();
    assert_eq!(error.code, -32602);
    assert_eq!(
        error.message,
        "the MCP server `search` needs the transport `http`, which is not declared: an ACP agent declares it in \
         `mcpCapabilities.http`, other programs in `McpTransports::http`; declared are stdio, sse; the MCP server `coop` needs the \
         transport `carrier-pigeon`, which is not known here; declared are stdio, sse"
    );
    let data: Value = error.data.unwrap().to_value();
    assert_eq!(
        data,
        json!({
            "requestedTransport": "http",
            "serverName": "search",
            "declaredCapability": false,
            "supportedTransports": ["stdio", "sse"],
            "refused": [
                { "requestedTransport": "http", "serverName": "search", "declaredCapability": false, "supportedTransports": ["stdio", "sse"] },
                { "requestedTransport": "carrier-pigeon", "serverName": "coop", "declaredCapability": null, "supportedTransports": ["stdio", "sse"] },
            ],
        })
    );
    assert!(Refusal::error(&[]).is_none());
}

#[test]
fn what_an_agent_declared() {
    for (result, expected) in [
        (r#"{ "protocolVersion": 1 }"#, NEITHER),
        (
            r#"{ "protocolVersion": 1, "agentCapabilities": null }"#,
            NEITHER,
        ),
        (
            r#"{ "agentCapabilities": { "loadSession": true } }"#,
            NEITHER,
        ),
        (
            r#"{ "agentCapabilities": { "mcpCapabilities": null } }"#,
            NEITHER,
        ),
        (
            r#"{ "agentCapabilities": { "mcpCapabilities": {} } }"#,
            NEITHER,
        ),
        (
            r#"{ "agentCapabilities": { "mcpCapabilities": { "http": true } } }"#,
            HTTP,
        ),
        (
            r#"{ "agentCapabilities": { "mcpCapabilities": { "http": null, "sse": true, "acp": true } } }"#,
            SSE,
        ),
        (
            r#"{ "agentCapabilities": { "mcpCapabilities": { "http": true, "sse": true } } }"#,
            BOTH,
        ),
    ] {
        assert_eq!(
            McpTransports::of_initialize(result),
            Ok(expected),
            "{result}"
        );
    }
    let wrong = r#"{ "agentCapabilities": { "mcpCapabilities": { "http": "yes" } } }"#;
    let error = McpTransports::of_initialize(wrong).unwrap_err();
    assert_eq!(error.pointer(), "/agentCapabilities/mcpCapabilities/http");
}

#[test]
fn entries_that_lack_something() {
    const ABSENT: &str = "expected a value, which a server of this kind needs; known keys are `name`, `type`, `command`, `args`, `env`, \
                          `url`, `headers`";
    let one = |entry: &str| {
        McpServers::of_session(&format!(
            r#"{{ "mcpServers": [{{ "name": "first", "command": "c" }}, {entry}] }}"#
        ))
    };
    for (entry, pointer, expected) in [
        (r#"{ "name": "a" }"#, "/command", ABSENT),
        (
            r#"{ "name": "a", "type": "stdio", "command": null }"#,
            "/command",
            ABSENT,
        ),
        (
            r#"{ "name": "a", "command": 7 }"#,
            "/command",
            "invalid type: integer `7`, expected a string",
        ),
        (
            r#"{ "name": "a", "command": "c", "env": [{ "name": "A" }] }"#,
            "/env/0",
            "missing field `value`",
        ),
        (r#"{ "name": "a", "type": "http" }"#, "/url", ABSENT),
        (
            r#"{ "name": "a", "type": "sse", "url": "x", "headers": { "A": "b" } }"#,
            "/headers",
            "invalid type: map, expected a sequence",
        ),
        (r#"{ "type": "http", "url": "x" }"#, "/name", ABSENT),
        ("7", "", "invalid type: integer `7`, expected struct Entry"),
    ] {
        let error = one(entry).unwrap_err();
        assert_eq!(
            error.pointer(),
            format!("/mcpServers/1{pointer}"),
            "{entry}"
        );
        assert_eq!(error.message(), expected, "{entry}");
    }
    // Members of other kinds are not read. An unknown kind is refused, and is not read as another kind.
    let odd = one(r#"{ "name": "a", "command": "c", "url": 7 }"#).unwrap();
    assert_eq!(odd.mcp_servers[1].transport.kind(), "stdio");
    let unknown = one(r#"{ "name": "a", "type": "HTTP", "command": "c" }"#).unwrap();
    assert_eq!(
        BOTH.check(&unknown.mcp_servers).unwrap_err()[0].requested_transport(),
        "HTTP"
    );
    for empty in ["{}", r#"{ "mcpServers": null }"#, r#"{ "mcpServers": [] }"#] {
        assert_eq!(
            McpServers::of_session(empty),
            Ok(McpServers::default()),
            "{empty}"
        );
    }
}

/// Values of headers and variables are often secrets, and names may have any length.
#[test]
fn nothing_is_given_away() {
    let session = McpServers::of_session(ALL_KINDS).unwrap();
    let shown = format!("{session:?}");
    assert!(
        !shown.contains("s3cret") && shown.contains("TOKEN"),
        "{shown}"
    );
    let long = "x".repeat(100_000);
    let entry = format!(r#"{{ "mcpServers": [{{ "name": "{long}\n", "type": "{long}" }}] }}"#);
    let refused = BOTH
        .check(&McpServers::of_session(&entry).unwrap().mcp_servers)
        .unwrap_err();
    let error = Refusal::error(&refused).unwrap();
    assert!(error.message.len() < 1000, "{}", error.message.len());
    assert!(error.data.unwrap().get().len() < 2000);
}

// A list that was saved with a session is older than the declaration, so it is checked like a new one.
#[test]
fn sessions_that_are_loaded() {
    let load = ALL_KINDS.replacen('{', r#"{ "sessionId": "s-1","#, 1);
    let loaded = McpServers::of_session(&load).unwrap();
    assert_eq!(loaded, McpServers::of_session(ALL_KINDS).unwrap());
    let refused = NEITHER.check(&loaded.mcp_servers).unwrap_err();
    let names: Vec<_> = refused.iter().map(Refusal::server_name).collect();
    assert_eq!(names, ["search", "events", "coop"]);

    // The list alone, as a host saves it.
    let params: Value = serde_json::from_str(ALL_KINDS).unwrap();
    let saved = params["mcpServers"].to_string();
    assert_eq!(McpServers::of_list(&saved), Ok(loaded));
    for none in ["[]", "null"] {
        assert_eq!(
            McpServers::of_list(none),
            Ok(McpServers::default()),
            "{none}"
        );
    }
    for (list, pointer) in [
        (
            r#"[{ "name": "a", "command": "c" }, { "name": "b" }]"#,
            "/1/command",
        ),
        (r#"[{ "name": "a", "type": "http", "url": 7 }]"#, "/0/url"),
        (r#"{ "a": {} }"#, ""),
    ] {
        let error = McpServers::of_list(list).unwrap_err();
        assert_eq!(error.pointer(), pointer, "{list}: {error}");
    }
}

#[test]
fn servers_of_a_configuration() {
    let config = r#"{ "theme": "dark", "mcpServers": {
        "files": { "command": "files-mcp", "args": ["--root", "."], "env": { "TOKEN": "s3cret" }, "disabled": true },
        "bare": { "command": "bare", "url": 7 },
        "search": { "url": "https://search.example/mcp", "headers": { "Authorization": "Bearer s3cret" } },
        "named": { "type": "streamable-http", "url": "https://named.example/mcp" },
        "events": { "type": "sse", "url": "https://events.example/sse" },
        "coop": { "type": "carrier-pigeon", "command": "c" }
    } }"#;
    let servers = McpServers::of_config(config).unwrap().mcp_servers;
    let found: Vec<_> = servers
        .iter()
        .map(|server| (&*server.name, server.transport.kind()))
        .collect();
    let expected = [
        ("files", "stdio"),
        ("bare", "stdio"),
        ("search", "http"),
        ("named", "http"),
        ("events", "sse"),
        ("coop", "carrier-pigeon"),
    ];
    assert_eq!(found, expected);
    let named = |name: &str, value: &str| {
        vec![NamedValue {
            name: name.to_owned(),
            value: value.to_owned(),
        }]
    };
    assert_eq!(
        servers[0].transport,
        McpTransport::Stdio {
            command: "files-mcp".to_owned(),
            args: vec!["--root".to_owned(), ".".to_owned()],
            env: named("TOKEN", "s3cret"),
        }
    );
    assert_eq!(
        servers[2].transport,
        McpTransport::Http {
            url: "https://search.example/mcp".to_owned(),
            headers: named("Authorization", "Bearer s3cret"),
        }
    );
    assert!(!format!("{servers:?}").contains("s3cret"));
    assert_eq!(HTTP.check(&servers[..4]), Ok(()));
    let vs_code = McpServers::of_config(&config.replace("mcpServers", "servers"));
    assert_eq!(vs_code.unwrap().mcp_servers, servers);

    for (config, pointer, expected) in [
        (
            "{}",
            "",
            "expected `mcpServers`, or `servers` as in VS Code, found no keys",
        ),
        (
            r#"{ "context_servers": {}, "theme": "dark" }"#,
            "",
            "found `context_servers`, `theme`",
        ),
        (
            r#"{ "a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1, "i": 1 }"#,
            "",
            "`g`, `h`, …",
        ),
        (
            "{\n  // mine\n  \"mcpServers\": {}\n}",
            "",
            "not JSON: key must be a string at line 2 column 3; JSON has no comments: remove them",
        ),
        (
            "{\n  \"mcpServers\": {} /* mine */\n}",
            "",
            "at line 2 column 20; JSON has no comments: remove them",
        ),
        (
            r#"{ "servers": { "a": { "comand": "c", "cwd": "/" } } }"#,
            "/servers/a/command",
            "which a server of this kind needs; the entry has the unknown keys `comand`, `cwd`; known keys are `name`, `type`, \
             `command`, `args`, `env`, `url`, `headers`",
        ),
        (
            r#"{ "mcpServers": null }"#,
            "/mcpServers",
            "expected an object",
        ),
        (
            r#"{ "mcpServers": [] }"#,
            "/mcpServers",
            "expected an object",
        ),
        (
            r#"{ "mcpServers": { "a/b": { "args": [] } } }"#,
            "/mcpServers/a~1b/command",
            "expected a value, which a server of this kind needs",
        ),
        (
            r#"{ "mcpServers": { "a": { "command": "c", "env": ["A=b"] } } }"#,
            "/mcpServers/a/env",
            "expected an object",
        ),
        (
            r#"{ "mcpServers": { "a": { "command": "c", "env": { "A": 7 } } } }"#,
            "/mcpServers/a/env/A",
            "expected a string",
        ),
    ] {
        let error = McpServers::of_config(config).unwrap_err();
        assert_eq!(error.pointer(), pointer, "{config}: {error}");
        assert!(error.message().contains(expected), "{config}: {error}");
    }
}
