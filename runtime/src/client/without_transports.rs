//! What a client has with the features `client-http` and `client-process`, without them: it exists by name, but using it is a compile
//! error that names the feature, as for the [HTTP of a server](crate::server).

use std::{convert::Infallible, future::Ready};

use super::{Client, ClientError};

/// No type implements this.
#[cfg(not(feature = "client-http"))]
#[diagnostic::on_unimplemented(
    message = "a client over HTTP needs the feature `client-http` of `trueform`, and `client-http-tls` for `https://`",
    label = "the feature `client-http` is off",
    note = "switch it on: `cargo add trueform --features client-http`"
)]
pub trait ConnectsOverHttp {
    /// Never returns, because no type implements the trait.
    fn never<T>() -> T;
}

/// No type implements this.
#[cfg(not(feature = "client-process"))]
#[diagnostic::on_unimplemented(
    message = "a client that starts its server as a child process needs the feature `client-process` of `trueform`",
    label = "the feature `client-process` is off",
    note = "switch it on: `cargo add trueform --features client-process`"
)]
pub trait StartsServers {
    /// Never returns, because no type implements the trait.
    fn never<T>() -> T;
}

#[cfg(not(feature = "client-http"))]
impl Client {
    #[doc(hidden)]
    pub fn connect(_: impl Sized) -> Ready<Result<Self, ClientError>>
    where
        for<'a> Self: ConnectsOverHttp,
    {
        <Self as ConnectsOverHttp>::never()
    }
}

#[cfg(not(feature = "client-process"))]
impl Client {
    #[doc(hidden)]
    pub fn spawn(_: impl Sized, _: impl Sized) -> Ready<Result<Self, ClientError>>
    where
        for<'a> Self: StartsServers,
    {
        <Self as StartsServers>::never()
    }
}

/// There is no value of it.
#[cfg(not(feature = "client-http"))]
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct HttpEndpoint(Infallible);

#[cfg(not(feature = "client-http"))]
#[doc(hidden)]
impl HttpEndpoint {
    #[must_use]
    pub fn new(_: impl Sized) -> Self
    where
        for<'a> Self: ConnectsOverHttp,
    {
        <Self as ConnectsOverHttp>::never()
    }

    // The error of `new` is the only one.
    #[must_use]
    pub fn header(self, _: impl Sized, _: impl Sized) -> Self {
        self
    }

    #[must_use]
    pub fn bearer(self, _: impl Sized) -> Self {
        self
    }

    #[must_use]
    pub fn authorize(self, _: impl Sized) -> Self {
        self
    }

    pub fn connect(self) -> Ready<Result<Client, ClientError>> {
        match self.0 {}
    }

    pub fn connect_as(self, _: impl Sized) -> Ready<Result<Client, ClientError>> {
        match self.0 {}
    }
}

/// There is no value of it.
#[cfg(not(feature = "client-process"))]
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct ServerCommand(Infallible);

#[cfg(not(feature = "client-process"))]
#[doc(hidden)]
impl ServerCommand {
    #[must_use]
    pub fn new(_: impl Sized) -> Self
    where
        for<'a> Self: StartsServers,
    {
        <Self as StartsServers>::never()
    }

    // The error of `new` is the only one.
    #[must_use]
    pub fn arg(self, _: impl Sized) -> Self {
        self
    }

    #[must_use]
    pub fn args(self, _: impl Sized) -> Self {
        self
    }

    #[must_use]
    pub fn env(self, _: impl Sized, _: impl Sized) -> Self {
        self
    }
}
