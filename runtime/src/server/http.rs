//! A server over HTTP: as a router, as a tower service, or on its own.

use std::net::SocketAddr;

use axum::Router;
use tokio::net::{TcpListener, ToSocketAddrs, lookup_host};

use super::{Server, Service};
use crate::{
    error::{Error, Result},
    transport::{
        asked_to_end,
        http::{Endpoint, HttpService, announce, mount, mount_alone, serve, with_environment},
    },
};

impl Server {
    /// A router that serves this server at the `path` of its [settings](crate::HttpConfig), to be merged into an application.
    ///
    /// # Errors
    /// The problems that [`Server::build`] finds; an illegal entry among the settings.
    pub fn into_router(self) -> Result<Router> {
        self.build()?.into_router()
    }
}

impl Service {
    /// A router that serves this server at the `path` of its [settings](crate::HttpConfig), to be merged into an application.
    ///
    /// Each router has its own sessions. Tools reach the request's [`http::request::Parts`], with whatever layers put into
    /// its extensions, by [`Context::extension`](crate::Context::extension); a [`Principal`](crate::Principal) among them is
    /// the caller.
    ///
    /// # Errors
    /// An illegal entry among the settings.
    pub fn into_router(self) -> Result<Router> {
        mount(self.into_http_service()?.endpoint()).map_err(Error::other)
    }

    /// A tower service that serves this server at whatever path it is called for.
    ///
    /// # Errors
    /// An illegal entry among the settings.
    pub fn into_http_service(self) -> Result<HttpService> {
        Endpoint::new(self.engine, self.http, None)
            .map(HttpService::new)
            .map_err(Error::other)
    }
}

impl Server {
    /// Serves HTTP at `address`, as [`Service::serve_http`].
    ///
    /// # Errors
    /// The problems that [`Server::build`] finds, and as [`Service::serve_http`].
    pub async fn serve_http(self, address: impl ToSocketAddrs) -> Result {
        self.build()?.serve_http(address).await
    }
}

impl Service {
    /// Serves HTTP at `address`, such as `127.0.0.1:8080`, until SIGTERM or Ctrl-C asks the process to end, or
    /// [`ServerHandle::shut_down`](crate::ServerHandle::shut_down) is called. Running calls are then waited for, at most for
    /// the `drain` setting; listen streams and idle connections end at once. A second signal or call ends the wait. Calls that did
    /// not end by then are dropped and answered with -32603.
    ///
    /// A client that has sent a whole request and closes only its sending side still gets its answer in the legacy era. In
    /// the modern era closing the connection cancels the call, and a closed sending side counts as closed, because a socket cannot
    /// distinguish the two.
    ///
    /// When it listens it writes the line `listening on http://ADDRESS/mcp` to standard error, with the actual port if
    /// port 0 was given. The environment variables `TRUEFORM_ALLOWED_HOSTS` and `TRUEFORM_ALLOWED_ORIGINS` add to the
    /// [settings](crate::HttpConfig) of the same name.
    ///
    /// Any other path than the endpoint's is answered 404, with a JSON body that names the endpoint.
    ///
    /// Bind a loopback address unless a layer in front of the server authenticates callers.
    ///
    /// Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The address cannot be resolved or listened on; an illegal entry among the settings.
    // F-3
    pub async fn serve_http(&self, address: impl ToSocketAddrs) -> Result {
        let resolving = |error| Error::io("the address to serve HTTP at", error);
        let addresses: Vec<SocketAddr> = lookup_host(address).await.map_err(resolving)?.collect();
        let listener = TcpListener::bind(&*addresses).await.map_err(|error| {
            let tried = addresses
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ");
            Error::io(format!("listening on {tried}"), error)
        })?;
        self.serve_http_on(listener).await
    }

    /// As [`Service::serve_http`], on a socket that listens already.
    ///
    /// # Errors
    /// As [`Service::serve_http`].
    pub async fn serve_http_on(&self, listener: TcpListener) -> Result {
        let address = listener
            .local_addr()
            .map_err(|error| Error::io("the socket to serve HTTP on", error))?;
        let config = with_environment(&self.http);
        let endpoint = Endpoint::new(self.engine.clone(), config.clone(), Some(address))
            .map_err(Error::other)?;
        let router = mount_alone(&endpoint).map_err(Error::other)?;
        // Before the address is printed, because a signal may follow at once.
        let asked = asked_to_end();
        announce(address, &config);
        serve(listener, router, &endpoint, asked).await;
        Ok(())
    }
}
