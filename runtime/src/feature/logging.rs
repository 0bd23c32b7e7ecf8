//! Logging: the level that a session sets, and the capability.

use trueform_schema::{ErrorObject, JsonObject, LoggingLevel, Revision, ServerCapabilities};

use super::Room;
use crate::{
    jsonrpc::{self, ErrorDetail},
    peer::{Session, is_known_level},
};

/// Log messages, which every server may send (M-1).
#[derive(Debug)]
pub(crate) struct Logging;

impl Room for Logging {
    fn declare(&self, _: Revision, capabilities: &mut ServerCapabilities) {
        capabilities.logging = Some(JsonObject::empty());
    }
}

/// Sets the level of `session` (M-2).
///
/// # Errors
/// -32602 for a level that is not one of the eight names.
pub(crate) fn set_level(session: &Session, level: &LoggingLevel) -> Result<(), ErrorObject> {
    check(level, "/params/level")?;
    session.log_level.set(level);
    Ok(())
}

/// Refuses a level that is not one of the eight names. `pointer` is its place in the request.
///
/// # Errors
/// -32602.
// M-3
pub(crate) fn check(level: &LoggingLevel, pointer: &'static str) -> Result<(), ErrorObject> {
    const LEVELS: &str =
        "`debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`";
    if is_known_level(level) {
        return Ok(());
    }
    let found = format!("string of {} bytes", level.as_str().len() + 2);
    Err(jsonrpc::invalid_params(
        format!("unknown log level `{}`", jsonrpc::shortened(level.as_str())),
        &ErrorDetail::new(pointer, "one-of", LEVELS, found),
    ))
}
