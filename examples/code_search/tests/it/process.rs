//! The executable: over standard input and output, over HTTP, and its refusals.

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::json;
use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::timeout,
};
use trueform::{Client, client::ClientOptions};

use crate::support::{lines, project, refused, search};

const LIMIT: Duration = Duration::from_secs(20);

fn command(executable: &Path) -> Command {
    let mut command = Command::new(executable);
    command
        .env_remove("TRUEFORM_HTTP")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

fn code_search() -> Command {
    command(Path::new(env!("CARGO_BIN_EXE_code_search")))
}

/// A client of the server that `command` starts.
async fn client(mut command: Command) -> (Client, Child) {
    let mut child = command.spawn().unwrap();
    let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = Client::over(streams.0, streams.1, ClientOptions::new()).await;
    (client.unwrap(), child)
}

/// Closes the client; the server ends without an error.
async fn close(client: Client, mut child: Child) {
    client.close().await;
    let status = timeout(LIMIT, child.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
}

fn at(folder: &TempDir) -> Command {
    let mut command = code_search();
    command.arg(folder.path());
    command
}

#[tokio::test]
async fn over_standard_input_and_output() {
    let project = project();
    let (client, child) = client(at(&project)).await;
    let info = client.server_info().unwrap();
    assert_eq!(
        (&*info.name, info.title.as_deref()),
        ("code-search", Some("Code search"))
    );
    assert_eq!(client.list_tools().await.unwrap()[0].name, "search");
    let page = search(&client, json!({"pattern": r"fn needle\b"})).await;
    assert_eq!(lines(&page), ["src/lib.rs:3: pub fn needle() {}"]);
    client.read_resource("code://src/lib.rs").await.unwrap();
    close(client, child).await;
}

#[tokio::test]
async fn refuses_to_start() {
    let project = project();
    let file = project.path().join("README.md");
    let missing = project.path().join("missing");
    let folder = project.path().to_str().unwrap();
    for (arguments, says) in [
        (vec![], "usage: code_search FOLDER".to_owned()),
        (vec!["--http"], "usage: code_search FOLDER".to_owned()),
        (
            vec![missing.to_str().unwrap()],
            format!("cannot search `{}`: ", missing.display()),
        ),
        (
            vec![file.to_str().unwrap()],
            format!("cannot search `{}`: ", file.display()),
        ),
        (
            vec![folder, "--port"],
            "unknown arguments `--port`".to_owned(),
        ),
        (
            vec![folder, "--http", "nowhere"],
            "`nowhere` is not an address".to_owned(),
        ),
    ] {
        let output = code_search().args(&arguments).output();
        let output = timeout(LIMIT, output).await.unwrap().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
        assert!(error.contains(&says), "{arguments:?}: {error}");
        assert_eq!(output.stdout, b"", "{arguments:?}");
    }
}

/// What the file system does not let the server read is named, and does not end a search. Root may read everything, so
/// where the test runs as root the server runs as the user `nobody`.
#[cfg(unix)]
#[tokio::test]
async fn unreadable_files_and_folders() {
    use std::{
        fs,
        os::unix::fs::{MetadataExt, PermissionsExt},
    };

    let project = project();
    let mode =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let copy = project.path().join("code_search.png");
    fs::copy(env!("CARGO_BIN_EXE_code_search"), &copy).unwrap();
    mode(project.path(), 0o755);
    mode(&copy, 0o755);
    mode(&project.path().join("README.md"), 0o000);
    mode(&project.path().join("src/hay"), 0o000);

    let mut command = command(&copy);
    if fs::metadata(project.path()).unwrap().uid() == 0 {
        command.uid(65534).gid(65534);
    }
    command.arg(project.path());
    let (client, child) = client(command).await;
    let page = search(&client, json!({"pattern": "needle"})).await;
    assert_eq!(lines(&page), ["src/lib.rs:3: pub fn needle() {}"]);
    // The file, the folder, the picture, and the server itself, which is too large.
    assert_eq!(page["skipped"], 4);
    let (code, message) = refused(client.read_resource("code://README.md").await);
    assert_eq!(code, -32603);
    assert!(
        message.starts_with("`README.md` cannot be read: Permission denied"),
        "{message}"
    );
    close(client, child).await;
    mode(&project.path().join("src/hay"), 0o755);
}
