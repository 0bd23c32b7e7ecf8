//! Where a tool says that its task begins.

use serde_json::json;
use trueform::{Service, prelude::*, task::TaskStart};

use super::support::{Peer, text};
use crate::support::{Director, Stage, stage};

/// Becomes a task unless it is refused before.
#[tool(task = optional)]
async fn report(
    context: Context,
    start: TaskStart,
    stage: State<Stage>,
    year: u16,
) -> Result<String, ToolError> {
    if year < 1970 {
        return Err(ToolError::new("there are reports since 1970"));
    }
    context.progress(1.0, None, None);
    start.begin().await?;
    context.progress(2.0, None, None);
    stage.0.hold("report").await;
    // Once is enough.
    start.begin().await?;
    Ok(format!("the report of {year}"))
}

/// Begins beside other work, which goes on.
#[tool(task = required)]
async fn beside(start: TaskStart, stage: State<Stage>) -> Result<String, ToolError> {
    let (begun, ()) = tokio::join!(start.begin(), async {
        tokio::task::yield_now().await;
        stage.0.hold("beside").await;
    });
    begun?;
    Ok("both".to_owned())
}

/// Ends in the poll in which it begins.
#[tool(task = required)]
async fn at_once(start: TaskStart) -> &'static str {
    tokio::select! {
        biased;
        _ = start.begin() => "begun",
        () = std::future::ready(()) => "overtaken",
    }
}

/// Panics in its task.
#[tool(task = required)]
async fn falls(start: TaskStart) -> Result<String, ToolError> {
    start.begin().await?;
    tokio::task::yield_now().await;
    panic!("meant to")
}

/// Begins a task although it cannot be one.
#[tool(task = optional)]
async fn maybe(start: Option<TaskStart>) -> Result<String, ToolError> {
    if let Some(start) = start {
        start.begin().await?;
    }
    Ok("done".to_owned())
}

fn service() -> (Service, Director) {
    let (stage, director) = stage();
    let tools = tools![report, beside, at_once, falls, maybe];
    let server = Server::new("starts", "1.0.0").tools(tools).state(stage);
    (server.build().unwrap(), director)
}

// W-13, N-5
#[tokio::test]
async fn a_task_begins_where_the_tool_says() {
    let (service, director) = service();
    let mut peer = Peer::modern(&service).await;
    let answer = peer.call("report", json!({ "year": 1969 })).await;
    assert_eq!(
        (
            &answer["result"]["resultType"],
            &answer["result"]["isError"]
        ),
        (&json!("complete"), &json!(true))
    );
    let params =
        json!({ "name": "report", "arguments": { "year": 1999 }, "_meta": { "progressToken": 7 } });
    let created = peer.request("tools/call", params).await;
    assert_eq!(created["result"]["resultType"], "task");
    let id = created["result"]["taskId"].as_str().unwrap().to_owned();
    assert_eq!(peer.get(&id).await["status"], "working");
    assert_eq!(director.begun().await, "report");
    director.open();
    let task = peer.until(&id, "completed").await;
    assert_eq!(text(&task["result"]), "the report of 1999");
    let progress: Vec<_> = peer
        .others()
        .iter()
        .map(|other| other["params"]["progress"].clone())
        .collect();
    assert_eq!(progress, [1], "none from within the task");
}

// O-5: the answered request has no more to do with the task; its id can be used again.
#[tokio::test]
async fn the_request_is_over() {
    let (service, director) = service();
    let mut peer = Peer::modern(&service).await;
    let call = peer.send("tools/call", json!({ "name": "beside", "arguments": {} }));
    let created = peer.answer(call).await;
    let id = created["result"]["taskId"].as_str().unwrap().to_owned();
    assert_eq!(director.begun().await, "beside");
    peer.notify("notifications/cancelled", &json!({ "requestId": call }));
    assert_eq!(peer.get(&id).await["status"], "working");
    let other = peer.start("beside", json!({})).await;
    assert_eq!(director.begun().await, "beside");
    assert_eq!(
        peer.about("tasks/cancel", &other).await["result"]["resultType"],
        "complete"
    );
    assert_eq!(peer.get(&other).await["status"], "cancelled");
    assert_eq!(director.begun().await, "dropped beside");
    director.open();
    assert_eq!(text(&peer.until(&id, "completed").await["result"]), "both");
}

#[tokio::test]
async fn ends_of_all_kinds() {
    let (service, _director) = service();
    let mut peer = Peer::modern(&service).await;
    let id = peer.start("at_once", json!({})).await;
    assert_eq!(
        text(&peer.until(&id, "completed").await["result"]),
        "overtaken"
    );
    let id = peer.start("falls", json!({})).await;
    assert_eq!(
        peer.until(&id, "completed").await["result"]["isError"],
        true
    );
    let id = peer.start("maybe", json!({})).await;
    assert_eq!(text(&peer.until(&id, "completed").await["result"]), "done");
}

// W-4: at 2025-11-25 a task begins with its request. At other revisions a task cannot begin so.
#[tokio::test]
async fn without_a_task_of_its_own() {
    let (service, director) = service();
    director.open();
    let mut peer = Peer::legacy(&service, "2025-11-25").await;
    let id = peer.start("report", json!({ "year": 1969 })).await;
    assert_eq!(
        peer.about("tasks/result", &id).await["result"]["isError"],
        true
    );
    let id = peer.start("report", json!({ "year": 1999 })).await;
    assert_eq!(
        text(&peer.about("tasks/result", &id).await["result"]),
        "the report of 1999"
    );
    let in_place = json!({ "name": "report", "arguments": { "year": 1999 } });
    for mut peer in [
        peer,
        Peer::legacy(&service, "2025-06-18").await,
        Peer::modern_as(&service, trueform::client::ClientOptions::new(), &json!({})).await,
    ] {
        let answer = peer.request("tools/call", in_place.clone()).await;
        assert_eq!(text(&answer["result"]), "the report of 1999");
    }
}
