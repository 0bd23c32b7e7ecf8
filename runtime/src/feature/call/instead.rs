//! Calls that end with questions to the client, or with what it did not declare, in place of a result or an error of their own.

use std::fmt::Display;

use trueform_schema::{Era, ErrorObject, InputRequiredResult};

use crate::{
    exchange::{AskError, Exchange, InputRequired, SetAside},
    feature::{
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

/// The response to the call of `exchange` that asks, or needs what the client did not declare; `name` and `place` are those of what was
/// called. `None` if what was called responds to `error` itself.
#[cold]
pub(super) fn instead(
    exchange: &Exchange,
    name: &str,
    place: &dyn Display,
    error: &mut ToolError,
    message: Option<&[u8]>,
) -> Option<Result<Outgoing, ErrorObject>> {
    let is_for_author = matches!(error.instead_ref(), Some(Instead::NoForm(_)));
    if is_for_author || exchange.revision().era() == Era::Legacy {
        return None;
    }
    let asked = match error.take_instead() {
        Some(Instead::Questions) => exchange.questions(message),
        Some(Instead::Required(required)) => authored(exchange, required, message),
        // C-10, T-4
        Some(Instead::Undeclared(missing)) => Err(undeclared(Era::Modern, missing)),
        // T-10
        Some(Instead::Malformed(problem)) => {
            let detail = ErrorDetail::of_decoding(&problem, "");
            Err(jsonrpc::params_error(exchange.method, &detail))
        }
        Some(Instead::NoForm(_)) | None => return None,
    };
    Some(asked.and_then(|asked| respond(exchange, name, place, asked)))
}

/// The questions that the author put together.
///
/// # Errors
/// The error that the client gets.
fn authored(
    exchange: &Exchange,
    required: InputRequired,
    message: Option<&[u8]>,
) -> Result<InputRequiredResult, ErrorObject> {
    for question in required.questions() {
        exchange
            .check_question(question)
            .map_err(|error| match error {
                // C-10, T-4
                AskError::NotDeclared(missing) => undeclared(Era::Modern, missing),
                other => jsonrpc::internal(other.to_string()),
            })?;
    }
    exchange.required_input(required, message)
}

/// The response with `asked`.
///
/// # Errors
/// The error that the client gets.
fn respond(
    exchange: &Exchange,
    name: &str,
    place: &dyn Display,
    mut asked: InputRequiredResult,
) -> Result<Outgoing, ErrorObject> {
    if let Some(meta) = exchange.take_result_meta() {
        let own = asked.meta.get_or_insert_default();
        for (key, value) in *meta {
            if is_illegal_meta_key(&key) {
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
    let response = exchange.result(name, &asked)?;
    tracing::debug!(name, "asked the client");
    Ok(response)
}
