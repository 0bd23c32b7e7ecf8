//! Who may call, with which methods and media types, and how much.

use axum::http::Method;
use trueform::{HttpConfig, transport::http::Streams};

use super::support::{App, Req};
use crate::support::log;

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
    let log = log();
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
    // The first of each kind is reported where the operator looks, with the cure.
    let reports: Vec<_> = log
        .take()
        .into_iter()
        .filter(|line| line.contains("a request was refused"))
        .collect();
    assert_eq!(reports.len(), 2, "{reports:?}");
    for (report, cure) in reports
        .iter()
        .zip(["TRUEFORM_ALLOWED_HOSTS", "TRUEFORM_ALLOWED_ORIGINS"])
    {
        assert!(report.contains("WARN") && report.contains(cure), "{report}");
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

// Issue 8: only what runs counts. A server that is full hears the answers and cancellations that free it; each request of a batch
// counts.
#[tokio::test]
async fn only_calls_count() {
    let app = App::with(
        HttpConfig::default()
            .max_in_flight(2)
            .streams(Streams::Never),
    );
    let session = app.session("2025-03-26").await;
    let batch = |ids: &[u32]| {
        let calls: Vec<_> = ids
            .iter()
            .map(|id| {
                crate::support::legacy(
                    &id.to_string(),
                    "tools/call",
                    r#"{"name":"wait","arguments":{"label":"x"}}"#,
                )
            })
            .collect();
        Req::post(format!("[{}]", calls.join(","))).session(&session)
    };
    let (answers, ()) = tokio::join!(app.send(batch(&[1, 2, 3])), async {
        for _ in 0..2 {
            app.director.begun().await;
        }
        let refused = app.send(add()).await;
        assert_eq!(
            (
                refused.status,
                refused.header("retry-after"),
                refused.code()
            ),
            (503, Some("1"), -32603)
        );
        assert_eq!(refused.json()["id"], 1);
        assert!(refused.body.contains("max_in_flight"), "{}", refused.body);
        for (method, params) in [("ping", "{}"), ("tools/list", "{}")] {
            let got = app.send(Req::legacy(&session, "9", method, params)).await;
            assert_eq!((got.status, got.code()), (200, 0), "{method}: {}", got.body);
        }
        let [initialize, _] = crate::support::initialize("2025-06-18");
        assert_eq!(app.send(Req::post(initialize)).await.status, 200);
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        let cancelled = app.send(Req::post(cancel).session(&session)).await;
        assert_eq!(cancelled.status, 202);
        app.director.open();
    });
    let answers = answers.json();
    let ids: Vec<_> = answers
        .as_array()
        .expect("a batch")
        .iter()
        .map(|answer| (answer["id"].as_u64(), answer["error"]["code"].as_i64()))
        .collect();
    assert_eq!(ids, [(Some(2), None), (Some(3), Some(-32603))]);
    assert_eq!(app.send(add()).await.text(), "5");
}

// DEC-10
#[tokio::test]
async fn a_byte_order_mark_before_a_body() {
    let app = App::strict();
    let marked = |mut request: Req| {
        request.body.splice(0..0, "\u{feff}".bytes());
        request
    };
    assert_eq!(app.send(marked(add())).await.text(), "5");
    let session = app.session("2025-03-26").await;
    for body in [
        r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
        r#"[{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
    ] {
        let got = app.send(marked(Req::post(body).session(&session))).await;
        assert_eq!(
            (got.status, got.body.contains(r#""result":{}"#)),
            (200, true)
        );
    }
    let twice = app.send(marked(marked(add()))).await;
    assert_eq!(
        (twice.status, twice.code()),
        (400, -32700),
        "one mark, not more"
    );
}

// Issue 8: adapters append a slash, or leave it out.
#[tokio::test]
async fn with_and_without_a_slash_at_the_end() {
    for (path, spellings, others) in [
        (
            "/mcp",
            &["/mcp", "/mcp/"][..],
            &["/", "/mcp//", "/mcp/x"][..],
        ),
        ("/a/b/", &["/a/b", "/a/b/"], &["/a", "/a/b/c"]),
        ("/", &["/"], &["/mcp"]),
    ] {
        let app = App::with(HttpConfig::default().path(path));
        let at = |path: &str| {
            let mut request = add();
            request.path = path.to_owned();
            request
        };
        for spelling in spellings {
            assert_eq!(app.send(at(spelling)).await.text(), "5", "{spelling}");
        }
        for other in others {
            let got = app.open(at(other)).await.whole().await;
            // Nothing of ours: a router to be merged sets no fallback.
            assert_eq!((got.status, &*got.body), (404, ""), "{other}");
        }
    }
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
