//! Forms of every shape, asked by tools at every revision that has forms, and answers that do not fit.

use std::{
    collections::{BTreeSet, VecDeque},
    fmt::Debug,
    future::IntoFuture as _,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use trueform::{
    client::{Client, ClientOptions},
    prelude::*,
    schema::{ClientCapabilities, Revision},
};

use crate::{
    asking::{User, accept},
    support::soon,
};

#[cfg(feature = "ask")]
const WITH_FORMS: [Revision; 3] = [
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];
#[cfg(not(feature = "ask"))]
const WITH_FORMS: [Revision; 2] = [Revision::V2025_06_18, Revision::V2025_11_25];

/// Forms that a user was shown, with the questions.
type Shown = Arc<Mutex<Vec<(String, Value)>>>;

/// A client of `revision` whose user gives `answers` one after the other.
async fn client(server: Server, revision: Revision, answers: &[Value]) -> (Client, Shown) {
    let shown = Shown::default();
    let answers: Mutex<VecDeque<Value>> = Mutex::new(answers.iter().cloned().collect());
    let user = {
        let shown = shown.clone();
        User(move |method: &str, params: Value| {
            assert_eq!(method, "elicitation/create");
            // R-3: clients of 2025-06-18 know no modes.
            let mode = &params["mode"];
            assert!(
                mode.is_null() || (mode == "form" && revision != WITH_FORMS[0]),
                "{params}"
            );
            let message = params["message"].as_str().unwrap().to_owned();
            shown
                .lock()
                .unwrap()
                .push((message, params["requestedSchema"].clone()));
            answers
                .lock()
                .unwrap()
                .pop_front()
                .unwrap_or_else(|| json!({ "action": "cancel" }))
        })
    };
    let capabilities: ClientCapabilities =
        serde_json::from_value(json!({ "elicitation": {} })).unwrap();
    let options = ClientOptions::at(revision)
        .capabilities(capabilities)
        .handler(user);
    (server.connect_as(options).await.unwrap(), shown)
}

/// Calls the tool `name`: whether it failed, and its text.
async fn call(client: &Client, name: &str) -> (bool, String) {
    let result = soon(client.call_tool(name, ()).into_future())
        .await
        .unwrap();
    let result = serde_json::to_value(&result).unwrap();
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    (result["isError"] == true, text.to_owned())
}

/// Asks for a `T` under the question `Which?`.
async fn asked<T: trueform::Askable + Debug + Send + 'static>(
    context: &Context,
) -> Result<String, ToolError> {
    Ok(format!("{:?}", context.ask::<T>("key", "Which?").await?))
}

#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

#[derive(Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd)]
enum Plain {
    #[serde(rename = "option1")]
    One,
    #[serde(rename = "option2")]
    Two,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Titled {
    /// First Option
    #[serde(rename = "value1")]
    First,
    /// Second Option
    #[serde(rename = "value2")]
    Second,
}

#[expect(dead_code, reason = "it is printed")]
#[derive(Debug, Deserialize, JsonSchema)]
struct Texts {
    #[schemars(length(min = 1, max = 3))]
    name: String,
    #[schemars(email)]
    email: Option<String>,
}

/// Asks for texts.
#[tool]
async fn texts(context: Context) -> Result<String, ToolError> {
    Ok(format!(
        "{:?}",
        context.ask::<Texts>("key", "Which?").await?
    ))
}

fn john() -> String {
    "John Doe".to_owned()
}
fn thirty() -> u8 {
    30
}
fn score() -> f64 {
    95.5
}
fn active() -> Status {
    Status::Active
}
fn yes() -> bool {
    true
}

#[expect(dead_code, reason = "it is printed")]
#[derive(Debug, Deserialize, JsonSchema)]
struct Defaults {
    #[serde(default = "john")]
    name: String,
    #[serde(default = "thirty")]
    age: u8,
    #[serde(default = "score")]
    score: f64,
    #[serde(default = "active")]
    status: Status,
    #[serde(default = "yes")]
    verified: bool,
}

/// Asks for fields with defaults.
#[tool]
async fn defaults(context: Context) -> Result<String, ToolError> {
    asked::<Defaults>(&context).await
}

#[expect(dead_code, reason = "it is printed")]
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Enums {
    untitled_single: Plain,
    titled_single: Titled,
    #[schemars(extend("enumNames" = ["Option One", "Option Two"]))]
    legacy_enum: Plain,
}

/// Asks for single choices.
#[tool]
async fn enums(context: Context) -> Result<String, ToolError> {
    asked::<Enums>(&context).await
}

#[expect(dead_code, reason = "it is printed")]
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Multi {
    #[schemars(length(min = 1))]
    untitled_multi: BTreeSet<Plain>,
    titled_multi: Vec<Titled>,
}

/// Asks for several choices.
#[tool]
async fn multi(context: Context) -> Result<String, ToolError> {
    asked::<Multi>(&context).await
}

/// Asks for a number.
#[tool]
async fn number(context: Context) -> Result<String, ToolError> {
    asked::<u64>(&context).await
}

/// Asks for a confirmation.
#[tool]
async fn confirm(context: Context) -> Result<String, ToolError> {
    asked::<()>(&context).await
}

fn server() -> Server {
    Server::new("forms", "1").tools(tools![texts, defaults, enums, multi, number, confirm])
}

/// Calls `tool` at `revision` with one answer: the form that was shown, and the text of the result.
async fn once(tool: &str, revision: Revision, answer: Value) -> (Value, String) {
    let (client, shown) = client(server(), revision, &[answer]).await;
    let (is_error, text) = call(&client, tool).await;
    assert!(!is_error, "{revision} {tool}: {text}");
    let shown = shown.lock().unwrap();
    let [(message, form)] = &shown[..] else {
        panic!("{shown:?}");
    };
    assert_eq!(message, "Which?");
    (form.clone(), text)
}

// R-4, R-5, R-15; the shapes of SEP-1034 and SEP-1330.
#[tokio::test]
async fn every_shape() {
    let object = |properties: Value, required: &[&str]| match required {
        [] => json!({ "type": "object", "properties": properties }),
        _ => json!({ "type": "object", "properties": properties, "required": required }),
    };
    for revision in WITH_FORMS {
        let full = revision != Revision::V2025_06_18;
        let (form, text) = once("texts", revision, accept(json!({ "name": "漢字𝒳" }))).await;
        let properties = json!({
            "name": { "type": "string", "minLength": 1, "maxLength": 3 },
            "email": { "type": "string", "format": "email" },
        });
        assert_eq!(form, object(properties, &["name"]), "{revision}");
        assert_eq!(text, r#"Accepted(Texts { name: "漢字𝒳", email: None })"#);

        let answer = json!({ "name": "Jane Smith", "age": 25, "score": 88.0, "status": "inactive", "verified": false });
        let (form, text) = once("defaults", revision, accept(answer)).await;
        let mut properties = json!({
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "minimum": 0, "maximum": 255, "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        });
        if !full {
            for name in ["name", "age", "score", "status"] {
                properties[name].as_object_mut().unwrap().remove("default");
            }
        }
        assert_eq!(form, object(properties, &[]), "{revision}");
        assert_eq!(
            text,
            r#"Accepted(Defaults { name: "Jane Smith", age: 25, score: 88.0, status: Inactive, verified: false })"#
        );
        // What is left out is what the type says.
        let (_, text) = once("defaults", revision, json!({ "action": "accept" })).await;
        assert_eq!(
            text,
            r#"Accepted(Defaults { name: "John Doe", age: 30, score: 95.5, status: Active, verified: true })"#
        );

        let answer = json!({ "untitledSingle": "option2", "titledSingle": "value1", "legacyEnum": "option1" });
        let (form, text) = once("enums", revision, accept(answer)).await;
        let titled = match full {
            true => json!({ "type": "string", "oneOf": [
                { "const": "value1", "title": "First Option" }, { "const": "value2", "title": "Second Option" },
            ] }),
            false => {
                json!({ "type": "string", "enum": ["value1", "value2"], "enumNames": ["First Option", "Second Option"] })
            }
        };
        let properties = json!({
            "untitledSingle": { "type": "string", "enum": ["option1", "option2"] },
            "titledSingle": titled,
            "legacyEnum": { "type": "string", "enum": ["option1", "option2"], "enumNames": ["Option One", "Option Two"] },
        });
        assert_eq!(
            form,
            object(
                properties,
                &["untitledSingle", "titledSingle", "legacyEnum"]
            ),
            "{revision}"
        );
        assert_eq!(
            text,
            "Accepted(Enums { untitled_single: Two, titled_single: First, legacy_enum: One })"
        );

        let (form, text) = once(
            "number",
            revision,
            accept(json!({ "answer": 9_007_199_254_740_992_u64 })),
        )
        .await;
        assert_eq!(
            form,
            object(
                json!({ "answer": { "type": "integer", "minimum": 0 } }),
                &["answer"]
            )
        );
        assert_eq!(text, "Accepted(9007199254740992)");

        let (form, text) = once("confirm", revision, json!({ "action": "accept" })).await;
        assert_eq!(form, object(json!({}), &[]));
        assert_eq!(text, "Accepted(())");
    }
    for revision in &WITH_FORMS[1..] {
        let answer =
            json!({ "untitledMulti": ["option2", "option1"], "titledMulti": ["value2", "value2"] });
        let (form, text) = once("multi", *revision, accept(answer)).await;
        let properties = json!({
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": ["option1", "option2"] }, "minItems": 1 },
            "titledMulti": { "type": "array", "items": { "anyOf": [
                { "const": "value1", "title": "First Option" }, { "const": "value2", "title": "Second Option" },
            ] } },
        });
        assert_eq!(
            form,
            object(properties, &["untitledMulti", "titledMulti"]),
            "{revision}"
        );
        assert_eq!(
            text,
            "Accepted(Multi { untitled_multi: {One, Two}, titled_multi: [Second, Second] })"
        );
    }
}

// R-15: the client is not asked, and the caller reads why.
#[tokio::test]
async fn what_a_revision_cannot_express() {
    let (client, shown) = client(server(), Revision::V2025_06_18, &[]).await;
    let (is_error, text) = call(&client, "multi").await;
    assert!(is_error, "{text}");
    assert!(
        text.contains("2025-06-18 has no field for several choices, as field `untitledMulti` is; expected 2025-11-25 or later"),
        "{text}"
    );
    assert!(shown.lock().unwrap().is_empty());
}

// R-5, R-7: an answer that does not fit is asked for again, a refusal is not.
#[tokio::test]
async fn wrong_answers_are_asked_for_again() {
    let fitting = json!({ "name": "Åse", "email": "a@b.example" });
    let wrong = [
        json!({}),
        json!({ "name": 5 }),
        json!({ "name": "" }),
        json!({ "name": "𝒳𝒳𝒳𝒳" }),
        json!({ "name": "Åse", "email": "@" }),
        json!({ "name": "Åse", "email": true }),
        json!({ "name": ["Åse"] }),
    ];
    for revision in WITH_FORMS {
        // The client itself refuses a list before 2025-11-25, which no answer had then.
        let sendable = wrong
            .iter()
            .filter(|content| revision != WITH_FORMS[0] || !content["name"].is_array());
        for content in sendable {
            let answers = [accept(content.clone()), accept(fitting.clone())];
            let (client, shown) = client(server(), revision, &answers).await;
            let (is_error, text) = call(&client, "texts").await;
            assert_eq!(
                (is_error, &*text),
                (
                    false,
                    r#"Accepted(Texts { name: "Åse", email: Some("a@b.example") })"#
                ),
                "{revision} {content}"
            );
            let shown = shown.lock().unwrap();
            assert_eq!(shown.len(), 2, "{revision} {content}");
            assert_eq!(shown[0], shown[1]);
        }
        for (action, expected) in [("decline", "Declined"), ("cancel", "Cancelled")] {
            let answers = [
                accept(json!({})),
                json!({ "action": action }),
                accept(fitting.clone()),
            ];
            let (client, shown) = client(server(), revision, &answers).await;
            assert_eq!(
                call(&client, "texts").await,
                (false, expected.to_owned()),
                "{revision}"
            );
            assert_eq!(shown.lock().unwrap().len(), 2);
        }
        for (tool, wrong, right, expected) in [
            ("number", json!(-1), json!(0), "Accepted(0)"),
            ("number", json!(1.5), json!(1.0), "Accepted(1)"),
            (
                "number",
                json!(18_446_744_073_709_551_616_f64),
                json!(9_007_199_254_740_991_u64),
                "Accepted(9007199254740991)",
            ),
            ("number", json!("1"), json!(1), "Accepted(1)"),
        ] {
            let answers = [wrong, right].map(|answer| accept(json!({ "answer": answer })));
            let (client, shown) = client(server(), revision, &answers).await;
            assert_eq!(
                call(&client, tool).await,
                (false, expected.to_owned()),
                "{revision}"
            );
            assert_eq!(shown.lock().unwrap().len(), 2, "{revision} {expected}");
        }
    }
    let fitting = json!({ "untitledMulti": ["option1"], "titledMulti": [] });
    for wrong in [
        json!({ "untitledMulti": [], "titledMulti": [] }),
        json!({ "untitledMulti": ["option1", "option1"], "titledMulti": [] }),
        json!({ "untitledMulti": ["One"], "titledMulti": [] }),
        json!({ "untitledMulti": "option1", "titledMulti": [] }),
        json!({ "untitledMulti": ["option1"] }),
        json!({ "untitledMulti": ["option1"], "titledMulti": ["First Option"] }),
    ] {
        for revision in &WITH_FORMS[1..] {
            let answers = [accept(wrong.clone()), accept(fitting.clone())];
            let (client, shown) = client(server(), *revision, &answers).await;
            let expected = "Accepted(Multi { untitled_multi: {One}, titled_multi: [] })";
            assert_eq!(
                call(&client, "multi").await,
                (false, expected.to_owned()),
                "{revision}"
            );
            assert_eq!(shown.lock().unwrap().len(), 2, "{revision} {wrong}");
        }
    }
}

// R-5: there is an end to it.
#[tokio::test]
async fn no_answer_fits() {
    for revision in WITH_FORMS {
        let wrong = vec![accept(json!({ "name": "" })); 10];
        let (client, shown) = client(server().ask_rounds(3), revision, &wrong).await;
        let (is_error, text) = call(&client, "texts").await;
        assert!(
            is_error && text.contains("was asked 3 times"),
            "{revision}: {text}"
        );
        assert_eq!(shown.lock().unwrap().len(), 3, "{revision}");
    }
}
