//! Messages of one session that arrive at the same moment, on several threads.

use std::sync::{Arc, Mutex, mpsc};

use tokio::sync::Barrier;
use trueform::prelude::*;

use super::support::{App, Req};

/// Lets a test hold a call in its first poll, which holds a thread.
struct Gate {
    begun: mpsc::Sender<()>,
    go_on: Mutex<mpsc::Receiver<()>>,
}

/// Goes no further than its first poll until the test lets it.
#[tool]
async fn first_poll(gate: State<Gate>) -> &'static str {
    // The test may have failed.
    let _ = gate.0.begun.send(());
    let _ = gate.0.go_on.lock().unwrap().recv();
    "done"
}

// O-2
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_is_cancelled_within_its_first_poll() {
    let (begun, has_begun) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let gate = Gate {
        begun,
        go_on: Mutex::new(may_go_on),
    };
    let app = Arc::new(App::serving(
        Server::new("t", "1").tools(tools![first_poll]).state(gate),
    ));
    let session = app.session("2025-11-25").await;
    let calling = tokio::spawn({
        let (app, call) = (app.clone(), Req::call(&session, "1", "first_poll", "{}"));
        async move { app.send(call).await }
    });
    tokio::task::spawn_blocking(move || has_begun.recv())
        .await
        .unwrap()
        .unwrap();
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let got = app.send(Req::post(cancel).session(&session)).await;
    assert_eq!(got.status, 202);
    go_on.send(()).unwrap();
    let got = calling.await.unwrap();
    assert_eq!(
        (got.status, got.body.as_str()),
        (202, ""),
        "what is cancelled is not answered"
    );
    // The id is free again.
    let ping = Req::legacy(&session, "1", "ping", "{}");
    assert_eq!(app.send(ping).await.status, 200);
}

// A-3, DEC-1: without the leniency `RepeatedIds`.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_two_requests_with_one_id_is_served() {
    const ROUNDS: usize = 50;
    let app = Arc::new(App::strict());
    let session = app.session("2025-11-25").await;
    for round in 0..ROUNDS {
        app.director.close();
        let together = Arc::new(Barrier::new(2));
        let (done, mut first_done) = tokio::sync::mpsc::channel(2);
        for _ in 0..2 {
            let call = Req::call(&session, &round.to_string(), "wait", r#"{"label":"x"}"#)
                .header("accept", "application/json");
            let (app, together, done) = (app.clone(), together.clone(), done.clone());
            tokio::spawn(async move {
                together.wait().await;
                let got = app.send(call).await;
                let _ = done.send((got.status, got.json())).await;
            });
        }
        app.director.begun().await;
        let (status, refused) = first_done.recv().await.unwrap();
        assert_eq!(
            (status, refused["error"]["code"].as_i64()),
            (400, Some(-32600)),
            "{refused}"
        );
        app.director.open();
        let (status, served) = first_done.recv().await.unwrap();
        assert_eq!(status, 200, "{served}");
        assert_eq!(served["result"]["content"][0]["text"], "x", "{served}");
    }
}
