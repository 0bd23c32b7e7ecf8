//! The tasks that 2025-11-25 has in its core.

use serde_json::{Value, json};
use trueform::{Principal, client::ClientOptions, task::TaskSettings};

use super::support::{Peer, RELATED, code, service, service_with, text};

const R4: &str = "2025-11-25";

// W-4, W-5, W-6, W-7
#[tokio::test]
async fn from_call_to_result() {
    let (service, director) = service();
    let mut peer = Peer::legacy(&service, R4).await;
    let params =
        json!({ "name": "work", "arguments": { "label": "a" }, "task": { "ttl": 90_000 } });
    let created = peer.request("tools/call", params).await;
    let task = &created["result"]["task"];
    assert_eq!(created["result"].as_object().unwrap().len(), 1, "{created}");
    let id = task["taskId"].as_str().unwrap().to_owned();
    assert_eq!(id.len(), 32, "128 bits");
    assert_eq!(
        (&task["status"], &task["ttl"], &task["pollInterval"]),
        (&json!("working"), &json!(90_000), &json!(1000))
    );
    for time in ["createdAt", "lastUpdatedAt"] {
        let time = task[time].as_str().unwrap();
        assert!(
            time.len() == 24 && time.starts_with("20") && time.ends_with('Z'),
            "{time}"
        );
    }
    assert_eq!(peer.get(&id).await, *task, "it is there at once");
    assert_eq!(director.begun().await, "a");

    let waiting = peer.send("tasks/result", json!({ "taskId": id }));
    assert!(!peer.has_answered(waiting).await, "it waits for the end");
    director.open();
    let answer = peer.answer(waiting).await;
    let mut result = answer["result"].clone();
    assert_eq!(result["_meta"][RELATED], json!({ "taskId": id }));
    result["_meta"].as_object_mut().unwrap().remove(RELATED);
    let direct = json!({ "name": "work", "arguments": { "label": "a" } });
    let direct = peer.request("tools/call", direct).await;
    assert_eq!(
        result, direct["result"],
        "exactly what the call would have returned"
    );

    let ended = peer.get(&id).await;
    assert_eq!(ended["status"], "completed");
    assert!(ended.get("_meta").is_none(), "W-7: {ended}");
    let again = peer.about("tasks/result", &id).await;
    assert_eq!(text(&again["result"]), "did a");
    let statuses: Vec<_> = peer
        .others()
        .iter()
        .map(|other| {
            (
                other["method"].clone(),
                other["params"]["status"].clone(),
                other["params"]["taskId"].clone(),
            )
        })
        .collect();
    assert_eq!(
        statuses,
        [(
            json!("notifications/tasks/status"),
            json!("completed"),
            json!(id)
        )]
    );
}

// W-6, W-11
#[tokio::test(start_paused = true)]
async fn failures() {
    let (service, _director) = service();
    let mut peer = Peer::legacy(&service, R4).await;
    for (tool, says) in [
        ("fails", "no luck"),
        ("panics", "internal error"),
        ("overruns", "did not finish within 1s"),
    ] {
        let id = peer.start(tool, json!({})).await;
        let answer = peer.about("tasks/result", &id).await;
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{tool}: {answer}");
        assert!(text(result).contains(says), "{tool}: {answer}");
        assert_eq!(result["_meta"][RELATED]["taskId"], json!(id));
        let task = peer.get(&id).await;
        assert_eq!(task["status"], "failed", "{tool}");
        let listed = peer.request("tasks/list", json!({})).await;
        let listed = listed["result"]["tasks"].as_array().unwrap();
        let listed = listed.iter().find(|one| one["taskId"] == json!(id));
        assert_eq!(listed, Some(&task), "tasks/list shows what tasks/get shows");
    }
    let id = peer.start("errs", json!({})).await;
    let answer = peer.about("tasks/result", &id).await;
    assert_eq!(
        (code(&answer), &answer["error"]["message"]),
        (-31_000, &json!("no way"))
    );
    let task = peer.get(&id).await;
    assert_eq!(
        (&task["status"], &task["statusMessage"]),
        (&json!("failed"), &json!("no way"))
    );
    // Arguments that do not fit are a failed task too: the request had the form of a task.
    let id = peer.start("hurry", json!({})).await;
    let answer = peer.about("tasks/result", &id).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
}

// W-2, W-3
#[tokio::test]
async fn wrong_use() {
    let (service, director) = service();
    director.open();
    let mut peer = Peer::legacy(&service, R4).await;
    let cases = [
        ("plain", Some(json!({})), -32_601),
        ("hurry", None, -32_601),
        ("work", Some(json!({ "ttl": 0 })), -32_602),
        ("work", Some(json!({ "ttl": -1 })), -32_602),
        ("work", Some(json!({ "ttl": "1" })), -32_602),
        ("work", Some(json!(true)), -32_602),
        ("nothing", Some(json!({})), -32_602),
    ];
    for (tool, task, expected) in cases {
        let mut params = json!({ "name": tool, "arguments": { "label": "a" } });
        if let Some(task) = task {
            params["task"] = task;
        }
        let answer = peer.request("tools/call", params.clone()).await;
        assert_eq!(code(&answer), expected, "{params}: {answer}");
        if expected == -32_602 && tool == "work" {
            let pointer = answer["error"]["data"]["pointer"].as_str().unwrap();
            assert!(pointer.starts_with("/params/task"), "{answer}");
        }
    }
    let in_place = json!({ "name": "work", "arguments": { "label": "a" } });
    let answer = peer.request("tools/call", in_place).await;
    assert_eq!(text(&answer["result"]), "did a");
    let listed = peer.request("tasks/list", json!({})).await;
    assert_eq!(listed["result"]["tasks"], json!([]), "no task was made");
}

// W-3: a server that does not declare tasks ignores `task`.
#[tokio::test]
async fn a_server_without_tasks() {
    let service = crate::support::service();
    let mut peer = Peer::legacy(&service, R4).await;
    let params = json!({ "name": "add", "arguments": { "a": 1, "b": 2 }, "task": {} });
    let answer = peer.request("tools/call", params).await;
    assert_eq!(text(&answer["result"]), "3");
    for method in ["tasks/get", "tasks/result", "tasks/cancel", "tasks/list"] {
        let answer = peer.about(method, "1").await;
        assert_eq!(code(&answer), -32_601, "{method}");
    }
}

// C-14, issue 11 §3: clients of revisions without tasks are served in place, also by a tool that is always a task elsewhere.
#[tokio::test]
async fn revisions_without_tasks() {
    let (service, director) = service();
    director.open();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let mut peer = Peer::legacy(&service, revision).await;
        // `task` means nothing here.
        let answer = peer.call("work", json!({ "label": "a" })).await;
        assert_eq!(text(&answer["result"]), "did a", "{revision}");
        let answer = peer.call("hurry", json!({ "label": "a" })).await;
        assert_eq!(text(&answer["result"]), "did a", "{revision}");
        let answer = peer.call("plain", json!({ "label": "a" })).await;
        assert_eq!(text(&answer["result"]), "plain a", "{revision}");
        let answer = peer.about("tasks/get", "1").await;
        assert_eq!(code(&answer), -32_601, "{revision}");
    }
}

/// The task `id`, which has ended with `status`, cannot be cancelled any more.
async fn ended(peer: &mut Peer, id: &str, status: &str) {
    let refused = peer.about("tasks/cancel", id).await;
    let error = &refused["error"];
    let message = format!("the task has ended already: its status is `{status}`");
    assert_eq!(
        (code(&refused), error["message"].as_str()),
        (-32_602, Some(&*message)),
        "{refused}"
    );
    let data = json!({
        "pointer": "/params/taskId",
        "rule": "running-task",
        "expected": "the id of a task that has not ended",
        "found": "one that has ended",
    });
    assert_eq!(error["data"], data, "{status}");
}

// W-5, W-9, O-5
#[tokio::test]
async fn cancelled() {
    let (service, director) = service();
    let mut peer = Peer::legacy(&service, R4).await;
    let id = peer.start("work", json!({ "label": "a" })).await;
    assert_eq!(director.begun().await, "a");
    // The request is answered: its id has no more to do with the task.
    peer.notify("notifications/cancelled", &json!({ "requestId": 1 }));
    assert_eq!(peer.get(&id).await["status"], "working");
    let waiting = peer.send("tasks/result", json!({ "taskId": id }));

    let answer = peer.about("tasks/cancel", &id).await;
    assert_eq!(
        (&answer["result"]["status"], &answer["result"]["taskId"]),
        (&json!("cancelled"), &json!(id))
    );
    assert_eq!(director.begun().await, "dropped a", "the work is given up");
    let result = peer.answer(waiting).await;
    assert_eq!(
        (code(&result), &result["error"]["data"]["rule"]),
        (-32_602, &json!("task-result"))
    );
    ended(&mut peer, &id, "cancelled").await;
    director.open();
    assert_eq!(peer.get(&id).await["status"], "cancelled", "it is final");
    for (tool, arguments, status) in [
        ("work", json!({ "label": "b" }), "completed"),
        ("fails", json!({}), "failed"),
    ] {
        let id = peer.start(tool, arguments).await;
        peer.until(&id, status).await;
        ended(&mut peer, &id, status).await;
        assert_eq!(peer.get(&id).await["status"], status, "it is final");
    }
    // Work on a thread sees it.
    let id = peer.start("holds", json!({})).await;
    let answer = peer.about("tasks/cancel", &id).await;
    assert_eq!(answer["result"]["status"], "cancelled");
}

// W-9
#[tokio::test]
async fn unknown_tasks() {
    let (service, _director) = service();
    let mut peer = Peer::legacy(&service, R4).await;
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        for id in ["", "nothing", "0123456789abcdef0123456789abcdef"] {
            let answer = peer.about(method, id).await;
            assert_eq!(
                (code(&answer), &answer["error"]["data"]["rule"]),
                (-32_602, &json!("known-task")),
                "{method} {id}"
            );
            assert_eq!(answer["error"]["data"]["pointer"], "/params/taskId");
        }
    }
    for cursor in ["", "x", "MSAy", "eA"] {
        let answer = peer
            .request("tasks/list", json!({ "cursor": cursor }))
            .await;
        match cursor {
            // A place after which there is nothing.
            "MSAy" => assert_eq!(answer["result"]["tasks"], json!([])),
            _ => assert_eq!(
                (code(&answer), &answer["error"]["data"]["pointer"]),
                (-32_602, &json!("/params/cursor")),
                "{cursor}"
            ),
        }
    }
}

// W-10: what belongs to another session or principal is unknown, to every method.
#[tokio::test]
async fn of_another_caller() {
    let (service, director) = service();
    let principal = |name: &str| ClientOptions::new().principal(Principal::new(name));
    let mut ann = Peer::legacy_as(&service, R4, principal("ann")).await;
    let mut nobody = Peer::legacy(&service, R4).await;
    let of_ann = ann.start("work", json!({ "label": "ann" })).await;
    let of_nobody = nobody.start("work", json!({ "label": "nobody" })).await;
    let mut others = [
        (
            Peer::legacy_as(&service, R4, principal("bob")).await,
            [&of_ann, &of_nobody],
        ),
        (Peer::legacy(&service, R4).await, [&of_ann, &of_nobody]),
        (
            Peer::modern_as(
                &service,
                principal("ann"),
                &json!({ "extensions": { super::support::EXTENSION: {} } }),
            )
            .await,
            [&of_ann, &of_nobody],
        ),
    ];
    for (other, ids) in &mut others {
        for id in ids {
            for method in ["tasks/get", "tasks/cancel"] {
                let answer = other.about(method, id).await;
                let unknown = other
                    .about(method, "0123456789abcdef0123456789abcdef")
                    .await;
                assert_eq!(code(&answer), -32_602);
                assert_eq!(
                    answer["error"]["data"], unknown["error"]["data"],
                    "as if there were none"
                );
            }
        }
    }
    for (other, ids) in &mut others[..2] {
        let result = other.about("tasks/result", ids[0]).await;
        assert_eq!(code(&result), -32_602);
        let listed = other.request("tasks/list", json!({})).await;
        assert_eq!(listed["result"]["tasks"], json!([]));
    }
    // Another connection of the same principal has it.
    let mut again = Peer::legacy_as(&service, R4, principal("ann")).await;
    assert_eq!(again.get(&of_ann).await["status"], "working");
    director.open();
    assert_eq!(
        text(&again.about("tasks/result", &of_ann).await["result"]),
        "did ann"
    );
    assert_eq!(
        nobody.until(&of_nobody, "completed").await["status"],
        "completed"
    );
}

// W-10, W-11
#[tokio::test]
async fn pages() {
    let (server, director) = super::support::server();
    director.open();
    let service = server.page_size(2).build().unwrap();
    let mut peer = Peer::legacy(&service, R4).await;
    let mut ids = Vec::new();
    for label in ["a", "b", "c", "d", "e"] {
        ids.push(peer.start("hurry", json!({ "label": label })).await);
    }
    let (mut found, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let params = cursor.map_or(json!({}), |cursor: String| json!({ "cursor": cursor }));
        let page = peer.request("tasks/list", params).await["result"].clone();
        let tasks = page["tasks"].as_array().unwrap();
        found.extend(
            tasks
                .iter()
                .map(|task| task["taskId"].as_str().unwrap().to_owned()),
        );
        pages += 1;
        assert!(pages < 9, "the list has no end");
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    found.sort();
    ids.sort();
    assert_eq!((found, pages), (ids, 3));
}

// N-4, W-7: progress goes on with the token of the call until the task ends, and names the task.
#[tokio::test]
async fn progress_goes_on() {
    let (service, director) = service();
    let mut peer = Peer::legacy(&service, R4).await;
    let params =
        json!({ "name": "talks", "arguments": {}, "task": {}, "_meta": { "progressToken": "t" } });
    let created = peer.request("tools/call", params).await;
    let id = created["result"]["task"]["taskId"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(director.begun().await, "talks");
    let first = peer.other().await;
    assert_eq!(
        (&first["method"], &first["params"]["progressToken"]),
        (&json!("notifications/progress"), &json!("t"))
    );
    director.open();
    peer.about("tasks/result", &id).await;
    let (second, log) = (peer.other().await, peer.other().await);
    assert_eq!(
        (
            &second["params"]["progress"],
            &second["params"]["progressToken"]
        ),
        (&json!(2), &json!("t"))
    );
    assert_eq!(log["method"], "notifications/message");
    for message in [&first, &second, &log] {
        assert_eq!(
            message["params"]["_meta"][RELATED],
            json!({ "taskId": id }),
            "{message}"
        );
    }
    let status = peer.other().await;
    assert_eq!(status["params"]["status"], "completed");
    assert!(status["params"].get("_meta").is_none(), "W-7: {status}");
}

#[tokio::test(start_paused = true)]
async fn expired() {
    let (service, director) =
        service_with(TaskSettings::new().max_ttl(std::time::Duration::from_secs(10)));
    let mut peer = Peer::legacy(&service, R4).await;
    let id = peer.start("work", json!({ "label": "a" })).await;
    assert_eq!(peer.get(&id).await["ttl"], 10_000, "the server's maximum");
    assert_eq!(director.begun().await, "a");
    // Also for those who wait: the wait has an end.
    let waiting = peer.send("tasks/result", json!({ "taskId": id }));
    tokio::time::advance(std::time::Duration::from_millis(10_001)).await;
    assert_eq!(
        director.begun().await,
        "dropped a",
        "what nobody can reach is given up"
    );
    let gone = |row: &str, answer: &Value| {
        let error = &answer["error"];
        let message = format!("there is no task `{id}`");
        assert_eq!(
            (code(answer), error["message"].as_str()),
            (-32_602, Some(&*message)),
            "{row}: {answer}"
        );
        let data = json!({
            "pointer": "/params/taskId",
            "rule": "known-task",
            "expected": "the id of a task of this caller that is kept still",
            "found": format!("string of {} bytes", id.len() + 2),
        });
        assert_eq!(error["data"], data, "{row}");
    };
    gone("the wait", &peer.answer(waiting).await);
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        gone(method, &peer.about(method, &id).await);
    }
    assert_eq!(
        peer.request("tasks/list", json!({})).await["result"]["tasks"],
        json!([])
    );
}
