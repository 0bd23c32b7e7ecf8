//! Servers that cannot be started or connected to, and those that can in the end.

use std::time::{Duration, Instant};

use serde_json::json;
use trueform::{
    acp::{McpServers, McpTransports},
    client::{Client, ClientError, ClientOptions, LocalError, Negotiation, ServerCommand},
    prelude::*,
};

use crate::{
    servers::BEHAVIOUR,
    support::{
        GONE, assert_says, connected, exists, failure, log, process_id, runs, server, until,
    },
};

// The text names what, where, and what to try.
pub(crate) async fn commands_that_cannot_be_started() {
    let folder = std::env::temp_dir().join(format!("trueform-child-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, text: &str, mode: u32| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&path, mode).unwrap();
        path
    };
    let plain = file("plain", "#!/bin/sh\n", 0o644);
    let other = file("other", "#!/no/such/interpreter\n", 0o755);
    let rows = [
        (
            ServerCommand::new("no-such-mcp-server"),
            vec!["`no-such-mcp-server`", "`PATH`", "install it"],
        ),
        (
            ServerCommand::new("/no/such/server"),
            vec!["`/no/such/server` cannot be started: there is no such file; check the path"],
        ),
        (
            ServerCommand::new("no/such/server"),
            vec!["`no/such/server`", "there is no such file", "absolute"],
        ),
        (
            ServerCommand::new("/no/such/server --verbose"),
            vec!["`/no/such/server --verbose`", "`ServerCommand::arg`"],
        ),
        (
            ServerCommand::new("no-such-server --verbose"),
            vec!["`no-such-server --verbose`", "`ServerCommand::arg`"],
        ),
        (
            ServerCommand::new(&plain),
            vec!["/plain`", "ermission denied", "chmod +x"],
        ),
        (
            ServerCommand::new(&folder),
            vec!["ermission denied", "check that it is a file"],
        ),
        (
            ServerCommand::new(&other),
            vec!["/other`", "interpreter", "does not; install it"],
        ),
        (
            server("serves").current_dir("/no/such/folder"),
            vec!["working directory `/no/such/folder`", "current_dir"],
        ),
    ];
    for (command, parts) in rows {
        let error = Client::spawn(&command, ClientOptions::new())
            .await
            .unwrap_err();
        assert_says(&error.to_string(), &parts);
        assert!(
            matches!(error, ClientError::Local(LocalError::Spawn(_))),
            "{error:?}"
        );
        assert!(std::error::Error::source(&error).is_some());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

// D-6: one bounded try more, and what to set.
pub(crate) async fn servers_that_cannot_be_connected_to() {
    let short = || {
        ClientOptions::new()
            .probe_timeout(Duration::from_millis(300))
            .timeout(Duration::from_millis(1500))
            .max_message(1 << 16)
    };
    let hint = "start the command by hand";
    let rows: [(&str, ClientOptions, &[&str]); 4] = [
        (
            "exits",
            ClientOptions::new(),
            &[
                "exited before the client was connected (exit status: 3)",
                r"its standard error ends with: no key\nset MY_KEY",
                hint,
            ],
        ),
        (
            "never answers",
            short(),
            &[
                "no answer to `server/discover` within 300ms (`probe_timeout`), nor to `initialize` within 1.5s (`timeout`)",
                "`Negotiation::Offer(Revision::V2025_11_25)`",
                "1 of the lines on its standard output were not MCP messages",
                "its standard error ends with: thinking",
                hint,
            ],
        ),
        (
            "never answers",
            short().negotiation(Negotiation::Exactly(Revision::V2025_06_18)),
            &[
                "no answer to `initialize` within 1.5s (`timeout`); if the server is slow to start, raise",
            ],
        ),
        (
            "endless line",
            short(),
            &[
                "no answer to",
                "it wrote a line longer than the client's `max_message`",
                "it wrote nothing to standard error",
            ],
        ),
    ];
    for (behaviour, options, parts) in rows {
        let begun = Instant::now();
        let error = Client::spawn(&server(behaviour), options)
            .await
            .unwrap_err();
        assert_says(&error.to_string(), parts);
        let failure = failure(error);
        let pid = i32::try_from(failure.pid().unwrap()).unwrap();
        until("the end of the process", || !exists(pid)).await;
        assert!(begun.elapsed() < GONE, "{behaviour}");
    }
}

pub(crate) async fn what_a_command_sets() {
    let command = server("serves")
        .arg("one two")
        .args(["$HOME", "*"])
        .env("MINE", "1")
        .env("REMOVED", "1")
        .env_remove("REMOVED")
        .current_dir("/");
    let client = Client::spawn(&command, ClientOptions::new()).await.unwrap();
    let told = client.call_tool("surroundings", ()).await.unwrap();
    assert_eq!(told.text(), "/\none two\n$HOME\n*\n1\n");
    client.close().await;

    let bare = server("serves")
        .env("MINE", "1")
        .env_clear()
        .env(BEHAVIOUR, "serves");
    let client = Client::spawn(&bare, ClientOptions::new()).await.unwrap();
    let told = client.call_tool("surroundings", ()).await.unwrap();
    assert!(told.text().ends_with("\n\n"), "{}", told.text());
    client.close().await;
    let shown = format!("{:?}", server("serves").arg("secret").env("A", "secret"));
    assert!(!shown.contains("secret"), "{shown}");
}

// GAP: noise is skipped, counted and logged without what is in it.
pub(crate) async fn a_banner_is_skipped_and_counted() {
    log().clear();
    let client = connected("prints a banner", ClientOptions::new()).await;
    assert_eq!(client.revision(), Revision::V2025_11_25);
    assert_eq!(client.call_tool("any", ()).await.unwrap().text(), "called");
    // Two lines that are not empty, and one before each of four messages.
    assert_eq!(client.skipped_lines(), 6);
    client.close().await;
    let log = log().clone();
    assert!(
        log.contains("WARN the server sent something malformed"),
        "{log}"
    );
    assert!(log.contains("DEBUG this was refused"), "{log}");
    assert!(!log.contains("secret-banner"), "{log}");
}

// D-6
pub(crate) async fn a_server_that_dies_of_the_probe_is_started_again() {
    log().clear();
    let client = connected("dies on discover", ClientOptions::new()).await;
    assert_eq!(client.revision(), Revision::V2025_11_25);
    assert_eq!(client.call_tool("any", ()).await.unwrap().text(), "called");
    client.close().await;
    assert!(log().contains("(exit status: 7)"), "{}", log());

    // Not if the caller chose.
    let options = ClientOptions::at(Revision::V2026_07_28);
    let error = Client::spawn(&server("dies on discover"), options).await;
    let failure = failure(error.unwrap_err());
    assert_eq!(failure.exit_status().unwrap().code(), Some(7));
    assert_says(&failure.to_string(), &[r#"what is "server/discover"?"#]);
}

// D-10
pub(crate) async fn what_was_found_out_spares_the_probe() {
    let client = connected("dies on discover", ClientOptions::new()).await;
    let profile = client.profile();
    client.close().await;
    log().clear();
    let client = connected(
        "dies on discover",
        ClientOptions::new().profile(profile.clone()),
    )
    .await;
    assert_eq!(client.profile(), profile);
    client.close().await;
    assert!(!log().contains("started again"), "{}", log());
}

// A server as a session names it, checked before it is started.
pub(crate) async fn a_server_of_a_session_is_started() {
    let program = std::env::current_exe().unwrap();
    let params = json!({ "cwd": "/", "mcpServers": [
        { "name": "mine", "command": program, "args": ["unused"], "env": [{ "name": BEHAVIOUR, "value": "serves" }] },
        { "type": "http", "name": "far", "url": "http://127.0.0.1:9/mcp", "headers": [] },
    ] });
    let session = McpServers::of_session(&params.to_string()).unwrap();
    let declared = McpTransports::STDIO_ONLY;
    let [mine, far] = &session.mcp_servers[..] else {
        panic!("{session:?}");
    };
    let client = Client::connect_entry(mine, declared, ClientOptions::new())
        .await
        .unwrap();
    assert!(runs(process_id(&client).await));
    client.close().await;
    let error = Client::connect_entry(far, declared, ClientOptions::new()).await;
    assert_says(
        &error.unwrap_err().to_string(),
        &["the MCP server `far` needs the transport `http`, which is not declared"],
    );
}
