//! Questions of tasks.

use serde_json::{Value, json};
use trueform::{
    Service,
    client::ClientOptions,
    prelude::*,
    schema::{ListRootsRequestParams, methods::ListRoots},
    store::{MemoryTaskStore, StoreError, StoreFuture, TaskRecord, TaskStore},
    task::{TaskSettings, TaskStart},
};

use super::support::{EXTENSION, Peer, RELATED, code, text};

/// Deletes a file if the user says so.
#[tool(task = optional)]
async fn confirm(context: Context, file: String) -> Result<String, ToolError> {
    let sure: Asked<bool> = context.ask("confirm", format!("Delete {file}?")).await?;
    Ok(match sure.accepted() {
        Some(true) => format!("deleted {file}"),
        Some(false) => format!("kept {file}"),
        None => "refused".to_owned(),
    })
}

/// Asks two things at once.
#[tool(task = required)]
async fn both(context: Context) -> Result<String, ToolError> {
    let (name, age): (Result<Asked<String>, _>, Result<Asked<u8>, _>) =
        tokio::join!(context.ask("name", "Who?"), context.ask("age", "How old?"));
    Ok(format!("{:?} {:?}", name?.accepted(), age?.accepted()))
}

/// Asks before its task begins, and within it.
#[tool(task = required)]
async fn greet(context: Context, start: TaskStart) -> Result<String, ToolError> {
    let name: Asked<String> = context.ask("name", "Who?").await?;
    start.begin().await?;
    let greeting: Asked<String> = context.ask("greeting", "How?").await?;
    let (name, greeting) = (name.accepted(), greeting.accepted());
    Ok(format!(
        "{} {}",
        greeting.unwrap_or_default(),
        name.unwrap_or_default()
    ))
}

/// Gives a question up when another one is answered.
#[tool(task = required)]
async fn either(context: Context) -> Result<String, ToolError> {
    let first = async { context.ask::<String>("first", "One?").await };
    let second = async { context.ask::<String>("second", "Two?").await };
    let answer = tokio::select! { answer = first => answer, answer = second => answer };
    let last: Asked<String> = context.ask("last", "Three?").await?;
    Ok(format!("{:?} {:?}", answer?.accepted(), last.accepted()))
}

fn service() -> Service {
    let tools = tools![confirm, both, greet, either];
    Server::new("asks", "1.0.0").tools(tools).build().unwrap()
}

fn declared() -> Value {
    json!({ "elicitation": {}, "extensions": { EXTENSION: {} } })
}

async fn modern(service: &Service) -> Peer {
    Peer::modern_as(service, ClientOptions::new(), &declared()).await
}

fn accept(answer: &Value) -> Value {
    json!({ "action": "accept", "content": { "answer": answer } })
}

/// The keys of the open questions of a task.
fn keys(task: &Value) -> Vec<&str> {
    let requests = task["inputRequests"].as_object();
    requests
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str())
        .collect()
}

async fn update(peer: &mut Peer, id: &str, answers: Value) {
    let params = json!({ "taskId": id, "inputResponses": answers });
    let answer = peer.request("tasks/update", params).await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
}

// W-5, W-15, W-16
#[tokio::test]
async fn with_the_state() {
    let service = service();
    let mut peer = modern(&service).await;
    let id = peer.start("confirm", json!({ "file": "a" })).await;
    peer.send(
        "subscriptions/listen",
        json!({ "notifications": { "taskIds": [id] } }),
    );
    let task = peer.until(&id, "input_required").await;
    assert_eq!(keys(&task), ["confirm"]);
    let question = &task["inputRequests"]["confirm"];
    assert_eq!(
        (&question["method"], &question["params"]["message"]),
        (&json!("elicitation/create"), &json!("Delete a?"))
    );
    assert!(
        task.get("result").is_none() && task.get("requestState").is_none(),
        "{task}"
    );
    update(&mut peer, &id, json!({ "unknown": accept(&json!(true)) })).await;
    assert_eq!(keys(&peer.get(&id).await), ["confirm"]);
    update(&mut peer, &id, json!({ "confirm": accept(&json!(true)) })).await;
    let task = peer.until(&id, "completed").await;
    assert_eq!(text(&task["result"]), "deleted a");
    assert!(task.get("inputRequests").is_none(), "{task}");
    let told: Vec<_> = peer
        .others()
        .iter()
        .skip(1)
        .map(|other| other["params"]["status"].clone())
        .collect();
    assert!(
        told.ends_with(&[json!("working"), json!("completed")]),
        "{told:?}"
    );

    for (answer, expected) in [
        (json!({ "action": "decline" }), "refused"),
        (accept(&json!(false)), "kept a"),
    ] {
        let id = peer.start("confirm", json!({ "file": "a" })).await;
        peer.until(&id, "input_required").await;
        update(&mut peer, &id, json!({ "confirm": answer })).await;
        assert_eq!(
            text(&peer.until(&id, "completed").await["result"]),
            expected
        );
    }
}

// W-16, W-17
#[tokio::test]
async fn in_parts_and_again() {
    let service = service();
    let mut peer = modern(&service).await;
    let id = peer.start("both", json!({})).await;
    let task = peer.until(&id, "input_required").await;
    assert_eq!(keys(&task), ["name", "age"]);
    update(&mut peer, &id, json!({ "name": accept(&json!("Ann")) })).await;
    assert_eq!(keys(&peer.until(&id, "input_required").await), ["age"]);
    // What does not fit is asked again, under a key that was never used; the old key means nothing any more.
    update(&mut peer, &id, json!({ "age": accept(&json!("old")) })).await;
    let task = peer.until(&id, "input_required").await;
    assert_eq!(keys(&task), ["age#2"]);
    update(&mut peer, &id, json!({ "age": accept(&json!(7)) })).await;
    assert_eq!(keys(&peer.get(&id).await), ["age#2"]);
    update(&mut peer, &id, json!({ "age#2": accept(&json!(8)) })).await;
    let task = peer.until(&id, "completed").await;
    assert_eq!(text(&task["result"]), r#"Some("Ann") Some(8)"#);
}

// A question whose future is dropped is taken back.
#[tokio::test]
async fn given_up() {
    let service = service();
    let mut peer = modern(&service).await;
    let id = peer.start("either", json!({})).await;
    assert_eq!(keys(&peer.until(&id, "input_required").await).len(), 2);
    update(&mut peer, &id, json!({ "second": accept(&json!("b")) })).await;
    assert_eq!(keys(&peer.until(&id, "input_required").await), ["last"]);
    update(&mut peer, &id, json!({ "last": accept(&json!("c")) })).await;
    assert_eq!(
        text(&peer.until(&id, "completed").await["result"]),
        r#"Some("b") Some("c")"#
    );

    let id = peer.start("confirm", json!({ "file": "a" })).await;
    peer.until(&id, "input_required").await;
    peer.about("tasks/cancel", &id).await;
    let task = peer.get(&id).await;
    assert_eq!(
        (&task["status"], task.get("inputRequests")),
        (&json!("cancelled"), None)
    );
}

// W-17: what is asked before the task exists is asked within the result of the call.
#[cfg(feature = "ask")]
#[tokio::test]
async fn before_it_begins() {
    let service = service();
    let mut peer = modern(&service).await;
    let first = peer.call("greet", json!({})).await["result"].clone();
    assert_eq!(first["resultType"], "input_required");
    assert!(
        first.get("taskId").is_none() && first["inputRequests"]["name"].is_object(),
        "{first}"
    );
    let second = json!({
        "name": "greet", "arguments": {}, "requestState": first["requestState"],
        "inputResponses": { "name": accept(&json!("Alice")) },
    });
    let created = peer.request("tools/call", second).await["result"].clone();
    assert_eq!(created["resultType"], "task", "{created}");
    assert!(created.get("requestState").is_none() && created.get("inputRequests").is_none());
    let id = created["taskId"].as_str().unwrap();
    assert_eq!(keys(&peer.until(id, "input_required").await), ["greeting"]);
    update(&mut peer, id, json!({ "greeting": accept(&json!("Hail")) })).await;
    assert_eq!(
        text(&peer.until(id, "completed").await["result"]),
        "Hail Alice"
    );
}

// B-8, T-4
#[tokio::test]
async fn a_client_that_cannot_be_asked() {
    let service = service();
    let mut peer = Peer::modern(&service).await;
    let id = peer.start("confirm", json!({ "file": "a" })).await;
    let task = peer.until(&id, "failed").await;
    assert_eq!(task["error"]["code"], -32_021, "{task}");
}

// W-7, W-8: at 2025-11-25 the question is a request, sent while `tasks/result` waits.
#[tokio::test]
async fn as_requests() {
    let service = service();
    let mut peer = Peer::legacy_with(&service, &json!({ "elicitation": {} })).await;
    let id = peer.start("confirm", json!({ "file": "a" })).await;
    peer.until(&id, "input_required").await;
    let is_question = |other: &Value| other["method"] == "elicitation/create";
    assert!(
        !peer.others().iter().any(is_question),
        "nobody waits for the result"
    );

    // The next request that waits gets the question again.
    let waiting = peer.send("tasks/result", json!({ "taskId": id }));
    let question = peer.other_of("elicitation/create").await;
    assert_eq!(
        question["params"]["_meta"][RELATED],
        json!({ "taskId": id })
    );
    peer.notify("notifications/cancelled", &json!({ "requestId": waiting }));
    assert_eq!(peer.get(&id).await["status"], "input_required");

    let waiting = peer.send("tasks/result", json!({ "taskId": id }));
    let again = peer.other_of("elicitation/create").await;
    assert_ne!(again["id"], question["id"]);
    // An answer to the first one comes too late.
    peer.respond(&question["id"], accept(&json!(false)));
    peer.respond(&again["id"], accept(&json!(true)));
    let result = peer.answer(waiting).await;
    assert_eq!(text(&result["result"]), "deleted a");
    let statuses: Vec<_> = peer
        .others()
        .iter()
        .filter(|other| other["method"] == "notifications/tasks/status")
        .map(|other| other["params"]["status"].clone())
        .collect();
    assert_eq!(statuses, ["working", "completed"]);

    let id = peer.start("both", json!({})).await;
    let waiting = peer.send("tasks/result", json!({ "taskId": id }));
    for _ in 0..2 {
        let question = peer.other_of("elicitation/create").await;
        peer.respond(&question["id"], json!({ "action": "cancel" }));
    }
    assert_eq!(text(&peer.answer(waiting).await["result"]), "None None");
    let mut without = Peer::legacy(&service, "2025-11-25").await;
    let id = without.start("confirm", json!({ "file": "a" })).await;
    let answer = without.about("tasks/result", &id).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(code(&without.about("tasks/cancel", &id).await), -32_602);
}

/// A store that takes no state with an open question; it says so at once, or later.
#[derive(Debug)]
struct Unasked {
    memory: MemoryTaskStore,
    at_once: bool,
}

impl TaskStore for Unasked {
    fn create(&self, record: TaskRecord) -> StoreFuture<'_, Result<bool, StoreError>> {
        self.memory.create(record)
    }

    fn update(&self, record: TaskRecord) -> StoreFuture<'_, Result<bool, StoreError>> {
        let refused = record.state.contains("input_required");
        let refusal = || Err(StoreError::new("no disk"));
        match (refused, self.at_once) {
            (false, _) => self.memory.update(record),
            (true, true) => StoreFuture::ready(refusal()),
            (true, false) => StoreFuture::later(async move {
                tokio::task::yield_now().await;
                refusal()
            }),
        }
    }

    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Result<Option<TaskRecord>, StoreError>> {
        self.memory.load(id)
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(std::time::SystemTime, &'a str)>,
        most: usize,
    ) -> StoreFuture<'a, Result<Vec<TaskRecord>, StoreError>> {
        self.memory.list(owner, after, most)
    }
}

// W-15: a question that the store does not take would never be seen. The tool gets the error, and the task ends.
#[tokio::test]
async fn a_store_that_refuses_the_question() {
    let serving = |settings: TaskSettings| {
        let server = Server::new("asks", "1.0.0").tools(tools![confirm, both]);
        server.tasks(settings).build().unwrap()
    };
    let refused = |task: &Value| {
        assert_eq!(task["result"]["isError"], true, "{task}");
        let text = text(&task["result"]);
        assert!(text.contains("could not be stored with the task"), "{text}");
    };
    for at_once in [true, false] {
        let store = Unasked {
            memory: MemoryTaskStore::new(),
            at_once,
        };
        let service = serving(TaskSettings::new().store(store));
        let mut peer = modern(&service).await;
        for (tool, arguments) in [("confirm", json!({ "file": "a" })), ("both", json!({}))] {
            let id = peer.start(tool, arguments.clone()).await;
            refused(&peer.until(&id, "completed").await);
            let mut peer = Peer::legacy_with(&service, &json!({ "elicitation": {} })).await;
            let id = peer.start(tool, arguments).await;
            refused(&peer.about("tasks/result", &id).await);
        }
    }
    // A question that is too long for the store in memory; a short one is fine.
    let store = MemoryTaskStore::new().max_bytes(4096);
    let service = serving(TaskSettings::new().store(store));
    let mut peer = modern(&service).await;
    let id = peer
        .start("confirm", json!({ "file": "a".repeat(8192) }))
        .await;
    refused(&peer.until(&id, "completed").await);
    let id = peer.start("confirm", json!({ "file": "a" })).await;
    peer.until(&id, "input_required").await;
    update(&mut peer, &id, json!({ "confirm": accept(&json!(true)) })).await;
    peer.until(&id, "completed").await;
}

// T-10, W-16: an answer without the form of any is an error where its question is open, and is ignored elsewhere.
#[tokio::test]
async fn malformed_answers() {
    let service = service();
    let mut peer = modern(&service).await;
    let id = peer.start("confirm", json!({ "file": "a" })).await;
    peer.until(&id, "input_required").await;
    for malformed in [json!(5), json!([]), json!({}), json!({ "action": 5 })] {
        update(&mut peer, &id, json!({ "unknown": malformed })).await;
        assert_eq!(keys(&peer.get(&id).await), ["confirm"]);
        let params =
            json!({ "taskId": id, "inputResponses": { "confirm": malformed, "b": malformed } });
        let refused = peer.request("tasks/update", params).await;
        assert_eq!(code(&refused), -32_602, "{refused}");
        assert_eq!(
            refused["error"]["data"]["pointer"],
            "/params/inputResponses/confirm"
        );
        assert_eq!(keys(&peer.get(&id).await), ["confirm"]);
    }
    update(
        &mut peer,
        &id,
        json!({ "b": 5, "confirm": accept(&json!(true)) }),
    )
    .await;
    let task = peer.until(&id, "completed").await;
    assert_eq!(text(&task["result"]), "deleted a");
}

/// Sends a request of its own.
#[tool(task = optional)]
async fn roots(context: Context) -> Result<String, ToolError> {
    let params = ListRootsRequestParams::default();
    let outcome = context.request::<ListRoots>(params).await?;
    Ok(format!("{outcome:?}"))
}

// W-7: every request within a task names it, and none does outside of one.
#[tokio::test]
async fn requests_of_the_low_level_name_the_task() {
    let service = Server::new("asks", "1.0.0")
        .tools(tools![roots])
        .build()
        .unwrap();
    let mut peer = Peer::legacy_with(&service, &json!({ "roots": {} })).await;
    let id = peer.start("roots", json!({})).await;
    let asked = peer.other_of("roots/list").await;
    assert_eq!(
        asked["params"]["_meta"],
        json!({ RELATED: { "taskId": id } })
    );
    peer.respond(&asked["id"], json!({ "roots": [] }));
    peer.until(&id, "completed").await;
    let call = peer.send("tools/call", json!({ "name": "roots", "arguments": {} }));
    let asked = peer.other_of("roots/list").await;
    assert!(asked["params"]["_meta"].is_null(), "{asked}");
    peer.respond(&asked["id"], json!({ "roots": [] }));
    assert!(peer.answer(call).await["result"].is_object());
}

// W-7, W-8: a session of the same caller that waits for the result, and whose client cannot be asked, does not end the question.
#[tokio::test]
async fn a_session_that_cannot_be_asked() {
    let service = service();
    let ann = || ClientOptions::new().principal(Principal::new("ann"));
    let declared = json!({ "elicitation": { "form": {} } });
    let mut able = Peer::legacy_with_as(&service, ann(), &declared).await;
    let mut unable = Peer::legacy_with_as(&service, ann(), &json!({})).await;
    let id = able.start("confirm", json!({ "file": "a" })).await;
    let waiting = able.send("tasks/result", json!({ "taskId": id }));
    let first = able.other_of("elicitation/create").await;
    let other = unable.send("tasks/result", json!({ "taskId": id }));
    able.notify("notifications/cancelled", &json!({ "requestId": waiting }));
    // Only the session that cannot be asked waits now.
    assert!(!unable.has_answered(other).await);
    let waiting = able.send("tasks/result", json!({ "taskId": id }));
    let again = able.other_of("elicitation/create").await;
    assert_ne!(first["id"], again["id"]);
    able.respond(&again["id"], accept(&json!(true)));
    assert_eq!(text(&able.answer(waiting).await["result"]), "deleted a");
}

/// Asks the model first, then the user, at once.
#[tool(task = optional)]
async fn two_kinds(context: Context) -> Result<String, ToolError> {
    let params = serde_json::from_value(json!({ "messages": [], "maxTokens": 1 }))?;
    let (said, sure) = tokio::join!(
        context.sample("said", params),
        context.ask::<bool>("sure", "Sure?")
    );
    Ok(format!("{} {:?}", said.is_ok(), sure?.accepted()))
}

// W-8: a session is passed over for the question that its client cannot be asked, and asked the others.
#[tokio::test]
async fn a_session_that_can_be_asked_some() {
    let service = Server::new("asks", "1.0.0")
        .tools(tools![two_kinds])
        .build()
        .unwrap();
    let ann = || ClientOptions::new().principal(Principal::new("ann"));
    let all = json!({ "elicitation": {}, "sampling": {} });
    let mut first = Peer::legacy_with_as(&service, ann(), &all).await;
    let mut second = Peer::legacy_with_as(&service, ann(), &json!({ "elicitation": {} })).await;
    let id = first.start("two_kinds", json!({})).await;
    let waiting = second.send("tasks/result", json!({ "taskId": id }));
    let asked = second.other_of("elicitation/create").await;
    second.respond(&asked["id"], accept(&json!(true)));
    assert!(!second.has_answered(waiting).await);
    let other = first.send("tasks/result", json!({ "taskId": id }));
    let asked = first.other_of("sampling/createMessage").await;
    let said =
        json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "x" } });
    first.respond(&asked["id"], said);
    assert_eq!(
        text(&first.answer(other).await["result"]),
        "true Some(true)"
    );
    assert_eq!(
        text(&second.answer(waiting).await["result"]),
        "true Some(true)"
    );
}
