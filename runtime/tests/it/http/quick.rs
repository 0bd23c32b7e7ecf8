//! Requests that are read in one pass: whatever their headers say and whoever sends them, they are answered as when they are read with
//! care.

use trueform::{Leniencies, Leniency, prelude::*, testing::fuzz};

use super::support::{App, Got, Req, whoami};
use crate::support::{self as common, modern};

/// Says which region it was called for.
#[tool]
fn locate(#[schemars(extend("x-mcp-header" = "Region"))] region: String) -> String {
    region
}

/// Greets.
#[prompt]
fn greet(name: String) -> String {
    format!("Hello {name}")
}

/// One note.
#[resource("notes:one")]
fn one() -> &'static str {
    "a note"
}

fn app() -> App {
    App::serving(
        Server::new("test", "1.0.0")
            .tools(tools![common::add, locate, whoami])
            .prompts(prompts![greet])
            .resources(resources![one]),
    )
}

/// The same request with an escape in the name of a member, which is left to the careful reader.
fn careful(request: &Req) -> Req {
    let text = std::str::from_utf8(&request.body).unwrap();
    let mut careful = request.clone();
    careful.body = text
        .replacen(r#""jsonrpc""#, r#""\u006asonrpc""#, 1)
        .into_bytes();
    assert!(fuzz::quick(&request.body), "{text}");
    assert!(!fuzz::quick(&careful.body), "{text}");
    careful
}

/// The answer to `request`, which is the same in both spellings, before and after what the client says of itself is remembered.
async fn same(app: &App, request: &Req) -> Got {
    let expected = app.send(careful(request)).await;
    for _ in 0..2 {
        let got = app.send(request.clone()).await;
        assert_eq!(
            (got.status, &got.headers, &got.body),
            (expected.status, &expected.headers, &expected.body),
            "{request:?}"
        );
    }
    expected
}

fn request(method: &str, name: &str, params: &str) -> Req {
    Req::modern("1", method, params).header("mcp-name", name)
}

fn add() -> Req {
    let arguments = r#","name":"add","arguments":{"a":2,"b":3}"#;
    request("tools/call", "add", arguments)
}

fn locate_call() -> Req {
    let arguments = r#","name":"locate","arguments":{"region":"eu"}"#;
    request("tools/call", "locate", arguments)
}

// C-11, F-24, F-25, F-26, F-27
#[tokio::test]
async fn headers_that_contradict_the_body() {
    let app = app();
    let get = r#","name":"greet","arguments":{"name":"Ada"}"#;
    for (good, name) in [
        (add(), "add"),
        (request("prompts/get", "greet", get), "greet"),
        (
            request("resources/read", "notes:one", r#","uri":"notes:one""#),
            "notes:one",
        ),
    ] {
        let got = same(&app, &good).await;
        assert_eq!((got.status, got.code()), (200, 0), "{good:?}: {got:?}");
        for (request, code) in [
            (good.clone().without("mcp-protocol-version"), -32020),
            (
                good.clone().header("mcp-protocol-version", "2025-11-25"),
                -32020,
            ),
            (
                good.clone().header("mcp-protocol-version", "v999.0.0"),
                -32020,
            ),
            (
                good.clone().also("mcp-protocol-version", "2026-07-28"),
                -32020,
            ),
            (good.clone().header("mcp-protocol-version", "é"), -32020),
            (good.clone().without("mcp-method"), -32020),
            (good.clone().header("mcp-method", "tools/list"), -32020),
            (good.clone().header("mcp-method", "TOOLS/CALL"), -32020),
            (good.clone().also("mcp-method", "tools/call"), -32020),
            (good.clone().without("mcp-name"), -32020),
            (good.clone().header("mcp-name", "other"), -32020),
            (good.clone().also("mcp-name", name), -32020),
            (good.clone().header("mcp-name", "=?base64?YWR?="), -32020),
            (
                good.clone().header("mcp-name", "=?base64?b3RoZXI=?="),
                -32020,
            ),
            (good.clone().header("mcp-name", &format!(" {name}\t")), 0),
            (good.clone().header("mcp-session-id", "1"), 0),
            (good.clone().header("mcp-param-region", "us"), 0),
        ] {
            let got = same(&app, &request).await;
            let status = if code == 0 { 200 } else { 400 };
            assert_eq!((got.status, got.code()), (status, code), "{request:?}");
        }
    }
    let encoded = add().header("mcp-name", "=?base64?YWRk?=");
    assert_eq!(same(&app, &encoded).await.text(), "5");
    let unserved =
        modern("1", "tools/call", r#","name":"add""#).replace("2026-07-28", "2025-11-25");
    let unserved = Req {
        body: unserved.into_bytes(),
        ..add().header("mcp-protocol-version", "2025-11-25")
    };
    let got = app.send(unserved).await;
    assert_eq!((got.status, got.code()), (400, -32022), "{got:?}");
}

// F-28, F-29
#[tokio::test]
async fn headers_that_repeat_arguments() {
    let app = app();
    let given = |value: &str| locate_call().header("mcp-param-region", value);
    for (request, expected) in [
        (given("eu"), Some("eu")),
        (given("=?base64?ZXU=?="), Some("eu")),
        (given("eu").header("mcp-param-other", "us"), Some("eu")),
        (locate_call(), None),
        (given("us"), None),
        (given("EU"), None),
        (given("é"), None),
        (given("=?base64?ZXU?="), None),
        (given("eu").also("mcp-param-region", "eu"), None),
    ] {
        let got = same(&app, &request).await;
        match expected {
            Some(text) => assert_eq!(got.text(), text, "{request:?}"),
            None => assert_eq!((got.status, got.code()), (400, -32020), "{request:?}"),
        }
    }
}

// Y-1, Y-4: what is remembered of a `_meta` is not who sent it.
#[tokio::test]
async fn principals_with_the_same_bytes() {
    let app = app();
    let call = request("tools/call", "whoami", r#","name":"whoami","arguments":{}"#);
    for subject in [Some("a"), Some("b"), None, Some("a")] {
        let got = same(&app, &call.clone().principal(subject)).await;
        assert_eq!(got.text(), subject.unwrap_or("nobody"));
    }
    let session = app.session_as("2025-11-25", Some("a")).await;
    let call = Req::call(&session, "1", "whoami", "{}");
    for (subject, expected) in [
        (Some("b"), None),
        (Some("a"), Some("a")),
        (None, None),
        (Some("a"), Some("a")),
    ] {
        let got = same(&app, &call.clone().principal(subject)).await;
        match expected {
            Some(text) => assert_eq!(got.text(), text),
            None => assert_eq!(got.status, 404, "{got:?}"),
        }
    }
}

// A-3, A-4, DEC-1: requests with one id at the same time.
#[tokio::test]
async fn ids_that_are_in_flight() {
    let served = App::new();
    let refusing = Leniencies::ALL.without(Leniency::RepeatedIds);
    let refused = App::lenient(refusing);
    for (app, is_served) in [(&served, true), (&refused, false)] {
        let session = app.session("2025-11-25").await;
        let wait = |label: &str| {
            let arguments = format!(r#"{{"label":"{label}"}}"#);
            Req::call(&session, "1", "wait", &arguments).header("accept", "application/json")
        };
        assert!(fuzz::quick(&wait("one").body));
        let (first, second) = tokio::join!(app.send(wait("one")), async {
            app.director.begun().await;
            let second = app.send(wait("two"));
            let (second, ()) = tokio::join!(second, async {
                if is_served {
                    app.director.begun().await;
                    app.director.open();
                }
            });
            app.director.open();
            second
        });
        assert_eq!(
            (first.json()["id"].clone(), first.text()),
            (1.into(), "one".into())
        );
        assert_eq!(second.json()["id"], 1);
        match is_served {
            true => assert_eq!(second.text(), "two"),
            false => assert_eq!((second.status, second.code()), (400, -32600), "{second:?}"),
        }
    }
    // Without a session nothing is shared: both are served, whatever is let in.
    for app in [served, refused] {
        let wait = request(
            "tools/call",
            "wait",
            r#","name":"wait","arguments":{"label":"x"}"#,
        );
        app.director.close();
        let (first, second, ()) = tokio::join!(app.send(wait.clone()), app.send(wait), async {
            app.director.begun().await;
            app.director.begun().await;
            app.director.open();
        });
        assert_eq!((first.text(), second.text()), ("x".into(), "x".into()));
    }
}
