//! A user that answers as a test says.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;
use trueform::{
    client::{ClientError, ClientHandler, ClientOptions, LocalError},
    prelude::*,
    schema::Json,
    testing::ScriptedUser,
};

use crate::{
    client::{against, discovered},
    support::soon,
};

fn elicitation(message: &str) -> Json {
    json!({ "message": message, "requestedSchema": { "type": "object", "properties": {} } }).into()
}

async fn answered(handler: &impl ClientHandler, method: &str, params: Json) -> serde_json::Value {
    match handler.answer(method, Some(params)).await {
        Ok(answer) => answer.to_value(),
        Err(error) => json!({ "code": error.code, "message": error.message }),
    }
}

// R-7, Q-8: every kind of answer, in order of its kind; one for a message goes first.
#[tokio::test]
async fn answers_in_order_and_by_message() {
    let user = ScriptedUser::new()
        .accept(json!({ "n": 1 }))
        .decline()
        .says("first")
        .rejects_sampling()
        .when("colour")
        .cancel()
        .when("weather")
        .says("rain")
        .when("visit")
        .accept(())
        .roots(["file:///a"]);
    assert_eq!(user.unmet().len(), 7);
    let handler = user.handler();
    let sampling = |text: &str| -> Json {
        let content = json!([{ "type": "text", "text": text }]);
        json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 1 }).into()
    };
    let of = |text: &str| json!({ "role": "assistant", "model": "scripted", "stopReason": "endTurn", "content": { "type": "text", "text": text } });
    for (method, params, expected) in [
        (
            "elicitation/create",
            elicitation("Which colour?"),
            json!({ "action": "cancel" }),
        ),
        (
            "elicitation/create",
            elicitation("How many?"),
            json!({ "action": "accept", "content": { "n": 1 } }),
        ),
        (
            "sampling/createMessage",
            sampling("And the weather?"),
            of("rain"),
        ),
        (
            "elicitation/create",
            elicitation("Which colour?"),
            json!({ "action": "decline" }),
        ),
        (
            "elicitation/create",
            elicitation("Please visit"),
            json!({ "action": "accept" }),
        ),
        ("sampling/createMessage", sampling("x"), of("first")),
        (
            "roots/list",
            json!({}).into(),
            json!({ "roots": [{ "uri": "file:///a" }] }),
        ),
        (
            "roots/list",
            json!({}).into(),
            json!({ "roots": [{ "uri": "file:///a" }] }),
        ),
        (
            "sampling/createMessage",
            sampling("x"),
            json!({ "code": -1, "message": "the user rejected the sampling request" }),
        ),
    ] {
        let shown = params.to_string();
        assert_eq!(
            answered(&handler, method, params).await,
            expected,
            "{shown}"
        );
    }
    assert_eq!(user.unmet(), [""; 0]);
    let asked = user.asked();
    assert_eq!(asked.len(), 9);
    assert_eq!(asked[0].message(), Some("Which colour?"));
    assert_eq!(
        (&*asked[2].method, asked[2].message()),
        ("sampling/createMessage", None)
    );
}

fn panic_of(user: ScriptedUser) -> String {
    let panic = catch_unwind(AssertUnwindSafe(move || drop(user))).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[tokio::test]
async fn what_does_not_fit_the_script_fails_the_test() {
    let user = ScriptedUser::new();
    let asked = answered(
        &user.handler(),
        "elicitation/create",
        elicitation("Really?"),
    )
    .await;
    assert_eq!(asked["code"], -32603);
    let problem =
        "the script has no answer left for `elicitation/create` with the message \"Really?\"";
    assert_eq!(asked["message"], problem);
    assert_eq!(
        panic_of(user),
        format!(
            "a scripted user was not asked as its script says:\n  {problem}\nit was asked:\n  `elicitation/create` with the message \
             \"Really?\"\nif the test ended before, with `?`, its error is not shown here; use `unwrap` instead"
        )
    );
    // An answer that does not fit the form is asked for again.
    let user = ScriptedUser::new().accept(json!({ "nmae": "Ada" }));
    let ask = async || answered(&user.handler(), "elicitation/create", elicitation("Who?")).await;
    ask().await;
    let problem = ask().await["message"].as_str().unwrap().to_owned();
    assert_eq!(
        problem,
        "the script has no answer left for `elicitation/create` with the message \"Who?\"; the same question was answered with \
         {\"action\":\"accept\",\"content\":{\"nmae\":\"Ada\"}}, and an answer that does not fit its form is asked for again"
    );
    panic_of(user);

    let user = ScriptedUser::new().when("colour").decline().says("x");
    let asked = answered(
        &user.handler(),
        "elicitation/create",
        elicitation("Number?"),
    )
    .await;
    assert_eq!(asked["code"], -32603, "it is for another message");
    let problem = panic_of(user);
    for part in [
        r#"no answer left for `elicitation/create` with the message "Number?""#,
        r#"nothing asked for the answer to `elicitation/create` with "colour" in its message: {"action":"decline"}"#,
        r#"nothing asked for the answer to `sampling/createMessage`: {"#,
    ] {
        assert!(problem.contains(part), "{problem}");
    }
    drop(ScriptedUser::new().roots(["file:///a"]));
    let problem = panic_of(ScriptedUser::new().decline());
    assert!(
        problem.contains("\nit was not asked anything\n"),
        "{problem}"
    );
}

// A second panic would end the process, and the first one would not be seen.
#[test]
fn the_panic_of_a_test_is_not_hidden() {
    let panic = catch_unwind(|| {
        let _user = ScriptedUser::new().decline();
        panic!("what the test found");
    });
    let found = panic.unwrap_err();
    assert_eq!(found.downcast_ref(), Some(&"what the test found"));
}

/// Deletes what the user confirms.
#[tool(task = optional)]
async fn delete(context: Context) -> Result<&'static str, ToolError> {
    Ok(match context.ask::<()>("delete", "Delete it?").await? {
        Asked::Accepted(()) => "deleted",
        Asked::Declined | Asked::Cancelled => "kept",
    })
}

// W-2, W-17: in both eras the user of `options` has tasks, and answers what they ask.
#[tokio::test]
async fn tasks_ask_the_user() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let user = ScriptedUser::new().accept(()).decline();
        let options = user.options(ClientOptions::at(revision));
        let server = Server::new("files", "1.0.0").tools(tools![delete]);
        let client = soon(server.connect_as(options)).await.unwrap();
        for text in ["deleted", "kept"] {
            let task = soon(client.call_tool("delete", ()).as_task().into_future()).await;
            let task = task.unwrap();
            assert!(task.id().is_some(), "{revision}: it was answered in place");
            let result = soon(task.into_future()).await.unwrap();
            assert_eq!(result.text(), text, "{revision}");
        }
        assert_eq!(user.asked()[0].message(), Some("Delete it?"));
    }
}

// T-5: the same script at 2026-07-28, where questions come within results.
#[tokio::test]
async fn answers_within_results() {
    let user = ScriptedUser::new()
        .when("second")
        .decline()
        .accept(json!({ "n": 2 }))
        .says("yes");
    let (connecting, playing) = against(
        user.options(ClientOptions::new()),
        |mut mock| async move {
            let probe = mock.next().await.unwrap();
            mock.result(&probe, discovered(&["2026-07-28"])).await;
            let call = mock.next().await.unwrap();
            let form = |message: &str| json!({ "method": "elicitation/create", "params": elicitation(message).to_value() });
            let sampling = json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "?" } }], "maxTokens": 1 });
            let questions = json!({
                "a": form("the first"),
                "b": form("the second"),
                "c": { "method": "sampling/createMessage", "params": sampling },
            });
            mock.result(
                &call,
                json!({ "resultType": "input_required", "inputRequests": questions }),
            )
            .await;
            let call = mock.next().await.unwrap();
            let done = json!({ "resultType": "complete", "content": [] });
            mock.result(&call, done).await;
            call["params"]["inputResponses"].clone()
        },
    );
    let client = connecting.await.unwrap();
    soon(client.call_tool("t", ()).into_future()).await.unwrap();
    let responses = soon(playing).await.unwrap();
    assert_eq!(
        responses["a"],
        json!({ "action": "accept", "content": { "n": 2 } })
    );
    assert_eq!(responses["b"], json!({ "action": "decline" }));
    assert_eq!(responses["c"]["content"]["text"], "yes");
    drop(client);

    // A question too many ends the call, and says which.
    let user = ScriptedUser::new();
    let (connecting, playing) = against(
        user.options(ClientOptions::new()),
        |mut mock| async move {
            let probe = mock.next().await.unwrap();
            mock.result(&probe, discovered(&["2026-07-28"])).await;
            let call = mock.next().await.unwrap();
            let questions = json!({ "a": { "method": "elicitation/create", "params": elicitation("More?").to_value() } });
            mock.result(
                &call,
                json!({ "resultType": "input_required", "inputRequests": questions }),
            )
            .await;
            mock
        },
    );
    let client = connecting.await.unwrap();
    let error = soon(client.call_tool("t", ()).into_future())
        .await
        .unwrap_err();
    assert!(matches!(error, ClientError::Local(LocalError::Encode(_))));
    assert!(error.to_string().contains("no answer left"), "{error}");
    assert!(panic_of(user).contains("More?"));
    drop(soon(playing).await);
}
