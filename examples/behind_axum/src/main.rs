//! Serves at 127.0.0.1:8000 until SIGTERM or Ctrl-C. Takes the callers from the environment:
//! `TOKENS=secret=ada,other=bob cargo run -p behind-axum`

use behind_axum::{Tokens, app, service};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> trueform::Result {
    let tokens = std::env::var("TOKENS").unwrap_or_default();
    let tokens: Vec<_> = tokens
        .split(',')
        .filter_map(|entry| entry.split_once('='))
        .collect();
    if tokens.is_empty() {
        return Err(trueform::Error::other(
            "set TOKENS to TOKEN=CALLER, several separated by commas",
        ));
    }
    let tokens = Tokens::new(tokens);
    let listener = TcpListener::bind("127.0.0.1:8000").await?;
    service()?
        .serve_http_with(listener, |endpoint| app(endpoint, tokens))
        .await
}
