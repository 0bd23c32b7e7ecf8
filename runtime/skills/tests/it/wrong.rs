//! Folders that cannot be served, requests that cannot be answered, and clients that ask for too much.

use std::fs;

use serde_json::json;
use trueform::{Server, schema::Revision};
use trueform_skills::Skills;

use crate::support::{HAVING, Made, all, connect, directory, get, list, read, text_of};

/// What `Server::build` reports of the folder.
fn problems(made: &Made) -> Vec<String> {
    let server = Server::new("t", "1").with(Skills::folder(made.skills()));
    match server.build() {
        Ok(_) => Vec::new(),
        Err(error) => error.problems().to_vec(),
    }
}

// The file, the line and the problem.
#[test]
fn front_matter_that_is_not_right_is_a_start_error() {
    let made = Made::new("wrong-front");
    for (text, expected) in [
        (
            "# Title\n",
            ", line 1: the file does not begin with YAML front matter",
        ),
        ("---\nname: a\n", ", line 1: the front matter has no end"),
        ("---\nname: a\ndescription: [\n---\n", ", line 4: "),
        (
            "---\nname: b\ndescription: x\n---\n",
            ": `name` is `b`, and the skill is in `a`",
        ),
        (
            "---\nname: A\ndescription: x\n---\n",
            ", line 2: the name `A` has other characters than a-z, 0-9 and hyphens",
        ),
    ] {
        let file = made.write("a/SKILL.md", text);
        let file = fs::canonicalize(file).unwrap();
        let found = problems(&made);
        let expected = format!("`{}`{expected}", file.display());
        assert!(
            found.iter().any(|problem| problem.starts_with(&expected)),
            "{expected}: {found:?}"
        );
    }
    made.write("a/SKILL.md", b"---\nname: a\ndescription: \xff\n---\n");
    assert!(problems(&made)[0].ends_with("SKILL.md` is not UTF-8"));
    made.write("a/SKILL.md", text_of("a"));
    assert_eq!(problems(&made), Vec::<String>::new());
    made.write("SKILL.md", text_of("skills"));
    assert!(problems(&made)[0].ends_with("is a skill itself; name the folder that it is in"));
}

#[test]
fn a_folder_that_cannot_be_served_is_a_start_error() {
    let missing = Server::new("t", "1")
        .with(Skills::folder("no/such/folder"))
        .build();
    let error = missing.unwrap_err();
    assert!(
        error.problems()[0].contains("no/such/folder` cannot be served"),
        "{error}"
    );

    let made = Made::new("wrong-limits");
    made.skill("a");
    // To the last file, the last byte and the deepest folder.
    let rest = (16 << 20) - text_of("a").len();
    for n in 0..510 {
        made.write(&format!("a/{n}"), "");
    }
    made.write("a/big", vec![b'x'; rest]);
    let deep = "d/".repeat(15);
    made.write(&format!("a/{deep}e"), "");
    fs::remove_file(made.skills().join("a/509")).unwrap();
    assert_eq!(problems(&made), Vec::<String>::new());

    made.write("a/509", "");
    assert!(
        problems(&made)[0].contains("a skill has at most 512 files"),
        "{:?}",
        problems(&made)
    );
    fs::remove_file(made.skills().join("a/509")).unwrap();
    made.write("a/big", vec![b'x'; rest + 1]);
    assert!(
        problems(&made)[0].contains("have 16777217 bytes, and at most 16777216"),
        "{:?}",
        problems(&made)
    );
    made.write("a/big", "");
    made.write(&format!("a/{deep}d/e"), "");
    let is_deep = |problems: Vec<String>| problems[0].contains("is more than 16 folders deep");
    assert!(is_deep(problems(&made)), "{:?}", problems(&made));
    // Where there is no skill, too.
    fs::remove_dir_all(made.skills().join("a/d")).unwrap();
    made.write(&format!("b/{deep}e"), "");
    assert_eq!(problems(&made), Vec::<String>::new());
    made.write(&format!("b/{deep}d/e"), "");
    assert!(is_deep(problems(&made)), "{:?}", problems(&made));
}

/// A file that became too large is not sent, and its skill is not served.
#[tokio::test]
async fn a_file_that_grew_is_not_sent() {
    let made = Made::new("wrong-grown");
    made.skill("a");
    made.skill("b");
    let file = made.write("a/big", "");
    let client = connect(&made.service(), Revision::V2026_07_28).await;
    fs::File::options()
        .write(true)
        .open(file)
        .unwrap()
        .set_len((16 << 20) + 1)
        .unwrap();
    let error = read(&client, "skill://a/big").await.unwrap_err();
    assert_eq!(error["code"], -32603, "{error}");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("is larger than 16777216 bytes"),
        "{error}"
    );
    let listed = list(&client, None).await.unwrap();
    assert_eq!(all(&listed, "skills", "uri"), ["skill://b/SKILL.md"]);
}

// J-6: no link leads out of the folder, and none makes a folder appear twice.
#[cfg(unix)]
#[tokio::test]
async fn links_do_not_lead_out() {
    use std::os::unix::fs::symlink;
    let made = Made::new("wrong-links");
    made.skill("a");
    made.write("a/notes.md", "within");
    made.write("a/more/deep.md", "deep");
    made.write("../outside/secret.md", "secret");
    made.write("../outside/SKILL.md", text_of("out"));
    let own = made.skills();
    symlink(own.join("../outside/secret.md"), own.join("a/secret.md")).unwrap();
    symlink(own.join("../outside"), own.join("out")).unwrap();
    symlink(own.join("../outside"), own.join("a/out")).unwrap();
    symlink(own.join("a"), own.join("a/loop")).unwrap();
    symlink("nowhere", own.join("a/broken.md")).unwrap();
    symlink("notes.md", own.join("a/again.md")).unwrap();
    let client = connect(&made.service(), Revision::V2026_07_28).await;
    let listed = list(&client, None).await.unwrap();
    let files = [
        "skill://a/SKILL.md",
        "skill://a/again.md",
        "skill://a/more/deep.md",
        "skill://a/notes.md",
    ];
    assert_eq!(all(&listed, "skills", "uri"), files[..1]);
    assert_eq!(all(&listed["skills"][0], "resources", "uri"), files);
    let found = directory(&client, "skill://a", None).await.unwrap();
    assert_eq!(
        all(&found, "resources", "name"),
        ["a", "again.md", "more", "notes.md"]
    );
    // A link to a file within is that file.
    assert_eq!(
        read(&client, "skill://a/again.md").await.unwrap()["text"],
        "within"
    );
    for uri in [
        "skill://a/secret.md",
        "skill://a/out/secret.md",
        "skill://out/secret.md",
        "skill://a/broken.md",
        // All that can be read is listed: a host refuses what its manifest does not have.
        "skill://a/loop/notes.md",
    ] {
        let error = read(&client, uri).await.unwrap_err();
        assert_eq!(error["code"], -32602, "{uri}");
        directory(&client, uri, None).await.unwrap_err();
    }
    directory(&client, "skill://a/loop", None)
        .await
        .unwrap_err();
    get(&client, "skill://out/SKILL.md").await.unwrap_err();
}

#[tokio::test]
async fn unknown_skills_are_invalid_params() {
    let made = Made::new("wrong-unknown");
    made.skill("a");
    made.write("a/notes.md", "x");
    let service = made.service();
    let long = format!("skill://{}/SKILL.md", "x".repeat(5000));
    for revision in HAVING {
        let client = connect(&service, revision).await;
        for uri in [
            "skill://none/SKILL.md",
            "skill://a",
            "skill://a/notes.md",
            "skill://a/SKILL.md/",
            "skill://a//SKILL.md",
            "skill://%61/SKILL.md",
            "skill:///SKILL.md",
            "skill://SKILL.md",
            "file://a/SKILL.md",
            &long,
        ] {
            let error = get(&client, uri).await.unwrap_err();
            let expected = json!({
                "pointer": "/params/uri",
                "rule": "known-skill",
                "expected": "the URI of the `SKILL.md` of a skill",
                "found": format!("string of {} bytes", uri.len() + 2),
            });
            assert_eq!(
                (&error["code"], &error["data"]),
                (&json!(-32602), &expected),
                "{uri}: {error}"
            );
            assert!(error["message"].as_str().unwrap().len() < 400, "{error}");
        }
    }
}

// DEC-12: params that the schema does not allow.
#[tokio::test]
async fn params_are_checked() {
    let made = Made::new("wrong-params");
    made.skill("a");
    let service = made.service();
    for revision in HAVING {
        let options = trueform::client::ClientOptions::at(revision).outgoing(trueform::Policy::Off);
        let client = service.connect_as(options).await.unwrap();
        let meta = match revision.era() {
            trueform::schema::Era::Legacy => String::new(),
            trueform::schema::Era::Modern => r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"#.to_owned(),
        };
        for (method, params, pointer) in [
            ("skills/get", r#""x":1"#, "/params"),
            ("skills/get", r#""uri":5"#, "/params/uri"),
            ("skills/get", r#""uri":"not a uri""#, "/params/uri"),
            ("skills/list", r#""cursor":5"#, "/params/cursor"),
            ("resources/directory/read", r#""cursor":"a""#, "/params"),
        ] {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":"own","method":"{method}","params":{{{meta}{params}}}}}"#
            );
            client.send_raw(line).unwrap();
            let answer = crate::support::soon(client.next_message()).await.unwrap();
            let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
            let error = &answer["error"];
            assert_eq!(error["code"], -32602, "{method} {params}: {answer}");
            assert!(
                error["data"]["pointer"]
                    .as_str()
                    .unwrap()
                    .starts_with(pointer),
                "{method} {params}: {answer}"
            );
        }
        // Others go on.
        list(&client, None).await.unwrap();
    }
}
