//! Why arguments do not fit, in words for the model. All of it is off the path of calls that fit.

use trueform_schema::{DecodeError, pointer};

use super::{
    arguments::{Names, Unfit},
    call::{Called, Reason, Refused},
    error::ToolError,
};
use crate::{
    check::Violations,
    jsonrpc::{self, Fault},
};

/// What kept a call from its function.
pub(super) enum Failure {
    Names(Unfit),
    Schema,
    Refused(Reason),
}

impl From<Unfit> for Failure {
    fn from(unfit: Unfit) -> Self {
        Self::Names(unfit)
    }
}

impl From<Violations> for Failure {
    /// Dropped: the full check tells them again, together with all others.
    fn from(_: Violations) -> Self {
        Self::Schema
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused.into_reason())
    }
}

impl Failure {
    /// What is wrong where the schema finds nothing: the type is stricter than its schema. `text` are the arguments.
    pub(super) fn told(self, text: &str, names: &Names) -> String {
        match self {
            Self::Names(Unfit::Twice(name)) => format!("`{name}` is given twice"),
            Self::Names(Unfit::Unknown) => {
                "an argument has a name that this tool does not take".to_owned()
            }
            Self::Names(Unfit::Malformed) | Self::Schema => "no object that can be read".to_owned(),
            Self::Refused(Reason::Injected(error)) => error.to_string(),
            Self::Refused(Reason::Arguments(error)) => {
                DecodeError::locate(text, &error).to_string()
            }
            Self::Refused(Reason::Argument { index, error }) => {
                let mut slots = vec![None; names.parameters.len()];
                // It was split before, or no argument would have been refused.
                let _ = names.split(text, &mut slots);
                let name = &names.parameters[index];
                let pointer = format!("/{}", pointer::escape(name));
                match slots[index] {
                    Some(argument) => DecodeError::locate(argument, &error)
                        .under(&pointer)
                        .to_string(),
                    None => format!("{pointer}: {error}"),
                }
            }
        }
    }
}

/// Arguments that passed as JSON but cannot be a tree. A number beyond `f64` is the model's to mend; a string that is not
/// Unicode is a malformed request, told with its pointer (GAP-14).
///
/// # Errors
/// What the model is told.
pub(super) fn unreadable(text: &str, error: &serde_json::Error) -> Result<Called, String> {
    let located = DecodeError::locate(text, error);
    if located.message().contains("out of range") {
        return Err(located.to_string());
    }
    let fault = Fault::of_decoding(&located, "/params/arguments");
    let error = jsonrpc::params_error("tools/call", &fault);
    Ok(Called::Ready(Err(ToolError::protocol(error))))
}
