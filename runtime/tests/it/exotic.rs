//! Schemas beyond the compiled vocabulary: a start error, or with the feature `json-schema` tools like all others.

use serde_json::{Value, json};
use trueform::prelude::*;

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code, reason = "only what is refused is looked at")]
enum Shape {
    Circle { radius: u32 },
    Square { side: u32 },
}

/// Where to draw what.
#[derive(Deserialize, JsonSchema)]
struct Drawing {
    layer: u32,
    #[serde(flatten)]
    _shape: Shape,
}

/// Draws a shape.
#[tool]
fn draw(Args(drawing): Args<Drawing>) -> String {
    format!("on layer {}", drawing.layer)
}

/// What the tools share: an object that says nothing of other members itself, but leaves none unevaluated.
fn closed() -> Value {
    json!({
        "type": "object",
        "allOf": [{"properties": {"path": {"type": "string", "pattern": "^(?!/)"}}, "required": ["path"]}],
        "properties": {"lines": {"type": "integer"}},
        "unevaluatedProperties": false,
    })
}

fn read() -> DynamicTool {
    DynamicTool::new("read", closed()).handler(|_, arguments| async move { arguments.to_string() })
}

#[cfg(not(feature = "json-schema"))]
#[test]
fn exotic_schemas_are_start_errors_that_name_the_feature() {
    let error = Server::new("s", "1").tools(read()).build().unwrap_err();
    let text = error.to_string();
    for expected in [
        "`unevaluatedProperties` needs the feature `json-schema`",
        "patterns with lookahead need the feature `json-schema`",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    // What schemars writes for the flattened enum is covered.
    assert!(Server::new("s", "1").tools(tools![draw]).build().is_ok());
}

#[cfg(feature = "json-schema")]
mod full {
    use trueform::{Profile, client::ClientError};

    use super::*;

    async fn refused(server: Server, name: &str, arguments: Value) -> String {
        let client = server.connect().await.unwrap();
        let result = client.call_tool(name, arguments).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        match &result.content[..] {
            [ContentBlock::Text(block)] => block.text.clone(),
            other => panic!("not one text block: {other:?}"),
        }
    }

    #[tokio::test]
    async fn arguments_are_checked_and_told_as_usual() {
        for profile in [Profile::AsWritten, Profile::Portable] {
            let server = || Server::new("s", "1").profile(profile).tools(read());
            let client = server().connect().await.unwrap();
            let good = json!({"path": "a", "lines": 3.0});
            assert_eq!(client.call_tool("read", good).await.unwrap().is_error, None);
            let bad = json!({"path": "/etc", "lines": "x", "Lines": 2});
            let text = refused(server(), "read", bad).await;
            let (head, mut told) = text
                .split_once('\n')
                .map(|(a, b)| (a, b.lines().collect::<Vec<_>>()))
                .unwrap();
            told.sort_unstable();
            assert_eq!(head, "the arguments of tool `read` do not fit:");
            assert_eq!(
                told,
                [
                    "/Lines: expected only `lines`, `path`, found unknown property `Lines`",
                    "/lines: expected integer, found string \"x\"",
                    "/path: expected string matching `^(?!/)`, found string \"/etc\"",
                ]
            );
        }
    }

    /// Takes the size of a tree.
    #[tool]
    fn measure(#[schemars(regex(pattern = r"^(?!\.)"))] name: String, size: u8) -> String {
        format!("{name}: {size}")
    }

    #[tokio::test]
    async fn functions_are_checked_too() {
        let server = || Server::new("s", "1").tools(tools![measure]);
        let text = refused(server(), "measure", json!({"name": ".x", "size": 1})).await;
        assert_eq!(
            text,
            "the arguments of tool `measure` do not fit:\n\
             /name: expected string matching `^(?!\\.)`, found string \".x\""
        );
        let text = refused(server(), "measure", json!({"nam": "x", "size": 1})).await;
        assert_eq!(
            text,
            "the arguments of tool `measure` do not fit:\n\
             /name: expected string, found nothing\n\
             /nam: expected only `name`, `size`, found unknown property `nam`; did you mean `name`?"
        );
        // Models write 1.0 for 1, and serde does not take it.
        let client = server().connect().await.unwrap();
        let result = client
            .call_tool("measure", json!({"name": "x", "size": 1.0}))
            .await
            .unwrap();
        assert_eq!(result.is_error, None);
    }

    #[tokio::test]
    async fn results_are_checked() {
        let tool = DynamicTool::new("made", json!({"type": "object"}))
            .output_schema(closed())
            .handler(|_, arguments| async move { Json(arguments.to_value()) });
        let client = Server::new("s", "1").tools(tool).connect().await.unwrap();
        let good = client
            .call_tool("made", json!({"path": "a"}))
            .await
            .unwrap();
        assert_eq!(
            good.structured_content.unwrap().to_value(),
            json!({"path": "a"})
        );
        match client
            .call_tool("made", json!({"path": "a", "secret": 1}))
            .await
        {
            Err(ClientError::Remote(error)) => assert_eq!(
                error.message,
                "tool `made` returned a result that its output schema forbids"
            ),
            other => panic!("a result that its schema forbids: {other:?}"),
        }
    }

    // Z-3
    #[test]
    fn a_remote_reference_is_a_start_error() {
        let mut schema = closed();
        schema["properties"]["other"] = json!({"$ref": "https://example.com/other.json"});
        let tool = DynamicTool::new("read", schema).handler(|_, _| async {});
        let error = Server::new("s", "1").tools(tool).build().unwrap_err();
        let text = error.to_string();
        assert!(text.contains("/properties/other/$ref: `https://example.com/other.json` is another document, and those are never fetched"), "{text}");
    }
}
