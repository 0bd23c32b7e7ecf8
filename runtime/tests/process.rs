//! A server in a process of its own: real file descriptors, real signals.
//!
//! Without a test harness, because the harness would print to the standard output that is the protocol's: this program is
//! both sides. Started as it is, it runs the cases below; with `TRUEFORM_TEST_SERVER` set, it is the server.

#![allow(
    clippy::print_stdout,
    reason = "that printing does no harm is what is tested"
)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use trueform::prelude::*;

#[cfg(all(feature = "ask", feature = "http"))]
#[path = "process/asking.rs"]
mod asking;

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

/// Waits for ever, and reports on standard error that it was dropped.
#[tool]
async fn guarded(context: Context) {
    struct Guard;

    impl Drop for Guard {
        fn drop(&mut self) {
            eprintln!("the guard was dropped");
        }
    }

    let _guard = Guard;
    context.progress(1.0, None, None);
    std::future::pending::<()>().await;
}

/// Calls for the end of the server, and goes on for long.
#[tool]
async fn calls_for_the_end(context: Context) -> String {
    context.server().shut_down();
    context.progress(1.0, None, None);
    tokio::time::sleep(Duration::from_secs(3600)).await;
    "done".to_owned()
}

#[tokio::main]
async fn serve(drain: &str) -> trueform::Result {
    let drain = Duration::from_millis(drain.parse().expect("the tests set a number"));
    let service = Server::new("process", "1")
        .tools(tools![
            calls_for_the_end,
            prints,
            reads,
            works,
            sticks,
            guarded
        ])
        .build()?;
    service
        .serve_stdio_with(trueform::transport::StreamSettings::new().drain(drain))
        .await
}

/// As a program of a user's would: arguments and environment decide what is served.
#[tokio::main]
async fn run(arguments: Vec<String>) -> trueform::Result {
    let server = Server::new("process", "1").tools(tools![prints, works]);
    #[cfg(feature = "http")]
    if arguments == ["router"] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        eprintln!("listening on http://{}/mcp", listener.local_addr()?);
        axum::serve(listener, server.into_router()?).await?;
        return Ok(());
    }
    server.run_with(arguments).await
}

fn main() -> trueform::Result {
    #[cfg(all(feature = "ask", feature = "http"))]
    if let Ok(setup) = std::env::var(asking::VARIABLE) {
        return asking::serve(&setup);
    }
    if std::env::var_os("TRUEFORM_TEST_RUN").is_some() {
        return run(std::env::args().skip(1).collect());
    }
    if let Ok(drain) = std::env::var("TRUEFORM_TEST_SERVER") {
        return serve(&drain);
    }
    // Harness options are for the harness that is not here; a word that is not an option selects cases.
    let wanted = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
        .unwrap_or_default();
    for (name, case) in CASES.iter().filter(|(name, _)| name.contains(&wanted)) {
        print!("test process::{name} ... ");
        case();
        println!("ok");
    }
    Ok(())
}

type Case = (&'static str, fn());

const CASES: &[Case] = &[
    (
        "nothing_printed_reaches_the_client",
        nothing_printed_reaches_the_client,
    ),
    #[cfg(unix)]
    (
        "a_terminal_shows_what_is_waited_for",
        a_terminal_shows_what_is_waited_for,
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
    ("arguments_that_are_none", arguments_that_are_none),
    (
        "no_argument_is_standard_streams",
        no_argument_is_standard_streams,
    ),
    #[cfg(not(feature = "http"))]
    ("http_has_to_be_built_in", http_has_to_be_built_in),
    #[cfg(feature = "http")]
    ("http_where_asked_for", http_where_asked_for),
    #[cfg(feature = "http")]
    ("names_from_the_environment", names_from_the_environment),
    #[cfg(feature = "http")]
    (
        "addresses_that_cannot_be_served",
        addresses_that_cannot_be_served,
    ),
    #[cfg(unix)]
    ("a_signal_drains", a_signal_drains),
    #[cfg(unix)]
    (
        "a_signal_after_the_end_of_the_input_ends_it_at_once",
        a_signal_after_the_end_of_the_input_ends_it_at_once,
    ),
    #[cfg(unix)]
    (
        "a_signal_after_a_call_for_the_end_ends_it_at_once",
        a_signal_after_a_call_for_the_end_ends_it_at_once,
    ),
    #[cfg(target_os = "linux")]
    ("messages_take_no_threads", messages_take_no_threads),
    #[cfg(unix)]
    ("sockets_work_too", sockets_work_too),
    #[cfg(all(feature = "ask", feature = "http"))]
    ("processes_in_turn", asking::processes_in_turn),
    #[cfg(all(feature = "ask", feature = "http", target_os = "linux"))]
    (
        "bad_answers_and_their_memory",
        asking::bad_answers_and_their_memory,
    ),
    #[cfg(all(feature = "ask", feature = "http", unix))]
    (
        "a_signal_while_a_question_is_open",
        asking::a_signal_while_a_question_is_open,
    ),
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

// Issue 9: somebody who starts a server by hand sees why nothing happens. A client's log gets no such line.
#[cfg(unix)]
fn a_terminal_shows_what_is_waited_for() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&near).expect("it is ours");
    unlockpt(&near).expect("it is ours");
    let name = ptsname(&near, Vec::new()).expect("it has a name");
    let name = name.to_str().expect("it is ASCII");
    let far = std::fs::File::options().read(true).write(true).open(name);
    let mut child = command(1000)
        .stdin(far.expect("it can be opened"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this program can be run");
    let mut line = String::new();
    let stderr = child.stderr.take().expect("it is piped");
    BufReader::new(stderr).read_line(&mut line).expect("UTF-8");
    assert!(
        line.starts_with("process 1 waits for an MCP client"),
        "{line}"
    );
    child.kill().expect("it runs");
    wait(&mut child);

    let mut piped = command(1000);
    let piped = piped.stdin(Stdio::null()).stderr(Stdio::piped()).output();
    let logged = String::from_utf8(piped.expect("it ends").stderr).expect("UTF-8");
    assert!(!logged.contains("waits for"), "{logged}");
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
    // DEC-11: what is cut off is answered, in no particular order.
    for id in [1, 2] {
        let answer = format!(r#""id":{id},"error":{{"code":-32603"#);
        assert!(rest.contains(&answer), "{id}: {rest}");
    }
    assert_eq!(rest.lines().count(), 2, "{rest}");
    assert!(status.success());
    // The tool that can be cut off would work for 60 s.
    assert!(
        begun.elapsed() < Duration::from_secs(50),
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

/// This program as a user's.
fn user_program(arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    for variable in [
        "TRUEFORM_HTTP",
        "TRUEFORM_ALLOWED_HOSTS",
        "TRUEFORM_ALLOWED_ORIGINS",
    ] {
        command.env_remove(variable);
    }
    command
        .args(arguments)
        .env("TRUEFORM_TEST_RUN", "")
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// What the program says before it fails.
#[track_caller]
fn failure_of(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let output = user_program(arguments, environment)
        .output()
        .expect("this program can be run");
    let told = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(
        output.status.code(),
        Some(1),
        "{arguments:?}, {environment:?}: {told}"
    );
    assert!(
        output.stdout.is_empty(),
        "standard output is the protocol's"
    );
    told
}

fn arguments_that_are_none() {
    for wrong in [
        &["--htp", "127.0.0.1:0"][..],
        &["serve"],
        &["--http", "127.0.0.1:0", "x"],
    ] {
        let told = failure_of(wrong, &[]);
        let expected = format!(
            "unknown arguments `{}`; expected `--http ADDRESS` or none",
            wrong.join(" ")
        );
        assert!(told.contains(&expected), "{told}");
    }
    let told = failure_of(&["--http"], &[]);
    assert!(told.contains("`--http` needs an address"), "{told}");
}

fn no_argument_is_standard_streams() {
    let mut child = user_program(&[], &[])
        .stdin(Stdio::piped())
        .spawn()
        .expect("this program can be run");
    let mut input = child.stdin.take().expect("it is piped");
    writeln!(input, "{}", call(1, "prints", "{}")).expect("the server reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert_result(
        &String::from_utf8(output.stdout).expect("UTF-8"),
        1,
        "printed",
    );
}

#[cfg(not(feature = "http"))]
fn http_has_to_be_built_in() {
    for told in [
        failure_of(&["--http", "127.0.0.1:0"], &[]),
        failure_of(&[], &[("TRUEFORM_HTTP", "127.0.0.1:0")]),
    ] {
        assert!(
            told.contains("`127.0.0.1:0`") && told.contains("feature `http`"),
            "{told}"
        );
    }
}

/// A user's program that serves HTTP, and where; killed at the end.
#[cfg(feature = "http")]
struct Listening {
    child: Child,
    address: String,
}

#[cfg(feature = "http")]
impl Listening {
    fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut child = user_program(arguments, environment)
            .spawn()
            .expect("this program can be run");
        let mut line = String::new();
        BufReader::new(child.stderr.take().expect("it is piped"))
            .read_line(&mut line)
            .expect("it says where it listens");
        let address = line
            .strip_prefix("listening on http://")
            .and_then(|rest| rest.trim_end().strip_suffix("/mcp"))
            .unwrap_or_else(|| panic!("{line}"))
            .to_owned();
        Self { child, address }
    }

    /// The response to a call with these headers.
    fn call(&self, headers: &str) -> String {
        let body = call(1, "works", r#"{"milliseconds":0}"#);
        let mut stream = std::net::TcpStream::connect(&self.address).expect("it listens");
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\n{headers}content-type: application/json\r\naccept: application/json\r\n\
             mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: works\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("it reads");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("UTF-8");
        response
    }
}

#[cfg(feature = "http")]
impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(feature = "http")]
fn http_where_asked_for() {
    type Asked<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)]);
    let asked: [Asked<'_>; 3] = [
        (&["--http", "127.0.0.1:0"], &[]),
        (&[], &[("TRUEFORM_HTTP", "127.0.0.1:0")]),
        // What is written by hand goes before.
        (
            &["--http", "127.0.0.1:0"],
            &[("TRUEFORM_HTTP", "no address")],
        ),
    ];
    for (arguments, environment) in asked {
        let server = Listening::start(arguments, environment);
        let response = server.call("host: localhost\r\n");
        assert!(
            response.starts_with("HTTP/1.1 200") && response.contains("done"),
            "{response}"
        );
        let response = server.call("host: tools.example.com\r\n");
        assert!(
            response.starts_with("HTTP/1.1 403"),
            "no name but loopback ones: {response}"
        );
    }
}

#[cfg(feature = "http")]
fn names_from_the_environment() {
    let hosts = (
        "TRUEFORM_ALLOWED_HOSTS",
        "tools.example.com, ,other.example.com:81,",
    );
    let origins = ("TRUEFORM_ALLOWED_ORIGINS", "https://app.example.com");
    // Issue 9: as a server of its own, and within an application.
    for arguments in [&["--http", "127.0.0.1:0"][..], &["router"]] {
        checks_names(&Listening::start(arguments, &[hosts, origins]));
    }
}

#[cfg(feature = "http")]
fn checks_names(server: &Listening) {
    for (headers, status) in [
        ("host: tools.example.com\r\n", 200),
        ("host: tools.example.com:8080\r\n", 200),
        ("host: other.example.com:81\r\n", 200),
        ("host: other.example.com\r\n", 403),
        ("host: evil.example.com\r\n", 403),
        (
            "host: localhost\r\norigin: https://app.example.com\r\n",
            200,
        ),
        (
            "host: localhost\r\norigin: https://evil.example.com\r\n",
            403,
        ),
    ] {
        let response = server.call(headers);
        assert!(
            response.starts_with(&format!("HTTP/1.1 {status}")),
            "{headers}: {response}"
        );
    }
}

#[cfg(feature = "http")]
fn addresses_that_cannot_be_served() {
    for told in [
        failure_of(&["--http", "8000"], &[]),
        failure_of(&["--http=8000"], &[]),
        failure_of(&[], &[("TRUEFORM_HTTP", "8000")]),
    ] {
        assert!(
            told.contains("`8000` is not an address to serve HTTP at")
                && told.contains("expected HOST:PORT"),
            "{told}"
        );
    }
    let held = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = held.local_addr().expect("an address").to_string();
    let told = failure_of(&["--http", &taken], &[]);
    assert!(told.contains(&format!("listening on {taken}")), "{told}");
    for (variable, value) in [
        ("TRUEFORM_ALLOWED_HOSTS", "http://x"),
        ("TRUEFORM_ALLOWED_ORIGINS", "example.com"),
    ] {
        let told = failure_of(&["--http", "127.0.0.1:0"], &[(variable, value)]);
        assert!(told.contains(value), "{told}");
    }
}

#[cfg(unix)]
fn a_signal_drains() {
    for signal in ["-TERM", "-INT"] {
        let mut server = start(10_000);
        server.send(&call(1, "works", r#"{"milliseconds":200}"#));
        assert!(server.line().contains("notifications/progress"));
        send_signal(signal, &server.child);
        // The input stays open: the signal alone ends it.
        assert_result(&server.line(), 1, "done");
        assert_eq!(server.line(), "");
        assert!(wait(&mut server.child).success());
    }
}

#[cfg(unix)]
fn send_signal(signal: &str, child: &Child) {
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.expect("`kill` can be run").success());
}

/// DEC-11: calls for the end and signals are one series.
#[cfg(unix)]
fn a_signal_after_a_call_for_the_end_ends_it_at_once() {
    let mut server = start(60_000);
    server.send(&call(1, "calls_for_the_end", "{}"));
    assert!(server.line().contains("notifications/progress"));
    send_signal("-TERM", &server.child);
    let cut_off = server.line();
    assert!(
        cut_off.starts_with(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"#),
        "{cut_off}"
    );
    assert!(wait(&mut server.child).success());
}

/// DEC-11: as clients end their servers. They close standard input, wait 2 s and send SIGTERM.
#[cfg(unix)]
fn a_signal_after_the_end_of_the_input_ends_it_at_once() {
    const DRAIN: u64 = 60_000;
    for signal in ["-TERM", "-INT"] {
        let mut child = command(DRAIN)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("this program can be run");
        let mut input = child.stdin.take().expect("it is piped");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = || {
            let mut line = String::new();
            output
                .read_line(&mut line)
                .expect("the server writes UTF-8");
            line
        };
        let listen = r#"{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        for message in [listen, &call(1, "guarded", "{}")] {
            input
                .write_all(format!("{message}\n").as_bytes())
                .expect("the server reads");
        }
        assert!(line().contains("notifications/subscriptions/acknowledged"));
        assert!(line().contains("notifications/progress"));
        drop(input);
        // The subscription ends when the server has seen the end of the input.
        let ended = line();
        assert!(
            ended.starts_with(r#"{"jsonrpc":"2.0","id":2,"result":"#),
            "{ended}"
        );
        assert!(line().contains("notifications/cancelled"));
        assert!(
            child.try_wait().expect("it can be waited for").is_none(),
            "it drains"
        );
        send_signal(signal, &child);
        let begun = Instant::now();
        let cut_off = line();
        assert!(
            cut_off.starts_with(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"#),
            "{cut_off}"
        );
        assert_eq!(line(), "");
        assert!(wait(&mut child).success());
        let mut said = String::new();
        let mut errors = child.stderr.take().expect("it is piped");
        errors.read_to_string(&mut said).expect("UTF-8");
        assert!(said.contains("the guard was dropped"), "{said:?}");
        assert!(begun.elapsed() < Duration::from_millis(DRAIN / 2));
    }
}

/// Findings 47: what is read and written takes no thread for each message.
#[cfg(target_os = "linux")]
fn messages_take_no_threads() {
    let mut server = start(1000);
    let path = format!("/proc/{}/status", server.child.id());
    let threads = || {
        let status = std::fs::read_to_string(&path).expect("it runs");
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("Threads:"));
        let threads = line.and_then(|threads| threads.trim().parse::<u32>().ok());
        threads.expect("a number")
    };
    let mut works = |id: u32| {
        server.send(&call(id, "works", r#"{"milliseconds":1}"#));
        assert!(server.line().contains("notifications/progress"));
        assert_result(&server.line(), id, "done");
    };
    works(0);
    let before = threads();
    for id in 1..100 {
        works(id);
        assert_eq!(threads(), before, "after {id} messages");
    }
    assert!(server.end().1.success());
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
