//! Changes as text: one line each, the same words every time, so that it can be searched and compared.

use std::fmt;

use serde_json::Value;

use super::{Change, Diff, Severity, What};

pub(super) fn diff(diff: &Diff, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if diff.is_empty() {
        return writeln!(f, "no changes");
    }
    let count = |severity| diff.count(severity);
    let (breaking, risky, additive) = (
        count(Severity::Breaking),
        count(Severity::Risky),
        count(Severity::Additive),
    );
    writeln!(f, "{breaking} breaking, {risky} risky, {additive} additive")?;
    diff.changes
        .iter()
        .try_for_each(|change| writeln!(f, "{change}"))
}

pub(super) fn change(change: &Change, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let severity = match change.severity {
        Severity::Additive => "additive",
        Severity::Risky => "risky",
        Severity::Breaking => "breaking",
    };
    write!(f, "{severity:<8}  {}: ", change.subject)?;
    let presence = |required: &bool| if *required { "required" } else { "optional" };
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
        What::MemberAdded { required, ty } => {
            write!(f, "{} member added ({ty})", presence(required))
        }
        What::MemberRemoved { required, ty } => {
            write!(f, "{} member removed ({ty})", presence(required))
        }
        What::BecameRequired => write!(f, "became required"),
        What::BecameOptional => write!(f, "became optional"),
        What::VariantAdded { variant } => write!(f, "union member {variant} added"),
        What::VariantRemoved { variant } => write!(f, "union member {variant} removed"),
        What::ValueAdded { value } => write!(f, "value {value} added"),
        What::ValueRemoved { value } => write!(f, "value {value} removed"),
        What::TypeChanged { from, to } => write!(f, "type changed from {from} to {to}"),
        What::LimitChanged { keyword, from, to } => {
            let show = |value: &Option<Value>| {
                value
                    .as_ref()
                    .map_or_else(|| "none".to_owned(), Value::to_string)
            };
            write!(f, "`{keyword}` changed from {} to {}", show(from), show(to))
        }
        What::Closed => write!(f, "unknown members are now refused"),
        What::Opened => write!(f, "unknown members are now allowed"),
    }
}
