//! The service for the requests of a connection: the endpoint alone, or an application that contains the endpoint.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::{Router, body::Body};
use http::Request;

use super::{
    endpoint::Endpoint,
    message_body::{RequestBody, Response, ResponseBody},
    policy::{InvalidSetting, bare_path},
    service::Progress,
    state::ResponseState,
    status,
    under_way::Arriving,
};
use crate::gate::Refusal;

/// The service for the requests of a connection.
#[derive(Clone)]
pub(crate) enum Site {
    /// The endpoint alone. No router is involved, which saves a boxed future and two boxed bodies for each request.
    Alone(Arc<Endpoint>),
    App(Router),
}

impl Site {
    /// Creates a site that serves only `endpoint`. Requests for any other path are answered with 404, which names the path of the endpoint.
    ///
    /// # Errors
    /// The path of the endpoint is not valid.
    pub(crate) fn alone(endpoint: &Arc<Endpoint>) -> Result<Self, InvalidSetting> {
        bare_path(&endpoint.config.path)?;
        Ok(Self::Alone(endpoint.clone()))
    }

    pub(super) fn serve(&self, request: Request<Arriving>) -> Serving {
        match self {
            Self::Alone(endpoint) => {
                let (parts, body) = request.into_parts();
                Serving::Alone(if is_at(&endpoint.config.path, parts.uri.path()) {
                    endpoint.start(parts, RequestBody::Direct(body))
                } else {
                    let elsewhere = Refusal::Path(endpoint.config.path.as_str().into());
                    Progress::Answering(ResponseState::Done(Some(status::refused(
                        &elsewhere, None,
                    ))))
                })
            }
            Self::App(router) => {
                let request = request.map(Body::new);
                Serving::App(tower::Service::call(&mut router.clone(), request))
            }
        }
    }
}

/// Returns whether `asked` is the path `path`, with or without a slash at the end.
fn is_at(path: &str, asked: &str) -> bool {
    let bare = |path| str::strip_suffix(path, '/').unwrap_or(path);
    path == asked || (bare(path) == bare(asked) && !asked.is_empty())
}

/// A response that is not ready yet.
pub(super) enum Serving {
    Alone(Progress),
    App(<Router as tower::Service<Request<Body>>>::Future),
}

impl Future for Serving {
    type Output = Response;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        match self.get_mut() {
            Self::Alone(progress) => progress.poll(cx),
            Self::App(response) => {
                let response: Result<_, Infallible> = ready!(Pin::new(response).poll(cx));
                let Ok(response) = response;
                Poll::Ready(response.map(ResponseBody::Streamed))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The same paths as those of `mount`.
    #[test]
    fn paths() {
        for (path, asked, expected) in [
            ("/mcp", "/mcp", true),
            ("/mcp", "/mcp/", true),
            ("/mcp", "/mcp//", false),
            ("/mcp", "/mcpx", false),
            ("/mcp", "/", false),
            ("/mcp", "", false),
            ("/mcp/", "/mcp", true),
            ("/mcp/", "/mcp/", true),
            ("/a/b", "/a/b/", true),
            ("/a/b", "/a", false),
            ("/", "/", true),
            ("/", "//", false),
            ("/", "", false),
            ("/mcp", "/MCP", false),
            ("/mcp", "/%6Dcp", false),
        ] {
            assert_eq!(is_at(path, asked), expected, "{path} {asked}");
        }
    }
}
