//! Messages for the model that say why arguments do not fit. Calls with valid arguments do not use this code.

use trueform_schema::{DecodeError, ErrorObject, pointer};

use super::{
    arguments::{ArgumentMismatch, ArgumentNames},
    invocation::{ParameterError, Reason},
};
use crate::{
    check::{Violation, Violations},
    jsonrpc::{self, ErrorDetail},
};

/// Why the function of a call was not called.
pub(crate) enum ArgumentFailure {
    Names(ArgumentMismatch),
    /// The schema may not allow them, or the type may not accept the way they are written.
    Unchecked,
    /// Their check needs more steps than a call may use.
    TooLong,
    Parameter(Reason),
}

impl From<ArgumentMismatch> for ArgumentFailure {
    fn from(unfit: ArgumentMismatch) -> Self {
        Self::Names(unfit)
    }
}

impl From<ParameterError> for ArgumentFailure {
    fn from(refused: ParameterError) -> Self {
        Self::Parameter(refused.into_reason())
    }
}

impl ArgumentFailure {
    /// Returns the problem if the schema finds none: the type is stricter than its schema. `text` contains the arguments.
    pub(crate) fn worded(self, text: &str, names: &ArgumentNames) -> String {
        match self {
            Self::Names(ArgumentMismatch::Twice(name)) => format!("`{name}` is given twice"),
            Self::Names(ArgumentMismatch::Unknown) => {
                "an argument has a name that this tool does not take".to_owned()
            }
            Self::Names(ArgumentMismatch::Malformed) | Self::Unchecked | Self::TooLong => {
                "no object that can be read".to_owned()
            }
            Self::Parameter(Reason::Injected(error)) => error.to_string(),
            Self::Parameter(Reason::Arguments(error)) => {
                shown(&worded(&DecodeError::locate(text, &error)))
            }
            Self::Parameter(Reason::Argument { index, error }) => {
                let mut slots = vec![None; names.parameters.len()];
                // It was split successfully before, otherwise no argument would have been refused.
                let _ = names.split(text, &mut slots);
                let name = &names.parameters[index];
                let pointer = format!("/{}", pointer::escape(name));
                match slots[index] {
                    Some(argument) => shown(&worded(
                        &DecodeError::locate(argument, &error).under(&pointer),
                    )),
                    None => shown(&format!("{pointer}: {error}")),
                }
            }
        }
    }
}

/// Escapes a decoder's message, because it repeats the caller's text.
fn shown(problem: &str) -> String {
    jsonrpc::sentence(problem).into_owned()
}

/// Describes `error` for the model. For integers that their Rust type does not accept, the usual case if the schema finds nothing, it says
/// what to do.
fn worded(error: &DecodeError) -> String {
    let problem = unfit_integer(error.message())
        .or_else(|| unfit_wide_integer(error.message()))
        .or_else(|| unfit_number(error.message()));
    let Some(problem) = problem else {
        return error.to_string();
    };
    match error.pointer() {
        "" => problem,
        pointer => format!("{pointer}: {problem}"),
    }
}

/// Writes one line for each violation with `line`. Names and values in it come from the caller.
pub(crate) fn in_lines(violations: &Violations, line: impl Fn(&Violation) -> String) -> String {
    let mut lines: Vec<_> = violations
        .iter()
        .map(|violation| {
            let mut short = violation.clone();
            short.pointer = jsonrpc::shortened(&short.pointer).into_owned();
            jsonrpc::one_line(&line(&short)).into_owned()
        })
        .collect();
    match violations.total() - lines.len() {
        0 => {}
        more => lines.push(format!("and {more} more")),
    }
    lines.join("\n")
}

/// Extends serde's message for an integer that is out of range or written as a float with what to send instead.
fn unfit_integer(message: &str) -> Option<String> {
    let (found, expected) = message.rsplit_once(", expected ")?;
    let range = range(expected)?;
    if let Some(integer) = quoted(found, "invalid value: integer `") {
        return Some(format!("expected an integer from {range}, found {integer}"));
    }
    let float = quoted(found, "invalid type: floating point `")?;
    // Smaller ones were accepted as integers.
    Some(format!(
        "expected an integer from {range}, written in digits alone from ±2^53 on, found {float}"
    ))
}

/// Does the same for integers of 128 bits. serde_json reads only their digits, and reports the rest as invalid JSON, although the text was
/// read as valid JSON before.
fn unfit_wide_integer(message: &str) -> Option<String> {
    let problem = match message {
        "trailing characters" | "expected `,` or `}`" | "expected `,` or `]`" => {
            "expected an integer of at most 128 bits, written in digits alone: no fraction, no exponent"
        }
        "number out of range" => {
            "expected a number within the range of its type: an `f32` holds up to ±3.4028235e38, and an integer of 128 bits is written in digits alone"
        }
        "u128 is not supported" | "i128 is not supported" => {
            "no integer of 128 bits can be read here, whatever is sent, because of how the tool is written; its author can use 64 bits or a string"
        }
        _ => return None,
    };
    Some(problem.to_owned())
}

/// Returns the message for a number that a double cannot represent.
fn unfit_number(message: &str) -> Option<String> {
    let (found, expected) = message
        .strip_prefix("invalid value: number ")?
        .rsplit_once(", expected ")?;
    Some(format!("expected {expected}, found number {found}"))
}

fn quoted<'m>(message: &'m str, beginning: &str) -> Option<&'m str> {
    message.strip_prefix(beginning)?.strip_suffix('`')
}

/// Returns the range of an integer type of Rust.
fn range(name: &str) -> Option<String> {
    macro_rules! range {
        ($($integer:ident)*) => {
            match name {
                $(stringify!($integer) => Some(format!("{} to {}", $integer::MIN, $integer::MAX)),)*
                _ => None,
            }
        };
    }
    range!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize)
}

/// Reports arguments that are valid JSON but cannot be read as values. A number beyond `f64` is an error for the model to correct; a string
/// that is not Unicode is a malformed request, reported with its pointer (GAP-14).
///
/// # Errors
/// The message for the model.
pub(crate) fn unreadable(text: &str, error: &serde_json::Error) -> Result<ErrorObject, String> {
    let located = DecodeError::locate(text, error);
    // In valid JSON, only numbers that a double cannot represent have an invalid value.
    if located.rule() == "value" {
        return Err(shown(&worded(&located)));
    }
    let fault = ErrorDetail::of_decoding(&located, "/params/arguments");
    Ok(jsonrpc::params_error("tools/call", &fault))
}
