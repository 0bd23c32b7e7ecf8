//! Nothing leaves that the revision of its reader does not allow.

use trueform::{
    Policy,
    client::ClientOptions,
    prelude::*,
    schema::{Icon, ImageContent},
};

/// Returns a picture that is none.
#[tool]
fn broken() -> ContentBlock {
    ImageContent::new("no base64!", "image/png").into()
}

/// Returns a picture.
#[tool]
fn fine() -> ContentBlock {
    ImageContent::new("aGk=", "image/png").into()
}

#[tokio::test]
async fn what_a_revision_forbids_is_held_back() {
    for revision in Revision::ALL {
        let service = Server::new("gate", "1")
            .tools(tools![broken, fine])
            .build()
            .unwrap();
        let client = service
            .connect_as(ClientOptions::at(revision))
            .await
            .unwrap();
        let error = client
            .call_tool("broken", serde_json::json!({}))
            .await
            .unwrap_err();
        let remote = error
            .remote()
            .unwrap_or_else(|| panic!("{revision}: {error}"));
        assert_eq!(remote.code, -32603, "{revision}");
        assert!(
            !remote.message.contains("base64!"),
            "the value stays here: {}",
            remote.message
        );
        // The connection lives on.
        assert_eq!(
            client
                .call_tool("fine", serde_json::json!({}))
                .await
                .unwrap()
                .content
                .len(),
            1
        );
    }
}

#[tokio::test]
async fn authors_may_choose_to_send_it() {
    for policy in [Policy::Warn, Policy::Off] {
        let server = Server::new("gate", "1")
            .tools(tools![broken])
            .outgoing(policy);
        let client = server.connect().await.unwrap();
        let result = client
            .call_tool("broken", serde_json::json!({}))
            .await
            .unwrap();
        assert_eq!(result.content.len(), 1, "{policy:?}");
    }
}

// A bad tool is a start error, never a broken list.
#[test]
fn tools_that_cannot_be_listed_are_told_at_start() {
    let tool = DynamicTool::new("drawn", serde_json::json!({"type": "object"}))
        .icons([Icon::new("no uri")])
        .handler(|_, _| async { Ok::<_, ToolError>("ok") });
    let error = Server::new("gate", "1").tools(tool).build().unwrap_err();
    let problem = error.problems().join("\n");
    for part in ["`drawn`", "2025-11-25", "/icons/0/src", "gate.rs"] {
        assert!(problem.contains(part), "{part} in {problem}");
    }
    // Revisions without icons list it.
    assert!(!problem.contains("2025-06-18"), "{problem}");
}

/// Returns a result whose `_meta` has the key that it is given.
#[tool]
fn labelled(key: String) -> CallToolResult {
    let meta: trueform::schema::ResultMetaObject =
        serde_json::from_value(serde_json::json!({ key: 1 })).unwrap();
    CallToolResult::new(vec![]).with_meta(meta)
}

// Z-10, Z-11
#[tokio::test]
async fn keys_of_the_meta_of_results() {
    let service = Server::new("gate", "1")
        .tools(tools![labelled])
        .build()
        .unwrap();
    for (key, allowed) in [
        ("plain", true),
        ("a.b-c_d", true),
        ("com.example/key", true),
        ("example/", true),
        ("bad key!!", false),
        ("-a", false),
        ("a.", false),
        ("1x.y/key", false),
        ("x-.y/key", false),
        ("io.modelcontextprotocol/subscriptionId", false),
        ("dev.mcp/any", false),
    ] {
        for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
            let client = service
                .connect_as(ClientOptions::at(revision))
                .await
                .unwrap();
            let answer = client
                .call_tool("labelled", serde_json::json!({ "key": key }))
                .await;
            assert_eq!(answer.is_ok(), allowed, "{key} at {revision}: {answer:?}");
        }
    }
}
