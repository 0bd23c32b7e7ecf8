//! What clients leave behind, and how much of it there may be.

use std::time::Duration;

use serde_json::{Value, json};
use trueform::{MAX_SESSION_FACTS, transport::http::HttpConfig};

use super::support::{App, Req};
use crate::support::{conversation, service};

fn initialize(info: &Value, capabilities: &Value) -> String {
    let params = json!({
        "protocolVersion": "2025-11-25", "clientInfo": info, "capabilities": capabilities,
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string()
}

fn large(bytes: usize) -> String {
    "x".repeat(bytes)
}

// Issue 8: what `initialize` would leave behind is refused by its place, over HTTP and on a byte stream.
#[tokio::test]
async fn facts_that_are_too_large() {
    let named = json!({ "name": "n", "version": "1" });
    let long = large(3 << 20);
    for (info, capabilities, pointer) in [
        (
            json!({ "name": long, "version": "1" }),
            json!({}),
            "/params/clientInfo/name",
        ),
        (
            json!({ "name": "n", "version": long }),
            json!({}),
            "/params/clientInfo/version",
        ),
        (
            named.clone(),
            json!({ "extensions": { "com.example/a": { "x": long } } }),
            "/params/capabilities",
        ),
        (
            named,
            json!({ "experimental": { "x": { "y": large(MAX_SESSION_FACTS) } } }),
            "/params/capabilities",
        ),
    ] {
        let message = initialize(&info, &capabilities);
        let app = App::new();
        let got = app.send(Req::post(message.clone())).await;
        assert_eq!(got.header("mcp-session-id"), None, "{pointer}");
        let lines = conversation(&service(), message + "\n").await;
        let on_stream: Value = serde_json::from_str(&lines[0]).expect("JSON");
        for error in [&got.json()["error"], &on_stream["error"]] {
            assert_eq!(error["code"], -32602, "{pointer}: {error}");
            assert_eq!(error["data"]["pointer"], pointer, "{error}");
            assert!(error.to_string().len() < 1000, "{pointer}");
        }
    }
}

// Issue 8: 4 MB of icons do not make the server refuse a client, and nothing of them is kept.
// The clock stands still: sessions without a second message would make room after a while.
#[tokio::test(start_paused = true)]
async fn sessions_have_a_common_bound_in_bytes() {
    let message = |bytes: usize| {
        let icon = json!({ "src": format!("data:image/png;base64,{}", large(bytes)) });
        let info = json!({ "name": "n", "version": "1", "icons": [icon] });
        initialize(&info, &json!({}))
    };
    let app = App::with(HttpConfig::default().max_session_bytes(20 * 4096));
    assert_eq!(app.send(Req::post(message(3 << 20))).await.status, 200);
    let mut opened = 1;
    // One that was kept would be beyond the bound. Not larger: sessions of 10 s make room for others.
    let message = message(20 * 4096);
    let refused = loop {
        let got = app.send(Req::post(message.clone())).await;
        if got.status != 200 {
            break got;
        }
        opened += 1;
        assert!(opened < 1000, "there is a bound");
    };
    assert!((20..=160).contains(&opened), "{opened}");
    assert_eq!(
        (
            refused.status,
            refused.code(),
            refused.header("retry-after")
        ),
        (503, -32603, Some("1"))
    );
    assert!(
        refused.body.contains("max_session_bytes"),
        "{}",
        refused.body
    );
}

// Issue 8: newcomers get no further than to be refused, and the session in use goes on.
#[tokio::test]
async fn newcomers_do_not_end_sessions_in_use() {
    let app = App::with(HttpConfig::default().max_sessions(3));
    let proven = app.session("2025-06-18").await;
    let message = initialize(&json!({ "name": "n", "version": "1" }), &json!({}));
    for turn in 0..100 {
        let got = app.send(Req::post(message.clone())).await;
        let expected = if turn < 2 {
            (200, None)
        } else {
            (503, Some("1"))
        };
        assert_eq!((got.status, got.header("retry-after")), expected, "{turn}");
    }
    let got = app.send(Req::legacy(&proven, "2", "ping", "{}")).await;
    assert_eq!(got.status, 200);
    assert!(trueform::transport::http::UNPROVEN_KEPT == Duration::from_secs(10));
}
