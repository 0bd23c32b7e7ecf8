//! What a server says where HTTP is switched off: the names of the methods that it would have, none of which can be called.
//!
//! The compiler has no words of its own for a method that a feature adds. Here the bound that is not met has them. It is
//! quantified, or the compiler would refuse here what it shall refuse where it is called.

use std::{convert::Infallible, future::Ready};

use super::{Server, Service};
use crate::error::Result;

/// Implemented by nothing.
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
