//! Files as resources, the completion of their paths, and the prompt.

use serde_json::{Value, json};
use trueform::schema::{
    CompletionReference, ContentBlock, PromptReference, ResourceContents, ResourceTemplateReference,
};

use crate::support::{client, folder, project, refused};

fn value(contents: &ResourceContents) -> Value {
    serde_json::to_value(contents).unwrap()
}

#[tokio::test]
async fn files_are_read() {
    let project = project();
    let client = client(&project).await;
    let templates = client.list_resource_templates().await.unwrap();
    assert_eq!(templates[0].uri_template, "code://{+path}");
    assert_eq!(client.list_resources().await.unwrap().len(), 0);
    for (uri, expected) in [
        (
            "code://README.md",
            json!({"uri": "code://README.md", "mimeType": "text/markdown", "text": "# Hay\n\nNo needles here.\n"}),
        ),
        (
            "code://src/hay/stack%20of%20100%25.rs",
            json!({"uri": "code://src/hay/stack%20of%20100%25.rs", "mimeType": "text/x-rust", "text": "// café\n"}),
        ),
        (
            "code://logo.png",
            json!({"uri": "code://logo.png", "mimeType": "image/png", "blob": "iVBORw0KGgoAAG5lZWRsZQ=="}),
        ),
    ] {
        let result = client.read_resource(uri).await.unwrap();
        assert_eq!(
            result.contents.iter().map(value).collect::<Vec<_>>(),
            [expected]
        );
    }
}

#[tokio::test]
async fn what_is_not_shown_is_not_read() {
    let project = project();
    crate::support::write(project.path(), "large.txt", vec![b'x'; (1 << 20) + 1]);
    crate::support::write(project.path(), "largest.txt", vec![b'x'; 1 << 20]);
    let client = client(&project).await;
    for (uri, code, says) in [
        (
            "code://none.rs",
            -32602,
            "there is no file `none.rs`, or it is hidden or ignored",
        ),
        ("code://src", -32602, "there is no file `src`"),
        ("code://src/", -32602, "there is no file `src/`"),
        ("code://src//lib.rs", -32602, "there is no file"),
        // Hidden and ignored.
        ("code://.env", -32602, "there is no file `.env`"),
        (
            "code://src/trace.log",
            -32602,
            "there is no file `src/trace.log`",
        ),
        ("code://target/debug/needle.rs", -32602, "there is no file"),
        // Behind a link.
        ("code://etc/passwd", -32602, "there is no file `etc/passwd`"),
        ("code://src/env.rs", -32602, "there is no file `src/env.rs`"),
        // Out of the folder.
        ("code://../project/README.md", -32602, "path"),
        ("code://src/../README.md", -32602, "path"),
        ("code://%2e%2e/x", -32602, "path"),
        ("code:///etc/passwd", -32602, "path"),
        ("code://src%2Flib.rs", -32602, "path"),
        (
            "code://large.txt",
            -32603,
            "`large.txt` has more than 1048576 bytes",
        ),
        ("file:///etc/passwd", -32602, "unknown resource"),
    ] {
        let (found, message) = refused(client.read_resource(uri).await);
        assert_eq!(found, code, "{uri}: {message}");
        assert!(message.contains(says), "{uri}: {message}");
    }
    client.read_resource("code://largest.txt").await.unwrap();
    // A file that vanishes.
    client.read_resource("code://README.md").await.unwrap();
    std::fs::remove_file(project.path().join("README.md")).unwrap();
    assert_eq!(
        refused(client.read_resource("code://README.md").await).0,
        -32602
    );
}

#[tokio::test]
async fn paths_are_completed() {
    let project = project();
    let client = client(&project).await;
    let template = || CompletionReference::from(ResourceTemplateReference::new("code://{+path}"));
    let prompt = || CompletionReference::from(PromptReference::new("review"));
    for (typed, expected) in [
        (
            "",
            &[
                "README.md",
                "logo.png",
                "src/hay/mod.rs",
                "src/hay/stack of 100%.rs",
                "src/lib.rs",
            ][..],
        ),
        (
            "s",
            &["src/hay/mod.rs", "src/hay/stack of 100%.rs", "src/lib.rs"],
        ),
        ("src/l", &["src/lib.rs"]),
        ("src/hay", &["src/hay/mod.rs", "src/hay/stack of 100%.rs"]),
        ("src/hay/", &["src/hay/mod.rs", "src/hay/stack of 100%.rs"]),
        ("src/lib.rs", &["src/lib.rs"]),
        ("src/lib.rs/", &[]),
        ("target/", &[]),
        (".", &[]),
        ("../", &[]),
        ("/", &[]),
    ] {
        for reference in [template(), prompt()] {
            let found = client.complete(reference, "path", typed).await.unwrap();
            assert_eq!(found.values, expected, "{typed}");
            assert_eq!(found.has_more, Some(false), "{typed}");
        }
    }
    let found = client.complete(prompt(), "focus", "s").await.unwrap();
    assert_eq!(found.values, ["security", "speed"]);
}

#[tokio::test]
async fn at_most_a_hundred_paths_are_suggested() {
    for files in [100, 101] {
        let names: Vec<String> = (0..files).map(|number| format!("{number:03}")).collect();
        let files: Vec<_> = names.iter().map(|name| (&**name, "")).collect();
        let folder = folder(&files);
        let client = client(&folder).await;
        let template = ResourceTemplateReference::new("code://{+path}");
        let found = client.complete(template, "path", "").await.unwrap();
        assert_eq!(
            (&*found.values, found.has_more),
            (&names[..100], Some(names.len() == 101))
        );
    }
}

#[tokio::test]
async fn the_prompt_has_the_file() {
    let project = project();
    let client = client(&project).await;
    let listed = serde_json::to_value(&client.list_prompts().await.unwrap()[0]).unwrap();
    assert_eq!(
        listed["arguments"],
        json!([
            {"name": "path", "description": "The path of the file.", "required": true},
            {"name": "focus", "description": "What to look at above all.", "required": false},
        ])
    );
    let path = "src/hay/stack of 100%.rs";
    for (arguments, asks) in [
        (json!({"path": path}), false),
        (json!({"path": path, "focus": "speed"}), true),
    ] {
        let result = client.get_prompt("review", arguments).await.unwrap();
        let [task, file] = &result.messages[..] else {
            panic!("{result:?}");
        };
        let ContentBlock::Text(task) = &task.content else {
            panic!("{task:?}");
        };
        assert!(
            task.text.starts_with("Review `src/hay/stack of 100%.rs`."),
            "{}",
            task.text
        );
        assert_eq!(task.text.contains("Look at speed above all."), asks);
        let ContentBlock::EmbeddedResource(file) = &file.content else {
            panic!("{file:?}");
        };
        let ResourceContents::Text(text) = &file.resource else {
            panic!("{file:?}");
        };
        assert_eq!(
            (&*text.text, text.mime_type.as_deref()),
            ("// café\n", Some("text/x-rust"))
        );
        // The URI in it is that of the file.
        let read = client.read_resource(&*text.uri).await.unwrap();
        assert_eq!(read.contents, std::slice::from_ref(&file.resource));
    }
    let long = "é".repeat(500_000);
    for (path, says) in [
        ("none.rs", "there is no file `none.rs`"),
        (".env", "there is no file `.env`"),
        ("../x", "there is no file `../x`"),
        ("logo.png", "`logo.png` is not text"),
        (&long, "there is no file `ééé"),
    ] {
        // K-2: the path is what is wrong. A long one is not sent back whole.
        let (code, message) = refused(client.get_prompt("review", json!({"path": path})).await);
        assert_eq!(code, -32602, "{path:.9}");
        assert!(message.contains(says), "{path:.9}: {message:.999}");
        assert!(message.len() < 1000, "{} bytes", message.len());
    }
    let (code, message) = refused(client.get_prompt("review", ()).await);
    assert_eq!(code, -32602, "{message}");
}
