//! Skills that a program makes.

use serde_json::json;
use trueform::{Server, ToolError, schema::Revision};
use trueform_skills::{Skill, Skills};

use crate::support::{HAVING, Made, all, connect, directory, get, list, read, serve, text_of};

fn team() -> Skill {
    Skill::new("acme/git", text_of("git"))
        .file("notes/branches.md", "# Branches")
        .file("logo.png", b"\x89PNG")
        .file("long.txt", "x".repeat(10))
}

#[tokio::test]
async fn files_are_served_as_those_of_folders_are() {
    let service = serve(Skills::new().skill(team()));
    for revision in HAVING {
        let client = connect(&service, revision).await;
        let listed = list(&client, None).await.unwrap();
        let files = [
            "skill://acme/git/SKILL.md",
            "skill://acme/git/logo.png",
            "skill://acme/git/long.txt",
            "skill://acme/git/notes/branches.md",
        ];
        assert_eq!(all(&listed["skills"][0], "resources", "uri"), files);
        assert_eq!(
            get(&client, files[0]).await.unwrap()["skill"],
            listed["skills"][0]
        );
        for (uri, member, value) in [
            (files[0], "text", &*text_of("git")),
            (files[1], "blob", "iVBORw=="),
            (files[3], "text", "# Branches"),
        ] {
            assert_eq!(read(&client, uri).await.unwrap()[member], value);
        }
        for (uri, expected) in [
            ("skill://acme", &["skill://acme/git"][..]),
            (
                "skill://acme/git",
                &[files[0], files[1], files[2], "skill://acme/git/notes"],
            ),
            ("skill://acme/git/notes", &[files[3]]),
        ] {
            let found = directory(&client, uri, None).await.unwrap();
            assert_eq!(all(&found, "resources", "uri"), expected);
        }
        for uri in [
            "skill://acme/git/none",
            "skill://acme/git",
            "skill://acme/gi/SKILL.md",
        ] {
            read(&client, uri).await.unwrap_err();
        }
    }
}

#[tokio::test]
async fn generated_files_make_a_skill_dynamic() {
    let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let skill = Skill::new("daily", text_of("daily"))
        .generated("today.md", move |_| {
            let n = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            async move { format!("read {n} times before") }
        })
        .generated("broken.md", |_| async {
            Err::<String, _>(ToolError::new("no data today"))
        });
    let client = connect(&serve(Skills::new().skill(skill)), Revision::V2026_07_28).await;
    let entry = get(&client, "skill://daily/SKILL.md").await.unwrap();
    assert_eq!(entry["skill"]["resources"], "dynamic");
    for n in 0..2 {
        let content = read(&client, "skill://daily/today.md").await.unwrap();
        assert_eq!(content["text"], format!("read {n} times before"));
    }
    let error = read(&client, "skill://daily/broken.md").await.unwrap_err();
    assert_eq!(error["code"], -32603, "{error}");
    let found = directory(&client, "skill://daily", None).await.unwrap();
    assert_eq!(
        all(&found, "resources", "name"),
        ["daily", "broken.md", "today.md"]
    );
}

/// Of one folder in the URIs, both kinds of skills are shown.
#[tokio::test]
async fn made_skills_and_folders_stand_side_by_side() {
    let made = Made::new("made-beside");
    made.skill("acme/orders");
    let skills = Skills::folder(made.skills()).skill(team());
    let client = connect(&serve(skills), Revision::V2026_07_28).await;
    let found = directory(&client, "skill://acme", None).await.unwrap();
    assert_eq!(all(&found, "resources", "name"), ["git", "orders"]);
    let listed = list(&client, None).await.unwrap();
    assert_eq!(
        all(&listed, "skills", "uri"),
        ["skill://acme/git/SKILL.md", "skill://acme/orders/SKILL.md"]
    );
    for uri in ["skill://acme/git/logo.png", "skill://acme/orders/SKILL.md"] {
        read(&client, uri).await.unwrap();
    }
}

// Whatever is wrong is reported at the start, with where the skill was written.
#[test]
fn mistakes_are_start_errors() {
    let text = || text_of("a");
    for (skill, expected) in [
        (
            Skill::new("a", "# No front matter"),
            "SKILL.md, line 1: the file does not begin with YAML front matter",
        ),
        (
            Skill::new("a", "---\nname: a\n---\n"),
            "SKILL.md, line 1: the front matter has no `description`",
        ),
        (
            Skill::new("b", text()),
            "`name` is `a`, and the skill is in `b`; both have to be the same",
        ),
        (Skill::new("x//a", text()), "its path is not made of names"),
        (Skill::new("../a", text()), "its path is not made of names"),
        (
            Skill::new("a", text()).file("../b", "x"),
            "`../b` is not the path of a file",
        ),
        (
            Skill::new("a", text()).file("SKILL.md", "x"),
            "it has two files `SKILL.md`",
        ),
        (
            Skill::new("a", text()).file("b", "x").file("b/c", "x"),
            "`b` is a file, and a folder of others",
        ),
        (
            Skill::new("a", text()).file("big", vec![0; 16 << 20]),
            "its files have 16777261 bytes, and at most 16777216 are allowed",
        ),
        (
            (0..512).fold(Skill::new("a", text()), |skill, n| {
                skill.file(format!("{n}"), "")
            }),
            "it has 513 files, and at most 512 are allowed",
        ),
    ] {
        let server = Server::new("t", "1").with(Skills::new().skill(skill));
        let error = server.build().unwrap_err();
        let problems = error.problems();
        assert!(
            problems.iter().any(|problem| problem.contains(expected)),
            "{expected}: {problems:?}"
        );
        assert!(problems[0].contains("made.rs:"), "{problems:?}");
    }
    let twice = Skills::new()
        .skill(Skill::new("a", text()))
        .skill(Skill::new("a", text()));
    let error = Server::new("t", "1").with(twice).build().unwrap_err();
    assert!(
        error
            .problems()
            .contains(&"there are two skills at `skill://a`".to_owned()),
        "{error}"
    );

    // What is allowed, to the last file and byte.
    let largest = (0..510).fold(Skill::new("a", text()), |skill, n| {
        skill.file(format!("{n}"), "")
    });
    let largest = largest.file("big", vec![0; (16 << 20) - text().len()]);
    assert!(
        Server::new("t", "1")
            .with(Skills::new().skill(largest))
            .build()
            .is_ok()
    );
}

#[test]
fn settings_of_the_entry() {
    let skill = Skill::new(
        "a",
        "---\nname: a\ndescription: >\n  Two\n  lines.\nx: {y: [1, 2.5, true]}\n---\n",
    );
    let service = serve(Skills::new().skill(skill));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let entry = runtime.block_on(async {
        let client = connect(&service, Revision::V2026_07_28).await;
        get(&client, "skill://a/SKILL.md").await.unwrap()
    });
    assert_eq!(
        entry["skill"]["frontmatter"],
        json!({ "name": "a", "description": "Two lines.\n", "x": { "y": [1, 2.5, true] } })
    );
}
