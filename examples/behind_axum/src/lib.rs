//! An MCP endpoint within an axum application. A bearer token authenticates the caller, pages of one site may call, and `/health` needs
//! no token.

use std::{collections::HashMap, sync::Arc};

use axum::{
    Router,
    extract::{Request, State as Held},
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use sha2::{Digest, Sha256};
use tower_http::cors::CorsLayer;
use trueform::{HttpConfig, Service, prelude::*};

/// The site whose pages may call.
pub const SITE: &str = "https://app.example.com";

/// Greets the caller.
#[tool(read_only)]
fn greet(caller: Principal) -> String {
    format!("Hello, {}!", caller.subject())
}

/// The MCP server.
///
/// # Errors
/// What [`Server::build`] finds.
pub fn service() -> trueform::Result<Service> {
    Server::new("behind-axum", env!("CARGO_PKG_VERSION"))
        .tools(tools![greet])
        // The names under which clients reach the server, and the sites whose pages may call it.
        .http(
            HttpConfig::default()
                .allowed_hosts(["tools.example.com"])
                .allowed_origins([SITE]),
        )
        .build()
}

/// The caller of each token. Only digests are kept, so the time of a look-up does not depend on the characters of a token.
#[derive(Clone, Debug)]
pub struct Tokens(Arc<HashMap<[u8; 32], String>>);

impl Tokens {
    /// The callers by their tokens.
    pub fn new<'a>(tokens: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let tokens = tokens.into_iter();
        let digests =
            tokens.map(|(token, caller)| (Sha256::digest(token).into(), caller.to_owned()));
        Self(Arc::new(digests.collect()))
    }

    fn caller(&self, token: &str) -> Option<&str> {
        let digest: [u8; 32] = Sha256::digest(token).into();
        self.0.get(&digest).map(String::as_str)
    }
}

/// The application around the `endpoint`.
pub fn app(endpoint: Router, tokens: Tokens) -> Router {
    let cors = CorsLayer::new()
        .allow_origin(HeaderValue::from_static(SITE))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        // What clients of both eras send; a header for an argument (`Mcp-Param-…`) goes here by its name.
        .allow_headers([
            header::ACCEPT,
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            HeaderName::from_static("last-event-id"),
            HeaderName::from_static("mcp-method"),
            HeaderName::from_static("mcp-name"),
            HeaderName::from_static("mcp-protocol-version"),
            HeaderName::from_static("mcp-session-id"),
        ])
        .expose_headers([HeaderName::from_static("mcp-session-id")]);
    endpoint
        .layer(middleware::from_fn_with_state(tokens, authenticate))
        // Outside of the authentication: a preflight request carries no token.
        .layer(cors)
        // Added after the layers, so they do not apply to it.
        .route("/health", get(|| async { "ok" }))
}

/// Accepts requests with a known token, and inserts the caller into them.
async fn authenticate(Held(tokens): Held<Tokens>, mut request: Request, next: Next) -> Response {
    let value = request.headers().get(header::AUTHORIZATION);
    let token = value
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"))
        .map(|(_, token)| token);
    let Some(caller) = token.and_then(|token| tokens.caller(token)) else {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, challenge).into_response();
    };
    // A session answers only the principal that opened it.
    let principal = Principal::new(caller);
    request.extensions_mut().insert(principal);
    next.run(request).await
}
