//! The command line: exit codes, help, and errors that name file, definition and JSON pointer.

use std::fs;
use std::process::Output;

use crate::support::{codegen, schema_folder, scratch};

fn run(args: &[&str]) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = codegen(args);
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    (
        status.code().expect("it was not killed"),
        text(stdout),
        text(stderr),
    )
}

#[test]
fn every_command_explains_itself() {
    let (code, help, _) = run(&["--help"]);
    assert_eq!(code, 0);
    for command in ["import", "check", "generate", "diff"] {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
        let (code, help, _) = run(&[command, "--help"]);
        assert_eq!(code, 0);
        assert!(
            help.contains("Usage: trueform-codegen") && help.contains(command),
            "{help}"
        );
    }
    assert!(help.contains("Exit codes"), "{help}");
}

#[test]
fn wrong_usage_is_2_and_says_what_is_right() {
    let schema = schema_folder();
    let schema = schema.to_str().unwrap();
    let file = schema_folder().join("revisions/2025-11-25.json");
    let file = file.to_str().unwrap();
    let cases: [(&[&str], &str); 9] = [
        (&[], "Usage"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&["import", file], "--revision <REVISION>"),
        (
            &[
                "import",
                file,
                "--revision",
                "2025-11-25",
                "--extension",
                "x",
            ],
            "cannot be used with",
        ),
        (
            &["import", file, "--revision", "latest", "--schema", schema],
            "`latest` is not a revision, expected a date such as `2026-07-28`",
        ),
        (
            &["import", file, "--extension", "../x", "--schema", schema],
            "`../x` is not an extension name",
        ),
        (
            &["check", "--official", "x", "--schema", "no-such-folder"],
            "`no-such-folder`: no such folder",
        ),
        (
            &["diff", "2025-11-25", "what/ever", "--schema", schema],
            "`what/ever`: neither a file nor one of `2024-11-05`, ",
        ),
        (
            &["diff", "2025-11-25", "1999-01-01", "--schema", schema],
            "`1999-01-01`: neither a file nor one of `2024-11-05`, `2025-03-26`, `2025-06-18`, `2025-11-25`, `2026-07-28`, `tasks`\n",
        ),
    ];
    for (args, expected) in cases {
        let (code, stdout, stderr) = run(args);
        assert_eq!(code, 2, "{args:?}: {stderr}");
        assert!(stderr.contains(expected), "{args:?}: {stderr}");
        assert!(stdout.is_empty(), "{args:?}: {stdout}");
    }
}

#[test]
fn bad_schemas_are_2_and_the_place_is_named() {
    let folder = scratch("cli-bad-schemas");
    let file = folder.join("schema.json");
    let file = file.to_str().unwrap();
    let schema = folder.join("schema");
    fs::create_dir_all(&schema).unwrap();
    let draft = r#""$schema": "https://json-schema.org/draft/2020-12/schema""#;
    let cases = [
        ("{", "schema.json`: not JSON: EOF".to_owned()),
        ("{}", "schema.json`: `$schema` is missing".to_owned()),
        (
            r##"{ DRAFT, "$defs": { "Tool": { "properties": { "a": { "$ref": "#/$defs/No" } } } } }"##,
            "schema.json`: definition `Tool`, at `/$defs/Tool/properties/a/$ref`: `No` is not defined in this file".to_owned(),
        ),
        (
            r#"{ DRAFT, "$defs": { "Tool": { "typo": 1 } } }"#,
            "schema.json`: definition `Tool`, at `/$defs/Tool/typo`: `typo` is not a keyword".to_owned(),
        ),
    ];
    for (text, expected) in cases {
        fs::write(file, text.replace("DRAFT", draft)).unwrap();
        for args in [
            &[
                "import",
                file,
                "--revision",
                "2030-01-01",
                "--schema",
                schema.to_str().unwrap(),
            ][..],
            &["diff", file, file],
        ] {
            let (code, _, stderr) = run(args);
            assert_eq!(code, 2, "{stderr}");
            assert!(stderr.contains(&expected), "{stderr}\nlacks\n{expected}");
        }
    }
    assert!(
        !schema.join("revisions").exists(),
        "a failed import writes nothing"
    );
}

#[test]
fn diff_says_by_its_code_whether_there_is_a_difference() {
    let schema = schema_folder();
    let schema = schema.to_str().unwrap();
    let (code, stdout, _) = run(&["diff", "2025-11-25", "2025-11-25", "--schema", schema]);
    assert_eq!((code, stdout.as_str()), (0, "no changes\n"));
    let (code, stdout, _) = run(&[
        "diff",
        "2024-11-05",
        "2025-03-26",
        "--schema",
        schema,
        "--format",
        "json",
    ]);
    assert_eq!(code, 1);
    let diff: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        diff["changes"][0],
        serde_json::json!({
            "subject": "notifications/progress params.message",
            "change": "member-added", "required": false, "type": "string", "impact": "additive",
        }),
    );
}

#[test]
fn check_says_what_it_skipped() {
    let schema = schema_folder();
    let (code, stdout, _) = run(&[
        "check",
        "--official",
        "no-such-folder",
        "--schema",
        schema.to_str().unwrap(),
    ]);
    assert_eq!(code, 0);
    assert_eq!(
        stdout
            .lines()
            .filter(|line| line.starts_with("SKIPPED  "))
            .count(),
        6,
        "{stdout}"
    );
}

/// A changed committed file and a changed official file: both are reported by the exit code and with the place.
#[test]
fn check_says_by_its_code_whether_there_is_a_difference() {
    let folder = scratch("cli-check");
    let (official, schema) = (folder.join("official"), folder.join("schema"));
    let file = official.join("2026-07-28/schema.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::create_dir_all(&schema).unwrap();
    let mut document = crate::support::committed("2026-07-28");
    document["$defs"]["Tool"]["description"] = "Prose that no committed file may hold.".into();
    fs::write(&file, document.to_string()).unwrap();
    let (official, schema) = (official.to_str().unwrap(), schema.to_str().unwrap());
    let import = ["import", file.to_str().unwrap(), "--revision", "2026-07-28"];
    assert_eq!(run(&[&import, &["--schema", schema][..]].concat()).0, 0);

    let check = || run(&["check", "--official", official, "--schema", schema]);
    let (code, stdout, _) = check();
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.contains("ok       revision 2026-07-28"), "{stdout}");

    let committed = folder.join("schema/revisions/2026-07-28.json");
    let text = fs::read_to_string(&committed).unwrap();
    fs::write(&committed, text.replacen("\"Tool\"", "\"Tule\"", 1)).unwrap();
    let (code, stdout, _) = check();
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("WRONG    revision 2026-07-28"), "{stdout}");
    for part in ["2026-07-28.json", "line ", "Tule", "import it again"] {
        assert!(stdout.contains(part), "{stdout}\nlacks\n{part}");
    }

    fs::write(&committed, text).unwrap();
    fs::write(&file, document.to_string() + "\n").unwrap();
    let (code, stdout, _) = check();
    assert_eq!(code, 1, "{stdout}");
    assert!(
        stdout.contains("WRONG") && stdout.contains("sha256 is "),
        "{stdout}"
    );
}

#[test]
fn generate_writes_checks_and_reports() {
    let out = scratch("cli-generate");
    let schema = schema_folder();
    let (schema, folder) = (schema.to_str().unwrap(), out.to_str().unwrap());
    let generate = |further: &[&str]| {
        run(&[&["generate", "--schema", schema, "--out", folder], further].concat())
    };

    let (code, stdout, _) = generate(&["--check"]);
    assert_eq!(code, 1, "nothing is there yet");
    assert!(
        stdout.contains("generated.rs`: run `cargo regenerate`"),
        "{stdout}"
    );
    assert!(!out.join("generated.rs").exists());

    let (code, stdout, _) = generate(&[]);
    assert_eq!(code, 0);
    assert!(
        stdout.contains("written  `") && out.join("generated/tasks.rs").exists(),
        "{stdout}"
    );
    assert_eq!(generate(&["--check"]).0, 0);
    let (_, stdout, _) = generate(&[]);
    assert!(!stdout.contains("written"), "{stdout}");

    // A module of an extension that is gone.
    fs::write(out.join("generated/gone.rs"), "").unwrap();
    assert_eq!(generate(&["--check"]).0, 1);
    let (_, stdout, _) = generate(&[]);
    assert!(
        stdout.contains("removed  `") && !out.join("generated/gone.rs").exists(),
        "{stdout}"
    );

    let (code, stdout, _) = generate(&["--report"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("union ContentBlock"), "{stdout}");
}

/// Errors of the generator name file, definition and pointer too.
#[test]
fn what_generate_cannot_decide_is_2_and_named() {
    let folder = scratch("cli-generate-bad");
    let official = folder.join("official.json");
    let mut document = crate::support::committed("2026-07-28");
    document["$defs"]["Tool"]["properties"]["extra"] =
        serde_json::json!({ "anyOf": [{ "$ref": "#/$defs/Tool" }, { "$ref": "#/$defs/Icon" }] });
    fs::write(&official, document.to_string()).unwrap();
    let schema = folder.join("schema");
    for file in ["overlay.toml", "docs.toml"] {
        fs::create_dir_all(&schema).unwrap();
        fs::copy(schema_folder().join(file), schema.join(file)).unwrap();
    }
    for folder in ["revisions", "extensions"] {
        fs::create_dir_all(schema.join(folder)).unwrap();
        for entry in fs::read_dir(schema_folder().join(folder)).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), schema.join(folder).join(entry.file_name())).unwrap();
        }
    }
    let schema = schema.to_str().unwrap();
    let import = [
        "import",
        official.to_str().unwrap(),
        "--revision",
        "2026-07-28",
        "--schema",
        schema,
    ];
    assert_eq!(run(&import).0, 0);
    let (code, _, stderr) = run(&["generate", "--schema", schema]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("2026-07-28") && stderr.contains("definition `Tool`"),
        "{stderr}"
    );
    assert!(stderr.contains("/$defs/Tool/properties/extra"), "{stderr}");
}
