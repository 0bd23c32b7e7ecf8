//! Ids as they are compared and echoed (DEC-5), on both sides, and how long they may be (GAP-7).

use std::future::IntoFuture;

use serde_json::{Value, json};
use trueform::{client::ClientOptions, prelude::*, schema::methods};

use crate::{
    client::{against, play_legacy, with_roots},
    support::{initialize, legacy, modern, raw, soon, staged},
};

fn cancelled(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

// DEC-5, A-2, O-2
#[tokio::test]
async fn a_call_is_cancelled_by_the_value_of_its_id() {
    let (service, director) = staged();
    for (id, cancel) in [("7", "7.0"), ("7.0", "7"), ("70e-1", "7.00")] {
        let client = raw(&service).await;
        let params = r#","name":"wait","arguments":{"label":"x"}"#;
        client.send_raw(modern(id, "tools/call", params)).unwrap();
        director.begun().await;
        client.send_raw(cancelled("\"7\"")).unwrap();
        // What follows is read after it.
        client.send_raw(legacy("8", "ping", "{}")).unwrap();
        let pong = soon(client.next_message()).await.unwrap();
        assert!(pong.contains(r#""id":8"#), "{pong}");
        director.none_dropped().await;
        client.send_raw(cancelled(cancel)).unwrap();
        assert_eq!(director.begun().await, "dropped x", "{id} by {cancel}");
    }
}

// DEC-5, A-2: the bytes of the id come back.
#[tokio::test]
async fn an_id_is_echoed_as_it_was_written() {
    let (service, _director) = staged();
    let client = raw(&service).await;
    for id in [
        "1.0",
        "1e0",
        "-0",
        "18446744073709551616.0",
        "\"1.0\"",
        "\"\\u0031\"",
    ] {
        client.send_raw(legacy(id, "ping", "{}")).unwrap();
        let answer = soon(client.next_message()).await.unwrap();
        let echoed = if id.contains('u') { "\"1\"" } else { id };
        assert_eq!(
            answer,
            format!(r#"{{"jsonrpc":"2.0","id":{echoed},"result":{{}}}}"#)
        );
    }
}

// DEC-5, GAP-17: an id in flight is taken, however it is written.
#[tokio::test]
async fn an_id_in_flight_is_taken_by_its_value() {
    let (service, director) = staged();
    let client = raw(&service).await;
    let params = r#","name":"wait","arguments":{"label":"x"}"#;
    client.send_raw(modern("7", "tools/call", params)).unwrap();
    director.begun().await;
    let add = r#","name":"add","arguments":{"a":1,"b":1}"#;
    client.send_raw(modern("7.0", "tools/call", add)).unwrap();
    client.send_raw(modern("\"7\"", "tools/call", add)).unwrap();
    let first: Value = serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap();
    assert_eq!(first["id"], "7", "7.0 is not answered: {first}");
    director.open();
    let second: Value = serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap();
    assert_eq!(second["id"], 7, "{second}");
}

/// Asks the client for its roots, and says how many there are.
#[tool]
async fn roots(context: Context) -> String {
    match context
        .request::<methods::ListRoots>(Default::default())
        .await
    {
        Ok(roots) => format!("{} roots", roots.roots.len()),
        Err(error) => error.to_string(),
    }
}

// DEC-5, A-5: an answer of a client that writes numbers as floats.
#[tokio::test]
async fn an_answer_is_paired_by_the_value_of_its_id() {
    let service = Server::new("t", "1").tools(tools![roots]).build().unwrap();
    let client = raw(&service).await;
    let info = r#"{"name":"t","version":"1"}"#;
    let params = format!(
        r#"{{"protocolVersion":"2025-06-18","capabilities":{{"roots":{{}}}},"clientInfo":{info}}}"#
    );
    client.send_raw(legacy("1", "initialize", &params)).unwrap();
    soon(client.next_message()).await.unwrap();
    let [_, initialized] = initialize("2025-06-18");
    client.send_raw(initialized).unwrap();
    let call = legacy("2", "tools/call", r#"{"name":"roots"}"#);
    client.send_raw(call).unwrap();
    let question: Value =
        serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap();
    let id = question["id"].as_i64().unwrap();
    // A string is never a number.
    let answer = |id: &str, roots: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[{roots}]}}}}"#)
    };
    client
        .send_raw(answer(&format!("\"{id}\""), r#"{"uri":"file:///a"}"#))
        .unwrap();
    client.send_raw(answer(&format!("{id}.0"), "")).unwrap();
    let called = soon(client.next_message()).await.unwrap();
    assert!(called.contains("0 roots"), "{called}");
}

// DEC-5, N-1, O-2: a server that writes numbers as floats.
#[tokio::test]
async fn a_server_that_writes_floats() {
    let (asked, reported) = (
        std::sync::Arc::new(crate::support::Collected::default()),
        std::sync::Arc::new(crate::support::Collected::default()),
    );
    let options = ClientOptions::at(Revision::V2025_06_18)
        .capabilities(with_roots())
        .handler(crate::client::Answers(asked.clone()));
    let (connecting, playing) = against(options, |mut mock| async move {
        let request = mock.next().await.unwrap();
        play_legacy(&mut mock, &request).await;
        let call = mock.next().await.unwrap();
        let float = |id: &Value| json!(id.as_i64().unwrap() as f64);
        let token = float(&call["params"]["_meta"]["progressToken"]);
        mock.send(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": token, "progress": 1 } }))
            .await;
        mock.send(json!({ "jsonrpc": "2.0", "id": 5.0, "method": "roots/list" }))
            .await;
        let answer = mock.next().await.unwrap();
        assert_eq!(answer["id"].to_string(), "5.0");
        let id = float(&call["id"]);
        mock.send(json!({ "jsonrpc": "2.0", "id": call["id"].to_string(), "result": {} }))
            .await;
        mock.send(json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [] } }))
            .await;
        mock
    });
    let client = connecting.await.unwrap();
    let seen = reported.clone();
    let call = client
        .call_tool("t", ())
        .on_progress(move |report| seen.push(report.progress));
    let result = soon(call.into_future()).await.unwrap();
    assert!(result.content.is_empty());
    assert_eq!(
        (reported.take(), asked.take()),
        (vec![1.0], vec!["roots/list".to_owned()])
    );
    drop(soon(playing).await.unwrap());
}

/// A JSON string of so many bytes.
fn text_of(bytes: usize) -> String {
    format!("\"{}\"", "x".repeat(bytes))
}

// GAP-7, A-2, Y-6: a longer id is answered as one that cannot be read, of a request of either era.
#[tokio::test]
async fn an_id_that_is_too_long() {
    let (service, _director) = staged();
    let client = raw(&service).await;
    let longest = text_of(1024);
    client.send_raw(legacy(&longest, "ping", "{}")).unwrap();
    let answer = soon(client.next_message()).await.unwrap();
    assert!(answer.contains(&longest), "{answer}");
    let longer = text_of(1025);
    for message in [
        legacy(&longer, "ping", "{}"),
        modern(&longer, "tools/list", ""),
    ] {
        client.send_raw(message).unwrap();
        let answer = soon(client.next_message()).await.unwrap();
        assert!(answer.len() < 500, "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(answer.get("id").is_none_or(Value::is_null), "{answer}");
        let error = &answer["error"];
        assert_eq!(error["code"], -32600, "{answer}");
        let data = json!({ "pointer": "/id", "rule": "length", "expected": "a string of at most 1024 bytes", "found": "string of 1027 bytes" });
        assert_eq!(error["data"], data);
    }
}

// N-1, Y-6
#[tokio::test]
async fn a_progress_token_that_is_too_long() {
    let (service, _director) = staged();
    let client = raw(&service).await;
    client
        .send_raw(initialize("2025-11-25")[0].clone())
        .unwrap();
    soon(client.next_message()).await.unwrap();
    for (bytes, is_served) in [(1024, true), (1025, false)] {
        let params = format!(r#"{{"_meta":{{"progressToken":{}}}}}"#, text_of(bytes));
        client.send_raw(legacy("4", "tools/list", &params)).unwrap();
        let answer: Value =
            serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap();
        assert_eq!(answer["id"], 4);
        assert_eq!(answer.get("result").is_some(), is_served, "{answer}");
        if !is_served {
            let error = &answer["error"];
            assert_eq!(error["code"], -32602);
            assert_eq!(error["data"]["pointer"], "/params/_meta/progressToken");
            assert_eq!(error["data"]["expected"], "a string of at most 1024 bytes");
        }
    }
}

// GAP-7: a question of a server with an id that a client cannot keep.
#[tokio::test]
async fn a_question_with_an_id_that_is_too_long() {
    let asked = std::sync::Arc::new(crate::support::Collected::default());
    let options = ClientOptions::at(Revision::V2025_06_18)
        .capabilities(with_roots())
        .handler(crate::client::Answers(asked.clone()));
    let (connecting, playing) = against(options, |mut mock| async move {
        let request = mock.next().await.unwrap();
        play_legacy(&mut mock, &request).await;
        mock.send(json!({ "jsonrpc": "2.0", "id": "x".repeat(1025), "method": "roots/list" }))
            .await;
        mock.send(json!({ "jsonrpc": "2.0", "id": "x".repeat(1024), "method": "roots/list" }))
            .await;
        mock.next().await.unwrap()
    });
    let client = connecting.await.unwrap();
    let answer = soon(playing).await.unwrap();
    assert_eq!(answer["id"], "x".repeat(1024), "{answer}");
    assert_eq!(asked.take(), ["roots/list"]);
    drop(client);
}
