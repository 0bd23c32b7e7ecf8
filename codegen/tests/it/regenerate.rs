//! A later revision is a user's task: import a file, read the diff, regenerate, build, and go on using old code.

use std::fs;
use std::path::Path;

use crate::made_up;
use crate::support::{codegen, schema_folder, scratch};

/// Imports the made-up revision into a copy of the schema folder and answers where that is.
fn imported(name: &str) -> std::path::PathBuf {
    let folder = scratch(name);
    let schema = folder.join("schema");
    copy(&schema_folder(), &schema);
    let official = folder.join("official.json");
    fs::write(&official, made_up::official().to_string()).unwrap();
    let output = codegen([
        "import".as_ref(),
        official.as_os_str(),
        "--revision".as_ref(),
        made_up::REVISION.as_ref(),
        "--schema".as_ref(),
        schema.as_os_str(),
    ]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    schema
}

#[test]
fn diff_reports_exactly_what_a_later_revision_changes() {
    let schema = imported("regenerate-diff");
    let schema = schema.to_str().unwrap();
    let output = codegen(["diff", "2026-07-28", made_up::REVISION, "--schema", schema]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), made_up::DIFF);
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => _ = fs::copy(entry.path(), target).unwrap(),
        }
    }
}
