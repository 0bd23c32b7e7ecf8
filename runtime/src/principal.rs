//! The sender of a request, as identified by the server's own authentication.

use std::{any::Any, fmt, sync::Arc};

/// The authenticated caller of a request.
///
/// Trueform does not authenticate callers. A tower layer in front of the endpoint does, and puts a `Principal` into the request's
/// extensions. Tools then take it as a parameter, and a session accepts only the principal that opened it.
///
#[cfg_attr(
    feature = "http",
    doc = r#"
```
use axum::{extract::Request, http::StatusCode, middleware::{self, Next}, response::Response};
use trueform::prelude::*;

/// Greets the caller.
#[tool]
fn greet(caller: Principal) -> String {
    format!("Hello, {}!", caller.subject())
}

async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let token = request.headers().get("authorization");
    if token.is_none_or(|token| token != "Bearer secret") {
        return Err(StatusCode::UNAUTHORIZED);
    }
    request.extensions_mut().insert(Principal::new("ada"));
    Ok(next.run(request).await)
}

# fn main() -> trueform::Result {
let endpoint = Server::new("hello", "1.0.0").tools(tools![greet]).into_router()?;
let app = endpoint.layer(middleware::from_fn(authenticate));
# drop(app);
# Ok(())
# }
```
"#
)]
/// It can also hold other data about the caller:
///
/// ```
/// use trueform::Principal;
///
/// let alice = Principal::new("alice").with_details(vec!["read", "write"]);
/// assert_eq!(alice.subject(), "alice");
/// assert_eq!(alice.details::<Vec<&str>>().unwrap().len(), 2);
/// ```
#[derive(Clone)]
pub struct Principal {
    subject: Arc<str>,
    details: Option<Arc<dyn Any + Send + Sync>>,
}

impl Principal {
    /// Creates the caller with the name `subject`, which must be unique among callers.
    #[must_use]
    pub fn new(subject: impl Into<Arc<str>>) -> Self {
        Self {
            subject: subject.into(),
            details: None,
        }
    }

    /// Attaches other data about the caller, such as token claims. A second call replaces the first.
    ///
    /// ```
    /// use trueform::Principal;
    ///
    /// struct Claims {
    ///     tenant: &'static str,
    /// }
    ///
    /// let ada = Principal::new("ada").with_details(Claims { tenant: "north" });
    /// assert_eq!(ada.details::<Claims>().unwrap().tenant, "north");
    /// ```
    #[must_use]
    pub fn with_details<T: Send + Sync + 'static>(mut self, details: T) -> Self {
        self.details = Some(Arc::new(details));
        self
    }

    /// Returns the unique name.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Returns the data that [`Principal::with_details`] attached, if it is a `T`.
    #[must_use]
    pub fn details<T: 'static>(&self) -> Option<&T> {
        self.details.as_deref()?.downcast_ref()
    }
}

/// Omits the details, which may be secret.
impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Principal")
            .field("subject", &self.subject)
            .finish_non_exhaustive()
    }
}

/// Two principals are the same caller when their subjects are equal.
impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.subject == other.subject
    }
}

impl Eq for Principal {}
