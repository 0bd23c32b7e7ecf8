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

pub(super) async fn opened(service: &Service, revision: &str, capabilities: &str) -> Client {
    let client = raw(service).await;
    for line in initialize(revision, capabilities) {
        client.send_raw(line).unwrap();
    }
    next(&client).await;
    client
}

pub(super) async fn next(client: &Client) -> Value {
    let line = soon(client.next_message()).await;
    serde_json::from_str(&line.expect("the server goes on")).unwrap()
}

pub(super) fn call(client: &Client, tool: &str) {
    let params = format!(r#"{{"name":"{tool}","arguments":{{}}}}"#);
    client.send_raw(legacy("9", "tools/call", &params)).unwrap();
}

/// Answers the request `asked` with `outcome`, a `result` or an `error`.
pub(super) fn answer(client: &Client, asked: &Value, outcome: &Value) {
    let mut message = outcome.clone();
    message["jsonrpc"] = "2.0".into();
    message["id"] = asked["id"].clone();
    client.send_raw(message.to_string()).unwrap();
}

#[track_caller]
pub(super) fn text(response: &Value) -> &str {
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

/// Asks for several options.
#[prompt]
async fn several_in_a_prompt(context: Context) -> Result<String, ToolError> {
    let toppings = context.ask::<Vec<Topping>>("toppings", "Which?").await?;
    Ok(format!("{toppings:?}"))
}

/// Asks for several options.
#[resource("pizza://toppings")]
async fn several_in_a_resource(context: Context) -> Result<String, ToolError> {
    let toppings = context.ask::<Vec<Topping>>("toppings", "Which?").await?;
    Ok(format!("{toppings:?}"))
}

// R-4, R-15, DEC-9: what has no result that could say so gets -32602; others go on.
#[tokio::test]
async fn forms_of_later_revisions_in_prompts_and_resources() {
    let service = Server::new("pizza", "1")
        .tools(tools![greet])
        .prompts(prompts![several_in_a_prompt])
        .resources(resources![several_in_a_resource])
        .build()
        .unwrap();
    let client = opened(&service, "2025-06-18", r#"{"elicitation":{}}"#).await;
    for (method, params) in [
        ("prompts/get", r#"{"name":"several_in_a_prompt"}"#),
        ("resources/read", r#"{"uri":"pizza://toppings"}"#),
    ] {
        client.send_raw(legacy("9", method, params)).unwrap();
        let refused = next(&client).await;
        let error = &refused["error"];
        assert_eq!(error["code"], -32602, "{refused}");
        assert!(
            error["message"].as_str().unwrap().contains("2025-06-18"),
            "{refused}"
        );
        assert_eq!(error["data"]["rule"], "revision", "{refused}");
        assert_eq!(error["data"]["pointer"], "/method", "{refused}");
        client.send_raw(legacy("10", "ping", "{}")).unwrap();
        assert_eq!(next(&client).await["id"], 10);
    }
}

/// Sends the user to a page, and goes on without waiting for what is done there.
#[tool]
async fn page_for_later(
    context: Context,
    later: State<std::sync::Arc<std::sync::Mutex<Vec<trueform::VisitedUrl>>>>,
) -> Result<String, ToolError> {
    let url = "https://example.com/sign-in";
    let visited = context.ask_url("page", "Sign in.", url).await?;
    later.0.lock().unwrap().extend(visited.accepted());
    Ok("asked".to_owned())
}

// R-13: what is done outside of the client often takes longer than the call. Only the client that was asked hears of it.
#[tokio::test]
async fn pages_that_take_longer_than_the_call() {
    let later = std::sync::Arc::<std::sync::Mutex<Vec<trueform::VisitedUrl>>>::default();
    let server = Server::new("pages", "1").tools(tools![page_for_later]);
    let service = server.state(later.clone()).build().unwrap();
    let opened = || opened(&service, "2025-11-25", r#"{"elicitation":{"url":{}}}"#);
    let (client, other) = (opened().await, opened().await);
    let mut ids = Vec::new();
    for _ in 0..2 {
        call(&client, "page_for_later");
        let asked = next(&client).await;
        ids.push(asked["params"]["elicitationId"].clone());
        answer(
            &client,
            &asked,
            &json!({ "result": { "action": "accept" } }),
        );
        assert_eq!(text(&next(&client).await), "asked");
    }
    let [first, second] = <[_; 2]>::try_from(std::mem::take(&mut *later.lock().unwrap())).unwrap();
    first.complete().unwrap();
    let complete = next(&client).await;
    assert_eq!(complete["method"], "notifications/elicitation/complete");
    assert_eq!(complete["params"]["elicitationId"], ids[0]);
    other.send_raw(legacy("11", "ping", "{}")).unwrap();
    assert_eq!(next(&other).await["id"], 11, "it was not asked");
    client.close().await;
    let gone = second.complete();
    assert!(matches!(gone, Err(trueform::AskError::Gone)), "{gone:?}");
}

/// Says which of the roots are still there.
#[tool]
async fn look(context: Context) -> Result<String, ToolError> {
    let roots = context.roots().await?;
    let there = roots.iter().filter_map(|root| {
        let path = root.uri.strip_prefix("file://")?;
        std::fs::read_dir(path)
            .ok()
            .map(|_| root.name.clone().unwrap_or_default())
    });
    let there: Vec<String> = there.collect();
    Ok(format!(
        "{} of {}: {}",
        there.len(),
        roots.len(),
        there.join(" ")
    ))
}

// S-3: roots are asked for anew each time, and one that is not there any more is for the tool to cope with; a client without roots is
// not asked.
#[tokio::test]
async fn roots_that_vanish() {
    let service = Server::new("roots", "1")
        .tools(tools![look])
        .build()
        .unwrap();
    let folder = crate::folders::Made::new("vanishing-roots");
    let (stays, goes) = (folder.docs(), folder.docs().join("goes"));
    std::fs::create_dir(&goes).unwrap();
    let root = |path: &std::path::Path, name: &str| json!({ "uri": format!("file://{}", path.display()), "name": name });
    let both = json!([root(&stays, "stays"), root(&goes, "goes")]);
    let client = opened(&service, "2025-11-25", r#"{"roots":{"listChanged":true}}"#).await;
    let looked = async |roots: &Value| {
        call(&client, "look");
        let asked = next(&client).await;
        assert_eq!(asked["method"], "roots/list");
        answer(&client, &asked, &json!({ "result": { "roots": roots } }));
        text(&next(&client).await).to_owned()
    };
    assert_eq!(looked(&both).await, "2 of 2: stays goes");
    std::fs::remove_dir(&goes).unwrap();
    assert_eq!(looked(&both).await, "1 of 2: stays");
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    client.send_raw(changed.to_owned()).unwrap();
    assert_eq!(
        looked(&json!([root(&stays, "stays")])).await,
        "1 of 1: stays"
    );
    assert_eq!(looked(&json!([])).await, "0 of 0: ");
    let without = opened(&service, "2025-11-25", "{}").await;
    call(&without, "look");
    let refused = next(&without).await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(text(&refused).contains("`roots`"), "{refused}");
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
        // Without a model it is not an answer.
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
