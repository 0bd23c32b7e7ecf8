//! Folders to search, and what clients get to see.

use std::{fmt::Debug, fs, path::Path};

use code_search::{Folder, server};
use serde_json::Value;
use tempfile::TempDir;
use trueform::{
    Client,
    client::ClientError,
    schema::{CallToolResult, ContentBlock},
};

/// A folder with `files`, as pairs of path and content.
pub(crate) fn folder<C: AsRef<[u8]>>(files: &[(&str, C)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        write(folder.path(), path, content);
    }
    folder
}

pub(crate) fn write(folder: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// A small project: code in two folders, a picture, and what nobody is shown.
pub(crate) fn project() -> TempDir {
    let folder = folder(&[
        (".gitignore", &b"/target\n*.log\n"[..]),
        (".env", b"SECRET=needle\n"),
        ("README.md", b"# Hay\n\nNo needles here.\n"),
        ("logo.png", b"\x89PNG\r\n\x1a\n\0\0needle"),
        ("src/lib.rs", b"pub mod hay;\n\npub fn needle() {}\r\n"),
        (
            "src/hay/mod.rs",
            b"// Needle?\nfn hay() { super::needle() }\n",
        ),
        ("src/hay/stack of 100%.rs", b"// caf\xc3\xa9\n"),
        ("src/trace.log", b"needle\n"),
        ("target/debug/needle.rs", b"needle\n"),
    ]);
    // Something outside, and links to it.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc", folder.path().join("etc")).unwrap();
        std::os::unix::fs::symlink("../.env", folder.path().join("src/env.rs")).unwrap();
    }
    folder
}

/// A client of a server of `folder`.
pub(crate) async fn client(folder: &TempDir) -> Client {
    let folder = Folder::open(folder.path()).unwrap();
    server(folder).connect().await.unwrap()
}

/// The structured result of `search`.
pub(crate) async fn search(client: &Client, query: Value) -> Value {
    let result = client.call_tool("search", query).await.unwrap();
    let text = only_text(&result);
    assert_eq!(result.is_error, None, "{text}");
    let structured = result.structured_content.unwrap().to_value();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), structured);
    structured
}

/// The matches of `page`, one line each.
pub(crate) fn lines(page: &Value) -> Vec<String> {
    let line = |found: &Value| {
        format!(
            "{}:{}: {}",
            found["path"].as_str().unwrap(),
            found["line"],
            found["text"].as_str().unwrap()
        )
    };
    page["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(line)
        .collect()
}

pub(crate) fn only_text(result: &CallToolResult) -> String {
    match &result.content[..] {
        [ContentBlock::Text(text)] => text.text.clone(),
        other => panic!("{other:?}"),
    }
}

/// The code and the message of the error that the server answered.
pub(crate) fn refused<T: Debug>(answer: Result<T, ClientError>) -> (i64, String) {
    let error = answer.unwrap_err();
    let Some(error) = error.remote() else {
        panic!("the server did not refuse: {error}");
    };
    (error.code, error.message.clone())
}
