//! Schemas that every known client takes, without a word about it from the author.

use serde_json::Value;
use trueform::{
    client::{Client, ClientOptions},
    prelude::*,
    schema::{JsonObject, Revision},
};
use trueform_outside::accepted_server;

/// What clients stumble over, with its place.
fn obstacles(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Null => found.push(format!("{at}: null")),
        Value::String(text) if text == "null" => found.push(format!("{at}: the type null")),
        Value::Bool(_) if !at.ends_with("/additionalProperties") => {
            found.push(format!("{at}: a boolean"))
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                obstacles(item, &format!("{at}/{i}"), found);
            }
        }
        Value::Object(members) => {
            let has = |name: &str| members.contains_key(name);
            let lacks = |kind: &str, name: &str| {
                members.get("type").is_some_and(|named| named == kind) && !has(name)
            };
            if has("$ref") || has("$defs") {
                found.push(format!("{at}: a reference"));
            }
            if lacks("object", "properties") {
                found.push(format!("{at}: no properties"));
            }
            if lacks("array", "items") {
                found.push(format!("{at}: no items"));
            }
            for (name, member) in members {
                obstacles(member, &format!("{at}/{name}"), found);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn every_client_takes_the_schemas() {
    let service = accepted_server().build().expect("the tools are right");
    assert_eq!(service.lint(), []);
    for revision in Revision::ALL {
        let options = ClientOptions::at(revision);
        let client = service.connect_as(options).await.expect("a client");
        let tools = client.list_tools().await.expect("a list");
        assert_eq!(tools.len(), 3);
        for tool in tools {
            let schema = tool.input_schema.to_value();
            let mut found = Vec::new();
            obstacles(&schema, "", &mut found);
            assert!(found.is_empty(), "{}: {found:#?} {schema:#}", tool.name);
            assert!(schema["properties"].is_object(), "{schema:#}");
        }
    }
}

async fn called(client: &Client, name: &str, arguments: &str) -> Option<bool> {
    let arguments: JsonObject = serde_json::from_str(arguments).expect("an object");
    let result = client.call_tool(name, arguments).await.expect("an answer");
    result.is_error
}

// Null is not advertised, and means what it always did.
#[tokio::test]
async fn null_counts_as_absent() {
    let client = accepted_server().connect().await.expect("a client");
    for (name, arguments, is_right) in [
        (
            "search",
            r#"{"words":[],"order":"newest","then":null,"scope":{"folder":"/","depth":null,"order":null},"other":null,
                "view":{"width":null},"width":null,"scale":1}"#,
            true,
        ),
        (
            "search",
            r#"{"words":[],"order":"oldest","scope":{"folder":"/"}}"#,
            true,
        ),
        (
            "search",
            r#"{"words":[],"order":null,"scope":{"folder":"/"}}"#,
            false,
        ),
        (
            "list",
            r#"{"scope":{"folder":"/","order":null},"order":"random","then":null,"within":null,
                "when":{"kind":"before","day":"x","hour":null},"near":null,"limit":null,"pairs":[["a",1]]}"#,
            true,
        ),
        (
            "list",
            r#"{"scope":{"folder":null},"order":"random","pairs":[]}"#,
            false,
        ),
        (
            "list",
            r#"{"scope":{"folder":"/"},"order":"random","pairs":[],"limit":0}"#,
            false,
        ),
    ] {
        let error = called(&client, name, arguments).await;
        assert_eq!(error != Some(true), is_right, "{name} {arguments}");
    }
}
