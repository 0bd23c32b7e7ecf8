//! One call of an author's function, as the macros' code sees it, and how it may end.

use std::{any::Any, fmt, future::Future};

use crate::{
    exchange::Context,
    feature::{callable::Step, failure::ToolError},
};

/// What an author's function is called with: who asks, and the arguments as JSON text, split by parameter.
pub struct Invocation<'a> {
    pub(crate) context: &'a Context,
    pub(crate) server: &'a MethodReceiver,
    /// All arguments, an object.
    pub(crate) text: &'a str,
    /// For each parameter, its argument.
    pub(crate) slots: &'a [Option<&'a str>],
    /// For each parameter, its name on the wire.
    pub(crate) names: &'a [Box<str>],
}

/// The value whose methods are called; a unit for functions.
pub(crate) type MethodReceiver = std::sync::Arc<dyn Any + Send + Sync>;

/// The code of a function that returns an `R`: takes the parameters, calls the function, converts its result.
pub(crate) type Handler<R> = fn(&Invocation<'_>) -> Begun<R>;

/// How a call began, unless a parameter could not be made.
pub(crate) type Begun<R> = Result<Step<Result<R, ToolError>>, ParameterError>;

/// Why a parameter could not be made.
pub struct ParameterError(Box<Reason>);

pub(crate) enum Reason {
    /// The argument of the parameter at this index does not decode. `text` is what was decoded.
    Argument {
        index: usize,
        error: serde_json::Error,
    },
    /// All arguments together do not decode.
    Arguments(serde_json::Error),
    /// The context does not have what is to be injected.
    Injected(ToolError),
}

impl Invocation<'_> {
    /// The value whose method is called.
    ///
    /// # Panics
    /// Never where the macros call it: they register the same `S` that they ask for.
    #[doc(hidden)]
    #[must_use]
    pub fn server<S: Any>(&self) -> &S {
        self.server
            .downcast_ref()
            .expect("a method is registered with the value whose type its code names")
    }

    /// Shared ownership of [`Invocation::server`].
    ///
    /// # Panics
    /// As [`Invocation::server`].
    #[doc(hidden)]
    #[must_use]
    pub fn shared_server<S: Any + Send + Sync>(&self) -> std::sync::Arc<S> {
        let server = self.server.clone().downcast();
        server.expect("a method is registered with the value whose type its code names")
    }
}

impl fmt::Debug for Invocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

impl ParameterError {
    #[cold]
    pub(crate) fn argument(index: usize, error: serde_json::Error) -> Self {
        Self(Box::new(Reason::Argument { index, error }))
    }

    #[cold]
    pub(crate) fn arguments(error: serde_json::Error) -> Self {
        Self(Box::new(Reason::Arguments(error)))
    }

    #[cold]
    pub(crate) fn injected(error: ToolError) -> Self {
        Self(Box::new(Reason::Injected(error)))
    }

    pub(crate) fn into_reason(self) -> Reason {
        *self.0
    }
}

impl fmt::Debug for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Reason::Argument { index, error } => {
                f.debug_tuple("Argument").field(index).field(error).finish()
            }
            Reason::Arguments(error) => f.debug_tuple("Arguments").field(error).finish(),
            Reason::Injected(error) => f.debug_tuple("Injected").field(error).finish(),
        }
    }
}

/// The call ended at once.
///
/// # Errors
/// Never; the type is what the code of a function returns.
pub fn ready<R>(outcome: Result<R, ToolError>) -> Begun<R> {
    Ok(Step::Ready(outcome))
}

/// The call goes on as a future.
///
/// # Errors
/// Never; the type is what the code of a function returns.
pub fn later<R, F: Future<Output = Result<R, ToolError>> + Send + 'static>(future: F) -> Begun<R> {
    Ok(Step::Later(Box::pin(future)))
}

/// The call goes on where it may hold its thread.
///
/// # Errors
/// Never; the type is what the code of a function returns.
pub fn blocking<R, F: FnOnce() -> Result<R, ToolError> + Send + 'static>(work: F) -> Begun<R> {
    Ok(Step::Blocking(Box::new(work)))
}
