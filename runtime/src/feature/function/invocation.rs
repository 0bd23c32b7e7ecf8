//! One call of an author's function, for the code of the macros, and how it may end.

use std::{any::Any, fmt, future::Future};

use crate::{
    exchange::Context,
    feature::{callable::Step, failure::ToolError},
};

/// The input of an author's function: the caller, and the arguments as JSON text, split by parameter.
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

/// The value whose methods are called; `()` for functions.
pub(crate) type MethodReceiver = std::sync::Arc<dyn Any + Send + Sync>;

/// The code of a function that returns an `R`: it takes the parameters, calls the function, and converts its result.
pub(crate) type Handler<R> = fn(&Invocation<'_>) -> Begun<R>;

/// The beginning of a call, or the reason why a parameter could not be created.
pub(crate) type Begun<R> = Result<Step<Result<R, ToolError>>, ParameterError>;

/// Why a parameter could not be created.
pub struct ParameterError(Box<Reason>);

pub(crate) enum Reason {
    /// The argument of the parameter at this index cannot be decoded. `text` is its JSON text.
    Argument {
        index: usize,
        error: serde_json::Error,
    },
    /// The arguments as a whole cannot be decoded.
    Arguments(serde_json::Error),
    /// The context does not have the value to inject.
    Injected(ToolError),
}

impl Invocation<'_> {
    /// Returns the value whose method is called.
    ///
    /// # Panics
    /// Never if the macros call it: they register the same `S` that they request.
    #[doc(hidden)]
    #[must_use]
    pub fn server<S: Any>(&self) -> &S {
        self.server
            .downcast_ref()
            .expect("a method is registered with the value whose type its code names")
    }

    /// Returns shared ownership of [`Invocation::server`].
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

/// Creates the beginning of a call that ended at once.
///
/// # Errors
/// Never; the type is what the code of a function returns.
pub fn ready<R>(outcome: Result<R, ToolError>) -> Begun<R> {
    Ok(Step::Ready(outcome))
}

/// Creates the beginning of a call that continues as a future.
///
/// # Errors
/// Never; the type is what the code of a function returns.
pub fn later<R, F: Future<Output = Result<R, ToolError>> + Send + 'static>(future: F) -> Begun<R> {
    Ok(Step::Later(Box::pin(future)))
}

/// Creates the beginning of a call that continues on a thread that it may block.
///
/// # Errors
/// Never; the type is what the code of a function returns.
pub fn blocking<R, F: FnOnce() -> Result<R, ToolError> + Send + 'static>(work: F) -> Begun<R> {
    Ok(Step::Blocking(Box::new(work)))
}
