//! Folders as resources.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use trueform::{
    client::ClientOptions,
    prelude::*,
    resource::{Caching, Folder},
    schema::{CompletionReference, ResourceTemplateReference},
};

/// A folder that is removed at the end.
pub(crate) struct Made(PathBuf);

impl Made {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("docs")).unwrap();
        Self(path)
    }

    pub(crate) fn docs(&self) -> PathBuf {
        self.0.join("docs")
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn connected(folder: Folder, revision: Revision) -> Client {
    let server = Server::new("docs", "1").resources(folder);
    let options = ClientOptions::at(revision);
    server.connect_as(options).await.unwrap()
}

async fn read(client: &Client, uri: &str) -> Result<Value, (i64, Value, String)> {
    match client.read_resource(uri).await {
        Ok(read) => Ok(serde_json::to_value(&read.contents[0]).unwrap()),
        Err(error) => {
            let error = error.remote().expect("the server refuses").clone();
            let data = error.data.map(|data| data.to_value()).unwrap_or_default();
            Err((error.code, data["uri"].clone(), error.message.clone()))
        }
    }
}

// J-5
#[tokio::test]
async fn files_are_listed_and_read() {
    let made = Made::new("folder-read");
    made.write("docs/guide/start here.md", "# Start");
    made.write("docs/é.txt", "text");
    made.write("docs/data.json", "{}");
    made.write("docs/logo.PNG", b"\x89PNG");
    made.write("docs/broken.txt", b"\xff");
    made.write("docs/program", b"\0\x01");
    made.write("docs/LICENSE", "free");
    made.write("docs/.secret", "hidden");
    made.write("docs/.git/config", "hidden");
    made.write("docs/a.tmp", "ignored");
    made.write("docs/drafts/x/notes.md", "ignored");
    made.write("docs/drafts/x/other.md", "draft");
    let folder = || {
        Folder::new(made.docs())
            .ignore("*.tmp")
            .ignore("drafts/*/notes.md")
    };
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let client = connected(folder(), revision).await;
        let listed = client.list_resources().await.unwrap();
        let listed: Vec<_> = listed
            .iter()
            .map(|one| (&*one.uri, &*one.name, one.mime_type.as_deref(), one.size))
            .collect();
        assert_eq!(
            listed,
            [
                ("file:///docs/LICENSE", "LICENSE", None, Some(4)),
                (
                    "file:///docs/broken.txt",
                    "broken.txt",
                    Some("text/plain"),
                    Some(1)
                ),
                (
                    "file:///docs/data.json",
                    "data.json",
                    Some("application/json"),
                    Some(2)
                ),
                (
                    "file:///docs/drafts/x/other.md",
                    "drafts/x/other.md",
                    Some("text/markdown"),
                    Some(5)
                ),
                (
                    "file:///docs/guide/start%20here.md",
                    "guide/start here.md",
                    Some("text/markdown"),
                    Some(7)
                ),
                (
                    "file:///docs/logo.PNG",
                    "logo.PNG",
                    Some("image/png"),
                    Some(4)
                ),
                ("file:///docs/program", "program", None, Some(2)),
                (
                    "file:///docs/%C3%A9.txt",
                    "é.txt",
                    Some("text/plain"),
                    Some(4)
                ),
            ]
        );
        let templates = client.list_resource_templates().await.unwrap();
        assert_eq!(templates[0].uri_template, "file:///docs/{+path}");
        for (uri, mime_type, text, blob) in [
            ("LICENSE", "text/plain", Some("free"), None),
            ("broken.txt", "text/plain", None, Some("/w==")),
            ("data.json", "application/json", Some("{}"), None),
            (
                "guide/start%20here.md",
                "text/markdown",
                Some("# Start"),
                None,
            ),
            ("logo.PNG", "image/png", None, Some("iVBORw==")),
            ("program", "application/octet-stream", None, Some("AAE=")),
            ("%C3%A9.txt", "text/plain", Some("text"), None),
            // By way of the template: another spelling of the same path.
            ("%64ata.json", "application/json", Some("{}"), None),
        ] {
            let uri = format!("file:///docs/{uri}");
            let found = read(&client, &uri).await.unwrap();
            let mut expected = json!({"uri": uri, "mimeType": mime_type});
            if let Some(text) = text {
                expected["text"] = json!(text);
            }
            if let Some(blob) = blob {
                expected["blob"] = json!(blob);
            }
            assert_eq!(found, expected);
        }
        let reference = ResourceTemplateReference::new("file:///docs/{+path}");
        let found = client
            .complete(CompletionReference::from(reference), "path", "d")
            .await
            .unwrap();
        assert_eq!(found.values, ["data.json", "drafts/x/other.md"]);
    }
}

// J-2, J-3, J-6
#[tokio::test]
async fn what_is_not_sent() {
    let made = Made::new("folder-refused");
    made.write("docs/a.txt", "a");
    made.write("docs/sub/b.txt", "b");
    made.write("docs/.secret", "hidden");
    made.write("docs/.git/config", "hidden");
    made.write("docs/large.txt", vec![b'x'; 101]);
    made.write("docs/x.tmp", "ignored");
    made.write("secret.txt", "outside");
    #[cfg(unix)]
    {
        let link =
            |to: &str, at: &str| std::os::unix::fs::symlink(to, made.docs().join(at)).unwrap();
        link("../secret.txt", "out.txt");
        link("..", "up");
        link("loop-b", "loop-a");
        link("loop-a", "loop-b");
        link(".", "self");
        link(".secret", "unhidden.txt");
        link("a.txt", "link.txt");
        link("sub", "link");
        link("missing", "dangling");
    }
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let not_found = match revision {
            Revision::V2026_07_28 => -32602,
            _ => -32002,
        };
        let folder = Folder::new(made.docs())
            .base_uri("docs:/")
            .ignore("*.tmp")
            .max_file_size(100)
            .caching(Caching::default());
        let client = connected(folder, revision).await;
        let listed = client.list_resources().await.unwrap();
        let listed: Vec<_> = listed.iter().map(|one| &*one.name).collect();
        let expected: &[&str] = match cfg!(unix) {
            true => &["a.txt", "large.txt", "link.txt", "sub/b.txt"],
            false => &["a.txt", "large.txt", "sub/b.txt"],
        };
        assert_eq!(listed, expected);
        if cfg!(unix) {
            for (uri, text) in [
                ("docs:/link.txt", "a"),
                ("docs:/link/b.txt", "b"),
                ("docs:/self/self/a.txt", "a"),
            ] {
                assert_eq!(read(&client, uri).await.unwrap()["text"], text, "{uri}");
            }
        }
        for uri in [
            "docs:/missing.txt",
            "docs:/sub",
            "docs:/sub//b.txt",
            "docs:/a.txt/b.txt",
            "docs:/.secret",
            "docs:/.git/config",
            "docs:/x.tmp",
            "docs:/out.txt",
            "docs:/up/secret.txt",
            "docs:/up/docs/a.tmp",
            "docs:/loop-a",
            "docs:/loop-a/a.txt",
            "docs:/unhidden.txt",
            "docs:/self/.secret",
            "docs:/dangling",
        ] {
            let (code, at, message) = read(&client, uri).await.unwrap_err();
            assert_eq!((code, at), (not_found, json!(uri)), "{message}");
        }
        for uri in [
            "docs:/../secret.txt",
            "docs:/sub/..%2F..%2Fsecret.txt",
            "docs://etc/passwd",
        ] {
            let (code, _, message) = read(&client, uri).await.unwrap_err();
            assert_eq!(code, -32602, "{message}");
            assert!(message.contains("could leave its folder"), "{message}");
        }
        let (code, _, message) = read(&client, "docs:/large.txt").await.unwrap_err();
        assert_eq!(code, -32603);
        assert!(message.contains("larger than the 100 bytes"), "{message}");

        // What comes later is read, what is gone is not, and other reads go on.
        made.write("docs/later.txt", "later");
        let later = read(&client, "docs:/later.txt").await.unwrap();
        assert_eq!(later["text"], "later");
        made.write("docs/a.txt", "changed");
        let changed = read(&client, "docs:/a.txt").await.unwrap();
        assert_eq!(changed["text"], "changed");
        fs::remove_file(made.docs().join("a.txt")).unwrap();
        let (code, at, _) = read(&client, "docs:/a.txt").await.unwrap_err();
        assert_eq!((code, at), (not_found, json!("docs:/a.txt")));
        assert!(read(&client, "docs:/sub/b.txt").await.is_ok());
        fs::remove_file(made.docs().join("later.txt")).unwrap();
        made.write("docs/a.txt", "a");
    }
}

#[tokio::test]
async fn bounds_and_mistakes() {
    let made = Made::new("folder-bounds");
    for at in 0..5 {
        made.write(&format!("docs/{at}.txt"), "x");
    }
    let folder = Folder::new(made.docs()).max_listed(3);
    let client = connected(folder, Revision::V2026_07_28).await;
    assert_eq!(client.list_resources().await.unwrap().len(), 3);
    assert!(read(&client, "file:///docs/4.txt").await.is_ok());
    made.write("docs/.shown", "x");
    let folder = Folder::new(made.docs()).hidden(true);
    let client = connected(folder, Revision::V2026_07_28).await;
    assert!(read(&client, "file:///docs/.shown").await.is_ok());
    for path in ["missing", "docs/0.txt"] {
        let folder = Folder::new(made.0.join(path));
        let problem = Server::new("t", "1").resources(folder).build().unwrap_err();
        let problem = problem.to_string();
        assert!(problem.contains("cannot be served"), "{problem}");
        assert!(problem.contains("(the folder at "), "{problem}");
    }
}

// J-5: a folder that is nested too deep to be listed does not keep what stands beside it from the list.
#[tokio::test]
async fn nested_too_deep() {
    let made = Made::new("folder-deep");
    made.write(&format!("docs/a/{}x.txt", "d/".repeat(40)), "deep");
    made.write(&format!("docs/a/{}y.txt", "d/".repeat(31)), "listed");
    made.write("docs/z.txt", "beside");
    let client = connected(Folder::new(made.docs()), Revision::V2026_07_28).await;
    let listed = client.list_resources().await.unwrap();
    let names: Vec<_> = listed.iter().map(|one| &*one.name).collect();
    let deepest = format!("a/{}y.txt", "d/".repeat(31));
    assert_eq!(names, [&*deepest, "z.txt"]);
    let deep = format!("file:///docs/a/{}x.txt", "d/".repeat(40));
    assert!(read(&client, &deep).await.is_ok());
}

// J-6, I-2: what a caller does not see, or what is disabled, is not reached through the folder's template either, however its
// URI is encoded, and is not suggested.
#[tokio::test]
async fn hidden_files_have_no_other_name() {
    let made = Made::new("folder-hidden");
    for name in ["open.md", "secret.md", "a,b secret.md"] {
        made.write(&format!("docs/{name}"), name);
    }
    let server = || Server::new("docs", "1").resources(Folder::new(made.docs()));
    let limited = server().visible(|_, offer| !offer.name().contains("secret"));
    let (limited, disabling) = (limited.build().unwrap(), server().build().unwrap());
    for uri in ["file:///docs/secret.md", "file:///docs/a%2Cb%20secret.md"] {
        assert!(disabling.handle().enable_resource(uri, false));
    }
    for service in [limited, disabling] {
        let client = service.connect().await.unwrap();
        for uri in [
            "file:///docs/secret.md",
            "file:///docs/%73ecret.md",
            "file:///docs/secret%2emd",
            "file:///docs/a%2Cb%20secret.md",
            "file:///docs/a,b%20secret.md",
            "file:///docs/%61%2cb%20secret.md",
        ] {
            let (code, at, message) = read(&client, uri).await.unwrap_err();
            assert_eq!((code, at), (-32602, json!(uri)), "{message}");
        }
        for uri in ["file:///docs/open.md", "file:///docs/%6fpen.md"] {
            assert_eq!(read(&client, uri).await.unwrap()["text"], "open.md");
        }
        let template = ResourceTemplateReference::new("file:///docs/{+path}");
        let reference = CompletionReference::ResourceTemplate(template);
        let suggested = client.complete(reference, "path", "").await.unwrap();
        assert_eq!(suggested.values, ["open.md"]);
        assert_eq!(suggested.total, Some(1));
    }
}

// Y-6: the time that patterns take follows the length of a path, not its depth too.
#[tokio::test]
async fn deep_paths() {
    let made = Made::new("folder-deep");
    let folder = Folder::new(made.docs()).ignore("drafts/*/notes");
    let client = connected(folder, Revision::V2026_07_28).await;
    let deep = format!("file:///docs/{}x", "a/".repeat(20_000));
    let within = std::time::Duration::from_secs(20);
    let refused = tokio::time::timeout(within, read(&client, &deep)).await;
    let (code, _, message) = refused.expect("in time").unwrap_err();
    assert_eq!(code, -32602, "{message}");
}

// A pattern that can match nothing would leave open what it was meant to hide.
#[test]
fn patterns_that_hide_nothing() {
    let made = Made::new("folder-patterns");
    for pattern in ["", "/drafts", "drafts/", "./drafts", "a//b", "a/../b", "."] {
        let folder = Folder::new(made.docs()).ignore(pattern);
        let problem = Server::new("t", "1").resources(folder).build().unwrap_err();
        let problem = problem.to_string();
        let expected = format!("the pattern `{pattern}` hides nothing");
        assert!(problem.contains(&expected), "{problem}");
    }
}

// J-6: what code that serves a folder in its own way can reach.
#[cfg(unix)]
#[test]
fn files_for_code_of_its_own() {
    use std::{io::ErrorKind, os::unix::fs::symlink};
    let made = Made::new("folder-files");
    made.write("docs/b/deep/c.md", "c");
    made.write("docs/a.md", "within");
    made.write("docs/.secret", "hidden");
    made.write("docs/x.tmp", "ignored");
    made.write("docs/big", "12345");
    made.write("outside/secret", "secret");
    symlink(made.0.join("outside/secret"), made.docs().join("out")).unwrap();
    symlink(made.0.join("outside"), made.docs().join("away")).unwrap();
    symlink("a.md", made.docs().join("again.md")).unwrap();
    symlink("b", made.docs().join("folder")).unwrap();
    let folder = Folder::new(made.docs()).ignore("*.tmp");
    let files = folder.max_file_size(4).open().unwrap();
    assert_eq!(files.path(), fs::canonicalize(made.docs()).unwrap());
    let names = |below: &str| -> Vec<String> {
        let entries = files.entries(below).unwrap();
        entries
            .iter()
            .map(|entry| format!("{} {}", entry.path(), entry.is_folder()))
            .collect()
    };
    assert_eq!(
        names(""),
        ["a.md false", "again.md false", "b true", "big false"]
    );
    assert_eq!(names("b"), ["b/deep true"]);
    assert_eq!(names("b/deep"), ["b/deep/c.md false"]);
    let entry = files.entry("b/deep/c.md").unwrap();
    assert_eq!((entry.name(), entry.metadata().len()), ("c.md", 1));
    assert_eq!(files.read("b/deep/c.md").unwrap(), b"c");
    for (path, expected) in [
        (".secret", ErrorKind::NotFound),
        ("x.tmp", ErrorKind::NotFound),
        ("out", ErrorKind::NotFound),
        ("away/secret", ErrorKind::NotFound),
        // It can be reached by its own path; by another one it would be found twice.
        ("folder/deep/c.md", ErrorKind::NotFound),
        ("../outside/secret", ErrorKind::NotFound),
        ("/a.md", ErrorKind::NotFound),
        ("", ErrorKind::NotFound),
        ("none", ErrorKind::NotFound),
        ("b", ErrorKind::IsADirectory),
    ] {
        assert_eq!(files.read(path).unwrap_err().kind(), expected, "{path}");
    }
    for (path, expected) in [
        ("a.md", ErrorKind::NotADirectory),
        ("folder", ErrorKind::NotFound),
        ("away", ErrorKind::NotFound),
        ("none", ErrorKind::NotFound),
        ("..", ErrorKind::NotFound),
    ] {
        assert_eq!(files.entries(path).unwrap_err().kind(), expected, "{path}");
    }
    for path in ["again.md", "big"] {
        let error = files.read(path).unwrap_err().to_string();
        assert_eq!(error, format!("`{path}` is larger than 4 bytes"));
    }

    for (folder, expected) in [
        (Folder::new(made.0.join("none")), "none` cannot be served"),
        (
            Folder::new(made.docs().join("a.md")),
            "a.md` cannot be served",
        ),
        (
            Folder::new(made.docs()).ignore("/a"),
            "the pattern `/a` hides nothing",
        ),
    ] {
        let error = folder.open().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

// J-6, K-2: a path that no file system has is not there, and is not compared with the patterns, which would take seconds.
#[tokio::test]
async fn paths_without_measure() {
    let made = Made::new("folder-long-paths");
    made.write("docs/a.txt", "text");
    let pattern = "*a".repeat(500);
    let path = "a".repeat(1 << 20);
    let client = connected(
        Folder::new(made.docs()).ignore(pattern),
        Revision::V2025_11_25,
    )
    .await;
    let begun = std::time::Instant::now();
    let (code, ..) = read(&client, &format!("file:///docs/{path}"))
        .await
        .unwrap_err();
    assert_eq!(code, -32002);
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    assert_eq!(
        read(&client, "file:///docs/a.txt").await.unwrap()["text"],
        "text"
    );
}
