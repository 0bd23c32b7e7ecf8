//! The program of the README's section on HTTP, at the address `ADDRESS`. `.ci/docs.py` compares the two, and runs the README's command
//! against this program.

use axum::{extract::Request, http::StatusCode, middleware, response::Response};
use trueform::{HttpConfig, prelude::*};

/// Greets the caller.
#[tool]
fn greet(caller: Principal) -> String {
    format!("Hello, {}!", caller.subject())
}

async fn auth(mut request: Request, next: middleware::Next) -> Result<Response, StatusCode> {
    let token = request.headers().get("authorization");
    if token.is_none_or(|token| token != "Bearer secret") {
        return Err(StatusCode::UNAUTHORIZED);
    }
    request.extensions_mut().insert(Principal::new("ada"));
    Ok(next.run(request).await)
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
