//! Limits on concurrency: who waits, who is refused, and that no permit is lost.

use serde_json::json;
use trueform::{
    client::{ClientOptions, Negotiation},
    layer::{CallInfo, CallLayer, CallScope, ConcurrencyLimit, DEFAULT_QUEUE},
    prelude::*,
};

use super::{answer, cancel, internal, named, next, opened, server, tool_error, waits};
use crate::{
    around::built,
    extended::WAYS,
    support::{self, initialize, legacy, soon},
};

/// What the `Debug` of a limit has that counts nothing.
const IDLE: &str = "data: {}";

/// Whether nothing is counted any more.
fn is_idle(limit: &ConcurrencyLimit) -> bool {
    format!("{limit:?}").contains(IDLE)
}

/// Waits until the `Debug` of `limit` has `part`.
async fn shows(limit: &ConcurrencyLimit, part: &str) {
    soon(async {
        while !format!("{limit:?}").contains(part) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

async fn idle(limit: &ConcurrencyLimit) {
    shows(limit, IDLE).await;
}

// I-13: the limit triggers. One call runs, two wait and run in their order, one more is refused at once; a cancellation lets the
// next one in.
#[tokio::test]
async fn a_queue_is_fair_and_bounded() {
    let limit = ConcurrencyLimit::new(1).queue(2);
    let (server, director) = server();
    let service = built(server.layer(limit.clone()));
    let client = opened(&service).await;
    for id in 1..=3 {
        waits(&client, id);
    }
    assert_eq!(director.begun().await, "1");
    waits(&client, 4);
    let refused = next(&client).await;
    assert_eq!(refused["id"], 4);
    assert_eq!(
        tool_error(&refused),
        "`wait` did not run: 1 calls run and 2 wait, as many as may; try again later"
    );
    // What is not a tool has no `isError`.
    let params = format!("{{{}}}", named("large", &json!({"bytes": "1"})));
    client
        .send_raw(legacy("5", "prompts/get", &params))
        .unwrap();
    assert!(internal(&next(&client).await).starts_with("`large` did not run"));
    // One that waits goes, and makes room in the queue.
    cancel(&client, 2);
    shows(&limit, "calls: 2").await;
    waits(&client, 6);
    cancel(&client, 1);
    assert_eq!(director.begun().await, "dropped 1");
    assert_eq!(director.begun().await, "3");
    cancel(&client, 3);
    assert_eq!(director.begun().await, "dropped 3");
    assert_eq!(director.begun().await, "6");
    assert!(!is_idle(&limit));
    director.open();
    assert_eq!(next(&client).await["id"], 6);
    idle(&limit).await;
}

// I-13: however a call ends, the next one runs.
#[tokio::test(start_paused = true)]
async fn a_permit_is_given_back() {
    /// Refuses calls after they were counted.
    struct Refuses(&'static str);
    impl CallLayer for Refuses {
        fn begin(&self, call: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError> {
            assert!(call.name() != "numbers", "meant to");
            match call.name() == self.0 {
                true => Err(ToolError::new("no")),
                false => Ok(None),
            }
        }
    }
    let limit = ConcurrencyLimit::new(1).queue(0);
    let (server, _director) = server();
    let service = built(
        server
            .layer(limit.clone())
            .layer(Refuses("echo"))
            .tools(tools![
                support::echo,
                support::panics_blocking,
                support::panics_when_dropped,
                support::overruns_blocking
            ]),
    );
    for way in WAYS {
        for (method, params) in [
            ("tools/call", r#""name":"add","arguments":{"a":1,"b":"x"}"#),
            ("tools/call", r#""name":"refuses""#),
            ("tools/call", r#""name":"panics""#),
            ("tools/call", r#""name":"panics_later""#),
            ("tools/call", r#""name":"panics_blocking""#),
            ("tools/call", r#""name":"panics_when_dropped""#),
            ("tools/call", r#""name":"overruns""#),
            ("tools/call", r#""name":"overruns_blocking""#),
            // Refused by a layer further in, and a layer further in panics.
            ("tools/call", r#""name":"echo","arguments":{"text":"x"}"#),
            ("tools/call", r#""name":"numbers","arguments":{"count":1}"#),
            ("own/panics", ""),
            ("own/fails", ""),
        ] {
            let ended = answer(way, &service, method, params).await;
            let is_error = ended["result"]["isError"] == true || ended["error"].is_object();
            assert!(is_error, "{way:?} {params}: {ended}");
            assert!(
                !ended.to_string().contains("did not run"),
                "{way:?} {params}: {ended}"
            );
            assert!(is_idle(&limit), "{way:?} {params}");
        }
    }
}

// I-13, DEC-11: also when the server stops, and when a client goes away.
#[tokio::test]
async fn a_permit_is_given_back_at_the_end() {
    for stops in [false, true] {
        let limit = ConcurrencyLimit::new(1);
        let (server, director) = server();
        let service = built(server.layer(limit.clone()));
        let client = opened(&service).await;
        for id in 1..=3 {
            waits(&client, id);
        }
        assert_eq!(director.begun().await, "1");
        match stops {
            true => {
                service.handle().shut_down();
                service.handle().shut_down();
                for _ in 1..=3 {
                    internal(&next(&client).await);
                }
            }
            false => drop(client),
        }
        idle(&limit).await;
    }
}

// Calls of one name, or of one principal, are counted apart from the others.
#[tokio::test]
async fn groups() {
    let (server, director) = server();
    let limit = ConcurrencyLimit::per_name(1).queue(0);
    let service = built(server.layer(limit.clone()));
    let client = opened(&service).await;
    waits(&client, 1);
    assert_eq!(director.begun().await, "1");
    waits(&client, 2);
    tool_error(&next(&client).await);
    let add = format!("{{{}}}", named("add", &json!({"a": 1, "b": 2})));
    client.send_raw(legacy("3", "tools/call", &add)).unwrap();
    assert_eq!(next(&client).await["result"]["content"][0]["text"], "3");
    // A prompt of the same name is something else.
    let prompt = format!("{{{}}}", named("wait", &json!({"label": "x"})));
    for id in ["4", "5"] {
        client.send_raw(legacy(id, "prompts/get", &prompt)).unwrap();
    }
    assert_eq!(next(&client).await["id"], 5);
    director.open();
    assert_eq!(next(&client).await["id"], 1);
    drop(client);
    idle(&limit).await;

    let (server, director) = super::server();
    let limit = ConcurrencyLimit::per_principal(1).queue(0);
    let service = built(server.layer(limit.clone()));
    let connected = async |name: Option<&str>| {
        let options = ClientOptions::new().negotiation(Negotiation::Nothing);
        let options = match name {
            Some(name) => options.principal(Principal::new(name.to_owned())),
            None => options,
        };
        let client = service.connect_as(options).await.unwrap();
        for line in initialize("2025-11-25") {
            client.send_raw(line).unwrap();
        }
        client.next_message().await.unwrap();
        client
    };
    for (name, other) in [
        (Some("ann"), Some("ann")),
        (Some("bob"), Some("bob")),
        (None, None),
    ] {
        let (first, second) = (connected(name).await, connected(other).await);
        waits(&first, 1);
        assert_eq!(director.begun().await, "1", "{name:?}");
        waits(&second, 2);
        tool_error(&next(&second).await);
        // Those of others still run.
        let third = connected(Some("carl")).await;
        third.send_raw(legacy("3", "tools/call", &add)).unwrap();
        assert_eq!(next(&third).await["id"], 3);
        // The first goes on while the next names come.
        cancel(&first, 1);
        assert_eq!(director.begun().await, "dropped 1");
        drop((first, second, third));
        idle(&limit).await;
    }
}

// A call that waits for an outer limit holds nothing of an inner one.
#[tokio::test]
async fn limits_within_each_other() {
    let (server, director) = server();
    let (outer, inner) = (ConcurrencyLimit::per_name(1), ConcurrencyLimit::new(2));
    let service = built(server.layer(outer).layer(inner));
    let client = opened(&service).await;
    for id in 1..=4 {
        waits(&client, id);
    }
    assert_eq!(director.begun().await, "1");
    let add = format!("{{{}}}", named("add", &json!({"a": 1, "b": 2})));
    client.send_raw(legacy("5", "tools/call", &add)).unwrap();
    assert_eq!(next(&client).await["id"], 5);
    director.open();
    for id in 1..=4 {
        assert_eq!(next(&client).await["id"], id);
    }
}

#[test]
fn a_limit_has_its_defaults() {
    let shown = format!("{:?}", ConcurrencyLimit::new(1));
    assert!(shown.contains("running: 1"), "{shown}");
    assert!(
        shown.contains(&format!("waiting: {DEFAULT_QUEUE}")),
        "{shown}"
    );
}
