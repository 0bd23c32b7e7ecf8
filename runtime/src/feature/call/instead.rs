//! Calls that end with questions to the client, or with what it did not declare, in place of a result or an error of their own.

use trueform_schema::{Era, ErrorObject};

use super::RunningCall;
use crate::{
    exchange::{AskError, Exchange, SetAside},
    feature::{
        callable::Callable,
        failure::{Instead, ToolError},
        undeclared,
    },
    gate::Outgoing,
    jsonrpc,
};

/// Why the call of `exchange`, which waits, ends without an outcome of its own. `None` if it goes on.
#[inline]
pub(super) fn set_aside(exchange: &Exchange) -> Option<ToolError> {
    let why = exchange.has_replay()?.set_aside()?;
    Some(match why {
        SetAside::Asked => ToolError::instead(Instead::Questions),
        SetAside::Fault(fault) => ToolError::from(fault),
    })
}

impl<C: Callable> RunningCall<C> {
    /// The response to a call that asks, or needs what the client did not declare.
    #[cold]
    pub(super) fn respond_instead(
        &self,
        mut error: ToolError,
        message: Option<&[u8]>,
    ) -> Result<Outgoing, ErrorObject> {
        let (callable, exchange) = (&*self.callable, &self.cx.0);
        if exchange.revision().era() == Era::Legacy {
            return callable.respond(&self.cx, Err(error));
        }
        let asked = match error.take_instead() {
            Some(Instead::Questions) => exchange.questions(message)?,
            Some(Instead::Required(required)) => {
                for question in required.questions() {
                    exchange
                        .check_question(question)
                        .map_err(|error| match error {
                            // C-10, T-4
                            AskError::NotDeclared(missing) => undeclared(Era::Modern, missing),
                            other => jsonrpc::internal(other.to_string()),
                        })?;
                }
                exchange.required_input(required, message)?
            }
            // C-10, T-4
            Some(Instead::Undeclared(missing)) => return Err(undeclared(Era::Modern, missing)),
            None => return callable.respond(&self.cx, Err(error)),
        };
        let response = exchange.result(callable.name(), &asked)?;
        tracing::debug!(name = callable.name(), "asked the client");
        Ok(response)
    }
}
