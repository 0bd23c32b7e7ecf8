//! Servers that mean a client harm, over pipes.

use std::{
    future::IntoFuture,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use trueform::client::{Client, ClientError, LocalError, ServerFault, StrayKind};

use crate::{
    servers::MANY,
    support::{GONE, assert_says, connected, failure, legacy, server},
};

/// A line that never ends takes no longer than the call, and one that comes byte by byte is an answer.
pub(crate) async fn drips() {
    let command = server("means harm").close_wait(Duration::from_millis(100));
    let client = Client::spawn(&command, legacy()).await.unwrap();
    let slow = client.call_tool("slow", ()).await.unwrap();
    assert_eq!(slow.text(), "byte by byte");
    let calling = client
        .call_tool("drips", ())
        .timeout(Duration::from_millis(300));
    let error = calling.await.unwrap_err();
    assert!(
        matches!(error, ClientError::Local(LocalError::TimedOut(_))),
        "{error:?}"
    );
    let begun = Instant::now();
    client.close().await;
    assert!(begun.elapsed() < GONE);
}

// A-5, O-2: an answer is taken once, and only by the request that it answers; the others are counted.
pub(crate) async fn answers_to_others_are_counted() {
    let client = connected("means harm", legacy()).await;
    let mut strays = client.strays();
    assert_eq!(client.call_tool("twice", ()).await.unwrap().text(), "first");
    // The second of the same, and the one that the server sends to every call.
    for _ in 0..2 {
        assert_eq!(strays.next().await.unwrap().kind, StrayKind::LateAnswer);
    }
    assert_eq!(
        client.call_tool("others", ()).await.unwrap().text(),
        "called"
    );
    let mut kinds = Vec::new();
    while let Some(stray) = strays.try_next() {
        kinds.push(stray.kind);
    }
    use StrayKind::{Malformed, UnknownId};
    assert_eq!(kinds, [UnknownId, UnknownId, Malformed]);
    client.close().await;
}

/// 10,000 notifications a second: each is reported, in order, and the answer is not late.
pub(crate) async fn many_notifications_are_all_reported() {
    let client = connected("means harm", legacy()).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let all = seen.clone();
    let begun = Instant::now();
    let call = client
        .call_tool("many", ())
        .on_progress(move |report| all.lock().unwrap().push(report.progress));
    assert_eq!(call.into_future().await.unwrap().text(), "called");
    let took = begun.elapsed();
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    let expected: Vec<f64> = (1..=MANY).map(f64::from).collect();
    assert!(seen == expected, "{} of {MANY}", seen.len());
    assert!(took < Duration::from_secs(20), "{took:?}");
    client.close().await;
}

/// A server that dies within its answer: the call ends with how it exited.
pub(crate) async fn an_answer_that_is_cut_off() {
    let client = connected("means harm", legacy()).await;
    let error = client.call_tool("dies", ()).await.unwrap_err();
    let failure = failure(error);
    assert_eq!(*failure.fault(), ServerFault::Exited);
    assert_eq!(client.skipped_lines(), 1);
    assert_says(&failure.to_string(), &["exited (exit status: 9)"]);
    client.close().await;
}
