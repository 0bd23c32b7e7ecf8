//! What the server promises, and that its traffic keeps the rules of the specification.

use code_search::{Folder, server};
use serde_json::json;
use trueform::{
    client::ClientOptions,
    schema::{PromptReference, Revision},
    testing::{Checker, Recorder, assert_contract},
};

use crate::support::project;

#[test]
fn the_contract_is_kept() {
    let project = project();
    let service = server(Folder::open(project.path()).unwrap())
        .build()
        .unwrap();
    assert_contract(&service, "tests/contract.json");
    assert_eq!(service.lint(), []);
}

#[tokio::test]
async fn the_traffic_keeps_the_rules() {
    let project = project();
    let service = server(Folder::open(project.path()).unwrap())
        .build()
        .unwrap();
    for revision in Revision::ALL {
        let recorder = Recorder::new();
        let options = ClientOptions::at(revision);
        let client = recorder.connect_as(&service, options).await.unwrap();
        client.list_tools().await.unwrap();
        client.list_prompts().await.unwrap();
        client.list_resources().await.unwrap();
        client.list_resource_templates().await.unwrap();
        for pattern in ["needle", "needle("] {
            let call = client.call_tool("search", json!({"pattern": pattern, "limit": 2}));
            call.on_progress(|_| {}).await.unwrap();
        }
        for (uri, is_there) in [
            ("code://README.md", true),
            ("code://logo.png", true),
            ("code://.env", false),
        ] {
            let read = client.read_resource(uri).await;
            assert_eq!(read.is_ok(), is_there, "{uri} at {revision}");
        }
        client
            .get_prompt("review", json!({"path": "src/lib.rs"}))
            .await
            .unwrap();
        let prompt = PromptReference::new("review");
        client.complete(prompt, "path", "src").await.unwrap();
        client.close().await;
        let transcript = recorder.transcript();
        assert_eq!(Checker::new().check(&transcript).unwrap(), [], "{revision}");
    }
}
