//! The program of the README as a process, with the request that the README sends and the answer that it prints.

use std::{
    io::{Read, Write},
    process::{Command, Stdio},
};

/// The text between the first `begin` in `text` and the next `end`.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(begin).expect(begin);
    rest.split_once(end).expect(end).0
}

#[test]
fn the_call_without_a_client() {
    let readme = include_str!("../../../../README.md");
    let step = between(readme, "4. Call the tool without a client:", "5. Enter it");
    let request = between(step, "echo '", "'");
    let answer = between(step, "```text\n", "\n   ```").trim_start();

    let mut server = Command::new(env!("CARGO_BIN_EXE_trueform-outside"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    writeln!(input, "{request}").unwrap();
    drop(input);
    let mut printed = String::new();
    let mut output = server.stdout.take().unwrap();
    output.read_to_string(&mut printed).unwrap();
    assert!(server.wait().unwrap().success());
    assert_eq!(printed, format!("{answer}\n"));
}
