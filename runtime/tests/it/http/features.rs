//! Bad requests to prompts, resources and completion over HTTP: code, status and pointer in both eras, and other calls go on.

use serde_json::{Value, json};
use trueform::{
    completion::CompletionQuery,
    layer::ResponseLimit,
    prelude::*,
    resource::Folder,
    schema::{BlobResourceContents, PromptMessage, Role, TextContent},
};

use super::support::{App, Req};
use crate::{
    folders::Made,
    parity::post,
    support::{initialize, legacy, modern},
};

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

/// Asks for what cannot be suggested.
#[prompt]
fn unsuggested(
    #[arg(complete = falls)] falls: String,
    #[arg(complete = fails)] fails: String,
) -> String {
    falls + &fails
}

fn falls(_: CompletionQuery) -> Vec<String> {
    panic!("on purpose")
}

fn fails(_: CompletionQuery) -> Result<Vec<String>, ToolError> {
    Err(ToolError::new("the words are gone"))
}

/// A file below a folder.
#[resource("files://{+path}", file_like)]
fn file(path: String) -> String {
    path
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

/// Never ends.
#[prompt(timeout = "1ms")]
async fn slow() -> String {
    std::future::pending().await
}

/// Has a role that there is not.
#[prompt]
fn illegal() -> PromptMessage {
    PromptMessage::new(TextContent::new("x"), Role::from("robot"))
}

/// Never ends.
#[resource("slow://here", timeout = "1ms")]
async fn slow_resource() -> String {
    std::future::pending().await
}

/// Has bytes that are not base64.
#[resource("illegal://here")]
fn illegal_resource() -> BlobResourceContents {
    BlobResourceContents::new("no base64!", "")
}

fn app() -> App {
    App::serving(
        Server::new("t", "1")
            .tools(tools![count])
            .prompts(prompts![review, breaks, slow, illegal, unsuggested])
            .resources(resources![
                note,
                file,
                broken,
                slow_resource,
                illegal_resource
            ]),
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
        ("prompts/get", r#""name":"slow""#, "slow", -32603, ""),
        ("prompts/get", r#""name":"illegal""#, "illegal", -32603, ""),
        (
            "resources/read",
            r#""uri":"slow://here""#,
            "slow://here",
            -32603,
            "",
        ),
        (
            "resources/read",
            r#""uri":"illegal://here""#,
            "illegal://here",
            -32603,
            "",
        ),
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
        // A slash that is encoded belongs to the value, which is not a number then.
        (
            "resources/read",
            r#""uri":"notes://1%2F2""#,
            "notes://1%2F2",
            -32602,
            "/params/uri",
        ),
        (
            "resources/read",
            r#""uri":"notes://%FF""#,
            "notes://%FF",
            -32602,
            "/params/uri",
        ),
        (
            "resources/read",
            r#""uri":"files://../secret""#,
            "files://../secret",
            -32602,
            "/params/uri",
        ),
        (
            "resources/read",
            r#""uri":"files://a/%2e%2e/secret""#,
            "files://a/%2e%2e/secret",
            -32602,
            "/params/uri",
        ),
        (
            "resources/read",
            r#""uri":"files://a%2F..%2Fsecret""#,
            "files://a%2F..%2Fsecret",
            -32602,
            "/params/uri",
        ),
        (
            "resources/read",
            r#""uri":"files://a%5Cb""#,
            "files://a%5Cb",
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
        (
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"unsuggested"},"argument":{"name":"falls","value":""}"#,
            "",
            -32603,
            "",
        ),
        (
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"unsuggested"},"argument":{"name":"fails","value":""}"#,
            "",
            -32603,
            "",
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

/// A read of `uri` in both eras.
fn reads(session: &str, uri: &str) -> [Req; 2] {
    let params = json!({ "uri": uri }).to_string();
    [
        Req::legacy(session, "1", "resources/read", &params),
        Req::modern("1", "resources/read", &format!(r#","uri":"{uri}""#)).header("mcp-name", uri),
    ]
}

// J-2, J-3: of a folder, what leads nowhere, is a link to itself, or has vanished.
#[tokio::test]
async fn what_a_folder_does_not_have() {
    let made = Made::new("folder-http");
    for name in ["gone.txt", "here.txt"] {
        made.write(&format!("docs/{name}"), "text");
    }
    #[cfg(unix)]
    for (target, link) in [("b", "a"), ("a", "b"), ("nowhere", "dangling")] {
        std::os::unix::fs::symlink(target, made.docs().join(link)).unwrap();
    }
    let app =
        App::serving(Server::new("t", "1").resources(Folder::new(made.docs()).base_uri("docs:/")));
    let session = app.session("2025-11-25").await;
    std::fs::remove_file(made.docs().join("gone.txt")).unwrap();
    for name in ["gone.txt", "a", "b/c", "dangling", "missing"] {
        let uri = format!("docs:/{name}");
        for (request, code) in reads(&session, &uri).into_iter().zip([-32002, -32602]) {
            let got = app.send(request).await;
            assert_eq!(got.status, 200, "{uri}: {}", got.body);
            let error = &got.json()["error"];
            assert_eq!(
                (&error["code"], &error["data"]["uri"]),
                (&json!(code), &json!(uri))
            );
            let [other, _] = reads(&session, "docs:/here.txt");
            assert_eq!(
                app.send(other).await.json()["result"]["contents"][0]["text"],
                "text"
            );
        }
    }
}

// J-5: a blob of 50 MB arrives whole; where a layer limits responses it is an error, and other calls go on. Not recorded: it would be
// checked byte by byte.
#[tokio::test]
async fn a_large_blob() {
    const BYTES: usize = 50_000_000;
    let server = || {
        let large = DynamicResource::new("x:large", "large").handler(async |_| vec![7_u8; BYTES]);
        Server::new("t", "1").tools(tools![count]).resources(large)
    };
    let whole = server().build().unwrap().into_http_service().unwrap();
    let limited = server().layer(ResponseLimit::new(1_000_000));
    let limited = limited.build().unwrap().into_http_service().unwrap();
    let headers = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter();
        let pairs = pairs.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        pairs.collect::<Vec<_>>()
    };
    for service in [&whole, &limited] {
        let [initialize, initialized] = initialize("2025-11-25");
        let (_, session, _) = post(service, &[], initialize.into_bytes()).await;
        let session = session.expect("a session");
        let old = headers(&[
            ("mcp-session-id", &session),
            ("mcp-protocol-version", "2025-11-25"),
        ]);
        post(service, &old, initialized.into_bytes()).await;
        let new = |method, name| {
            headers(&[
                ("mcp-protocol-version", "2026-07-28"),
                ("mcp-method", method),
                ("mcp-name", name),
            ])
        };
        for (headers, read) in [
            (
                old.clone(),
                legacy("1", "resources/read", r#"{"uri":"x:large"}"#),
            ),
            (
                new("resources/read", "x:large"),
                modern("1", "resources/read", r#","uri":"x:large""#),
            ),
        ] {
            let (status, _, answer) = post(service, &headers, read.into_bytes()).await;
            let answer = answer.expect("an answer");
            assert_eq!(status, 200);
            match answer["result"]["contents"][0]["blob"].as_str() {
                Some(blob) if std::ptr::eq(service, &whole) => {
                    assert_eq!(blob.len(), BYTES.div_ceil(3) * 4);
                    assert!(blob.starts_with("BwcH"));
                }
                _ => {
                    assert!(std::ptr::eq(service, &limited), "{}", answer["error"]);
                    assert_eq!(answer["error"]["code"], -32603);
                }
            }
            let call = modern("2", "tools/call", r#","name":"count""#);
            let (status, _, good) =
                post(service, &new("tools/call", "count"), call.into_bytes()).await;
            assert_eq!(
                (status, &good.unwrap()["result"]["isError"]),
                (200, &Value::Null)
            );
        }
    }
}
