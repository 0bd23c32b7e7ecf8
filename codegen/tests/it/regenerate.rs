//! A later revision is a user's task: import a file, read the diff, regenerate, build, and go on using old code.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use trueform_codegen::{Inputs, generate, import::normal_form};

use crate::made_up;
use crate::support::{codegen, copy, schema_folder, scratch};

/// Imports the made-up revision into a copy of the schema folder and returns its path.
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

/// Two methods with the same Rust name would not compile, so the generator requires another name, and accepts it.
#[test]
fn a_renamed_method_needs_a_name() {
    let mut inputs = Inputs::read(&schema_folder()).unwrap();
    let renamed = normal_form(&made_up::with_a_renamed_method().to_string()).unwrap();
    inputs.revisions.insert(
        made_up::REVISION.to_owned(),
        serde_json::from_str(&renamed).unwrap(),
    );
    let problem = generate(&inputs).map(|_| ()).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "`overlay.toml`: the methods `tools/enumerate` and `tools/list` would both be `ListTools` in Rust; give one of them a \
         `name` in `methods.\"tools/enumerate\"` or `methods.\"tools/list\"`"
    );

    let mut name = |wire: &str, name: &str| {
        let facts = inputs.overlay.methods.entry(wire.to_owned()).or_default();
        facts.name = Some(name.to_owned());
        generate(&inputs).map_err(|problem| problem.to_string())
    };
    let text = &name("tools/enumerate", "EnumerateTools").unwrap()["generated.rs"];
    assert!(text.contains("Self::EnumerateTools => \"tools/enumerate\""));
    assert!(text.contains("Self::ListTools => \"tools/list\""));

    // Names that only differ in capitals are one function; and some functions are taken.
    let problem = name("tools/enumerate", "LISTTools")
        .map(|_| ())
        .unwrap_err();
    assert!(problem.contains("give one of them a `name`"), "{problem}");
    let problem = name("tools/enumerate", "NotServed")
        .map(|_| ())
        .unwrap_err();
    assert!(
        problem.contains("the Rust function `not_served`"),
        "{problem}"
    );
}

/// One enumeration holds the methods of the core and of its extensions.
#[test]
fn an_extension_names_a_method_as_the_core_does() {
    let mut inputs = Inputs::read(&schema_folder()).unwrap();
    let tasks = inputs.overlay.extensions.get_mut("tasks").unwrap();
    tasks.methods.get_mut("tasks/get").unwrap().name = Some("FetchTask".to_owned());
    let problem = generate(&inputs).map(|_| ()).unwrap_err().to_string();
    assert!(
        problem.contains("`tasks/get` is `FetchTask` in one module and `GetTask` in another"),
        "{problem}"
    );

    let tasks = inputs.overlay.extensions.get_mut("tasks").unwrap();
    tasks.methods.get_mut("tasks/get").unwrap().name = None;
    tasks.methods.get_mut("tasks/update").unwrap().name = Some("ListTools".to_owned());
    // They describe `Method.UpdateTask`.
    inputs.docs.clear();
    let problem = generate(&inputs).map(|_| ()).unwrap_err().to_string();
    assert!(
        problem.contains("`tasks/update` and `tools/list` would both be `ListTools`"),
        "{problem}"
    );
}

/// Imported, generated, built: the bindings contain the new revision, and code written for the old bindings still works.
#[test]
fn a_later_revision_needs_no_hand_and_breaks_no_code() {
    let schema = imported("regenerate-build");
    let root = schema.parent().unwrap();
    workspace(root);
    crate_of(root, "old_user", "lib.rs", include_str!("user_code.rs"), "");
    let dependency = "old_user = { path = \"../old_user\" }\n";
    crate_of(
        root,
        "new_user",
        "main.rs",
        include_str!("regenerate/new_user.rs"),
        dependency,
    );

    // Stale bindings do not build, and the error says what to do.
    let output = cargo(root, &["check", "--package", "trueform-schema"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{stderr}");
    let expected = "`src/generated.rs` was not generated from the files in `schema/` as they are; run `cargo regenerate`";
    assert!(stderr.contains(expected), "{stderr}");

    let output = codegen(["generate".as_ref(), "--schema".as_ref(), schema.as_os_str()]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("generated.rs"));
    let output = codegen([
        "generate".as_ref(),
        "--check".as_ref(),
        "--schema".as_ref(),
        schema.as_os_str(),
    ]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "the generated bindings are up to date"
    );

    let output = cargo(root, &["run", "--package", "new_user"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs cargo in the workspace at `root`. Dependencies stay built between runs.
fn cargo(root: &Path, args: &[&str]) -> Output {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("regenerate-target");
    Command::new(env!("CARGO"))
        .args(args)
        .args(["--quiet", "--offline"])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", target)
        .output()
        .unwrap()
}

/// A workspace around the copied schema crate, with the versions of this one.
fn workspace(root: &Path) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(here.join("../Cargo.toml")).unwrap();
    let members = manifest
        .lines()
        .find(|line| line.starts_with("members = "))
        .unwrap();
    let manifest = manifest
        .replace(
            members,
            "members = [\"schema\", \"old_user\", \"new_user\"]",
        )
        .replace(
            "path = \"codegen\"",
            &format!("path = {:?}", here.to_str().unwrap()),
        );
    fs::write(root.join("Cargo.toml"), manifest).unwrap();
    let lock = here.join("../Cargo.lock");
    if lock.exists() {
        fs::copy(lock, root.join("Cargo.lock")).unwrap();
    }
}

/// A crate that depends on the schema crate.
fn crate_of(root: &Path, name: &str, file: &str, code: &str, dependencies: &str) {
    let folder = root.join(name);
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\ntrueform-schema = {{ path = \"../schema\" }}\n{dependencies}"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src").join(file), code).unwrap();
}
