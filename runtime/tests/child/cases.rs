//! What a client makes of them.

use std::{
    fmt::Write,
    future::{Future, IntoFuture},
    pin::Pin,
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;
use trueform::{
    client::{
        Client, ClientError, ClientOptions, LocalError, ServerCommand, ServerFailure, ServerFault,
    },
    prelude::*,
};

use crate::servers::BEHAVIOUR;

/// Longest that a case may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Longest that a process is waited for which should have ended.
const GONE: Duration = Duration::from_secs(20);

type Case = (&'static str, fn() -> Pin<Box<dyn Future<Output = ()>>>);

macro_rules! cases {
    ($($name:ident),* $(,)?) => { &[$((stringify!($name), || Box::pin($name()))),*] };
}

const CASES: &[Case] = cases![
    commands_that_cannot_be_started,
    servers_that_cannot_be_connected_to,
    what_a_command_sets,
    a_banner_is_skipped_and_counted,
    a_server_that_dies_of_the_probe_is_started_again,
    what_was_found_out_spares_the_probe,
    a_server_that_is_killed_ends_its_calls,
    a_server_that_closes_its_output_is_ended,
    a_server_that_closes_its_input_is_ended,
    a_server_that_stops_reading_is_ended,
    an_endless_line_takes_no_memory,
    a_flood_on_standard_error_is_bounded,
    output_that_others_hold_open_is_not_waited_for,
    a_close_is_polite,
    a_stubborn_server_and_what_it_started_are_killed,
    what_a_server_leaves_behind_is_ended,
    a_dropped_client_ends_its_server,
];

pub(crate) fn run() {
    tracing::subscriber::set_global_default(Log).unwrap();
    // Harness options are for the harness that is not here; another word selects cases.
    let wanted = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
        .unwrap_or_default();
    for (name, case) in CASES.iter().filter(|(name, _)| name.contains(&wanted)) {
        print!("test child::{name} ... ");
        let (ended, end) = mpsc::channel::<()>();
        let watch = std::thread::spawn(move || {
            if end.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
                println!("took longer than {LIMIT:?}");
                std::process::exit(1);
            }
        });
        on_a_runtime(case());
        drop(ended);
        watch.join().unwrap();
        println!("ok");
    }
    the_end_of_the_runtime_kills(&wanted);
}

fn on_a_runtime<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(future)
}

/// This program, as a server that behaves so.
fn server(behaviour: &str) -> ServerCommand {
    ServerCommand::new(std::env::current_exe().unwrap())
        .env(BEHAVIOUR, behaviour)
        .close_wait(Duration::from_secs(20))
}

fn legacy() -> ClientOptions {
    ClientOptions::at(Revision::V2025_11_25)
}

/// What `behaviour` is connected to with.
async fn connected(behaviour: &str, options: ClientOptions) -> Client {
    Client::spawn(&server(behaviour), options).await.unwrap()
}

async fn process_id(client: &Client) -> i32 {
    let pid = client.call_tool("pid", ()).await.unwrap();
    pid.text().parse().unwrap()
}

#[track_caller]
fn failure(error: ClientError) -> ServerFailure {
    match error {
        ClientError::Local(LocalError::Server(failure)) => (*failure).clone(),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
    let plain = |character: char| !character.is_control();
    assert!(text.chars().all(plain), "{text:?}");
}

/// Whether a process runs. One that nobody waits for does not.
fn runs(pid: i32) -> bool {
    let Some(id) = Pid::from_raw(pid) else {
        return false;
    };
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    let is_zombie = stat.is_ok_and(|stat| stat.contains(") Z "));
    test_kill_process(id).is_ok() && !is_zombie
}

/// Whether the system still knows a process, if only as one to be waited for.
fn exists(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok())
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < GONE, "{what} is not so after {GONE:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

// Issue 12 §5: the text names what, where, and what to try.
async fn commands_that_cannot_be_started() {
    let folder = std::env::temp_dir().join(format!("trueform-child-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, text: &str, mode: u32| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&path, mode).unwrap();
        path
    };
    let plain = file("plain", "#!/bin/sh\n", 0o644);
    let other = file("other", "#!/no/such/interpreter\n", 0o755);
    let rows = [
        (
            ServerCommand::new("no-such-mcp-server"),
            vec!["`no-such-mcp-server`", "`PATH`", "install it"],
        ),
        (
            ServerCommand::new("/no/such/server"),
            vec!["`/no/such/server`", "there is no such file", "absolute"],
        ),
        (
            ServerCommand::new(&plain),
            vec!["/plain`", "ermission denied", "chmod +x"],
        ),
        (
            ServerCommand::new(&folder),
            vec!["ermission denied", "check that it is a file"],
        ),
        (
            ServerCommand::new(&other),
            vec!["/other`", "interpreter", "does not; install it"],
        ),
        (
            server("serves").current_dir("/no/such/folder"),
            vec!["working directory `/no/such/folder`", "current_dir"],
        ),
    ];
    for (command, parts) in rows {
        let error = Client::spawn(&command, ClientOptions::new())
            .await
            .unwrap_err();
        assert_says(&error.to_string(), &parts);
        assert!(
            matches!(error, ClientError::Local(LocalError::Spawn(_))),
            "{error:?}"
        );
        assert!(std::error::Error::source(&error).is_some());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

// Issue 12 §5, D-6: one bounded try more, and what to set.
async fn servers_that_cannot_be_connected_to() {
    let short = || {
        ClientOptions::new()
            .probe_timeout(Duration::from_millis(300))
            .timeout(Duration::from_millis(1500))
            .max_message(1 << 16)
    };
    let hint = "start the command by hand";
    let rows: [(&str, ClientOptions, &[&str]); 4] = [
        (
            "exits",
            ClientOptions::new(),
            &[
                "exited before the client was connected (exit status: 3)",
                r"its standard error ends with: no key\nset MY_KEY",
                hint,
            ],
        ),
        (
            "never answers",
            short(),
            &[
                "no answer to `server/discover` within 300ms (`probe_timeout`), nor to `initialize` within 1.5s (`timeout`)",
                "`Negotiation::Offer(Revision::V2025_11_25)`",
                "1 of the lines on its standard output were not MCP messages",
                "its standard error ends with: thinking",
                hint,
            ],
        ),
        (
            "never answers",
            short().negotiation(trueform::client::Negotiation::Exactly(
                Revision::V2025_06_18,
            )),
            &[
                "no answer to `initialize` within 1.5s (`timeout`); if the server is slow to start, raise",
            ],
        ),
        (
            "endless line",
            short(),
            &[
                "no answer to",
                "it wrote a line longer than the client's `max_message`",
                "it wrote nothing to standard error",
            ],
        ),
    ];
    for (behaviour, options, parts) in rows {
        let begun = Instant::now();
        let error = Client::spawn(&server(behaviour), options)
            .await
            .unwrap_err();
        assert_says(&error.to_string(), parts);
        let failure = failure(error);
        let pid = i32::try_from(failure.pid().unwrap()).unwrap();
        until("the end of the process", || !exists(pid)).await;
        assert!(begun.elapsed() < GONE, "{behaviour}");
    }
}

async fn what_a_command_sets() {
    let command = server("serves")
        .arg("one two")
        .args(["$HOME", "*"])
        .env("MINE", "1")
        .env("REMOVED", "1")
        .env_remove("REMOVED")
        .current_dir("/");
    let client = Client::spawn(&command, ClientOptions::new()).await.unwrap();
    let told = client.call_tool("surroundings", ()).await.unwrap();
    assert_eq!(told.text(), "/\none two\n$HOME\n*\n1\n");
    client.close().await;

    let bare = server("serves")
        .env("MINE", "1")
        .env_clear()
        .env(BEHAVIOUR, "serves");
    let client = Client::spawn(&bare, ClientOptions::new()).await.unwrap();
    let told = client.call_tool("surroundings", ()).await.unwrap();
    assert!(told.text().ends_with("\n\n"), "{}", told.text());
    client.close().await;
    let shown = format!("{:?}", server("serves").arg("secret").env("A", "secret"));
    assert!(!shown.contains("secret"), "{shown}");
}

// GAP: noise is skipped, counted and logged without what is in it.
async fn a_banner_is_skipped_and_counted() {
    log().clear();
    let client = connected("prints a banner", ClientOptions::new()).await;
    assert_eq!(client.revision(), Revision::V2025_11_25);
    assert_eq!(client.call_tool("any", ()).await.unwrap().text(), "called");
    // Two lines that are not empty, and one before each of four messages.
    assert_eq!(client.skipped_lines(), 6);
    client.close().await;
    let log = log().clone();
    assert!(
        log.contains("WARN the server sent something malformed"),
        "{log}"
    );
    assert!(log.contains("DEBUG this was refused"), "{log}");
    assert!(!log.contains("secret-banner"), "{log}");
}

// D-6
async fn a_server_that_dies_of_the_probe_is_started_again() {
    log().clear();
    let client = connected("dies on discover", ClientOptions::new()).await;
    assert_eq!(client.revision(), Revision::V2025_11_25);
    assert_eq!(client.call_tool("any", ()).await.unwrap().text(), "called");
    client.close().await;
    assert!(log().contains("(exit status: 7)"), "{}", log());

    // Not if the caller chose.
    let options = ClientOptions::at(Revision::V2026_07_28);
    let error = Client::spawn(&server("dies on discover"), options).await;
    let failure = failure(error.unwrap_err());
    assert_eq!(failure.exit_status().unwrap().code(), Some(7));
    assert_says(&failure.to_string(), &[r#"what is "server/discover"?"#]);
}

// D-10
async fn what_was_found_out_spares_the_probe() {
    let client = connected("dies on discover", ClientOptions::new()).await;
    let profile = client.profile();
    client.close().await;
    log().clear();
    let client = connected(
        "dies on discover",
        ClientOptions::new().profile(profile.clone()),
    )
    .await;
    assert_eq!(client.profile(), profile);
    client.close().await;
    assert!(!log().contains("started again"), "{}", log());
}

async fn a_server_that_is_killed_ends_its_calls() {
    let client = connected("serves", ClientOptions::new()).await;
    let pid = process_id(&client).await;
    let (begun, begins) = tokio::sync::oneshot::channel();
    let mut begun = Some(begun);
    let call = client.call_tool("hold", ()).on_progress(move |_| {
        if let Some(begun) = begun.take() {
            let _ = begun.send(());
        }
    });
    let killing = async {
        begins.await.unwrap();
        kill(pid);
    };
    let (error, ()) = tokio::join!(call.into_future(), killing);
    let failure = failure(error.unwrap_err());
    assert_eq!(*failure.fault(), ServerFault::Exited);
    assert_says(
        &failure.to_string(),
        &[
            &format!("(pid {pid}) exited (signal: 9 (SIGKILL))"),
            "nothing to standard error",
        ],
    );
    // So do the next ones.
    let error = client.call_tool("add", ()).await.unwrap_err();
    assert_says(&error.to_string(), &["exited (signal: 9 (SIGKILL))"]);
    assert!(
        client
            .next_message()
            .await
            .is_none_or(|message| message.contains("progress"))
    );
    client.close().await;
    assert!(!exists(pid), "a zombie");
    // Nothing keeps a new one from being started.
    let client = connected("serves", ClientOptions::new()).await;
    assert_ne!(process_id(&client).await, pid);
    client.close().await;
}

async fn a_server_that_closes_its_output_is_ended() {
    let command = server("closes its output")
        .last_output(Duration::from_millis(100))
        .close_wait(Duration::from_millis(100));
    let client = Client::spawn(&command, legacy()).await.unwrap();
    let failure = failure(client.call_tool("any", ()).await.unwrap_err());
    assert_eq!(*failure.fault(), ServerFault::ClosedOutput);
    assert_eq!(failure.exit_status(), None);
    assert_says(
        &failure.to_string(),
        &["closed its standard output;", "output closes"],
    );
    // While the client lives on.
    let pid = i32::try_from(failure.pid().unwrap()).unwrap();
    until("the end of the process", || !exists(pid)).await;
    client.close().await;
}

async fn a_server_that_closes_its_input_is_ended() {
    let command = server("closes its input")
        .last_output(Duration::from_millis(100))
        .close_wait(Duration::from_millis(100));
    let client = Client::spawn(&command, legacy()).await.unwrap();
    let first = tokio::spawn(client.call_tool("any", ()).into_future());
    // It takes until the pipe is closed that a write fails.
    let error = loop {
        match client.notify::<trueform::schema::methods::RootsListChanged>(&Default::default()) {
            Ok(()) => tokio::task::yield_now().await,
            Err(error) => break error,
        }
    };
    drop(error);
    let failure = failure(first.await.unwrap().unwrap_err());
    assert_eq!(*failure.fault(), ServerFault::ClosedInput);
    assert_says(&failure.to_string(), &["closed its standard input"]);
    let pid = i32::try_from(failure.pid().unwrap()).unwrap();
    until("the end of the process", || !exists(pid)).await;
    client.close().await;
}

// Y-6
async fn a_server_that_stops_reading_is_ended() {
    let command = server("stops reading").close_wait(Duration::from_millis(100));
    let options = legacy().write_timeout(Duration::from_millis(300));
    let client = Client::spawn(&command, options).await.unwrap();
    // More than a pipe holds.
    let large = json!({ "text": "x".repeat(1 << 20) });
    let (first, second) = tokio::join!(
        client.call_tool("any", ()).into_future(),
        client.call_tool("any", large).into_future()
    );
    drop(failure(second.unwrap_err()));
    let failure = failure(first.unwrap_err());
    assert_eq!(
        *failure.fault(),
        ServerFault::StoppedReading(Duration::from_millis(300))
    );
    assert_says(
        &failure.to_string(),
        &["read nothing for 300ms, the `write_timeout` setting"],
    );
    let pid = i32::try_from(failure.pid().unwrap()).unwrap();
    until("the end of the process", || !exists(pid)).await;
    client.close().await;
}

async fn an_endless_line_takes_no_memory() {
    log().clear();
    let command = server("endless line on a call").close_wait(Duration::from_millis(100));
    let options = legacy().max_message(1 << 16);
    let client = Client::spawn(&command, options).await.unwrap();
    let call = client
        .call_tool("any", ())
        .timeout(Duration::from_millis(500));
    let error = call.await.unwrap_err();
    assert!(
        matches!(error, ClientError::Local(LocalError::TimedOut(_))),
        "{error:?}"
    );
    let log = log().clone();
    assert!(log.contains("a line longer than `max_message`"), "{log}");
    client.close().await;
}

// E-4
async fn a_flood_on_standard_error_is_bounded() {
    log().clear();
    let client = connected("floods its log", legacy()).await;
    assert_eq!(client.call_tool("any", ()).await.unwrap().text(), "called");
    let begun = Instant::now();
    client.close().await;
    assert!(begun.elapsed() < GONE);
    let log = log().clone();
    let lines = log
        .lines()
        .filter(|line| line.starts_with("INFO flood flood"));
    let lines = lines.count();
    assert!((200..20_000).contains(&lines), "{lines}");
    assert!(
        log.contains("more lines to standard error than are logged"),
        "{lines}"
    );
}

async fn output_that_others_hold_open_is_not_waited_for() {
    let command = server("leaves a process behind").last_output(Duration::from_millis(200));
    let client = Client::spawn(&command, legacy()).await.unwrap();
    let failure = failure(client.call_tool("any", ()).await.unwrap_err());
    let left: i32 = failure.stderr().trim().parse().unwrap();
    assert!(runs(left));
    assert_eq!(*failure.fault(), ServerFault::Exited);
    assert_eq!(failure.exit_status().unwrap().code(), Some(5));
    client.close().await;
    kill(left);
}

// E-5
async fn a_close_is_polite() {
    log().clear();
    let client = connected("serves", ClientOptions::new()).await;
    let pid = process_id(&client).await;
    client.close().await;
    assert!(!exists(pid), "it runs on, or is a zombie");
    // The end of its input was enough.
    let log = log().clone();
    assert!(!log.contains("did not exit within"), "{log}");
    let exited = format!("exited pid={pid} exit_status=exit status: 0");
    assert!(log.contains(&exited), "{log}");
}

// E-5
async fn a_stubborn_server_and_what_it_started_are_killed() {
    log().clear();
    let command = server("serves")
        .close_wait(Duration::from_millis(100))
        .term_wait(Duration::from_millis(100));
    let client = Client::spawn(&command, ClientOptions::new()).await.unwrap();
    let pid = process_id(&client).await;
    let started = client.call_tool("start", ()).await.unwrap();
    let started: i32 = started.text().parse().unwrap();
    client.call_tool("be_stubborn", ()).await.unwrap();
    assert!(runs(started));
    client.close().await;
    assert!(!exists(pid), "it runs on, or is a zombie");
    until("the end of what it started", || !runs(started)).await;
    let log = log().clone();
    let steps = log.matches("the server process did not exit within 100ms");
    assert_eq!(steps.count(), 2, "{log}");
}

async fn what_a_server_leaves_behind_is_ended() {
    let client = connected("serves", ClientOptions::new()).await;
    let started = client.call_tool("start", ()).await.unwrap();
    let started: i32 = started.text().parse().unwrap();
    assert!(runs(started));
    client.close().await;
    until("the end of what it started", || !runs(started)).await;
}

async fn a_dropped_client_ends_its_server() {
    let client = connected("serves", ClientOptions::new()).await;
    let pid = process_id(&client).await;
    let other = client.clone();
    drop(client);
    assert_eq!(process_id(&other).await, pid);
    drop(other);
    until("the end of the process", || !exists(pid)).await;

    // One that does not end by itself, too.
    let command = server("serves")
        .close_wait(Duration::from_millis(100))
        .term_wait(Duration::from_millis(100));
    let client = Client::spawn(&command, ClientOptions::new()).await.unwrap();
    let pid = process_id(&client).await;
    client.call_tool("be_stubborn", ()).await.unwrap();
    drop(client);
    until("the end of the process", || !exists(pid)).await;

    // While it connects, too.
    let command = server("never answers");
    let connecting = Client::spawn(&command, ClientOptions::new());
    let limit = Duration::from_millis(500);
    assert!(tokio::time::timeout(limit, connecting).await.is_err());
    let log = log().clone();
    let pid = log
        .rsplit("the server process was started pid=")
        .next()
        .unwrap();
    let pid: i32 = pid.split_whitespace().next().unwrap().parse().unwrap();
    until("the end of the process", || !exists(pid)).await;
}

/// With a runtime that is gone before anything can be waited for.
fn the_end_of_the_runtime_kills(wanted: &str) {
    let name = "the_end_of_the_runtime_kills";
    if !name.contains(wanted) {
        return;
    }
    print!("test child::{name} ... ");
    let (pid, started, client) = on_a_runtime(async {
        let client = connected("serves", ClientOptions::new()).await;
        client.call_tool("be_stubborn", ()).await.unwrap();
        let started = client.call_tool("start", ()).await.unwrap();
        (
            process_id(&client).await,
            started.text().parse().unwrap(),
            client,
        )
    });
    on_a_runtime(async {
        until("the end of the process", || !runs(pid)).await;
        until("the end of what it started", || !runs(started)).await;
    });
    drop(client);
    println!("ok");
}

static LINES: Mutex<String> = Mutex::new(String::new());

/// What was logged since it was cleared last.
fn log() -> MutexGuard<'static, String> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Log;

struct Fields<'a>(&'a mut String);

impl tracing::field::Visit for Fields<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::DEBUG && metadata.target().starts_with("trueform")
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = format!("{} ", event.metadata().level());
        event.record(&mut Fields(&mut line));
        let mut log = log();
        log.push_str(&line);
        log.push('\n');
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}
