//! Values of arguments that an author's function refuses: the error names the argument, at all revisions.

use std::time::Duration;

use serde_json::{Value, json};
use trueform::{
    client::{ClientError, ClientOptions},
    completion::CompletionQuery,
    prelude::*,
    schema::PromptReference,
};

fn language(name: &str) -> Result<String, ToolError> {
    match name {
        "de" | "fr" => Ok(name.to_owned()),
        _ => Err(ToolError::invalid_argument(
            "language",
            "expected `de` or `fr`",
        )),
    }
}

/// Translates.
#[prompt]
async fn translate(#[arg(complete = towns)] language: String) -> Result<String, ToolError> {
    tokio::task::yield_now().await;
    self::language(&language)
}

/// A word.
#[resource("words:{language}/{word}")]
fn word(language: String, word: String) -> Result<String, ToolError> {
    Ok(self::language(&language)? + &word)
}

/// Speaks.
#[tool]
fn speak(language: String) -> Result<String, ToolError> {
    self::language(&language)
}

fn towns(query: CompletionQuery) -> Result<Vec<String>, ToolError> {
    match query.argument("a/b") {
        Some(_) => Err(ToolError::invalid_argument("a/b", "expected nothing")),
        None => language(query.value()).map(|one| vec![one]),
    }
}

fn refused<T: std::fmt::Debug>(answer: Result<T, ClientError>) -> (i64, String, Value) {
    let error = answer.unwrap_err();
    let error = error.remote().expect("the server refuses").clone();
    let data = error.data.map(|data| data.to_value()).unwrap_or_default();
    (error.code, error.message, data)
}

async fn check(revision: Revision) {
    let server = Server::new("words", "1.0.0")
        .prompts(prompts![translate])
        .resources(resources![word])
        .tools(tools![speak]);
    let client = server
        .connect_as(ClientOptions::at(revision))
        .await
        .unwrap();
    let detail = |pointer: &str| json!({"pointer": pointer, "rule": "argument", "expected": "expected `de` or `fr`", "found": "another value"});

    let (code, message, data) = refused(
        client
            .get_prompt("translate", json!({"language": "x"}))
            .await,
    );
    assert_eq!(code, -32602);
    assert_eq!(
        message,
        "the arguments of prompt `translate` do not fit: `language`: expected `de` or `fr`"
    );
    assert_eq!(data, detail("/params/arguments/language"));

    let (code, message, data) = refused(client.read_resource("words:x/y").await);
    assert_eq!(code, -32602);
    assert_eq!(
        message,
        "the arguments of resource `words:x/y` do not fit: `language`: expected `de` or `fr`"
    );
    assert_eq!(data, detail("/params/uri"));

    let reference = || PromptReference::new("translate");
    let (code, message, data) = refused(client.complete(reference(), "language", "x").await);
    assert_eq!(
        (code, &*message),
        (-32602, "`language`: expected `de` or `fr`")
    );
    assert_eq!(data, detail("/params/argument/value"));
    if Revision::V2025_06_18 <= revision {
        let asked = client
            .complete(reference(), "language", "x")
            .with("a/b", "1");
        let (code, _, data) = refused(asked.await);
        assert_eq!(code, -32602);
        assert_eq!(data["pointer"], "/params/context/arguments/a~1b");
    }

    // I-6: the model can mend it.
    let result = client
        .call_tool("speak", json!({"language": "x"}))
        .await
        .unwrap();
    assert_eq!(result.is_error, Some(true));
    let result = serde_json::to_value(&result.content).unwrap();
    assert_eq!(
        result[0]["text"],
        "the arguments of tool `speak` do not fit:\n`language`: expected `de` or `fr`"
    );

    // Others go on.
    let read = client.read_resource("words:de/haus").await.unwrap();
    assert_eq!(
        serde_json::to_value(&read.contents).unwrap()[0]["text"],
        "dehaus"
    );
}

// K-2, L-3, J-6
#[tokio::test]
async fn the_error_names_the_argument() {
    for revision in Revision::ALL {
        let checked = tokio::time::timeout(Duration::from_secs(30), check(revision));
        checked.await.expect("in time");
    }
}
