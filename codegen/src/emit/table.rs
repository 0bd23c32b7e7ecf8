//! The tables: run-time information on each type, and the treatment of parts that revisions lack.

use std::fmt::Write as _;

use super::Context;
use crate::{
    model::{Bits, Shape},
    projection::{self, Becomes},
};

/// Writes the table as separate text, because the formatter would put every number on its own line.
pub(super) fn emit(cx: &Context<'_>, out: &mut String) {
    out.push_str(
        "\n/// Every type of this module with the revisions that have it and its members, sorted by name.\n\
         pub static TYPES: &[support::TypeInfo] = &[\n",
    );
    for ty in cx.model.types.values() {
        let (kind, members): (&str, Vec<(&str, Bits, Bits)>) = match &ty.shape {
            Shape::Struct { fields } => (
                "Struct",
                fields
                    .iter()
                    .map(|field| (field.json_name.as_str(), field.known, field.required))
                    .collect(),
            ),
            Shape::Union { variants, .. } => (
                "Union",
                variants
                    .iter()
                    .map(|variant| (variant.name.as_str(), variant.known, Bits(0)))
                    .collect(),
            ),
            Shape::Enum { values } => (
                "Enum",
                values
                    .iter()
                    .map(|value| (value.value.as_str(), value.known, Bits(0)))
                    .collect(),
            ),
        };
        let _ = write!(
            out,
            "    support::TypeInfo::new({:?}, support::TypeKind::{kind}, 0b{:05b}, &[",
            ty.name, ty.known.0
        );
        for (name, known, required) in members {
            let _ = write!(
                out,
                "\n        ({name:?}, 0b{:05b}, 0b{:05b}),",
                known.0, required.0
            );
        }
        out.push_str("\n    ]),\n");
    }
    out.push_str("];\n");
}

/// Writes the treatment of parts that revisions lack. Extensions have a single revision, so they have no such table.
pub(super) fn emit_projection(cx: &Context<'_>, out: &mut String) {
    out.push_str(
        "\n/// The parts that some revisions omit, rewrite or refuse, sorted by type.\n\
         pub(crate) static PROJECTION: &[support::Rule] = &[\n",
    );
    for row in projection::rows(cx.model, cx.inputs) {
        let becomes = match &row.becomes {
            Becomes::LeftOut => "LeftOut".to_owned(),
            Becomes::Filled(words) => format!("Filled({words:?})"),
            Becomes::Rewritten(ty) => format!("Rewritten({ty}::INTO)"),
            Becomes::Item => "Rewritten(support::ITEM)".to_owned(),
            Becomes::Refused => "Refused".to_owned(),
            Becomes::Required => "Required".to_owned(),
            Becomes::Narrowed(words) => format!("Narrowed({words:?})"),
        };
        let _ = writeln!(
            out,
            "    support::Rule::new({:?}, {:?}, {:?}, 0b{:05b}, support::Becomes::{becomes}),",
            row.topic, row.of, row.item, row.at.0
        );
    }
    out.push_str("];\n");
}
