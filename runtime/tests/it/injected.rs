//! A peer's text in an error message or in the log is one short line, whatever the peer sends.

use std::future::IntoFuture;

use serde_json::{Value, json};
use trueform::{client::ClientOptions, prelude::*};

use crate::{
    client::{against, play_legacy},
    extended::{WAYS, Way, headers_of},
    parity::post,
    support::{self, conversation, initialize, joined, legacy, log, modern, soon},
};

/// Would begin a line of its own, clear the terminal, and is long.
fn nasty() -> String {
    format!(
        "\n2026 ERROR forged\r\u{1b}[2J\u{7f}\u{9b}{}",
        "x".repeat(5000)
    )
}

/// Longest error message and log line.
const LONGEST: usize = 1000;

#[track_caller]
fn assert_tame(text: &str, of: &str) {
    assert!(
        text.len() <= LONGEST,
        "{} bytes in {of}: {text:.200}",
        text.len()
    );
    assert!(!text.contains(char::is_control), "{of}: {text:?}");
}

#[track_caller]
fn assert_tame_answers(lines: &[Value], of: &str) {
    for line in lines {
        let answers = line
            .as_array()
            .map_or(std::slice::from_ref(line), Vec::as_slice);
        for message in answers
            .iter()
            .filter_map(|answer| answer["error"]["message"].as_str())
        {
            assert_tame(message, of);
        }
    }
}

fn text(text: &str) -> String {
    Value::from(text).to_string()
}

/// Messages with [`nasty`] at every place for a text, in a session of `revision` or without any.
fn attacks() -> Vec<String> {
    let nasty = text(&nasty());
    let mut lines = vec![
        legacy(&nasty, "ping", "{}"),
        legacy(&nasty, "nope", "{}"),
        legacy("1", "tools/call", &format!(r#"{{"name":{nasty}}}"#)),
        legacy(
            "2",
            "tools/call",
            &format!(r#"{{"name":"add","arguments":{{{nasty}:1}}}}"#),
        ),
        legacy("3", "tools/list", &format!(r#"{{"cursor":{nasty}}}"#)),
        legacy(
            "4",
            "tools/list",
            &format!(r#"{{"_meta":{{{nasty}:{{}}}}}}"#),
        ),
        legacy(
            "5",
            "tools/list",
            &format!(r#"{{"_meta":{{"progressToken":[{nasty}]}}}}"#),
        ),
        legacy("6", "logging/setLevel", &format!(r#"{{"level":{nasty}}}"#)),
        legacy("8", "resources/read", &format!(r#"{{"uri":{nasty}}}"#)),
        modern(&nasty, "nope", ""),
        modern("9", "tools/call", &format!(r#","name":{nasty}"#)),
        modern("10", "tools/list", &format!(r#","cursor":{nasty}"#)),
        modern("11", "tools/list", "").replace("\"2026-07-28\"", &nasty),
        modern("12", "tools/list", "").replacen(
            r#""_meta":{"#,
            &format!(r#""_meta":{{"io.modelcontextprotocol/logLevel":{nasty},"#),
            1,
        ),
        modern("13", "tools/list", "").replacen(
            r#""_meta":{"#,
            &format!(r#""_meta":{{"io.modelcontextprotocol/clientInfo":{{{nasty}:1}},"#),
            1,
        ),
        modern(
            "15",
            "subscriptions/listen",
            &format!(r#","notifications":{{{nasty}:true}}"#),
        ),
        format!(r#"{{"jsonrpc":"2.0","id":16,"method":{nasty},"params":{{}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":17,"method":"ping",{nasty}:1}}"#),
        format!(r#"{{"jsonrpc":{nasty},"id":{nasty},"method":"ping"}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":{nasty},"result":{{}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":{nasty},"error":{{"code":1,"message":{nasty}}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":{nasty},"result":7}}"#),
        format!(r#"{{"jsonrpc":"2.0","method":{nasty},"params":{{{nasty}:{nasty}}}}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{nasty},"reason":{nasty}}}}}"#
        ),
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{{}},{nasty}:1}}}}"#
        ),
        format!(
            r#"[{},{},{nasty}]"#,
            legacy(&nasty, "ping", "{}"),
            legacy(&nasty, "ping", "{}")
        ),
    ];
    lines.push(nasty);
    lines
}

#[tokio::test]
async fn what_a_client_sends_on_a_stream() {
    for revision in Revision::ALL
        .map(|revision| revision.to_string())
        .iter()
        .map(Some)
        .chain([None])
    {
        for attack in attacks() {
            let told = log();
            let mut lines = Vec::new();
            if let Some(revision) = revision.filter(|revision| *revision != "2026-07-28") {
                lines.extend(initialize(revision));
            }
            lines.push(attack.clone());
            let answers = conversation(&support::service(), joined(lines)).await;
            let answers: Vec<Value> = answers
                .iter()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            let of = format!("{revision:?} {attack:.250}");
            assert_tame_answers(&answers, &of);
            for line in told.take() {
                assert_tame(&line, &of);
            }
        }
    }
}

#[tokio::test]
async fn initialize_of_a_client_that_means_harm() {
    let nasty = text(&nasty());
    let [opening, _] = initialize("2025-11-25");
    for (good, bad) in [
        (r#""2025-11-25""#, nasty.clone()),
        (r#""t""#, nasty.clone()),
        (
            r#""capabilities":{}"#,
            format!(r#""capabilities":{{{nasty}:1,"roots":{nasty}}}"#),
        ),
        (r#""id":0"#, format!(r#""id":{nasty}"#)),
    ] {
        let told = log();
        let line = opening.replacen(good, &bad, 1);
        // The second is out of place.
        let answers = conversation(&support::service(), joined([&line, &line])).await;
        let answers: Vec<Value> = answers
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(answers.len(), 2, "{good}");
        assert_tame_answers(&answers, good);
        for line in told.take() {
            assert_tame(&line, good);
        }
    }
}

// GAP-17: the id of a running call, which is refused over HTTP and dropped on a stream.
#[tokio::test]
async fn ids_that_are_taken() {
    let (service, director) = support::staged();
    let told = log();
    let client = support::raw(&service).await;
    // As long as an id may be.
    let nasty = text(&nasty()[..1_000]);
    for line in initialize("2025-11-25") {
        client.send_raw(line).unwrap();
    }
    soon(client.next_message()).await.unwrap();
    let wait = legacy(
        &nasty,
        "tools/call",
        r#"{"name":"wait","arguments":{"label":"x"}}"#,
    );
    client.send_raw(&*wait).unwrap();
    soon(director.begun()).await;
    client.send_raw(&*wait).unwrap();
    client.send_raw(wait.replace("2.0", "1.0")).unwrap();
    client.send_raw(legacy("2", "ping", "{}")).unwrap();
    let answer = soon(client.next_message()).await.unwrap();
    assert!(answer.contains(r#""id":2"#), "{answer}");
    let cancelled = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{nasty}}}}}"#
    );
    client.send_raw(cancelled).unwrap();
    assert_eq!(soon(director.begun()).await, "dropped x");
    let told = told.take();
    for words in [
        "id of a running call was dropped",
        "cancelled by the client",
    ] {
        assert!(told.iter().any(|line| line.contains(words)), "{told:#?}");
    }
    for line in told {
        assert_tame(&line, "a taken id");
    }
}

#[tokio::test]
async fn headers_that_differ() {
    let http = support::service().into_http_service().unwrap();
    let long = "x".repeat(5000);
    for name in [
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "origin",
        "host",
    ] {
        let told = log();
        let mut headers = headers_of(&modern("1", "tools/call", r#","name":"add""#));
        headers.retain(|(header, _)| header != name);
        headers.push((name.to_owned(), long.clone()));
        let message = modern("1", "tools/call", &format!(r#","name":{}"#, text(&nasty())));
        let (_, _, answer) = soon(post(&http, &headers, message.into_bytes())).await;
        assert_tame_answers(&[answer.unwrap()], name);
        for line in told.take() {
            assert_tame(&line, name);
        }
    }
}

#[tokio::test]
async fn what_a_server_sends() {
    let told = log();
    let (connecting, playing) = against(
        ClientOptions::at(Revision::V2025_11_25),
        |mut mock| async move {
            let opening = mock.next().await.unwrap();
            play_legacy(&mut mock, &opening).await;
            let call = mock.next().await.unwrap();
            let bad = nasty();
            for message in [
                json!({ "jsonrpc": "2.0", "id": bad, "method": bad }),
                json!({ "jsonrpc": "1.0", "id": bad, "method": bad }),
                json!({ "jsonrpc": "2.0", "id": bad, "method": "roots/list" }),
                json!({ "jsonrpc": "2.0", "id": bad, "method": "ping" }),
                json!({ "jsonrpc": "2.0", "id": bad, "result": {} }),
                json!({ "jsonrpc": "2.0", "method": bad, "params": { &bad: bad } }),
                json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": bad, "progress": bad } }),
                json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": bad, "data": 1 } }),
                json!([bad]),
                json!({ &bad: 1 }),
            ] {
                mock.send(message).await;
            }
            mock.result(&call, json!({ "content": [] })).await;
            mock
        },
    );
    let client = connecting.await.unwrap();
    soon(client.call_tool("any", ()).into_future())
        .await
        .unwrap();
    drop(soon(playing).await.unwrap());
    let told = told.take();
    assert!(told.len() > 3, "{told:#?}");
    for line in told {
        assert_tame(&line, "a server");
    }
}

// What panicked is called by its name, whether it is a tool or an extension's method.
#[tokio::test]
async fn panics_in_the_log() {
    for modern in [false, true] {
        let way = Way {
            http: false,
            modern,
        };
        assert!(WAYS.contains(&way));
        let told = log();
        let (server, _director) = crate::around::server();
        let service = crate::around::built(server);
        let lines = [
            way.request("1", "tools/call", r#""name":"panics""#),
            way.request("2", "own/panics", ""),
        ];
        way.answers(&service, &lines).await;
        let told = told.take();
        for name in ["panics", "own/panics"] {
            let parts = ["a call panicked", &format!(r#"name="{name}""#), "meant to"];
            crate::logged::assert_logged(&told, "ERROR", &parts);
        }
    }
}
