//! Credentials of requests, by a hook that is asked for each.

use http::{HeaderMap, HeaderValue, StatusCode};

use super::{challenge::Challenge, exchange::Boxed};

/// Returns the credentials of each request, and is called when the server refuses them. OAuth can be built on this.
///
/// ```
/// use std::{future::ready, pin::Pin, sync::Mutex};
/// use trueform::client::{AuthorizationRefused, Authorize, AuthorizedRequest};
///
/// /// Tokens that are used up one after the other.
/// struct Tokens(Mutex<Vec<String>>);
///
/// impl Authorize for Tokens {
///     fn authorization(&self, _: AuthorizedRequest<'_>) -> Pin<Box<dyn Future<Output = Result<Option<String>, String>> + Send + '_>> {
///         let token = self.0.lock().unwrap().last().map(|token| format!("Bearer {token}"));
///         Box::pin(ready(Ok(token)))
///     }
///
///     fn refused(&self, refused: AuthorizationRefused) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
///         // Another token will not help against 403.
///         let again = refused.status == 401 && self.0.lock().unwrap().pop().is_some();
///         Box::pin(ready(again))
///     }
/// }
/// ```
pub trait Authorize: Send + Sync {
    /// The value of the header `Authorization` for `request`, such as `Bearer …`; `None` for none. Asked once for each request.
    ///
    /// # Errors
    /// A sentence, which becomes the error of the request: [`HttpErrorKind::Authorize`](super::HttpErrorKind::Authorize).
    fn authorization(
        &self,
        request: AuthorizedRequest<'_>,
    ) -> Boxed<'_, Result<Option<String>, String>>;

    /// Reports a response of 401 or 403. Returns whether to send the request again, with an authorization that is asked for anew; at
    /// most [`MAX_AUTHORIZATIONS`] times.
    fn refused(&self, refused: AuthorizationRefused) -> Boxed<'_, bool> {
        let _ = refused;
        Box::pin(std::future::ready(false))
    }
}

/// Most times that one request is sent because its authorization was refused: 3.
pub const MAX_AUTHORIZATIONS: u32 = 3;

/// A request that needs an authorization.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AuthorizedRequest<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// The address of the endpoint.
    pub url: &'a str,
}

/// A response that refuses an authorization.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuthorizationRefused {
    /// 401 or 403.
    pub status: u16,
    /// The challenges of the server (`WWW-Authenticate`).
    pub challenges: Vec<Challenge>,
    /// Whether the request had an authorization.
    pub had_authorization: bool,
}

impl AuthorizationRefused {
    /// `None` for another status.
    pub(super) fn of(
        status: StatusCode,
        headers: &HeaderMap,
        had_authorization: bool,
    ) -> Option<Self> {
        let is_one = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        is_one.then(|| Self {
            status: status.as_u16(),
            challenges: super::challenge::challenges(headers),
            had_authorization,
        })
    }
}

/// `text` as a value that logs do not show.
pub(super) fn secret(text: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| "the authorization has characters that no header may have".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}
