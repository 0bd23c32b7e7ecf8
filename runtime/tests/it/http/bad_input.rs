//! Bodies that are not messages, and messages that may not be sent: a status, a code, the id where it can be read.

use super::support::{App, Req};

/// The status, the code, and the id: `None` if there is none.
async fn refused(app: &App, request: Req) -> (u16, i64, Option<serde_json::Value>) {
    let got = app.send(request).await;
    (got.status, got.code(), got.json().get("id").cloned())
}

// A-1, A-2, A-7, GAP-7
#[tokio::test]
async fn bodies() {
    let app = App::new();
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"x","params":{}{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let null = Some(serde_json::Value::Null);
    let seven = Some(serde_json::json!(7));
    for (body, code, id) in [
        (&b"hello"[..], -32700, &None),
        (b"", -32700, &None),
        (br#"{"jsonrpc":"2.0","id":7,"method":"#, -32700, &seven),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}",
            -32700,
            &seven,
        ),
        (deep.as_bytes(), -32600, &seven),
        (br#"{"id":7,"method":"ping"}"#, -32600, &seven),
        (
            br#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#,
            -32600,
            &seven,
        ),
        (
            br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            -32600,
            &None,
        ),
        (
            br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            -32600,
            &None,
        ),
        (
            br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            -32600,
            &None,
        ),
        (
            br#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
            -32600,
            &None,
        ),
        (
            br#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#,
            -32600,
            &seven,
        ),
        (b"5", -32600, &None),
        (b"[]", -32600, &None),
    ] {
        for (version, no_id) in [
            (None, &None),
            (Some("2025-11-25"), &None),
            (Some("2025-06-18"), &null),
            (Some("2026-07-28"), &None),
        ] {
            let mut request = Req::post(body);
            if let Some(version) = version {
                request = request.header("mcp-protocol-version", version);
            }
            let expected = if id.is_some() {
                id.clone()
            } else {
                no_id.clone()
            };
            let got = refused(&app, request).await;
            assert_eq!(
                got,
                (400, code, expected),
                "{} at {version:?}",
                String::from_utf8_lossy(body)
            );
        }
    }
    // Everything else goes on.
    assert_eq!(
        app.send(Req::modern("1", "server/discover", ""))
            .await
            .status,
        200
    );
}

// A-8, F-5: what is not a request has no answer, and what is malformed has a status.
#[tokio::test]
async fn malformed_notifications_and_responses() {
    let app = App::new();
    let session = app.session("2025-06-18").await;
    for body in [
        r#"{"jsonrpc":"2.0","method":5}"#,
        r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":5}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unknown","params":[1]}"#,
    ] {
        for request in [Req::post(body), Req::post(body).session(&session)] {
            let got = app.send(request).await;
            assert_eq!((got.status, got.json().get("id")), (400, None), "{body}");
        }
    }
    // Nobody waits for it.
    for body in [
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#,
    ] {
        let got = app.send(Req::post(body).session(&session)).await;
        assert_eq!((got.status, got.json().get("id")), (400, None), "{body}");
    }
    // Unknown ones are well-formed: accepted, without effect.
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
    ] {
        let got = app.send(Req::post(body).session(&session)).await;
        assert_eq!((got.status, &*got.body), (202, ""), "{body}");
    }
}

// A-9, B-3, F-20, F-21
#[tokio::test]
async fn legacy_refusals() {
    let app = App::new();
    let session = app.session("2025-06-18").await;
    let id = Some(serde_json::json!("x"));
    let legacy = |method: &str, params: &str| Req::legacy(&session, r#""x""#, method, params);
    for (request, status, code) in [
        // GAP-6: an ordinary error is an answer.
        (legacy("unknown/method", "{}"), 200, -32601),
        (legacy("server/discover", "{}"), 200, -32601),
        (legacy("resources/list", "{}"), 200, -32601),
        (legacy("tools/call", "[]"), 200, -32602),
        (legacy("tools/call", "{}"), 200, -32602),
        (
            legacy("tools/call", r#"{"name":"add","arguments":[]}"#),
            200,
            -32602,
        ),
        (legacy("tools/call", r#"{"name":"unknown"}"#), 200, -32602),
        (
            legacy("tools/list", "{}").without("mcp-session-id"),
            400,
            -32600,
        ),
        (
            legacy("tools/list", "{}").session("5e0b6a52-0000-4000-8000-000000000000"),
            404,
            -32600,
        ),
        (legacy("tools/list", "{}").session("nonsense"), 404, -32600),
        (
            legacy("tools/list", "{}").also("mcp-session-id", &session),
            400,
            -32600,
        ),
        (
            legacy("initialize", "{}").without("mcp-session-id"),
            200,
            -32602,
        ),
    ] {
        let what = format!("{request:?}");
        assert_eq!(
            refused(&app, request).await,
            (status, code, id.clone()),
            "{what}"
        );
    }
}

// F-23
#[tokio::test]
async fn version_headers_of_a_session() {
    let app = App::new();
    let session = app.session("2025-06-18").await;
    for (version, status) in [
        ("2025-06-18", 200),
        ("2025-03-26", 200),
        ("2025-11-25", 200),
        ("1999-01-01", 400),
        ("", 400),
        ("x", 400),
    ] {
        let request =
            Req::legacy(&session, "1", "ping", "{}").header("mcp-protocol-version", version);
        assert_eq!(app.send(request).await.status, status, "{version}");
        let request = Req::get(&session).header("mcp-protocol-version", version);
        assert_eq!(app.open(request).await.status, status, "GET {version}");
        // What is not answered is refused by its status too.
        let status = if status == 200 { 202 } else { status };
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#;
        let request = Req::post(cancel)
            .session(&session)
            .header("mcp-protocol-version", version);
        assert_eq!(app.send(request).await.status, status, "{version}");
    }
    assert_eq!(
        app.send(Req::legacy(&session, "1", "ping", "{}"))
            .await
            .status,
        200,
        "absent is fine"
    );
    // The whole version is of the other era: the request lacks what that era needs.
    let request =
        Req::legacy(&session, "1", "ping", "{}").header("mcp-protocol-version", "2026-07-28");
    assert_eq!(app.send(request).await.status, 400);
}

// A-3, DEC-1: a server without the leniency `RepeatedIds`.
#[tokio::test]
async fn an_id_in_flight() {
    let app = App::strict();
    let session = app.session("2025-06-18").await;
    let wait =
        Req::call(&session, "1", "wait", r#"{"label":"one"}"#).header("accept", "application/json");
    let (first, ()) = tokio::join!(app.send(wait.clone()), async {
        app.director.begun().await;
        assert_eq!(
            refused(&app, wait.clone()).await,
            (400, -32600, Some(serde_json::json!(1)))
        );
        app.director.open();
    });
    assert_eq!(first.text(), "one");
}

// DEC-1: a large hosted client uses one id for every call of a session.
#[tokio::test]
async fn repeated_ids_are_served() {
    let app = App::new();
    let session = app.session("2025-06-18").await;
    let wait = |label: &str| {
        let arguments = format!(r#"{{"label":"{label}"}}"#);
        Req::call(&session, "1", "wait", &arguments).header("accept", "application/json")
    };
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let (first, second, ()) = tokio::join!(app.send(wait("one")), app.send(wait("two")), async {
        app.director.begun().await;
        app.director.begun().await;
        // Nobody can say which of the two is meant.
        let got = app.send(Req::post(cancel).session(&session)).await;
        assert_eq!(got.status, 202);
        app.director.open();
    });
    assert_eq!((first.text(), second.text()), ("one".into(), "two".into()));
    let ids = [&first, &second].map(|got| got.json()["id"].clone());
    assert_eq!(ids, [1, 1]);
}

// A-10, A-11, F-34
#[tokio::test]
async fn batches() {
    let app = App::new();
    let call = |id: &str, a: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add","arguments":{{"a":{a},"b":1}}}}}}"#
        )
    };
    let note = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#;
    let batch = format!("[{},{note},{}]", call("1", "1"), call("\"b\"", "2"));

    let session = app.session("2025-03-26").await;
    let got = app.send(Req::post(batch.clone()).session(&session)).await;
    assert_eq!(
        (got.status, got.header("content-type")),
        (200, Some("application/json"))
    );
    let answers = got.json();
    let ids: Vec<_> = answers
        .as_array()
        .expect("an array")
        .iter()
        .map(|answer| answer["id"].clone())
        .collect();
    assert_eq!(ids, [serde_json::json!(1), serde_json::json!("b")]);

    let events = app
        .open(
            Req::post(batch.clone())
                .session(&session)
                .header("accept", "text/event-stream"),
        )
        .await
        .events()
        .await;
    assert_eq!(events.len(), 2);

    let got = app
        .send(Req::post(format!("[{note},{note}]")).session(&session))
        .await;
    assert_eq!((got.status, &*got.body), (202, ""));

    let initialize = &crate::support::initialize("2025-03-26")[0];
    let got = app
        .send(Req::post(format!("[{initialize}]")).session(&session))
        .await;
    assert_eq!(got.json()[0]["error"]["code"], -32600);

    // One bad message spoils only itself.
    let got = app
        .send(Req::post(format!("[{},{{}}]", call("1", "1"))).session(&session))
        .await;
    let answers = got.json();
    assert_eq!(
        (
            answers[0]["result"].is_object(),
            &answers[1]["error"]["code"]
        ),
        (true, &serde_json::json!(-32600))
    );

    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let session = app.session(revision).await;
        assert_eq!(
            refused(&app, Req::post(batch.clone()).session(&session))
                .await
                .0,
            400,
            "{revision}"
        );
    }
    assert_eq!(refused(&app, Req::post(batch.clone())).await.0, 400);
    assert_eq!(
        refused(
            &app,
            Req::post(batch.clone()).header("mcp-protocol-version", "2026-07-28")
        )
        .await
        .0,
        400
    );
    assert_eq!(
        app.send(Req::post(batch).session("5e0b6a52-0000-4000-8000-000000000000"))
            .await
            .status,
        404
    );
}

// A-10: calls of a batch that take time are answered together.
#[tokio::test]
async fn a_batch_at_work() {
    let app = App::new();
    let session = app.session("2025-03-26").await;
    let call = |id: u32, label: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"wait","arguments":{{"label":"{label}"}}}}}}"#
        )
    };
    let batch = format!("[{},{}]", call(1, "one"), call(2, "two"));
    let (got, ()) = tokio::join!(
        app.send(
            Req::post(batch)
                .session(&session)
                .header("accept", "application/json")
        ),
        async {
            app.director.begun().await;
            app.director.begun().await;
            app.director.open();
        }
    );
    assert_eq!(got.json().as_array().map(Vec::len), Some(2));
}

/// What is let in elsewhere is refused with its place where the server does not want it.
#[tokio::test]
async fn strict_servers() {
    let app = App::strict();
    let session = app.session("2025-11-25").await;
    for (body, pointer, rule) in [
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","extra":1}"#,
            "/extra",
            "unknown-members",
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":null}"#,
            "/params",
            "null-members",
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","extra":1}}"#,
            "/params/extra",
            "unknown-members",
        ),
        (
            r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}"#,
            "/id",
            "missing-error-id",
        ),
    ] {
        let got = app.send(Req::post(body).session(&session)).await;
        let answer = got.json();
        assert_eq!(answer["error"]["data"]["pointer"], pointer, "{answer}");
        assert_eq!(answer["error"]["data"]["rule"], rule, "{answer}");
        let is_error = rule == "missing-error-id";
        if is_error {
            let problem = "invalid request: an error needs the `id` of its request";
            assert_eq!(answer["error"]["message"], problem);
        }
        let lenient = App::new();
        let session = lenient.session("2025-11-25").await;
        let got = lenient.send(Req::post(body).session(&session)).await;
        match is_error {
            // What a stream passes over has no place in a body of its own.
            true => assert_eq!(got.json()["error"]["data"]["rule"], "pairing"),
            false => assert!(got.json().get("error").is_none(), "{}", got.json()),
        }
    }
}

// DEC-2: `initialize` opens a fresh session, whatever session the request names, and leaves that one as it is.
#[tokio::test]
async fn initialize_within_a_session_opens_another() {
    let app = App::new();
    let session = app.session("2025-06-18").await;
    let params = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#;
    for named in [
        &*session,
        "5e0b6a52-0000-4000-8000-000000000000",
        "nonsense",
        "",
    ] {
        let request = Req::legacy(&session, "1", "initialize", params)
            .without("mcp-session-id")
            .session(named);
        let got = app.send(request).await;
        assert_eq!(got.status, 200, "{named}: {}", got.body);
        let opened = got.header("mcp-session-id").expect("a session").to_owned();
        assert!(opened != session && opened != named, "{named}");
    }
    let got = app.send(Req::legacy(&session, "2", "ping", "{}")).await;
    assert_eq!(
        got.status, 200,
        "the session that was named goes on: {}",
        got.body
    );
}
