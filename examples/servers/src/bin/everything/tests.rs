//! Compares all names and texts that the conformance suite expects. The suite itself checks only a few of them.

use serde_json::{Value, json};
use trueform::{
    client::ClientOptions,
    prelude::*,
    schema::{PromptReference, ResourceTemplateReference, Revision},
};

/// How the text of [`PIXEL`](crate::answers::PIXEL) in base64 begins: a PNG file.
const PNG: &str = "iVBORw0KGgo";

fn value(of: impl Serialize) -> Value {
    serde_json::to_value(of).expect("it is JSON")
}

async fn at(revision: Revision) -> Client {
    let client = crate::server()
        .connect_as(ClientOptions::at(revision))
        .await;
    client.expect("it connects")
}

#[tokio::test]
async fn prompts() {
    for revision in Revision::ALL {
        let client = at(revision).await;
        let listed = client.list_prompts().await.expect("prompts");
        assert!(listed.iter().all(|one| one.description.is_some()));
        let argument = |name: &str, description: &str| json!({"name": name, "description": description, "required": true});
        let listed: Vec<_> = listed
            .iter()
            .map(|one| (&*one.name, value(&one.arguments)))
            .collect();
        for expected in [
            ("test_simple_prompt", Value::Null),
            (
                "test_prompt_with_arguments",
                json!([
                    argument("arg1", "The first argument."),
                    argument("arg2", "The second argument.")
                ]),
            ),
            (
                "test_prompt_with_embedded_resource",
                json!([argument("resourceUri", "The URI of the resource.")]),
            ),
            ("test_prompt_with_image", Value::Null),
        ] {
            assert!(listed.contains(&expected), "{expected:?}: {listed:?}");
        }
        let user = |content: Value| json!({"role": "user", "content": content});
        let text = |text: &str| user(json!({"type": "text", "text": text}));
        let embedded = json!({"type": "resource", "resource": {
            "uri": "test://example-resource", "mimeType": "text/plain",
            "text": "Embedded resource content for testing."
        }});
        for (name, arguments, expected) in [
            (
                "test_simple_prompt",
                json!({}),
                json!([text("This is a simple prompt for testing.")]),
            ),
            (
                "test_prompt_with_arguments",
                json!({"arg1": "testValue1", "arg2": "testValue2"}),
                json!([text(
                    "Prompt with arguments: arg1='testValue1', arg2='testValue2'"
                )]),
            ),
            (
                "test_prompt_with_embedded_resource",
                json!({"resourceUri": "test://example-resource"}),
                json!([
                    user(embedded),
                    text("Please process the embedded resource above.")
                ]),
            ),
        ] {
            let got = client.get_prompt(name, arguments).await.expect("a prompt");
            assert_eq!(value(&got.messages), expected, "{revision} {name}");
        }
        let got = client.get_prompt("test_prompt_with_image", ()).await;
        let messages = value(&got.expect("a prompt").messages);
        let image = &messages[0]["content"];
        assert_eq!(
            (&image["type"], &image["mimeType"], &messages[0]["role"]),
            (&json!("image"), &json!("image/png"), &json!("user"))
        );
        assert!(
            image["data"]
                .as_str()
                .is_some_and(|data| data.starts_with(PNG))
        );
        assert_eq!(messages[1], text("Please analyze the image above."));
        assert_eq!(messages.as_array().map(Vec::len), Some(2));
    }
}

#[tokio::test]
async fn resources() {
    for revision in Revision::ALL {
        let client = at(revision).await;
        let capabilities = client.server_capabilities();
        let declared = capabilities.resources.as_ref().expect("resources");
        assert_eq!(
            (declared.subscribe, declared.list_changed),
            (Some(true), Some(true))
        );
        let listed = client.list_resources().await.expect("resources");
        let listed: Vec<_> = listed
            .iter()
            .map(|one| (&*one.uri, one.mime_type.as_deref()))
            .collect();
        for expected in [
            ("test://static-text", Some("text/plain")),
            ("test://static-binary", Some("image/png")),
            ("test://watched-resource", Some("text/plain")),
        ] {
            assert!(listed.contains(&expected), "{expected:?}: {listed:?}");
        }
        let templates = client.list_resource_templates().await.expect("templates");
        let template = &templates[0];
        assert_eq!(
            (&*template.uri_template, template.mime_type.as_deref()),
            ("test://template/{id}/data", Some("application/json"))
        );
        for (uri, mime_type, text) in [
            (
                "test://static-text",
                "text/plain",
                "This is the content of the static text resource.",
            ),
            (
                "test://template/123/data",
                "application/json",
                r#"{"id":"123","templateTest":true,"data":"Data for ID: 123"}"#,
            ),
        ] {
            let read = client.read_resource(uri).await.expect("a resource");
            let expected = json!([{"uri": uri, "mimeType": mime_type, "text": text}]);
            assert_eq!(value(&read.contents), expected, "{revision}");
        }
        let watched = client.read_resource("test://watched-resource").await;
        assert!(!watched.expect("a resource").text().is_empty());
        let read = client.read_resource("test://static-binary").await;
        let binary = value(&read.expect("a resource").contents);
        assert_eq!(
            (&binary[0]["uri"], &binary[0]["mimeType"]),
            (&json!("test://static-binary"), &json!("image/png"))
        );
        assert!(
            binary[0]["blob"]
                .as_str()
                .is_some_and(|blob| blob.starts_with(PNG))
        );

        let uri = "test://nonexistent-resource-for-conformance-testing";
        let error = client.read_resource(uri).await.expect_err("no resource");
        let error = error.remote().expect("the server refuses");
        let not_found = match revision {
            Revision::V2026_07_28 => -32602,
            _ => -32002,
        };
        let data = error.data.as_ref().map(|data| data.to_value());
        assert_eq!(
            (error.code, &data.unwrap_or_default()["uri"]),
            (not_found, &json!(uri)),
            "{revision}"
        );
    }
}

#[tokio::test]
async fn completion() {
    for revision in Revision::ALL {
        let client = at(revision).await;
        let prompt = PromptReference::new("test_prompt_with_arguments");
        let found = client.complete(prompt, "arg1", "test").await;
        assert_eq!(
            found.expect("suggestions").values,
            ["test", "testValue", "testing"],
            "{revision}"
        );
        let template = ResourceTemplateReference::new("test://template/{id}/data");
        let found = client.complete(template, "id", "12").await;
        assert_eq!(found.expect("suggestions").values, ["123", "124"]);
        // More than one answer holds.
        let prompt = PromptReference::new("pick_number");
        let found = client.complete(prompt, "number", "").await;
        let found = found.expect("suggestions");
        assert_eq!(
            (found.values.len(), found.total, found.has_more),
            (100, Some(150), Some(true))
        );
    }
}

// `arguments` may be absent.
#[tokio::test]
async fn tools() {
    let client = at(Revision::V2025_11_25).await;
    let text = |text: &str| json!({"type": "text", "text": text});
    let resource = |uri: &str, mime_type: &str, text: &str| json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}});
    let tools = client.list_tools().await.expect("tools");
    assert!(tools.iter().all(|tool| tool.description.is_some()));
    // The suite calls the first one without arguments.
    assert_eq!(tools[0].name, "test_simple_text");
    let mirrored = tools
        .iter()
        .find(|tool| {
            value(&tool.input_schema)
                .to_string()
                .contains("x-mcp-header")
        })
        .expect("a tool with a header");
    let schema = value(&mirrored.input_schema);
    assert_eq!(
        (&*mirrored.name, &schema["required"]),
        ("test_header", &json!(["region"]))
    );
    let region = &schema["properties"]["region"];
    assert_eq!(
        (&region["type"], &region["x-mcp-header"]),
        (&json!("string"), &json!("Region"))
    );
    for (name, expected) in [
        (
            "test_simple_text",
            json!([text("This is a simple text response for testing.")]),
        ),
        (
            "test_embedded_resource",
            json!([resource(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content."
            )]),
        ),
        (
            "test_error_handling",
            json!([text("This tool intentionally returns an error for testing")]),
        ),
    ] {
        let result = client.call_tool(name, ()).await.expect("a result");
        assert_eq!(value(&result.content), expected, "{name}");
        let fails = (name == "test_error_handling").then_some(true);
        assert_eq!(result.is_error, fails, "{name}");
    }
    let result = client.call_tool("test_multiple_content_types", ()).await;
    let content = value(&result.expect("a result").content);
    assert_eq!(content[0], text("Multiple content types test:"));
    assert_eq!(content[1]["mimeType"], "image/png");
    assert_eq!(
        content[2],
        resource(
            "test://mixed-content-resource",
            "application/json",
            r#"{"test":"data","value":123}"#
        )
    );
    for (name, kind, mime_type, begins) in [
        ("test_image_content", "image", "image/png", PNG),
        ("test_audio_content", "audio", "audio/wav", "UklGR"),
    ] {
        let result = client.call_tool(name, ()).await.expect("a result");
        let content = &value(&result.content)[0];
        assert_eq!(
            (&content["type"], &content["mimeType"]),
            (&json!(kind), &json!(mime_type))
        );
        assert!(
            content["data"]
                .as_str()
                .is_some_and(|data| data.starts_with(begins))
        );
    }
}
