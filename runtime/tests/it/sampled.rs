//! The rules of what servers ask clients that no schema states, on both sides: sampling (section Q), roots (section S).

use std::sync::Arc;

use serde_json::{Value, json};
use trueform::{
    AskError, Policy,
    client::{ClientError, ClientOptions, LocalError},
    prelude::*,
    schema::{
        CreateMessageRequestParams, ListRootsRequestParams,
        methods::{CreateMessage, ListRoots},
    },
    testing::ScriptedUser,
};

use crate::{
    asks::initialize,
    client::{Answers, against, discovered, play_legacy},
    support::{Collected, legacy, raw, soon},
};

/// Asks the client's model with `params`, which are JSON text.
#[tool]
async fn ask_model(context: Context, params: String) -> Result<String, ToolError> {
    let params: CreateMessageRequestParams = serde_json::from_str(&params)?;
    match context.request::<CreateMessage>(params).await {
        Ok(_) => Ok("answered".to_owned()),
        Err(AskError::NotAllowed(problem)) => Ok(format!("not allowed: {problem}")),
        Err(other) => Ok(other.to_string()),
    }
}

/// Counts the client's roots.
#[tool]
async fn count_roots(context: Context) -> String {
    let params = ListRootsRequestParams::default();
    match context.request::<ListRoots>(params).await {
        Ok(result) => result.roots.len().to_string(),
        Err(error) => error.to_string(),
    }
}

fn service(policy: Policy) -> trueform::Service {
    Server::new("sampling", "1")
        .tools(tools![ask_model, count_roots])
        .outgoing(policy)
        .build()
        .unwrap()
}

fn used() -> Value {
    json!({ "type": "tool_use", "id": "a", "name": "f", "input": {} })
}

fn result(id: &str) -> Value {
    json!({ "type": "tool_result", "toolUseId": id, "content": [] })
}

fn said() -> Value {
    json!({ "type": "text", "text": "hello" })
}

/// Params of a sampling request with these messages: role and content.
fn sampling(messages: &[(&str, Value)]) -> Value {
    let messages: Vec<_> = messages
        .iter()
        .map(|(role, content)| json!({ "role": role, "content": content }))
        .collect();
    json!({ "messages": messages, "maxTokens": 10 })
}

fn with(mut params: Value, member: &str, value: Value) -> Value {
    params[member] = value;
    params
}

/// Messages that break a rule, and the pointer of the fault within the params.
fn broken() -> [(Value, &'static str); 3] {
    [
        // Q-4
        (
            sampling(&[
                ("assistant", used()),
                ("user", json!([result("a"), said()])),
            ]),
            "/messages/1/content/1",
        ),
        // Q-5
        (
            sampling(&[("assistant", json!([said(), used()])), ("user", said())]),
            "/messages/0/content/1",
        ),
        (
            sampling(&[("user", json!([result("b")]))]),
            "/messages/0/content/0/toolUseId",
        ),
    ]
}

async fn asked_as(options: ClientOptions, params: &Value) -> String {
    let client = service(Policy::Enforce).connect_as(options).await.unwrap();
    let asked = json!({ "params": params.to_string() });
    let result = soon(client.call_tool("ask_model", asked).into_future()).await;
    soon(client.close()).await;
    result.unwrap().text().to_owned()
}

// Q-4, Q-5
#[tokio::test]
async fn messages_that_do_not_follow_each_other_do_not_leave() {
    for (params, pointer) in broken() {
        let user = ScriptedUser::new();
        let options = user.options(ClientOptions::at(Revision::V2025_11_25));
        let answer = asked_as(options, &params).await;
        let begin = format!("not allowed: `sampling/createMessage`: `{pointer}`: expected");
        assert!(answer.starts_with(&begin), "{params}: {answer}");
        assert_eq!(user.asked(), []);
    }
    let right = sampling(&[("assistant", used()), ("user", json!([result("a")]))]);
    let user = ScriptedUser::new().says("fine");
    let options = user.options(ClientOptions::at(Revision::V2025_11_25));
    assert_eq!(asked_as(options, &right).await, "answered");
    assert_eq!(user.asked()[0].params["messages"], right["messages"]);
}

// Q-2, Q-3
#[tokio::test]
async fn what_needs_more_than_sampling() {
    let plain = || sampling(&[("user", said())]);
    let tool = json!({ "name": "f", "inputSchema": { "type": "object", "properties": {} } });
    let cases = [
        (plain(), json!({ "sampling": {} }), None),
        (
            with(plain(), "tools", json!([tool])),
            json!({ "sampling": {} }),
            Some("`sampling.tools`"),
        ),
        (
            with(plain(), "toolChoice", json!({ "mode": "none" })),
            json!({ "sampling": { "context": {} } }),
            Some("`sampling.tools`"),
        ),
        (
            with(plain(), "tools", json!([tool])),
            json!({ "sampling": { "tools": {} } }),
            None,
        ),
        (
            with(plain(), "includeContext", json!("thisServer")),
            json!({ "sampling": { "tools": {} } }),
            Some("`sampling.context`"),
        ),
        (
            with(plain(), "includeContext", json!("allServers")),
            json!({ "sampling": { "context": {} } }),
            None,
        ),
        (
            with(plain(), "includeContext", json!("none")),
            json!({ "sampling": {} }),
            None,
        ),
    ];
    for (params, capabilities, missing) in cases {
        let user = match missing {
            None => ScriptedUser::new().says("fine"),
            Some(_) => ScriptedUser::new(),
        };
        let declared = serde_json::from_value(capabilities.clone()).unwrap();
        let options = user.options(ClientOptions::at(Revision::V2025_11_25));
        let answer = asked_as(options.capabilities(declared), &params).await;
        let expected = missing.map_or("answered".to_owned(), |missing| {
            format!("the client did not declare {missing}")
        });
        assert_eq!(answer, expected, "{params} for {capabilities}");
    }
    // Before 2025-11-25 there is no such capability.
    let params = with(plain(), "includeContext", json!("allServers"));
    let user = ScriptedUser::new().says("fine");
    let options = user.options(ClientOptions::at(Revision::V2025_06_18));
    assert_eq!(asked_as(options, &params).await, "answered");
}

// Q-9: one block until 2025-06-18; more of them cannot be said there.
#[tokio::test]
async fn one_block_until_2025_06_18() {
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
    ] {
        let has_many = revision == Revision::V2025_11_25;
        let user = ScriptedUser::new().says("fine");
        let options = user.options(ClientOptions::at(revision));
        let one = sampling(&[("user", json!([said()]))]);
        assert_eq!(asked_as(options, &one).await, "answered", "{revision}");
        let content = &user.asked()[0].params["messages"][0]["content"];
        assert_eq!(content.is_array(), has_many, "{revision}: {content}");

        let two = sampling(&[("user", json!([said(), said()]))]);
        let user = match has_many {
            true => ScriptedUser::new().says("fine"),
            false => ScriptedUser::new(),
        };
        let options = user.options(ClientOptions::at(revision));
        let answer = asked_as(options, &two).await;
        match has_many {
            true => assert_eq!(answer, "answered"),
            false => assert!(answer.starts_with("not allowed: "), "{revision}: {answer}"),
        }
    }
}

// Q-4, Q-5: a client refuses them too.
#[tokio::test]
async fn a_client_refuses_such_messages() {
    for (params, pointer) in broken() {
        let asked = Arc::new(Collected::default());
        let declared = || serde_json::from_value(json!({ "sampling": { "tools": {} } })).unwrap();
        let options = ClientOptions::at(Revision::V2025_11_25)
            .capabilities(declared())
            .handler(Answers(asked.clone()));
        let question = json!({ "jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage", "params": params });
        let (connecting, playing) = against(options, |mut mock| async move {
            let request = mock.next().await.unwrap();
            play_legacy(&mut mock, &request).await;
            mock.send(question).await;
            mock.next().await.unwrap()
        });
        let client = connecting.await.unwrap();
        let answer = soon(playing).await.unwrap();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let data = &answer["error"]["data"];
        assert_eq!(data["pointer"], format!("/params{pointer}"), "{answer}");
        drop(client);

        // GAP-8: in the newest revision the call ends.
        let options = ClientOptions::new()
            .capabilities(declared())
            .handler(Answers(asked.clone()));
        let question = json!({ "method": "sampling/createMessage", "params": params });
        let (connecting, playing) = against(options, |mut mock| async move {
            let probe = mock.next().await.unwrap();
            mock.result(&probe, discovered(&["2026-07-28"])).await;
            let call = mock.next().await.unwrap();
            let questions = json!({ "k": question });
            mock.result(
                &call,
                json!({ "resultType": "input_required", "inputRequests": questions }),
            )
            .await;
            mock
        });
        let client = connecting.await.unwrap();
        let error = soon(client.call_tool("t", ()).into_future())
            .await
            .unwrap_err();
        let ClientError::Local(LocalError::NotAllowed(problem)) = &error else {
            panic!("{error:?}");
        };
        assert!(
            problem.contains(&format!("`{pointer}`: expected")),
            "{problem}"
        );
        soon(playing).await.unwrap();
        assert_eq!(asked.take(), [""; 0]);
    }
}

// S-1: the client does not send them.
#[tokio::test]
async fn roots_that_are_no_files_stay_with_the_client() {
    let user = ScriptedUser::new().roots(["file:///a", "https://example.com/b"]);
    let options = user.options(ClientOptions::at(Revision::V2025_11_25));
    let client = service(Policy::Enforce).connect_as(options).await.unwrap();
    let answer = soon(client.call_tool("count_roots", ()).into_future())
        .await
        .unwrap();
    assert!(answer.text().contains("/roots/1/uri"), "{}", answer.text());

    let user = ScriptedUser::new().roots(["file:///a", "file:///b"]);
    let options = user.options(ClientOptions::at(Revision::V2025_11_25));
    let client = service(Policy::Enforce).connect_as(options).await.unwrap();
    let answer = soon(client.call_tool("count_roots", ()).into_future())
        .await
        .unwrap();
    assert_eq!(answer.text(), "2");
}

// S-1: and the server does not take them.
#[tokio::test]
async fn roots_that_are_no_files_are_no_answer() {
    let service = service(Policy::Enforce);
    let client = raw(&service).await;
    for line in initialize("2025-11-25", r#"{"roots":{}}"#) {
        client.send_raw(line).unwrap();
    }
    soon(client.next_message()).await.unwrap();
    client
        .send_raw(legacy(
            "2",
            "tools/call",
            r#"{"name":"count_roots","arguments":{}}"#,
        ))
        .unwrap();
    let question: Value =
        serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap();
    let id = &question["id"];
    let answer = r#"{"roots":[{"uri":"file:///a"},{"uri":"ftp://b"}]}"#;
    client
        .send_raw(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{answer}}}"#
        ))
        .unwrap();
    let answer = soon(client.next_message()).await.unwrap();
    assert!(answer.contains("malformed: /roots/1/uri"), "{answer}");
}
