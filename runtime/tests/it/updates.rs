//! Changes of resources under load, and filters that say something unknown.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use trueform::{
    Leniencies,
    client::ClientOptions,
    prelude::*,
    schema::{
        SubscribeRequestParams, SubscriptionFilter,
        methods::{ResourceUpdated, Subscribe},
    },
};

use crate::support::{add, conversation, initialize, legacy, modern, soon};

/// The shop's readme.
#[resource("shop://readme")]
fn readme() -> &'static str {
    "hello"
}

/// An order.
#[resource("shop://orders/{id}")]
fn order(id: String) -> String {
    id
}

fn server() -> Server {
    Server::new("shop", "1")
        .tools(tools![add])
        .resources(resources![readme, order])
}

// J-7, J-8, U-4: 100,000 updates while one subscriber never reads: the others hear, calls are answered, and what waits for the one
// that does not read stays small.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_updates() {
    const UPDATES: usize = 100_000;
    let service = server().build().unwrap();
    let handle = service.handle();

    // Never reads, in both eras at once.
    let (near, far) = tokio::io::duplex(64);
    let (reader, writer) = tokio::io::split(far);
    let silent = service.clone();
    let serving = tokio::spawn(async move { silent.serve_stream(reader, writer).await });
    let (reader, mut writer) = tokio::io::split(near);
    let mut lines = BufReader::new(reader).lines();
    let [first, second] = initialize("2025-11-25");
    let subscribe = legacy("1", "resources/subscribe", r#"{"uri":"shop://readme"}"#);
    let listen = modern(
        "2",
        "subscriptions/listen",
        r#","notifications":{"resourceSubscriptions":["shop://readme"]}"#,
    );
    for line in [first, second, subscribe, listen] {
        writer
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }
    for part in ["\"id\":0", "\"id\":1", "acknowledged"] {
        let line = soon(lines.next_line()).await.unwrap().unwrap();
        assert!(line.contains(part), "{line}");
    }

    let old = service
        .connect_as(ClientOptions::at(Revision::V2025_11_25))
        .await
        .unwrap();
    old.request::<Subscribe>(SubscribeRequestParams::new("shop://readme"))
        .await
        .unwrap();
    let mut of_old = old.notifications();
    let new = service.connect().await.unwrap();
    let filter = SubscriptionFilter::default().with_resource_subscriptions(vec![
        "shop://readme".to_owned(),
        "shop://orders/1".to_owned(),
    ]);
    let mut listening = new.listen(filter).await.unwrap();

    let storm = std::thread::spawn({
        let handle = handle.clone();
        move || (0..UPDATES).for_each(|_| assert!(handle.resource_updated("shop://readme")))
    });
    let mut calls = 0;
    while !storm.is_finished() || calls < 100 {
        let called = soon(
            new.call_tool("add", json!({ "a": 2, "b": 3 }))
                .into_future(),
        )
        .await;
        assert_eq!(called.unwrap().text(), "5");
        calls += 1;
    }
    storm.join().unwrap();
    // The last change of all is heard by who reads, after what came before it.
    handle.resource_updated("shop://orders/1");
    let mut heard = 0;
    loop {
        let next = soon(listening.next()).await.unwrap();
        let updated = next.get::<ResourceUpdated>().unwrap().unwrap();
        if updated.uri == "shop://orders/1" {
            break;
        }
        heard += 1;
    }
    assert!((1..=UPDATES).contains(&heard), "{heard}");
    let first = soon(of_old.next_of::<ResourceUpdated>()).await.unwrap();
    assert_eq!(first.uri, "shop://readme");

    // What waited for the one that did not read: what was written at once, up to 64 KiB, and one message of each subscription.
    writer
        .write_all(format!("{}\n", legacy("9", "ping", "{}")).as_bytes())
        .await
        .unwrap();
    let mut waited = 0;
    loop {
        let line = soon(lines.next_line()).await.unwrap().unwrap();
        if line.contains("\"id\":9") {
            break;
        }
        assert!(line.contains("shop://readme"), "{line}");
        waited += line.len();
    }
    assert!((1..=(64 << 10) + 1024).contains(&waited), "{waited}");
    drop((writer, lines));
    tokio::time::timeout(Duration::from_secs(10), serving)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
}

// U-1, U-3: what a filter says that this server does not know is left out of what is acknowledged; a member of the wrong type is an
// error that names it.
#[tokio::test]
async fn filters_with_something_unknown() {
    let acknowledged = |filter: &str, leniencies| {
        let line = modern(
            "1",
            "subscriptions/listen",
            &format!(r#","notifications":{filter}"#),
        );
        async move {
            let service = server().lenient(leniencies).build().unwrap();
            let output = conversation(&service, line).await;
            serde_json::from_str::<Value>(&output[0]).unwrap()
        }
    };
    let unknown = r#"{"com.example/other":true,"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":false,"taskIds":["t"]}"#;
    let answer = acknowledged(unknown, Leniencies::ALL).await;
    assert_eq!(
        answer["method"], "notifications/subscriptions/acknowledged",
        "{answer}"
    );
    assert_eq!(
        answer["params"]["notifications"],
        json!({ "toolsListChanged": true })
    );
    for (filter, pointer) in [
        (
            r#"{"toolsListChanged":"yes"}"#,
            "/params/notifications/toolsListChanged",
        ),
        (
            r#"{"resourceSubscriptions":"shop://readme"}"#,
            "/params/notifications/resourceSubscriptions",
        ),
        (
            r#"{"resourceSubscriptions":["shop://readme",5]}"#,
            "/params/notifications/resourceSubscriptions/1",
        ),
        ("[]", "/params/notifications"),
        ("5", "/params/notifications"),
    ] {
        for leniencies in [Leniencies::ALL, Leniencies::NONE] {
            let answer = acknowledged(filter, leniencies).await;
            assert_eq!(answer["error"]["code"], -32602, "{filter}: {answer}");
            assert_eq!(
                answer["error"]["data"]["pointer"], pointer,
                "{filter}: {answer}"
            );
        }
    }
}
