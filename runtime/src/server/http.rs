//! A server over HTTP: as a router, as a tower service, or on its own.

use std::{net::SocketAddr, sync::Arc};

use axum::Router;
use tokio::net::{TcpListener, ToSocketAddrs, lookup_host};

use super::{Server, Service};
use crate::{
    error::{Error, Result},
    transport::{
        asked_to_end,
        http::{
            Endpoint, HttpService, InvalidSetting, Site, announce, mount, serve, with_environment,
        },
    },
};

impl Server {
    /// Returns a router that serves this server at the `path` of its [settings](crate::HttpConfig), to be merged into an application.
    ///
    /// # Errors
    /// The problems that [`Server::build`] finds; an invalid setting.
    pub fn into_router(self) -> Result<Router> {
        self.build()?.into_router()
    }
}

impl Service {
    /// Returns a router that serves this server at the `path` of its [settings](crate::HttpConfig), to be merged into an application.
    ///
    /// Each router has its own sessions. Tools get the request's [`http::request::Parts`], with the extensions that layers added, from
    /// [`Context::extension`](crate::Context::extension). A [`Principal`](crate::Principal) among the extensions is the caller.
    ///
    /// The environment variables `TRUEFORM_ALLOWED_HOSTS` and `TRUEFORM_ALLOWED_ORIGINS` add to the [settings](crate::HttpConfig) of the
    /// same name. The address that the application listens on is not known here, so only loopback names and `allowed_hosts` are accepted as
    /// `Host`. [`Service::serve_http_with`] knows the address, and drains.
    ///
    /// Streams that only listen do not end on their own. Call [`ServerHandle::shut_down`](crate::ServerHandle::shut_down) when the
    /// application begins to shut down, otherwise they delay it.
    ///
    /// # Errors
    /// An invalid setting.
    pub fn into_router(self) -> Result<Router> {
        mount(self.into_http_service()?.endpoint()).map_err(Error::other)
    }

    /// Returns a tower service that serves this server at every path; otherwise like [`Service::into_router`].
    ///
    /// # Errors
    /// An invalid setting.
    pub fn into_http_service(self) -> Result<HttpService> {
        Endpoint::new(self.engine, with_environment(&self.http), None)
            .map(HttpService::new)
            .map_err(Error::other)
    }
}

impl Server {
    /// Serves HTTP at `address`, like [`Service::serve_http`].
    ///
    /// # Errors
    /// The problems that [`Server::build`] finds, and the errors of [`Service::serve_http`].
    pub async fn serve_http(self, address: impl ToSocketAddrs) -> Result {
        self.build()?.serve_http(address).await
    }
}

impl Service {
    /// Serves HTTP at `address`, such as `127.0.0.1:8080`, until SIGTERM or Ctrl-C asks the process to end, or
    /// [`ServerHandle::shut_down`](crate::ServerHandle::shut_down) is called. The server then waits for running calls, at most for the
    /// `drain` setting; listen streams and idle connections end at once. A second signal or call ends the wait. Calls that have not ended
    /// by then are dropped, and their response is -32603.
    ///
    /// A client that has sent a whole request and closes only its sending side still gets its answer in the legacy era. In
    /// the modern era closing the connection cancels the call, and a closed sending side counts as closed, because a socket cannot
    /// distinguish the two.
    ///
    /// When it listens, it writes the line `listening on http://ADDRESS/mcp` to standard error, with the actual port if port 0 was given.
    /// The environment variables `TRUEFORM_ALLOWED_HOSTS` and `TRUEFORM_ALLOWED_ORIGINS` add to the [settings](crate::HttpConfig) of the
    /// same name.
    ///
    /// For a path other than the endpoint's, the response is 404, with a JSON body that names the endpoint. For a head that is not HTTP/1.1
    /// or is larger than `max_head`, the response is 400, 414 or 431 with an empty body: hyper does not allow another body.
    ///
    /// Bind a loopback address unless a layer in front of the server authenticates callers.
    ///
    /// Must be called within a tokio runtime.
    ///
    /// # Errors
    /// The address cannot be resolved or listened on; an invalid setting.
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

    /// Like [`Service::serve_http`], on a socket that already listens.
    ///
    /// # Errors
    /// As [`Service::serve_http`].
    pub async fn serve_http_on(&self, listener: TcpListener) -> Result {
        self.serve_app(listener, Site::alone).await
    }

    /// Like [`Service::serve_http_on`], with the application's own layers and routes. `app` gets a router that serves only the endpoint,
    /// and returns the router to serve. The application handles paths without a route, its routes accept any `Host`, and its layers run
    /// before the endpoint reads a request.
    ///
    /// ```no_run
    /// use axum::{extract::Request, http::StatusCode, middleware::{self, Next}, response::{IntoResponse, Response}, routing::get};
    /// use trueform::{Principal, prelude::*};
    ///
    /// /// Adds two integers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// /// Lets in callers with the right token, and says who they are.
    /// async fn authenticated(mut request: Request, next: Next) -> Result<Response, impl IntoResponse> {
    ///     let authorization = request.headers().get("authorization");
    ///     if authorization.is_none_or(|value| value != "Bearer secret") {
    ///         return Err((StatusCode::UNAUTHORIZED, [("www-authenticate", "Bearer")]));
    ///     }
    ///     request.extensions_mut().insert(Principal::new("ada"));
    ///     Ok(next.run(request).await)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> trueform::Result {
    /// let service = Server::new("calc", "1.0.0").tools(tools![add]).build()?;
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    /// service
    ///     .serve_http_with(listener, |endpoint| {
    ///         endpoint
    ///             .layer(middleware::from_fn(authenticated))
    ///             // Added after the layer, so that it needs no token.
    ///             .route("/health", get(|| async { "ok" }))
    ///     })
    ///     .await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Service::serve_http`].
    pub async fn serve_http_with(
        &self,
        listener: TcpListener,
        app: impl FnOnce(Router) -> Router,
    ) -> Result {
        self.serve_app(listener, |endpoint| mount(endpoint).map(app).map(Site::App))
            .await
    }

    async fn serve_app(
        &self,
        listener: TcpListener,
        app: impl FnOnce(&Arc<Endpoint>) -> std::result::Result<Site, InvalidSetting>,
    ) -> Result {
        let address = listener
            .local_addr()
            .map_err(|error| Error::io("the socket to serve HTTP on", error))?;
        let config = with_environment(&self.http);
        let endpoint = Endpoint::new(self.engine.clone(), config.clone(), Some(address))
            .map_err(Error::other)?;
        let site = app(&endpoint).map_err(Error::other)?;
        // Before the address is printed, because a signal may follow at once.
        let asked = asked_to_end();
        announce(address, &config);
        serve(listener, site, &endpoint, asked).await;
        self.tasks_ended().await;
        Ok(())
    }
}
