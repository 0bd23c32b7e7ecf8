//! The HTTP methods of a server without the feature `http`: they exist, but calling one is a compile error that names the feature.
//!
//! For a method that does not exist, the compiler cannot name the missing feature. Here, an unmet bound has that message. The bound is
//! quantified, because otherwise the compiler would report it here and not at the call.

use std::{convert::Infallible, future::Ready};

use super::{Server, Service};
use crate::error::Result;

/// No type implements this.
#[diagnostic::on_unimplemented(
    message = "serving HTTP needs the feature `http` of `trueform`",
    label = "the feature `http` is off",
    note = "switch it on: `cargo add trueform --features http`"
)]
pub trait ServesHttp {
    /// Never returns, because no type implements the trait.
    fn never<T>(&self) -> T;
}

impl Server {
    #[doc(hidden)]
    pub fn http(&self, _: impl Sized) -> Self
    where
        for<'a> Self: ServesHttp,
    {
        self.never()
    }

    #[doc(hidden)]
    pub fn serve_http(&self, _: impl Sized) -> Ready<Result>
    where
        for<'a> Self: ServesHttp,
    {
        self.never()
    }

    #[doc(hidden)]
    pub fn into_router(&self) -> Result<Infallible>
    where
        for<'a> Self: ServesHttp,
    {
        self.never()
    }
}

impl Service {
    #[doc(hidden)]
    pub fn serve_http(&self, _: impl Sized) -> Ready<Result>
    where
        for<'a> Self: ServesHttp,
    {
        self.never()
    }

    #[doc(hidden)]
    pub fn serve_http_on(&self, _: impl Sized) -> Ready<Result>
    where
        for<'a> Self: ServesHttp,
    {
        self.never()
    }

    #[doc(hidden)]
    pub fn into_router(&self) -> Result<Infallible>
    where
        for<'a> Self: ServesHttp,
    {
        self.never()
    }

    #[doc(hidden)]
    pub fn into_http_service(&self) -> Result<Infallible>
    where
        for<'a> Self: ServesHttp,
    {
        self.never()
    }
}
