//! Streamable HTTP, the client's side: a connection to an address, or to an application in the same process.
//!
//! Both turn messages into requests, and responses into messages, in the same way. They differ in [`exchange`].

mod anew;
mod answer;
mod authorize;
mod backoff;
mod bridge;
mod challenge;
#[cfg(feature = "client-http")]
mod endpoint;
mod error;
pub(crate) mod events;
pub(crate) mod exchange;
mod hidden;
mod joined;
mod listener;
mod members;
mod outgoing;
mod readdressed;
mod request;
mod retry_after;
#[cfg(feature = "client-http")]
mod sender;
mod sent;
mod session;
mod stream;
mod taker;

use std::sync::Arc;

use self::exchange::HttpSender;
use super::{
    Client, ClientError, ClientOptions, EndedWithOwner, Inner, link::Link, sink::ClientSink,
};

pub(super) use self::bridge::Bridge;
pub(crate) use self::bridge::HttpSettings;
#[cfg(all(feature = "http", feature = "testing"))]
pub(crate) use self::bridge::{CLOSE_WITHIN, HEAD_WITHIN};
pub use self::error::HttpError;
#[cfg(feature = "client-http")]
pub use self::{
    authorize::{AuthorizationRefused, Authorize, AuthorizedRequest, MAX_AUTHORIZATIONS},
    challenge::Challenge,
    endpoint::HttpEndpoint,
    error::HttpErrorKind,
    joined::HttpSession,
};

impl Client {
    /// Connects over HTTP, whatever sends the requests.
    pub(crate) async fn over_http(
        sender: impl HttpSender,
        mut settings: HttpSettings,
        options: ClientOptions,
    ) -> Result<Self, ClientError> {
        options.check()?;
        let (out, outbox) = ClientSink::queue();
        let link = Link::over(out, &options, Arc::default());
        link.resumptions.allow();
        let joined = settings.joined.take();
        let bridge = Bridge::new(
            Arc::new(sender),
            settings,
            link.clone(),
            options.max_message,
        );
        if let Some(joined) = &joined {
            bridge.requests.join(&joined.id, joined.revision);
        }
        let running = tokio::spawn(bridge.clone().run(outbox));
        // A client that is dropped does not wait for the end, and does not prevent it.
        let reading = tokio::spawn(async move {
            // What there was to be said of its end has been logged.
            let _ = running.await;
        });
        let mut inner = match joined {
            Some(joined) => {
                let server = joined.settle(&link);
                let reading = EndedWithOwner::new(link.clone(), reading);
                Inner::with(link, reading, options, server)
            }
            None => Inner::settled(link, reading, options).await?,
        };
        inner.http = Some(bridge);
        Ok(Self {
            inner: Arc::new(inner),
        })
    }
}
