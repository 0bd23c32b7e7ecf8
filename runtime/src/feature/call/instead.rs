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
    gate::{Outgoing, is_illegal_meta_key},
    jsonrpc::{self, ErrorDetail},
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
        let is_for_author = matches!(error.instead_ref(), Some(Instead::NoForm(_)));
        if is_for_author || exchange.revision().era() == Era::Legacy {
            return callable.respond(&self.cx, Err(error));
        }
        let mut asked = match error.take_instead() {
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
            // T-10
            Some(Instead::Malformed(problem)) => {
                let detail = ErrorDetail::of_decoding(&problem, "");
                return Err(jsonrpc::params_error(exchange.method, &detail));
            }
            Some(Instead::NoForm(_)) | None => return callable.respond(&self.cx, Err(error)),
        };
        if let Some(meta) = exchange.take_result_meta() {
            let own = asked.meta.get_or_insert_default();
            for (key, value) in *meta {
                if is_illegal_meta_key(&key) {
                    let (name, place) = (callable.name(), callable.place());
                    tracing::error!(
                        name, %place, key,
                        "a result whose `_meta` has a key that is reserved or illegal was held back"
                    );
                    return Err(jsonrpc::internal(format!(
                        "`{name}` returned a result that cannot be sent"
                    )));
                }
                own.extras_mut().insert(key, value);
            }
        }
        let response = exchange.result(callable.name(), &asked)?;
        tracing::debug!(name = callable.name(), "asked the client");
        Ok(response)
    }
}
