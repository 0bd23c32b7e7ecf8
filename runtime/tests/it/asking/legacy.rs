//! The legacy era: questions are requests, and the call goes on when the answer comes.

use serde_json::{Value, json};
use trueform::{
    Service,
    client::Client,
    prelude::*,
    schema::{
        CreateMessageRequestParams, Role, SamplingMessage, SamplingMessageContentBlock, TextContent,
    },
};

use crate::{
    asks::initialize,
    support::{legacy, raw, soon},
};

/// A person.
#[derive(Deserialize, JsonSchema)]
struct Person {
    name: String,
    age: Option<u8>,
}

/// Greets who the user says.
#[tool]
async fn greet(context: Context) -> Result<String, ToolError> {
    Ok(match context.ask::<Person>("person", "Who?").await? {
        Asked::Accepted(Person { name, age }) => format!("{name} {age:?}"),
        Asked::Declined => "declined".to_owned(),
        Asked::Cancelled => "cancelled".to_owned(),
    })
}

/// Choices.
#[derive(Debug, Deserialize, JsonSchema, PartialEq, Eq, Hash)]
enum Topping {
    Cheese,
    Ham,
}

/// Asks for several options.
#[tool]
async fn several(context: Context) -> Result<String, ToolError> {
    let toppings = context.ask::<Vec<Topping>>("toppings", "Which?").await?;
    Ok(format!("{toppings:?}"))
}

/// Sends the user to a page.
#[tool]
async fn page(context: Context) -> Result<String, ToolError> {
    let visited = context
        .ask_url("page", "Sign in.", "https://example.com/sign-in")
        .await?;
    Ok(match visited {
        Asked::Accepted(visited) => {
            visited.complete()?;
            "visited".to_owned()
        }
        refused => format!("{:?}", refused.map(drop)),
    })
}

/// Sends the user to no page.
#[tool]
async fn no_page(context: Context) -> Result<String, ToolError> {
    let visited = context.ask_url("page", "Sign in.", "not a url").await?;
    Ok(format!("{:?}", visited.is_accepted()))
}

/// Asks the model.
#[tool]
async fn sample(context: Context) -> Result<String, ToolError> {
    let text = SamplingMessageContentBlock::Text(TextContent::new("Hi"));
    let params = CreateMessageRequestParams::new(10, [SamplingMessage::new(text, Role::User)]);
    Ok(context.sample("model", params).await?.model)
}

/// Asks for the roots.
#[tool]
async fn roots(context: Context) -> Result<String, ToolError> {
    let roots = context.roots().await?;
    Ok(roots.iter().map(|root| &*root.uri).collect())
}

/// Asks for a topic.
#[prompt]
async fn asking(context: Context) -> Result<String, ToolError> {
    Ok(format!(
        "{:?}",
        context.ask::<String>("topic", "About what?").await?
    ))
}

/// Asks for the page.
#[resource("book://page")]
async fn reading(context: Context) -> Result<String, ToolError> {
    Ok(format!(
        "{:?}",
        context.ask::<u32>("page", "Which page?").await?
    ))
}

fn service() -> Service {
    let server = Server::new("asking", "1")
        .tools(tools![greet, several, page, no_page, sample, roots])
        .prompts(prompts![asking])
        .resources(resources![reading])
        .ask_rounds(3);
    server.build().unwrap()
}

async fn opened(service: &Service, revision: &str, capabilities: &str) -> Client {
    let client = raw(service).await;
    for line in initialize(revision, capabilities) {
        client.send_raw(line).unwrap();
    }
    next(&client).await;
    client
}

async fn next(client: &Client) -> Value {
    let line = soon(client.next_message()).await;
    serde_json::from_str(&line.expect("the server goes on")).unwrap()
}

fn call(client: &Client, tool: &str) {
    let params = format!(r#"{{"name":"{tool}","arguments":{{}}}}"#);
    client.send_raw(legacy("9", "tools/call", &params)).unwrap();
}

/// Answers the request `asked` with `outcome`, a `result` or an `error`.
fn answer(client: &Client, asked: &Value, outcome: &Value) {
    let mut message = outcome.clone();
    message["jsonrpc"] = "2.0".into();
    message["id"] = asked["id"].clone();
    client.send_raw(message.to_string()).unwrap();
}

#[track_caller]
fn text(response: &Value) -> &str {
    assert_eq!(response["id"], 9, "{response}");
    let text = response["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{response}"))
}

// R-3, R-6, R-7
#[tokio::test]
async fn forms() {
    let service = service();
    for (revision, mode) in [("2025-06-18", None), ("2025-11-25", Some("form"))] {
        let client = opened(&service, revision, r#"{"elicitation":{}}"#).await;
        for (result, expected) in [
            (
                json!({ "action": "accept", "content": { "name": "Ann", "age": 7 } }),
                "Ann Some(7)",
            ),
            (
                json!({ "action": "accept", "content": { "name": "Ann", "age": null } }),
                "Ann None",
            ),
            (json!({ "action": "decline" }), "declined"),
            (
                json!({ "action": "decline", "content": { "name": "Ann" } }),
                "declined",
            ),
            (json!({ "action": "cancel", "content": 5 }), "cancelled"),
        ] {
            call(&client, "greet");
            let asked = next(&client).await;
            assert_eq!(asked["method"], "elicitation/create");
            assert_eq!(asked["params"]["message"], "Who?");
            assert_eq!(
                asked["params"].get("mode").and_then(Value::as_str),
                mode,
                "{asked}"
            );
            answer(&client, &asked, &json!({ "result": result }));
            assert_eq!(text(&next(&client).await), expected, "{revision}");
        }
    }
}

// R-5: a wrong answer is asked for again, up to the bound.
#[tokio::test]
async fn wrong_answers() {
    let service = service();
    let client = opened(&service, "2025-11-25", r#"{"elicitation":{}}"#).await;
    let wrong = [
        json!({ "action": "maybe", "content": { "name": "Ann" } }),
        json!({ "action": "accept", "content": { "name": 5 } }),
        json!({ "action": "accept", "content": { "name": "Ann", "age": 300 } }),
        json!({ "action": "accept", "content": [] }),
        json!({ "action": "accept" }),
        json!({}),
        json!([]),
        json!({ "roots": [] }),
    ];
    for one in &wrong {
        call(&client, "greet");
        let asked = next(&client).await;
        answer(&client, &asked, &json!({ "result": one }));
        let again = next(&client).await;
        assert_eq!(again["params"], asked["params"], "{one}");
        assert_ne!(again["id"], asked["id"]);
        let right = json!({ "action": "accept", "content": { "name": "Ann" } });
        answer(&client, &again, &json!({ "result": right }));
        assert_eq!(text(&next(&client).await), "Ann None");
    }
    call(&client, "greet");
    for one in &wrong[..3] {
        let asked = next(&client).await;
        answer(&client, &asked, &json!({ "result": one }));
    }
    let given_up = next(&client).await;
    assert_eq!(given_up["result"]["isError"], true, "{given_up}");
    assert!(text(&given_up).contains("asked 3 times"), "{given_up}");
    // Q-8: an error is not asked for again.
    call(&client, "greet");
    let asked = next(&client).await;
    answer(
        &client,
        &asked,
        &json!({ "error": { "code": -1, "message": "no" } }),
    );
    assert!(text(&next(&client).await).contains("the client answered with error -1: no"));
}

// B-8, DEC-9: what the client cannot be asked.
#[tokio::test]
async fn undeclared_capabilities() {
    let service = service();
    for (revision, capabilities, tool, needed) in [
        (
            "2024-11-05",
            r#"{"elicitation":{}}"#,
            "greet",
            "`elicitation`",
        ),
        (
            "2025-03-26",
            r#"{"elicitation":{}}"#,
            "greet",
            "`elicitation`",
        ),
        ("2025-06-18", "{}", "greet", "`elicitation`"),
        (
            "2025-11-25",
            r#"{"elicitation":{"url":{}}}"#,
            "greet",
            "`elicitation`",
        ),
        (
            "2025-06-18",
            r#"{"elicitation":{"url":{}}}"#,
            "page",
            "`elicitation.url`",
        ),
        (
            "2025-11-25",
            r#"{"elicitation":{}}"#,
            "page",
            "`elicitation.url`",
        ),
        ("2024-11-05", "{}", "sample", "`sampling`"),
        ("2025-11-25", r#"{"sampling":{}}"#, "roots", "`roots`"),
    ] {
        let client = opened(&service, revision, capabilities).await;
        call(&client, tool);
        let refused = next(&client).await;
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        let expected = format!("the client did not declare {needed}");
        assert_eq!(text(&refused), expected, "{revision} {tool}");
        for (method, params) in [
            ("prompts/get", r#"{"name":"asking"}"#),
            ("resources/read", r#"{"uri":"book://page"}"#),
        ] {
            if tool != "greet" {
                continue;
            }
            client.send_raw(legacy("9", method, params)).unwrap();
            let refused = next(&client).await;
            assert_eq!(refused["error"]["code"], -32602, "{refused}");
            let needed = &refused["error"]["data"]["requiredCapabilities"];
            assert_eq!(*needed, json!({ "elicitation": {} }), "{refused}");
        }
    }
}

// R-4, R-15: a form that the revision cannot express is not sent.
#[tokio::test]
async fn forms_of_later_revisions() {
    let service = service();
    let client = opened(&service, "2025-06-18", r#"{"elicitation":{}}"#).await;
    call(&client, "several");
    let refused = next(&client).await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(text(&refused).contains("2025-06-18"), "{refused}");
    let client = opened(&service, "2025-11-25", r#"{"elicitation":{}}"#).await;
    call(&client, "several");
    let asked = next(&client).await;
    let chosen = json!({ "action": "accept", "content": { "answer": ["Ham"] } });
    answer(&client, &asked, &json!({ "result": chosen }));
    assert_eq!(text(&next(&client).await), "Accepted([Ham])");
}

// R-9, R-13
#[tokio::test]
async fn pages() {
    let service = service();
    let client = opened(&service, "2025-11-25", r#"{"elicitation":{"url":{}}}"#).await;
    let mut ids = Vec::new();
    for (action, expected) in [
        ("accept", "visited"),
        ("accept", "visited"),
        ("decline", "Declined"),
        ("cancel", "Cancelled"),
    ] {
        call(&client, "page");
        let asked = next(&client).await;
        assert_eq!(asked["params"]["mode"], "url", "{asked}");
        assert_eq!(asked["params"]["url"], "https://example.com/sign-in");
        let id = asked["params"]["elicitationId"]
            .as_str()
            .unwrap()
            .to_owned();
        answer(&client, &asked, &json!({ "result": { "action": action } }));
        if action == "accept" {
            let complete = next(&client).await;
            assert_eq!(complete["method"], "notifications/elicitation/complete");
            assert_eq!(complete["params"]["elicitationId"], *id);
        }
        assert_eq!(text(&next(&client).await), expected);
        assert!(!ids.contains(&id), "each has its own");
        ids.push(id);
    }
    call(&client, "no_page");
    let refused = next(&client).await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
}

#[tokio::test]
async fn models_and_roots() {
    let service = service();
    for revision in crate::asks::LEGACY {
        let client = opened(&service, revision, r#"{"sampling":{},"roots":{}}"#).await;
        call(&client, "sample");
        let asked = next(&client).await;
        assert_eq!(asked["method"], "sampling/createMessage");
        let message = json!({ "model": "m", "role": "assistant", "content": { "type": "text", "text": "Hi" } });
        // Without a model it is no answer.
        answer(
            &client,
            &asked,
            &json!({ "result": { "role": "assistant", "content": { "type": "text", "text": "Hi" } } }),
        );
        let asked = next(&client).await;
        answer(&client, &asked, &json!({ "result": message }));
        assert_eq!(text(&next(&client).await), "m");
        call(&client, "roots");
        let asked = next(&client).await;
        assert_eq!(asked["method"], "roots/list");
        // S-1: a path is not a URI, whatever other messages may have.
        answer(
            &client,
            &asked,
            &json!({ "result": { "roots": [{ "uri": "C:\\dir" }] } }),
        );
        let asked = next(&client).await;
        answer(
            &client,
            &asked,
            &json!({ "result": { "roots": [{ "uri": "file:///a" }] } }),
        );
        assert_eq!(text(&next(&client).await), "file:///a");
    }
}

// O-1, O-2: a question ends with its call.
#[tokio::test]
async fn cancelled_calls() {
    let service = service();
    let client = opened(&service, "2025-11-25", r#"{"elicitation":{}}"#).await;
    call(&client, "greet");
    let asked = next(&client).await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#;
    client.send_raw(cancel.to_owned()).unwrap();
    client.send_raw(legacy("10", "ping", "{}")).unwrap();
    let pong = next(&client).await;
    assert_eq!(pong["id"], 10, "nothing is answered: {pong}");
    // DEC-8: a late answer is let in, and answers nothing.
    answer(
        &client,
        &asked,
        &json!({ "result": { "action": "decline" } }),
    );
    client.send_raw(legacy("11", "ping", "{}")).unwrap();
    assert_eq!(next(&client).await["id"], 11);
}
