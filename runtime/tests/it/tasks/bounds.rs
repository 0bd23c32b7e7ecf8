//! As many tasks as may be, and not one more; others are served meanwhile.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::sync::Semaphore;
use trueform::{
    Principal, client::ClientOptions, prelude::*, store::MemoryTaskStore, task::TaskSettings,
};

use super::support::{EXTENSION, Peer, code, service_with, text};
use crate::support::soon;

const R4: &str = "2025-11-25";

#[tokio::test]
async fn running() {
    let (service, director) = service_with(TaskSettings::new().max_running(3, 2));
    let mut first = Peer::legacy(&service, R4).await;
    let mut second = Peer::legacy(&service, R4).await;
    let mut ids = Vec::new();
    for label in ["a", "b"] {
        ids.push(first.start("work", json!({ "label": label })).await);
    }
    let refused = first.call("work", json!({ "label": "c" })).await;
    assert_eq!(code(&refused), -32_603);
    assert_eq!(
        refused["error"]["message"],
        "too many tasks are running: this server runs 2 of one caller at once"
    );
    second.start("work", json!({ "label": "c" })).await;
    let refused = second.call("work", json!({ "label": "d" })).await;
    assert_eq!(
        refused["error"]["message"],
        "too many tasks are running: this server runs 3 at once"
    );
    // Other calls go on, and so does a call of the same tool that is not a task.
    let answer = second
        .request(
            "tools/call",
            json!({ "name": "plain", "arguments": { "label": "a" } }),
        )
        .await;
    assert_eq!(text(&answer["result"]), "plain a");
    first.about("tasks/cancel", &ids[0]).await;
    ids[0] = second.start("work", json!({ "label": "d" })).await;
    director.open();
    assert_eq!(
        second.until(&ids[0], "completed").await["status"],
        "completed"
    );
    let id = first.start("work", json!({ "label": "e" })).await;
    first.until(&id, "completed").await;
}

// The same of principals, in both forms; who cannot be distinguished is bounded together.
#[tokio::test]
async fn of_one_principal() {
    let (service, _director) = service_with(TaskSettings::new().max_running(4, 1));
    let ann = || ClientOptions::new().principal(Principal::new("ann"));
    let declared = json!({ "extensions": { EXTENSION: {} } });
    let mut legacy = Peer::legacy_as(&service, R4, ann()).await;
    let mut modern = Peer::modern_as(&service, ann(), &declared).await;
    let id = legacy.start("work", json!({ "label": "a" })).await;
    assert_eq!(
        code(&modern.call("work", json!({ "label": "b" })).await),
        -32_603
    );
    legacy.about("tasks/cancel", &id).await;
    modern.start("work", json!({ "label": "b" })).await;
    let mut nobody = Peer::modern(&service).await;
    for label in ["c", "d", "e"] {
        nobody.start("work", json!({ "label": label })).await;
    }
    assert_eq!(
        code(&nobody.call("work", json!({ "label": "f" })).await),
        -32_603
    );
}

#[tokio::test]
async fn kept() {
    let store = MemoryTaskStore::new().max_tasks(2);
    let (service, director) = service_with(TaskSettings::new().store(store));
    let mut peer = Peer::modern(&service).await;
    let first = peer.start("work", json!({ "label": "a" })).await;
    let second = peer.start("work", json!({ "label": "b" })).await;
    let refused = peer.call("work", json!({ "label": "c" })).await;
    assert_eq!(
        (code(&refused), &refused["error"]["message"]),
        (
            -32_603,
            &json!("too many tasks are kept: this server has no room for one more")
        )
    );
    director.open();
    peer.until(&first, "completed").await;
    peer.until(&second, "completed").await;
    let third = peer.start("hurry", json!({ "label": "c" })).await;
    peer.until(&third, "completed").await;
    assert_eq!(
        code(&peer.about("tasks/get", &first).await),
        -32_602,
        "it made room"
    );
}

// A result that cannot be kept is a failed task, not one that never ends.
#[tokio::test]
async fn too_large_to_be_kept() {
    let store = MemoryTaskStore::new().max_bytes(4096);
    let (service, _director) = service_with(TaskSettings::new().store(store));
    let label = "x".repeat(8192);
    let mut peer = Peer::modern(&service).await;
    let id = peer.start("hurry", json!({ "label": label })).await;
    let task = peer.until(&id, "failed").await;
    assert_eq!(
        (&task["error"]["code"], &task["statusMessage"]),
        (&json!(-32_603), &json!("the result could not be kept"))
    );
    let mut peer = Peer::legacy(&service, R4).await;
    let id = peer.start("hurry", json!({ "label": label })).await;
    assert_eq!(code(&peer.about("tasks/result", &id).await), -32_603);
}

/// Lets a function go on that does not look whether anybody waits for it.
#[derive(Clone)]
struct Gate {
    begun: Arc<Semaphore>,
    open: Arc<AtomicBool>,
}

/// Holds its thread until the test lets it go, whatever becomes of its task.
#[tool(task = optional, blocking)]
fn stubborn(gate: State<Gate>) -> &'static str {
    gate.0.begun.add_permits(1);
    while !gate.0.open.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    "done"
}

/// Answers at once.
#[tool]
fn quick() -> &'static str {
    "quick"
}

// A function that blocks cannot be dropped with its task: it counts until it returns, so that tasks which are begun and cancelled do not
// pile up. Others are served.
#[tokio::test]
async fn functions_that_go_on_after_their_task() {
    for modern in [true, false] {
        for expires in [false, true] {
            let gate = Gate {
                begun: Arc::new(Semaphore::new(0)),
                open: Arc::default(),
            };
            let mut settings = TaskSettings::new().max_running(5, 1);
            if expires {
                settings = settings.default_ttl(Duration::from_millis(20));
            }
            let server = Server::new("stubborn", "1").tools(tools![stubborn, quick]);
            let service = server.tasks(settings).state(gate.clone()).build().unwrap();
            let ann = ClientOptions::new().principal(Principal::new("ann"));
            let mut peer = match modern {
                true => {
                    let declared = json!({ "extensions": { EXTENSION: {} } });
                    Peer::modern_as(&service, ann, &declared).await
                }
                false => Peer::legacy_as(&service, R4, ann).await,
            };
            let id = peer.start("stubborn", json!({})).await;
            soon(gate.begun.acquire()).await.unwrap().forget();
            match expires {
                false => {
                    peer.about("tasks/cancel", &id).await;
                    assert_eq!(peer.get(&id).await["status"], "cancelled");
                }
                true => {
                    soon(async {
                        while peer.about("tasks/get", &id).await.get("error").is_none() {
                            tokio::task::yield_now().await;
                        }
                    })
                    .await;
                }
            }
            for _ in 0..3 {
                let refused = peer.call("stubborn", json!({})).await;
                assert_eq!(code(&refused), -32_603, "{refused}");
                let message = refused["error"]["message"].as_str().unwrap();
                assert!(message.ends_with("1 of one caller at once"), "{message}");
            }
            let params = json!({ "name": "quick", "arguments": {} });
            let answer = peer.request("tools/call", params).await;
            assert_eq!(text(&answer["result"]), "quick");
            gate.open.store(true, Ordering::SeqCst);
            soon(async {
                while peer
                    .call("stubborn", json!({}))
                    .await
                    .get("error")
                    .is_some()
                {
                    tokio::task::yield_now().await;
                }
            })
            .await;
        }
    }
}
