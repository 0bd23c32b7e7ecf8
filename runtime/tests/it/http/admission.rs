//! Who may call, with which methods and media types, and how much.

use axum::http::Method;
use trueform::{HttpConfig, transport::http::Streams};

use super::support::{App, Req};

fn add() -> Req {
    Req::modern(
        "1",
        "tools/call",
        r#","name":"add","arguments":{"a":2,"b":3}"#,
    )
}

// F-2, F-3: each header alone is enough to be refused, on every method.
#[tokio::test]
async fn host_and_origin() {
    let app = App::new();
    for (name, value, setting) in [
        ("host", "evil.example.com", "allowed_hosts"),
        ("origin", "http://evil.example.com", "allowed_origins"),
        ("origin", "null", "allowed_origins"),
    ] {
        for method in [Method::POST, Method::GET, Method::DELETE] {
            let got = app
                .send(add().method(method.clone()).header(name, value))
                .await;
            assert_eq!(got.status, 403, "{method} {name}: {value}");
            let body = got.json();
            assert!(body.get("id").is_none(), "{body}");
            assert!(
                body["error"]["message"]
                    .as_str()
                    .is_some_and(|text| text.contains(setting)),
                "{body}"
            );
        }
    }
    for (name, value) in [
        ("host", "127.0.0.1:8080"),
        ("host", "[::1]:8080"),
        ("origin", "http://localhost:5173"),
        ("origin", "http://localhost"),
    ] {
        assert_eq!(
            app.send(add().header(name, value)).await.text(),
            "5",
            "{name}: {value}"
        );
    }
    let app = App::with(
        HttpConfig::default()
            .allowed_hosts(["example.com"])
            .allowed_origins(["https://app.example.com"]),
    );
    let got = app
        .send(
            add()
                .header("host", "example.com")
                .header("origin", "https://app.example.com"),
        )
        .await;
    assert_eq!(got.text(), "5");
}

// F-1
#[tokio::test]
async fn other_methods() {
    let app = App::new();
    for method in [Method::PUT, Method::PATCH, Method::HEAD, Method::OPTIONS] {
        let got = app.send(add().method(method)).await;
        assert_eq!(
            (got.status, got.header("allow")),
            (405, Some("POST, GET, DELETE"))
        );
    }
}

// F-7
#[tokio::test]
async fn accept() {
    let app = App::new();
    for (accept, status, kind) in [
        (
            Some("application/json, text/event-stream"),
            200,
            "application/json",
        ),
        (Some("application/json"), 200, "application/json"),
        (Some("*/*"), 200, "application/json"),
        (None, 200, "application/json"),
        (Some("text/event-stream"), 200, "text/event-stream"),
        (Some("text/html"), 406, "application/json"),
    ] {
        let request = match accept {
            Some(accept) => add().header("accept", accept),
            None => add().without("accept"),
        };
        let got = app.send(request).await;
        assert_eq!(
            (got.status, got.header("content-type")),
            (status, Some(kind)),
            "{accept:?}"
        );
    }
    let session = app.session("2025-06-18").await;
    let got = app
        .send(Req::get(&session).header("accept", "application/json"))
        .await;
    assert_eq!(got.status, 406);
}

// F-7
#[tokio::test]
async fn content_type() {
    let app = App::new();
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    ] {
        let got = app.send(add().header("content-type", kind)).await;
        assert_eq!((got.status, got.code()), (415, -32600), "{kind}");
    }
    assert_eq!(app.send(add().without("content-type")).await.status, 415);
    assert_eq!(
        app.send(add().header("content-type", "Application/JSON; charset=utf-8"))
            .await
            .text(),
        "5"
    );
}

// Y-6
#[tokio::test]
async fn bodies_are_bounded() {
    let app = App::with(HttpConfig::default().max_body(1000));
    let call = |text: String| {
        Req::modern(
            "1",
            "tools/call",
            &format!(r#","name":"echo","arguments":{{"text":"{text}"}}"#),
        )
    };
    assert_eq!(app.send(call("x".repeat(500))).await.text().len(), 500);
    for told in [true, false] {
        let request = call("x".repeat(2000));
        let length = request.body.len().to_string();
        let got = app
            .send(if told {
                request.header("content-length", &length)
            } else {
                request
            })
            .await;
        assert_eq!((got.status, got.header("connection")), (413, Some("close")));
        assert!(got.body.contains("max_body"), "{}", got.body);
    }
}

// Y-6
#[tokio::test]
async fn requests_at_work_are_bounded() {
    let app = App::with(
        HttpConfig::default()
            .max_in_flight(1)
            .streams(Streams::Never),
    );
    let wait = Req::modern(
        "1",
        "tools/call",
        r#","name":"wait","arguments":{"label":"one"}"#,
    );
    let (first, ()) = tokio::join!(app.send(wait), async {
        app.director.begun().await;
        let refused = app.send(add()).await;
        assert_eq!(
            (refused.status, refused.header("retry-after")),
            (503, Some("1"))
        );
        app.director.open();
    });
    assert_eq!(first.text(), "one");
    assert_eq!(app.send(add()).await.text(), "5");
}

#[tokio::test]
async fn mounted_where_the_settings_say() {
    let app = App::with(HttpConfig::default().path("/tools/v1"));
    let mut request = add();
    request.path = "/tools/v1".to_owned();
    assert_eq!(app.send(request).await.text(), "5");
    assert_eq!(app.send(add()).await.status, 404);
    for path in ["mcp", "/{id}", "/*rest", ""] {
        let (service, _) = super::support::staged(HttpConfig::default().path(path));
        let error = service.into_router().expect_err(path).to_string();
        assert!(error.contains("`path`"), "{error}");
    }
}

// RFC 9112 §3.2, RFC 9110 §8.4
#[tokio::test]
async fn host_and_content_encoding() {
    let app = App::new();
    assert_eq!(app.send(add().without("host")).await.status, 400);
    for (encoding, status) in [("identity", 200), ("gzip", 415), ("gzip, identity", 415)] {
        let got = app.send(add().header("content-encoding", encoding)).await;
        assert_eq!(got.status, status, "{encoding}");
    }
}
