//! The program, as clients start it.

use std::process::Stdio;

use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::{Child, Command},
};
use trueform::{
    client::ClientOptions,
    prelude::*,
    testing::{Checker, Recorder},
};

use crate::support::{REVISIONS, Shop};

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqlite_explorer"));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env_remove("TRUEFORM_HTTP")
        .kill_on_drop(true);
    command
}

async fn connect(child: &mut Child, recorder: &Recorder, revision: Revision) -> Client {
    let (stdout, stdin) = (
        child.stdout.take().expect("piped"),
        child.stdin.take().expect("piped"),
    );
    let (reader, writer) = recorder.around_client(stdout, stdin);
    let client = Client::over(reader, writer, ClientOptions::at(revision)).await;
    client.expect("it connects")
}

#[tokio::test]
async fn a_session() {
    let shop = Shop::new();
    for revision in REVISIONS {
        for (option, says) in [
            (
                None,
                "reading only; who runs the server can start it with `--write`",
            ),
            (Some("--write"), "elicitation"),
        ] {
            let mut child = program()
                .arg(shop.file())
                .args(option)
                .spawn()
                .expect("it starts");
            let recorder = Recorder::new();
            let client = connect(&mut child, &recorder, revision).await;
            let tools = client.list_tools().await.expect("tools");
            let found: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
            assert_eq!(found, ["query", "execute", "schema"]);
            // This client declares no user who could be asked.
            let sql = "DELETE FROM customers";
            let failure = match client.call_tool("execute", json!({ "sql": sql })).await {
                Ok(result) if result.is_error == Some(true) => result.text(),
                Ok(result) => panic!("{result:?}"),
                Err(error) => error.to_string(),
            };
            assert!(failure.contains(says), "{option:?}: {failure}");
            let arguments =
                json!({ "sql": "SELECT name FROM customers WHERE id = ?", "parameters": [2] });
            let result = client
                .call_tool("query", arguments)
                .await
                .expect("a result");
            let content = result.structured_content.expect("structured content");
            assert_eq!(content.to_value()["rows"], json!([["Bob"]]));
            client
                .read_resource("sqlite://tables/orders")
                .await
                .expect("a table");
            client.close().await;
            let ended = child.wait_with_output().await.expect("it ends");
            assert!(ended.status.success(), "{ended:?}");
            let findings = Checker::new().check(&recorder.transcript());
            assert_eq!(findings.expect("a transcript"), []);
        }
    }
}

#[tokio::test]
async fn over_http() {
    let shop = Shop::new();
    let mut child = program()
        .arg(shop.file())
        .args(["--http", "127.0.0.1:0"])
        .spawn()
        .expect("it starts");
    let mut log = BufReader::new(child.stderr.take().expect("piped")).lines();
    let address = loop {
        let line = log.next_line().await.expect("a log").expect("an address");
        if let Some((_, url)) = line.split_once("http://") {
            break url.trim_end_matches("/mcp").to_owned();
        }
    };
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "resources/read",
        "params": { "uri": "sqlite://schema", "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        } },
    })
    .to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\n\
         Mcp-Name: sqlite://schema\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(&address).await.expect("it listens");
    stream
        .write_all(request.as_bytes())
        .await
        .expect("it reads");
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .await
        .expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("CREATE TABLE customers"), "{answer}");
}

#[tokio::test]
async fn what_keeps_it_from_starting() {
    let shop = Shop::new();
    let text = shop.file().with_file_name("notes.txt");
    std::fs::write(&text, "These are notes, and no database.").expect("a file");
    for (file, says) in [
        (
            shop.file().with_file_name("gone.db"),
            "unable to open database file",
        ),
        (text, "file is not a database"),
    ] {
        let child = program().arg(&file).spawn().expect("it starts");
        let ended = child.wait_with_output().await.expect("it ends");
        assert!(!ended.status.success());
        let error = String::from_utf8(ended.stderr).expect("UTF-8");
        assert!(error.contains(says), "{error}");
        assert!(!file.with_file_name("gone.db").exists());
    }
}
