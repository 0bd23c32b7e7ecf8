//! The exact messages of the macros, and of the compiler on their output, for mistakes. One mistake per file;
//! `TRYBUILD=overwrite cargo test -p trueform-macros --test ui` rewrites the answers.
//!
//! Here and not beside the runtime's tests because `trybuild` builds the development dependencies of its crate once more.

use std::path::Path;

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

/// The messages in the documentation of `#[tool]` and in the guide are those that a user reads.
#[test]
fn documented_messages_are_the_exact_ones() {
    exact(
        "../runtime/src/guide/errors.md",
        "# From the compiler",
        &[
            "result/ask_without_await",
            "feature/serve_http",
            "feature/client_http",
            "feature/client_process",
            "result/json_without_schema",
            "parameter/bound_of_string",
            "result/not_an_error",
            "function/not_send",
            "function/mut_self",
            "function/no_description",
        ],
    );
    let blocks = exact(
        "../runtime/src/feature/tools/tool.md",
        "# Errors you may meet",
        &[
            "list/not_a_tool",
            "function/associated_outside_server",
            "parameter/no_schema_without_prelude",
            "list/method",
        ],
    );
    // The advice compiles: a crate without the prelude follows it.
    let user = read("../runtime/tests/outside/tests/without_prelude.rs");
    let user: String = user.split_whitespace().collect();
    let advised = blocks[2]
        .split('`')
        .find(|text| text.starts_with("#[derive(trueform::"));
    let advised: String = advised.unwrap().split_whitespace().collect();
    assert!(user.contains(&advised), "{advised}");
}

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("it is there")
}

/// The blocks of text after `heading` of `page`, which have lines of these answers of the compiler, and all of their errors.
fn exact(page: &str, heading: &str, answers: &[&str]) -> Vec<String> {
    let docs = read(page);
    let (_, section) = docs.split_once(heading).expect("the page has the heading");
    let blocks: Vec<String> = section
        .split("```text")
        .skip(1)
        .map(|rest| rest.split_once("```").expect("the block ends").0.to_owned())
        .collect();
    assert_eq!(blocks.len(), answers.len(), "{page}");
    for (block, answer) in blocks.iter().zip(answers) {
        let answer = read(&format!("tests/ui/fail/{answer}.stderr"));
        // Labels come after the marks below the code.
        let answer: Vec<&str> = answer
            .lines()
            .map(|line| line.trim_start_matches([' ', '|', '-', '^']).trim())
            .collect();
        for line in block.trim().lines().map(str::trim) {
            let line = line.trim_start_matches([' ', '|', '-', '^']).trim();
            assert!(answer.contains(&line), "{line}\n{answer:#?}");
        }
        let errors = answer.iter().filter(|line| line.starts_with("error"));
        for error in errors {
            assert!(block.contains(error), "not documented: {error}");
        }
    }
    blocks
}
