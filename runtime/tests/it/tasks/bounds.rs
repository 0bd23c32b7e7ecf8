//! As many tasks as may be, and not one more; others are served meanwhile.

use serde_json::json;
use trueform::{Principal, client::ClientOptions, store::MemoryTaskStore, task::TaskSettings};

use super::support::{EXTENSION, Peer, code, service_with, text};

const R4: &str = "2025-11-25";

// Issue 11 §6
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
    // Other calls go on, and so does a call of the same tool that is no task.
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

// The same of principals, in both forms; who cannot be told apart is bounded together.
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
