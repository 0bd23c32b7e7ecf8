//! One call of a tool, as the macros' code sees it, and how it may end.

use std::{any::Any, fmt, future::Future};

use trueform_schema::CallToolResult;

use crate::{
    exchange::Context,
    feature::{callable::Step, failure::ToolError},
};

/// What a tool's code is called with: who asks, and the arguments as JSON text, split by parameter.
pub struct ToolInvocation<'a> {
    pub(super) context: &'a Context,
    pub(super) server: &'a MethodReceiver,
    /// All arguments, an object.
    pub(super) text: &'a str,
    /// For each parameter, its argument.
    pub(super) slots: &'a [Option<&'a str>],
    /// For each parameter, its name on the wire.
    pub(super) names: &'a [Box<str>],
}

/// The value whose methods are tools; a unit for functions.
pub(super) type MethodReceiver = std::sync::Arc<dyn Any + Send + Sync>;

/// The code of a tool: takes the parameters, calls the function, converts its result.
pub(crate) type Handler = fn(&ToolInvocation<'_>) -> Result<ToolStep, ParameterError>;

/// What became of a call so far.
pub type ToolStep = Step<ToolOutcome>;

/// How a call ends.
pub type ToolOutcome = Result<CallToolResult, ToolError>;

/// Why a parameter could not be made.
pub struct ParameterError(Box<Reason>);

pub(super) enum Reason {
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

impl ToolInvocation<'_> {
    /// The value whose method is called.
    ///
    /// # Panics
    /// Never where the macros call it: they register the same `S` that they ask for.
    #[doc(hidden)]
    #[must_use]
    pub fn server<S: Any>(&self) -> &S {
        self.server
            .downcast_ref()
            .expect("a tool is registered with the value whose type its code names")
    }

    /// Shared ownership of [`ToolInvocation::server`].
    ///
    /// # Panics
    /// As [`ToolInvocation::server`].
    #[doc(hidden)]
    #[must_use]
    pub fn shared_server<S: Any + Send + Sync>(&self) -> std::sync::Arc<S> {
        let server = self.server.clone().downcast();
        server.expect("a tool is registered with the value whose type its code names")
    }
}

impl fmt::Debug for ToolInvocation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

impl ParameterError {
    #[cold]
    pub(super) fn argument(index: usize, error: serde_json::Error) -> Self {
        Self(Box::new(Reason::Argument { index, error }))
    }

    #[cold]
    pub(super) fn arguments(error: serde_json::Error) -> Self {
        Self(Box::new(Reason::Arguments(error)))
    }

    #[cold]
    pub(super) fn injected(error: ToolError) -> Self {
        Self(Box::new(Reason::Injected(error)))
    }

    pub(super) fn into_reason(self) -> Reason {
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
/// Never; the type is what a tool's code returns.
pub fn ready(outcome: ToolOutcome) -> Result<ToolStep, ParameterError> {
    Ok(ToolStep::Ready(outcome))
}

/// The call goes on as a future.
///
/// # Errors
/// Never; the type is what a tool's code returns.
pub fn later<F: Future<Output = ToolOutcome> + Send + 'static>(
    future: F,
) -> Result<ToolStep, ParameterError> {
    Ok(ToolStep::Later(Box::pin(future)))
}

/// The call goes on where it may hold its thread.
///
/// # Errors
/// Never; the type is what a tool's code returns.
pub fn blocking<F: FnOnce() -> ToolOutcome + Send + 'static>(
    work: F,
) -> Result<ToolStep, ParameterError> {
    Ok(ToolStep::Blocking(Box::new(work)))
}
