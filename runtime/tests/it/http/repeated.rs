//! What is repeated of headers: short and printable.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use trueform::transport::http::HttpConfig;

use super::support::{App, Req};
use crate::{
    repeated::{assert_plain, texts},
    support::{keep_spans, log, spans},
};

// Issue 8: one function writes a client's text into logs and messages.
#[tokio::test]
async fn headers_in_messages_and_logs() {
    let app = App::with(HttpConfig::default().allowed_hosts(["localhost"]));
    let session = app.session("2025-11-25").await;
    let told = log();
    keep_spans();
    let add = || {
        Req::modern(
            "1",
            "tools/call",
            r#","name":"add","arguments":{"a":1,"b":2}"#,
        )
    };
    for text in texts() {
        let plain: String = text
            .chars()
            .filter(|letter| letter.is_ascii_graphic())
            .collect();
        let encoded = format!("=?base64?{}?=", BASE64_STANDARD.encode(&text));
        let mut requests = Vec::new();
        for name in [
            "host",
            "origin",
            "accept",
            "content-type",
            "content-encoding",
            "mcp-protocol-version",
            "mcp-method",
            "mcp-name",
            "mcp-session-id",
            "last-event-id",
        ] {
            for value in [&plain, &encoded] {
                requests.push(add().header(name, value));
                requests.push(Req::legacy(&session, "1", "ping", "{}").header(name, value));
                requests.push(Req::get(&session).header(name, value));
                requests.push(Req::delete("0").header(name, value));
            }
        }
        for request in requests {
            let what = format!("{} {:.300?}", request.method, request.headers);
            // Streams that open have no text of the client.
            let got = app.open(request).await;
            if !got.is_stream() {
                let got = got.whole().await;
                if let Ok(answer) = serde_json::from_str::<serde_json::Value>(&got.body) {
                    let message = answer["error"]["message"].as_str().unwrap_or_default();
                    assert_plain(&what, message, false);
                }
            }
            for line in told.take() {
                assert_plain(&what, &line, false);
                assert!(!line.contains(&session), "{line}");
            }
            for (name, value) in spans().into_iter().flatten() {
                assert_plain(&format!("{name} of {what}"), &value, false);
            }
        }
    }
    assert_eq!(app.send(Req::delete(&session)).await.status, 204);
    let lines = told.take();
    assert!(
        lines.iter().any(|line| line.contains(&session[..8])),
        "{lines:?}"
    );
    assert!(
        !lines.iter().any(|line| line.contains(&session)),
        "{lines:?}"
    );
}
