//! The modern era over HTTP: each POST stands on its own, its headers repeat its body, and going away is cancelling.

use std::time::Duration;

use trueform::HttpConfig;

use super::support::{App, Req};
use crate::support::log;

fn add() -> Req {
    Req::modern(
        "1",
        "tools/call",
        r#","name":"add","arguments":{"a":2,"b":3}"#,
    )
}

// C-9, F-6, F-33
#[tokio::test]
async fn one_request_one_answer() {
    let app = App::new();
    let got = app
        .send(add().session("5e0b6a52-0000-4000-8000-000000000000"))
        .await;
    assert_eq!(
        (got.status, got.header("content-type"), got.text()),
        (200, Some("application/json"), "5".to_owned())
    );
    assert_eq!(got.header("mcp-session-id"), None, "no session in this era");
    assert_eq!(got.json()["result"]["resultType"], "complete");
    let discovered = app
        .send(Req::modern(r#""d""#, "server/discover", ""))
        .await
        .json();
    assert_eq!(discovered["id"], "d");
    assert!(
        discovered["result"]["supportedVersions"]
            .as_array()
            .is_some_and(|versions| versions.contains(&"2026-07-28".into()))
    );
    // A-4: ids are scoped to their exchange.
    let (one, two) = tokio::join!(app.send(add()), app.send(add()));
    assert_eq!((one.text(), two.text()), ("5".to_owned(), "5".to_owned()));
}

// A-8, D-3, F-5: nothing is answered, and the log says what was wrong.
#[tokio::test]
async fn notifications_are_taken_without_effect() {
    let told = log();
    let app = App::new();
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    for (method, params, says) in [
        ("notifications/cancelled", r#","requestId":1"#, "ignored"),
        (
            "notifications/cancelled",
            r#","requestId":{}"#,
            "/params/requestId",
        ),
        ("notifications/roots/list_changed", "", "unknown"),
    ] {
        let body =
            format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{{meta}{params}}}}}"#);
        let request = Req::post(body)
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        let got = app.send(request).await;
        assert_eq!(
            (got.status, got.body.as_str()),
            (202, ""),
            "{method}{params}"
        );
        let lines = told.take();
        assert!(
            lines
                .iter()
                .any(|line| line.contains(method) && line.contains(says)),
            "{says}: {lines:#?}"
        );
    }
}

// A-16, C-2, C-7, C-11, F-24, F-25, F-26, F-27, F-32, GAP-2
#[tokio::test]
async fn headers_and_statuses() {
    let app = App::new();
    let bare = |method: &str, params: &str| {
        Req::post(format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#
        ))
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
    };
    let version = |version: &str| {
        let params = format!(
            r#"{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{}}}}}}"#
        );
        bare("server/discover", &params)
    };
    for (request, status, code) in [
        (bare("server/discover", "{}"), 400, -32602),
        (bare("server/discover", r#"{"_meta":{}}"#), 400, -32602),
        (
            bare(
                "server/discover",
                r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#,
            ),
            400,
            -32602,
        ),
        (
            version("v999.0.0").header("mcp-protocol-version", "v999.0.0"),
            400,
            -32022,
        ),
        (version("v999.0.0"), 400, -32020),
        // The version is told before what else is missing of `_meta`.
        (
            bare(
                "server/discover",
                r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"v999.0.0"}}"#,
            )
            .header("mcp-protocol-version", "v999.0.0"),
            400,
            -32022,
        ),
        (
            version("2025-11-25").header("mcp-protocol-version", "2025-11-25"),
            400,
            -32022,
        ),
        (
            version("2026-07-28").without("mcp-protocol-version"),
            400,
            -32020,
        ),
        (
            version("2026-07-28").also("mcp-protocol-version", "2026-07-28"),
            400,
            -32020,
        ),
        (add().without("mcp-method"), 400, -32020),
        (add().header("mcp-method", "tools/list"), 400, -32020),
        (add().header("mcp-method", "TOOLS/CALL"), 400, -32020),
        (add().without("mcp-name"), 400, -32020),
        (add().header("mcp-name", "echo"), 400, -32020),
        (add().header("mcp-name", "=?base64?YWRk?="), 200, 0),
        (add().header("mcp-name", "=?base64?YWR?="), 400, -32020),
        (add().header("mcp-name", " add\t"), 200, 0),
        // F-29: no argument of the tool has that header, whatever it says and however often.
        (add().header("mcp-param-extra", "anything"), 200, 0),
        (
            add()
                .also("mcp-param-extra", "a")
                .also("mcp-param-extra", "\u{e9}"),
            200,
            0,
        ),
        // Names differ by case.
        (add().header("mcp-name", "Add"), 400, -32020),
        (add().header("mcp-name", "ADD"), 400, -32020),
        (add().also("mcp-name", "add"), 400, -32020),
        (Req::modern("1", "initialize", ""), 404, -32601),
        (Req::modern("1", "ping", ""), 404, -32601),
        (
            Req::modern("1", "logging/setLevel", r#","level":"info""#),
            404,
            -32601,
        ),
        (Req::modern("1", "unknown/method", ""), 404, -32601),
        (Req::modern("1", "resources/list", ""), 404, -32601),
        // GAP-6
        (
            Req::modern("1", "tools/call", r#","name":"unknown""#),
            200,
            -32602,
        ),
    ] {
        let what = format!("{request:?}");
        let got = app.send(request).await;
        assert_eq!(
            (got.status, got.code(), &got.json()["id"]),
            (status, code, &serde_json::json!(1)),
            "{what}"
        );
    }
    let unsupported = app
        .send(version("v999.0.0").header("mcp-protocol-version", "v999.0.0"))
        .await
        .json();
    assert_eq!(unsupported["error"]["data"]["requested"], "v999.0.0");
}

// D-3, F-4, F-5
#[tokio::test]
async fn what_is_no_request() {
    let app = App::new();
    let post = |body: &str| Req::post(body).header("mcp-protocol-version", "2026-07-28");
    let got = app
        .send(post(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        ))
        .await;
    assert_eq!((got.status, got.body.as_str()), (202, ""));
    let got = app
        .send(post(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#))
        .await;
    assert_eq!(got.status, 400);
    // F-33
    for request in [Req::get("x"), Req::delete("x")] {
        let got = app
            .send(request.header("mcp-protocol-version", "2026-07-28"))
            .await;
        assert_eq!((got.status, got.header("allow")), (405, Some("POST")));
    }
}

// F-30, F-31, G-1, N-1: decided late.
#[tokio::test]
async fn the_first_message_makes_a_stream() {
    let app = App::new();
    let talk = |accept: &str| {
        let body = Req::modern("1", "tools/call", r#","name":"talk","arguments":{}"#);
        let text = String::from_utf8(body.body.clone()).expect("UTF-8");
        let with_token = text.replace(r#""_meta":{"#, r#""_meta":{"progressToken":"t","#);
        Req {
            body: with_token.into_bytes(),
            ..body
        }
        .header("accept", accept)
    };
    let mut stream = app.open(talk("application/json, text/event-stream")).await;
    assert!(stream.is_stream());
    assert_eq!(stream.headers["x-accel-buffering"], "no");
    assert_eq!(stream.headers["cache-control"], "no-store");
    let first = stream.event().await.expect("progress");
    assert_eq!(
        (first.id.as_deref(), first.retry, first.method()),
        (None, None, "notifications/progress".to_owned())
    );
    app.director.begun().await;
    app.director.open();
    let rest = stream.events().await;
    assert_eq!(rest.len(), 2);
    assert_eq!(rest[1].json()["result"]["content"][0]["text"], "done");

    // A client that takes no events gets the same as one answer.
    let got = app.send(talk("application/json")).await;
    assert_eq!(
        (got.header("content-type"), got.text()),
        (Some("application/json"), "done".to_owned())
    );
}

// A slow call becomes a stream in time for impatient proxies.
#[tokio::test(start_paused = true)]
async fn a_delay_makes_a_stream() {
    let app = App::new();
    let mut stream = app
        .open(Req::modern(
            "1",
            "tools/call",
            r#","name":"wait","arguments":{"label":"x"}"#,
        ))
        .await;
    assert!(stream.is_stream());
    let (event, ()) = tokio::join!(stream.event(), async {
        app.director.begun().await;
        app.director.open();
    });
    assert_eq!(
        event.expect("the answer").json()["result"]["content"][0]["text"],
        "x"
    );
    assert_eq!(stream.event().await, None);
}

// F-14, TRAP-04: before the head of the response, and in the middle of a stream.
#[tokio::test]
async fn going_away_cancels() {
    let app = App::new();
    let wait = Req::modern(
        "1",
        "tools/call",
        r#","name":"wait","arguments":{"label":"x"}"#,
    );
    {
        let mut sending =
            std::pin::pin!(app.send(wait.clone().header("accept", "application/json")));
        tokio::select! {
            biased;
            got = &mut sending => panic!("{got:?}"),
            begun = app.director.begun() => assert_eq!(begun, "x"),
        }
    }
    assert_eq!(app.director.begun().await, "dropped x");

    let config = trueform::HttpConfig::default().sse_after(std::time::Duration::ZERO);
    let app = App::with(config);
    let stream = app.open(wait).await;
    assert!(stream.is_stream());
    assert_eq!(app.director.begun().await, "x");
    drop(stream);
    assert_eq!(app.director.begun().await, "dropped x");
}

// U-1, U-2, U-3, U-4, U-7, U-10
#[tokio::test]
async fn subscriptions() {
    let app = App::new();
    let listen = Req::modern(
        "12345678901234567890",
        "subscriptions/listen",
        r#","notifications":{"toolsListChanged":true}"#,
    );
    assert_eq!(
        app.send(listen.clone().header("accept", "application/json"))
            .await
            .status,
        406
    );
    let mut stream = app.open(listen).await;
    assert!(stream.is_stream());
    let acknowledged = stream.event().await.expect("an acknowledgement");
    assert_eq!(
        acknowledged.method(),
        "notifications/subscriptions/acknowledged"
    );
    app.handle.remove_tool("flood");
    let changed = stream.event().await.expect("a change");
    assert_eq!(changed.method(), "notifications/tools/list_changed");
    app.handle.shut_down();
    let events = stream.events().await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].json()["result"]["resultType"], "complete");
    for event in [&acknowledged, &changed, &events[0]] {
        assert!(
            event
                .data
                .contains(r#""io.modelcontextprotocol/subscriptionId":12345678901234567890"#),
            "{event:?}"
        );
    }
}

// F-31: silence is broken by comments, which are not events.
#[tokio::test(start_paused = true)]
async fn keep_alive() {
    use http_body_util::BodyExt;

    let app = App::new();
    let mut stream = app
        .open(Req::modern(
            "1",
            "tools/call",
            r#","name":"wait","arguments":{"label":"x"}"#,
        ))
        .await;
    let comment = crate::support::soon(stream.body.frame())
        .await
        .expect("open")
        .expect("good")
        .into_data()
        .expect("data");
    assert_eq!(comment, ":\n\n");
    app.director.open();
    assert_eq!(stream.events().await.len(), 1);
}

#[tokio::test]
async fn tools_reach_the_request() {
    let app = App::new();
    let call = |tool: &str| {
        Req::modern(
            "1",
            "tools/call",
            &format!(r#","name":"{tool}","arguments":{{}}"#),
        )
    };
    assert_eq!(
        app.send(call("header").header("x-test", "hello"))
            .await
            .text(),
        "hello at /mcp"
    );
    assert_eq!(app.send(call("whoami")).await.text(), "nobody");
    assert_eq!(
        app.send(call("whoami").principal(Some("ann"))).await.text(),
        "ann"
    );
}

// Y-6: the time of a call runs though its client does not read what it says.
#[tokio::test]
async fn a_stuck_reader_is_no_reprieve() {
    let app = App::with(
        HttpConfig::default()
            .sse_after(Duration::ZERO)
            .max_in_flight(1),
    );
    let call = Req::modern("1", "tools/call", r#","name":"stall","arguments":{}"#);
    let stuck = app.open(call).await;
    assert!(stuck.is_stream());
    assert_eq!(app.director.begun().await, "stall");
    assert_eq!(app.director.begun().await, "dropped stall");
    // Its place is free, though nobody has read the answer.
    let add = Req::modern(
        "2",
        "tools/call",
        r#","name":"add","arguments":{"a":2,"b":3}"#,
    );
    while app.send(add.clone()).await.status == 503 {
        tokio::task::yield_now().await;
    }
    let events = stuck.events().await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].json()["result"]["isError"], true);
}
