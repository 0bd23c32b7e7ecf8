//! The program of the README's section on HTTP, at the address `ADDRESS`. `.ci/docs.py` compares the two, and runs the README's command
//! against this program.

use axum::{
    extract::Request,
    http::StatusCode,
    middleware,
    response::{IntoResponse, Response},
};
use trueform::{HttpConfig, prelude::*};

/// Greets the caller.
#[tool]
fn greet(caller: Principal) -> String {
    format!("Hello, {}!", caller.subject())
}

async fn auth(mut request: Request, next: middleware::Next) -> Response {
    let token = request.headers().get("authorization");
    // Put your check of the token here.
    if token.is_none_or(|token| token != "Bearer secret") {
        let challenge = [("WWW-Authenticate", "Bearer")];
        return (StatusCode::UNAUTHORIZED, challenge).into_response();
    }
    request.extensions_mut().insert(Principal::new("ada"));
    next.run(request).await
}

#[tokio::main]
async fn main() -> trueform::Result {
    let config = HttpConfig::default().allowed_hosts(["tools.example.com"]);
    let server = Server::new("hello", "1.0.0").tools(tools![greet]);
    let address = std::env::var("ADDRESS").expect("the address to listen on");
    let listener = tokio::net::TcpListener::bind(address).await?;
    server
        .http(config)
        .build()?
        .serve_http_with(listener, |endpoint| {
            endpoint.layer(middleware::from_fn(auth))
        })
        .await
}
