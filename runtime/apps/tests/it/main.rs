//! The extension as clients see it.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::{future::IntoFuture, time::Duration};

use serde_json::{Value, json};
use trueform::{
    client::ClientOptions,
    prelude::*,
    resource::Caching,
    schema::{At, ClientCapabilities},
};
use trueform_apps::{Apps, Csp, IDENTIFIER, MIME_TYPE, Permission, View, declare, is_supported};

const PAGE: &str = "<!DOCTYPE html><title>Weather</title>";
const URI: &str = "ui://weather/dashboard";

/// Tells the weather.
#[tool]
fn weather(context: Context) -> &'static str {
    match is_supported(&context) {
        true => "see the map",
        false => "sunny",
    }
}

/// For the view.
#[tool]
fn refresh() -> &'static str {
    "sunny"
}

/// For the model.
#[tool]
fn forecast() -> &'static str {
    "rain"
}

/// Has no view.
#[tool]
fn time() -> &'static str {
    "noon"
}

fn view() -> View {
    View::new(URI, "dashboard").html(PAGE)
}

fn full() -> View {
    let csp = Csp::new()
        .connect("https://api.example.com")
        .connect("wss://live.example.com")
        .resources("https://*.example.com")
        .frames("https://video.example.com")
        .base_uris("https://base.example.com");
    view()
        .title("Dashboard")
        .description("The weather on a map.")
        .csp(csp)
        .permission(Permission::Camera)
        .permission(Permission::ClipboardWrite)
        .permission(Permission::Camera)
        .domain("weather.example.com")
        .prefers_border(false)
        .caching(Caching::public(Duration::from_secs(60)))
}

fn apps() -> Apps {
    Apps::new()
        .view(full())
        .tools(URI, tools![weather])
        .app_tools(URI, tools![refresh])
        .model_tools(URI, tools![forecast])
}

fn server() -> Server {
    Server::new("weather", "1").with(apps()).tools(tools![time])
}

async fn soon<F: IntoFuture>(future: F) -> F::Output {
    let limited = tokio::time::timeout(Duration::from_secs(60), future.into_future());
    limited.await.expect("took too long")
}

async fn connect(server: Server, revision: Revision, capabilities: ClientCapabilities) -> Client {
    let options = ClientOptions::at(revision).capabilities(capabilities);
    soon(server.connect_as(options))
        .await
        .expect("the server is built")
}

fn shown<T: trueform::schema::Conform>(value: &T, revision: Revision) -> Value {
    At::new(value, revision).to_json().to_value()
}

/// What the metadata of the full view is.
fn meta() -> Value {
    json!({ "ui": {
        "csp": {
            "connectDomains": ["https://api.example.com", "wss://live.example.com"],
            "resourceDomains": ["https://*.example.com"],
            "frameDomains": ["https://video.example.com"],
            "baseUriDomains": ["https://base.example.com"],
        },
        "permissions": { "camera": {}, "clipboardWrite": {} },
        "domain": "weather.example.com",
        "prefersBorder": false,
    } })
}

// Z-15, C-14: the metadata is there whether the client declares the extension or not (I-2), in both eras.
#[tokio::test]
async fn tools_and_views_have_their_metadata() {
    for declared in [true, false] {
        for revision in [
            Revision::V2025_06_18,
            Revision::V2025_11_25,
            Revision::V2026_07_28,
        ] {
            let capabilities = match declared {
                true => declare(ClientCapabilities::default()),
                false => ClientCapabilities::default(),
            };
            let client = connect(server(), revision, capabilities).await;
            let extensions = client.server_capabilities().extensions.as_ref();
            let settings = extensions.and_then(|extensions| extensions.get(IDENTIFIER));
            let expected = (Revision::V2025_11_25 <= revision).then(|| json!({}));
            assert_eq!(
                settings.map(|settings| settings.to_value()),
                expected,
                "{revision}"
            );

            let tools = soon(client.list_tools()).await.unwrap();
            let found: Vec<(&str, Value)> = tools
                .iter()
                .map(|tool| (&*tool.name, shown(tool, revision)["_meta"].clone()))
                .collect();
            let expected = [
                (
                    "weather",
                    json!({ "ui": { "resourceUri": URI, "visibility": ["model", "app"] } }),
                ),
                (
                    "refresh",
                    json!({ "ui": { "resourceUri": URI, "visibility": ["app"] } }),
                ),
                (
                    "forecast",
                    json!({ "ui": { "resourceUri": URI, "visibility": ["model"] } }),
                ),
                ("time", Value::Null),
            ];
            assert_eq!(found, expected, "{revision}");

            let resources = soon(client.list_resources()).await.unwrap();
            assert_eq!(
                shown(&resources[0], revision),
                json!({
                    "uri": URI, "name": "dashboard", "title": "Dashboard", "description": "The weather on a map.",
                    "mimeType": MIME_TYPE, "_meta": meta(),
                }),
                "{revision}"
            );
            // As it is written, where a member could stand twice.
            let written = resources[0].meta.as_ref().and_then(|meta| meta.get("ui"));
            let written = written.map_or("", |meta| meta.get());
            assert_eq!(written.matches("camera").count(), 1, "{written}");

            let read = soon(client.read_resource(URI)).await.unwrap();
            let read = shown(&read, revision);
            assert_eq!(
                read["contents"],
                json!([{ "uri": URI, "mimeType": MIME_TYPE, "text": PAGE, "_meta": meta() }]),
                "{revision}"
            );
            if revision == Revision::V2026_07_28 {
                assert_eq!(
                    (&read["ttlMs"], &read["cacheScope"]),
                    (&json!(60_000), &json!("public"))
                );
            }
        }
    }
}

// C-14: a tool falls back to text.
#[tokio::test]
async fn a_tool_knows_whether_its_client_shows_views() {
    let with = |settings: Value| -> ClientCapabilities {
        serde_json::from_value(json!({ "extensions": { IDENTIFIER: settings } })).unwrap()
    };
    for (capabilities, expected) in [
        (ClientCapabilities::default(), "sunny"),
        (declare(ClientCapabilities::default()), "see the map"),
        (
            with(json!({ "mimeTypes": ["text/plain", MIME_TYPE], "more": 1 })),
            "see the map",
        ),
        (with(json!({ "mimeTypes": ["text/html"] })), "sunny"),
        (with(json!({ "mimeTypes": MIME_TYPE })), "sunny"),
        (with(json!({})), "sunny"),
    ] {
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let client = connect(server(), revision, capabilities.clone()).await;
            let result = soon(client.call_tool("weather", ())).await.unwrap();
            assert_eq!(
                shown(&result, revision)["content"][0]["text"],
                expected,
                "{revision}"
            );
        }
    }
}

// A host of a revision that cannot declare extensions by its schema says it all the same: capabilities are open.
#[tokio::test]
async fn older_hosts_declare_it_too() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let options = ClientOptions::new().negotiation(trueform::client::Negotiation::Nothing);
        let client = soon(server().connect_as(options)).await.unwrap();
        let capabilities = json!({ "extensions": { IDENTIFIER: { "mimeTypes": [MIME_TYPE] } } });
        client
            .send_raw(format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{capabilities},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
            ))
            .unwrap();
        soon(client.next_message()).await.unwrap();
        client
            .send_raw(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .unwrap();
        client
            .send_raw(
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather"}}"#,
            )
            .unwrap();
        let answer = soon(client.next_message()).await.unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(
            answer["result"]["content"][0]["text"], "see the map",
            "{revision}: {answer}"
        );
    }
}

#[tokio::test]
async fn documents_are_generated() {
    let view = View::new(URI, "dashboard").generated(|context| async move {
        match context.principal() {
            Some(_) => Err(ToolError::new("not for you")),
            None => Ok(format!("{PAGE}{}", context.revision())),
        }
    });
    let service = Server::new("t", "1")
        .with(Apps::new().view(view))
        .build()
        .unwrap();
    let client = soon(service.connect()).await.unwrap();
    let read = soon(client.read_resource(URI)).await.unwrap();
    let read = shown(&read, Revision::V2026_07_28);
    let expected = json!([{ "uri": URI, "mimeType": MIME_TYPE, "text": format!("{PAGE}2026-07-28"), "_meta": { "ui": {} } }]);
    assert_eq!(read["contents"], expected);
    let options = ClientOptions::new().principal(trueform::Principal::new("ann"));
    let client = soon(service.connect_as(options)).await.unwrap();
    let error = soon(client.read_resource(URI)).await.unwrap_err();
    assert_eq!(error.remote().unwrap().message, "not for you");
}

#[test]
fn mistakes_are_start_errors() {
    let of = |view: View| Apps::new().view(view);
    for (apps, expected) in [
        (
            of(View::new("https://a/b", "x").html(PAGE)),
            "the view `https://a/b` (runtime/apps/tests/it/main.rs:",
        ),
        (
            of(View::new("https://a/b", "x").html(PAGE)),
            "its URI does not begin with `ui://` and a name",
        ),
        (
            of(View::new("ui://", "x").html(PAGE)),
            "its URI does not begin with `ui://` and a name",
        ),
        (
            of(View::new("ui://a b", "x").html(PAGE)),
            "is not a URI of RFC 3986",
        ),
        (
            of(View::new(URI, "x")),
            "it has no document: call `html` or `generated`",
        ),
        (
            of(view().html("<p>text")),
            "its document does not begin with `<!DOCTYPE html>`",
        ),
        (
            of(view().csp(Csp::new().connect("*"))),
            "`*` in `connect` of its policy is not an origin",
        ),
        (of(view()).view(view()), "two resources have the URI"),
        (
            of(view()).tools("ui://weather/dashbord", tools![weather, time]),
            "the view `ui://weather/dashbord` of `weather`, `time` does not exist; the server has `ui://weather/dashboard`",
        ),
        (
            Apps::new().app_tools(URI, tools![time]),
            "the view `ui://weather/dashboard` of `time` does not exist; the server has no views",
        ),
    ] {
        let error = Server::new("t", "1").with(apps).build().unwrap_err();
        let problems = error.problems();
        assert!(
            problems.iter().any(|problem| problem.contains(expected)),
            "{expected}: {problems:?}"
        );
    }
    let twice = Server::new("t", "1").with(Apps::new()).with(Apps::new());
    let error = twice.build().unwrap_err();
    assert!(
        error.problems()[0].contains("was registered twice"),
        "{error}"
    );
}
