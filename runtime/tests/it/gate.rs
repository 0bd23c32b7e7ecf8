//! Nothing leaves that the revision of its reader does not allow.

use trueform::{
    Policy,
    client::ClientOptions,
    prelude::*,
    schema::{Icon, ImageContent},
};

/// Returns a picture with malformed data.
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

// Z-2: a schema that is not valid in its dialect is a start error, for input and output.
#[test]
fn schemas_that_are_not_valid() {
    let drafts = [
        None,
        Some("https://json-schema.org/draft/2020-12/schema"),
        Some("http://json-schema.org/draft-07/schema#"),
    ];
    for dialect in drafts {
        for (keyword, bad) in [
            ("required", serde_json::json!("a")),
            ("properties", serde_json::json!([])),
            ("minProperties", serde_json::json!(-1)),
            ("$ref", serde_json::json!("#/nowhere")),
        ] {
            let mut schema = serde_json::json!({"type": "object"});
            if let Some(dialect) = dialect {
                schema["$schema"] = dialect.into();
            }
            let good = schema.clone();
            schema[keyword] = bad;
            for is_input in [true, false] {
                let (input, output) = match is_input {
                    true => (&schema, &good),
                    false => (&good, &schema),
                };
                let tool = DynamicTool::new("t", input.clone())
                    .output_schema(output.clone())
                    .handler(|_, _| async { Json(serde_json::json!({})) });
                let error = Server::new("gate", "1").tools(tool).build().unwrap_err();
                let problem = error.problems().join("\n");
                let side = if is_input { "input" } else { "output" };
                assert!(
                    problem.contains(side) && problem.contains(&format!("/{keyword}")),
                    "{dialect:?}, {side}: {problem}"
                );
            }
        }
    }
}

// Z-14: without a `$schema` the idioms of both dialects are taken, and older clients see objects directly under `properties`.
#[tokio::test]
async fn schemas_without_a_dialect() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"any": true, "none": false, "old": {"$ref": "#/definitions/n"}, "new": {"$ref": "#/$defs/n"}},
        "definitions": {"n": {"type": "integer"}},
        "$defs": {"n": {"type": "string"}},
    });
    let tool = DynamicTool::new("t", schema).handler(|_, _| async { "ok" });
    let service = Server::new("gate", "1").tools(tool).build().unwrap();
    for revision in Revision::ALL {
        let options = trueform::client::ClientOptions::at(revision);
        let client = service.connect_as(options).await.unwrap();
        let tools = client.list_tools().await.unwrap();
        let listed = tools[0].input_schema.to_value();
        let is_newest = revision == Revision::LATEST;
        let (any, none) = match is_newest {
            true => (serde_json::json!(true), serde_json::json!(false)),
            false => (serde_json::json!({}), serde_json::json!({"not": {}})),
        };
        assert_eq!(listed["properties"]["any"], any, "{revision}");
        assert_eq!(listed["properties"]["none"], none, "{revision}");
        for (arguments, is_error) in [
            (serde_json::json!({"any": [1], "old": 1, "new": "a"}), None),
            (serde_json::json!({"none": 1}), Some(true)),
            (serde_json::json!({"old": "a"}), Some(true)),
            (serde_json::json!({"new": 1}), Some(true)),
        ] {
            let result = client.call_tool("t", arguments.clone()).await.unwrap();
            assert_eq!(result.is_error, is_error, "{revision}: {arguments}");
        }
    }
}

/// Returns a result that has a `_meta` with the key that it is given at this place.
#[tool]
fn labelled(key: String, place: String) -> CallToolResult {
    let mut result = serde_json::json!({ "content": [
        { "type": "text", "text": "t", "_meta": {} },
        { "type": "resource", "resource": { "uri": "file:///a", "text": "t", "_meta": {} }, "_meta": {} },
    ], "_meta": {} });
    *result.pointer_mut(&place).unwrap() = serde_json::json!({ key: 1 });
    serde_json::from_value(result).unwrap()
}

const PLACES: [&str; 4] = [
    "/_meta",
    "/content/0/_meta",
    "/content/1/_meta",
    "/content/1/resource/_meta",
];

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
            for place in PLACES {
                let arguments = serde_json::json!({ "key": key, "place": place });
                let answer = client.call_tool("labelled", arguments).await;
                assert_eq!(
                    answer.is_ok(),
                    allowed,
                    "{key} in {place} at {revision}: {answer:?}"
                );
            }
        }
    }
}

// C-4: what the server says of itself goes with every result of the newest revision, so it is looked at before there is one.
#[tokio::test]
async fn what_a_server_says_of_itself() {
    let server = || Server::new("gate", "1").tools(tools![labelled]);
    let no_uri = server()
        .website_url("no address")
        .icons([Icon::new("none either")]);
    let told = no_uri.build().unwrap_err().to_string();
    for (place, revision) in [
        ("/websiteUrl", "2026-07-28"),
        ("/icons/0/src", "2026-07-28"),
        ("/icons/0/src", "2025-11-25"),
    ] {
        let line = told
            .lines()
            .find(|line| line.contains(place) && line.contains(revision));
        assert!(line.is_some(), "{place} at {revision}: {told}");
    }
    // Older revisions see neither.
    let older = server()
        .website_url("no address")
        .revisions([Revision::V2025_06_18]);
    older.build().unwrap();
}

// E-1: a line is a message, whatever line breaks there are in the JSON that somebody brings along.
#[tokio::test]
async fn one_message_one_line() {
    /// Returns JSON with line breaks, one of which looks like an answer.
    #[tool]
    fn broken_up() -> CallToolResult {
        let forged = r#"{"a":[
{"jsonrpc":"2.0","id":7,"result":{"content":[]}}
]}"#;
        let json = || trueform::schema::Json::from_text(forged.replace('a', "a\\n")).unwrap();
        let text = trueform::schema::TextContent::new("two\nlines");
        let meta = trueform::schema::Meta::from_iter([("example.com/key", json())]);
        CallToolResult::new([text.with_meta(meta).into()]).with_structured_content(json())
    }
    let service = Server::new("gate", "1")
        .tools(tools![broken_up])
        .build()
        .unwrap();
    let call = crate::support::modern("7", "tools/call", r#","name":"broken_up""#);
    for line in crate::support::conversation(&service, format!("{call}\n")).await {
        let message: serde_json::Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        assert_eq!(message["result"]["content"][0]["text"], "two\nlines");
        assert!(message["result"]["structuredContent"]["a\n"].is_array());
    }
}
