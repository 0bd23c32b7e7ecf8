//! Prompts and resources ask as tools do, and authors may put the result that asks together themselves.

use serde_json::{Value, json};
use trueform::{
    InputRequired,
    client::ClientOptions,
    prelude::*,
    prompt::IntoPromptResult,
    resource::{IntoResourceResult, ResourceOutput},
    schema::{
        CallToolResult, ClientCapabilities, CreateMessageRequest, CreateMessageRequestParams,
        ElicitRequest, ElicitRequestFormParams, ElicitRequestedSchema, GetPromptResult,
        InputResponse, ListRootsRequest, Map, Role, SamplingMessage, SamplingMessageContentBlock,
        TextContent,
    },
    tool::IntoToolResult,
};

use super::{Peer, User, accept, everything, keys, state, text};

/// Asks for a topic.
#[prompt]
async fn topic(context: Context) -> Result<String, ToolError> {
    Ok(format!(
        "{:?}",
        context.ask::<String>("topic", "About what?").await?
    ))
}

/// Asks for the number of a page.
#[resource("book://{title}")]
async fn book(context: Context, title: String) -> Result<String, ToolError> {
    Ok(format!(
        "{title} {:?}",
        context.ask::<u32>("page", "Which page?").await?
    ))
}

fn sampling() -> CreateMessageRequest {
    let text = SamplingMessageContentBlock::Text(TextContent::new("Hi"));
    let message = SamplingMessage::new(text, Role::User);
    CreateMessageRequest::new(CreateMessageRequestParams::new(10, [message]))
}

fn form() -> ElicitRequest {
    let schema = ElicitRequestedSchema::new(Map::new());
    ElicitRequest::new(ElicitRequestFormParams::new("Sure?", schema))
}

/// Asks everything that can be asked.
#[tool]
async fn everyone(context: Context) -> Result<String, ToolError> {
    let (model, roots, visited, form) = tokio::join!(
        context.sample("model", sampling().params),
        context.roots(),
        context.ask_url("page", "Sign in.", "https://example.com"),
        context.question("form", form()),
    );
    if let Asked::Accepted(visited) = visited? {
        visited.complete()?;
    }
    let InputResponse::Elicit(form) = form? else {
        return Err(ToolError::new("another kind"));
    };
    Ok(format!(
        "{} {} {}",
        model?.model,
        roots?[0].uri,
        form.action.as_str()
    ))
}

/// Keeps track of the rounds itself.
#[tool]
fn by_hand(context: Context) -> Result<CallToolResult, ToolError> {
    let round = context
        .request_state()
        .map_or(0, |state| state.to_value().as_u64().unwrap_or(99));
    let answers = context.input_responses();
    match round {
        0 => InputRequired::new()
            .question("form", form())
            .state(1)
            .into_tool_result(),
        1 if answers.get("form").is_none() => InputRequired::new()
            .question("roots", ListRootsRequest::default())
            .state(1)
            .into_tool_result(),
        1 => InputRequired::new().state(2).into_tool_result(),
        round => format!("{round} {}", answers.len()).into_tool_result(),
    }
}

/// As it is, after a wait.
#[tool]
async fn by_hand_later(context: Context) -> Result<CallToolResult, ToolError> {
    tokio::task::yield_now().await;
    match context.request_state() {
        None => InputRequired::new().state("later").into_tool_result(),
        Some(state) => state.get().into_tool_result(),
    }
}

/// The same where a thread is held.
#[tool(blocking)]
fn by_hand_blocking(context: Context) -> Result<CallToolResult, ToolError> {
    match context.request_state() {
        None => InputRequired::new().state("later").into_tool_result(),
        Some(state) => state.get().into_tool_result(),
    }
}

/// Asks for ever by hand.
#[tool]
fn for_ever() -> InputRequired {
    InputRequired::new().question("form", form())
}

/// A prompt by hand.
#[prompt]
fn prompt_by_hand(context: Context) -> Result<GetPromptResult, ToolError> {
    match context.input_responses().get("form") {
        None => InputRequired::new()
            .question("form", form())
            .into_prompt_result(),
        Some(answer) => answer.get().into_prompt_result(),
    }
}

/// A resource by hand.
#[resource("hand://made")]
fn resource_by_hand(context: Context) -> Result<ResourceOutput, ToolError> {
    match context.input_responses().get("form") {
        None => InputRequired::new()
            .question("form", form())
            .into_resource_result(),
        Some(answer) => answer.get().into_resource_result(),
    }
}

fn service() -> trueform::Service {
    let server = Server::new("rooms", "1")
        .tools(tools![
            everyone,
            by_hand,
            by_hand_later,
            by_hand_blocking,
            for_ever
        ])
        .prompts(prompts![topic, prompt_by_hand])
        .resources(resources![book, resource_by_hand])
        .ask_rounds(2);
    server.build().unwrap()
}

/// What a prompt or a resource says.
fn said(response: &Value) -> &str {
    let result = &response["result"];
    let text = result["messages"][0]["content"]["text"].as_str();
    let text = text.or(result["contents"][0]["text"].as_str());
    text.unwrap_or_else(|| panic!("{response}"))
}

// T-1: the three methods that may ask.
#[tokio::test]
async fn prompts_and_resources() {
    let peer = Peer::able(&service()).await;
    for (method, params, key, answer, expected) in [
        (
            "prompts/get",
            json!({ "name": "topic" }),
            "topic",
            json!("tea"),
            "Accepted(\"tea\")",
        ),
        (
            "resources/read",
            json!({ "uri": "book://faust" }),
            "page",
            json!(7),
            "faust Accepted(7)",
        ),
    ] {
        let asked = peer.send(method, params.clone()).await;
        assert_eq!(keys(&asked), [key]);
        assert!(asked["result"].get("ttlMs").is_none(), "V-1: {asked}");
        let mut again = params.clone();
        again["requestState"] = state(&asked).into();
        again["inputResponses"] = json!({ key: accept(json!({ "answer": answer })) });
        assert_eq!(said(&peer.send(method, again.clone()).await), expected);
        again["inputResponses"] = json!({ key: accept(json!({ "answer": {} })) });
        let malformed = peer.send(method, again).await;
        assert_eq!(malformed["error"]["code"], -32602, "{malformed}");
        // C-10
        let refused = peer.send_as(&json!({}), method, params.clone()).await;
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
        assert_eq!(
            refused["error"]["data"]["requiredCapabilities"],
            json!({ "elicitation": {} })
        );
    }
    // T-9: of one resource for another.
    let asked = peer
        .send("resources/read", json!({ "uri": "book://faust" }))
        .await;
    let other = json!({ "uri": "book://emma", "requestState": state(&asked) });
    let refused = peer.send("resources/read", other).await;
    assert_eq!(
        refused["error"]["data"]["pointer"], "/params/requestState",
        "{refused}"
    );
}

// T-3, S-5, R-9: every kind of question, together.
#[tokio::test]
async fn every_kind() {
    let peer = Peer::able(&service()).await;
    let asked = peer.call("everyone", json!({})).await;
    assert_eq!(keys(&asked), ["model", "roots", "page", "form"]);
    let questions = &asked["result"]["inputRequests"];
    assert_eq!(questions["model"]["method"], "sampling/createMessage");
    assert_eq!(questions["roots"]["method"], "roots/list");
    assert_eq!(questions["page"]["params"]["mode"], "url");
    assert!(
        questions["page"]["params"].get("elicitationId").is_none(),
        "{questions}"
    );
    for question in questions.as_object().unwrap().values() {
        assert!(question.get("id").is_none(), "{question}");
    }
    let answers = json!({
        "model": { "model": "m", "role": "assistant", "content": { "type": "text", "text": "Hi" } },
        "roots": { "roots": [{ "uri": "file:///a" }] },
        "page": { "action": "accept" },
        "form": { "action": "decline" },
    });
    let done = peer
        .again("everyone", json!({}), &asked, answers.clone())
        .await;
    assert_eq!(text(&done), "m file:///a decline");
    // T-12, S-1: each answer is read as its question says, whatever it looks like.
    let mut wrong = answers;
    wrong["model"]["roots"] = json!([]);
    wrong["roots"]["roots"][0]["uri"] = "C:\\dir".into();
    wrong["form"]["action"] = "perhaps".into();
    let again = peer.again("everyone", json!({}), &asked, wrong).await;
    assert_eq!(keys(&again), ["roots", "form"]);
}

// T-2: with questions, with a state, with both.
#[tokio::test]
async fn results_by_hand() {
    let peer = Peer::able(&service()).await;
    let first = peer.call("by_hand", json!({})).await;
    assert_eq!(keys(&first), ["form"]);
    let second = peer
        .again(
            "by_hand",
            json!({}),
            &first,
            json!({ "form": accept(json!({})) }),
        )
        .await;
    assert!(second["result"].get("inputRequests").is_none(), "{second}");
    let done = peer.again("by_hand", json!({}), &second, json!({})).await;
    assert_eq!(text(&done), "2 0");
    for tool in ["by_hand_later", "by_hand_blocking"] {
        for capabilities in [everything(), json!({})] {
            let params = json!({ "name": tool, "arguments": {} });
            let asked = peer.send_as(&capabilities, "tools/call", params).await;
            let done = peer.again(tool, json!({}), &asked, json!({})).await;
            assert_eq!(text(&done), "\"later\"");
        }
    }
    // T-11
    let mut asked = peer.call("for_ever", json!({})).await;
    asked = peer.again("for_ever", json!({}), &asked, json!({})).await;
    let last = peer.again("for_ever", json!({}), &asked, json!({})).await;
    assert_eq!(last["error"]["code"], -32603, "{last}");
    // T-4
    let params = json!({ "name": "by_hand", "arguments": {} });
    let refused = peer.send_as(&json!({}), "tools/call", params).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    for (method, params) in [
        ("prompts/get", json!({ "name": "prompt_by_hand" })),
        ("resources/read", json!({ "uri": "hand://made" })),
    ] {
        let asked = peer.send(method, params.clone()).await;
        assert_eq!(keys(&asked), ["form"]);
        let mut again = params;
        again["requestState"] = state(&asked).into();
        again["inputResponses"] = json!({ "form": { "action": "cancel" } });
        assert_eq!(
            said(&peer.send(method, again).await),
            r#"{"action":"cancel"}"#
        );
    }
}

// No client of the legacy era understands such a result.
#[tokio::test]
async fn results_by_hand_in_the_legacy_era() {
    let capabilities: ClientCapabilities = serde_json::from_value(everything()).unwrap();
    let user = User(|_: &str, _| Value::Null);
    let options = ClientOptions::at(Revision::V2025_11_25)
        .capabilities(capabilities)
        .handler(user);
    let client = service().connect_as(options).await.unwrap();
    let result = serde_json::to_value(client.call_tool("for_ever", ()).await.unwrap()).unwrap();
    assert_eq!(result["isError"], true, "{result}");
    assert!(
        result
            .to_string()
            .contains("which no client of this revision understands"),
        "{result}"
    );
    let error = client.get_prompt("prompt_by_hand", ()).await.unwrap_err();
    // DEC-9
    assert!(error.to_string().contains("-32602"), "{error}");
    assert!(
        error
            .to_string()
            .contains("which no client of this revision understands"),
        "{error}"
    );
    let error = client.read_resource("hand://made").await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("which no client of this revision understands"),
        "{error}"
    );
}

/// Says something of its result, and asks.
#[tool]
async fn marked(context: Context, later: bool) -> Result<String, ToolError> {
    context.set_result_meta("com.example/step", "first");
    if later {
        tokio::task::yield_now().await;
    }
    let sure = context.ask::<bool>("sure", "Sure?").await?;
    context.set_result_meta("com.example/step", "second");
    Ok(format!("{sure:?}"))
}

/// The same by hand, with a key that is not the author's.
#[tool]
fn marked_by_hand(context: Context, key: String) -> Result<CallToolResult, ToolError> {
    context.set_result_meta(key, 1);
    InputRequired::new().state("s").into_tool_result()
}

// V-1, Z-10: what the code says of its result goes with the questions too.
#[tokio::test]
async fn metadata_of_questions() {
    let service = Server::new("rooms", "1").tools(tools![marked, marked_by_hand]);
    let peer = Peer::able(&service.build().unwrap()).await;
    for later in [false, true] {
        let arguments = json!({ "later": later });
        let asked = peer.call("marked", arguments.clone()).await;
        assert_eq!(keys(&asked), ["sure"]);
        assert_eq!(
            asked["result"]["_meta"]["com.example/step"], "first",
            "{asked}"
        );
        let yes = json!({ "sure": accept(json!({ "answer": true })) });
        let done = peer.again("marked", arguments, &asked, yes).await;
        assert_eq!(text(&done), "Accepted(true)");
        assert_eq!(done["result"]["_meta"]["com.example/step"], "second");
    }
    let key = |key: &str| json!({ "key": key });
    let asked = peer.call("marked_by_hand", key("com.example/n")).await;
    assert_eq!(asked["result"]["_meta"]["com.example/n"], 1, "{asked}");
    let refused = peer
        .call("marked_by_hand", key("io.modelcontextprotocol/n"))
        .await;
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
}
