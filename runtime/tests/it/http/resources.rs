//! Resources over HTTP.

use serde_json::json;
use trueform::prelude::*;

use super::support::{App, Req};

/// A note.
#[resource("notes://{name}")]
fn note(name: String) -> Option<String> {
    (name != "missing").then(|| format!("note {name}"))
}

fn app() -> App {
    App::serving(Server::new("notes", "1").resources(resources![note]))
}

fn read(id: &str, uri: &str) -> Req {
    Req::modern(id, "resources/read", &format!(r#","uri":"{uri}""#)).header("mcp-name", uri)
}

// J-2, J-3, GAP-2, GAP-6: the statuses and codes of both eras.
#[tokio::test]
async fn reading() {
    let app = app();
    let session = app.session("2025-11-25").await;
    for (uri, legacy, modern) in [
        ("notes://a%2Fb", (200, 0), (200, 0)),
        ("notes://missing", (200, -32002), (200, -32602)),
        ("notes://a/b", (200, -32002), (200, -32602)),
        ("notes", (200, -32602), (200, -32602)),
        ("notes://%FF", (200, -32602), (200, -32602)),
    ] {
        let params = json!({ "uri": uri }).to_string();
        let old = Req::legacy(&session, "1", "resources/read", &params);
        for (request, (status, code)) in [(old, legacy), (read("1", uri), modern)] {
            let got = app.send(request).await;
            assert_eq!(got.status, status, "{uri}: {}", got.body);
            let answer = got.json();
            match code {
                0 => assert_eq!(answer["result"]["contents"][0]["text"], "note a/b"),
                code => assert_eq!(answer["error"]["code"], code, "{uri}"),
            }
            assert_eq!(app.send(read("2", "notes://x")).await.status, 200);
        }
    }
    // The header repeats the URI.
    let request = read("1", "notes://a").header("mcp-name", "notes://b");
    let got = app.send(request).await;
    assert_eq!((got.status, got.code()), (400, -32020), "{}", got.body);
}

// J-7: the stream of a session that subscribed, and only that.
#[tokio::test]
async fn updates_of_sessions() {
    let app = app();
    let (session, other) = (
        app.session("2025-11-25").await,
        app.session("2025-11-25").await,
    );
    let params = r#"{"uri":"notes://a"}"#;
    let subscribe = Req::legacy(&session, "1", "resources/subscribe", params);
    let got = app.send(subscribe).await;
    assert_eq!(got.json()["result"], json!({}));
    let mut stream = app.open(Req::get(&session)).await;
    let mut silent = app.open(Req::get(&other)).await;
    app.handle.resource_updated("notes://b");
    app.handle.resource_updated("notes://a");
    app.handle.resource_updated("notes://a");
    app.handle.notify_resources_changed();
    let mut heard = Vec::new();
    while heard.last().map(String::as_str) != Some("notifications/resources/list_changed") {
        let event = stream.event().await.expect("the stream goes on");
        if !event.data.is_empty() {
            let message = event.json();
            assert!(
                message["params"]["uri"].is_null() || message["params"]["uri"] == "notes://a",
                "{message}"
            );
            heard.push(event.method());
        }
    }
    // What waits says the same, so that two changes at once may be one message.
    assert!((2..=3).contains(&heard.len()), "{heard:?}");
    assert!(
        heard[..heard.len() - 1]
            .iter()
            .all(|method| method == "notifications/resources/updated")
    );
    loop {
        let event = silent.event().await.expect("the stream goes on");
        if !event.data.is_empty() {
            assert_eq!(event.method(), "notifications/resources/list_changed");
            break;
        }
    }
}

// J-8, U-2, U-3
#[tokio::test]
async fn updates_of_listeners() {
    let app = app();
    let filter = r#","notifications":{"resourceSubscriptions":["notes://a"]}"#;
    let mut stream = app
        .open(Req::modern("7", "subscriptions/listen", filter))
        .await;
    let none = r#","notifications":{"resourcesListChanged":true}"#;
    let mut other = app
        .open(Req::modern("8", "subscriptions/listen", none))
        .await;
    let acknowledged = stream.event().await.unwrap().json();
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"resourceSubscriptions": ["notes://a"]})
    );
    assert_eq!(
        other.event().await.unwrap().json()["params"]["notifications"],
        json!({"resourcesListChanged": true})
    );
    app.handle.resource_updated("notes://b");
    app.handle.resource_updated("notes://a");
    app.handle.notify_resources_changed();
    let updated = stream.event().await.unwrap().json();
    assert_eq!(updated["method"], "notifications/resources/updated");
    assert_eq!(
        updated["params"],
        json!({"_meta": {"io.modelcontextprotocol/subscriptionId": 7}, "uri": "notes://a"})
    );
    let changed = other.event().await.unwrap().json();
    assert_eq!(changed["method"], "notifications/resources/list_changed");
}
