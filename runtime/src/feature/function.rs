//! An author's function behind a feature: its parameters, and how it is called with arguments.
//!
//! A function is registered with a pointer to code that the macros emit, over type-erased state, and with the names and the schema
//! of its arguments. Nothing here is generic over the author's types after that. Knows no feature.

pub(crate) mod arguments;
pub(crate) mod injected;
pub(crate) mod input;
pub(crate) mod invocation;
pub(crate) mod parameter;
mod place;
mod plain;
pub(crate) mod report;
pub(crate) mod schema;
pub(crate) mod text;

pub(crate) use self::{
    arguments::ArgumentNames,
    injected::RequiredState,
    input::{Enforced, Input, InputSchema},
    invocation::{Begun, Handler, MethodReceiver, ParameterError},
    place::Place,
    text::{TextFunction, Wording},
};
pub use self::{
    injected::{Extension, FromContext, Shared, State},
    invocation::Invocation,
    parameter::{Args, Arguments, Parameter},
};

use std::fmt;

use self::report::ArgumentFailure;
use crate::{
    exchange::Context,
    feature::{callable::Step, failure::ToolError},
    jsonrpc::NotedObject,
};

/// What expansions of the macros call.
pub(crate) mod macro_support {
    pub use super::{
        injected::FromContext,
        input::InputSchema,
        invocation::{Invocation, ParameterError, blocking, later, ready},
        parameter::{Field, Parameter, UnnamedParameter},
    };
}

/// Most parameters whose arguments are split without an allocation.
const INLINE_SLOTS: usize = 8;

/// A function that returns an `R`, ready to be called.
pub(crate) struct Function<R> {
    pub(crate) names: ArgumentNames,
    pub(crate) handler: Handler<R>,
    pub(crate) receiver: MethodReceiver,
}

impl<R> Function<R> {
    /// Splits and decodes the arguments `text`, and calls the function. `noted` is the same, if it was noted where its members are.
    #[inline(always)]
    pub(crate) fn decode(
        &self,
        context: &Context,
        text: &str,
        noted: Option<&NotedObject<'_>>,
    ) -> Result<Step<Result<R, ToolError>>, ArgumentFailure> {
        let names = &self.names;
        let (mut inline, mut heap);
        let slots: &mut [Option<&str>] = match names.parameters.len() {
            count @ ..=INLINE_SLOTS => {
                inline = [None; INLINE_SLOTS];
                &mut inline[..count]
            }
            count => {
                heap = vec![None; count];
                &mut heap
            }
        };
        match noted.and_then(NotedObject::members) {
            Some(members) => names.sort(members, slots)?,
            None => names.split(text, slots)?,
        }
        let call = Invocation {
            context,
            server: &self.receiver,
            text,
            slots,
            names: &names.parameters,
        };
        (self.handler)(&call).map_err(ArgumentFailure::from)
    }
}

impl<R> fmt::Debug for Function<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}
