//! What a server with tasks declares, lists, and refuses to start with.

use serde_json::json;
use trueform::{
    DynamicTool,
    prelude::*,
    task::{TaskMode, TaskSettings, TaskStart},
};

use super::support::{EXTENSION, Peer, code, server, text};

// W-1, W-2, W-21, GAP-12
#[tokio::test]
async fn declared_and_listed() {
    let (server, _director) = server();
    let service = server.build().unwrap();
    for (revision, expected) in [("2025-06-18", None), ("2025-11-25", Some("optional"))] {
        let mut peer = Peer::legacy(&service, revision).await;
        let opened = peer.request("initialize", json!({
            "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
        })).await;
        let declared = &opened["result"]["capabilities"];
        let tasks = expected
            .map(|_| json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } }));
        assert_eq!(declared.get("tasks").cloned(), tasks, "{revision}");
        assert!(
            declared.get("extensions").is_none(),
            "{revision}: {declared}"
        );
        let tools = peer.request("tools/list", json!({})).await["result"]["tools"].clone();
        let support = |name: &str| {
            let tool = tools
                .as_array()
                .unwrap()
                .iter()
                .find(|tool| tool["name"] == name)
                .unwrap()
                .clone();
            tool["execution"]["taskSupport"].as_str().map(str::to_owned)
        };
        assert_eq!(support("work").as_deref(), expected);
        assert_eq!(support("hurry").as_deref(), expected.map(|_| "required"));
        assert_eq!(support("plain"), None);
    }
    let mut peer = Peer::modern(&service).await;
    let described = peer.request("server/discover", json!({})).await;
    let declared = &described["result"]["capabilities"];
    assert!(declared.get("tasks").is_none(), "{declared}");
    assert_eq!(declared["extensions"], json!({ EXTENSION: {} }));
    let tools = peer.request("tools/list", json!({})).await["result"]["tools"].to_string();
    assert!(!tools.contains("execution"), "{tools}");
}

#[tokio::test]
async fn dynamic_tools() {
    let schema = json!({ "type": "object" });
    let tool = |name: &str| {
        DynamicTool::new(name, schema.clone())
            .task(TaskMode::Required)
            .handler(|_, _| async { "done" })
    };
    let service = Server::new("t", "1").tools(tool("first")).build().unwrap();
    let mut peer = Peer::legacy(&service, "2025-11-25").await;
    let id = peer.start("first", json!({})).await;
    assert_eq!(
        text(&peer.about("tasks/result", &id).await["result"]),
        "done"
    );
    service.handle().add_tools(tool("second")).unwrap();
    peer.start("second", json!({})).await;

    // What a server did not declare it does not begin to have.
    let service = Server::new("t", "1").tools(tools![]).build().unwrap();
    let refused = service
        .handle()
        .add_tools(tool("late"))
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("tool `late`") && refused.contains("`Server::tasks`"),
        "{refused}"
    );
    let service = Server::new("t", "1")
        .tools(tools![])
        .tasks(TaskSettings::new())
        .build()
        .unwrap();
    service.handle().add_tools(tool("late")).unwrap();
    let mut peer = Peer::legacy(&service, "2025-11-25").await;
    peer.start("late", json!({})).await;
    assert_eq!(
        code(&peer.request("tools/call", json!({ "name": "late" })).await),
        -32_601
    );
}

/// Takes what it cannot use.
#[tool]
async fn lost(start: TaskStart) -> Result<(), ToolError> {
    start.begin().await
}

/// Takes what it cannot use.
#[prompt]
async fn lost_too(start: TaskStart) -> Result<String, ToolError> {
    start.begin().await?;
    Ok(String::new())
}

#[test]
fn a_start_without_tasks() {
    let server = Server::new("t", "1")
        .tools(tools![lost])
        .prompts(prompts![lost_too]);
    let problems = server.build().unwrap_err().to_string();
    for name in ["tool `lost`", "prompt `lost_too`"] {
        assert!(problems.contains(name), "{problems}");
    }
    assert!(
        problems.contains("takes a `TaskStart`, and its calls never become tasks"),
        "{problems}"
    );
}

// The bindings of the extension can be served once only.
#[test]
fn an_extension_of_the_authors_own() {
    use trueform::schema::ext::tasks::handler;

    struct Own;
    impl handler::ServerHandler for Own {
        type Context = Context;
    }
    let (with_tasks, _director) = server();
    let problems = with_tasks
        .extension(handler::Server(Own))
        .build()
        .unwrap_err()
        .to_string();
    assert!(problems.contains("was registered twice"), "{problems}");
}
