//! A server in a process of its own: real file descriptors, real signals.
//!
//! Without a test harness, because the harness would print to the standard output that is the protocol's: this program is
//! both sides. Started as it is, it runs the cases below; with `TRUEFORM_TEST_SERVER` set, it is the server.

#![allow(
    clippy::print_stdout,
    reason = "that printing does no harm is what is tested"
)]
#![allow(clippy::needless_pass_by_value, reason = "tools own their arguments")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use trueform::prelude::*;

/// Prints to both streams, through Rust and through a child process, and answers.
#[tool]
fn prints() -> String {
    println!("not a message");
    print!("nor this");
    eprintln!("for the log");
    #[cfg(unix)]
    Command::new("echo")
        .arg("nor that")
        .status()
        .expect("`echo` can be run");
    "printed".to_owned()
}

/// How much a child process can read from its standard input.
#[tool]
fn reads() -> usize {
    let child = Command::new("cat")
        .stdout(Stdio::piped())
        .spawn()
        .expect("`cat` can be run");
    child.wait_with_output().expect("`cat` ends").stdout.len()
}

/// Tells that it has begun and goes on for a while.
#[tool]
async fn works(context: Context, milliseconds: u64) -> String {
    context.progress(1.0, None, None);
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    "done".to_owned()
}

/// Holds a thread for ever.
#[tool(blocking)]
fn sticks(context: Context) -> String {
    context.progress(1.0, None, None);
    loop {
        std::thread::park();
    }
}

#[tokio::main]
async fn serve(drain: &str) -> trueform::Result {
    let drain = Duration::from_millis(drain.parse().expect("the tests set a number"));
    let service = Server::new("process", "1")
        .tools(tools![prints, reads, works, sticks])
        .build()?;
    service
        .serve_stdio_with(trueform::transport::StreamSettings::new().drain(drain))
        .await
}

fn main() {
    if let Ok(drain) = std::env::var("TRUEFORM_TEST_SERVER") {
        serve(&drain).expect("the server ends well");
        return;
    }
    // Harness options are for the harness that is not here; a word that is none selects cases.
    let wanted = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
        .unwrap_or_default();
    for (name, case) in CASES.iter().filter(|(name, _)| name.contains(&wanted)) {
        print!("test process::{name} ... ");
        case();
        println!("ok");
    }
}

type Case = (&'static str, fn());

const CASES: &[Case] = &[
    (
        "nothing_printed_reaches_the_client",
        nothing_printed_reaches_the_client,
    ),
    ("the_end_of_the_input_drains", the_end_of_the_input_drains),
    (
        "a_stuck_tool_does_not_keep_the_process",
        a_stuck_tool_does_not_keep_the_process,
    ),
    (
        "a_client_that_closed_its_side_ends_it",
        a_client_that_closed_its_side_ends_it,
    ),
    ("files_and_devices_work_too", files_and_devices_work_too),
    #[cfg(unix)]
    ("a_signal_drains", a_signal_drains),
    #[cfg(unix)]
    ("sockets_work_too", sockets_work_too),
];

struct Running {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

fn command(drain: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command
        .env("TRUEFORM_TEST_SERVER", drain.to_string())
        .stderr(Stdio::null());
    command
}

fn start(drain: u64) -> Running {
    let mut child = command(drain)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be run");
    let input = child.stdin.take();
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    Running {
        child,
        input,
        output,
    }
}

impl Running {
    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the input is open");
        input
            .write_all(format!("{line}\n").as_bytes())
            .expect("the server reads");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .expect("the server writes UTF-8");
        line
    }

    /// Closes the input and returns what the server still says, and how it ended.
    fn end(mut self) -> (String, ExitStatus) {
        drop(self.input.take());
        let mut rest = String::new();
        self.output
            .read_to_string(&mut rest)
            .expect("the server writes UTF-8");
        (rest, wait(&mut self.child))
    }
}

fn wait(child: &mut Child) -> ExitStatus {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return status;
        }
        if begun.elapsed() > Duration::from_secs(20) {
            let _ = child.kill();
            panic!("the server does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn call(id: u32, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{{"progressToken":{id},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

#[track_caller]
fn assert_result(line: &str, id: u32, text: &str) {
    assert!(
        line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)),
        "{line}"
    );
    assert!(line.contains(&format!(r#""text":"{text}""#)), "{line}");
}

// E-2
fn nothing_printed_reaches_the_client() {
    let mut server = start(1000);
    for id in 0..3 {
        server.send(&call(id, "prints", "{}"));
        assert_result(&server.line(), id, "printed");
    }
    server.send(&call(3, "reads", "{}"));
    server.send(&call(4, "prints", "{}"));
    assert_result(&server.line(), 3, "0");
    assert_result(&server.line(), 4, "printed");
    let (rest, status) = server.end();
    assert_eq!(rest, "");
    assert!(status.success());
}

// E-6
fn the_end_of_the_input_drains() {
    let mut server = start(10_000);
    server.send(&call(1, "works", r#"{"milliseconds":50}"#));
    server
        .input
        .as_mut()
        .expect("open")
        .write_all(call(2, "prints", "{}").as_bytes())
        .expect("the server reads");
    let (rest, status) = server.end();
    let answers: Vec<_> = rest
        .lines()
        .filter(|line| line.contains("result"))
        .collect();
    assert_eq!(answers.len(), 2, "{rest}");
    assert!(status.success());
}

fn a_stuck_tool_does_not_keep_the_process() {
    let mut server = start(50);
    server.send(&call(1, "sticks", "{}"));
    assert!(server.line().contains("notifications/progress"));
    server.send(&call(2, "works", r#"{"milliseconds":60000}"#));
    assert!(server.line().contains("notifications/progress"));
    let begun = Instant::now();
    let (rest, status) = server.end();
    assert_eq!(rest, "");
    assert!(status.success());
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
}

fn a_client_that_closed_its_side_ends_it() {
    let mut server = start(60_000);
    drop(server.output);
    let mut input = server.input.take().expect("open");
    let line = format!("{}\n", call(1, "prints", "{}"));
    // The second may find the server gone already.
    input.write_all(line.as_bytes()).expect("the server reads");
    let _ = input.write_all(line.as_bytes());
    assert!(wait(&mut server.child).success());
}

fn files_and_devices_work_too() {
    let folder = std::env::temp_dir().join(format!("trueform-process-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let (from, to) = (folder.join("in"), folder.join("out"));
    std::fs::write(
        &from,
        format!(
            "{}\n{}",
            call(1, "works", r#"{"milliseconds":1}"#),
            call(2, "prints", "{}")
        ),
    )
    .expect("a file");
    let open = |path| std::fs::File::open(path).expect("it was written");
    let output = std::fs::File::create(&to).expect("a file");
    let mut child = command(10_000)
        .stdin(open(&from))
        .stdout(output)
        .spawn()
        .expect("this program can be run");
    assert!(wait(&mut child).success());
    let text = std::fs::read_to_string(&to).expect("it was written");
    assert_eq!(
        text.lines().filter(|line| line.contains("result")).count(),
        2,
        "{text}"
    );
    let mut child = command(10)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("this program can be run");
    assert!(wait(&mut child).success());
    std::fs::remove_dir_all(&folder).expect("the folder is the test's");
}

#[cfg(unix)]
fn a_signal_drains() {
    for signal in ["-TERM", "-INT"] {
        let mut server = start(10_000);
        server.send(&call(1, "works", r#"{"milliseconds":200}"#));
        assert!(server.line().contains("notifications/progress"));
        let killed = Command::new("kill")
            .args([signal, &server.child.id().to_string()])
            .status();
        assert!(killed.expect("`kill` can be run").success());
        // The input stays open: the signal alone ends it.
        assert_result(&server.line(), 1, "done");
        assert_eq!(server.line(), "");
        assert!(wait(&mut server.child).success());
    }
}

/// As clients built on libuv start their servers.
#[cfg(unix)]
fn sockets_work_too() {
    use std::os::{fd::OwnedFd, unix::net::UnixStream};

    let (near, far) = UnixStream::pair().expect("a pair of sockets");
    let both: OwnedFd = far.into();
    let mut child = command(1000)
        .stdin(both.try_clone().expect("it can be duplicated"))
        .stdout(both)
        .spawn()
        .expect("this program can be run");
    let mut input = near.try_clone().expect("it can be duplicated");
    let mut output = BufReader::new(near);
    let writing = std::thread::spawn(move || {
        for id in 0..200 {
            let text = "x".repeat(10_000);
            let line = call(id, "prints", &format!(r#"{{"{text}":1}}"#));
            input
                .write_all(format!("{line}\n").as_bytes())
                .expect("the server reads");
        }
        input
            .shutdown(std::net::Shutdown::Write)
            .expect("it is open");
    });
    for id in 0..200 {
        let mut line = String::new();
        output
            .read_line(&mut line)
            .expect("the server writes UTF-8");
        assert!(
            line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)),
            "{line}"
        );
    }
    writing.join().expect("it writes all");
    let mut line = String::new();
    assert_eq!(
        output.read_line(&mut line).expect("the server ends"),
        0,
        "{line}"
    );
    assert!(wait(&mut child).success());
}
