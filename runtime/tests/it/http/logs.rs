//! Events of `tracing` that go to the client of the request in which they happen, over HTTP: on the stream of that request.

use serde_json::{Value, json};
use tracing_subscriber::prelude::*;
use trueform::{ClientLog, HttpConfig, prelude::*};

use super::support::{App, Got, Req};
use crate::support::{legacy, log};

/// Logs at two levels.
#[tool]
async fn speaks(label: String) -> &'static str {
    tracing::warn!("warned {label}");
    tokio::task::yield_now().await;
    tracing::debug!("a detail");
    "done"
}

/// Level and text of the log messages of a response, and the text of its result.
fn shown(got: &Got) -> Vec<Value> {
    let messages: Vec<Value> = match got.header("content-type") {
        Some("text/event-stream") => {
            let data = got
                .body
                .lines()
                .filter_map(|line| line.strip_prefix("data:"));
            let data = data.filter(|data| !data.trim().is_empty());
            data.map(|data| serde_json::from_str(data).unwrap())
                .collect()
        }
        _ => vec![got.json()],
    };
    let shown = messages.iter().map(|message| match message.get("method") {
        Some(method) => {
            assert_eq!(method, "notifications/message", "{message}");
            let params = &message["params"];
            json!([params["level"], params["data"]["message"]])
        }
        None => message["result"]["content"][0]["text"].clone(),
    });
    shown.collect()
}

// M-1, M-2, M-4: by the level of the request, or of its session, and never on the stream of another one.
#[tokio::test]
async fn on_the_stream_of_the_request() {
    // With one subscriber alone, what a thread without any does first decides for all.
    drop(log());
    let _sending = tracing_subscriber::registry()
        .with(ClientLog::new())
        .set_default();
    let server = Server::new("logs", "1").tools(tools![speaks]);
    let app = App::serving(server.http(HttpConfig::default()));
    let call = |label: &str, level: Option<&str>| {
        let params = format!(r#","name":"speaks","arguments":{{"label":"{label}"}}"#);
        let mut request = Req::modern("1", "tools/call", &params);
        if let Some(level) = level {
            let body = String::from_utf8(request.body).unwrap();
            let level = format!(r#"{{}},"io.modelcontextprotocol/logLevel":"{level}"}}"#);
            request.body = body.replacen("{}}", &level, 1).into_bytes();
        }
        request
    };
    let warned = |label: &str| json!(["warning", format!("warned {label}")]);
    let (quiet, loud, third) = tokio::join!(
        app.send(call("a", None)),
        app.send(call("b", Some("warning"))),
        app.send(call("c", Some("error"))),
    );
    assert_eq!(shown(&quiet), [json!("done")], "{quiet:?}");
    assert_eq!(shown(&loud), [warned("b"), json!("done")], "{loud:?}");
    assert_eq!(shown(&third), [json!("done")], "{third:?}");

    for revision in ["2025-03-26", "2025-11-25"] {
        let (session, other) = (app.session(revision).await, app.session(revision).await);
        let set = legacy("7", "logging/setLevel", r#"{"level":"error"}"#);
        let set = app.send(Req::post(set).session(&other)).await;
        assert_eq!(set.status, 200, "{set:?}");
        let call = |session: &str, label: &str| {
            let arguments = format!(r#"{{"label":"{label}"}}"#);
            app.send(Req::call(session, "1", "speaks", &arguments))
        };
        let (loud, quiet) = tokio::join!(call(&session, "d"), call(&other, "e"));
        assert_eq!(
            shown(&loud),
            [warned("d"), json!("done")],
            "{revision}: {loud:?}"
        );
        assert_eq!(shown(&quiet), [json!("done")], "{revision}: {quiet:?}");
    }
}
