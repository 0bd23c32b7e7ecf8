//! Changes as text: one line each. The wording is always the same, so that it can be searched and compared.

use std::fmt;

use super::{Change, Diff, Impact, What};

pub(super) fn diff(diff: &Diff, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if diff.is_empty() {
        return writeln!(f, "no changes");
    }
    let count = |impact| diff.count(impact);
    let (breaking, risky, additive) = (
        count(Impact::Breaking),
        count(Impact::Risky),
        count(Impact::Additive),
    );
    writeln!(f, "{breaking} breaking, {risky} risky, {additive} additive")?;
    diff.changes
        .iter()
        .try_for_each(|change| writeln!(f, "{change}"))
}

pub(super) fn change(change: &Change, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{:<8}  {}: ", change.impact, change.subject)?;
    match &change.what {
        What::MethodAdded { senders } => {
            write!(f, "method added")?;
            match senders.is_empty() {
                true => Ok(()),
                false => write!(
                    f,
                    " ({})",
                    senders
                        .iter()
                        .map(String::as_str)
                        .collect::<Vec<_>>()
                        .join(", ")
                ),
            }
        }
        What::MethodRemoved => write!(f, "method removed"),
        What::SenderAdded { sender } => write!(f, "may now be sent as {sender}"),
        What::SenderRemoved { sender } => write!(f, "may no longer be sent as {sender}"),
        What::ResultAdded { result } => write!(f, "result {result} added"),
        What::ResultRemoved { result } => write!(f, "result {result} removed"),
        What::TypeAdded => write!(f, "type added"),
        What::TypeRemoved => write!(f, "type removed"),
        What::Schema(what) => write!(f, "{what}"),
    }
}
