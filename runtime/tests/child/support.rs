//! What the cases share: servers to start, processes to look at, the log.

use std::{
    fmt::Write,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use trueform::{
    client::{Client, ClientError, ClientOptions, LocalError, ServerCommand, ServerFailure},
    prelude::*,
};

use crate::servers::BEHAVIOUR;

/// Longest that a process is waited for which should have ended.
pub(crate) const GONE: Duration = Duration::from_secs(20);

/// This program, as a server that behaves so.
pub(crate) fn server(behaviour: &str) -> ServerCommand {
    ServerCommand::new(std::env::current_exe().unwrap())
        .env(BEHAVIOUR, behaviour)
        .close_wait(Duration::from_secs(20))
}

pub(crate) fn legacy() -> ClientOptions {
    ClientOptions::at(Revision::V2025_11_25)
}

/// What `behaviour` is connected to with.
pub(crate) async fn connected(behaviour: &str, options: ClientOptions) -> Client {
    Client::spawn(&server(behaviour), options).await.unwrap()
}

pub(crate) async fn process_id(client: &Client) -> i32 {
    let pid = client.call_tool("pid", ()).await.unwrap();
    pid.text().parse().unwrap()
}

#[track_caller]
pub(crate) fn failure(error: ClientError) -> ServerFailure {
    match error {
        ClientError::Local(LocalError::Server(failure)) => (*failure).clone(),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub(crate) fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
    let plain = |character: char| !character.is_control();
    assert!(text.chars().all(plain), "{text:?}");
}

/// Whether a process runs. One that nobody waits for does not.
pub(crate) fn runs(pid: i32) -> bool {
    let Some(id) = Pid::from_raw(pid) else {
        return false;
    };
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    let is_zombie = stat.is_ok_and(|stat| stat.contains(") Z "));
    test_kill_process(id).is_ok() && !is_zombie
}

/// Whether the system still knows a process, if only as one to be waited for.
pub(crate) fn exists(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok())
}

pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < GONE, "{what} is not so after {GONE:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) fn kill(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}

static LINES: Mutex<String> = Mutex::new(String::new());

/// What was logged since it was cleared last.
pub(crate) fn log() -> MutexGuard<'static, String> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) struct Log;

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
