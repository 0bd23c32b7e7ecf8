//! What is advertised is enforced, with the features that a user's build has.

use trueform::{client::Client, prelude::*, schema::JsonObject};
use trueform_outside::typed_server;

/// Text of the result of a call, and whether it is an error.
async fn called(client: &Client, name: &str, arguments: &str) -> (String, bool) {
    let arguments: JsonObject = serde_json::from_str(arguments).expect("an object");
    let result = client.call_tool(name, arguments).await.expect("an answer");
    match &result.content[..] {
        [ContentBlock::Text(block)] => (block.text.clone(), result.is_error == Some(true)),
        other => panic!("not one text block: {other:?}"),
    }
}

#[tokio::test]
async fn arguments_are_held_to_the_schema() {
    let client = typed_server().connect().await.expect("a client");
    for (tool, arguments, expected, is_error) in [
        ("find", r#"{"word":"a","limit":3}"#, "a Some(3)", false),
        ("find", r#"{"word":"a","limit":3.0}"#, "a Some(3)", false),
        ("find", r#"{"word":"a"}"#, "a None", false),
        (
            "find",
            r#"{"word":"a","limit":"3"}"#,
            r#"/limit: expected integer, found string "3""#,
            true,
        ),
        (
            "find",
            r#"{"word":"a","limit":1e19}"#,
            "/limit: expected an integer written in digits alone",
            true,
        ),
        (
            "go",
            r#"{"at":{"x":1,"y":2.0},"speed":3}"#,
            "1 2 3 5 None None",
            false,
        ),
        (
            "go",
            r#"{"at":{"x":1,"y":2},"speed":3,"days":null,"map":null}"#,
            "1 2 3 5 None None",
            false,
        ),
        (
            "go",
            r#"{"at":[1,2],"speed":3}"#,
            "/at: expected object, found array of 2 items",
            true,
        ),
        (
            "go",
            r#"{"at":{"x":1,"y":2},"speed":"3"}"#,
            r#"/speed: expected integer, found string "3""#,
            true,
        ),
        (
            "go",
            r#"{"at":{"x":1,"y":2},"speed":3,"wide":18446744073709551617}"#,
            "1 2 3 5 Some(18446744073709551617) None",
            false,
        ),
        (
            "go",
            r#"{"at":{"x":1,"y":2},"speed":3,"wide":1e19}"#,
            "/wide: expected an integer of at most 128 bits, written in digits alone",
            true,
        ),
        (
            "go",
            r#"{"at":{"x":1,"y":2},"speed":3,"map":"https://example.com/a b"}"#,
            r#"did you mean "https://example.com/a%20b"?"#,
            true,
        ),
    ] {
        let (text, was_error) = called(&client, tool, arguments).await;
        assert!(text.contains(expected), "{arguments}: {text}");
        assert_eq!(was_error, is_error, "{arguments}: {text}");
    }
}

/// Beyond 50,000 steps a check goes on elsewhere, and beyond the limit it ends.
#[tokio::test]
async fn long_checks() {
    let client = typed_server().connect().await.expect("a client");
    for (count, expected, is_error) in [
        (100_000, "100000", false),
        (1_100_000, "takes more than 1000000 steps", true),
    ] {
        let arguments = format!(r#"{{"numbers":[{}1]}}"#, "1,".repeat(count - 1));
        let (text, was_error) = called(&client, "sum", &arguments).await;
        assert!(text.contains(expected), "{count}: {text}");
        assert_eq!(was_error, is_error);
    }
}
