//! Bad requests to prompts, resources and completion over HTTP: code, status and pointer in both eras, and other calls go on.

use serde_json::Value;
use trueform::prelude::*;

use super::support::{App, Req};

/// Counts.
#[tool]
fn count() -> u8 {
    1
}

/// Asks for a review.
#[prompt]
fn review(#[arg(complete = ["a"])] level: u8, remark: Option<String>) -> String {
    format!("{level} {remark:?}")
}

/// Panics.
#[prompt]
fn breaks() -> String {
    panic!("on purpose")
}

/// A note.
#[resource("notes://{id}")]
fn note(id: u8) -> Option<String> {
    (id != 0).then(|| id.to_string())
}

/// Panics.
#[resource("broken://here")]
fn broken() -> String {
    panic!("on purpose")
}

fn app() -> App {
    App::serving(
        Server::new("t", "1")
            .tools(tools![count])
            .prompts(prompts![review, breaks])
            .resources(resources![note, broken]),
    )
}

// J-2, J-3, K-2, L-3, P-3, GAP-2, GAP-6: an error of the method is an answer, with status 200.
#[tokio::test]
async fn bad_requests() {
    let app = app();
    let session = app.session("2025-11-25").await;
    let prompt = |argument: &str| {
        format!(r#""ref":{{"type":"ref/prompt","name":"review"}},"argument":{argument}"#)
    };
    for (method, params, name, code, pointer) in [
        (
            "prompts/get",
            r#""name":"nope""#,
            "nope",
            -32602,
            "/params/name",
        ),
        (
            "prompts/get",
            r#""name":"review""#,
            "review",
            -32602,
            "/params/arguments/level",
        ),
        (
            "prompts/get",
            r#""name":"review","arguments":{"level":"1","lvl":"1"}"#,
            "review",
            -32602,
            "/params/arguments/lvl",
        ),
        (
            "prompts/get",
            r#""name":"review","arguments":{"level":"high"}"#,
            "review",
            -32602,
            "/params/arguments/level",
        ),
        (
            "prompts/get",
            r#""name":"review","arguments":{"level":1}"#,
            "review",
            -32602,
            "/params/arguments/level",
        ),
        (
            "prompts/get",
            r#""name":"review","arguments":[]"#,
            "review",
            -32602,
            "/params/arguments",
        ),
        ("prompts/get", r#""name":"breaks""#, "breaks", -32603, ""),
        (
            "resources/read",
            r#""uri":"notes://0""#,
            "notes://0",
            0,
            "/params/uri",
        ),
        (
            "resources/read",
            r#""uri":"notes://1/2""#,
            "notes://1/2",
            0,
            "/params/uri",
        ),
        (
            "resources/read",
            r#""uri":"other://1""#,
            "other://1",
            0,
            "/params/uri",
        ),
        (
            "resources/read",
            r#""uri":"notes""#,
            "notes",
            -32602,
            "/params/uri",
        ),
        (
            "resources/read",
            r#""uri":"notes://%ZZ""#,
            "notes://%ZZ",
            -32602,
            "/params/uri",
        ),
        (
            "resources/read",
            r#""uri":"notes://x""#,
            "notes://x",
            -32602,
            "/params/uri",
        ),
        (
            "resources/read",
            r#""uri":"broken://here""#,
            "broken://here",
            -32603,
            "",
        ),
        (
            "prompts/list",
            r#""cursor":"nope""#,
            "",
            -32602,
            "/params/cursor",
        ),
        // `count`, a cursor of the list of tools.
        (
            "prompts/list",
            r#""cursor":"Y291bnQ""#,
            "",
            -32602,
            "/params/cursor",
        ),
        (
            "resources/list",
            r#""cursor":"Y291bnQ""#,
            "",
            -32602,
            "/params/cursor",
        ),
        (
            "resources/templates/list",
            r#""cursor":"Y291bnQ""#,
            "",
            -32602,
            "/params/cursor",
        ),
        (
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"nope"},"argument":{"name":"a","value":""}"#,
            "",
            -32602,
            "/params/ref/name",
        ),
        (
            "completion/complete",
            r#""ref":{"type":"ref/resource","uri":"nope://{x}"},"argument":{"name":"x","value":""}"#,
            "",
            -32602,
            "/params/ref/uri",
        ),
        (
            "completion/complete",
            &prompt(r#"{"name":"nope","value":""}"#),
            "",
            -32602,
            "/params/argument/name",
        ),
        (
            "completion/complete",
            &prompt(r#"{"name":"level","value":1}"#),
            "",
            -32602,
            "/params/argument/value",
        ),
    ] {
        let old = Req::legacy(&session, "1", method, &format!("{{{params}}}"));
        let new = Req::modern("1", method, &format!(",{params}"));
        let new = match name {
            "" => new,
            name => new.header("mcp-name", name),
        };
        for (request, not_found) in [(old, -32002), (new, -32602)] {
            let got = app.send(request).await;
            assert_eq!(got.status, 200, "{method} {params}: {}", got.body);
            let error = &got.json()["error"];
            let expected = if code == 0 { not_found } else { code };
            assert_eq!(error["code"], expected, "{method} {params}: {error}");
            let data = &error["data"];
            // What is not found is named, by revision.
            let at = match (code, &data["uri"]) {
                (0, Value::String(uri)) if uri == name => pointer,
                _ => data["pointer"].as_str().unwrap_or_default(),
            };
            assert_eq!(at, pointer, "{method} {params}: {error}");
            let good = app.send(Req::call(&session, "2", "count", "{}")).await;
            assert_eq!(good.status, 200, "{}", good.body);
        }
    }
}
