//! Strict means strict (DEC-12): what a revision does not allow is refused as it came, not as the revision would see it, unless
//! its leniency lets it in.

use std::future::IntoFuture;

use serde_json::{Value, json};
use trueform::{
    Leniencies, Leniency,
    client::{Client, ClientError, ClientOptions, Notified},
    prelude::*,
    schema::{CreateMessageRequestParams, ext::tasks, methods},
};

use crate::{
    client::{against, discovered, play_legacy},
    support::{initialize, legacy, raw, soon},
};

/// What a client of `revision` makes of `result`, the answer to its call or to its question for the tools.
async fn received(
    revision: Revision,
    leniencies: Leniencies,
    listing: bool,
    result: Value,
) -> Result<(), ClientError> {
    let options = ClientOptions::at(revision).lenient(leniencies);
    let (connecting, playing) = against(options, move |mut mock| async move {
        let opening = mock.next().await.unwrap();
        match opening["method"].as_str() {
            Some("initialize") => play_legacy(&mut mock, &opening).await,
            _ => {
                let discovered = json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"],
                    "capabilities": { "tools": {} }, "ttlMs": 0, "cacheScope": "private" });
                mock.result(&opening, discovered).await;
            }
        }
        let request = mock.next().await.unwrap();
        mock.result(&request, result).await;
    });
    let client: Client = connecting.await.unwrap();
    let received = match listing {
        true => soon(client.list_tools()).await.map(drop),
        false => soon(client.call_tool("t", ()).into_future())
            .await
            .map(drop),
    };
    soon(playing).await.unwrap();
    received
}

// DEC-12, A-17, V-1
#[tokio::test]
async fn what_a_server_leaves_out_or_does_not_have() {
    use Leniency::{AbsentMembers, IntegralFloats, UnknownMembers, UnknownValues};
    let (r1, r2, r3, r5) = (
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2026_07_28,
    );
    let audio = json!({ "type": "audio", "data": "", "mimeType": "audio/wav" });
    let link = json!({ "type": "resource_link", "uri": "https://a.b/", "name": "n" });
    let whole =
        json!({ "resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private" });
    let without = |name: &str| {
        let mut result = whole.clone();
        result.as_object_mut().unwrap().remove(name);
        result
    };
    let mut fraction = whole.clone();
    fraction["ttlMs"] = json!(1.0);
    for (leniency, revision, listing, result, pointer) in [
        (
            AbsentMembers,
            r5,
            false,
            json!({ "content": [] }),
            "/resultType",
        ),
        (
            AbsentMembers,
            r5,
            true,
            without("resultType"),
            "/resultType",
        ),
        (AbsentMembers, r5, true, without("ttlMs"), "/ttlMs"),
        (
            AbsentMembers,
            r5,
            true,
            without("cacheScope"),
            "/cacheScope",
        ),
        (IntegralFloats, r5, true, fraction, "/ttlMs"),
        (
            UnknownMembers,
            r3,
            false,
            json!({ "content": [], "resultType": "complete" }),
            "/resultType",
        ),
        (
            UnknownValues,
            r1,
            false,
            json!({ "content": [audio] }),
            "/content/0",
        ),
        (
            UnknownValues,
            r1,
            false,
            json!({ "content": [link] }),
            "/content/0",
        ),
        (
            UnknownValues,
            r2,
            false,
            json!({ "content": [link] }),
            "/content/0",
        ),
        (
            UnknownValues,
            r2,
            false,
            json!({ "content": [{ "type": "video", "x": 1 }] }),
            "/content/0",
        ),
    ] {
        for lenient in [Leniencies::ALL, Leniencies::NONE.with(leniency)] {
            let received = received(revision, lenient, listing, result.clone()).await;
            assert!(
                received.is_ok(),
                "{revision}, {lenient:?}: {result}: {received:?}"
            );
        }
        for strict in [Leniencies::NONE, Leniencies::ALL.without(leniency)] {
            let received = received(revision, strict, listing, result.clone()).await;
            let error = received.expect_err(&result.to_string()).to_string();
            assert!(
                error.contains(&format!(" {pointer}: expected ")),
                "{result}: {error}"
            );
        }
    }
    // What the revision has.
    for (revision, listing, result) in [
        (r5, true, whole),
        (
            r5,
            false,
            json!({ "resultType": "complete", "content": [audio, link] }),
        ),
        (
            r3,
            false,
            json!({ "content": [audio, link], "_meta": { "any": 1.0 } }),
        ),
        (r2, false, json!({ "content": [audio] })),
    ] {
        let received = received(revision, Leniencies::NONE, listing, result.clone()).await;
        assert!(received.is_ok(), "{revision}: {result}: {received:?}");
    }
}

// DEC-12: what is discovered too.
#[tokio::test]
async fn a_discovery_that_leaves_out() {
    for (leniencies, is_taken) in [(Leniencies::ALL, true), (Leniencies::NONE, false)] {
        let options = ClientOptions::at(Revision::V2026_07_28).lenient(leniencies);
        let (connecting, playing) = against(options, |mut mock| async move {
            let opening = mock.next().await.unwrap();
            let discovered = json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} });
            mock.result(&opening, discovered).await;
        });
        let connected = connecting.await;
        soon(playing).await.unwrap();
        assert_eq!(connected.is_ok(), is_taken, "{connected:?}");
        if let Err(error) = connected {
            let error = error.to_string();
            assert!(
                error.contains("/resultType: expected a member that 2026-07-28 requires"),
                "{error}"
            );
        }
    }
}

/// Asks the client for a message, and says what came of it.
#[tool]
async fn sample(context: Context) -> String {
    let params: CreateMessageRequestParams =
        serde_json::from_value(json!({ "messages": [], "maxTokens": 1 })).unwrap();
    match context.request::<methods::CreateMessage>(params).await {
        Ok(_) => "answered".to_owned(),
        Err(error) => error.to_string(),
    }
}

// DEC-12, Q-9: several blocks in an answer exist since 2025-11-25, and so do calls of tools; audio since 2025-03-26.
#[tokio::test]
async fn what_a_client_answers() {
    let text = json!({ "type": "text", "text": "hi" });
    let audio = json!({ "type": "audio", "data": "", "mimeType": "audio/wav" });
    for (revision, content, is_legal) in [
        ("2025-06-18", text.clone(), true),
        ("2025-06-18", json!([text]), false),
        ("2025-11-25", json!([text]), true),
        ("2024-11-05", audio.clone(), false),
        ("2025-06-18", audio, true),
    ] {
        for leniencies in [
            Leniencies::NONE,
            Leniencies::NONE.with(Leniency::UnknownValues),
        ] {
            let server = Server::new("t", "1").tools(tools![sample]);
            let client = raw(&server.lenient(leniencies).build().unwrap()).await;
            let info = r#"{"name":"t","version":"1"}"#;
            let params = format!(
                r#"{{"protocolVersion":"{revision}","capabilities":{{"sampling":{{}}}},"clientInfo":{info}}}"#
            );
            client.send_raw(legacy("1", "initialize", &params)).unwrap();
            soon(client.next_message()).await.unwrap();
            let [_, initialized] = initialize(revision);
            client.send_raw(initialized).unwrap();
            let call = legacy("2", "tools/call", r#"{"name":"sample"}"#);
            client.send_raw(call).unwrap();
            let question: Value =
                serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap();
            let result = json!({ "role": "assistant", "model": "m", "content": content });
            let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
            client.send_raw(answer.to_string()).unwrap();
            let called = soon(client.next_message()).await.unwrap();
            // What an author acts on is held to the revision, whatever values are let in.
            assert_eq!(
                called.contains(r#""answered""#),
                is_legal,
                "{revision}, {leniencies:?}: {content}: {called}"
            );
            assert_eq!(
                called.contains("malformed: /content: "),
                !is_legal,
                "{called}"
            );
        }
    }
}

/// A client that lets in `leniencies`, of a server that has tasks and sends `notified` before it answers `tasks/get` with `result`:
/// what comes of the result, and the notifications that arrived.
async fn polled(
    leniencies: Leniencies,
    notified: Option<Value>,
    result: Value,
) -> (Result<tasks::GetTaskResult, ClientError>, Vec<Notified>) {
    let options = ClientOptions::at(Revision::V2026_07_28).lenient(leniencies);
    let (connecting, playing) = against(options, move |mut mock| async move {
        let opening = mock.next().await.unwrap();
        let mut found = discovered(&["2026-07-28"]);
        found["capabilities"]["extensions"] = json!({ tasks::IDENTIFIER: {} });
        mock.result(&opening, found).await;
        let request = mock.next().await.unwrap();
        if let Some(params) = notified {
            let method = "notifications/tasks";
            mock.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }))
                .await;
        }
        mock.result(&request, result).await;
    });
    let client: Client = connecting.await.unwrap();
    let mut heard = client.notifications();
    let params = tasks::GetTaskRequestParams::new("t");
    let request = client.request::<tasks::methods::GetTask>(params);
    let received = soon(request.into_future()).await;
    soon(playing).await.unwrap();
    (received, std::iter::from_fn(|| heard.try_next()).collect())
}

/// A task in a state, with `more` members.
fn task(status: &str, more: Value) -> Value {
    let mut task = json!({ "taskId": "t", "status": status, "createdAt": "", "lastUpdatedAt": "", "ttlMs": null });
    let more = more.as_object().unwrap().clone();
    task.as_object_mut().unwrap().extend(more);
    task
}

/// Tasks, the leniency that lets them in, and what the revision does not have or lacks in them.
fn states() -> Vec<(Option<Leniency>, Value, &'static str)> {
    use Leniency::{IntegralFloats, UnknownMembers, UnknownValues};
    let result = json!({ "result": { "any": 1.0 } });
    let error = json!({ "error": { "code": 1, "message": "m" } });
    let asks = json!({ "inputRequests": {} });
    vec![
        (None, task("working", json!({ "pollIntervalMs": 1 })), ""),
        (None, task("completed", result.clone()), ""),
        (None, task("failed", error.clone()), ""),
        (None, task("input_required", asks.clone()), ""),
        (
            Some(UnknownMembers),
            task("working", result.clone()),
            "/result",
        ),
        (Some(UnknownMembers), task("cancelled", error), "/error"),
        (
            Some(UnknownMembers),
            task("working", asks),
            "/inputRequests",
        ),
        (
            Some(UnknownMembers),
            task("working", json!({ "x": 1 })),
            "/x",
        ),
        (Some(UnknownValues), task("paused", result), "/status"),
        (
            Some(IntegralFloats),
            task("working", json!({ "ttlMs": 1.0 })),
            "/ttlMs",
        ),
    ]
}

// DEC-12: a task has the members of its state, and no others.
#[tokio::test]
async fn a_task_with_members_of_another_state() {
    for (leniency, mut task, pointer) in states() {
        task["resultType"] = json!("complete");
        let one = leniency.map_or(Leniencies::NONE, |one| Leniencies::NONE.with(one));
        for lenient in [Leniencies::ALL, one] {
            let (received, _) = polled(lenient, None, task.clone()).await;
            assert!(received.is_ok(), "{lenient:?}: {task}: {received:?}");
        }
        let Some(leniency) = leniency else { continue };
        for strict in [Leniencies::NONE, Leniencies::ALL.without(leniency)] {
            let (received, _) = polled(strict, None, task.clone()).await;
            let error = received.expect_err(&task.to_string()).to_string();
            assert!(
                error.contains(&format!(" {pointer}: expected ")),
                "{task}: {error}"
            );
        }
    }
}

// DEC-12, A-17: what a server notifies of by the extension of tasks arrives, if it is what the extension says.
#[tokio::test]
async fn a_notification_of_a_task() {
    let mut done = task("completed", json!({ "result": {} }));
    done["resultType"] = json!("complete");
    for (leniency, notified, pointer) in states() {
        let own = leniency.map_or(Leniencies::ALL, |one| Leniencies::ALL.without(one));
        for (leniencies, arrives) in [
            (Leniencies::ALL, true),
            (own, leniency.is_none()),
            (Leniencies::NONE, leniency.is_none()),
        ] {
            let (received, heard) = polled(leniencies, Some(notified.clone()), done.clone()).await;
            assert_eq!(received.unwrap().status, tasks::TaskStatus::Completed);
            let what = format!("{leniencies:?}: {notified}, {pointer}");
            assert_eq!(heard.len(), usize::from(arrives), "{what}");
            for heard in heard {
                let params = heard.get::<tasks::methods::TaskUpdated>().unwrap();
                assert_eq!(params.expect(&what).task_id, "t");
            }
        }
    }
    // What no state can be without.
    for lacking in ["result", "taskId"] {
        let mut notified = task("completed", json!({ "result": {} }));
        notified.as_object_mut().unwrap().remove(lacking);
        let (_, heard) = polled(Leniencies::ALL, Some(notified), done.clone()).await;
        assert!(heard.is_empty(), "without `{lacking}`: {heard:?}");
    }
}
