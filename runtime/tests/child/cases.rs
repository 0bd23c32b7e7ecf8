//! What a client makes of them.

use std::{
    future::{Future, IntoFuture},
    pin::Pin,
    sync::mpsc,
    time::{Duration, Instant},
};

use serde_json::json;
use trueform::{
    client::{Client, ClientError, ClientOptions, LocalError, ServerFault},
    schema::SubscriptionFilter,
};

use crate::{
    connecting::{
        a_banner_is_skipped_and_counted, a_server_of_a_session_is_started,
        a_server_that_dies_of_the_probe_is_started_again, commands_that_cannot_be_started,
        servers_that_cannot_be_connected_to, what_a_command_sets,
        what_was_found_out_spares_the_probe,
    },
    hostile::{
        an_answer_that_is_cut_off, answers_to_others_are_counted, drips,
        many_notifications_are_all_reported,
    },
    many::ten_thousand_calls_keep_the_bounds,
    support::{
        GONE, Log, assert_says, connected, exists, failure, kill, legacy, log, process_id, runs,
        server, until,
    },
};

/// Longest that a case may take.
const LIMIT: Duration = Duration::from_secs(60);

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
    a_server_of_a_session_is_started,
    a_server_that_is_killed_ends_its_calls,
    a_server_that_closes_its_output_is_ended,
    a_server_that_closes_its_input_is_ended,
    a_server_that_stops_reading_is_ended,
    an_endless_line_takes_no_memory,
    drips,
    answers_to_others_are_counted,
    many_notifications_are_all_reported,
    an_answer_that_is_cut_off,
    ten_thousand_calls_keep_the_bounds,
    a_flood_on_standard_error_is_bounded,
    output_that_others_hold_open_is_not_waited_for,
    output_that_others_write_without_a_pause_is_not_read_to_its_end,
    a_flood_of_lines_keeps_no_clock_from_ticking,
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

// E-7, U-7: the calls of a server that died are lost and so are its subscriptions, which a new one takes again.
async fn a_server_that_is_killed_ends_its_calls() {
    let client = connected("serves", ClientOptions::new()).await;
    let pid = process_id(&client).await;
    let filter = SubscriptionFilter::default();
    let mut changes = client.listen(filter.clone()).await.unwrap();
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
    assert!(changes.next().await.is_none());
    assert!(matches!(changes.ended(), Some(Err(_))), "{changes:?}");
    // So do the next ones.
    let error = client.call_tool("add", ()).await.unwrap_err();
    assert_says(&error.to_string(), &["exited (signal: 9 (SIGKILL))"]);
    assert!(
        client
            .next_message()
            .await
            .is_none_or(|message| message.contains("notifications/"))
    );
    client.close().await;
    assert!(!exists(pid), "a zombie");
    // Nothing keeps a new one from being started.
    let client = connected("serves", ClientOptions::new()).await;
    assert_ne!(process_id(&client).await, pid);
    let changes = client.listen(filter).await.unwrap();
    assert!(changes.ended().is_none());
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

async fn output_that_others_write_without_a_pause_is_not_read_to_its_end() {
    let command = server("leaves a writer behind").last_output(Duration::from_millis(200));
    let client = Client::spawn(&command, legacy()).await.unwrap();
    let begun = Instant::now();
    let failure = failure(client.call_tool("any", ()).await.unwrap_err());
    let left: i32 = failure.stderr().trim().parse().unwrap();
    assert_eq!(*failure.fault(), ServerFault::Exited);
    assert_eq!(failure.exit_status().unwrap().code(), Some(5));
    client.close().await;
    assert!(begun.elapsed() < GONE, "{:?}", begun.elapsed());
    // Nobody reads what it writes.
    until("the end of the writer", || !runs(left)).await;
}

/// The runtime has one thread: what reads the lines lets the clock of the call be looked at.
async fn a_flood_of_lines_keeps_no_clock_from_ticking() {
    const LIMIT: Duration = Duration::from_millis(200);
    let command = server("floods its output").close_wait(Duration::from_millis(100));
    let client = Client::spawn(&command, legacy()).await.unwrap();
    let begun = Instant::now();
    let error = client.call_tool("any", ()).timeout(LIMIT).await;
    let error = error.unwrap_err();
    assert!(
        matches!(error, ClientError::Local(LocalError::TimedOut(_))),
        "{error:?}"
    );
    // Without the clock it would never end.
    let late = begun.elapsed() - LIMIT;
    assert!(late < GONE, "{late:?}");
    client.close().await;
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
        // Elsewhere the client can still be used, as one whose connection has ended.
        let error = client.call_tool("pid", ()).await.unwrap_err();
        let is_closed = matches!(error, ClientError::Local(LocalError::Closed));
        assert!(is_closed, "{error}");
        let closing = tokio::time::timeout(GONE, client.close());
        closing.await.expect("there is nothing to wait for");
    });
    println!("ok");
}
