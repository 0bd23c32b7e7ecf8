//! The agent as a user runs it.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Output, Stdio},
};

/// What the agent says of `command` and then to the lines `input`.
fn ran_with(command: &[&str], input: &str) -> Output {
    let mut agent = Command::new(env!("CARGO_BIN_EXE_agent"))
        .args(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the agent can be run");
    let mut stdin = agent.stdin.take().expect("it is piped");
    stdin
        .write_all(input.as_bytes())
        .expect("it is read, or fits the pipe");
    drop(stdin);
    agent.wait_with_output().expect("it ends")
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn it_calls_tools_and_survives_a_crash_of_the_server() {
    let input = r#"add {"a":2,"b":3}
count {"to":2}
add {"a":"two"}
add {
nothing
crash
add {"a":20,"b":30}
"#;
    let output = ran_with(&[env!("CARGO_BIN_EXE_agent_demo_server")], input);
    let (shown, logged) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{logged}");
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(
        lines[..7],
        [
            "add: Add two numbers.",
            "count: Count, and say how far it is.",
            "crash: End the server at once, as a crash does.",
            "add: 5",
            "… 1 of 2 at 1",
            "… 2 of 2 at 2",
            "count: counted",
        ],
        "{shown}"
    );
    // What a model reads of arguments that do not fit has several lines.
    let fault = lines[7..lines.len() - 4].join("\n");
    for part in ["add failed: ", "/a", "/b"] {
        assert!(fault.contains(part), "{part:?} is missing in {fault:?}");
    }
    for (line, parts) in lines[lines.len() - 4..].iter().zip([
        &["the arguments of `add` are not JSON"][..],
        &["nothing: the server answered with error -32602"],
        &[
            "crash: the server process `",
            "exited (exit status: 9)",
            "crashed as it should",
        ],
        &["add: 50"],
    ]) {
        for part in parts {
            assert!(line.contains(part), "{part:?} is missing in {line:?}");
        }
    }
    assert!(logged.contains("crashed as it should"), "{logged}");
}

#[test]
fn a_command_that_does_not_exist() {
    let output = ran_with(&["no-such-server", "--flag"], "");
    assert_eq!(output.status.code(), Some(1));
    let logged = text(output.stderr);
    assert!(
        logged.contains("`no-such-server` cannot be started"),
        "{logged}"
    );
    assert_eq!(ran_with(&[], "").status.code(), Some(2));
}

/// The demo server at a port of its own. It is killed when this is dropped.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it was started here");
    }
}

fn served() -> (Served, String) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_agent_demo_server"))
        .env("TRUEFORM_HTTP", "127.0.0.1:0")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the server can be run");
    let log = server.stderr.take().expect("it is piped");
    let served = Served(server);
    let mut lines = BufReader::new(log).lines();
    let url = lines.find_map(|line| {
        let line = line.expect("UTF-8");
        let start = line.find("http://")?;
        line[start..].split_whitespace().next().map(str::to_owned)
    });
    // What it writes later must not block it.
    std::thread::spawn(move || lines.for_each(drop));
    (served, url.expect("it says where it listens"))
}

#[test]
fn it_connects_by_url() {
    let (server, url) = served();
    let output = ran_with(&[&url], "add {\"a\":2,\"b\":3}\ncount {\"to\":2}\n");
    let (shown, logged) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{logged}");
    let lines: Vec<&str> = shown.lines().skip(3).collect();
    let expected = ["add: 5", "… 1 of 2 at 1", "… 2 of 2 at 2", "count: counted"];
    assert_eq!(lines, expected, "{logged}");

    drop(server);
    let output = ran_with(&[&url], "");
    let logged = text(output.stderr);
    assert!(!output.status.success());
    assert!(logged.contains("Connection refused"), "{logged}");
}
