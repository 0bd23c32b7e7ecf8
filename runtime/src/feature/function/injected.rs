//! What a tool gets without the caller sending it.

use std::{
    any::{Any, TypeId, type_name},
    ops::Deref,
    sync::Arc,
};

use crate::feature::failure::ToolError;
use crate::{Principal, exchange::Context};

/// A type that a tool can take as a parameter without it being an argument.
///
/// No such type may implement `JsonSchema`: the compiler could not tell it from an argument.
///
/// ```
/// use trueform::{FromContext, prelude::*};
///
/// /// The language of the caller.
/// struct Language(String);
///
/// impl FromContext for Language {
///     fn from_context(context: &Context) -> Result<Self, ToolError> {
///         let caller = context.principal().ok_or_else(|| ToolError::new("nobody is signed in"))?;
///         Ok(Self(caller.details().cloned().unwrap_or_else(|| "en".to_owned())))
///     }
/// }
///
/// /// Says hello.
/// #[tool]
/// fn hello(name: String, Language(language): Language) -> String {
///     match language.as_str() {
///         "fr" => format!("bonjour, {name}"),
///         _ => format!("hello, {name}"),
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected into a tool",
    note = "`Context`, `State<T>`, `Extension<T>`, `Principal` and `Option` of them can; for others implement `FromContext`"
)]
pub trait FromContext: Sized {
    /// Gets the value from the request that is served.
    ///
    /// # Errors
    /// The value is missing; the call fails with that error.
    fn from_context(context: &Context) -> Result<Self, ToolError>;

    /// Adds what the server must have for this type, so that a server without it does not start.
    #[doc(hidden)]
    fn require(_needed: &mut Vec<RequiredState>) {}
}

impl FromContext for Context {
    fn from_context(context: &Context) -> Result<Self, ToolError> {
        Ok(context.clone())
    }
}

/// A value that the server holds for all its tools, registered with [`Server::state`](crate::Server::state).
///
/// It dereferences to the value, so methods and named fields can be used directly. The first field of a tuple struct is `state.0.0`,
/// because `state.0` is the `Arc` that holds the value.
///
/// ```
/// use trueform::prelude::*;
///
/// struct Greeting(String);
///
/// /// Says hello.
/// #[tool]
/// fn hello(name: String, greeting: State<Greeting>) -> String {
///     format!("{}, {name}", greeting.0.0)
/// }
/// ```
#[derive(Debug)]
pub struct State<T>(pub Arc<T>);

/// A value that [`Server::state`](crate::Server::state) accepts and [`State`] holds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be state of a server: calls share it between threads, and it is not `Send + Sync`",
    label = "not `Send + Sync`",
    note = "put what changes behind `std::sync::Mutex` or an atomic, in place of `Cell` and `RefCell`, and use `Arc` in place of `Rc`"
)]
pub trait Shared: Any + Send + Sync {}

#[diagnostic::do_not_recommend]
impl<T: Any + Send + Sync> Shared for T {}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Shared> FromContext for State<T> {
    fn from_context(context: &Context) -> Result<Self, ToolError> {
        let missing = || {
            ToolError::internal(format!(
                "the server has no state of type `{}`",
                type_name::<T>()
            ))
        };
        context.state().map(Self).ok_or_else(missing)
    }

    fn require(needed: &mut Vec<RequiredState>) {
        needed.push(RequiredState {
            id: TypeId::of::<T>(),
            name: type_name::<T>(),
        });
    }
}

/// State that a tool requires.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct RequiredState {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
}

/// The authenticated caller; a call without one fails. Use `Option<Principal>` if the caller is optional.
impl FromContext for Principal {
    fn from_context(context: &Context) -> Result<Self, ToolError> {
        context
            .principal()
            .cloned()
            .ok_or_else(|| ToolError::new("this tool is for authenticated callers only"))
    }
}

/// `None` if the value is missing.
impl<T: FromContext> FromContext for Option<T> {
    fn from_context(context: &Context) -> Result<Self, ToolError> {
        Ok(T::from_context(context).ok())
    }
}

/// Data of the transport: over HTTP, a value that a tower layer put into the request's extensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extension<T>(pub T);

impl<T: Clone + Any + Send + Sync> FromContext for Extension<T> {
    fn from_context(context: &Context) -> Result<Self, ToolError> {
        let missing = || {
            ToolError::internal(format!(
                "the request has no extension of type `{}`",
                type_name::<T>()
            ))
        };
        extension(context).cloned().map(Self).ok_or_else(missing)
    }
}

#[cfg(not(feature = "http"))]
fn extension<T: Any + Send + Sync>(context: &Context) -> Option<&T> {
    context.extension()
}

#[cfg(feature = "http")]
fn extension<T: Any + Send + Sync>(context: &Context) -> Option<&T> {
    let parts = context.extension::<http::request::Parts>();
    parts
        .and_then(|parts| parts.extensions.get())
        .or_else(|| context.extension())
}

/// The headers of the HTTP request; a call over another transport fails. Use `Option<HeaderMap>` to allow other transports.
#[cfg(feature = "http")]
impl FromContext for http::HeaderMap {
    fn from_context(context: &Context) -> Result<Self, ToolError> {
        let parts = context.extension::<http::request::Parts>();
        parts
            .map(|parts| parts.headers.clone())
            .ok_or_else(|| ToolError::new("this tool is for HTTP only"))
    }
}
