//! Tasks over Streamable HTTP, where each request has a connection of its own.

use serde_json::{Value, json};
use trueform::{HttpConfig, Leniencies, Leniency};

use super::support::{EXTENSION, RELATED, server, text};
use crate::http::support::{App, Req};

fn app() -> (App, crate::support::Director) {
    let (server, director) = server();
    (App::serving(server.http(HttpConfig::default())), director)
}

/// A request of a client that declares the extension.
fn modern(id: u32, method: &str, params: &str) -> Req {
    let body = crate::support::modern(&id.to_string(), method, params).replace(
        r#""io.modelcontextprotocol/clientCapabilities":{}"#,
        &format!(r#""io.modelcontextprotocol/clientCapabilities":{{"extensions":{{"{EXTENSION}":{{}}}}}}"#),
    );
    let mut request = Req::post(body)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    let named: Value =
        serde_json::from_str(&format!("{{{}}}", params.trim_start_matches(','))).unwrap();
    if let Some(name) = named["taskId"].as_str().or(named["name"].as_str()) {
        request = request.header("mcp-name", name);
    }
    request
}

// F-25, W-19: the header may be missing, unless the server is strict about it; one that says something else is refused.
#[tokio::test]
async fn requests_without_the_header_of_the_name() {
    let (server, _) = server();
    let strict = server
        .http(HttpConfig::default())
        .lenient(Leniencies::ALL.without(Leniency::AbsentNames));
    for (app, is_strict) in [(app().0, false), (App::serving(strict), true)] {
        let request = |method: &str, params: &str| {
            let named = modern(1, method, params);
            Req {
                headers: named
                    .headers
                    .iter()
                    .filter(|(name, _)| name.as_str() != "mcp-name")
                    .cloned()
                    .collect(),
                ..named
            }
        };
        for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
            let params = match method {
                "tasks/update" => r#","taskId":"5f","inputResponses":{}"#,
                _ => r#","taskId":"5f""#,
            };
            let refused = app.send(request(method, params)).await;
            let expected = if is_strict { -32_020 } else { -32_602 };
            assert_eq!(refused.code(), expected, "{method}");
            let other = request(method, params).header("mcp-name", "60");
            assert_eq!(app.send(other).await.code(), -32_020, "{method}");
        }
        // The core needs it.
        let call = request("tools/call", r#","name":"work","arguments":{"label":"a"}"#);
        assert_eq!(app.send(call).await.code(), -32_020);
    }
}

// W-10, W-19, W-20, O-5
#[tokio::test]
async fn of_2026() {
    let (app, director) = app();
    let call = modern(
        1,
        "tools/call",
        r#","name":"work","arguments":{"label":"a"}"#,
    );
    let created = app.send(call.principal(Some("ann"))).await.json();
    let id = created["result"]["taskId"].as_str().unwrap().to_owned();
    assert_eq!(created["result"]["resultType"], "task");
    assert_eq!(director.begun().await, "a");
    let get = |whom| modern(2, "tasks/get", &format!(r#","taskId":"{id}""#)).principal(whom);
    let got = app.send(get(Some("ann"))).await.json();
    assert_eq!(got["result"]["status"], "working");
    for whom in [Some("bob"), None] {
        let got = app.send(get(whom)).await;
        assert_eq!(got.code(), -32_602);
    }
    let mismatched = app.send(get(Some("ann")).header("mcp-name", "other")).await;
    assert_eq!(mismatched.code(), -32_020);
    director.open();
    let ended = crate::support::soon(async {
        loop {
            let got = app.send(get(Some("ann"))).await.json();
            if got["result"]["status"] != "working" {
                return got;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(text(&ended["result"]["result"]), "did a");
    director.none_dropped().await;
}

// N-4, W-6, W-7, W-10: the request that waits for the result has its own connection; progress goes to the session's stream.
#[tokio::test]
async fn of_2025() {
    let (app, director) = app();
    let session = app.session("2025-11-25").await;
    let other = app.session("2025-11-25").await;
    let params = r#"{"name":"talks","arguments":{},"task":{},"_meta":{"progressToken":"t"}}"#;
    let created = app
        .send(Req::legacy(&session, "1", "tools/call", params))
        .await
        .json();
    let id = created["result"]["task"]["taskId"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(director.begun().await, "talks");
    let about = |session: &str, method| {
        Req::legacy(session, "2", method, &format!(r#"{{"taskId":"{id}"}}"#))
    };
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        assert_eq!(
            app.send(about(&other, method)).await.code(),
            -32_602,
            "{method}"
        );
    }
    let listed = app
        .send(Req::legacy(&other, "3", "tasks/list", "{}"))
        .await
        .json();
    assert_eq!(listed["result"]["tasks"], json!([]));
    let mut stream = app.open(Req::get(&session)).await;
    let result = app.send(about(&session, "tasks/result"));
    let (result, ()) = tokio::join!(result, async { director.open() });
    let result = result.json();
    assert_eq!(
        (
            text(&result["result"]),
            &result["result"]["_meta"][RELATED]["taskId"]
        ),
        ("talked", &json!(id))
    );
    let mut seen = Vec::new();
    while seen
        .last()
        .is_none_or(|method| method != "notifications/tasks/status")
    {
        let event = crate::support::soon(stream.event())
            .await
            .expect("the stream goes on");
        if event.data.is_empty() {
            continue;
        }
        let message = event.json();
        if message["method"] == "notifications/progress" {
            assert_eq!(
                (
                    &message["params"]["progressToken"],
                    &message["params"]["_meta"][RELATED]["taskId"]
                ),
                (&json!("t"), &json!(id))
            );
        }
        seen.extend(message["method"].as_str().map(str::to_owned));
    }
    assert!(
        seen.iter()
            .filter(|method| *method == "notifications/progress")
            .count()
            == 2,
        "{seen:?}"
    );
}

// A wait for a result does not count as a call at work.
#[tokio::test]
async fn waits_take_no_room() {
    let (server, director) = server();
    let app = App::serving(server.http(HttpConfig::default().max_in_flight(1)));
    let session = app.session("2025-11-25").await;
    let params = r#"{"name":"work","arguments":{"label":"a"},"task":{}}"#;
    let created = app
        .send(Req::legacy(&session, "1", "tools/call", params))
        .await
        .json();
    let id = created["result"]["task"]["taskId"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(director.begun().await, "a");
    let result = app.send(Req::legacy(
        &session,
        "2",
        "tasks/result",
        &format!(r#"{{"taskId":"{id}"}}"#),
    ));
    let meanwhile = async {
        tokio::task::yield_now().await;
        let plain = r#"{"name":"plain","arguments":{"label":"a"}}"#;
        let answer = app
            .send(Req::legacy(&session, "3", "tools/call", plain))
            .await
            .json();
        assert_eq!(text(&answer["result"]), "plain a");
        director.open();
    };
    let (result, ()) = tokio::join!(result, meanwhile);
    assert_eq!(text(&result.json()["result"]), "did a");
}
