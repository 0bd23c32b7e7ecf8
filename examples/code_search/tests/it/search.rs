//! The tool `search`.

use std::sync::mpsc;

use serde_json::json;

use crate::support::{client, folder, lines, only_text, project, search};

#[tokio::test]
async fn finds_lines_of_what_is_shown() {
    let project = project();
    let client = client(&project).await;
    for (query, expected) in [
        (
            json!({"pattern": "needle"}),
            &[
                "README.md:3: No needles here.",
                "src/hay/mod.rs:2: fn hay() { super::needle() }",
                "src/lib.rs:3: pub fn needle() {}",
            ][..],
        ),
        (
            json!({"pattern": "needle", "ignore_case": true, "glob": "src/**/mod.rs"}),
            &[
                "src/hay/mod.rs:1: // Needle?",
                "src/hay/mod.rs:2: fn hay() { super::needle() }",
            ],
        ),
        (
            json!({"pattern": r"^pub (mod|fn) \w+;$"}),
            &["src/lib.rs:1: pub mod hay;"],
        ),
        (
            json!({"pattern": "needle() {", "literal": true}),
            &["src/lib.rs:3: pub fn needle() {}"],
        ),
        (
            json!({"pattern": "NEEDLE() {", "literal": true, "ignore_case": true}),
            &["src/lib.rs:3: pub fn needle() {}"],
        ),
        (
            json!({"pattern": "needle", "glob": "*.md"}),
            &["README.md:3: No needles here."],
        ),
        (
            json!({"pattern": "needle", "glob": "!src"}),
            &["README.md:3: No needles here."],
        ),
        (
            json!({"pattern": "needle", "glob": "hay"}),
            &["src/hay/mod.rs:2: fn hay() { super::needle() }"],
        ),
        (
            json!({"pattern": "needle", "glob": "src/hay/"}),
            &["src/hay/mod.rs:2: fn hay() { super::needle() }"],
        ),
        // As many lines as an editor shows.
        (
            json!({"pattern": "^$"}),
            &["README.md:2: ", "src/lib.rs:2: "],
        ),
        // A glob shows nothing that is ignored or hidden.
        (json!({"pattern": "needle", "glob": "*.log"}), &[]),
        (json!({"pattern": "needle", "glob": "target/**"}), &[]),
        (json!({"pattern": "SECRET"}), &[]),
        (json!({"pattern": "root:"}), &[]),
        (
            json!({"pattern": "é$"}),
            &["src/hay/stack of 100%.rs:1: // café"],
        ),
    ] {
        let page = search(&client, query.clone()).await;
        assert_eq!(lines(&page), expected, "{query}");
        assert_eq!(page.get("next_cursor"), None, "{query}");
    }
    let page = search(&client, json!({"pattern": "needle"})).await;
    // The picture is left out.
    assert_eq!(
        (&page["files_searched"], &page["skipped"]),
        (&json!(4), &json!(1))
    );
}

#[tokio::test]
async fn pages_hold_when_files_change() {
    let names = ["a.rs", "a/b.rs", "a/b/c.rs", "a0.rs", "b.rs"];
    let files: Vec<_> = names.iter().map(|name| (*name, "x\n\nx\nx\n")).collect();
    let folder = folder(&files);
    let client = client(&folder).await;
    let all = lines(&search(&client, json!({"pattern": "x"})).await);
    assert_eq!(all.len(), 15);
    let order: Vec<&String> = all.iter().step_by(3).collect();
    assert_eq!(
        order,
        [
            "a/b/c.rs:1: x",
            "a/b.rs:1: x",
            "a.rs:1: x",
            "a0.rs:1: x",
            "b.rs:1: x"
        ]
    );

    for limit in [1, 2, 3, 4, 14, 15, 16] {
        let mut found = Vec::new();
        let mut query = json!({"pattern": "x", "limit": limit});
        // No more than twice, should one not get on.
        while found.len() < 2 * all.len() {
            let page = search(&client, query.clone()).await;
            let matches = lines(&page);
            found.extend(matches.iter().cloned());
            let Some(next) = page.get("next_cursor") else {
                break;
            };
            assert_eq!(matches.len(), limit);
            query["cursor"] = next.clone();
        }
        assert_eq!(found, all, "{limit}");
    }

    // What the cursor names vanishes, and something comes before it: nothing is found twice or missed.
    let first = search(&client, json!({"pattern": "x", "limit": 4})).await;
    std::fs::remove_file(folder.path().join("a/b.rs")).unwrap();
    crate::support::write(folder.path(), "a/a.rs", "x\n");
    let query = json!({"pattern": "x", "limit": 100, "cursor": first["next_cursor"]});
    assert_eq!(lines(&search(&client, query).await), all[6..]);
}

#[tokio::test]
async fn bounds() {
    let long = format!("{}needle{}\n", " ".repeat(1000), "z".repeat(1000));
    let full = "needle\n".repeat(1001);
    let large = "needle\n".repeat((1 << 20) / 7 + 1);
    let longest = format!("{}needle", " ".repeat((1 << 16) - 5));
    let folder = folder(&[
        ("full.txt", &full),
        ("large.txt", &large),
        ("long.txt", &long),
        ("longest.txt", &longest),
    ]);
    let client = client(&folder).await;
    let page = search(&client, json!({"pattern": "needle", "limit": 1000})).await;
    assert_eq!(page["matches"].as_array().unwrap().len(), 1000);
    let query = json!({"pattern": "needle", "cursor": page["next_cursor"]});
    let page = search(&client, query).await;
    let found = lines(&page);
    assert_eq!(found[0], "full.txt:1001: needle");
    assert_eq!(
        found[1],
        format!("long.txt:1: …{}needle{}…", " ".repeat(60), "z".repeat(234))
    );
    assert_eq!((found.len(), &page["skipped"]), (2, &json!(1)));
    // The last character is beyond what is searched of a line.
    let page = search(&client, json!({"pattern": " needl$"})).await;
    assert_eq!(lines(&page).len(), 1);
}

#[tokio::test]
async fn bad_arguments() {
    let project = project();
    let client = client(&project).await;
    for (query, says) in [
        (json!({}), "pattern"),
        (json!({"pattern": ""}), "/pattern"),
        (json!({"pattern": "needle("}), "unclosed group"),
        (json!({"pattern": "(?=needle)"}), "look-around"),
        (json!({"pattern": r"\w{200}"}), "exceeds size limit"),
        (
            json!({"pattern": "x", "glob": "src/[a"}),
            "`glob` is not a glob: ",
        ),
        (
            json!({"pattern": "x", "glob": "a?".repeat(501)}),
            "/glob: expected at most 1000 characters",
        ),
        (json!({"pattern": "x", "limit": 1001}), "/limit"),
        (json!({"pattern": "x", "limit": 0}), "/limit"),
        (
            json!({"pattern": "x", "cursor": "src/lib.rs"}),
            "`cursor` is not a cursor",
        ),
        (
            json!({"pattern": "x", "cursor": "x:src/lib.rs"}),
            "`cursor` is not a cursor",
        ),
        (json!({"pattern": "x", "regexp": true}), "regexp"),
    ] {
        let result = client.call_tool("search", query.clone()).await.unwrap();
        let text = only_text(&result);
        assert_eq!(result.is_error, Some(true), "{query}: {text}");
        assert!(text.contains(says), "{query}: {text}");
    }
}

fn many(files: usize) -> tempfile::TempDir {
    let names: Vec<String> = (0..files)
        .map(|number| format!("{:02}/{number:04}.txt", number / 100))
        .collect();
    let files: Vec<_> = names
        .iter()
        .map(|name| (&**name, "hay\nneedle\n"))
        .collect();
    folder(&files)
}

#[tokio::test]
async fn progress() {
    let folder = many(250);
    let client = client(&folder).await;
    let (sender, reports) = mpsc::channel();
    let call = client.call_tool("search", json!({"pattern": "needle", "limit": 1000}));
    call.on_progress(move |report| sender.send((report.progress, report.message)).unwrap())
        .await
        .unwrap();
    let reports: Vec<_> = reports.iter().collect();
    // A report may give way to a newer one.
    assert_eq!(
        reports.last(),
        Some(&(200.0, Some("199 matches in 200 files".to_owned())))
    );
}
