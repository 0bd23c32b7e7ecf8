//! The router inside of an application: nested, under layers, beside other routes.

use axum::{
    Router, body::Body, extract::Request, middleware::Next, response::Response, routing::get,
};
use http_body_util::BodyExt;
use tower::ServiceExt;
use trueform::{HttpConfig, prelude::*, tool::Extension};

use super::support::{App, Recorder, Req};
use crate::support::stage;

/// What a layer says of the tenant.
#[derive(Clone)]
struct Tenant(&'static str);

/// Says what the layers put in.
#[tool]
fn inside(
    tenant: Extension<Tenant>,
    headers: axum::http::HeaderMap,
    principal: Principal,
) -> String {
    let header = headers
        .get("x-test")
        .and_then(|value| value.to_str().ok())
        .unwrap_or("none");
    format!("{} {header} {}", tenant.0.0, principal.subject())
}

/// Says whether a layer put something in.
#[tool]
fn perhaps(tenant: Option<Extension<Tenant>>, principal: Option<Principal>) -> String {
    format!("{} {}", tenant.is_some(), principal.is_some())
}

async fn authenticate(mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(Tenant("acme"));
    if let Some(user) = request.headers().get("x-user") {
        let subject = user.to_str().expect("ASCII").to_owned();
        request.extensions_mut().insert(Principal::new(subject));
    }
    next.run(request).await
}

fn app() -> App {
    let service = Server::new("composed", "1")
        .tools(tools![inside, perhaps])
        .http(HttpConfig::default().path("/endpoint"))
        .build()
        .expect("the tools are fine");
    let handle = service.handle();
    let tools = service.into_router().expect("the settings are fine");
    let router = Router::new()
        .nest(
            "/tools",
            tools.clone().layer(axum::middleware::from_fn(authenticate)),
        )
        .nest("/plain", tools)
        .route("/health", get(|| async { "well" }))
        .fallback(|| async { (axum::http::StatusCode::NOT_FOUND, "the app's own") });
    App::over(router, stage().1, handle, &Recorder::new())
}

fn call(path: &str, tool: &str) -> Req {
    let mut request = Req::modern(
        "1",
        "tools/call",
        &format!(r#","name":"{tool}","arguments":{{}}"#),
    );
    request.path = path.to_owned();
    request.header("x-test", "seen").header("x-user", "ada")
}

#[tokio::test]
async fn under_layers() {
    let app = app();
    assert_eq!(
        app.send(call("/tools/endpoint", "inside")).await.text(),
        "acme seen ada"
    );
    assert_eq!(
        app.send(call("/tools/endpoint", "perhaps")).await.text(),
        "true true"
    );
    assert_eq!(
        app.send(call("/tools/endpoint", "perhaps").without("x-user"))
            .await
            .text(),
        "true false"
    );
    // Without the layer there is nothing of it, and what a tool cannot do without is an error of the call.
    assert_eq!(
        app.send(call("/plain/endpoint", "perhaps")).await.text(),
        "false false"
    );
    let got = app.send(call("/plain/endpoint", "inside")).await;
    assert_eq!(got.json()["result"]["isError"], true, "{got:?}");
    assert!(
        !got.body.contains("Tenant"),
        "types are for the log: {got:?}"
    );
}

// A session belongs to whom the layer says, in both directions.
#[tokio::test]
async fn sessions_under_layers() {
    let app = app();
    let at = |mut request: Req, user: &str| {
        request.path = "/tools/endpoint".to_owned();
        request.header("x-user", user).header("x-test", "seen")
    };
    let [initialize, initialized] = crate::support::initialize("2025-06-18");
    let opened = app.send(at(Req::post(initialize), "ada")).await;
    let session = opened
        .header("mcp-session-id")
        .expect("a session")
        .to_owned();
    app.send(at(Req::post(initialized).session(&session), "ada"))
        .await;
    let call = Req::call(&session, "1", "inside", "{}");
    assert_eq!(
        app.send(at(call.clone(), "ada")).await.text(),
        "acme seen ada"
    );
    assert_eq!(app.send(at(call, "eve")).await.status, 404);
}

#[tokio::test]
async fn the_rest_of_the_app_lives_on() {
    let app = app();
    for (path, status, text) in [
        ("/health", 200, "well"),
        ("/tools/other", 404, "the app's own"),
        ("/endpoint", 404, "the app's own"),
        ("/", 404, "the app's own"),
    ] {
        let request = Request::builder()
            .uri(path)
            .header("host", "localhost")
            .body(Body::empty());
        let response = app
            .router
            .clone()
            .oneshot(request.expect("a request"))
            .await
            .expect("it answers");
        assert_eq!(response.status().as_u16(), status, "{path}");
        let body = response
            .into_body()
            .collect()
            .await
            .expect("a body")
            .to_bytes();
        assert_eq!(body, text, "{path}");
    }
}
