//! Clients and folders that mean harm: URIs without measure, pipes in place of files, names that no URI has.

use std::{fs, time::Instant};

use trueform::{Server, schema::Revision};
use trueform_skills::Skills;

use crate::support::{HAVING, Made, all, connect, directory, get, list, read, text_of};

/// A path that no file can have does not exist: it is not a fault of the server (K-2).
#[tokio::test]
async fn uris_that_no_file_can_have() {
    let made = Made::new("attacked-uris");
    made.skill("a");
    made.write("a/notes.md", "x");
    #[cfg(unix)]
    std::os::unix::fs::symlink("loop", made.skills().join("a/loop")).unwrap();
    let service = made.service();
    let name = "x".repeat(300);
    let path = "x/".repeat(5000);
    let dots = "../".repeat(50);
    for revision in HAVING {
        let client = connect(&service, revision).await;
        for uri in [
            &*format!("skill://{name}"),
            &format!("skill://{name}/SKILL.md"),
            &format!("skill://a/{name}"),
            &format!("skill://a/{name}/{name}"),
            &format!("skill://a/{path}y"),
            &format!("skill://a/{dots}etc/passwd"),
            "skill://a/%2e%2e/b",
            "skill://a/..",
            "skill://..",
            "skill:///etc/passwd",
            "skill:////etc/passwd",
            "skill://a/%00",
            "skill://a/notes.md/x",
            "skill://a/loop",
            "skill://a/loop/x",
            "skill://a/loop/SKILL.md",
        ] {
            let shown = &uri[..uri.len().min(40)];
            // What leads out is refused before anything is looked up.
            let of_reading: &[i64] = match revision {
                Revision::V2025_11_25 => &[-32002, -32602],
                _ => &[-32602],
            };
            for (answer, codes) in [
                (read(&client, uri).await, of_reading),
                (get(&client, uri).await, &[-32602]),
                (directory(&client, uri, None).await, &[-32602]),
            ] {
                let error = answer.expect_err(shown);
                let code = error["code"].as_i64().unwrap();
                assert!(codes.contains(&code), "{shown} at {revision}: {error}");
            }
        }
        list(&client, None).await.unwrap();
    }
}

/// The time that a URI costs grows with its length, not with the square of it.
#[tokio::test]
async fn uris_of_many_folders() {
    let made = Made::new("attacked-segments");
    made.skill("a");
    let client = connect(&made.service(), Revision::V2026_07_28).await;
    let uri = format!("skill://none/{}y", "x/".repeat(100_000));
    let begun = Instant::now();
    for answer in [
        read(&client, &uri).await,
        get(&client, &uri).await,
        directory(&client, &uri, None).await,
    ] {
        assert_eq!(answer.unwrap_err()["code"], -32602);
    }
    // Quadratic, it takes some thousand times as long.
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
}

/// Only files are opened and listed: opening a named pipe would wait for its writer.
#[cfg(unix)]
#[tokio::test]
async fn pipes_and_names_of_other_encodings() {
    use std::os::unix::{ffi::OsStrExt, net::UnixListener};
    let made = Made::new("attacked-pipes");
    made.skill("a");
    made.skill("b");
    let own = made.skills();
    for pipe in ["a/pipe", "b/pipe.md", "SKILL.md"] {
        let made = std::process::Command::new("mkfifo")
            .arg(own.join(pipe))
            .status();
        assert!(made.unwrap().success());
    }
    fs::create_dir(own.join("c")).unwrap();
    let made_pipe = std::process::Command::new("mkfifo")
        .arg(own.join("c/SKILL.md"))
        .status();
    assert!(made_pipe.unwrap().success());
    let socket = UnixListener::bind(own.join("b/s"));
    // A name that is not UTF-8 has no URI.
    let latin = std::ffi::OsStr::from_bytes(b"caf\xe9");
    fs::write(own.join("a").join(latin), "x").unwrap();
    fs::create_dir(own.join(latin)).unwrap();
    fs::write(own.join(latin).join("SKILL.md"), text_of("cafe")).unwrap();
    let client = connect(&made.service(), Revision::V2026_07_28).await;
    let listed = list(&client, None).await.unwrap();
    assert_eq!(
        all(&listed, "skills", "uri"),
        ["skill://a/SKILL.md", "skill://b/SKILL.md"]
    );
    for skill in listed["skills"].as_array().unwrap() {
        assert_eq!(all(skill, "resources", "uri").len(), 1, "{skill}");
    }
    let found = directory(&client, "skill://a", None).await.unwrap();
    assert_eq!(all(&found, "resources", "name"), ["a"]);
    for uri in [
        "skill://a/pipe",
        "skill://b/pipe.md",
        "skill://b/s",
        "skill://c/SKILL.md",
        "skill://a/caf%E9",
        "skill://a/caf%C3%A9",
    ] {
        assert_eq!(
            read(&client, uri).await.unwrap_err()["code"],
            -32602,
            "{uri}"
        );
    }
    drop(socket);
}

/// A folder that becomes too deep takes nothing away but what is in it: the skill that it is in, or nothing.
#[tokio::test]
async fn folders_that_become_too_deep() {
    let made = Made::new("attacked-deep");
    for skill in ["a", "b", "group/c"] {
        made.skill(skill);
    }
    let service = made.service();
    let deep = "d/".repeat(16);
    made.write(&format!("b/{deep}file"), "x");
    made.write(&format!("group/{deep}file"), "x");
    made.write(&format!("no-skill/{deep}file"), "x");
    for revision in HAVING {
        let client = connect(&service, revision).await;
        let listed = list(&client, None).await.unwrap();
        assert_eq!(
            all(&listed, "skills", "uri"),
            ["skill://a/SKILL.md", "skill://group/c/SKILL.md"],
            "{revision}"
        );
        for (uri, found) in [
            ("skill://a/SKILL.md", true),
            ("skill://b/SKILL.md", false),
            ("skill://group/c/SKILL.md", true),
        ] {
            assert_eq!(get(&client, uri).await.is_ok(), found, "{uri}");
        }
        let found = directory(&client, "skill://group", None).await.unwrap();
        assert_eq!(all(&found, "resources", "name"), ["c"], "{revision}");
    }
    // A server that starts now does not start.
    let server = Server::new("t", "1").with(Skills::folder(made.skills()));
    let error = server.build().unwrap_err();
    let is_deep = |problem: &String| problem.contains("is more than 16 folders deep");
    assert!(error.problems().iter().all(is_deep), "{error}");
    assert_eq!(error.problems().len(), 3, "{error}");
}

/// Folders come and go while they are looked at: the other skills are served.
#[tokio::test]
async fn folders_that_vanish_while_they_are_listed() {
    let made = Made::new("attacked-vanish");
    made.skill("a");
    let own = made.skills();
    let service = made.service();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let is_over = stop.clone();
    let churn = std::thread::spawn(move || {
        while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
            for at in 0..20 {
                fs::create_dir_all(own.join(format!("z{at}/in"))).unwrap();
            }
            for at in 0..20 {
                fs::remove_dir_all(own.join(format!("z{at}"))).unwrap();
            }
        }
    });
    let client = connect(&service, Revision::V2026_07_28).await;
    let mut answers = Vec::new();
    for _ in 0..200 {
        answers.push(list(&client, None).await);
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    churn.join().unwrap();
    for answer in answers {
        let listed = answer.unwrap();
        assert_eq!(all(&listed, "skills", "uri"), ["skill://a/SKILL.md"]);
    }
}
