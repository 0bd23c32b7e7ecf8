//! Sends requests to an address, over connections that are kept.

use std::{error::Error as _, time::Duration};

use bytes::Bytes;
use http::{Request, header};
use reqwest::{Url, redirect};

use super::{
    HttpError,
    error::shown_address,
    exchange::{Boxed, Chunks, HttpAnswer, HttpSender, SendFailure},
    hidden::Hidden,
};
use crate::{
    client::{ClientError, LocalError},
    jsonrpc::sentence,
};

/// Longest wait for a connection: 10 s.
pub(super) const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// How often a connection is probed on which nothing moves, so that a stream whose server has vanished ends: each 30 s.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// Most redirects of one request that are followed: 5.
pub(super) const MAX_REDIRECTS: u32 = 5;

/// Connections to one origin.
#[derive(Clone)]
pub(super) struct Connections {
    client: reqwest::Client,
}

impl Connections {
    /// None yet.
    pub(super) fn new(uses_proxy: bool) -> Result<Self, String> {
        let builder = reqwest::Client::builder()
            .user_agent(concat!("trueform/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_WITHIN)
            .tcp_keepalive(KEEP_ALIVE)
            // Followed here, because a POST must stay one, and only within the origin.
            .redirect(redirect::Policy::none())
            // A small body must not become a large one, whatever other crates switch on.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            .referer(false)
            // A request that was sent twice may have been acted on twice.
            .retry(reqwest::retry::never());
        let builder = match uses_proxy {
            true => builder,
            false => builder.no_proxy(),
        };
        let client = builder.build().map_err(|error| chain(&error))?;
        Ok(Self { client })
    }

    async fn follow(self, request: Request<Bytes>) -> Result<HttpAnswer, SendFailure> {
        let broken = |error: &dyn std::fmt::Display| SendFailure::Broken(error.to_string());
        let (parts, body) = request.into_parts();
        let start: Url = parts
            .uri
            .to_string()
            .parse()
            .map_err(|error| broken(&error))?;
        let mut url = start.clone();
        let hidden = Hidden::of(&parts.headers);
        for _ in 0..=MAX_REDIRECTS {
            let mut request = reqwest::Request::new(parts.method.clone(), url.clone());
            *request.headers_mut() = parts.headers.clone();
            if !body.is_empty() {
                *request.body_mut() = Some(body.clone().into());
            }
            let response = self.client.execute(request).await.map_err(failure)?;
            let status = response.status();
            let location = response.headers().get(header::LOCATION);
            let Some(location) =
                location.filter(|_| matches!(status.as_u16(), 301 | 302 | 307 | 308))
            else {
                let headers = response.headers().clone();
                return Ok(HttpAnswer::new(status, headers, Body(response)));
            };
            let location = String::from_utf8_lossy(location.as_bytes()).into_owned();
            let shown = shown_address(&hidden.hide_text(&location));
            url = match url.join(&location) {
                Ok(next) if next.origin() == start.origin() => next,
                Ok(_) => {
                    return Err(SendFailure::Redirected(format!(
                        "the server redirects to `{shown}`, which is another origin"
                    )));
                }
                Err(_) => {
                    return Err(SendFailure::Redirected(format!(
                        "the server redirects to `{shown}`, which is not an address"
                    )));
                }
            };
        }
        Err(SendFailure::Redirected(format!(
            "the server redirected {MAX_REDIRECTS} times and once more"
        )))
    }
}

impl HttpSender for Connections {
    fn send(&self, request: Request<Bytes>) -> Boxed<'static, Result<HttpAnswer, SendFailure>> {
        Box::pin(self.clone().follow(request))
    }

    fn failure(&self, error: HttpError) -> ClientError {
        LocalError::Http(Box::new(error)).into()
    }
}

struct Body(reqwest::Response);

impl Chunks for Body {
    fn next(&mut self) -> Boxed<'_, Option<Result<Bytes, String>>> {
        Box::pin(async {
            let chunk = self.0.chunk().await.transpose()?;
            Some(chunk.map_err(|error| format!("the body broke off: {}", chain(&error))))
        })
    }
}

fn failure(error: reqwest::Error) -> SendFailure {
    let is_connect = error.is_connect();
    let problem = chain(&error.without_url());
    match is_connect {
        true => SendFailure::Connect(problem),
        false => SendFailure::Broken(problem),
    }
}

/// What an error says, and what its sources add.
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = inner.source();
    }
    sentence(&text).into_owned()
}
