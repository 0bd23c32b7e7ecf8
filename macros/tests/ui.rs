//! The exact messages of the macros, and of the compiler on their output, for mistakes. One mistake per file;
//! `TRYBUILD=overwrite cargo test -p trueform-macros --test ui` rewrites the answers.
//!
//! Here and not beside the runtime's tests because `trybuild` builds the development dependencies of its crate once more.

/// The compiler whose words the answers hold.
const RUSTC: &str = "rustc 1.95.";

#[test]
fn ui() {
    let version = std::process::Command::new("rustc")
        .arg("--version")
        .output()
        .unwrap();
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    if !version.starts_with(RUSTC) {
        eprintln!("SKIPPED: the answers are those of {RUSTC}, this is {version}");
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*/*.rs");
}
