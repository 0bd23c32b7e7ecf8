//! The modern era: a call that asks is set aside, and begun anew with the answers.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use serde_json::json;
use trueform::prelude::*;

use super::{Peer, accept, keys, state, text};

/// Counts how often something happened.
#[derive(Default)]
pub(crate) struct Counter(AtomicU32);

impl Counter {
    fn count(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A person.
#[derive(Deserialize, JsonSchema)]
struct Person {
    name: String,
    #[schemars(range(min = 0, max = 150))]
    age: Option<u8>,
}

/// Greets who the user says.
#[tool]
async fn greet(context: Context, salutation: String) -> Result<String, ToolError> {
    Ok(match context.ask::<Person>("person", "Who?").await? {
        Asked::Accepted(Person { name, age: None }) => format!("{salutation}, {name}!"),
        Asked::Accepted(Person { name, age }) => format!("{salutation}, {name}, {age:?}!"),
        Asked::Declined => "declined".to_owned(),
        Asked::Cancelled => "cancelled".to_owned(),
    })
}

/// Asks one after the other, with a step between.
#[tool]
async fn order(context: Context, counter: State<Arc<Counter>>) -> Result<String, ToolError> {
    let what = context.ask::<String>("what", "What?").await?.accepted();
    let number = context.once("number", async { counter.0.count() }).await?;
    let pay = context
        .ask::<bool>("pay", format!("Pay for {number}?"))
        .await?;
    Ok(format!("{what:?} {number} {pay:?}"))
}

/// Asks two things at once.
#[tool]
async fn both(context: Context) -> Result<String, ToolError> {
    let (a, b) = tokio::join!(
        context.ask::<bool>("a", "A?"),
        context.ask::<bool>("b", "B?")
    );
    Ok(format!("{:?} {:?}", a?, b?))
}

fn service(counter: &Arc<Counter>) -> trueform::Service {
    let server = Server::new("asking", "1")
        .tools(tools![greet, order, both])
        .state(counter.clone());
    server.build().unwrap()
}

// T-2, T-3, T-5, T-10
#[tokio::test]
async fn a_question_and_its_answer() {
    let peer = Peer::able(&service(&Arc::default())).await;
    let hello = json!({ "salutation": "Hello" });
    let asked = peer.call("greet", hello.clone()).await;
    assert_eq!(keys(&asked), ["person"]);
    let question = &asked["result"]["inputRequests"]["person"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["mode"], "form");
    assert_eq!(question["params"]["message"], "Who?");
    let fields = &question["params"]["requestedSchema"];
    assert_eq!(fields["properties"]["name"]["type"], "string");
    assert_eq!(fields["required"], json!(["name"]));
    // V-1
    assert!(asked["result"].get("ttlMs").is_none(), "{asked}");
    for (answer, expected) in [
        (accept(json!({ "name": "Ann" })), "Hello, Ann!"),
        (
            accept(json!({ "name": "Ann", "age": 30 })),
            "Hello, Ann, Some(30)!",
        ),
        // A number as serialisers of other languages write it, and null for what may be left out.
        (
            accept(json!({ "name": "Ann", "age": 30.0 })),
            "Hello, Ann, Some(30)!",
        ),
        (json!({ "action": "decline" }), "declined"),
        //
        (
            json!({ "action": "decline", "content": { "name": "Ann" } }),
            "declined",
        ),
        (
            json!({ "action": "cancel", "content": { "name": "" } }),
            "cancelled",
        ),
    ] {
        let answers = json!({ "person": answer, "unknown": accept(json!({})) });
        let greeted = peer.again("greet", hello.clone(), &asked, answers).await;
        assert_eq!(text(&greeted), expected);
    }
}

// T-10: an answer counts without a state; it is sent in the first call then.
#[tokio::test]
async fn an_answer_without_a_state() {
    let peer = Peer::able(&service(&Arc::default())).await;
    let params = json!({
        "name": "greet",
        "arguments": { "salutation": "Hi" },
        "inputResponses": { "person": accept(json!({ "name": "Bo" })), "more": accept(json!({})) },
    });
    assert_eq!(text(&peer.send("tools/call", params).await), "Hi, Bo!");
}

// T-10: answers to questions that nobody asks are ignored, whatever they are.
#[tokio::test]
async fn malformed_answers_that_nobody_asked_for() {
    let service = service(&Arc::default());
    let peer = Peer::able(&service).await;
    let hello = json!({ "salutation": "Hi" });
    let asked = peer.call("greet", hello.clone()).await;
    for unknown in [
        json!(5),
        json!([]),
        json!("x"),
        json!({ "action": 5 }),
        json!({ "roots": {} }),
        json!({ "model": "m", "role": null }),
        json!(null),
    ] {
        let answers = json!({
            "before": unknown, "person": accept(json!({ "name": "Bo" })), "z/z": unknown,
        });
        let greeted = peer
            .again("greet", hello.clone(), &asked, answers.clone())
            .await;
        assert_eq!(text(&greeted), "Hi, Bo!", "{unknown}");
        let params = json!({ "name": "greet", "arguments": hello, "inputResponses": answers });
        let greeted = peer.send("tools/call", params).await;
        assert_eq!(text(&greeted), "Hi, Bo!", "{unknown}");
        let again = peer
            .again("greet", hello.clone(), &asked, json!({ "other": unknown }))
            .await;
        assert_eq!(keys(&again), ["person"], "{unknown}");
    }
    // DEC-12: strict mode refuses what the schema refuses.
    let strict = Server::new("asking", "1").tools(tools![greet]);
    let strict = strict.lenient(trueform::Leniencies::NONE).build().unwrap();
    let strict = Peer::able(&strict).await;
    let params = json!({ "name": "greet", "arguments": hello, "inputResponses": { "more": 5 } });
    let refused = strict.send("tools/call", params).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(
        refused["error"]["data"]["pointer"], "/params/inputResponses/more",
        "{refused}"
    );
}

// R-5, T-10: what does not fit is asked for again, and never reaches the author.
#[tokio::test]
async fn a_wrong_answer_is_asked_for_again() {
    let peer = Peer::able(&service(&Arc::default())).await;
    let hello = json!({ "salutation": "Hello" });
    let asked = peer.call("greet", hello.clone()).await;
    for wrong in [
        json!({}),
        json!({ "other": accept(json!({ "name": "Ann" })) }),
        json!({ "person": accept(json!({})) }),
        json!({ "person": { "action": "accept" } }),
        json!({ "person": accept(json!({ "name": 5 })) }),
        json!({ "person": accept(json!({ "name": "Ann", "age": 200 })) }),
        json!({ "person": accept(json!({ "name": "Ann", "age": -1 })) }),
        json!({ "person": accept(json!({ "name": "Ann", "age": "30" })) }),
        json!({ "person": { "action": "maybe", "content": { "name": "Ann" } } }),
        json!({ "person": { "content": { "name": "Ann" } } }),
        // The answer to a question of another kind (T-12).
        json!({ "person": { "roots": [] } }),
        json!({ "person": { "model": "m", "role": "assistant", "content": { "type": "text", "text": "Ann" } } }),
    ] {
        let again = peer
            .again("greet", hello.clone(), &asked, wrong.clone())
            .await;
        assert_eq!(keys(&again), ["person"], "{wrong}");
        assert_ne!(state(&again), state(&asked));
    }
    // DEC-6
    let params = json!({ "name": "greet", "arguments": hello, "inputResponses": null });
    assert_eq!(keys(&peer.send("tools/call", params).await), ["person"]);
}

// T-10: malformed as a whole, it is an error.
#[tokio::test]
async fn malformed_answers() {
    let peer = Peer::able(&service(&Arc::default())).await;
    for (answers, pointer) in [
        (json!([]), "/params/inputResponses"),
        (json!("x"), "/params/inputResponses"),
        (json!({ "person": 12345 }), "/params/inputResponses/person"),
        (
            json!({ "person": { "action": 5 } }),
            "/params/inputResponses/person/action",
        ),
        (
            json!({ "person": { "roots": [{}] } }),
            "/params/inputResponses/person/roots/0/uri",
        ),
    ] {
        let mut params = json!({ "name": "greet", "arguments": { "salutation": "Hi" }, "inputResponses": answers });
        let refused = peer.send("tools/call", params.clone()).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert_eq!(refused["error"]["data"]["pointer"], pointer, "{refused}");
        // The same to a question that was asked.
        let asked = peer.call("greet", json!({ "salutation": "Hi" })).await;
        params["requestState"] = state(&asked).into();
        let refused = peer.send("tools/call", params).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert_eq!(refused["error"]["data"]["pointer"], pointer, "{refused}");
    }
}

// T-5: what was answered is not asked again, and what `once` did is not done again.
#[tokio::test]
async fn rounds() {
    let counter = Arc::<Counter>::default();
    let peer = Peer::able(&service(&counter)).await;
    let first = peer.call("order", json!({})).await;
    assert_eq!(keys(&first), ["what"]);
    assert_eq!(counter.get(), 0);
    let answer = json!({ "what": accept(json!({ "answer": "tea" })) });
    let second = peer.again("order", json!({}), &first, answer).await;
    assert_eq!(keys(&second), ["pay"]);
    assert_eq!(
        second["result"]["inputRequests"]["pay"]["params"]["message"],
        "Pay for 1?"
    );
    assert_ne!(state(&second), state(&first));
    let answer = json!({ "pay": accept(json!({ "answer": true })) });
    let done = peer.again("order", json!({}), &second, answer).await;
    assert_eq!(text(&done), "Some(\"tea\") 1 Accepted(true)");
    assert_eq!(counter.get(), 1);
    // A refusal is kept like any answer.
    let second = peer
        .again(
            "order",
            json!({}),
            &first,
            json!({ "what": { "action": "decline" } }),
        )
        .await;
    assert_eq!(keys(&second), ["pay"]);
    let done = peer
        .again(
            "order",
            json!({}),
            &second,
            json!({ "pay": { "action": "cancel" } }),
        )
        .await;
    assert_eq!(text(&done), "None 2 Cancelled");
}

// Questions of one poll travel together; one that is missing is asked again, alone.
#[tokio::test]
async fn questions_travel_together() {
    let peer = Peer::able(&service(&Arc::default())).await;
    let asked = peer.call("both", json!({})).await;
    assert_eq!(keys(&asked), ["a", "b"]);
    let answer = json!({ "b": accept(json!({ "answer": false })) });
    let again = peer.again("both", json!({}), &asked, answer).await;
    assert_eq!(keys(&again), ["a"]);
    let answer = json!({ "a": accept(json!({ "answer": true })) });
    let done = peer.again("both", json!({}), &again, answer).await;
    assert_eq!(text(&done), "Accepted(true) Accepted(false)");
}

// T-4, C-6, C-10: what this very request declares decides.
#[tokio::test]
async fn undeclared_capabilities() {
    let peer = Peer::able(&service(&Arc::default())).await;
    let params = json!({ "name": "greet", "arguments": { "salutation": "Hi" } });
    for (capabilities, needed) in [
        (json!({}), json!({ "elicitation": {} })),
        (
            json!({ "sampling": {}, "roots": {} }),
            json!({ "elicitation": {} }),
        ),
        //
        (
            json!({ "elicitation": { "url": {} } }),
            json!({ "elicitation": {} }),
        ),
    ] {
        let refused = peer
            .send_as(&capabilities, "tools/call", params.clone())
            .await;
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
        assert_eq!(
            refused["error"]["data"]["requiredCapabilities"], needed,
            "{refused}"
        );
    }
    for capabilities in [
        json!({ "elicitation": {} }),
        json!({ "elicitation": { "form": {} } }),
    ] {
        let asked = peer
            .send_as(&capabilities, "tools/call", params.clone())
            .await;
        assert_eq!(keys(&asked), ["person"]);
    }
}
