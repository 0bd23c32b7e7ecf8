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
