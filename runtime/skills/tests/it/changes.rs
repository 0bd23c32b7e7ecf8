//! Folders that change while they are served.

use std::fs;

use serde_json::{Value, json};
use trueform::schema::Revision;

use crate::support::{Made, all, connect, directory, get, list, read, text_of};

/// Digest and size of the file `uri` in an entry.
fn of_file<'a>(entry: &'a Value, uri: &str) -> Option<(&'a Value, &'a Value)> {
    let files = entry["skill"]["resources"].as_array().unwrap();
    let file = files.iter().find(|file| file["uri"] == uri)?;
    Some((&file["digest"], &file["size"]))
}

/// What a host needs that finds another digest than the one it was given.
#[tokio::test]
async fn a_changed_file_has_another_digest() {
    let made = Made::new("changes-digest");
    made.skill("a");
    let path = made.write("a/notes.md", "before");
    let client = connect(&made.service(), Revision::V2026_07_28).await;
    let (skill, file) = ("skill://a/SKILL.md", "skill://a/notes.md");
    let first = get(&client, skill).await.unwrap();
    // By `sha256sum`.
    let before = json!("sha256:6db7d803e74f1ffa7d8f5adc0bf95b3e15bf4c8373fffadf546227cc6c6742cb");
    let after = json!("sha256:b1b886ce5f5750a00ae3dd003702a16e4916e6830987e03094cbbf699cb0fae1");
    assert_eq!(of_file(&first, file), Some((&before, &json!(6))));

    // Of the same size, and written at once after the first look.
    fs::write(&path, "behind").unwrap();
    let second = get(&client, skill).await.unwrap();
    assert_eq!(of_file(&second, file), Some((&after, &json!(6))));
    assert_eq!(read(&client, file).await.unwrap()["text"], "behind");

    fs::remove_file(&path).unwrap();
    let third = get(&client, skill).await.unwrap();
    assert_eq!(of_file(&third, file), None);
    read(&client, file).await.unwrap_err();
    let found = directory(&client, "skill://a", None).await.unwrap();
    assert_eq!(all(&found, "resources", "uri"), [skill]);
}

/// A file that has not changed for long has its digest kept; a change of it is found all the same.
#[tokio::test]
async fn digests_that_are_kept_are_those_of_the_files() {
    let made = Made::new("changes-kept");
    made.skill("a");
    let path = made.write("a/notes.md", "before");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let age = |path: &std::path::Path| {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(long_ago).unwrap();
    };
    age(&path);
    let client = connect(&made.service(), Revision::V2026_07_28).await;
    let digest = async |client: &trueform::Client| {
        let entry = get(client, "skill://a/SKILL.md").await.unwrap();
        of_file(&entry, "skill://a/notes.md").unwrap().0.clone()
    };
    let first = digest(&client).await;
    assert_eq!(digest(&client).await, first);
    // Of the same size and age: only that it changed, and when, is another.
    fs::write(&path, "behind").unwrap();
    age(&path);
    assert_ne!(digest(&client).await, first);
}

#[tokio::test]
async fn what_comes_later_is_served_and_what_breaks_is_not() {
    let made = Made::new("changes-later");
    made.skill("a");
    let client = connect(&made.service(), Revision::V2026_07_28).await;
    made.skill("b");
    let listed = list(&client, None).await.unwrap();
    assert_eq!(
        all(&listed, "skills", "uri"),
        ["skill://a/SKILL.md", "skill://b/SKILL.md"]
    );
    read(&client, "skill://b/SKILL.md").await.unwrap();

    // It is left out, and the others go on.
    made.write("a/SKILL.md", "---\nname: [\n---\n");
    let listed = list(&client, None).await.unwrap();
    assert_eq!(all(&listed, "skills", "uri"), ["skill://b/SKILL.md"]);
    let error = get(&client, "skill://a/SKILL.md").await.unwrap_err();
    assert_eq!(error["code"], -32602, "{error}");
    assert_eq!(
        error["message"],
        "no skill is served at `skill://a/SKILL.md`"
    );
    // The file itself is there, and its folder too.
    read(&client, "skill://a/SKILL.md").await.unwrap();
    let found = directory(&client, "skill://a", None).await.unwrap();
    assert_eq!(all(&found, "resources", "name"), ["SKILL.md"]);

    made.write("a/SKILL.md", text_of("a"));
    let listed = list(&client, None).await.unwrap();
    assert_eq!(all(&listed, "skills", "uri").len(), 2);
    fs::remove_dir_all(made.skills().join("a")).unwrap();
    get(&client, "skill://a/SKILL.md").await.unwrap_err();
    read(&client, "skill://a/SKILL.md").await.unwrap_err();
}

// P-3: a cursor whose skill is gone.
#[tokio::test]
async fn a_cursor_lasts_as_long_as_its_skill() {
    let made = Made::new("changes-cursor");
    for name in ["a", "b", "c"] {
        made.skill(name);
    }
    let skills = trueform_skills::Skills::folder(made.skills()).page_size(1);
    let client = connect(&crate::support::serve(skills), Revision::V2026_07_28).await;
    let first = list(&client, None).await.unwrap();
    let cursor = first["nextCursor"].as_str().unwrap();
    // One more before it changes nothing.
    made.skill("aa");
    let second = list(&client, Some(cursor)).await.unwrap();
    assert_eq!(all(&second, "skills", "uri"), ["skill://b/SKILL.md"]);
    fs::remove_dir_all(made.skills().join("b")).unwrap();
    let error = list(&client, Some(cursor)).await.unwrap_err();
    assert_eq!(
        (&error["code"], &error["data"]["rule"]),
        (&json!(-32602), &json!("cursor"))
    );
}

/// A folder that goes away is the server's own fault, which the client is not shown.
#[tokio::test]
async fn a_folder_that_is_gone_is_an_internal_error() {
    let made = Made::new("changes-gone");
    made.skill("a");
    let client = connect(&made.service(), Revision::V2026_07_28).await;
    fs::remove_dir_all(made.skills()).unwrap();
    let error = list(&client, None).await.unwrap_err();
    assert_eq!(
        error,
        json!({ "code": -32603, "message": "the skills cannot be read" })
    );
    let error = get(&client, "skill://a/SKILL.md").await.unwrap_err();
    assert_eq!(error["code"], -32602);
}
