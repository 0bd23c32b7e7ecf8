//! The extension `io.modelcontextprotocol/tasks` of 2026-07-28.

use serde_json::{Value, json};
use trueform::{Principal, client::ClientOptions};

use super::support::{EXTENSION, Peer, RELATED, code, service, text};

/// What the extension's client declares.
fn declared() -> Value {
    json!({ "extensions": { EXTENSION: {} } })
}

// W-12, W-13, W-15, N-5
#[tokio::test]
async fn from_call_to_result() {
    let (service, director) = service();
    let mut peer = Peer::modern(&service).await;
    let params = json!({
        "name": "talks", "arguments": {},
        // W-21: the member of 2025-11-25 means nothing here.
        "task": { "ttl": 1 },
        "_meta": { "progressToken": "t", "io.modelcontextprotocol/logLevel": "debug" },
    });
    let created = peer.request("tools/call", params).await;
    let created = created["result"].as_object().unwrap();
    assert_eq!(
        (&created["resultType"], &created["status"]),
        (&json!("task"), &json!("working"))
    );
    assert_eq!(
        (&created["ttlMs"], &created["pollIntervalMs"]),
        (&json!(3_600_000), &json!(1000))
    );
    for forbidden in [
        "task",
        "result",
        "error",
        "inputRequests",
        "requestState",
        "ttl",
        "pollInterval",
    ] {
        assert!(!created.contains_key(forbidden), "{forbidden}");
    }
    let id = created["taskId"].as_str().unwrap();
    let task = peer.get(id).await;
    assert_eq!(
        (&task["resultType"], &task["status"], &task["taskId"]),
        (&json!("complete"), &json!("working"), &json!(id))
    );
    assert_eq!(director.begun().await, "talks");
    director.open();
    let ended = peer.until(id, "completed").await;
    assert_eq!(text(&ended["result"]), "talked");
    assert!(
        ended.get("error").is_none() && ended.get("inputRequests").is_none(),
        "{ended}"
    );
    assert!(ended["result"]["_meta"].get(RELATED).is_none(), "{ended}");
    assert_eq!(
        peer.others(),
        Vec::<Value>::new(),
        "N-5: nothing is sent for the task"
    );
}

// W-15: a failure that the model reads is a result, an error of the protocol is not.
#[tokio::test(start_paused = true)]
async fn failures() {
    let (service, _director) = service();
    let mut peer = Peer::modern(&service).await;
    for tool in ["fails", "panics", "overruns"] {
        let id = peer.start(tool, json!({})).await;
        // Until it waits for its time limit.
        peer.get(&id).await;
        tokio::time::advance(std::time::Duration::from_secs(2)).await;
        let task = peer.until(&id, "completed").await;
        assert_eq!(task["result"]["isError"], true, "{tool}: {task}");
    }
    let id = peer.start("errs", json!({})).await;
    let task = peer.until(&id, "failed").await;
    assert_eq!(
        (&task["error"]["code"], &task["error"]["message"]),
        (&json!(-31_000), &json!("no way"))
    );
    assert!(task.get("result").is_none(), "{task}");
}

// W-12, W-18, W-21, C-14
#[tokio::test]
async fn not_declared() {
    let (service, director) = service();
    director.open();
    let mut with = Peer::modern(&service).await;
    let id = with.start("hurry", json!({ "label": "a" })).await;
    let mut without = Peer::modern_as(&service, ClientOptions::new(), &json!({})).await;
    let required = json!({ "extensions": { EXTENSION: {} } });
    for (method, params) in [
        ("tasks/get", json!({ "taskId": id })),
        ("tasks/cancel", json!({ "taskId": id })),
        (
            "tasks/update",
            json!({ "taskId": id, "inputResponses": {} }),
        ),
        (
            "tools/call",
            json!({ "name": "hurry", "arguments": { "label": "a" } }),
        ),
        (
            "subscriptions/listen",
            json!({ "notifications": { "taskIds": [id] } }),
        ),
    ] {
        let answer = without.request(method, params).await;
        assert_eq!(code(&answer), -32_021, "{method}: {answer}");
        assert_eq!(
            answer["error"]["data"]["requiredCapabilities"], required,
            "{method}"
        );
    }
    let answer = without.call("work", json!({ "label": "a" })).await;
    assert_eq!(
        (text(&answer["result"]), &answer["result"]["resultType"]),
        ("did a", &json!("complete"))
    );
    for peer in [&mut with, &mut without] {
        for method in ["tasks/result", "tasks/list"] {
            let answer = peer.about(method, &id).await;
            assert_eq!(code(&answer), -32_601, "{method}");
        }
        let answer = peer.call("plain", json!({ "label": "a" })).await;
        assert_eq!(text(&answer["result"]), "plain a");
    }
}

// W-16, W-18
#[tokio::test]
async fn acknowledged() {
    let (service, director) = service();
    let mut peer = Peer::modern(&service).await;
    let id = peer.start("work", json!({ "label": "a" })).await;
    assert_eq!(director.begun().await, "a");
    let is_bare = |answer: &Value| {
        let result = answer["result"]
            .as_object()
            .unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(result["resultType"], "complete");
        for forbidden in ["taskId", "status", "result", "error", "inputRequests"] {
            assert!(!result.contains_key(forbidden), "{answer}");
        }
    };
    let update = json!({ "taskId": id, "inputResponses": { "never": { "action": "cancel" } } });
    is_bare(&peer.request("tasks/update", update.clone()).await);
    assert_eq!(
        peer.get(&id).await["status"],
        "working",
        "an unknown key is ignored"
    );
    // Twice, and after the end.
    is_bare(&peer.about("tasks/cancel", &id).await);
    assert_eq!(director.begun().await, "dropped a");
    is_bare(&peer.about("tasks/cancel", &id).await);
    is_bare(&peer.request("tasks/update", update).await);
    let task = peer.get(&id).await;
    assert_eq!(task["status"], "cancelled");
    assert!(
        task.get("result").is_none() && task.get("error").is_none(),
        "{task}"
    );
    for (method, rest) in [
        ("tasks/get", json!({})),
        ("tasks/cancel", json!({})),
        ("tasks/update", json!({ "inputResponses": {} })),
    ] {
        let mut params = rest;
        params["taskId"] = json!("0123456789abcdef0123456789abcdef");
        let answer = peer.request(method, params).await;
        assert_eq!(
            (code(&answer), &answer["error"]["data"]["rule"]),
            (-32_602, &json!("known-task")),
            "{method}"
        );
    }
}

// W-20
#[tokio::test]
async fn of_another_caller() {
    let (service, director) = service();
    let principal = |name: &str| ClientOptions::new().principal(Principal::new(name));
    let mut ann = Peer::modern_as(&service, principal("ann"), &declared()).await;
    let id = ann.start("work", json!({ "label": "a" })).await;
    for as_whom in [principal("bob"), ClientOptions::new()] {
        let mut other = Peer::modern_as(&service, as_whom, &declared()).await;
        for method in ["tasks/get", "tasks/cancel"] {
            assert_eq!(code(&other.about(method, &id).await), -32_602, "{method}");
        }
        let update = json!({ "taskId": id, "inputResponses": {} });
        assert_eq!(code(&other.request("tasks/update", update).await), -32_602);
        let filter = json!({ "notifications": { "taskIds": [id] } });
        other.send("subscriptions/listen", filter);
        let acknowledged = other.other().await;
        assert_eq!(
            acknowledged["params"]["notifications"],
            json!({ "taskIds": [] })
        );
    }
    assert_eq!(ann.get(&id).await["status"], "working");
    director.open();
    ann.until(&id, "completed").await;
}

// W-21, U-2, U-3, U-4
#[tokio::test]
async fn listening() {
    let (service, director) = service();
    let mut peer = Peer::modern(&service).await;
    let one = peer.start("work", json!({ "label": "one" })).await;
    let other = peer.start("work", json!({ "label": "other" })).await;
    assert_eq!(
        [director.begun().await, director.begun().await],
        ["one", "other"]
    );
    let filter =
        json!({ "notifications": { "taskIds": [one, "unknown", one], "toolsListChanged": true } });
    let listen = peer.send("subscriptions/listen", filter);
    let acknowledged = peer.other().await;
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "toolsListChanged": true, "taskIds": [one] })
    );
    director.open();
    peer.until(&one, "completed").await;
    peer.until(&other, "completed").await;
    let told = peer.other().await;
    assert_eq!(told["method"], "notifications/tasks");
    let mut params = told["params"].clone();
    assert_eq!(
        params["_meta"]["io.modelcontextprotocol/subscriptionId"],
        json!(listen)
    );
    let mut task = peer.get(&one).await;
    for member in ["_meta", "resultType"] {
        params.as_object_mut().unwrap().remove(member);
        task.as_object_mut().unwrap().remove(member);
    }
    assert_eq!(params, task, "the full task");
    assert_eq!(text(&params["result"]), "did one");
    assert_eq!(
        peer.others(),
        Vec::<Value>::new(),
        "nothing of the other task"
    );

    for wrong in [json!("x"), json!([1]), json!({})] {
        let filter = json!({ "notifications": { "taskIds": wrong } });
        let answer = peer.request("subscriptions/listen", filter).await;
        assert_eq!(code(&answer), -32_602, "{wrong}");
        let pointer = answer["error"]["data"]["pointer"].as_str().unwrap();
        assert!(
            pointer.starts_with("/params/notifications/taskIds"),
            "{answer}"
        );
    }
}
