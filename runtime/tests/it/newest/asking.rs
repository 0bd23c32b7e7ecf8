//! Tools that ask the client, each for something that some revisions cannot ask.

use serde_json::{Value, json};
use trueform::{
    AskError,
    prelude::*,
    schema::methods::{CreateMessage, Elicit, ListRoots, Ping, Request},
    tool::ToolSet,
};

/// What the tools say, by revision: `.` answered, `x` cannot be said at this revision, `-` there is no such question.
pub(super) const SAID: [(&str, [char; 5]); 10] = [
    ("roots", ['.', '.', '.', '.', '-']),
    ("ping", ['.', '.', '.', '.', '-']),
    ("samples", ['.', '.', '.', '.', '-']),
    ("samples_audio", ['x', '.', '.', '.', '-']),
    ("samples_one_of_many", ['.', '.', '.', '.', '-']),
    ("samples_many", ['x', 'x', 'x', '.', '-']),
    ("samples_with_tools", ['x', 'x', 'x', '.', '-']),
    ("elicits", ['-', '-', '.', '.', '-']),
    ("elicits_many", ['-', '-', 'x', '.', '-']),
    ("elicits_by_url", ['-', '-', 'x', '.', '-']),
];

pub(super) fn tools() -> ToolSet {
    tools![
        roots,
        ping,
        samples,
        samples_audio,
        samples_one_of_many,
        samples_many,
        samples_with_tools,
        elicits,
        elicits_many,
        elicits_by_url
    ]
}

/// How a question ended, as [`SAID`] spells it.
async fn ask<R: Request>(context: Context, params: Value) -> String
where
    R::Params: serde::de::DeserializeOwned,
{
    let params = serde_json::from_value(params).expect("params of the method");
    match context.request::<R>(params).await {
        Ok(_) => ".".to_owned(),
        Err(AskError::NotAllowed(_)) => "x".to_owned(),
        Err(AskError::NotAtThisRevision) => "-".to_owned(),
        Err(other) => other.to_string(),
    }
}

fn sampling(content: &Value) -> Value {
    json!({
        "maxTokens": 5,
        "messages": [
            { "role": "user", "content": content, "_meta": { "example.com/key": 1 } },
        ],
        "includeContext": "thisServer",
        "metadata": { "any": [null] },
        "modelPreferences": { "costPriority": 0.5, "hints": [{ "name": "small" }] },
        "stopSequences": ["."],
        "systemPrompt": "Be brief.",
        "temperature": 0.5,
    })
}

fn text(text: &str) -> Value {
    json!({
        "type": "text",
        "text": text,
        "annotations": { "audience": ["user"], "lastModified": "2026-01-02T03:04:05Z" },
        "_meta": { "example.com/key": 1 },
    })
}

/// Where the client works.
#[tool]
async fn roots(context: Context) -> String {
    ask::<ListRoots>(context, json!({})).await
}

/// Whether the client is there.
#[tool]
async fn ping(context: Context) -> String {
    ask::<Ping>(context, json!({})).await
}

/// A text, with everything on it.
#[tool]
async fn samples(context: Context) -> String {
    ask::<CreateMessage>(context, sampling(&text("Hello"))).await
}

/// A content that came later.
#[tool]
async fn samples_audio(context: Context) -> String {
    let audio = json!({ "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav" });
    ask::<CreateMessage>(context, sampling(&audio)).await
}

/// A list of one, which older revisions see as that one.
#[tool]
async fn samples_one_of_many(context: Context) -> String {
    ask::<CreateMessage>(context, sampling(&json!([text("Hello")]))).await
}

/// A list that older revisions cannot see.
#[tool]
async fn samples_many(context: Context) -> String {
    ask::<CreateMessage>(context, sampling(&json!([text("Hello"), text("there")]))).await
}

/// Tools, their uses and their results.
#[tool]
async fn samples_with_tools(context: Context) -> String {
    let used = json!({ "type": "tool_use", "id": "u", "name": "look", "input": { "any": 1 } });
    let result = json!({
        "type": "tool_result",
        "toolUseId": "u",
        "content": [text("seen")],
        "structuredContent": { "any": 1 },
        "isError": false,
    });
    let mut params = sampling(&json!([result]));
    let asked = json!([
        { "role": "user", "content": text("Look!") },
        { "role": "assistant", "content": used },
    ]);
    let messages = params["messages"].as_array_mut().expect("messages");
    messages.splice(0..0, asked.as_array().expect("messages").clone());
    let look = json!({
        "name": "look",
        "inputSchema": { "type": "object", "properties": { "any": true } },
        "outputSchema": { "type": "object" },
        "icons": [{ "src": "https://example.com/i.png", "theme": "dark" }],
        "annotations": { "readOnlyHint": true },
        "_meta": { "example.com/key": 1 },
    });
    params["tools"] = json!([look]);
    params["toolChoice"] = json!({ "mode": "required" });
    ask::<CreateMessage>(context, params).await
}

fn form(properties: &Value) -> Value {
    json!({
        "mode": "form",
        "message": "Which?",
        "requestedSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": properties,
            "required": [],
        },
    })
}

/// A form with every kind of field and default.
#[tool]
async fn elicits(context: Context) -> String {
    let titled = json!({
        "type": "string",
        "title": "Colour",
        "oneOf": [{ "const": "r", "title": "Red" }, { "const": "g", "title": "Green" }],
        "default": "g",
    });
    let params = form(&json!({
        "colour": titled,
        "plain": { "type": "string", "enum": ["a", "b"], "default": "a" },
        "old": { "type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"] },
        "mail": { "type": "string", "format": "email", "minLength": 3, "default": "a@example.com" },
        "count": { "type": "integer", "minimum": 1, "maximum": 9, "default": 3 },
        "share": { "type": "number", "default": 0.5 },
        "sure": { "type": "boolean", "default": true },
    }));
    ask::<Elicit>(context, params).await
}

/// A form with a field of several values.
#[tool]
async fn elicits_many(context: Context) -> String {
    let many = json!({
        "type": "array",
        "minItems": 1,
        "items": { "anyOf": [{ "const": "r", "title": "Red" }] },
        "default": ["r"],
    });
    ask::<Elicit>(context, form(&json!({ "colours": many }))).await
}

/// A page to visit.
#[tool]
async fn elicits_by_url(context: Context) -> String {
    let params = json!({
        "mode": "url",
        "elicitationId": "e1",
        "message": "Please sign in.",
        "url": "https://example.com/sign-in",
    });
    ask::<Elicit>(context, params).await
}
