//! The application as its callers see it.

use axum::{
    Router,
    body::Body,
    http::{Request, Response, request::Builder},
};
use behind_axum::{SITE, Tokens, app, service};
use http_body_util::BodyExt;
use tower::ServiceExt;

fn application() -> Router {
    let endpoint = service().and_then(trueform::Service::into_router);
    app(
        endpoint.expect("the tool and the settings are fine"),
        Tokens::new([("secret", "ada")]),
    )
}

async fn send(request: Request<Body>) -> (Response<()>, String) {
    let response = application().oneshot(request).await.expect("it answers");
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    let body = String::from_utf8(body.to_vec()).expect("UTF-8");
    (Response::from_parts(parts, ()), body)
}

fn post() -> Builder {
    Request::post("/mcp")
        .header("host", "tools.example.com")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "greet")
}

fn call() -> Body {
    let meta = serde_json::json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "greet", "arguments": {}, "_meta": meta },
    });
    Body::from(call.to_string())
}

#[tokio::test]
async fn callers_are_authenticated() {
    for token in [
        None,
        Some("Bearer other"),
        Some("secret"),
        Some("Basic secret"),
    ] {
        let request = match token {
            Some(token) => post().header("authorization", token),
            None => post(),
        };
        let (response, body) = send(request.body(call()).expect("a request")).await;
        assert_eq!(response.status(), 401, "{token:?}: {body}");
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
    }
    let request = post().header("authorization", "Bearer secret");
    let (response, body) = send(request.body(call()).expect("a request")).await;
    assert_eq!(response.status(), 200, "{body}");
    assert!(body.contains("Hello, ada!"), "{body}");
}

#[tokio::test]
async fn hosts_and_sites() {
    let authorized = || post().header("authorization", "Bearer secret");
    let from_page = authorized().header("origin", SITE);
    let (response, body) = send(from_page.body(call()).expect("a request")).await;
    assert_eq!(response.status(), 200, "{body}");
    assert_eq!(response.headers()["access-control-allow-origin"], SITE);
    let elsewhere = authorized().header("origin", "https://evil.example.com");
    let (response, body) = send(elsewhere.body(call()).expect("a request")).await;
    assert_eq!(response.status(), 403, "{body}");
    let mut rebound = authorized().body(call()).expect("a request");
    let evil = "evil.example.com".parse().expect("a value");
    rebound.headers_mut().insert("host", evil);
    let (response, body) = send(rebound).await;
    assert_eq!(response.status(), 403, "{body}");
    assert!(body.contains("TRUEFORM_ALLOWED_HOSTS"), "{body}");
}

#[tokio::test]
async fn preflights_and_health_need_no_token() {
    let preflight = Request::options("/mcp")
        .header("host", "tools.example.com")
        .header("origin", SITE)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization,mcp-method");
    let (response, _) = send(preflight.body(Body::empty()).expect("a request")).await;
    assert_eq!(response.status(), 200);
    let allowed = &response.headers()["access-control-allow-headers"];
    assert!(
        allowed
            .to_str()
            .is_ok_and(|allowed| allowed.contains("mcp-method"))
    );
    let health = Request::get("/health").body(Body::empty());
    let (response, body) = send(health.expect("a request")).await;
    assert_eq!((response.status().as_u16(), &*body), (200, "ok"));
}

#[tokio::test]
async fn it_shuts_down() {
    let service = service().expect("the tool is fine");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let handle = service.handle();
    let serving = tokio::spawn(async move {
        let tokens = Tokens::new([("secret", "ada")]);
        service
            .serve_http_with(listener, |endpoint| app(endpoint, tokens))
            .await
    });
    handle.shut_down();
    serving.await.expect("no panic").expect("no error");
}
