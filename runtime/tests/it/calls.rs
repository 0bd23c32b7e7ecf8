//! One call among others: contained when it fails, cancelled, timed out, reporting on its way.

use std::{future::IntoFuture, sync::Arc, time::Duration};

use expect_test::expect;
use serde_json::json;
use trueform::{client::ClientOptions, prelude::*};

use crate::support::{
    Collected, conversation, initialize, joined, legacy, modern, raw, service, soon, staged,
};

fn text(result: &CallToolResult) -> &str {
    match &result.content[..] {
        [ContentBlock::Text(text)] => &text.text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_panic_is_contained() {
    let (service, director) = staged();
    let client = service.connect().await.unwrap();
    let running = tokio::spawn(
        client
            .call_tool("wait", json!({ "label": "x" }))
            .into_future(),
    );
    director.begun().await;
    for tool in ["panics", "panics_later", "panics_blocking"] {
        let result = client.call_tool(tool, ()).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        assert_eq!(
            text(&result),
            format!("tool `{tool}` failed: internal error")
        );
    }
    director.open();
    assert_eq!(text(&soon(running).await.unwrap().unwrap()), "x");
}

// O-6
#[tokio::test(start_paused = true)]
async fn a_timeout_binds_async_and_blocking_tools() {
    let client = service().connect().await.unwrap();
    for tool in ["overruns", "overruns_blocking", "panics_when_dropped"] {
        let result = client.call_tool(tool, ()).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        assert_eq!(
            text(&result),
            format!("tool `{tool}` did not finish within 1s")
        );
    }
}

/// Holds a thread until it is given up; says that it has begun, and that it has seen its end.
#[tool(blocking, timeout = "1s")]
fn sees_its_end(context: Context, said: State<std::sync::mpsc::Sender<&'static str>>) {
    let _ = said.0.send("begun");
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while !context.is_cancelled() {
        if std::time::Instant::now() > deadline {
            let _ = said.0.send("runs on");
            return;
        }
        std::thread::yield_now();
    }
    let _ = said.0.send("has stopped");
}

// A timeout ends the work too, not only the wait for it.
#[tokio::test(start_paused = true)]
async fn a_timeout_is_seen_by_a_blocking_tool() {
    let (sender, said) = std::sync::mpsc::channel();
    let server = Server::new("t", "1").tools(tools![sees_its_end]);
    let client = server.state(sender).connect().await.unwrap();
    let calling = tokio::spawn(client.call_tool("sees_its_end", ()).into_future());
    // The clock stands still meanwhile: a call that has not begun when its time is up never begins.
    let begun = tokio::task::spawn_blocking(move || (said.recv(), said));
    let (begun, said) = soon(begun).await.unwrap();
    assert_eq!(begun, Ok("begun"));
    let result = calling.await.unwrap().unwrap();
    assert_eq!(result.is_error, Some(true));
    let ended = tokio::task::spawn_blocking(move || said.recv());
    assert_eq!(soon(ended).await.unwrap(), Ok("has stopped"));
}

// E-9, O-2, O-3: both eras cancel in the same way on a stream.
#[tokio::test]
async fn a_cancelled_call_is_dropped_and_not_answered() {
    for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
        let (service, director) = staged();
        let client = service
            .connect_as(ClientOptions::at(revision))
            .await
            .unwrap();
        for tool in ["wait", "block"] {
            let call = tokio::spawn(
                client
                    .call_tool(tool, json!({ "label": "x" }))
                    .into_future(),
            );
            assert_eq!(director.begun().await, "x");
            call.abort();
            assert!(
                ["dropped x", "left x"].contains(&&*director.begun().await),
                "{tool}"
            );
        }
        client.close_sending();
        assert_eq!(soon(client.next_message()).await, None, "{revision}");
    }
}

#[tokio::test]
async fn cancelling_twice_or_late_does_nothing() {
    let (service, director) = staged();
    let client = raw(&service).await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    client
        .send_raw(modern(
            "1",
            "tools/call",
            r#","name":"wait","arguments":{"label":"x"}"#,
        ))
        .unwrap();
    director.begun().await;
    client
        .send_raw(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}"#,
        )
        .unwrap();
    client.send_raw(cancel).unwrap();
    client.send_raw(cancel).unwrap();
    assert_eq!(director.begun().await, "dropped x");
    client.send_raw(cancel).unwrap();
    client.send_raw(legacy("1", "ping", "{}")).unwrap();
    assert_eq!(
        soon(client.next_message()).await.unwrap(),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
    );
}

// B-10
#[tokio::test]
async fn a_ping_is_answered_while_calls_run() {
    let (service, director) = staged();
    let client = service
        .connect_as(ClientOptions::at(Revision::V2025_11_25))
        .await
        .unwrap();
    let running = tokio::spawn(
        client
            .call_tool("wait", json!({ "label": "x" }))
            .into_future(),
    );
    director.begun().await;
    client
        .request::<trueform::schema::methods::Ping>(Default::default())
        .await
        .unwrap();
    director.open();
    assert_eq!(text(&soon(running).await.unwrap().unwrap()), "x");
}

// N-1, N-2, N-3, M-1, M-4: everything of one call stays in order, its answer last.
#[tokio::test]
async fn what_a_call_says_comes_before_its_answer() {
    let call = |id: &str, meta: &str| {
        legacy(
            id,
            "tools/call",
            &format!(r#"{{"name":"steps","arguments":{{"steps":2}}{meta}}}"#),
        )
    };
    let [first, second] = initialize("2025-03-26");
    let lines = [
        first,
        second,
        call("1", r#","_meta":{"progressToken":"t"}"#),
    ];
    let output = conversation(&service(), joined(lines)).await;
    expect![[r#"
        {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":"t","total":2}}
        {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"step 1","level":"info"}}
        {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":2,"progressToken":"t","total":2}}
        {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"step 2","level":"info"}}
        {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"2"}]}}
    "#]].assert_eq(&joined(&output[1..]));

    // Modern: no log messages unless the request asks for them.
    let line = modern(
        "1",
        "tools/call",
        r#","name":"steps","arguments":{"steps":1}"#,
    );
    let asking = line
        .replace(
            r#"{}}"#,
            r#"{},"progressToken":1.0,"io.modelcontextprotocol/logLevel":"debug"}"#,
        )
        .replace(r#""id":1"#, r#""id":2"#);
    let mut output = conversation(&service(), line).await;
    output.extend(conversation(&service(), asking).await);
    expect![[r#"
        {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}},"content":[{"type":"text","text":"1"}]}}
        {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":1.0,"total":1}}
        {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"step 1","level":"info"}}
        {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}},"content":[{"type":"text","text":"1"}]}}
    "#]].assert_eq(&joined(output));
}

#[tokio::test]
async fn progress_reaches_its_call() {
    let client = service().connect().await.unwrap();
    let mut all = client.notifications();
    let reports = Arc::new(Collected::default());
    let sink = reports.clone();
    let call = client
        .call_tool("steps", json!({ "steps": 3 }))
        .on_progress(move |report| sink.push((report.progress, report.total)))
        .log_level(LoggingLevel::Info);
    assert_eq!(text(&call.await.unwrap()), "3");
    assert_eq!(
        reports.take(),
        [(1.0, Some(3.0)), (2.0, Some(3.0)), (3.0, Some(3.0))]
    );
    let message = all
        .next_of::<trueform::schema::methods::LoggingMessage>()
        .await
        .unwrap();
    assert_eq!(message.data.get(), r#""step 1""#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_run_side_by_side() {
    let (service, director) = staged();
    let client = service.connect().await.unwrap();
    let calls: Vec<_> = (0..20)
        .map(|i| {
            tokio::spawn(
                client
                    .call_tool("wait", json!({ "label": i.to_string() }))
                    .into_future(),
            )
        })
        .collect();
    for _ in 0..20 {
        director.begun().await;
    }
    // A long call keeps no short one waiting.
    assert_eq!(
        text(
            &client
                .call_tool("add", json!({ "a": 2, "b": 3 }))
                .await
                .unwrap()
        ),
        "5"
    );
    director.open();
    for (i, call) in calls.into_iter().enumerate() {
        assert_eq!(text(&soon(call).await.unwrap().unwrap()), i.to_string());
    }
}

#[tokio::test]
async fn too_many_calls_are_refused_one_by_one() {
    let (stage, director) = crate::support::stage();
    use crate::support::{add, wait};
    let server = Server::new("small", "1")
        .tools(tools![wait, add])
        .state(stage)
        .max_in_flight(2);
    let client = server.connect().await.unwrap();
    let calls: Vec<_> = (0..2)
        .map(|i| {
            tokio::spawn(
                client
                    .call_tool("wait", json!({ "label": i.to_string() }))
                    .into_future(),
            )
        })
        .collect();
    director.begun().await;
    director.begun().await;
    let refused = client
        .call_tool("wait", json!({ "label": "x" }))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), Some(-32603), "{refused}");
    director.open();
    for call in calls {
        soon(call).await.unwrap().unwrap();
    }
    assert!(
        client
            .call_tool("wait", json!({ "label": "x" }))
            .await
            .is_ok()
    );
}

/// Reports progress every second.
#[tool(timeout("2s", reset_by_progress, hard_limit = "5s"))]
async fn reports(context: Context, seconds: u32) -> u32 {
    for second in 1..=seconds {
        tokio::time::sleep(Duration::from_secs(1)).await;
        context.progress(f64::from(second), None, None);
    }
    seconds
}

// A tool's limit starts anew with each report of progress, up to the hard limit.
#[tokio::test(start_paused = true)]
async fn progress_resets_a_timeout_up_to_its_hard_limit() {
    let client = Server::new("t", "1")
        .tools(tools![reports])
        .connect()
        .await
        .unwrap();
    assert_eq!(
        text(
            &client
                .call_tool("reports", json!({ "seconds": 4 }))
                .await
                .unwrap()
        ),
        "4"
    );
    let result = client
        .call_tool("reports", json!({ "seconds": 10 }))
        .await
        .unwrap();
    assert_eq!(text(&result), "tool `reports` did not finish within 5s");
}

/// A turn of a blocking tool that the test gives it, and the test's thanks for it.
type Turns = std::sync::Mutex<std::sync::mpsc::Receiver<tokio::sync::oneshot::Sender<()>>>;

/// Reports progress when the test says so.
#[tool(blocking, timeout("2s", reset_by_progress, hard_limit = "5s"))]
fn reports_blocking(context: Context, turns: State<Turns>) {
    let turns = turns.lock().expect("one call at a time");
    let mut step = 0.0;
    while let Ok(done) = turns.recv() {
        step += 1.0;
        context.progress(step, None, None);
        let _ = done.send(());
        if context.is_cancelled() {
            return;
        }
    }
}

// The same of a blocking tool: its reports are seen when its time seems to be up, and no report moves the hard limit.
#[tokio::test(start_paused = true)]
async fn progress_of_a_blocking_tool_resets_its_timeout() {
    // The clock stands still while a thread of tokio's works, and goes on only as told.
    let (end, ended) = std::sync::mpsc::channel::<()>();
    tokio::task::spawn_blocking(move || ended.recv());
    for (silent_from, expected) in [
        (0, "did not finish within 2s"),
        (1, "did not finish within 2s"),
        (99, "did not finish within 5s"),
    ] {
        let (turn, turns) = std::sync::mpsc::channel();
        let client = Server::new("t", "1")
            .tools(tools![reports_blocking])
            .state::<Turns>(turns.into())
            .connect()
            .await
            .unwrap();
        let call = tokio::spawn(client.call_tool("reports_blocking", ()).into_future());
        let report = async || {
            let (done, is_done) = tokio::sync::oneshot::channel();
            turn.send(done).unwrap();
            soon(is_done).await.unwrap();
        };
        report().await;
        let begun = tokio::time::Instant::now();
        while !call.is_finished() {
            tokio::time::advance(Duration::from_millis(500)).await;
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            let elapsed = begun.elapsed();
            assert!(elapsed < Duration::from_secs(6), "{elapsed:?}");
            if !call.is_finished() && elapsed < Duration::from_secs(silent_from) {
                report().await;
            }
        }
        assert_eq!(
            text(&call.await.unwrap().unwrap()),
            format!("tool `reports_blocking` {expected}")
        );
        let elapsed = begun.elapsed();
        match silent_from {
            99 => assert!(elapsed <= Duration::from_millis(5500), "{elapsed:?}"),
            _ => assert!(elapsed >= Duration::from_secs(2), "{elapsed:?}"),
        }
        let _ = turn.send(tokio::sync::oneshot::channel().0);
    }
    drop(end);
}

// A tool that keeps its connection waiting is reported, once: a sync one, and an async one in a step after its first.
#[tokio::test]
async fn slow_tools_are_reported_once() {
    #[tool]
    /// Holds the loop.
    fn dawdles() {
        std::thread::sleep(Duration::from_millis(60));
    }
    #[tool]
    /// Holds the loop too.
    async fn lingers() {
        tokio::task::yield_now().await;
        std::thread::sleep(Duration::from_millis(60));
    }
    let logged = crate::support::log();
    let client = Server::new("t", "1")
        .tools(tools![dawdles, lingers])
        .connect()
        .await
        .unwrap();
    for name in ["dawdles", "lingers"] {
        for _ in 0..3 {
            client.call_tool(name, ()).await.unwrap();
        }
        let warned = logged
            .take()
            .into_iter()
            .filter(|line| line.contains(name) && line.starts_with("WARN"));
        assert_eq!(warned.count(), 1, "{name}");
    }
}

// The log says what the answer hides.
#[tokio::test]
async fn a_panic_is_logged_with_tool_and_message() {
    let told = crate::support::log();
    let client = service().connect().await.unwrap();
    client.call_tool("panics", ()).await.unwrap();
    let told = told.take();
    assert!(
        told.iter().any(|line| line.starts_with("ERROR")
            && line.contains("panics")
            && line.contains("meant to")),
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_clients_own_timeout() {
    let (service, director) = staged();
    let client = service.connect().await.unwrap();
    let call = client
        .call_tool("wait", json!({ "label": "x" }))
        .timeout(Duration::from_secs(2));
    let error = call.await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no answer to `tools/call` of `wait` within 2s, which `timeout` of the request sets; set a longer time, or see what the server \
         does"
    );
    assert_eq!(director.begun().await, "x");
    assert_eq!(director.begun().await, "dropped x");
}

/// Reports progress and log messages as fast as it can, and waits for its client.
#[tool]
async fn waits_for_its_client(context: Context, steps: u32) -> &'static str {
    for step in 1..=steps {
        context.progress(f64::from(step), None, None).await;
        context.log(LoggingLevel::from("info"), step).await;
    }
    "said"
}

// Issue 8 §3: what is awaited is not lost, and is queued within the bounds.
#[tokio::test]
async fn a_tool_can_wait_for_its_client() {
    const STEPS: u32 = 3000;
    let service = Server::new("t", "1").tools(tools![waits_for_its_client]);
    let [first, second] = initialize("2025-11-25");
    let call = legacy(
        "1",
        "tools/call",
        &format!(
            r#"{{"name":"waits_for_its_client","arguments":{{"steps":{STEPS}}},"_meta":{{"progressToken":"t"}}}}"#
        ),
    );
    let output = soon(conversation(
        &service.build().unwrap(),
        joined([first, second, call]),
    ))
    .await;
    let count = |method: &str| output.iter().filter(|line| line.contains(method)).count();
    let expected = STEPS as usize;
    assert_eq!(
        (
            count("notifications/progress"),
            count("notifications/message")
        ),
        (expected, expected)
    );
    assert!(output.last().unwrap().contains(r#""text":"said""#));
}

/// Reports to a client that did not ask for it.
#[tool]
async fn reports_unasked(context: Context) -> &'static str {
    for step in 1..=100_000 {
        context.progress(f64::from(step), None, None).await;
    }
    "ran to its end"
}

// O-2: a tool whose only waits are for its client lets others run, and can be cancelled, though its client is never waited for.
#[tokio::test]
async fn a_tool_that_only_reports_keeps_no_thread() {
    let service = Server::new("t", "1").tools(tools![reports_unasked]);
    let [first, second] = initialize("2025-11-25");
    let call = legacy("1", "tools/call", r#"{"name":"reports_unasked"}"#);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let output = soon(conversation(
        &service.build().unwrap(),
        joined([first, second, call, cancel.to_owned(), ping.to_owned()]),
    ))
    .await;
    assert_eq!(output[1..], [r#"{"jsonrpc":"2.0","id":2,"result":{}}"#]);
}
