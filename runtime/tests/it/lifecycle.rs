//! How connections end: the input ends, the server is shut down, the client goes away, while calls run.

use std::time::Duration;

use serde_json::{Value, json};
use trueform::{client::ClientOptions, prelude::*, schema::Revision, transport::StreamSettings};

use crate::support::{conversation, initialize, joined, legacy, modern, raw, soon, staged};

fn wait(id: &str, tool: &str) -> String {
    modern(
        id,
        "tools/call",
        &format!(r#","name":"{tool}","arguments":{{"label":"{id}"}}"#),
    )
}

// E-6
#[tokio::test]
async fn running_calls_are_answered_after_the_end_of_the_input() {
    for tool in ["wait", "block"] {
        let (service, director) = staged();
        let client = raw(&service).await;
        client.send_raw(wait("1", tool)).unwrap();
        director.begun().await;
        client.close_sending();
        director.open();
        assert!(
            soon(client.next_message())
                .await
                .unwrap()
                .starts_with(r#"{"jsonrpc":"2.0","id":1,"result":"#),
            "{tool}"
        );
        assert_eq!(soon(client.next_message()).await, None);
    }
}

// E-6: but not for ever.
#[tokio::test(start_paused = true)]
async fn draining_has_a_deadline() {
    for tool in ["wait", "block"] {
        let (service, director) = staged();
        let begun = tokio::time::Instant::now();
        let settings = StreamSettings::new().drain(Duration::from_secs(3));
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        let serving =
            tokio::spawn(async move { service.serve_stream_with(reader, writer, settings).await });
        let (reader, mut writer) = tokio::io::split(near);
        let line = wait("1", tool) + "\n";
        tokio::io::AsyncWriteExt::write_all(&mut writer, line.as_bytes())
            .await
            .unwrap();
        // Before the input ends: a blocking job that has not begun by the deadline never does.
        assert_eq!(director.begun().await, "1");
        tokio::io::AsyncWriteExt::shutdown(&mut writer)
            .await
            .unwrap();
        let mut answers = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(reader));
        let mut output = Vec::new();
        while let Some(line) = answers.next_line().await.unwrap() {
            output.push(line);
        }
        serving.await.unwrap().unwrap();
        // DEC-11
        assert_eq!(output.len(), 1, "{output:?}");
        assert!(
            output[0].contains(r#""id":1,"error":{"code":-32603"#),
            "{output:?}"
        );
        assert!(begun.elapsed() >= Duration::from_secs(3));
        // The author's code learns of it.
        assert!(["dropped 1", "left 1"].contains(&&*director.begun().await));
    }
}

#[tokio::test]
async fn the_last_line_needs_no_end() {
    let (service, _director) = staged();
    let output = conversation(
        &service,
        modern(
            "1",
            "tools/call",
            r#","name":"add","arguments":{"a":2,"b":3}"#,
        ),
    )
    .await;
    assert_eq!(output.len(), 1, "{output:?}");
}

#[tokio::test]
async fn shutting_down_drains_and_reads_nothing_more() {
    let (service, director) = staged();
    let client = raw(&service).await;
    client.send_raw(wait("1", "wait")).unwrap();
    director.begun().await;
    service.handle().shut_down();
    director.open();
    assert!(
        soon(client.next_message())
            .await
            .unwrap()
            .contains(r#""id":1,"result""#)
    );
    assert_eq!(soon(client.next_message()).await, None);
}

// DEC-11: the end of the input, signals and calls are one series; a second one ends the drain, drops what runs and answers it.
#[tokio::test]
async fn a_second_request_to_end_ends_at_once() {
    let endless = StreamSettings::new().drain(Duration::from_secs(3600));
    for (first, second) in [("end", "call"), ("call", "end"), ("call", "call")] {
        let (service, director) = staged();
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        let handle = service.handle();
        let settings = endless.clone();
        let serving =
            tokio::spawn(async move { service.serve_stream_with(reader, writer, settings).await });
        let (reader, mut writer) = tokio::io::split(near);
        let mut answers = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(reader));
        let batch = format!(
            "[{},{}]",
            legacy(
                "2",
                "tools/call",
                r#"{"name":"wait","arguments":{"label":"2"}}"#
            ),
            legacy("3", "ping", "{}")
        );
        let [initialize, initialized] = initialize("2025-03-26");
        let lines = joined([initialize, initialized, wait("1", "wait"), batch]);
        tokio::io::AsyncWriteExt::write_all(&mut writer, lines.as_bytes())
            .await
            .unwrap();
        let mut begun = [director.begun().await, director.begun().await];
        begun.sort();
        assert_eq!(begun, ["1", "2"]);
        soon(answers.next_line()).await.unwrap().unwrap();

        let mut writer = Some(writer);
        for request in [first, second] {
            assert!(!serving.is_finished(), "{first}, {second}");
            match request {
                "end" => {
                    let mut writer = writer.take().unwrap();
                    tokio::io::AsyncWriteExt::shutdown(&mut writer)
                        .await
                        .unwrap();
                }
                _ => handle.shut_down(),
            }
            // Lets the connection see it.
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
        }
        let mut errors = Vec::new();
        while let Some(line) = soon(answers.next_line()).await.unwrap() {
            errors.push(line);
        }
        errors.sort();
        assert_eq!(errors.len(), 2, "{first}, {second}: {errors:?}");
        let cut_off = r#""error":{"code":-32603"#;
        assert!(
            errors[0].starts_with('[') && errors[0].contains(&format!(r#""id":2,{cut_off}"#)),
            "{errors:?}"
        );
        assert!(errors[0].contains(r#""id":3,"result""#), "{errors:?}");
        assert!(
            errors[1].contains(&format!(r#""id":1,{cut_off}"#)),
            "{errors:?}"
        );
        soon(serving).await.unwrap().unwrap();
        let mut dropped = [director.begun().await, director.begun().await];
        dropped.sort();
        assert_eq!(dropped, ["dropped 1", "dropped 2"]);
    }
}

// E-9, T-10
#[tokio::test]
async fn a_client_that_goes_away_takes_its_calls_with_it() {
    let (service, director) = staged();
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(far);
    let serving = tokio::spawn(async move { service.serve_stream(reader, writer).await });
    let (reader, mut writer) = tokio::io::split(near);
    let lines = joined([wait("1", "wait"), modern("2", "server/discover", "")]);
    tokio::io::AsyncWriteExt::write_all(&mut writer, lines.as_bytes())
        .await
        .unwrap();
    assert_eq!(director.begun().await, "1");
    drop((reader, writer));
    director.open();
    soon(serving).await.unwrap().unwrap();
}

// U-7, GAP-1
#[tokio::test]
async fn subscriptions_end_gracefully() {
    let (service, _director) = staged();
    let client = service.connect().await.unwrap();
    let mut filter = trueform::schema::SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    let mut subscription = client.listen(filter).await.unwrap();
    assert_eq!(subscription.honoured().tools_list_changed, Some(true));
    service.handle().notify_tools_changed();
    assert_eq!(
        subscription.next().await.unwrap().method(),
        "notifications/tools/list_changed"
    );
    service.handle().shut_down();
    assert!(subscription.next().await.is_none());

    let (service, _director) = staged();
    let listen = modern(
        r#""s""#,
        "subscriptions/listen",
        r#","notifications":{"toolsListChanged":true}"#,
    );
    let output = conversation(&service, listen + "\n").await;
    assert_eq!(output.len(), 3, "{output:?}");
    assert!(
        output[0].contains("notifications/subscriptions/acknowledged"),
        "{}",
        output[0]
    );
    assert!(
        output[1].starts_with(r#"{"jsonrpc":"2.0","id":"s","result":"#),
        "{}",
        output[1]
    );
    assert!(
        output[2].contains("notifications/cancelled"),
        "{}",
        output[2]
    );
}

// B-7, I-3
#[tokio::test]
async fn changes_are_told_once_the_client_is_ready() {
    let (service, _director) = staged();
    let client = raw(&service).await;
    let [first, second] = initialize("2025-11-25");
    client.send_raw(first).unwrap();
    soon(client.next_message()).await.unwrap();
    service.handle().notify_tools_changed();
    client.send_raw(second).unwrap();
    client.send_raw(legacy("1", "ping", "{}")).unwrap();
    assert_eq!(
        soon(client.next_message()).await.unwrap(),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
    );
    assert!(service.handle().enable_tool("add", false));
    assert_eq!(
        soon(client.next_message()).await.unwrap(),
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#
    );
    let names = service.connect().await.unwrap().list_tools().await.unwrap();
    assert!(names.iter().all(|tool| tool.name != "add"));
}

// B-3, C-7
#[tokio::test]
async fn every_revision_is_negotiated() {
    let (service, _director) = staged();
    for revision in Revision::ALL {
        let client = service
            .connect_as(ClientOptions::at(revision))
            .await
            .unwrap();
        assert_eq!(client.revision(), revision);
        let result = client
            .call_tool("add", serde_json::json!({ "a": 2, "b": 3 }))
            .await
            .unwrap();
        assert!(!result.is_error.unwrap_or(false), "{revision}");
        client.close().await;
    }
    let old = Server::new("old", "1")
        .revisions([Revision::V2025_03_26])
        .build()
        .unwrap();
    assert_eq!(
        old.connect().await.unwrap().revision(),
        Revision::V2025_03_26
    );
    assert!(
        old.connect_as(ClientOptions::at(Revision::V2025_06_18))
            .await
            .is_err()
    );
    let new = Server::new("new", "1")
        .revisions([Revision::V2026_07_28])
        .build()
        .unwrap();
    assert_eq!(
        new.connect().await.unwrap().revision(),
        Revision::V2026_07_28
    );
    assert!(
        new.connect_as(ClientOptions::at(Revision::V2025_06_18))
            .await
            .is_err()
    );
}

// DEC-4: tunnels probe a server and then let the client initialize it.
#[tokio::test]
async fn a_repeated_initialize_on_a_stream() {
    let other = || initialize("2025-06-18")[0].replace(r#""id":0"#, r#""id":7"#);
    let first = || initialize("2025-11-25")[0].clone();
    let again = || first().replace(r#""id":0"#, r#""id":7"#);
    let modern = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let between =
        |method: &str| format!(r#"{{"jsonrpc":"2.0","id":2,"method":"{method}","params":{{}}}}"#);
    let malformed = r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}"#;
    let refused = |code: i64| json!({ "code": code });
    for (between, second, expected) in [
        (None, again(), json!("2025-11-25")),
        (Some(between("tools/list")), again(), json!("2025-11-25")),
        (None, other(), json!("2025-06-18")),
        (Some(between("ping")), other(), json!("2025-06-18")),
        (Some(modern.to_owned()), other(), json!("2025-06-18")),
        (Some(between("tools/list")), other(), refused(-32600)),
        (None, malformed.to_owned(), refused(-32602)),
        (
            Some(between("tools/list")),
            malformed.to_owned(),
            refused(-32600),
        ),
    ] {
        let (service, _director) = staged();
        let client = raw(&service).await;
        let mut answers = Vec::new();
        for message in [Some(first()), between.clone(), Some(second.clone())]
            .into_iter()
            .flatten()
        {
            client.send_raw(message).unwrap();
            let answer: Value =
                serde_json::from_str(&soon(client.next_message()).await.unwrap()).unwrap();
            answers.push(answer);
        }
        let answer = &answers[answers.len() - 1];
        assert_eq!(answer["id"], 7);
        let outcome = match &answer["error"]["code"] {
            Value::Null => answer["result"]["protocolVersion"].clone(),
            code => json!({ "code": code }),
        };
        assert_eq!(outcome, expected, "{between:?}, then {second}: {answer}");
        if second == again() {
            assert_eq!(answer["result"], answers[0]["result"], "the first answer");
        }
        // Afterwards the session is the one that was negotiated last.
        client
            .send_raw(legacy(
                "8",
                "tools/call",
                r#"{"name":"add","arguments":{"a":1,"b":1}}"#,
            ))
            .unwrap();
        let answer = soon(client.next_message()).await.unwrap();
        assert!(answer.contains(r#""text":"2""#), "{answer}");
    }
}

// B-2, B-3, C-9: what the handshakes say is written for the revision that was agreed on, not for the one that was asked for.
#[tokio::test]
async fn what_handshakes_say() {
    let server = |revisions: &[Revision]| {
        let server = Server::new("t", "1").title("T").instructions("Use it.");
        server.revisions(revisions.iter().copied()).build().unwrap()
    };
    let every = server(&Revision::ALL);
    let newer = server(&[Revision::V2025_06_18, Revision::V2025_11_25]);
    for (service, asked, agreed, has_title) in [
        (&every, "2024-11-05", "2024-11-05", false),
        (&every, "2025-06-18", "2025-06-18", true),
        (&newer, "2024-11-05", "2025-11-25", true),
        (&newer, "1999", "2025-11-25", true),
    ] {
        let [opening, _] = initialize(asked);
        let said = conversation(service, opening + "\n").await;
        let said: Value = serde_json::from_str(&said[0]).unwrap();
        let result = &said["result"];
        assert_eq!(result["protocolVersion"], agreed, "{asked}: {said}");
        assert_eq!(result["instructions"], "Use it.");
        assert_eq!(result["serverInfo"]["title"] == "T", has_title, "{asked}");
    }
    let said = conversation(&every, modern("1", "server/discover", "") + "\n").await;
    let said: Value = serde_json::from_str(&said[0]).unwrap();
    assert_eq!(said["result"]["instructions"], "Use it.", "{said}");
}

// Issue 8 §3, DEC-11: every wait for a peer has an end, also where nobody sets one.
#[test]
fn default_limits_of_waits() {
    let seconds = Duration::from_secs;
    assert_eq!(trueform::DEFAULT_ASK_TIMEOUT, seconds(300));
    assert_eq!(trueform::DEFAULT_MAX_UNREAD, 256 << 20);
    assert_eq!(StreamSettings::DEFAULT_DRAIN, seconds(5));
    assert_eq!(StreamSettings::DEFAULT_WRITE_TIMEOUT, seconds(60));
    #[cfg(feature = "http")]
    {
        let config = trueform::HttpConfig::default();
        assert_eq!(config.drain, seconds(8));
        assert_eq!(config.write_timeout, seconds(60));
        assert_eq!(config.body_timeout, seconds(60));
        assert_eq!(config.head_timeout, seconds(30));
    }
}
