//! Serves at 127.0.0.1:8000, or at `ADDRESS`, until SIGTERM or Ctrl-C, and logs to standard error. Takes the callers from the
//! environment: `TOKENS=secret=ada,other=bob cargo run -p behind-axum`

use behind_axum::{Tokens, app, service};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> trueform::Result {
    // Colours are for people: a file and a client get text without them.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
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
    let address = std::env::var("ADDRESS");
    let address = address.unwrap_or_else(|_| "127.0.0.1:8000".to_owned());
    let listener = TcpListener::bind(address).await?;
    service()?
        .serve_http_with(listener, |endpoint| app(endpoint, tokens))
        .await
}
